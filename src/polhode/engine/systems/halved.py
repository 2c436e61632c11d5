"""Error estimates of an ensemble of systems: see `polhode.engine.ensemble.estimate`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations
from polhode.core.motions import of_bodies
from polhode.engine.ensemble.estimate import halved_steps
from polhode.errors import PolhodeError
from polhode.loads._system import System
from polhode.results._run import FAILED
from polhode.results.error_estimate import ErrorEstimate
from polhode.results.motion import in_user_axes, parts

if TYPE_CHECKING:
    from polhode.results._system_ensemble import SystemEnsemble


@dataclass(frozen=True)
class HalvedSystems:
    """The second run of some of n systems, which began with `motions` in principal axes."""

    many: Callable[..., Any]  # `ManySystems`
    system: System
    breaks: Any
    start: float
    n: int
    numbers: np.ndarray
    motions: np.ndarray

    def __call__(self, run: SystemEnsemble) -> ErrorEstimate:
        """The estimate for the ends of the run; of a system that of its worst body."""
        well = np.isfinite(self.motions).all(axis=1) & (run.status[self.numbers] != FAILED)
        numbers = self.numbers[well]
        errors = np.full((4, len(numbers)), np.inf)
        if not len(numbers) or run.steps == 0:
            return ErrorEstimate(numbers, *np.zeros_like(errors))
        try:
            other = self._run(run, well)
        except PolhodeError:  # without a second run the errors are unknown
            return ErrorEstimate(numbers, *errors)
        felt = "velocities" if run.interaction.uses_velocity else ""
        factor = 1.0 / (1.0 - 0.5 ** (run.method.order_under(felt) or 1))
        before = self._begin(well)
        found = [rotations.angle_between(run.quaternion[numbers], other.quaternion)]
        for name in ("omega", "position", "velocity"):
            end = getattr(run, name)[numbers]
            way = end - before.position if name == "position" else end
            scale = np.linalg.norm(way, axis=-1).max() or 1.0
            found.append(np.linalg.norm(end - getattr(other, name), axis=-1) / scale)
        ended = other.status != FAILED
        errors[:, ended] = factor * np.array(found).max(axis=2)[:, ended]
        return ErrorEstimate(numbers, *errors)

    def _begin(self, well: np.ndarray) -> Any:
        kind = of_bodies(len(self.system))
        return parts(in_user_axes(self.system, self.motions[well], kind), kind)

    def _run(self, run: SystemEnsemble, well: np.ndarray) -> SystemEnsemble:
        """The systems that did not fail, to the time that the run has reached."""
        numbers, begin = self.numbers[well], self._begin(well)
        steps = halved_steps(run.step, run.steps, self.start, float(run.t), self.breaks)
        again = self.many(self.system, *steps[:2], run.method, steps[2])
        values = {name: np.asarray(value, dtype=float) for name, value in run.parameters.items()}
        for name, value in values.items():
            if value.ndim > len(again.shape_of(name)) and len(value) > 1:
                values[name] = value[numbers]
        places = begin.position, begin.velocity, len(numbers)
        again.will_start(begin.attitude, False, begin.omega, None, *places, values, None, 0)
        again.will_keep("end")
        return again.follow(None, None)
