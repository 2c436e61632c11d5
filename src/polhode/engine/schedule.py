"""The times at which steps begin and end: even steps, breaks, a shorter last step, or a list of
times."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.loops.fixed import COMMENSURATE, even_steps
from polhode.errors import InputError, brief, floats, number
from polhode.support.limits import check_step, check_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

EPS = 2.0**-52
LARGEST_COUNT = 2.0**52
_REAL = {float, int}


@dataclass(slots=True, eq=False, frozen=True)
class Segment:
    """`count` steps in a row, of size `h`, from `start`; or between the times that are `listed`, and
    then `h` is the size of the first.

    `fresh`: the method starts anew here, because the torque jumps or the step changes under a
    multistep method.  `end`: the time where the segment ends, as the user wrote it.  `grid`: the
    times as the loops read them, (start, h), or all of them where they are listed.
    """

    start: float
    h: float
    count: int
    end: float
    fresh: bool = False
    listed: np.ndarray | None = None
    grid: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        grid = np.array([self.start, self.h]) if self.listed is None else self.listed
        object.__setattr__(self, "grid", grid)

    def time(self, k: int) -> float:
        """The time after k of its steps; the end is exact."""
        if k == self.count:
            return self.end
        return self.start + k * self.h if self.listed is None else float(self.listed[k])

    def step_at(self, k: int) -> float:
        """The size of step k."""
        return self.time(k + 1) - self.time(k)

    def steps_until(self, t: float) -> int:
        """How many of its steps begin before time t."""
        if self.listed is not None:
            direction = math.copysign(1.0, self.h)
            return int(np.searchsorted(self.listed[:-1] * direction, t * direction))
        return int(np.clip(np.ceil((t - self.start) / self.h), 0, self.count))

    def times(self, k: int, groups: int, every: int) -> np.ndarray:
        """The times after k + every, k + 2 every, ... steps."""
        last = k + every * groups
        if groups == 1:
            return np.array([self.end if last == self.count else self.time(last)])
        if self.listed is not None:
            t = self.listed[k + every : last + 1 : every].copy()
        else:
            t = np.arange(k + every, last + 1, every, dtype=float)
            t *= self.h
            t += self.start
        if last == self.count:
            t[-1] = self.end
        return t


@dataclass(slots=True, eq=False)
class Stretch:
    """A piece of the run between jumps of the torque: from `start` to `stop`, a hair inside the
    `end` that the user wrote."""

    start: float
    stop: float
    end: float
    fresh = True  # each begins anew

    def step_at(self, k: int) -> float:
        """Nobody knows: the loop chooses."""
        return 0.0

    def steps_until(self, t: float) -> int | None:
        """Nobody knows."""
        return None


def stretches(
    t_span: tuple[float, float] | ArrayLike | None, breaks: ArrayLike | None = None
) -> list[Stretch]:
    """The run as stretches in which steps may end anywhere."""
    t0, t1 = span(t_span)
    inner = [] if breaks is None else _breaks(breaks, t0, t1)
    ends = [t0, *inner, t1]
    hairs = [0.0, *(_hair(t1 - t0, t) for t in inner), 0.0]
    return [
        Stretch(a + begin, b - end, b)
        for (a, b), (begin, end) in zip(pairwise(ends), pairwise(hairs), strict=True)
    ]


def _hair(direction: float, *sizes: float) -> float:
    """A few units in the last place of the largest of these numbers, the way the run goes."""
    return math.copysign(4.0 * EPS * max(map(abs, sizes)), direction)


def span(t_span: tuple[float, float] | ArrayLike | None) -> tuple[float, float]:
    """The two ends of the run, checked."""
    given = floats("t_span", t_span)
    if given.shape != (2,):
        raise InputError(
            f"t_span must be two times (t0, t1), got {brief(t_span)}; write t_span=(0, 10)"
        )
    t0, t1 = (given + 0.0).tolist()  # no negative zeros
    if t0 == t1:
        raise InputError(
            f"t_span must have a length, got {brief(t_span)}, so the run would have no step; give two "
            "different times"
        )
    check_times(given)
    return t0, t1


def segments(
    t_span: tuple[float, float] | ArrayLike | None,
    step: float | ArrayLike,
    breaks: ArrayLike | None = None,
    multistep: bool = False,
    method: str = "the method",
) -> tuple[Segment, ...]:
    """The run as segments, from the user's span, step (a number, or an array of times) and
    breaks."""
    if type(step) is not float and (given := floats("step", step)).ndim:
        return (_listed(t_span, given, breaks, multistep, method),)
    if breaks is None and type(t_span) is tuple and _REAL.issuperset(map(type, (*t_span, step))):
        plain: Any = t_span, step
        return _same_steps(*plain, multistep)
    return _of_one_size(t_span, step, breaks, multistep)


@lru_cache(64)
def _same_steps(t_span: tuple[float, float], step: float, multistep: bool) -> tuple[Segment, ...]:
    """Those for plain numbers, which are often the same again."""
    return _of_one_size(t_span, step, None, multistep)


def _of_one_size(
    t_span: tuple[float, float] | ArrayLike | None,
    step: float | ArrayLike,
    breaks: ArrayLike | None,
    multistep: bool,
) -> tuple[Segment, ...]:
    t0, t1 = span(t_span)
    h = check_step(number("step", step, positive=True))
    if h > abs(t1 - t0) * (1 + COMMENSURATE):
        raise InputError(
            f"step = {h!r} is larger than the span {t0!r} to {t1!r}; use a step of at most {abs(t1 - t0)!r}"
        )
    if abs(t1 - t0) / h > LARGEST_COUNT:
        raise InputError(
            f"step = {h!r} cuts the span {t0!r} to {t1!r} into {abs(t1 - t0) / h:.2g} steps, more than a double can "
            "distinguish; use a larger step"
        )
    if abs(t0) + h == abs(t0) or abs(t1) + h == abs(t1):
        raise InputError(
            f"step = {h!r} is smaller than the rounding of times as large as {max(abs(t0), abs(t1))!r}; use a larger "
            "step, or count time from the start of the run"
        )
    inner: list[float] = [] if breaks is None else _breaks(breaks, t0, t1)
    return tuple(
        segment
        for a, b in pairwise([t0, *inner, t1])
        for segment in _even(a, b, h, jump_before=a != t0, jump_after=b != t1, multistep=multistep)
    )


def _even(
    a: float, b: float, h: float, jump_before: bool, jump_after: bool, multistep: bool
) -> list[Segment]:
    """Steps of h from a to b.  A side where the torque jumps is kept by a few units in the last
    place, so that the torque is asked for its limit on this side."""
    direction = 1.0 if b > a else -1.0
    begin = a + (_hair(direction, a, b, h) if jump_before else 0.0)  # never -0.0
    end = b - _hair(direction, a, b, h) if jump_after else b
    count, whole = even_steps(a, b, h)
    h *= direction
    if whole and not jump_after:
        return [Segment(begin, h, count, b, jump_before)]
    if whole:  # the last step is cut by a hair
        count -= 1
    last = begin + count * h
    fresh = (multistep and not whole) or (jump_before and not count)
    rest = Segment(last, end - last, 1, b, fresh)
    return [Segment(begin, h, count, last, jump_before), rest] if count else [rest]


def break_times(breaks: ArrayLike) -> np.ndarray:
    """The times at which steps end and begin anew, as an array; None is none."""
    values = np.atleast_1d(floats("breaks", [] if breaks is None else breaks))
    if values.ndim > 1:
        raise InputError(
            f"breaks must be a time or a list of times, got shape {values.shape}; write breaks=[1.0, 2.5]"
        )
    return values


def _breaks(breaks: ArrayLike, t0: float, t1: float) -> list[float]:
    values = break_times(breaks)
    outside = values[(values < min(t0, t1)) | (values > max(t0, t1))]
    if len(outside):
        raise InputError(
            f"breaks must lie inside the span {t0!r} to {t1!r}, got {float(outside[0])!r}; drop it"
        )
    inner = np.unique(values[(values != t0) & (values != t1)])
    return (inner if t1 > t0 else inner[::-1]).tolist()


def _listed(
    t_span: tuple[float, float] | ArrayLike | None,
    times: np.ndarray,
    breaks: ArrayLike | None,
    multistep: bool,
    method: str,
) -> Segment:
    if breaks is not None:
        raise InputError(
            "breaks go with a step of fixed size; put the break times into the array of times instead"
        )
    if multistep:
        raise InputError(
            f"{method} uses earlier steps and needs steps of equal size; give one number for step"
        )
    if times.ndim != 1 or len(times) < 2:
        raise InputError(
            f"an array of times in place of step needs at least two times, got shape {times.shape}; give more, "
            "or one number for the size of a step"
        )
    increments = np.diff(check_times(times, "an array of times"))
    if not (np.all(increments > 0) or np.all(increments < 0)):
        worst = (
            int(np.argmax(np.sign(increments) != np.sign(increments[0]))) if increments[0] else 0
        )
        before, after = times[worst : worst + 2].tolist()
        raise InputError(
            f"an array of times must be increasing or decreasing, got {before!r} followed by {after!r}; sort it"
        )
    check_step(float(abs(increments).min()), "the shortest step of an array of times")
    if t_span is not None:
        t0, t1 = span(t_span)
        if (times[0], times[-1]) != (t0, t1):
            raise InputError(
                f"the array of times runs from {float(times[0])!r} to {float(times[-1])!r}, t_span from {t0!r} to "
                f"{t1!r}; leave out t_span or make them agree"
            )
    first, second, last = times[0].item(), times[1].item(), times[-1].item()
    return Segment(first, second - first, len(times) - 1, last, listed=times.copy())
