"""The time loop of a Runge-Kutta pair that chooses its steps; `bind` gives it the names that are None
here.

A motion is seven numbers, y = (q, Om), the quaternion of any length:

    q' = q Om / 2,   Om' = I^-1 (T(t, R, Om) - Om x I Om),   R = R(q / |q|)

The error of a step is an angle, compared with rtol + atol, and a velocity, compared with rtol times
the largest velocity so far + atol: a body that comes to rest for a moment needs no more digits than
one that turns.  What the loop needs to continue (time, next step, motion, its slope, largest velocity,
logarithm of the last error) is in z, so that the results do not depend on the chunks.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.lanes import axpy7
from polhode.core.loops.fixed import REFUSED, load_body
from polhode.core.newton import differences
from polhode.core.scalars import TINY
from polhode.core.vec import normalise, qtimes, times

DONE, FULL, STUCK = 0, 3, 4
# the next step aims at 0.85 of what the estimate allows, and is 0.2 to 10 times this one
SAFETY, SHRINK, GROW = 0.85, 0.2, 10.0
SLOWEST = 1e-150  # an angular velocity whose square can still be divided by
LEAST = 16.0 * 2.0**-52  # of |t|: shorter steps are lost in rounding
CALM = 1e-4  # the smallest error that the controller remembers
# places in z, and its length
TIME, STEP, FASTEST, BEFORE, MOTION_AT, SLOPE_AT, SIZE = 0, 1, 2, 3, 4, 11, 18
MOTION, SLOPE = slice(MOTION_AT, SLOPE_AT), slice(SLOPE_AT, SIZE)
LN2 = math.log(2.0)

# bound per pair:     stages, error, extension, exponent, memory, costs
# bound per torque:   torque, load_parameters
# bound per run:      follow_on (a loop that chooses its steps), memory_of_run() (what it begins with), one_run (`run`)
stages = error = extension = exponent = memory = costs = None
torque = load_parameters = None
follow_on = memory_of_run = one_run = None


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
    powers = False  # type: ignore[misc]  # the extension is nested in s and 1 - s

    def suited(self, program: Any, rtol: float) -> "Pair":
        """The same for every torque."""
        return self

    @property
    def loop(self) -> Callable[..., Any]:
        """The time loop."""
        return follow

    @property
    def names(self) -> dict[str, Any]:
        """What the loop is bound to."""
        return self._asdict()

    def blank(self) -> list[float]:
        """The numbers the loop starts with."""
        return [0.0] * SIZE


def restart(z: Any, t: float) -> None:
    """Begin anew at time t; the largest velocity so far is remembered."""
    z[TIME], z[STEP], z[BEFORE] = t, 0.0, 0.0


# --- motions as seven numbers ---------------------------------------------------------------------


@jit
def scale7(c, x):
    """c x."""
    return (c * x[0], c * x[1], c * x[2], c * x[3], c * x[4], c * x[5], c * x[6])


@jit
def sub7(x, y):
    """x - y."""
    return (
        x[0] - y[0],
        x[1] - y[1],
        x[2] - y[2],
        x[3] - y[3],
        x[4] - y[4],
        x[5] - y[5],
        x[6] - y[6],
    )


@jit
def projected(y):
    """The same motion with a unit quaternion."""
    a, b, c, d = normalise((y[0], y[1], y[2], y[3]))
    return (a, b, c, d, y[4], y[5], y[6])


@jit
def spin(q, Om):
    """q Om / 2."""
    return qtimes(q, (0.5 * Om[0], 0.5 * Om[1], 0.5 * Om[2]))


@jit
def slope(t, y, body, torque, p):
    """y'."""
    q, Om = (y[0], y[1], y[2], y[3]), (y[4], y[5], y[6])
    a, b, c, d = spin(q, Om)
    T, k, g = torque.near(t, q, Om, p), body.Iinv, times(body.Iinv, differences(body.I))
    return (
        a,
        b,
        c,
        d,
        fma(k[0], T[0], -g[0] * (Om[1] * Om[2])),
        fma(k[1], T[1], -g[1] * (Om[2] * Om[0])),
        fma(k[2], T[2], -g[2] * (Om[0] * Om[1])),
    )


@jit
def speed(y):
    return math.sqrt(y[4] * y[4] + y[5] * y[5] + y[6] * y[6])


@jit
def weights(rtol, atol, fastest):
    """What squares are multiplied by: rtol + atol is allowed in angle, which is 2 |dq|, and rtol fastest + atol in velocity."""
    angle, velocity = rtol + atol, rtol * fastest + atol + SLOWEST
    return 2.0 / (angle * angle), 0.5 / (velocity * velocity)


@jit
def spread(e, weights):
    """The mean square of the two parts of an error, over what is allowed."""
    turn = fma(e[0], e[0], e[1] * e[1]) + fma(e[2], e[2], e[3] * e[3])
    return fma(weights[0], turn, weights[1] * fma(e[4], e[4], fma(e[5], e[5], e[6] * e[6])))


@jit
def rough_log(x):
    """The logarithm, straight between powers of two: at most 0.06 too small, in half the time,
    which a step has to wait for."""
    m, k = math.frexp(x)
    return LN2 * (k + 2.0 * m - 2.0)


# --- the loop -------------------------------------------------------------------------------------


@jit
def first_step(t, y, f, span, weights, exponent, body, torque, p):
    """Hairer, Norsett & Wanner 1993, section II.4: from the slope and, by a small step of Euler's,
    its own slope."""
    d0, d1 = math.sqrt(spread(y, weights)), math.sqrt(spread(f, weights))
    small = 0.01 * d0 / d1 if d1 > 0.0 else 0.01 * abs(span)
    small = math.copysign(min(small, abs(span)), span)
    ahead = slope(t + small, axpy7(small, f, y), body, torque, p)
    d2 = math.sqrt(spread(sub7(ahead, f), weights)) / abs(small)
    steepest = max(d1, d2)
    h = (0.01 / steepest) ** exponent if steepest > 0.0 else abs(span)
    return math.copysign(min(min(h, 100.0 * abs(small)), abs(span)), span)


@jit
def load7(z, i):
    return (z[i], z[i + 1], z[i + 2], z[i + 3], z[i + 4], z[i + 5], z[i + 6])


@jit
def store7(y, row):
    for i in range(7):
        row[i] = y[i]


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
    t, h, fastest, before = z[TIME], z[STEP], z[FASTEST], z[BEFORE]
    y, f = load7(z, MOTION_AT), load7(z, SLOPE_AT)
    forward = t1 > t
    count, rejected, seen, evaluations = 0, 0, 0, 0
    if h == 0.0:  # a fresh start
        f = slope(t, y, body, torque, p)
        # what the torque alone would reach within a radian or so
        fastest = max(fastest, max(speed(y), math.sqrt(speed(f))))
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
                    store7(terms[i], pieces[count, i])
                evaluations += costs[1]
            t, y = now, projected(new)
            a, b, c, d = spin((y[0], y[1], y[2], y[3]), (y[4], y[5], y[6]))
            f = (a, b, c, d, ahead[4], ahead[5], ahead[6])
            fastest = max(fastest, speed(y))
            allowed = weights(rtol, atol, fastest)
            if count < len(clock):
                clock[count] = t
                store7(y, points[count])
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
    z[TIME], z[STEP], z[FASTEST], z[BEFORE] = t, h, fastest, before
    store7(y, z[MOTION_AT:SLOPE_AT])
    store7(f, z[SLOPE_AT:SIZE])
    return why, count, rejected, evaluations


def run(q, Om, t0, t1, control, most, I, parameters):
    """The motion at t1 from that at t0, in at most so many steps: (attitude, body angular velocity,
    why it ended).

    Nothing but numbers comes in and goes out: moments and parameters as flat tuples.  Where no step
    is small enough, or there are too many, the motion is the last one that was reached.  REFUSED:
    the largest step is smaller than the rounding of the times.
    """
    rtol, atol, longest = control
    if not (t0 != t1 and longest > LEAST * max(abs(t0), abs(t1))):
        return q, Om, REFUSED
    z = memory_of_run()
    store7((q[0], q[1], q[2], q[3], Om[0], Om[1], Om[2]), z[MOTION_AT:SLOPE_AT])
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
    y = load7(z, MOTION_AT)
    return (y[0], y[1], y[2], y[3]), (y[4], y[5], y[6]), why


def runs(first, last, motions, t0, t1, control, most, I, parameters, why):
    """`run` for the motions in the rows first, ..., last - 1, each in its place."""
    for i in range(first, last):
        y = load7(motions[i], 0)
        q, Om = (y[0], y[1], y[2], y[3]), (y[4], y[5], y[6])
        q, Om, why[i] = one_run(q, Om, t0, t1, control, most, I, parameters)
        store7((q[0], q[1], q[2], q[3], Om[0], Om[1], Om[2]), motions[i])
