"""The equation that the reference solves, for a program: momenta in place of velocities, what its loop is
bound to, and how the changes of its stages are measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.core.closed.double_double import two_product
from polhode.core.loops.fixed import load_body
from polhode.core.motions import ROTATION, Kind
from polhode.core.rotors import rotors
from polhode.core.systems import INERTIA
from polhode.engine.program import Program
from polhode.engine.systems.program import SystemProgram
from polhode.exact._gauss import slope_of
from polhode.exact._gauss_system import FUNCTIONS
from polhode.results.motion import OMEGA, parts, rotor_speeds

Measures = tuple[np.ndarray, np.ndarray, np.ndarray]
AT_REST = 1e-2  # radians: what a body that hardly turns in a step is measured against


class OfBody:
    """That of one body, with its rotors."""

    def __init__(self, program: Program) -> None:
        self.program, self.kind = program, program.motion_kind

    def bound(self, loop: Callable[..., Any]) -> Callable[..., Any]:
        """A loop of `_gauss` for this equation."""
        own = {"load_body": load_body} | self.program.names
        return self.program.bound(loop, slope=slope_of(self.kind), load_body=own["load_body"])

    def with_momenta(self, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A motion with momenta in place of angular velocity and speeds, as sums of two doubles."""
        y, low = motion.copy(), np.zeros(len(motion))
        y[OMEGA], low[OMEGA] = two_product(self.program.moments[:3, 0], motion[OMEGA])
        if self.kind.spinning:
            speeds, omega = self._tuples(motion)
            made = rotors(self.kind.spinning).momenta(speeds, omega, self._body())
            rotor_speeds(y, self.kind)[:] = made  # type: ignore[index]
        return y, low

    def with_velocities(self, y: np.ndarray) -> np.ndarray:
        """The motion again."""
        motion = y.copy()
        motion[OMEGA] /= self.program.moments[:3, 0]
        if self.kind.spinning:
            momenta, omega = self._tuples(motion)
            made = rotors(self.kind.spinning).speeds(momenta, omega, self._body())
            rotor_speeds(motion, self.kind)[:] = made  # type: ignore[index]
        return motion

    def _tuples(self, motion: np.ndarray) -> tuple[Any, Any]:
        speeds: Any = rotor_speeds(motion, self.kind)
        return tuple(speeds.tolist()), tuple(motion[OMEGA].tolist())

    def _body(self) -> Any:
        return self.program.names.get("load_body", load_body)(self.program.moments, 0)

    def measures(self, h: float) -> Measures:
        """How changes of the stages are measured: for each number its group, and the factors of its
        slope and of itself in the size of the group.

        A rotation is measured by its slopes.  The translation is measured as a length, |x| + h |v| +
        h^2 |a|, and rotors as a momentum: what acts on them may be nothing but rounding.
        """
        h, rotor = abs(h), (2, abs(h), 1.0)
        known = dict.fromkeys(ROTATION.slices, (0, 1.0, 0.0)) | lengths(h)
        return spread(self.kind, {name: known.get(name, rotor) for name in self.kind.slices})


class OfSystem:
    """That of a system of bodies."""

    def __init__(self, program: SystemProgram) -> None:
        self.program, self.kind = program, program.motion_kind
        self.moments = program.moments[:, INERTIA : INERTIA + 3]

    def bound(self, loop: Callable[..., Any]) -> Callable[..., Any]:
        """A loop of `_gauss` for this equation."""
        return self.program.bound(loop, torque=self.program.frames, **FUNCTIONS)

    def with_momenta(self, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A motion with momenta in place of angular velocities, as sums of two doubles."""
        y, low = motion.copy(), np.zeros(len(motion))
        omega = parts(motion, self.kind).omega
        parts(y, self.kind).omega[:], parts(low, self.kind).omega[:] = two_product(
            self.moments, omega
        )
        return y, low

    def with_velocities(self, y: np.ndarray) -> np.ndarray:
        """The motion again."""
        motion = y.copy()
        omega = parts(motion, self.kind).omega
        omega /= self.moments
        return motion

    def measures(self, h: float) -> Measures:
        """The same for a system: rotations are measured as angles, |q'| h + |Pi'| h^2 / I, all
        translations as one length."""
        h = abs(h)
        groups, of_slope, of_self = spread(
            self.kind, {"attitude": (0, h, AT_REST), "omega": (0, h * h, 0.0)} | lengths(h)
        )
        turning = parts(of_slope, self.kind).omega
        turning /= self.moments
        return groups, of_slope, of_self


def equation_of(program: Any) -> OfBody | OfSystem:
    """The equation of a program."""
    return OfSystem(program) if program.motion_kind.bodies else OfBody(program)


def lengths(h: float) -> dict[str, tuple[int, float, float]]:
    """How a translation is measured."""
    return {"position": (1, h, 1.0), "velocity": (1, h * h, h)}


def spread(kind: Kind, known: dict[str, tuple[int, float, float]]) -> Measures:
    """(group, factor of the slope, factor of itself) of each part, for each number of a motion."""
    width = kind.width // max(kind.bodies, 1)
    groups, of_slope, of_self = np.zeros(width, int), np.ones(width), np.zeros(width)
    for name, place in kind.slices.items():
        groups[place], of_slope[place], of_self[place] = known[name]
    times = max(kind.bodies, 1)
    return np.tile(groups, times), np.tile(of_slope, times), np.tile(of_self, times)
