"""Tasks for `compare` and `advise`: a motion to be computed, and its exact or reference solution."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from polhode import problems, rotations
from polhode.bodies._body import RigidBody
from polhode.bodies.rotor import refuse_rotors
from polhode.engine.one_body import as_body, initial_rotation
from polhode.engine.schedule import break_times, span
from polhode.errors import InputError, IntegrationError, brief, number
from polhode.exact import Reference, free_body, lagrange_top, reference
from polhode.io.scenario._load import Scenario, is_scenario_file, load
from polhode.loads import torques
from polhode.loads.conversion import as_torque
from polhode.loads.potential import potential_energy
from polhode.results.motion import in_principal_axes, in_user_axes, parts

CHECKS = 120  # times at which the truth is known: a number with many divisors


@dataclass(frozen=True, eq=False)
class Task:
    """A body, a torque, an initial motion (principal axes), a span of time and the times at which
    the torque jumps.

    Runs are broken at the jumps, except for a torque that is made for steps of `unit` and takes the
    mean of both sides at its jumps: there steps divide `unit`.
    """

    title: str
    body: RigidBody
    torque: torques.Torque
    motion: np.ndarray
    t_span: tuple[float, float]
    jumps: tuple = ()
    unit: float | None = None
    # the arguments of `as_task` that make it again, in another process
    recipe: dict = field(default_factory=dict)

    @property
    def breaks(self) -> tuple[float, ...]:
        """The times at which runs are broken."""
        return () if self.unit else self.jumps

    @property
    def length(self) -> float:
        """The length of the span."""
        return abs(self.t_span[1] - self.t_span[0])

    @property
    def start(self) -> Any:
        """Attitude and angular velocity at the start, in the user's axes, as parts of a motion."""
        return parts(in_user_axes(self.body, self.motion))

    @property
    def autonomous(self) -> bool:
        """Whether torque and potential at one attitude have the same values at several times."""
        times = np.linspace(*self.t_span, 7)[:-1] + 0.0123 * self.length
        R = rotations.matrices(self.start.attitude)
        answers = np.array([self.torque(t, R, self.start.omega) for t in times])
        if self.torque.has_potential:
            same = np.tile(parts(self.motion).attitude, (len(times), 1))
            answers = np.column_stack(
                [answers, potential_energy(self.torque, self.body, times, same)]
            )
        return bool((answers == answers[0]).all())

    def until(self, t: float | None) -> Task:
        """The same task, ended at time t."""
        if t is None:
            return self
        t = number("until", t)
        t0, t1 = self.t_span
        if not min(t0, t1) < t <= max(t0, t1) and not (t1 < t0 and t == t1):
            raise InputError(
                f"until must lie between {t0!r} and {t1!r}, the span of {self.title}; got {t!r}"
            )
        return replace(self, t_span=(t0, t), jumps=_times_inside(self.jumps, (t0, t)))

    def energies(self, t: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """Total energy at times and motions (principal axes); the kinetic alone where there is no
        potential."""
        kinetic = self.kinetic(motions)
        potential = potential_energy(self.torque, self.body, t, parts(motions).attitude)
        return kinetic if potential is None else kinetic + potential

    def kinetic(self, motions: np.ndarray) -> np.ndarray:
        """Kinetic energy."""
        return 0.5 * parts(motions).omega ** 2 @ self.body.moments

    def momenta(self, motions: np.ndarray) -> np.ndarray:
        """Angular momentum in space."""
        q, omega = parts(motions)
        return rotations.rotate(q, self.body.moments * omega)


def as_task(
    problem,
    torque=None,
    t_span=None,
    *,
    rotation0=None,
    scalar_first=None,
    omega0=None,
    momentum0=None,
    breaks=None,
    torque_file=None,
):
    """A Task from a problem, its name, a scenario, its file (`torque_file` is that of `load`), or a
    body with the arguments of `integrate`."""
    given = {
        "torque": torque,
        "t_span": t_span,
        "rotation0": rotation0,
        "scalar_first": scalar_first,
        "omega0": omega0,
        "momentum0": momentum0,
        "breaks": breaks,
    }
    if isinstance(problem, Task):
        return problem
    if isinstance(problem, (str, Path, problems.Problem, Scenario)):
        extra = next((name for name, value in given.items() if value is not None), None)
        if extra:
            raise InputError(
                f"{extra} belongs to the problem or scenario; give a body first to choose {extra} yourself"
            )
        return _task_of_problem(problem, torque_file)
    body = as_body(problem)
    if t_span is None:
        raise InputError("t_span is missing; give (t0, t1)")
    return _task(
        body.name or "a body",
        body,
        as_torque(torque),
        rotations.as_quaternion(rotation0, scalar_first, "rotation0"),
        omega0,
        momentum0,
        span(t_span),
        breaks,
    )


def _task_of_problem(problem, torque_file):
    recipe = {"torque_file": torque_file}
    problem = str(problem) if isinstance(problem, Path) else problem
    if isinstance(problem, str) and is_scenario_file(Path(problem)):
        recipe["problem"] = problem
        problem = load(problem, torque_file)
    elif torque_file is not None:
        raise InputError(
            f"a torque file goes with a scenario, and {brief(problem)} is not one; give a SCENARIO.toml, or drop it"
        )
    if isinstance(problem, Scenario):
        problem.check_held("compare and advise")
        title, torque, t_span, breaks = (
            problem.title,
            problem.torque,
            problem.t_span,
            problem.breaks,
        )
    else:
        problem = problems.get(problem)
        recipe["problem"] = title = problem.name
        end = problem.t_span[1] if problem.comparable is None else problem.comparable
        torque, t_span, breaks = problem.torque(), (problem.t_span[0], end), None
    start = problem.rotation0, problem.omega0, None
    return _task(title, problem.body, torque, *start, t_span, breaks, recipe)


def _task(title, body, torque, rotation0, omega0, momentum0, t_span, breaks, recipe=None):
    refuse_rotors(body, "compare")
    unit, jumps = None, break_times(breaks).tolist()
    for term in torque.terms:
        if term.unit is not None:
            unit, jumps = term.unit, term.jumps
    motion = initial_rotation(body, rotation0, omega0, momentum0)
    return Task(
        title, body, torque, motion, tuple(t_span), _times_inside(jumps, t_span), unit, recipe or {}
    )


def _times_inside(times: Iterable[float], t_span: tuple[float, float]) -> tuple[float, ...]:
    """The times inside the span, in its direction."""
    t0, t1 = t_span
    return tuple(sorted((at for at in times if min(t0, t1) < at < max(t0, t1)), reverse=t1 < t0))


# --- the truth ------------------------------------------------------------------------------------


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

    @property
    def rate(self) -> float:
        """The largest angular velocity."""
        return self.scales[0]


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
    start, evaluations = (*task.start, times - times[0]), 0
    if not task.torque.acts:
        found: Any = free_body(task.body, *start)
        error, origin = 1e-15, "elliptic functions"
    elif is_upright_top(task.torque, task.body):
        found = lagrange_top(task.body, task.torque.params.moment, *start)
        error, origin = 1e-15, "theta functions"
    else:
        found = _reference(task, times, tolerance)
        error, origin, evaluations = (
            float(found.error.max()),
            "reference of order 16",
            found.evaluations,
        )
    axes = None if task.body.is_principal else task.body.axes
    motion = in_principal_axes(task.body.moments, axes, found.quaternion, found.omega, False)
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
        float(np.linalg.norm(parts(motion).omega, axis=1).max()) or 1.0,
        max(abs(float(energy[0])), float(task.kinetic(motion).max())) or 1.0,
        float(np.linalg.norm(momentum, axis=1).max()) or 1.0,
    )
    return Truth(times, motion, energy, momentum, scales, error, origin, evaluations, checks)


def is_upright_top(torque: torques.Torque, body: RigidBody) -> bool:
    """Whether the torque is the weight of a symmetric top on its axis, for which `lagrange_top` is
    the closed solution."""
    upright = getattr(torque, "function", None) is torques.heavy_top().function
    return bool(upright and body.is_principal and body.moments[0] == body.moments[1])


def errors(motions: np.ndarray, truth: Truth, at: Any) -> np.ndarray:
    """The larger of the angle in radians and the relative error of the angular velocity, at the
    truth's times `at`."""
    (q, omega), (true_q, true_omega) = parts(motions), parts(truth.motion[at])
    away = np.linalg.norm(omega - true_omega, axis=1) / truth.rate
    return np.maximum(rotations.angle_between(q, true_q), away)


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
