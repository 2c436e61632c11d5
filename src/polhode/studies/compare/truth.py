"""The exact or reference solution of a task, and errors with respect to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.core.motions import ROTATION, Kind
from polhode.errors import IntegrationError
from polhode.exact import Reference, free_body, lagrange_top, reference
from polhode.loads import torques
from polhode.results.motion import in_principal_axes, parts, rotor_speeds
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
        for rotors that of all of them and of the body."""
        found = parts(self.motion, self.kind)._asdict()
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
    start, evaluations = (task.start.attitude, task.start.omega, times - times[0]), 0
    beside = np.empty((len(times), 0))  # the parts that are none of a rotation
    if task.is_free:
        found: Any = free_body(task.body, *start)
        error, origin = 1e-15, "elliptic functions"
    elif has_closed_solution(task):
        found = lagrange_top(task.body, task.torque.params.moment, *start)
        error, origin = 1e-15, "theta functions"
    else:
        found = _reference(task, times, tolerance)
        error, origin, evaluations = (
            float(found.error.max()),
            "reference of order 16",
            found.evaluations,
        )
        beside = found.motion[:, ROTATION.width :]
    axes = None if task.body.is_principal else task.body.axes
    turning = in_principal_axes(task.body.moments, axes, found.quaternion, found.omega, False)
    motion = np.concatenate([turning, beside], axis=1)
    # a torque that takes the mean of both sides is half way between them at the jump itself
    kept = ~np.isin(times, task.jumps) if task.unit else slice(None)
    return truth_of(task, times[kept], motion[kept], error, origin, evaluations, checks)


def _reference(task: Task, times: np.ndarray, tolerance: float) -> Reference:
    try:
        return reference(
            task.body,
            times,
            torque=task.torque,
            rotation0=task.start.attitude,
            omega0=task.start.omega,
            tolerance=tolerance,
            **task.place,
        )
    except IntegrationError as error:
        error.args = (
            f"{error.args[0]}.  End earlier (until), or name the times at which the torque jumps (breaks)",
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
        float(np.linalg.norm(parts(motion, task.kind).omega, axis=1).max()) or 1.0,
        max(abs(float(energy[0])), float(task.kinetic(motion).max())) or 1.0,
        float(np.linalg.norm(momentum, axis=1).max()) or 1.0,
    )
    found = times, motion, energy, momentum, scales, error, origin, evaluations, checks
    return Truth(*found, kind=task.kind)


def has_closed_solution(task: Task) -> bool:
    """Whether the exact motion is known at any time."""
    return task.is_free or (task.kind is ROTATION and is_upright_top(task.torque, task.body))


def is_upright_top(torque: torques.Torque, body: RigidBody) -> bool:
    """Whether the torque is the weight of a symmetric top on its axis, for which `lagrange_top` is
    the closed solution."""
    upright = getattr(torque, "function", None) is torques.heavy_top().function
    return bool(upright and body.is_principal and body.moments[0] == body.moments[1])


def errors(motions: np.ndarray, truth: Truth, at: Any) -> np.ndarray:
    """The angle in radians, or what is larger of the relative errors of the other parts (`sizes`), at
    the truth's times `at`."""
    found, true = parts(motions, truth.kind), parts(truth.motion[at], truth.kind)
    worst = rotations.angle_between(found.attitude, true.attitude)
    for name, size in truth.sizes.items():
        away = getattr(found, name) - getattr(true, name)
        distance = np.abs(away) if away.ndim == 1 else np.linalg.norm(away, axis=1)
        worst = np.maximum(worst, distance / size)
    return worst


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
