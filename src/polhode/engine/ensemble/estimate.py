"""Error estimates of an ensemble: a few of its bodies are run again with half the step.

With a method of order p the error at the end is about the difference of the two runs times
2^p / (2^p - 1).  Half of the bodies are spread evenly over the ensemble, the others are those with the
largest initial angular velocity, for which the errors are likely largest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.core.motions import Kind
from polhode.engine.rotors import speeds_felt
from polhode.engine.schedule import break_times
from polhode.errors import PolhodeError
from polhode.results._run import FAILED
from polhode.results.error_estimate import ErrorEstimate
from polhode.results.motion import back_to_axes, parts, rotor_speeds
from polhode.support.on_device import rows_of

if TYPE_CHECKING:
    from polhode.results._ensemble_result import Ensemble

SPREAD = FASTEST = 8  # bodies of either kind


def sample_bodies(motions: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the bodies to run again, and their motions (k, width)."""
    if not isinstance(motions, np.ndarray):  # on a GPU, where the fastest are not looked for
        chosen = np.unique(np.linspace(0, n - 1, SPREAD + FASTEST).astype(int))
        return chosen, rows_of(motions, chosen)
    omega = parts(motions).omega
    speeds = np.einsum("ij,ij->i", omega, omega)
    fastest = np.argpartition(speeds, max(n - FASTEST, 0))[-FASTEST:]
    chosen = np.union1d(np.linspace(0, n - 1, SPREAD).astype(int), fastest)
    return chosen, motions[chosen]


def halved_steps(
    step: Any, count: int, start: float, end: float, breaks: Any
) -> tuple[tuple[float, float], Any, list[float] | None]:
    """(span, steps, breaks) of a run that takes each of so many steps in two halves."""
    steps, halved = np.asarray(step), 0.5 * np.asarray(step)
    if steps.ndim:
        steps = steps[: count + 1]
        halved = np.repeat(steps, 2)[:-1]
        halved[1::2] = 0.5 * (steps[:-1] + steps[1:])
    low, high = min(start, end), max(start, end)
    inside = [at for at in break_times(breaks) if low < at < high]
    return (start, end), halved if steps.ndim else float(halved), inside or None


@dataclass(frozen=True)
class Halved:
    """The second run of some bodies, which began with `motions` in principal axes."""

    many: Callable[..., Any]  # `ManyBodies`
    bodies: Any
    torque: Any
    breaks: Any
    start: float
    numbers: np.ndarray
    motions: np.ndarray
    force: Any = None  # None unless in flight

    def __call__(self, run: Ensemble) -> ErrorEstimate:
        """The estimate for the ends of the run."""
        well = np.isfinite(self.motions).all(axis=1) & (run.status[self.numbers] != FAILED)
        numbers = self.numbers[well]
        omega = np.linalg.norm(run.omega[numbers], axis=1).max(initial=0.0)
        flying = [] if self.force is None else ["position", "velocity"]
        errors = np.full((2 + len(flying), len(numbers)), np.inf)
        if not len(numbers) or run.steps == 0:
            return ErrorEstimate(numbers, *np.zeros_like(errors))
        try:
            other = self._run(run, well)
        except PolhodeError:  # without a second run the errors are unknown
            return ErrorEstimate(numbers, *errors)
        felt = speeds_felt(self.torque, self.force, *self.bodies.gyrostats)
        order = run.method.order_under(felt) or 1
        if self.force is not None and run.method.flight is None:
            order = min(order, 2)  # of the translation beside it
        factor = 1.0 / (1.0 - 0.5**order)
        ended = other.status != FAILED
        turned = rotations.angle_between(run.quaternion[numbers], other.quaternion)
        apart = np.linalg.norm(run.omega[numbers] - other.omega, axis=1) / (omega or 1.0)
        found = [turned, apart]
        for name in flying:
            ends, start = getattr(run, name)[numbers], getattr(parts(self.motions, run.kind), name)
            scale = np.linalg.norm(ends - start[well] if name == "position" else ends, axis=1).max()
            found.append(np.linalg.norm(ends - getattr(other, name), axis=1) / (scale or 1.0))
        errors[:, ended] = factor * np.array(found)[:, ended]
        return ErrorEstimate(numbers, *errors)

    def _run(self, run: Ensemble, well: np.ndarray) -> Ensemble:
        """The bodies that did not fail, to the time that the run has reached."""
        numbers, (start, end) = self.numbers[well], (self.start, float(run.t))
        span, halved, breaks = halved_steps(run.step, run.steps, start, end, self.breaks)
        torque = self.torque if np.ndim(halved) else self.torque.for_step(halved)
        again = self.many(self._bodies(numbers), torque, span, halved, run.method, breaks)
        values = {name: np.asarray(value, dtype=float) for name, value in run.parameters.items()}
        motions = self._in_user_axes(self.motions[well], numbers, run.kind)
        begin = parts(motions, run.kind)
        if self.force is not None:
            masses = self.bodies.masses
            masses = masses if len(masses) == 1 else masses[numbers]
            again.will_fly(self.force, begin.position, begin.velocity, masses)
        again.will_spin(rotor_speeds(motions, run.kind))
        for name, value in values.items():
            if value.ndim > len(again.shape_of(name)) and len(value) > 1:
                values[name] = value[numbers]
        again.will_start(begin.attitude, False, begin.omega, None, len(numbers), values, None, 0)
        again.will_keep("end")
        return again.follow(None, None)

    def _bodies(self, numbers: np.ndarray) -> Any:
        if self.bodies.count == 1:
            return self.bodies.one
        if self.bodies.gyrostats:
            return [self.bodies.gyrostats[i] for i in numbers]
        tensors = self.bodies.moments.T[numbers][:, None, :] * np.eye(3)
        if self.bodies.axes is not None:
            axes = self.bodies.axes[numbers]
            tensors = axes @ tensors @ np.swapaxes(axes, 1, 2)
            tensors = 0.5 * (tensors + np.swapaxes(tensors, 1, 2))
        return [RigidBody(one, check_triangle=False) for one in tensors]

    def _in_user_axes(self, motions: np.ndarray, numbers: np.ndarray, kind: Kind) -> np.ndarray:
        axes = self.bodies.axes
        if axes is None:
            return motions
        return back_to_axes(axes if axes.ndim == 2 else axes[numbers], motions, kind)
