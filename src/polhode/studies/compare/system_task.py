"""Tasks of systems of bodies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode import rotations
from polhode.engine._integrate import integrate
from polhode.engine.systems.program import SystemProgram, build, speeds_felt, suited_to
from polhode.exact import Reference, reference
from polhode.loads._system import System
from polhode.loads.interaction_energy import interaction_energy
from polhode.methods import Method
from polhode.results._system_trajectory import SystemTrajectory
from polhode.results.motion import in_user_axes
from polhode.studies.compare.task import Task


@dataclass(frozen=True, eq=False, kw_only=True)
class SystemTask(Task):
    """A system of bodies."""

    body: System

    # --- what acts --------------------------------------------------------------------------------

    @property
    def acting(self) -> str:
        return self.body.interaction.name

    @property
    def speeds_felt(self) -> str:
        return speeds_felt(self.body)

    @property
    def conservative(self) -> bool:
        return self.body.interaction.conservative

    @property
    def energy_unknown(self) -> str:
        return "" if self.conservative else "no potential of the interaction is known"

    @property
    def autonomous(self) -> bool:
        times = np.linspace(*self.t_span, 7)[:-1] + 0.0123 * self.length
        answers = np.array([np.ravel(self._acting_at(t)) for t in times])
        potential = self.potential(times, np.tile(self.motion, (len(times), 1)))
        if potential is not None:
            answers = np.column_stack([answers, potential])
        return bool((answers == answers[0]).all())

    def _acting_at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        at = self.start
        R = rotations.matrices(at.attitude)
        return self.body.interaction(t, at.position, R, at.velocity, at.omega)

    def loads_at_start(self) -> tuple[np.ndarray, np.ndarray]:
        """Forces and torques where it begins."""
        return self._acting_at(self.t_span[0])

    @property
    def rate(self) -> float:
        """That of the body for which it is largest; paths are about the middle of all bodies."""
        at, (F, N) = self.start, self.loads_at_start()
        turning = np.linalg.norm(N, axis=1) / self.body.moments.min(axis=1)
        a = np.where(self.body.fixed, 0.0, np.linalg.norm(F, axis=1) / self.body.masses)
        distance, speed = (
            np.linalg.norm(x - x.mean(axis=0), axis=1) for x in (at.position, at.velocity)
        )
        fall = np.maximum(speed, np.sqrt(a * distance))
        return max(
            float(np.linalg.norm(at.omega, axis=1).max()),
            math.sqrt(turning.max()),
            float(np.divide(a, fall, out=np.zeros_like(a), where=fall > 0.0).max()),
            1.0 / self.length,
        )

    # --- runs -------------------------------------------------------------------------------------

    def check_able(self, method: Method, by_tolerance: bool = False) -> None:
        suited_to(method, self.body)

    def has_translation_beside(self, method: Method) -> bool:
        return False

    def program(self, method: Method) -> SystemProgram:
        start = self.run_start
        return build(method, self.body, True, start.t, start.end, start.motion)

    def reference(self, times: np.ndarray, tolerance: float) -> Reference:
        return reference(self.body, times, tolerance=tolerance, **self._initial())

    def integrate(self, **options: Any) -> SystemTrajectory:
        given: dict[str, Any] = {"t_span": self.t_span, "breaks": self.breaks or None}
        return integrate(self.body, scalar_first=False, **given, **self._initial(), **options)

    def _initial(self) -> dict[str, Any]:
        at = self.start
        return {
            "rotation0": at.attitude,
            "omega0": at.omega,
            "position0": at.position,
            "velocity0": at.velocity,
        }

    # --- quantities of motions (principal axes) ---------------------------------------------------

    def potential(self, t: np.ndarray, motions: np.ndarray) -> np.ndarray | None:
        given = in_user_axes(self.body, motions, self.kind)
        return interaction_energy(self.body.interaction, len(self.body), t, given)

    def kinetic(self, motions: np.ndarray) -> np.ndarray:
        found = self.in_user_axes(motions)
        return self.body.kinetic_energy(found.omega, found.velocity)

    def momenta(self, motions: np.ndarray) -> np.ndarray:
        return self.body.angular_momentum(*self.in_user_axes(motions))

    def size_of_momentum(self, motions: np.ndarray) -> float:
        """The largest sum of the sizes of the momenta of all bodies, whose sum may be nothing."""
        found = self.in_user_axes(motions)
        moving = np.cross(found.position, self.body.masses[:, None] * found.velocity)
        sizes = (np.linalg.norm(one, axis=-1) for one in (moving, self.body.momentum(found.omega)))
        return float(sum(sizes).sum(axis=-1).max()) or 1.0  # type: ignore[attr-defined]
