"""The time loop of Taylor series that choose their steps; `bind` gives it the names that are None here.

`series` computes the Taylor coefficients of the motion, y = (q, Om) or in flight (q, Om, x, v), at t,
up to order n.  The step is the largest for which neither of the last two terms exceeds the tolerance
(Jorba & Zou 2005): no step is rejected, and the series itself is the continuous extension.
"""

import math

from polhode.core.jit import jit
from polhode.core.loops.fixed import load_body
from polhode.core.lanes import axpy7
from polhode.core.loops.adaptive_motion import (
    MOTION_AT,
    STEP,
    TIME,
    begun,
    loaded,
    noted,
    projected,
    recorded,
    slope_from,
    speed,
    spread,
    stored,
    weights,
)
from polhode.core.loops.kinds_of_numbers import numbers
from polhode.core.loops.tolerance import DONE, FULL, LEAST, STUCK

# numbers in z before the coefficients: those of `polhode.core.loops.adaptive_motion`, and the order
WIDTH = 7  # numbers of a motion
HEAD = MOTION_AT + 2 * WIDTH + 1

axpy, series, load_parameters = axpy7, None, None


@jit
def term(work, n, k):
    """The k-th coefficient of the motion."""
    m = n + 1
    return (
        work[k],
        work[m + k],
        work[2 * m + k],
        work[3 * m + k],
        work[4 * m + k],
        work[5 * m + k],
        work[6 * m + k],
    )


@jit
def term_flight(work, n, k):
    m = n + 1
    return (
        *term(work, n, k),
        work[7 * m + k],
        work[8 * m + k],
        work[9 * m + k],
        work[10 * m + k],
        work[11 * m + k],
        work[12 * m + k],
    )


def within_by(term, spread):
    """The step at which the k-th term is as large as the tolerance."""

    @jit
    def within(work, n, k, allowed):
        e = spread(term(work, n, k), allowed)
        return e ** (-0.5 / k) if e > 0.0 else math.inf

    return within


within = within_by(term, spread)


def names_in_flight():
    """What the loop sees in flight under the names that differ."""
    kind = numbers(flying=True)
    hidden = ("slope", "first_step")
    return {
        **{name: value for name, value in kind.names.items() if name not in hidden},
        "HEAD": kind.size + 1,
        "WIDTH": kind.width,
        "term": term_flight,
        "within": within_by(term_flight, kind.functions["spread"]),
    }


FLIGHT_NAMES = names_in_flight()
FLIGHT_HEAD = FLIGHT_NAMES["HEAD"]


def follow(
    t1, rtol, atol, longest, most, always, wanted, z, moments, parameters, clock, points, pieces
):
    """Steps on the way to t1, at most so many; arguments and result are those of
    `tolerance.follow`."""
    body = load_body(moments, 0)
    p = load_parameters(parameters, 0)
    t, fastest, n, y = z[TIME], recorded(z), int(z[HEAD - 1]), loaded(z, MOTION_AT)
    work = z[HEAD:]
    forward = t1 > t
    caution = math.exp(-0.7 / (n - 1))
    count, seen, why = 0, 0, DONE
    while t != t1:
        if count == most:
            why = FULL
            break
        series(t, y, n, work, body, p)
        f = term(work, n, 1)
        fastest = begun(fastest, y, f, t1 - t)
        allowed = weights(rtol, atol, fastest)
        h = caution * min(within(work, n, n, allowed), within(work, n, n - 1, allowed))
        left = t1 - t
        last = abs(left) <= min(h, longest)
        h = left if last else math.copysign(min(h, longest), left)
        end = term(work, n, n)
        for k in range(n - 1, -1, -1):  # Horner's rule
            end = axpy(h, end, term(work, n, k))
        end = projected(end)
        if not (abs(h) > LEAST * abs(t) and speed(end) < math.inf and abs(end[3]) <= 2.0):
            z[STEP] = h
            stored(f, z[slope_from(z) :])
            why = STUCK
            break
        now = t1 if last else t + h
        passed = always
        while seen < len(wanted) and (wanted[seen] <= now if forward else wanted[seen] >= now):
            passed = True
            seen += 1
        if passed:
            power = 1.0
            for k in range(1, n + 1):
                power *= h
                for i in range(WIDTH):
                    pieces[count, k - 1, i] = power * work[i * (n + 1) + k]
        t, y = now, end
        if count < len(clock):
            clock[count] = t
            stored(y, points[count])
        count += 1
    z[TIME] = t
    noted(fastest, z)
    stored(y, z[MOTION_AT:])
    return why, count, 0, count
