"""One method on one task: a run at a step size, or at a tolerance, becomes a `Point` of error and
cost."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from polhode.engine.carriers.fixed import FixedSteps as FixedCarrier
from polhode.engine.carriers.tolerance import ByTolerance as ToleranceCarrier, Tolerance
from polhode.engine.diagnosis import torque_error
from polhode.engine.one_body import LARGEST_RTOL, SMALLEST_RTOL
from polhode.engine.program import build
from polhode.engine.schedule import segments, stretches
from polhode.errors import IntegrationError
from polhode.loads.agreement import Start
from polhode.results.motion import in_user_axes
from polhode.studies.compare.task import errors, matched

REPEATS, ENOUGH = 20, 0.03  # runs that are timed: so many, or as many as take so many seconds
FEW_RADIANS = 3.0  # turned in the longest step that is tried
ENDS = 12  # of steps, at least, at which a run is looked at: between them an error can hide


@dataclass(frozen=True)
class Point:
    """A run: its step (or tolerance), what it cost and how far it was off.  A run that failed has
    an infinite error.

    `error` is the largest over the times compared, of the angle in radians and the relative error
    of the angular velocity; `energy` and `momentum` (in space) are the largest deviations from the
    truth, relative.
    """

    setting: float
    steps: int
    evaluations: int
    seconds: float
    error: float
    energy: float = math.inf
    momentum: float = math.inf

    def to_dict(self) -> dict[str, Any]:
        """The point as plain data."""
        return asdict(self)


class Runner:
    """A method on a task, with a setting that decides how accurate it is.

    Subclasses say which settings there are (`knob`, `first`, `finer`, `snapped`) and what a run of
    one is (`_follow`).
    """

    def __init__(self, task, truth, method):
        self.task, self.truth, self.method, self.name = task, truth, method, method.name
        start = Start(*task.t_span, in_user_axes(task.body, task.motion))
        self.program = build(method, task.torque, task.body, start=start)
        self._counted = 0  # calls of a Python torque before this run

    def facts(self):
        """What the registry says about the method, with its order under the torque at hand."""
        return {**self.method.facts(), "order": self.method.order_under(self.task.torque)}

    def run(self, setting, timed=True):
        """The Point of a setting; where it is `timed`, the quickest of several runs."""
        point, elapsed = self._once(setting, True), 0.0
        for _ in range(REPEATS if timed and math.isfinite(point.error) else 0):
            elapsed += point.seconds
            if elapsed > ENOUGH:
                break
            point = replace(point, seconds=min(point.seconds, self._once(setting, False).seconds))
        return point

    def motions(self, setting):
        """The times at which a run of a setting is looked at, and its motions (principal axes)."""
        times, motions, march = self._follow(setting, True)
        self._evaluations(march)
        if not times:
            raise IntegrationError(
                f"{self.name} failed with {self.knob} {setting:g}; take a smaller one"
            )
        return np.concatenate(times), np.concatenate(motions)

    def _once(self, setting, looking):
        try:
            times, motions, march = self._follow(setting, looking)
        except IntegrationError:  # long steps get to places where no motion goes
            return Point(setting, 0, 0, 0.0, math.inf)
        point = Point(setting, march.steps, self._evaluations(march), march.elapsed, math.inf)
        if not times:
            return point
        times, motions = np.concatenate(times), np.concatenate(motions)
        here, there = matched(times, self.truth)
        return replace(
            point, **deviations(self.task, self.truth, times[here], motions[here], there)
        )

    def _evaluations(self, march):
        """Torque evaluations of one march, although a Python torque counts on from run to run."""
        if self.program.pythons[0] is None:
            return march.evaluations
        before, self._counted = self._counted, march.evaluations
        return self._counted - before

    @property
    def place(self):
        """Where a run is, for messages."""
        return f"the start of a run of {self.name}"

    def _check_torque(self):
        cause = self.program.trouble()
        if cause is not None:
            raise torque_error(cause, f"in a run of {self.name}", fix="correct it") from cause


class FixedSteps(Runner):
    """Steps of one size, which is the setting."""

    knob = "step"

    def compile(self):
        """Compile, or load, before anyone looks at a clock."""
        self.program.begin(1e-3 * self.task.length, self.task.t_span[0], self.task.motion)
        self._check_torque()
        self.program.march()
        self._evaluations(FixedCarrier(self.program, self.task.motion))
        return self

    def first(self):
        """The longest step worth trying: a few radians, or the longest stretch between jumps, or
        all where one is exact."""
        ends = [self.task.t_span[0], *self.task.breaks, self.task.t_span[1]]
        longest = max(abs(b - a) for a, b in pairwise(ends))
        exact = not self.task.torque.acts and math.inf in self.method.free_order
        return self.snapped(longest if exact else min(longest, FEW_RADIANS / self.truth.rate))

    def finer(self, step):
        """Half the step, or a little less."""
        return self.snapped(0.5 * step)

    def snapped(self, step):
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

    def _follow(self, step, looking):
        march, times, motions = FixedCarrier(self.program, self.task.motion), [], []
        for index, segment in enumerate(
            segments(self.task.t_span, step, self.task.breaks or None, self.method.multistep)
        ):
            if index == 0 or segment.fresh:
                march.begin(segment, self)
            groups = math.gcd(segment.count, self.truth.checks)
            every = segment.count // groups
            chunk = march.take(segment, 0, groups, every)
            self._check_torque()
            if chunk.failure is not None or len(chunk.y) < groups:
                return [], [], march
            times.append(segment.times(0, groups, every))
            motions.append(chunk.y)
        return times if looking else [], motions, march


class ByTolerance(Runner):
    """Steps that the method chooses; the setting is rtol.  Errors are those of the continuous
    extension, costs are without it."""

    knob = "rtol"

    def __init__(self, task, truth, method):
        super().__init__(task, truth, method)
        self.name = f"{method.name}@rtol"

    def facts(self):
        """A step that depends on where the body is makes no method symmetric or symplectic."""
        return {
            **super().facts(),
            "symmetric": False,
            "symplectic": False,
            "torques_per_step": None,
        }

    def compile(self):
        """Compile, or load, before anyone looks at a clock."""
        self._march(1e-3)
        return self

    def first(self):
        """The loosest tolerance."""
        return LARGEST_RTOL

    def finer(self, rtol):
        """A digit more."""
        return self.snapped(0.1 * rtol)

    def snapped(self, rtol):
        """A tolerance that is allowed."""
        return min(max(rtol, SMALLEST_RTOL), LARGEST_RTOL)

    def _follow(self, rtol, looking):
        times, motions = self._dense(rtol) if looking else ([], [])
        march = self._march(rtol)
        for _ in self._chunks(march, self.truth.t[:0]):
            pass
        return times, motions, march

    def _march(self, rtol):
        return ToleranceCarrier(self.program, Tolerance(rtol, 0.0), math.inf, self.task.motion)

    def _dense(self, rtol):
        """Times at which the truth is known, and the motion there."""
        march = self._march(rtol)
        sign, times, motions = np.sign(self.task.t_span[1] - self.task.t_span[0]), [], []
        for chunk in self._chunks(march, self.truth.t[1:]):
            inside = self.truth.t[
                (sign * self.truth.t > sign * chunk.inside.t[0])
                & (sign * self.truth.t <= sign * chunk.t[-1])
            ]
            at = np.searchsorted(sign * chunk.t, sign * inside)
            times.append(inside)
            motions.append(
                np.where((chunk.t[at] == inside)[:, None], chunk.y[at], chunk.inside(at, inside))
            )
        self._evaluations(march)
        return times, motions

    def _chunks(self, march, wanted):
        for stretch in stretches(self.task.t_span, self.task.breaks or None):
            march.begin(stretch, self)
            through = False
            while not through:
                chunk = march.take(stretch, False, wanted, march.pace.steps)
                self._check_torque()
                if chunk.failure is not None:
                    raise IntegrationError(
                        f"{self.name} cannot go on at t = {chunk.reached:g}; name that time in breaks if the "
                        "torque jumps there"
                    )
                through = chunk.through
                if chunk.steps:
                    yield chunk


def deviations(task, truth, times, motions, at):
    """How far motions are off at the truth's times `at`: the largest of each kind, by name."""
    _, energy, momentum = truth.scales
    found = {
        "energy": np.abs(task.energies(times, motions) - truth.energy[at]) / energy,
        "momentum": np.linalg.norm(task.momenta(motions) - truth.momentum[at], axis=1) / momentum,
    }
    found["error"] = found["energy"] if truth.judges == "energy" else errors(motions, truth, at)
    largest = {name: float(values.max()) for name, values in found.items()}
    return {name: value if math.isfinite(value) else math.inf for name, value in largest.items()}
