"""Pilot runs: the reference on as much of the span as the budget allows, the longest step of each
candidate that is accurate enough, the growth of errors beyond the pilot, and a last run over the
whole span."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from polhode.errors import PolhodeError
from polhode.studies.advise.cost import Price
from polhode.studies.compare import entries
from polhode.studies.compare.runner import Point
from polhode.studies.compare.search import Curve
from polhode.studies.compare.task import Task
from polhode.studies.compare.truth import (
    Truth,
    common_times,
    constant_energy,
    errors,
    has_closed_solution,
    truth,
    truth_of,
)

EXACT_SOLUTION = "exact.free_body"
PER_RADIAN = 700  # torque evaluations that the reference takes for a radian
SUBSPAN = 12.0  # radians that the shortest pilot covers
LONG_RADIANS = 2e4  # radians that a pilot for a long run covers at most
CHECKS_OF_ENERGY = 240
HOPELESS = 2.0  # a candidate is given up at this many times the cost of the best so far
STRETCH = 10.0  # how many budgets the first candidate may use: without it there is no advice
CHEAP = 2e-6  # seconds of a torque evaluation below which runs are repeated to be timed
EXPONENTS = 0.5, 3.0  # limits of the power of time with which errors are assumed to grow


@dataclass(frozen=True)
class Trial:
    """A candidate: its cheapest good point over the whole span, its cost, or why there is none."""

    entry: entries.Entry | None  # None for the closed solution
    facts: dict = field(repr=False)
    knob: str
    point: Point | None
    cost: float
    each: float = math.nan  # the cost of a torque evaluation and all that goes with it
    note: str = ""

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.entry.name if self.entry else EXACT_SOLUTION

    def to_dict(self) -> dict[str, Any]:
        """The trial as plain data."""
        point = (
            asdict(self.point)
            if self.point
            else dict.fromkeys(("setting", "steps", "evaluations", "error", "energy"))
        )
        # a closed form has neither step nor tolerance
        setting = point["setting"] if self.knob else None
        return {
            "method": self.name,
            "order": self.facts.get("order"),
            self.knob or "step": setting,
            "steps": point["steps"],
            "torque_evaluations": point["evaluations"],
            "seconds": self.cost if self.point else None,
            "error": point["error"],
            "energy_error": point["energy"],
            "note": self.note,
        }


class Pilot:
    """Measures the candidates on a part of the task."""

    def __init__(self, task: Task, price: Price, target: float, long: bool, budget: float) -> None:
        self.whole, self.price, self.target, self.long, self.budget = (
            task,
            price,
            target,
            long,
            budget,
        )
        self.spent = 0
        self.task = self._short_task()
        self.partial = self.task.t_span != task.t_span
        self.truth = self._truth()
        self.spent += self.truth.evaluations
        self.growth = 1.0

    # --- the span and the truth -------------------------------------------------------------------

    def _short_task(self) -> Task:
        """The whole task, or as much of it as the budget allows."""
        rate, affordable = self.whole.rate, 0.5 * self.budget / self.price.measured
        radians = affordable / PER_RADIAN
        if self._needs_no_motion():
            radians = min(LONG_RADIANS, affordable / 100.0)
        elif has_closed_solution(self.whole):
            radians = math.inf
        fraction = max(radians, SUBSPAN) / (rate * self.whole.length)
        if not fraction < 1.0:
            return self.whole
        t0, t1 = self.whole.t_span
        return self.whole.until(t0 + fraction * (t1 - t0))

    def _needs_no_motion(self) -> bool:
        """Whether the conserved energy is enough to judge a run."""
        return self.long and self.whole.conservative and self.whole.autonomous

    def _truth(self) -> Truth:
        if self._needs_no_motion():
            known = constant_energy(self.task, CHECKS_OF_ENERGY)
            return replace(known, scales=(self.task.rate, *known.scales[1:]))
        tolerance = max(1e-14, min(1e-9, 1e-3 * self.target))
        if not self.long:
            return truth(self.task, tolerance)
        return replace(truth(self.task, tolerance, CHECKS_OF_ENERGY), judges="energy")

    # --- candidates -------------------------------------------------------------------------------

    def try_all(
        self, chosen: list[entries.Entry], tell: Callable[[int, int, str], Any]
    ) -> list[Trial]:
        """A Trial for each entry."""
        trials: list[Trial] = []
        for done, entry in enumerate(chosen):
            tell(done, len(chosen), entry.name)
            best = min((trial.cost for trial in trials), default=math.inf)
            trials.append(self.attempt(entry, best))
        return trials

    def attempt(self, entry: entries.Entry, best: float = math.inf) -> Trial:
        """The Trial of one candidate; it is given up if it costs much more than the best so far."""
        try:
            runner = entry.runner(self.task, self.truth).compile()
            curve = Curve(
                runner, lambda point: self._worth(point, best), timed=self.price.measured < CHEAP
            )
            if self.partial and self.growth == 1.0 and not self.long:
                self._measure_growth(curve)
            point = curve.reach(self.target / self.growth)
        except PolhodeError as problem:
            return Trial(entry, {}, "", None, math.inf, note=str(problem))
        self.spent += sum(one.evaluations for one in curve.points)
        last, facts = point or curve.points[-1], entry.facts(self.task)
        each = self.price.of(last) / max(last.evaluations, 1)
        if point is None:
            least = min(one.error for one in curve.points)
            why = "too costly" if math.isfinite(best) else "out of budget"
            note = f"{why} at {least:.1e}"
            return Trial(entry, facts, runner.knob, None, math.inf, each, note)
        full = self._over_whole_span(point)
        return Trial(entry, facts, runner.knob, full, self.price.of(full), each)

    def _worth(self, point: Point, best: float) -> bool:
        used = (self.spent + point.evaluations) * self.price.measured
        budget = self.budget if math.isfinite(best) else STRETCH * self.budget
        return 2.0 * self.price.of(self._over_whole_span(point)) < HOPELESS * best and used < budget

    def _over_whole_span(self, point: Point) -> Point:
        """The point of the pilot, as it would be over the whole span."""
        ratio = self.whole.length / self.task.length
        if ratio == 1.0 and self.growth == 1.0:
            return point
        return replace(
            point,
            steps=math.ceil(point.steps * ratio),
            evaluations=math.ceil(point.evaluations * ratio),
            seconds=point.seconds * ratio,
            error=point.error * self.growth,
        )

    def _measure_growth(self, curve: Curve) -> None:
        """How much larger errors are at the end of the whole span than at the end of the pilot."""
        point = curve.reach(min(1e-2, 30.0 * self.target), tries=0)
        if point is not None:
            times, motions = curve.runner.motions(point.setting)
            here, there = common_times(times, self.truth)
            since = np.abs(times[here] - self.task.t_span[0])
            self.growth = growth(since, errors(motions[here], self.truth, there), self.whole.length)

    # --- the last run -----------------------------------------------------------------------------

    def verified(self, trial):
        """The trial with the error of a run over the whole span, by halving its step, and the step
        corrected once.

        None where that is not affordable.
        """
        if not self.partial:
            return trial
        if (
            3.5 * trial.point.evaluations * self.price.measured > self.budget
            or self._needs_no_motion()
        ):
            return None
        runner = trial.entry.runner(self.whole, self.truth)
        setting = runner.snapped(trial.point.setting)
        for _ in range(2):
            point = self._against_half(runner, setting)
            if point.error <= self.target or not math.isfinite(point.error):
                break
            power = trial.facts["order"] if runner.knob == "step" else 1.0
            setting = runner.snapped(setting * (0.7 * self.target / point.error) ** (1.0 / power))
        seconds = trial.point.seconds * point.evaluations / max(trial.point.evaluations, 1)
        point = replace(point, seconds=seconds)
        return replace(trial, point=point, cost=self.price.of(point))

    def _against_half(self, runner, setting):
        """The point of a run over the whole span, compared with a run with half its step."""
        runner.truth = replace(
            truth_of(self.whole, *runner.motions(runner.finer(setting)), math.nan, "half the step"),
            checks=self.truth.checks,
            judges=self.truth.judges,
        )
        point = runner.run(setting, timed=False)
        self.spent += 3 * point.evaluations
        return point


def growth(t: np.ndarray, error: np.ndarray, end: float) -> float:
    """error(end) / error(t[-1]), extrapolated by the better of two fits to the largest errors up to
    each time: a power of t, an exponential."""
    envelope = np.maximum.accumulate(error)
    kept = (t > 0.2 * t[-1]) & (envelope > 0.0) & np.isfinite(envelope)
    if kept.sum() < 4:
        return end / t[-1]
    t, y = t[kept], np.log(envelope[kept])
    power, exponential = np.polyfit(np.log(t), y, 1, full=True), np.polyfit(t, y, 1, full=True)
    exponent = min(max(power[0][0], EXPONENTS[0]), EXPONENTS[1])
    rest = [float(fit[1][0]) if len(fit[1]) else 0.0 for fit in (power, exponential)]
    if rest[1] < 0.5 * rest[0] and exponential[0][0] > 0.0:
        return math.exp(min(exponential[0][0] * (end - t[-1]), 200.0))
    return (end / t[-1]) ** exponent
