"""One method on one task: a run at a step size, or at a tolerance, becomes a `Point` of error and
cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from polhode.engine.carriers.fixed_steps import FixedSteps
from polhode.engine.carriers.by_tolerance import ByTolerance, Tolerance
from polhode.engine.driver import Driver
from polhode.engine.one_run import LARGEST_RTOL, SMALLEST_RTOL
from polhode.engine.recorder import AtSteps
from polhode.engine.schedule import Segment, segments, stretches
from polhode.errors import IntegrationError
from polhode.results._run import FINISHED, INTERRUPTED
from polhode.studies.compare.task import Task
from polhode.studies.compare.truth import Truth, common_times, errors

REPEATS, ENOUGH = 20, 0.03  # a run is timed at most this often, and for about this many seconds
FEW_RADIANS = 3.0  # how far the body turns in the longest step that is tried
ENDS = 12  # a run is compared with the truth after at least this many steps, if it has them


@dataclass(frozen=True)
class Point:
    """A run: its step (or tolerance), its cost and its error, which is infinite for a run that
    failed.

    `error` is the largest over the times compared, of the angle in radians and the relative errors
    of angular velocity, in flight of position and velocity, and of the speeds of rotors, in a system of
    all bodies; `energy` and `momentum` (in space, in flight and of a system about the origin) are the
    largest deviations from the truth, relative.
    """

    setting: float
    steps: int
    evaluations: int
    seconds: float
    error: float
    energy: float = math.inf
    momentum: float = math.inf


class AtChecks(AtSteps):
    """Stores the motion after every so many steps of each segment, as often as the truth is known
    there."""

    left = 0  # steps of the segment

    def __init__(self, checks, kind):
        super().__init__(1, checks, kind, None)
        self.checks = checks
        self.keep_in()

    def next(self, left, most):
        if not self.left:
            self.left, self.done, self.every = left, 0, left // math.gcd(left, self.checks)
        return super().next(left, most)

    def add(self, chunk):
        super().add(chunk)
        self.left -= chunk.steps


class AtWanted:
    """Stores the motion at the wanted times: at the ends of steps as it is, between them by the
    method's continuous extension."""

    watch, over, n = None, False, 0

    def __init__(self, wanted):
        self.wanted, self.times, self.motions = wanted, [wanted[:0]], []

    def add(self, chunk):
        if not (len(self.wanted) and chunk.steps):
            return
        sign = np.sign(chunk.t[-1] - chunk.inside.t[0])
        inside = self.wanted[
            (sign * self.wanted > sign * chunk.inside.t[0])
            & (sign * self.wanted <= sign * chunk.t[-1])
        ]
        at = np.searchsorted(sign * chunk.t, sign * inside)
        ends = (chunk.t[at] == inside)[:, None]
        self.times.append(inside)
        self.motions.append(np.where(ends, chunk.y[at], chunk.inside(at, inside)))


class Runner:
    """A method on a task, with a setting that decides how accurate it is.

    Subclasses say which settings there are (`knob`, `first`, `finer`, `snapped`) and how one is run
    (`_driver`, `_observe`).
    """

    knob = ""

    def __init__(self, task, truth, method):
        self.task, self.truth, self.method, self.name = task, truth, method, method.name
        task.check_able(method, by_tolerance=self.knob == "rtol")
        self.program = task.program(method)
        self._counted = 0  # calls of a Python torque before this run

    def run(self, setting, timed=True):
        """The Point of a setting; where it is `timed`, the quickest of several runs."""
        point, elapsed = self._once(setting), 0.0
        for _ in range(REPEATS if timed and math.isfinite(point.error) else 0):
            elapsed += point.seconds
            if elapsed > ENOUGH:
                break
            carrier, _ = self._follow(self._driver(setting))
            self._evaluations(carrier)
            point = replace(point, seconds=min(point.seconds, carrier.elapsed))
        return point

    def motions(self, setting):
        """The times at which a run of a setting is observed, and its motions (principal axes)."""
        _, _, observed = self._observe(setting)
        if observed is None:
            raise IntegrationError(
                f"{self.name} failed with {self.knob} {setting:g}; use a smaller one"
            )
        return observed

    def _once(self, setting):
        carrier, evaluations, observed = self._observe(setting)
        point = Point(setting, carrier.steps, evaluations, carrier.elapsed, math.inf)
        if observed is None:
            return point
        times, motions = observed
        here, there = common_times(times, self.truth)
        return replace(
            point, **deviations(self.task, self.truth, times[here], motions[here], there)
        )

    def _follow(self, driver):
        """(the carrier after a run, whether it reached the end); with long steps a run may fail."""
        try:
            status, message = driver.run()
        except IntegrationError:
            return driver.carrier, False
        if status == INTERRUPTED:
            raise KeyboardInterrupt(message)
        return driver.carrier, status == FINISHED

    def _evaluations(self, carrier):
        """Torque evaluations of one run, although a Python torque counts on from run to run."""
        if self.program.pythons[0] is None:
            return carrier.evaluations
        before, self._counted = self._counted, carrier.evaluations
        return self._counted - before


class StepRunner(Runner):
    """Steps of one size, which is the setting."""

    knob = "step"

    def compile(self) -> Self:
        """Compile, or load from the cache, before runs are timed."""
        carrier, (t0, t1) = FixedSteps(self.program, self.task.motion), self.task.t_span
        carrier.begin(Segment(t0, 1e-3 * self.task.length, 1, t1))
        self.program.march()
        self._evaluations(carrier)
        return self

    def first(self) -> float:
        """The longest step worth trying: a few radians, or the longest stretch between jumps, or
        all where one is exact."""
        ends = [self.task.t_span[0], *self.task.breaks, self.task.t_span[1]]
        longest = max(abs(b - a) for a, b in pairwise(ends))
        exact = self.task.is_free and math.inf in self.method.free_order
        return self.snapped(longest if exact else min(longest, FEW_RADIANS / self.truth.rate))

    def finer(self, step: float) -> float:
        """Half the step, or a little less."""
        return self.snapped(0.5 * step)

    def snapped(self, step: float) -> float:
        """A step, not longer, that divides the span so that the truth is known at the ends of all
        steps, or of ENDS and more."""
        if self.task.breaks:
            return step
        if self.task.unit:
            return self.task.unit / math.ceil(self.task.unit / step * (1.0 - 1e-9))
        count = max(1, math.ceil(self.task.length / step * (1.0 - 1e-9)))
        while math.gcd(count, self.truth.checks) < min(count, ENDS):
            count += 1
        return self.task.length / count

    def _driver(self, step):
        return Driver(
            FixedSteps(self.program, self.task.motion),
            segments(self.task.t_span, step, self.task.breaks or None, self.method.multistep),
            AtChecks(self.truth.checks, self.program.motion_kind),
        )

    def _observe(self, step):
        """The carrier of a run, its torque evaluations, and (times, motions), None where it
        failed."""
        driver = self._driver(step)
        carrier, finished = self._follow(driver)
        observed = driver.recorder.points.arrays()[:2] if finished else None
        return carrier, self._evaluations(carrier), observed


class ToleranceRunner(Runner):
    """Steps that the method chooses; the setting is rtol.  Errors are those of the continuous
    extension, costs are without it."""

    knob = "rtol"

    def __init__(self, task, truth, method):
        super().__init__(task, truth, method)
        self.name = f"{method.name}@rtol"

    def compile(self) -> Self:
        """Compile, or load from the cache, before runs are timed."""
        self._carrier(1e-3)
        return self

    def first(self) -> float:
        """The loosest tolerance."""
        return LARGEST_RTOL

    def finer(self, rtol: float) -> float:
        """A digit more."""
        return self.snapped(0.1 * rtol)

    def snapped(self, rtol: float) -> float:
        """A tolerance that is allowed."""
        return min(max(rtol, SMALLEST_RTOL), LARGEST_RTOL)

    def _carrier(self, rtol):
        return ByTolerance(self.program, Tolerance(rtol, 0.0), math.inf, self.task.motion)

    def _driver(self, rtol, wanted=0):
        """A run that looks at so many of the times of the truth, the last ones."""
        return Driver(
            self._carrier(rtol),
            stretches(self.task.t_span, self.task.breaks or None),
            AtWanted(self.truth.t[len(self.truth.t) - wanted :]),
        )

    def _observe(self, rtol):
        """The carrier of a run without the extension, its torque evaluations, and (times, motions)
        of one with it, None where it failed."""
        driver = self._driver(rtol, len(self.truth.t) - 1)
        carrier, finished = self._follow(driver)
        evaluations, observed = self._evaluations(carrier), None
        if finished:
            observed = (
                np.concatenate(driver.recorder.times),
                np.concatenate(driver.recorder.motions),
            )
            carrier, _ = self._follow(self._driver(rtol))
            evaluations = self._evaluations(carrier)
        return carrier, evaluations, observed


def deviations(
    task: Task, truth: Truth, times: np.ndarray, motions: np.ndarray, at: Any
) -> dict[str, float]:
    """The largest deviation of each kind, by name, of motions at the truth's times `at`."""
    _, energy, momentum = truth.scales
    found = {
        "energy": np.abs(task.energies(times, motions) - truth.energy[at]) / energy,
        "momentum": np.linalg.norm(task.momenta(motions) - truth.momentum[at], axis=1) / momentum,
    }
    found["error"] = found["energy"] if truth.judges == "energy" else errors(motions, truth, at)
    largest = {name: float(values.max()) for name, values in found.items()}
    return {name: value if math.isfinite(value) else math.inf for name, value in largest.items()}
