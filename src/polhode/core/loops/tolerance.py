"""The time loop of a Runge-Kutta pair that chooses its steps; `bind` gives it the names that are None
here.

A motion is a row of numbers (`adaptive_motion`).  What the loop needs to continue (time, next step,
motion, its slope, largest velocity, logarithm of the last error) is in z, so that the results do not
depend on the chunks.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.core.jit import jit
from polhode.core.loops.adaptive_motion import (
    BEFORE,
    MOTION_AT,
    STEP,
    TIME,
    Numbers,
    begun,
    first_step,
    grown,
    loaded,
    noted,
    projected,
    recorded,
    slope,
    slope_at,
    slope_from,
    stored,
    weights,
)
from polhode.core.loops.fixed import REFUSED, load_body
from polhode.core.scalars import TINY

DONE, FULL, STUCK = 0, 3, 4
# the next step aims at 0.85 of what the estimate allows, and is 0.2 to 10 times this one
SAFETY, SHRINK, GROW = 0.85, 0.2, 10.0
LEAST = 16.0 * 2.0**-52  # of |t|: shorter steps are lost in rounding
CALM = 1e-4  # the smallest error that the controller remembers
LN2 = math.log(2.0)

# bound per pair:     stages, error, extension, exponent, memory, costs
# bound per torque:   torque, load_parameters
# bound per motion:   `Numbers.names`, in place of the functions for seven numbers
# bound per run:      follow_on (a loop that chooses its steps), memory_of_run() (what it begins with), one_run (`run`),
#                     load_motion, store_motion (in the memory, or in rows of many)
stages = error = extension = exponent = memory = costs = None
torque = load_parameters = None
follow_on = memory_of_run = one_run = load_motion = store_motion = None


class Pair(NamedTuple):
    """What a run by tolerance needs of a method; the loop uses the fields under their names."""

    stages: Callable[..., Any]  # (h, t, y, f, body, torque, p) -> y', all slopes but that of y'
    error: Callable[
        ..., Any
    ]  # (h, slopes, weights) -> the square of the estimated error over what is allowed
    # (h, t, y, y', slopes, body, torque, p) -> F0, F1, ... of the continuous extension
    extension: Callable[..., Any]
    exponent: float  # the error goes as h^(1/exponent)
    # how much the error of the step before counts: 0 is the plain controller, else
    # proportional-integral
    memory: float
    costs: tuple[int, int]  # torque evaluations of a step and of its extension
    terms: int  # F0, F1, ...
    numbers: Numbers
    rows: int = 0  # of the array that stages of a system are written to
    powers = False  # type: ignore[misc]  # the extension is nested in s and 1 - s

    def suited(self, program: Any, rtol: float) -> "Pair":
        """The same for every torque; with numbers for as many bodies as there are."""
        return self._replace(numbers=self.numbers.of(program.width))

    @property
    def loop(self) -> Callable[..., Any]:
        """The time loop."""
        return follow

    @property
    def names(self) -> dict[str, Any]:
        """What the loop is bound to."""
        return {**self._asdict(), **self.numbers.names}

    def blank(self) -> list[float]:
        """The numbers the loop starts with."""
        return [0.0] * self.numbers.size


def restart(z: Any, t: float) -> None:
    """Begin anew at time t; the largest velocity so far is remembered."""
    z[TIME], z[STEP], z[BEFORE] = t, 0.0, 0.0


# --- the loop -------------------------------------------------------------------------------------


@jit
def rough_log(x):
    """The logarithm, straight between powers of two: at most 0.06 too small, in half the time,
    which a step has to wait for."""
    m, k = math.frexp(x)
    return LN2 * (k + 2.0 * m - 2.0)


def follow(
    t1, rtol, atol, longest, most, always, wanted, z, moments, parameters, clock, points, pieces
):
    """Accepted steps on the way to t1, at most so many: their times, motions and extensions, as far
    as there is room for them.

    The terms of the extension are stored for a step that passes one of the `wanted` times, or for
    every step (`always`).  Returns (why it ended, steps accepted, steps rejected, torque
    evaluations).
    """
    body = load_body(moments, 0)
    p = load_parameters(parameters, 0)
    t, h, fastest, before = z[TIME], z[STEP], recorded(z), z[BEFORE]
    y, f = loaded(z, MOTION_AT), loaded(z, slope_from(z))
    forward = t1 > t
    count, rejected, seen, evaluations = 0, 0, 0, 0
    if h == 0.0:  # a fresh start
        f = slope(t, y, body, torque, p)
        fastest = begun(fastest, y, f, t1 - t)
        h = first_step(t, y, f, t1 - t, weights(rtol, atol, fastest), exponent, body, torque, p)
        evaluations = 2
    allowed = weights(rtol, atol, fastest)
    growth = GROW
    why = DONE
    while t != t1:
        if count == most:
            why = FULL
            break
        h = math.copysign(min(abs(h), longest), h)
        left = t1 - t
        last = abs(left) <= abs(h)
        if last:
            h = left
        elif abs(left) < 2.0 * abs(h):  # no sliver at the end
            h = 0.5 * left
        if not (last or abs(h) > LEAST * abs(t)):  # lost in the rounding of time
            why = STUCK
            break
        new, slopes = stages(h, t, y, f, body, torque, p)
        ahead = slope(t + h, new, body, torque, p)
        evaluations += costs[0]
        square = error(h, (*slopes, ahead), allowed)
        if square < 1.0:
            now = t1 if last else t + h
            passed = always
            while seen < len(wanted) and (wanted[seen] <= now if forward else wanted[seen] >= now):
                passed = True
                seen += 1
            if passed:
                terms = extension(h, t, y, new, (*slopes, ahead), body, torque, p)
                for i in range(len(terms)):
                    stored(terms[i], pieces[count, i])
                evaluations += costs[1]
            t, y = now, projected(new)
            f = slope_at(y, ahead)
            fastest = grown(fastest, y)
            allowed = weights(rtol, atol, fastest)
            if count < len(clock):
                clock[count] = t
                stored(y, points[count])
            count += 1
            e = 0.5 * rough_log(max(square, CALM * CALM))
            h *= min(
                growth,
                max(SHRINK, SAFETY * math.exp((0.75 * memory - exponent) * e + memory * before)),
            )
            before, growth = e, GROW
        else:  # also when it is not a number
            rejected += 1
            smaller = h * (
                max(SHRINK, SAFETY * square ** (-0.5 * exponent)) if square < math.inf else SHRINK
            )
            if not abs(smaller) > LEAST * abs(t) + TINY:
                why = STUCK
                break
            h, growth = smaller, 1.0
    z[TIME], z[STEP], z[BEFORE] = t, h, before
    noted(fastest, z)
    stored(y, z[MOTION_AT:])
    stored(f, z[slope_from(z) :])
    return why, count, rejected, evaluations


def run(motion, t0, t1, control, most, I, parameters):
    """The motion at t1 from that at t0, in at most so many steps: (motion, why it ended).

    Nothing but numbers comes in and goes out: moments and parameters as flat tuples.  Where no step
    is small enough, or there are too many, the motion is the last one that was reached.  REFUSED:
    the largest step is smaller than the rounding of the times.
    """
    rtol, atol, longest = control
    if not (t0 != t1 and longest > LEAST * max(abs(t0), abs(t1))):
        return motion, REFUSED
    z = memory_of_run()
    store_motion(motion, z, 0)
    z[TIME] = t0
    none = z[:0]
    why, _, _, _ = follow_on(
        t1,
        rtol,
        atol,
        longest,
        most,
        False,
        none,
        z,
        I,
        parameters,
        none,
        none.reshape(0, 1),
        none.reshape(0, 1, 1),
    )
    return load_motion(z, 0), why


def runs(first, last, motions, t0, t1, control, most, I, parameters, why):
    """`run` for the motions in the rows first, ..., last - 1, each in its place."""
    for i in range(first, last):
        motion, why[i] = one_run(load_motion(motions, i), t0, t1, control, most, I, parameters)
        store_motion(motion, motions, i)
