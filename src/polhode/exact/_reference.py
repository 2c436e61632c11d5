"""A solution to compare with, for any smooth torque: order 16 in compensated arithmetic, refined
until it no longer changes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import rotations
from polhode.loads._torque import Torque
from polhode.loads.conversion import as_torque
from polhode.loads.agreement import Start
from polhode.bodies._body import RigidBody
from polhode.bodies.rotor import refuse_rotors
from polhode.core.closed.double_double import two_product
from polhode.errors import InputError, IntegrationError, floats, number
from polhode.exact._gauss import CONVERGED, STAGES, coefficients, gauss
from polhode.support.limits import check_times
from polhode.core.motions import ROTATION
from polhode.engine.carriers.chunk import Chunk
from polhode.engine.diagnosis import check_callbacks, torque_error
from polhode.engine.driver import Driver, Pace
from polhode.engine.one_body import as_body, initial_rotation
from polhode.results._trajectory import FAILED, FINISHED, INTERRUPTED
from polhode.results.motion import Attitudes, in_user_axes, parts, row
from polhode.methods import get as method
from polhode.problems import Problem, get
from polhode.engine.program import build
from polhode.engine.schedule import Segment

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

FIRST = 0.5  # radians in a step of the first run
ROUND_OFF = 1e-11  # smaller differences that no longer shrink are round-off
LARGEST = 1_000_000  # steps
FEW = 64  # in the first call of the loop
END_EARLIER = "correct it, or end earlier"


@dataclass(frozen=True)
class Reference(Attitudes):
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
    refuse_rotors(body, "reference")
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
    q, omega = parts(in_user_axes(body, row(ROTATION, after[0], after[1] / body.moments)))
    error = differences + np.finfo(float).eps * math.sqrt(run.steps)
    return Reference(times, q, omega, error, body, run.steps, run.evaluations)


def _distance(one, two, body):
    scale = np.abs(two[1] / body.moments).max(axis=1) + 1e-300
    return np.maximum(
        rotations.angle_between(one[0], two[0]),
        np.abs((one[1] - two[1]) / body.moments).max(axis=1) / scale,
    )


def _interval(start, end, longest):
    """Equal steps from one wanted time to the next."""
    count = max(1, math.ceil(abs(end - start) / longest))
    return Segment(start, (end - start) / count, count, end)


class _Collocation:
    """Carries a body by Gauss collocation: attitude and body momentum, as sums of two doubles."""

    def __init__(self, program, motion):
        self.program, self.pace = program, Pace(FEW)
        moments, start = program.moments[:, 0], parts(motion)
        momentum, rest = two_product(moments, start.omega)
        self.y = np.concatenate([start.attitude, momentum])
        self.low = np.concatenate([np.zeros(len(start.attitude)), rest])
        self.work = np.empty((2, STAGES, len(self.y)))
        self.loop = program.kept("gauss", lambda: program.bound(gauss))
        self.steps = self.evaluations = 0
        self.elapsed = 0.0

    @property
    def motion(self):
        """Where the body is, in principal axes."""
        q, momentum = parts(self.y)
        return row(ROTATION, q, momentum / self.program.moments[:, 0])

    def begin(self, segment):
        """Nothing: a step remembers nothing of the one before."""

    def advance(self, segment, k, recorder, most):
        start, h = segment.start, segment.h
        product, error = two_product(h, float(segment.count))
        rest = ((segment.end - start - product) - error) / segment.count  # h + rest: more digits
        count, started = min(most, segment.count - k), time.perf_counter()
        try:
            why, calls = self.loop(
                start,
                h,
                rest,
                k,
                count,
                self.y,
                self.low,
                self.program.moments,
                self.program.parameters,
                *coefficients(),
                *self.work,
            )
        except Exception as cause:  # of a compiled torque
            raise torque_error(cause, _between(segment), END_EARLIER) from cause
        check_callbacks(self.program, _between(segment), END_EARLIER)
        taken = time.perf_counter() - started
        self.elapsed += taken
        self.steps += count
        self.evaluations += calls
        return Chunk(
            y=self.y.copy(),
            steps=count,
            reached=segment.time(k + count),
            through=k + count == segment.count,
            failure=None if why == CONVERGED else why,
            taken=taken,
        )

    def diagnose(self, chunk, place):
        """A step that cannot be solved is too long."""
        return FAILED, f"a step cannot be solved at t = {place.t!r}"


def _between(segment):
    return f"between t = {segment.time(0)!r} and {segment.end!r}"


class _AtEnds:
    """Stores where each interval ends."""

    over, watch = False, None

    def __init__(self, first):
        self.rows = [first]

    def add(self, chunk):
        if chunk.through:
            self.rows.append(chunk.y)


class _Runs:
    """Runs of one problem with smaller and smaller steps."""

    def __init__(self, program, times, motion):
        self.program, self.times, self.motion = program, times, motion
        self.steps = self.evaluations = 0

    def first_step(self):
        """A step over which the body turns FIRST radians, if its velocity stays what it is; at most
        the longest interval."""
        moments = self.program.moments[:, 0]
        rate = np.abs(moments * parts(self.motion).omega / moments).max()
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
        carrier = _Collocation(self.program, self.motion)
        recorder = _AtEnds(carrier.y.copy())
        intervals = [_interval(a, b, h) for a, b in pairwise(self.times.tolist())]
        if intervals:
            status, message = Driver(carrier, intervals, recorder).run()
            self.steps = carrier.steps
            self.evaluations += carrier.evaluations
            if status == INTERRUPTED:
                raise KeyboardInterrupt(message)
            if status != FINISHED:
                return None
        q, momentum = parts(np.array(recorder.rows))
        return q / np.linalg.norm(q, axis=1, keepdims=True), momentum
