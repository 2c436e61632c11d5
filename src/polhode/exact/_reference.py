"""A solution to compare with, for any smooth torque: order 16 in compensated arithmetic, refined
until it no longer changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations
from polhode.loads._torque import Torque, as_torque
from polhode.loads.agreement import Start
from polhode.bodies._body import RigidBody
from polhode.core.closed.double_double import two_product
from polhode.errors import InputError, IntegrationError, floats, number
from polhode.exact._gauss import CONVERGED, STAGES, coefficients, gauss
from polhode.support.limits import check_times
from polhode.engine.diagnosis import torque_error
from polhode.engine.one_body import as_body, initial_rotation
from polhode.results.motion import in_user_axes
from polhode.methods import get as method
from polhode.problems import Problem, get
from polhode.engine.program import build

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation

FIRST = 0.5  # radians in a step of the first run
ROUND_OFF = 1e-11  # differences below this that no longer shrink are round-off
LARGEST = 1_000_000  # steps


@dataclass(frozen=True)
class Reference:
    """A reference solution at the times t."""

    t: np.ndarray
    quaternion: np.ndarray  # (n, 4), body to space, scalar last
    omega: np.ndarray  # (n, 3), body frame
    # (n,) estimate in radians, for attitude and relative velocity: see `reference`
    error: np.ndarray
    body: RigidBody
    steps: int
    evaluations: int

    @property
    def matrix(self) -> np.ndarray:
        """The attitudes as 3x3 matrices, body to space."""
        return rotations.matrices(self.quaternion)

    @property
    def rotation(self) -> Rotation:
        """The attitudes as a scipy Rotation."""
        return rotations.as_rotation(self.quaternion)

    @property
    def momentum(self) -> np.ndarray:
        """Angular momentum in the body frame."""
        return self.body.momentum(self.omega)


def reference(
    problem: str | Problem | RigidBody | ArrayLike,
    t: ArrayLike | None = None,
    *,
    torque: Torque | Callable[..., Any] | str | None = None,
    rotation0: Rotation | ArrayLike | None = None,
    omega0: ArrayLike | None = None,
    momentum0: ArrayLike | None = None,
    tolerance: float = 1e-14,
) -> Reference:
    """The motion to about 1e-13, with an estimate of its error, for a torque that is smooth along
    the motion.

    Parameters
    ----------
    problem : Problem, its name, or a body
        With a body (RigidBody or inertia), `torque`, `rotation0` and `omega0` or `momentum0` as for
        `integrate`.
    t : increasing or decreasing times, the first being the initial one; optional for a problem
        Where the motion is wanted; a problem's default is the two ends of its span.
    tolerance : float
        Steps are halved until the result changes by less than this, or by round-off alone.

    Returns
    -------
    Reference
        Its error estimate is the distance from the run with steps twice as long, whose own error is
        65000 times larger where round-off does not rule, plus eps sqrt(steps) for a rounding that
        both runs may share.

    Examples
    --------
    >>> exact = reference("krysl/fast-top")
    >>> bool(exact.error[-1] < 1e-12)
    True
    """
    if isinstance(problem, (Problem, str)):
        problem = get(problem)
        body, torque, span = problem.body, problem.torque(), problem.t_span
        rotation0, omega0 = problem.rotation0, problem.omega0
    else:
        body, span = as_body(problem), None
    tolerance = number("tolerance", tolerance, positive=True)
    if t is None and span is None:
        raise InputError(
            "t is missing; give the times at which the motion is wanted, the first being the initial one"
        )
    times = check_times(floats("t", span if t is None else t).reshape(-1), "t")
    if not len(times):
        raise InputError("t has no times; give at least one, the initial one")
    motion = initial_rotation(body, rotation0, omega0, momentum0)
    start = Start(times[0], times[-1], in_user_axes(body, motion))
    # any method: only its torque is used
    run = _Runs(build(method("LP2"), as_torque(torque), body, start=start), times, motion)
    h = run.first_step()
    before, change = None, math.inf
    while True:
        after = run.follow(h)
        if after is not None and before is not None:
            differences = _distance(before, after, body)
            worst, last = float(differences.max()), change
            change = worst
            if worst <= tolerance or (worst <= ROUND_OFF and worst >= 0.5 * last):
                break
        before, h = after, 0.5 * h
        if run.steps > LARGEST:
            raise IntegrationError(
                f"no reference to {tolerance:g} with {run.steps} steps: the last two runs are {change:.2g} "
                "apart; the torque is not smooth along the motion, or the motion is chaotic"
            )
    motion = in_user_axes(body, np.concatenate([after[0], after[1] / body.moments], axis=1))
    error = differences + np.finfo(float).eps * math.sqrt(run.steps)
    return Reference(times, motion[:, :4], motion[:, 4:], error, body, run.steps, run.evaluations)


def _distance(one, two, body):
    scale = np.abs(two[1] / body.moments).max(axis=1) + 1e-300
    return np.maximum(
        rotations.angle_between(one[0], two[0]),
        np.abs((one[1] - two[1]) / body.moments).max(axis=1) / scale,
    )


class _Runs:
    """Runs of one problem with smaller and smaller steps."""

    def __init__(self, program, times, motion):
        self.program, self.times = program, times
        momentum, rest = two_product(program.moments[:, 0], motion[4:])
        self.start, self.rest = (
            np.concatenate([motion[:4], momentum]),
            np.concatenate([np.zeros(4), rest]),
        )
        self.loop = program.bound(gauss, {})
        self.steps = self.evaluations = 0

    def first_step(self):
        """A step over which the body turns FIRST radians, if its velocity stays what it is; at most
        the longest interval."""
        rate = np.abs(self.start[4:] / self.program.moments[:, 0]).max()
        spans = np.abs(np.diff(self.times))
        longest = spans.max(initial=0.0)
        if rate * spans.sum() > FIRST * LARGEST:
            raise InputError(
                f"the body turns {rate * spans.sum():.2g} rad between t = {self.times[0]:g} and {self.times[-1]:g}, "
                f"and a reference can follow {FIRST * LARGEST:.2g}; end earlier"
            )
        return FIRST / rate if rate * longest > FIRST else longest or 1.0

    def follow(self, h):
        """(quaternions, body momenta in principal axes) at the times; None when a step cannot be
        solved."""
        y, low = self.start.copy(), self.rest.copy()
        k, new = np.empty((STAGES, 7)), np.empty((STAGES, 7))
        out = np.empty((len(self.times), 7))
        out[0] = y
        self.steps = 0
        for j in range(1, len(self.times)):
            t, span = self.times[j - 1], self.times[j] - self.times[j - 1]
            count = max(1, math.ceil(abs(span) / h))
            step = span / count
            product, error = two_product(step, float(count))
            rest = ((span - product) - error) / count
            try:
                why, calls = self.loop(
                    t,
                    step,
                    rest,
                    count,
                    y,
                    low,
                    self.program.moments,
                    self.program.parameters,
                    *coefficients(),
                    k,
                    new,
                )
                cause = self.program.trouble()  # that of a Python torque, kept for us
            except Exception as error:  # that of a compiled one
                cause = error
            if cause is not None:
                raise torque_error(
                    cause,
                    f"between t = {float(t)!r} and {float(self.times[j])!r}",
                    fix="correct it, or end earlier",
                ) from cause
            self.steps += count
            self.evaluations += calls
            if why != CONVERGED:
                return None
            out[j] = y
        return out[:, :4] / np.linalg.norm(out[:, :4], axis=1, keepdims=True), out[:, 4:]
