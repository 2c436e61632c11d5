"""The search for the longest step that is accurate enough.  Every run on the way is a point of the
work-precision curve."""

import math
from collections.abc import Callable
from dataclasses import replace

from polhode.studies.compare.runner import Point, StepRunner, ToleranceRunner

STAGNANT = 0.7  # an error that shrinks by less than this when the step is halved,
ROUND_OFF = 1e-9  # and is below this, is round-off
FIT = (1e-11, 0.1)  # errors between which the slope of a curve is measured
HALVING = 1.9  # settings whose ratio is at least this are about a halving apart
AGREE = 0.15  # slopes of two halvings agree if they differ by less than this fraction
CLOSE = 1.06  # settings whose ratio is below this are not distinguished
AIM = 0.8  # of the requested error
MOST_STEPS = 50_000_000
MANY = 500  # steps of a run that is long enough to tell the cost of a step


class Curve:
    """The points of a runner, from long steps to short ones.

    `worth(point)` decides whether to make a run that costs twice as much as the given point.
    """

    def __init__(
        self,
        runner: StepRunner | ToleranceRunner,
        worth: Callable[[Point], bool] = lambda point: True,
        timed: bool = True,
    ) -> None:
        self.runner, self.worth, self.timed = runner, worth, timed
        self._found: dict[float, Point] = {}

    @property
    def points(self) -> list[Point]:
        """The points, long steps first."""
        return [self._found[key] for key in sorted(self._found, reverse=True)]

    def at(self, setting: float) -> Point:
        """The point of a setting, run once."""
        if setting not in self._found:
            self._found[setting] = self._without_disturbance(self.runner.run(setting, self.timed))
        return self._found[setting]

    def _without_disturbance(self, point: Point) -> Point:
        """Correct the time of a run for other load on the machine: a step cannot take longer than a
        longer one took in a shorter run."""
        rates = [
            known.seconds / known.steps
            for known in self._found.values()
            if known.setting >= point.setting and known.steps >= MANY and math.isfinite(known.error)
        ]
        return replace(point, seconds=min([point.seconds, *(rate * point.steps for rate in rates)]))

    def ladder(self, target: float) -> bool:
        """Halve the setting until the error is below the target; whether it is."""
        point = self.points[-1] if self._found else self.at(self.runner.first())
        stagnant = 0
        while not point.error <= target:
            finer = self.runner.finer(point.setting)
            if (
                stagnant == 2
                or not self.worth(point)
                or point.steps > MOST_STEPS
                or not finer < point.setting
            ):
                return False
            before, point = point.error, self.at(finer)
            shrinks = point.error < STAGNANT * before or before > ROUND_OFF
            stagnant = 0 if shrinks else stagnant + 1
        return True

    def reach(self, target: float, tries: int = 5) -> Point | None:
        """The Point with the largest setting known to meet the target, or None when none does."""
        if not self.ladder(target):
            return None
        good = self._first_good(target)
        for _ in range(tries):
            longer = [point for point in self.points if point.setting > good.setting]
            if not longer:
                break
            bad = longer[-1]
            guess = self._between(good, bad, target)
            if bad.setting / good.setting < CLOSE or not good.setting < guess < bad.setting:
                break
            point = self.at(guess)
            if point.error <= target:
                good = point
                if point.error > 0.6 * target:
                    break
        return good

    def _first_good(self, target: float) -> Point:
        """The longest step that is good, as are all shorter ones: a good step that is longer than a
        bad one is good by chance."""
        good = None
        for point in reversed(self.points):
            if not point.error <= target:
                if good is not None or point.error > ROUND_OFF:
                    break
                continue
            good = point
        return good or min(self.points, key=lambda point: point.error)

    def _between(self, good: Point, bad: Point, target: float) -> float:
        """Where the line through two points meets the target, or their middle if the errors give no
        line."""
        a, b = bad.error, good.error
        middle = math.sqrt(good.setting * bad.setting)
        if not (math.isfinite(a) and b > 0.0 and a > 1.5 * b):
            return self.runner.snapped(middle)
        guess = good.setting * (AIM * target / b) ** (1.0 / _slope(bad, good))
        guess = min(
            max(guess, good.setting**0.97 * bad.setting**0.03), good.setting**0.1 * bad.setting**0.9
        )
        snapped = self.runner.snapped(guess)
        return snapped if snapped > good.setting else self.runner.snapped(middle)

    @property
    def slope(self) -> float | None:
        """The measured order: the slope over the last halving before round-off that the halving
        before it confirms, or None."""
        points = self.points
        # shorter steps than the best one show round-off
        best = min(range(len(points)), key=lambda i: points[i].error, default=0)
        kept = [point for point in reversed(points[: best + 1]) if FIT[0] < point.error < FIT[1]]
        for fine in kept:
            middle = _coarser(kept, fine)
            coarse = middle and _coarser(kept, middle)
            if middle and coarse:
                slope = _slope(middle, fine)
                if abs(slope - _slope(coarse, middle)) <= AGREE * abs(slope):
                    return slope
        return None


def _coarser(points: list[Point], fine: Point) -> Point | None:
    """The first of the points, short steps first, whose setting is at least about twice as large;
    None when there is none."""
    return next((point for point in points if point.setting >= HALVING * fine.setting), None)


def _slope(coarse: Point, fine: Point) -> float:
    """The order that two points tell."""
    return math.log(coarse.error / fine.error) / math.log(coarse.setting / fine.setting)
