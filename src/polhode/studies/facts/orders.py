"""The orders of a method: how its errors vanish with the step.

They are read in three ways, each for what the one before cannot tell:

1.  in the limit of small steps, with forty digits, from what a few steps add to the error.  Steps down to 1e-7 leave nothing but
    the leading term.  The doubles among a method's constants leave a growth that does not vanish
    with the step; it is measured too, and what is not well above it says nothing.  Enough for
    orders up to four or five.
2.  from the error at the end of the trial run, with forty digits, as in the figures of the papers; for higher orders, of which
    small steps show nothing but the method's constants.  Where the errors of one run are not
    regular, those of three are taken.  Where they are too small from the first, as of order 16,
    smaller ones are read, if the method's constants have as many digits.
3.  the same in doubles, for a step that cannot be computed with forty digits (NumPy's functions, machine code).

An order that has not settled, by the scatter of what is read from parts of the points, is no order:
it is nan.
"""

import math
from typing import NamedTuple

import numpy as np

from polhode.methods import Method, get
from polhode.studies.facts.precise_trial import STARTS, growth, precise_errors
from polhode.studies.facts.trial import SPAN, TROUBLE, Map, reference, torque_of

# fmt: off
COUNTS = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192)
# fmt: on
SHOWN, MOST = 256, 512  # the largest of them for curves that are only shown, and with forty digits
FINE = 2048  # in doubles no order is believed before so many steps, or round-off
SMALLEST = 2.0**-40  # the step that shows what a method's constants leave
SMALL = (*(2.0**-k for k in range(22, 8, -2)), *(2.0**-k for k in range(9, 5, -1)))
LIMIT = 2.0**-14  # a step that small has nothing but the leading term of the error
CLEAR = 50.0  # times what the constants leave
# a growth that small may be due to constants in doubles; a smaller one is none
CONSTANTS, LEAST = 1e-14, 1e-19
# of errors: below it round-off shows, or the constants of the method
FLOOR, PRECISE_FLOOR, DEEP = 3e-12, 3e-15, 1e-27
HIGH = 10.0  # lower orders show above PRECISE_FLOOR
CEILING = 0.3  # above it nothing is asymptotic
# an order is read from so many points; with enough of them no more are looked for
POINTS, FEWEST, ENOUGH = 7, 4, 6
SETTLED = 0.1  # by which parts of the points may differ, for an order up to 3; in proportion above


class Orders(NamedTuple):
    """Measured orders (inf: exact to round-off; nan: not settled), how sure they are, and errors
    against step in doubles."""

    attitude: float
    momentum: float
    doubts: tuple
    how: str
    steps: np.ndarray
    attitude_errors: np.ndarray
    momentum_errors: np.ndarray


class Reading(NamedTuple):
    """An order, and how much it depends on the points it is read from."""

    order: float
    doubt: float
    points: float  # how many; infinitely many where it is exact

    @property
    def settled(self) -> bool:
        return self.doubt <= SETTLED * max(1.0, self.order / 3.0)


NOTHING = Reading(math.nan, math.inf, 0)
EXACT = Reading(math.inf, 0.0, math.inf)


# --- errors in doubles ----------------------------------------------------------------------------


def errors(method: Method | str, count: int, kind: str = "torque") -> tuple[float, float]:
    """Attitude error (angle) and body momentum error (relative) after `count` equal steps of the
    trial run."""
    path = Map(method, torque_of(kind))
    *_, s = path.run(SPAN / count, count)
    return path.errors(s, *reference(kind))


def order(method: Method | str, kind: str = "torque") -> Orders:
    """Measured orders of attitude and body momentum.

    Parameters
    ----------
    method : str or Method
    kind : {"torque", "free", "damped"}
        The trial torque, none, or the trial torque with damping, which looks at the angular
        velocity.

    Examples
    --------
    >>> round(order("VLV").attitude, 1)
    2.0
    """
    torque_of(kind)  # an unknown kind is refused here
    even = bool(get(method).symmetric)

    def in_doubles(enough):
        return _ladder(lambda count: errors(method, count, kind), FLOOR, enough, even)

    curve = in_doubles(lambda readings, count: count >= SHOWN)
    try:
        (found, reached), how = _in_the_limit(method, kind), "small steps"
        if not reached:  # read at steps that are not small yet: a whole run may say more
            whole = _over_the_run(method, kind, even)
            if _doubt(whole) <= _doubt(found):
                found, how = whole, "forty digits"
            if _too_few(whole):
                smaller = _over_the_run(method, kind, even, range(1), DEEP, DEEP)
                if _all_settled(smaller) and min(one.order for one in smaller) > HIGH:
                    found, how = smaller, "forty digits"
    except Exception:  # of a step that does not work with numbers other than floats
        finished = in_doubles(lambda readings, count: count >= FINE and _done(readings, count))
        found, how = finished[2], "doubles"
    attitude, momentum = (each.order if each.settled else math.nan for each in found)
    doubts = tuple(each.doubt for each in found)
    return Orders(attitude, momentum, doubts, how, curve[0], *curve[1])


# --- the three ways -------------------------------------------------------------------------------


def _in_the_limit(method, kind):
    """Readings, and whether steps were small enough for the limit to be seen."""
    left = np.array(growth(method, SMALLEST, kind))
    floors = np.maximum(LEAST, np.where(left < CONSTANTS, CLEAR * left, 0.0))
    steps, found = [], []
    for step in SMALL:
        steps.append(step)
        found.append(growth(method, step, kind))
        clear = np.array(found) > floors
        if clear.sum(axis=0).min() > FEWEST:
            break
    if np.max(found) < CONSTANTS:  # of a high order, or exact: steps that small do not tell
        return [NOTHING, NOTHING], False
    readings = [
        _read(np.array(steps)[good][: FEWEST + 1], column[good][: FEWEST + 1], (1,))
        for column, good in zip(np.array(found).T, clear.T, strict=True)
    ]
    return readings, bool(clear[: SMALL.index(LIMIT) + 1].any())


def _over_the_run(method, kind, even, starts=None, floor=PRECISE_FLOOR, exact=FLOOR):
    if starts is None:
        found = _over_the_run(method, kind, even, range(1))
        return (
            found if _all_settled(found) else _over_the_run(method, kind, even, range(len(STARTS)))
        )

    def errors_at(count):
        squares = [np.square(precise_errors(method, count, kind, start)) for start in starts]
        return np.sqrt(np.mean(squares, axis=0))

    counts = COUNTS[: COUNTS.index(MOST) + 1]
    return _ladder(errors_at, floor, _done, even, counts, exact)[2]


def _done(readings, count):
    return _all_settled(readings) and min(reading.points for reading in readings) >= ENOUGH


def _doubt(readings):
    return max(reading.doubt for reading in readings)


def _all_settled(readings):
    return all(reading.settled for reading in readings)


def _too_few(readings):
    """Whether all is round-off, or all but a few points: the method is exact, or of a high order."""
    return all(not FEWEST <= reading.points < math.inf for reading in readings)


def _ladder(errors_at, floor, enough, even, counts=COUNTS, exact=FLOOR):
    """Steps, errors and readings, with more and more steps until it is enough or round-off is
    reached; what has no error above `exact` is exact."""
    steps, found = [], []
    for count in counts:
        try:
            pair = errors_at(count)
        except TROUBLE:  # a step too large for the method
            pair = (math.nan, math.nan)
        steps.append(SPAN / count)
        found.append(pair)
        columns = np.array(found).T
        readings = [_of_errors(np.array(steps), column, floor, even, exact) for column in columns]
        if max(pair) < floor or enough(readings, count):
            break
    for coarsest in range(1, POINTS - FEWEST):  # the largest steps may not be asymptotic
        fewer = [
            _of_errors(np.array(steps), column, floor, even, exact, coarsest) for column in columns
        ]
        readings = [
            a if a.settled or a.doubt <= b.doubt else b
            for a, b in zip(readings, fewer, strict=True)
        ]
    return np.array(steps), columns, readings


# --- reading an order -----------------------------------------------------------------------------


def _of_errors(steps, errors, floor, even, exact, coarsest=0):
    """The reading from the finest POINTS errors above the floor, without the `coarsest` of them."""
    if np.nanmax(errors, initial=0.0) < exact and not np.all(np.isnan(errors)):
        return EXACT
    good = np.flatnonzero((errors > floor) & (errors < CEILING))[-POINTS:][coarsest:]
    return _read(steps[good], errors[good], (2, 4) if even else (1, 2))


def _read(steps, errors, powers):
    """The order p from log error = a + p log h + c h^m + d h^n, and its doubt: what leaving out an end of the points changes.

    The last terms stand for the next ones in the error's expansion, so that p is the slope in the
    limit of small steps.  A symmetric method's expansion goes on in powers of h^2.
    """
    if len(steps) < FEWEST or not np.isfinite(errors).all():
        return NOTHING

    def fit(part):
        h = steps[part] / steps.max()
        terms = [np.log(h), np.ones_like(h), *(h**power for power in powers)][: max(2, len(h) - 2)]
        return float(
            np.linalg.lstsq(np.stack(terms, axis=1), np.log(errors[part]), rcond=None)[0][0]
        )

    p, spare = fit(slice(None)), min(2, len(steps) - FEWEST + 1)
    parts = [part for k in range(1, spare + 1) for part in (slice(k, None), slice(None, -k))]
    return Reading(p, max(abs(fit(part) - p) for part in parts), len(steps))
