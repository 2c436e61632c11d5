"""A solution to compare with, for any smooth torque, load or interaction: order 16 in compensated arithmetic,
refined until it no longer changes."""

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
from polhode.loads._system import System
from polhode.loads._torque import Torque
from polhode.loads.agreement import Start
from polhode.loads.force import Force
from polhode.loads.load import Load
from polhode.bodies._body import RigidBody
from polhode.errors import InputError, IntegrationError, floats, number
from polhode.exact._equation import equation_of
from polhode.exact._gauss import CONVERGED, STAGES, coefficients, gauss
from polhode.support.limits import check_times
from polhode.core.closed.double_double import two_product
from polhode.core.motions import ROTATION, Kind
from polhode.engine.carriers.chunk import Chunk
from polhode.engine.diagnosis import check_callbacks
from polhode.engine.trouble import torque_error
from polhode.engine.driver import Driver, Pace
from polhode.engine.one_body import OneBody
from polhode.engine.one_system import OneSystem, refuse_beside_system
from polhode.results._run import FAILED, FINISHED, INTERRUPTED
from polhode.results.motion import (
    InMotion,
    in_user_axes,
    largest_differences,
    parts,
    sizes_of_system,
)
from polhode.problems import Problem, SystemProblem, get
from polhode.engine.schedule import Segment
from polhode.engine.systems.program import build

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

FIRST = 0.5  # radians in a step of the first run
ROUND_OFF = 1e-11  # smaller differences that no longer shrink are round-off
LARGEST = 1_000_000  # steps
FEW = 64  # in the first call of the loop
END_EARLIER = "correct it, or end earlier"


@dataclass(frozen=True)
class Reference(InMotion):
    """A reference solution at the times t.

    Attributes
    ----------
    t : (n,) array
    quaternion : (n, 4) array
        Attitude, body to space, scalar last.
    omega : (n, 3) array
        Angular velocity in the body frame.
    position, velocity, rotor_speeds : arrays or None
        Of a body in flight, and of one with rotors.  Those of a system are arrays (n, bodies, ...).
    error : (n,) array
        Estimate, in radians for the attitude, relative for the others: see `reference`.
    body : RigidBody or System
    steps, evaluations : int
    """

    t: np.ndarray
    motion: np.ndarray
    kind: Kind
    error: np.ndarray
    body: RigidBody | System
    steps: int
    evaluations: int

    @property
    def momentum(self) -> np.ndarray:
        """Angular momentum in the body frame, with that of the rotors."""
        if isinstance(self.body, System):
            return self.body.momentum(self.omega)
        return self.body.momentum(self.omega, self.rotor_speeds)


def reference(
    problem: str | Problem | SystemProblem | RigidBody | System | ArrayLike,
    t: ArrayLike | None = None,
    *,
    torque: Torque | Load | Callable[..., Any] | str | None = None,
    rotation0: Rotation | ArrayLike | None = None,
    omega0: ArrayLike | None = None,
    momentum0: ArrayLike | None = None,
    force: Force | Callable[..., Any] | None = None,
    position0: ArrayLike | None = None,
    velocity0: ArrayLike | None = None,
    tolerance: float = 1e-14,
) -> Reference:
    """The motion to about 1e-13, with an estimate of its error, for a torque or a load that is
    smooth along the motion; of a body in flight, of its rotors and of systems too.

    Parameters
    ----------
    problem : Problem, SystemProblem, the name of one, a body or a System
        With a body (RigidBody or inertia), `torque`, `rotation0`, `omega0` or `momentum0`, and in
        flight `force`, `position0` and `velocity0`, as for `integrate`; with a system the motion at
        the start.
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

    A stone on a straight line.

    >>> stone = reference([1.0, 2.0, 2.5], [0.0, 2.0], omega0=(0.1, 0.2, 1.0), velocity0=(3.0, 0.0, 0.0))
    >>> stone.position[-1].round(12).tolist()
    [6.0, 0.0, 0.0]
    """
    span = None
    if isinstance(problem, (Problem, SystemProblem, str)):
        known = get(problem)
        problem, torque, span = known.body, known.torque(), known.t_span
        rotation0, omega0 = known.rotation0, known.omega0
        position0, velocity0 = known.position0, known.velocity0
    one = _one(problem, (rotation0, omega0, momentum0, False), torque, force, position0, velocity0)
    tolerance = number("tolerance", tolerance, positive=True)
    if t is None and span is None:
        raise InputError(
            "t is missing; give the times at which the motion is wanted, the first being the initial one"
        )
    times = check_times(floats("t", span if t is None else t).reshape(-1), "t")
    if not len(times):
        raise InputError("t has no times; give at least one, the initial one")
    body, kind = one.body, one.kind
    about = Start(times[0], times[-1], in_user_axes(body, one.motion, kind), kind)
    run = _Runs(_program(one, about), times, one.motion)
    h = run.first_step()
    before, change = None, math.inf
    while True:
        after = run.follow(h)
        if after is not None and before is not None:
            differences = _distance(before, after, times, kind)
            worst, last = float(differences.max()), change
            change = worst
            if worst <= tolerance or (worst <= ROUND_OFF and worst >= 0.5 * last):
                break
        before, h = after, 0.5 * h
        if run.steps > LARGEST:
            raise IntegrationError(
                f"no reference to {tolerance:g} with {run.steps} steps: the last two runs are {change:.2g} "
                f"apart; the {kind.acting} is not smooth along the motion, or the motion is chaotic"
            )
    error = differences + np.finfo(float).eps * math.sqrt(run.steps)
    motion = in_user_axes(body, after, kind)
    return Reference(times, motion, kind, error, body, run.steps, run.evaluations)


def _one(problem, rotation, torque, force, position0, velocity0):
    """The run, by any method that flies and takes rotors and systems: only what acts is used."""
    if isinstance(problem, System):
        refuse_beside_system(torque=torque, force=force)
        return OneSystem(problem, "LP2", *rotation, position0, velocity0)
    return OneBody(problem, torque, "LP2", *rotation, force, position0, velocity0)


def _program(one, about):
    """The program: of a system always that on arrays, as its equation is."""
    if isinstance(one, OneBody):
        return one.bound(True, about).program
    program = build(one.method, one.body, True, about.t, about.end, about.motion)
    one.look(program, about)
    return program


def _distance(one, two, times, kind):
    """The angle between two motions, or what is larger of the differences of their other parts: the
    angular velocity relative to its size then, the others relative to their largest size.  In a
    system the largest of any body, relative to `sizes_of_system`."""
    if kind.bodies:
        sizes = sizes_of_system(two, kind, abs(times[-1] - times[0]))
        return largest_differences(one, two, sizes, kind)
    one, two = parts(one, kind), parts(two, kind)
    rate = np.abs(two.omega).max(axis=1) + 1e-300
    largest = [
        rotations.angle_between(one.attitude, two.attitude),
        np.abs(one.omega - two.omega).max(axis=1) / rate,
    ]
    for name in kind.slices:
        if name not in ROTATION.slices:
            a, b = (getattr(each, name).reshape(len(rate), -1) for each in (one, two))
            size = max(np.abs(b).max(), rate.max() if b.shape[1] == 1 else 1e-300)
            largest.append(np.abs(a - b).max(axis=1) / size)
    return np.max(largest, axis=0)


def _interval(start, end, longest):
    """Equal steps from one wanted time to the next."""
    count = max(1, math.ceil(abs(end - start) / longest))
    return Segment(start, (end - start) / count, count, end)


class _Collocation:
    """Carries a body by Gauss collocation: its motion with momenta, as sums of two doubles."""

    def __init__(self, program, motion):
        self.program, self.pace = program, Pace(FEW)
        self.equation = equation_of(program)
        self.y, self.low = (one[None] for one in self.equation.with_momenta(motion))
        self.work = np.empty((2, STAGES, len(motion)))
        self.loop = program.kept("gauss", lambda: self.equation.bound(gauss))
        self.steps = self.evaluations = 0
        self.elapsed = 0.0

    @property
    def motion(self):
        """Where the body is, in principal axes."""
        return self.equation.with_velocities(self.y[0])

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
                *self.equation.measures(h),
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
            y=self.motion,
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
        rate = np.abs(parts(self.motion, self.program.motion_kind).omega).max()
        spans = np.abs(np.diff(self.times))
        longest = spans.max(initial=0.0)
        if rate * spans.sum() > FIRST * LARGEST:
            which = "a" if self.program.motion_kind.bodies else "the"
            raise InputError(
                f"{which} body turns {rate * spans.sum():.2g} rad between t = {self.times[0]:g} and {self.times[-1]:g}, "
                f"and a reference can follow {FIRST * LARGEST:.2g}; end earlier"
            )
        return FIRST / rate if rate * longest > FIRST else longest or 1.0

    def follow(self, h):
        """The motions at the times, in principal axes; None when a step cannot be solved."""
        carrier = _Collocation(self.program, self.motion)
        recorder = _AtEnds(carrier.motion)
        intervals = [_interval(a, b, h) for a, b in pairwise(self.times.tolist())]
        if intervals:
            status, message = Driver(carrier, intervals, recorder).run()
            self.steps = carrier.steps
            self.evaluations += carrier.evaluations
            if status == INTERRUPTED:
                raise KeyboardInterrupt(message)
            if status != FINISHED:
                return None
        motions = np.array(recorder.rows)
        attitudes = parts(motions, self.program.motion_kind).attitude
        attitudes /= np.linalg.norm(attitudes, axis=-1, keepdims=True)
        return motions
