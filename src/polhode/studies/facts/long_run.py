"""Long runs: how the energy drifts, how large a step may be, what a step costs."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode import problems, rotations
from polhode.core.jit import compile_obstacle
from polhode.core.motions import ROTATION
from polhode.core.vec import dot, norm
from polhode.engine.carriers.fixed_steps import FixedSteps
from polhode.engine.program import build
from polhode.engine.schedule import Segment
from polhode.errors import IntegrationError, number
from polhode.loads import torques
from polhode.methods import Method, get
from polhode.problems import Problem
from polhode.results._trajectory import Trajectory
from polhode.results.motion import row
from polhode.studies.facts.trial import TROUBLE, VELOCITY, Map, run_length

STRESS = "bou-rabee/stress"  # Bou-Rabee, Ortolan & Saccon 2009: to T = 15000
BLOCKS = 50  # the uncertainty of a slope is found from the scatter of this many means
MEMBERS = 12  # runs, from starts that differ by LEAST to MOST in attitude and velocity
LEAST, MOST = 1e-14, 1e-6
SURE = 3.0  # a slope is resolved if it is larger than this many times its uncertainty

# --- energy ---------------------------------------------------------------------------------------


class EnergyDrift(NamedTuple):
    """The drift of the total energy in a long run.

    Attributes
    ----------
    slope : float
        Least-squares slope, the mean over runs from starts that differ by next to nothing.
    blow_up : float
        When the first of them was lost, up to which its slope is taken; inf: none was.
    scatter : float
        Standard deviation of the slopes; nan where there is one run alone.
    error : float
        Standard error of a line through the energy of one run, which sees oscillation and
        curvature; nan for a short run.
    slopes : tuple of float
        Those of the runs, the unperturbed one first.
    """

    slope: float
    blow_up: float
    scatter: float
    error: float
    slopes: tuple

    @property
    def doubt(self) -> float:
        """How sure the slope is: the larger of scatter and error."""
        return float(np.fmax(self.scatter, self.error))

    @property
    def resolved(self) -> bool:
        """Whether there is a drift: a slope well above its doubt."""
        return abs(self.slope) > SURE * self.doubt

    @property
    def chaotic(self) -> bool:
        """Whether the slope depends on the last digits of the start, so that no drift is
        resolved."""
        return not self.resolved and self.scatter > self.error


def obstacle(method: Method | str, problem: str | Problem = STRESS) -> str | None:
    """Why a method's step cannot be compiled, in a line of the compiler's; None when it can."""
    chosen = problems.of_one_body(problem)
    program = build(get(method), chosen.torque(), chosen.body)

    def attempt():
        program.begin(chosen.step, 0.0, row(ROTATION, chosen.rotation0, chosen.omega0))
        program.march()

    return compile_obstacle(attempt)


def long_run(
    method: Method | str,
    step: float | None = None,
    t_end: float | None = None,
    problem: str | Problem = STRESS,
    compiled: bool = True,
    **options: Any,
) -> Trajectory:
    """A run of a problem as far as it goes: what came before a step that failed is kept."""
    chosen = problems.of_one_body(problem)
    span = chosen.t_span if t_end is None else (chosen.t_span[0], number("t_end", t_end))
    try:
        return chosen.integrate(method, step=step, t_span=span, compiled=compiled, **options)
    except IntegrationError as error:
        if error.trajectory is None:
            raise
        return error.trajectory


def energy_slope(run: Trajectory, limit: float | None = None) -> tuple[float, float, float]:
    """Slope of the energy of a Trajectory, the time of its blow-up, and the standard error of the
    slope.

    An energy that has changed by more than `limit` (by default 1, or as much as there is if that is
    more), or a run that could not go on, is a blow-up.
    """
    change = run.total_energy - run.total_energy[0]
    limit = (
        max(1.0, abs(run.total_energy[0]))
        if limit is None
        else number("limit", limit, positive=True)
    )
    lost = np.flatnonzero(~(np.abs(change) <= limit))
    end = lost[0] if len(lost) else len(change)
    blow_up = (
        math.inf
        if run.status == "finished" and not len(lost)
        else float(run.t[min(end, len(change) - 1)])
    )
    return _slope(run.t[:end], change[:end]), blow_up, _uncertainty(run.t[:end], change[:end])


def energy_drift(
    first: Trajectory,
    method: Method | str,
    step: float | None = None,
    t_end: float | None = None,
    problem: str | Problem = STRESS,
    limit: float | None = None,
    compiled: bool = True,
) -> EnergyDrift:
    """The `EnergyDrift` of a method, given its unperturbed run `first`.

    A chaotic motion amplifies the smallest differences until only the statistics of a run mean
    anything: the slope of a single run is then one of many possible ones.
    """
    slope, blow_up, error = energy_slope(first, limit)
    if blow_up < math.inf:
        return EnergyDrift(slope, blow_up, math.nan, error, (slope,))
    chosen = problems.of_one_body(problem)
    every = max(1, round(1.0 / (chosen.step if step is None else step)))
    others = [
        energy_slope(long_run(method, step, t_end, beside, compiled, every=every), limit)
        for beside in perturbed(chosen)
    ]
    slopes, ends, _ = zip((slope, blow_up, error), *others, strict=True)
    return EnergyDrift(
        float(np.mean(slopes)), min(ends), float(np.std(slopes, ddof=1)), error, slopes
    )


def perturbed(problem: Problem) -> Iterator[Problem]:
    """The problem from neighbouring starts: attitude and angular velocity are perturbed in random
    directions, more each time."""
    random = np.random.default_rng(1)
    for size in np.geomspace(LEAST, MOST, MEMBERS - 1):
        turn, push = (size * way / np.linalg.norm(way) for way in random.normal(size=(2, 3)))
        yield replace(
            problem,
            rotation0=rotations.qmul(problem.rotation0, rotations.exp(turn)),
            omega0=problem.omega0 + np.linalg.norm(problem.omega0) * push,
        )


def drift_slope(
    method: Method | str,
    step: float = 0.25,
    t_end: float | None = None,
    problem: str | Problem = STRESS,
    limit: float | None = None,
) -> EnergyDrift:
    """The drift of the energy in a long run, by default Bou-Rabee, Ortolan & Saccon's stress test
    to T = 15000.

    Examples
    --------
    >>> drift = drift_slope("VLV", t_end=1000.0)
    >>> bool(abs(drift.slope) < 1e-6), drift.resolved
    (True, False)
    """
    return energy_drift(long_run(method, step, t_end, problem), method, step, t_end, problem, limit)


def _slope(t, y):
    t = t - t.mean()
    return float(t @ y / (t @ t)) if len(t) > 1 else math.nan


def _uncertainty(t, y):
    """Standard error of the slope through means over blocks, which sees correlation and
    curvature."""
    if len(t) < 3 * BLOCKS:
        return math.nan
    parts = np.array_split(np.arange(len(t)), BLOCKS)
    t, y = (np.array([values[part].mean() for part in parts]) for values in (t, y))
    slope, away = _slope(t, y), t - t.mean()
    rest = y - y.mean() - slope * away
    return float(np.sqrt(rest @ rest / (BLOCKS - 2) / (away @ away)))


# --- stability ------------------------------------------------------------------------------------

FIRST, RATIO, NARROW = 0.1, math.sqrt(2.0), 1.02  # of the search, in units of h |Om|
SMALLEST, LARGEST = 1e-3, 16.0
STEPS, ALLOWED = 2000, 0.25


def stability_limit(method: Method | str) -> float:
    """The stability limit h |Om|: the angle turned per step up to which a free motion stays a
    motion.

    A step size is stable when 2000 steps of the trial body, torque-free, solve their equations and
    keep the energy within a quarter of what it was; |Om| is the initial angular speed.  On a grid
    with ratio sqrt(2), begun at 0.1, the limit lies between the first two neighbours of which the
    larger is not stable, and is narrowed down there to two percent.  inf: stable up to 16; 0:
    unstable down to 0.001.

    Examples
    --------
    >>> stability_limit("LP2") > 0.5
    True
    """
    path, speed = Map(method, torques.free()), norm(VELOCITY)

    def energy(s):
        return 0.5 * dot(path.velocity(s, path.body), path.momentum(s))

    def stable(angle):
        try:
            states = path.run(angle / speed, STEPS)
            first = energy(next(states))
            return all(abs(energy(s) - first) <= ALLOWED * first for s in states)
        except TROUBLE:
            return False

    good = FIRST
    while not stable(good):
        good /= RATIO
        if good < SMALLEST:
            return 0.0
    bad = good * RATIO
    while stable(bad):
        good, bad = bad, bad * RATIO
        if bad > LARGEST:
            return math.inf
    while bad / good > NARROW:
        middle = math.sqrt(good * bad)
        good, bad = (middle, bad) if stable(middle) else (good, middle)
    return good


# --- cost -----------------------------------------------------------------------------------------


def cost(method: Method | str, count: int = 2_000, repeats: int = 60) -> float | None:
    """Nanoseconds per compiled step on the stress test, the least of many short runs; None for what
    cannot be compiled."""
    count, repeats = run_length(count), run_length(repeats, "repeats")
    if obstacle(method) is not None:
        return None
    chosen = problems.get(STRESS)
    program = build(get(method), chosen.torque(), chosen.body)
    segment, best = Segment(0.0, 0.1, count, 0.1 * count), math.inf
    for _ in range(repeats):
        carrier = FixedSteps(program, row(ROTATION, chosen.rotation0, chosen.omega0))
        carrier.begin(segment)
        if carrier.take(segment, 0, 1, count).failure is not None:
            return None
        best = min(best, carrier.elapsed)
    return 1e9 * best / count
