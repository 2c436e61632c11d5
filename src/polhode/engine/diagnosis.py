"""What went wrong: the one place where a failed step becomes an error, or the end of a run, with a
message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.engine.trouble import AT_START, CORRECT, list_parts, torque_error
from polhode.core.loops import fixed as loops
from polhode.errors import ConvergenceError, IntegrationError
from polhode.loads.potential import potential_energy
from polhode.results._run import BLOW_UP
from polhode.results.motion import (
    ATTITUDE,
    OMEGA,
    in_principal_axes,
    parts,
)

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.engine.program import Program
    from polhode.loads._torque import Torque
    from polhode.methods._method import Method

RUNAWAY = 10.0  # times the kinetic energy that a conservative motion can have


class Place(NamedTuple):
    """Where a run is: the time, the steps taken, the parts of the motion in the user's axes, the size
    of the next step, and what to do about a torque that raises there."""

    t: float
    step: int
    parts: dict[str, Any]
    next_step: float
    fix: str = CORRECT

    def __str__(self) -> str:
        return f"t = {self.t!r} (step {self.step}; {list_parts(self.parts)})"


# --- torques --------------------------------------------------------------------------------------


def check_callbacks(program: Program, where: str, fix: str = CORRECT) -> None:
    """Raise the exception of a Python torque, force or interaction as a TorqueError, if there is one."""
    cause = program.trouble()
    if cause is not None:
        raise torque_error(cause, where, fix, acting_in(program))


def check_torque(program: Program, failure: Any, place: Place) -> None:
    """Raise what a torque, force or interaction raised in a failed step: in Python or, then it is `failure`, in
    machine code."""
    where = f"in the step from {place}"
    check_callbacks(program, where, place.fix)
    if isinstance(failure, Exception):
        raise torque_error(failure, where, place.fix, acting_in(program))


def acting_in(program: Program) -> str:
    """What acts in a program, in words."""
    body: Any = program.body  # or a system
    return (
        f"the interaction {body.interaction.name!r}" if program.motion_kind.bodies else "the torque"
    )


def check_first(program: Any, t: float, y: np.ndarray) -> None:
    """Raise that error before the first run of a compiled program: machine code does not check the
    shape of a torque."""
    if program.tried:
        return
    program.tried = True
    trouble = program.trouble_at(t, y, AT_START)
    if trouble is not None:
        raise trouble


def start_error(
    program: Program, t: float, motion: np.ndarray, cause: Exception
) -> IntegrationError | None:
    """What is wrong with the torque, where the method could not start; None if it is not the
    torque that failed."""
    if type(cause).__module__.startswith("numba."):
        return None
    error = program.trouble_at(t, motion, AT_START)
    error = error or torque_error(cause, f"at t = {t!r}", AT_START, who=acting_in(program))
    error.t = t
    return error


def step_error(
    program: Program, z: np.ndarray, t: float, h: float, step: int, is_unsolved: bool
) -> IntegrationError | None:
    """Why a step of h from t failed (z has its start in column 0, its end in column 1): the torque,
    or an equation that was not solved; None for a blow-up."""
    error = program.trouble_at(t + h, program.motion(z, 1)) or program.trouble_at(
        t, program.motion(z)
    )
    return unsolved_error(program, z, t, h, step) if error is None and is_unsolved else error


# --- equations ------------------------------------------------------------------------------------


def unsolved_error(
    program: Program, z: np.ndarray, t: float, h: float, step: int
) -> IntegrationError:
    """The ConvergenceError of a step of size h from the state in column 0 of z, with the largest
    step that works."""

    def works(size: float) -> bool:
        numbers, out = (program.moments, program.parameters), np.empty((1, program.width))
        grid = np.array([t, size])
        found = program.march()(1, 1, 0, grid, z.copy(), *numbers, out, np.empty(1))
        return found[0] == loops.DONE

    residual = program.residual(z, 1)
    good = next((h * 0.5**i for i in range(1, 13) if works(h * 0.5**i)), None)
    if good is not None:
        bad = 2.0 * good
        for _ in range(8):
            middle = 0.5 * (good + bad)
            good, bad = (middle, bad) if works(middle) else (good, middle)
    advice = (
        f"the largest step that works here is about {abs(good):.3g}"
        if good
        else "no smaller step works here"
    )
    if program.method.limit:
        advice += f" ({program.method.limit})"
    where = f"from t = {t:.15g} (step {step}, size {h:g})"
    return convergence_error(
        program.method, where, residual, advice, largest_step=None if good is None else abs(good)
    )


def convergence_error(
    method: Method, where: str, residual: float, advice: str, **more: Any
) -> ConvergenceError:
    """The ConvergenceError of a step; `where` is text."""
    return ConvergenceError(
        f"{method.name} could not take the step {where}: the relative residual of its equation is {residual:.2g} (1 where "
        f"none was found) instead of {loops.ROUND_OFF:g}; {advice}",
        residual=residual,
        **more,
    )


# --- motions that leave all bounds ----------------------------------------------------------------


def blow_up(method: Method, place: Place, how: str) -> tuple[str, str]:
    """(status, message) of a motion that has blown up."""
    return BLOW_UP, (
        f"{method.name} blew up by step {place.step}, t = {place.t:.15g}: {how}.  Earlier results are kept; "
        "use a smaller step or another method"
    )


@dataclass(frozen=True, eq=False)
class Runaway:
    """Detects that a conservative motion has more kinetic energy than RUNAWAY (T0 + |V - V0|).

    `escaped(t, y)` checks one motion; `excess(t, y)` (n,) is positive for the stored points to drop.
    """

    torque: Torque
    body: RigidBody
    t0: float
    y0: np.ndarray

    def _kinetic(self, y: np.ndarray) -> Any:
        """Of one motion; faster than with arrays."""
        (a, b, c), (A, B, C) = y[OMEGA].tolist(), self.body.moments.tolist()
        return 0.5 * (A * a * a + B * b * b + C * c * c)

    def _potential(self, t: Any, y: np.ndarray) -> np.ndarray:
        return potential_energy(self.torque, self.body, t, parts(y).attitude)

    def excess(self, t: Any, y: np.ndarray) -> np.ndarray:
        V = self._potential(np.append(t, self.t0), np.vstack([y, self.y0]))
        kinetic = 0.5 * np.sum(parts(y).omega ** 2 * self.body.moments, axis=-1)
        return kinetic - RUNAWAY * (self._kinetic(self.y0) + np.abs(V[:-1] - V[-1]))

    def escaped(self, t: float, y: np.ndarray) -> bool:
        bound = RUNAWAY * self._kinetic(self.y0) + 1e-300
        if not self._kinetic(y) > bound or self.torque.energy_unknown():
            return False
        before, now = self._potential(np.array([self.t0, t]), np.stack([self.y0, self.y0]))
        # with a potential that depends on time any energy is possible
        return before == now and self.excess(t, y[None])[0] > 0.0


def escaped_states(
    torque: Torque, body: RigidBody, t0: float, t1: float, before: Any, after: Any
) -> list[int]:
    """The numbers of the motions (n, width) that have escaped at t1, as `Runaway` defines it."""
    if body.rotors or not torque.conservative or torque.energy_unknown():
        return []
    axes = None if body.is_principal else body.axes
    ends = [
        in_principal_axes(None, axes, y[:, ATTITUDE], y[:, OMEGA], False) for y in (before, after)
    ]
    with np.errstate(over="ignore", invalid="ignore"):
        first, last = (0.5 * (end[:, OMEGA] ** 2 @ body.moments) for end in ends)
        fast = np.flatnonzero(last > RUNAWAY * first)
    if not len(fast):
        return []
    q0, q1 = (end[fast][:, ATTITUDE] for end in ends)
    times = np.repeat([float(t0), float(t1), float(t1)], len(fast))
    V = potential_energy(torque, body, times, np.concatenate([q0, q0, q1])).reshape(3, -1)
    bound = RUNAWAY * (first[fast] + abs(V[2] - V[0]))
    return fast[(V[0] == V[1]) & (last[fast] > bound)].tolist()
