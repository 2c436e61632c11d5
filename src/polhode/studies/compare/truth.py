"""The exact or reference solution of a task, and errors with respect to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.core.motions import ROTATION, Kind
from polhode.errors import IntegrationError
from polhode.exact import Reference, free_body, lagrange_top
from polhode.loads import torques
from polhode.results.motion import (
    largest_differences,
    parts,
    rotor_speeds,
    sizes_of_system,
    to_principal_axes,
)
from polhode.studies.compare.body_task import BodyTask
from polhode.studies.compare.task import Task

CHECKS = 120  # times at which the truth is known: a number with many divisors


@dataclass(frozen=True)
class Truth:
    """The exact motion at some times, in principal axes, and how it was obtained."""

    t: np.ndarray = field(repr=False)
    motion: np.ndarray = field(repr=False)
    energy: np.ndarray = field(repr=False)
    momentum: np.ndarray = field(repr=False)
    scales: tuple  # of angular velocity, energy and momentum
    error: float  # its own
    origin: str
    evaluations: int = 0
    checks: int = CHECKS
    judges: str = "motion"  # what an error is of: "motion" or "energy"
    kind: Kind = field(default=ROTATION, repr=False)

    @property
    def rate(self) -> float:
        """The largest angular velocity."""
        return self.scales[0]

    @cached_property
    def sizes(self) -> dict[str, float]:
        """What errors of the parts besides the attitude are relative to: the largest size of each,
        for rotors that of all of them and of the body; see `sizes_of_system`."""
        found = parts(self.motion, self.kind)._asdict()
        if self.kind.bodies:
            return sizes_of_system(self.motion, self.kind, abs(self.t[-1] - self.t[0]))
        sizes = {
            name: float(np.linalg.norm(found[name], axis=1).max()) or 1.0
            for name, place in self.kind.slices.items()
            if isinstance(place, slice)
        }
        speeds = rotor_speeds(self.motion, self.kind)
        fastest = 0.0 if speeds is None else float(np.abs(speeds).max())
        rotor = max(fastest, self.rate)
        sizes = {name: sizes.get(name, rotor) for name in self.kind.slices if name != "attitude"}
        return sizes | {"omega": self.rate}


def constant_energy(task: Task, checks: int) -> Truth:
    """A truth in which only the energy is known: for motions too long to be followed, under a
    potential that does not change."""
    times = np.linspace(*task.t_span, checks + 1)
    motion = np.tile(task.motion, (checks + 1, 1))
    known = truth_of(task, times, motion, 0.0, "conservation of energy")
    return replace(known, checks=checks, judges="energy")


def truth(task: Task, tolerance: float = 1e-14, checks: int = CHECKS) -> Truth:
    """The exact motion where it is known in closed form, else a reference good to the tolerance."""
    ends = [task.t_span[0], *task.jumps, task.t_span[1]]
    times = np.concatenate(
        [ends[:1], *(np.linspace(a, b, checks + 1)[1:] for a, b in pairwise(ends))]
    )
    start = task.start.attitude, task.start.omega, times - times[0]
    if task.is_free:
        found: Any = free_body(task.body, *start)
        error, origin = 1e-15, "elliptic functions"
    elif has_closed_solution(task):
        found = lagrange_top(task.body, task.torque.params.moment, *start)
        error, origin = 1e-15, "theta functions"
    else:
        return _by_reference(task, times, tolerance, checks)
    turning = np.concatenate([found.quaternion, found.omega], axis=1)
    motion = to_principal_axes(task.body, turning)
    return truth_of(task, times, motion, error, origin, checks=checks)


def _by_reference(task: Task, times: np.ndarray, tolerance: float, checks: int) -> Truth:
    """The truth where no closed solution is known."""
    found = _reference(task, times, tolerance)
    motion = to_principal_axes(task.body, found.motion, task.kind)
    # a torque that takes the mean of both sides is half way between them at the jump itself
    kept = ~np.isin(times, task.jumps) if task.unit else slice(None)
    error, origin = float(found.error.max()), "reference of order 16"
    return truth_of(task, times[kept], motion[kept], error, origin, found.evaluations, checks)


def _reference(task: Task, times: np.ndarray, tolerance: float) -> Reference:
    try:
        return task.reference(times, tolerance)
    except IntegrationError as error:
        error.args = (
            f"{error.args[0]}.  End earlier (until), or name the times at which the {task.kind.acting} jumps (breaks)",
        )
        raise


def truth_of(
    task: Task,
    times: np.ndarray,
    motion: np.ndarray,
    error: float,
    origin: str,
    evaluations: int = 0,
    checks: int = CHECKS,
) -> Truth:
    """A Truth, with the energy, momentum and scales that belong to it."""
    energy, momentum = task.energies(times, motion), task.momenta(motion)
    scales = (
        largest_rate(task, motion),
        max(abs(float(energy[0])), float(task.kinetic(motion).max())) or 1.0,
        task.size_of_momentum(motion),
    )
    found = times, motion, energy, momentum, scales, error, origin, evaluations, checks
    return Truth(*found, kind=task.kind)


def largest_rate(task: Task, motion: np.ndarray) -> float:
    """The largest angular velocity; in a system also that with which paths turn, which is at least the
    largest speed over the size of the system."""
    rate = float(np.linalg.norm(parts(motion, task.kind).omega, axis=-1).max())
    if not task.kind.bodies:
        return rate or 1.0
    sizes = sizes_of_system(motion, task.kind, task.length)
    return max(rate, sizes["velocity"] / sizes["position"])


def has_closed_solution(task: Task) -> TypeGuard[BodyTask]:
    """Whether the exact motion is known at any time."""
    if not isinstance(task, BodyTask) or task.kind is not ROTATION:
        return False
    return task.is_free or is_upright_top(task.torque, task.body)


def is_upright_top(torque: torques.Torque, body: RigidBody) -> bool:
    """Whether the torque is the weight of a symmetric top on its axis, for which `lagrange_top` is
    the closed solution."""
    upright = getattr(torque, "function", None) is torques.heavy_top().function
    return bool(upright and body.is_principal and body.moments[0] == body.moments[1])


def errors(motions: np.ndarray, truth: Truth, at: Any) -> np.ndarray:
    """The angle in radians, or what is larger of the relative errors of the other parts (`sizes`), at
    the truth's times `at`."""
    return largest_differences(motions, truth.motion[at], truth.sizes, truth.kind)


def common_times(times: np.ndarray, truth: Truth) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of indices (into times, into truth.t) of equal times."""
    sign = 1.0 if truth.t[-1] >= truth.t[0] else -1.0
    near = (
        np.searchsorted(
            sign * truth.t, sign * times + 1e-9 * abs(truth.t[-1] - truth.t[0]), side="right"
        )
        - 1
    )
    same = np.abs(truth.t[near] - times) <= 2e-9 * math.fabs(truth.t[-1] - truth.t[0])
    return np.flatnonzero(same), near[same]
