"""Tasks of one body."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.core.motions import ROTATION
from polhode.engine._integrate import integrate
from polhode.engine.flight import check_flight
from polhode.engine.program import Program, build
from polhode.engine.rotors import check_rotors, speeds_felt
from polhode.exact import Reference, reference
from polhode.loads import torques
from polhode.loads._torque import ZERO
from polhode.loads.force import Force
from polhode.loads.potential import potential_energy
from polhode.methods import Method
from polhode.results._trajectory import Trajectory
from polhode.results.motion import parts, rotor_speeds
from polhode.studies.compare.task import Task


@dataclass(frozen=True, eq=False, kw_only=True)
class BodyTask(Task):
    """A body, on the ground or in flight, with its rotors."""

    body: RigidBody
    torque: torques.Torque
    force: Force | None = None  # None unless in flight

    # --- what acts --------------------------------------------------------------------------------

    @property
    def loads(self) -> tuple[torques.Torque, ...]:
        """The torque, and in flight the force."""
        return (self.torque,) if self.force is None else (self.torque, self.force)

    @cached_property
    def acting(self) -> str:
        if self.force is None:
            return self.torque.name
        names = (term.name for load in self.loads for term in load.terms if term.acts)
        return " + ".join(dict.fromkeys(names)) or self.torque.name

    @property
    def is_free(self) -> bool:
        return self.kind is ROTATION and not self.torque.acts

    @cached_property
    def speeds_felt(self) -> str:
        return speeds_felt(self.torque, self.force, self.body)

    @property
    def conservative(self) -> bool:
        if self.kind is ROTATION:
            return self.torque.conservative
        terms = [term for load in self.loads for term in load.terms if term.acts]
        return all(term.conservative or term.shares_potential for term in terms) and all(
            rotor.is_free for rotor in self.body.rotors
        )

    @property
    def energy_unknown(self) -> str:
        if self.kind is not ROTATION:
            return "it is followed for the rotation of a body alone"
        return "" if self.is_free else self.torque.energy_unknown() or ""

    @property
    def autonomous(self) -> bool:
        times = np.linspace(*self.t_span, 7)[:-1] + 0.0123 * self.length
        at = self.start
        R, x, v = rotations.matrices(at.attitude), *self._place(at)
        answers = np.array(
            [np.concatenate([load(t, R, at.omega, x, v) for load in self.loads]) for t in times]
        )
        potential = self.potential(times, np.tile(self.motion, (len(times), 1)))
        if potential is not None:
            answers = np.column_stack([answers, potential])
        return bool((answers == answers[0]).all())

    def _place(self, at: Any) -> tuple[Any, Any]:
        return (ZERO, ZERO) if self.force is None else (at.position, at.velocity)

    def loads_at_start(self) -> tuple[np.ndarray, np.ndarray]:
        """Torque and force where it begins; without flight no force."""
        at = self.start
        R, place = rotations.matrices(at.attitude), self._place(at)
        first = self.t_span[0], R, at.omega, *place
        return self.torque(*first), np.zeros(3) if self.force is None else self.force(*first)

    @property
    def rate(self) -> float:
        at, (torque, force) = self.start, self.loads_at_start()
        rate = max(
            float(np.linalg.norm(at.omega)),
            math.sqrt(np.linalg.norm(torque) / self.body.moments.min()),
            1.0 / self.length,
        )
        if self.force is None:
            return rate
        a = float(np.linalg.norm(force)) / self.body.mass
        distance, speed = float(np.linalg.norm(at.position)), float(np.linalg.norm(at.velocity))
        fall = max(speed, math.sqrt(a * distance))
        return max(rate, a / fall) if fall > 0.0 else rate

    # --- runs -------------------------------------------------------------------------------------

    def check_able(self, method: Method, by_tolerance: bool = False) -> None:
        if self.force is not None:
            check_flight(method, self.torque, by_tolerance)
        if self.body.rotors:
            check_rotors(method)

    def has_translation_beside(self, method: Method) -> bool:
        return self.force is not None and method.flight is None

    def program(self, method: Method) -> Program:
        return build(method, self.torque, self.body, force=self.force, start=self.run_start)

    def reference(self, times: np.ndarray, tolerance: float) -> Reference:
        at = self.start
        rotation = {"rotation0": at.attitude, "omega0": at.omega}
        return reference(
            self.body, times, torque=self.torque, tolerance=tolerance, **rotation, **self.place
        )

    def integrate(self, **options: Any) -> Trajectory:
        at = self.start
        given = {"breaks": self.breaks or None, **self.place, **options}
        return integrate(
            self.body,
            self.torque,
            self.t_span,
            rotation0=at.attitude,
            scalar_first=False,
            omega0=at.omega,
            **given,
        )

    @property
    def place(self) -> dict[str, Any]:
        """Position, velocity and force as arguments of `integrate`; none unless in flight."""
        if self.force is None:
            return {}
        at = self.start
        return {"force": self.force, "position0": at.position, "velocity0": at.velocity}

    # --- quantities of motions (principal axes) ---------------------------------------------------

    def potential(self, t: np.ndarray, motions: np.ndarray) -> np.ndarray | None:
        found = parts(motions, self.kind)
        place = () if self.force is None else (found.position,)
        energies = [potential_energy(self.torque, self.body, t, found.attitude)]
        if self.force is not None:
            energies.append(potential_energy(self.force, self.body, t, found.attitude, *place))
        known = [one for one in energies if one is not None]
        return sum(known[1:], known[0]) if known else None

    def kinetic(self, motions: np.ndarray) -> np.ndarray:
        found = parts(motions, self.kind)
        if self.kind.spinning:
            omega = self.in_user_axes(motions).omega
            turning = self.body.kinetic_energy(omega, rotor_speeds(motions, self.kind))
        else:
            turning = 0.5 * found.omega**2 @ self.body.moments
        if self.force is None:
            return turning
        return turning + 0.5 * self.body.mass * np.sum(found.velocity**2, axis=-1)

    def momenta(self, motions: np.ndarray) -> np.ndarray:
        if self.kind.spinning:
            found = self.in_user_axes(motions)
            momentum = self.body.momentum(found.omega, rotor_speeds(motions, self.kind))
        else:
            found = parts(motions, self.kind)
            momentum = self.body.moments * found.omega
        turning = rotations.rotate(found.attitude, momentum)
        if self.force is None:
            return turning
        return turning + self.body.mass * np.cross(found.position, found.velocity)
