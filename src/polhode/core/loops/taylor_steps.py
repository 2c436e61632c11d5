"""The time loop of Taylor series that choose their steps; `bind` gives it the names that are None here.

`series` computes the Taylor coefficients of the motion y = (q, Om) at t, up to order n.  The step is
the largest for which neither of the last two terms exceeds the tolerance (Jorba & Zou 2005): no step is
rejected, and the series itself is the continuous extension.
"""

import math

from polhode.core.jit import jit
from polhode.core.loops.fixed import load_body
from polhode.core.loops.tolerance import (
    DONE,
    FASTEST,
    FULL,
    LEAST,
    MOTION_AT,
    SIZE,
    SLOPE_AT,
    STEP,
    STUCK,
    TIME,
    axpy7,
    load7,
    projected,
    speed,
    spread,
    store7,
    weights,
)

# numbers in z before the coefficients: those of `polhode.core.loops.tolerance`, and the order
HEAD = 19

series = load_parameters = None


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
def within(work, n, k, allowed):
    """The step at which the k-th term is as large as the tolerance."""
    e = spread(term(work, n, k), allowed)
    return e ** (-0.5 / k) if e > 0.0 else math.inf


def follow(
    t1, rtol, atol, longest, most, always, wanted, z, moments, parameters, clock, points, pieces
):
    """Steps on the way to t1, at most so many; arguments and result are those of
    `tolerance.follow`."""
    body = load_body(moments, 0)
    p = load_parameters(parameters, 0)
    t, fastest, n, y = z[TIME], z[FASTEST], int(z[HEAD - 1]), load7(z, MOTION_AT)
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
        fastest = max(fastest, max(speed(y), math.sqrt(speed(f))))
        allowed = weights(rtol, atol, fastest)
        h = caution * min(within(work, n, n, allowed), within(work, n, n - 1, allowed))
        left = t1 - t
        last = abs(left) <= min(h, longest)
        h = left if last else math.copysign(min(h, longest), left)
        end = term(work, n, n)
        for k in range(n - 1, -1, -1):  # Horner's rule
            end = axpy7(h, end, term(work, n, k))
        end = projected(end)
        if not (abs(h) > LEAST * abs(t) and speed(end) < math.inf and abs(end[3]) <= 2.0):
            z[STEP] = h
            store7(f, z[SLOPE_AT:SIZE])
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
                for i in range(7):
                    pieces[count, k - 1, i] = power * work[i * (n + 1) + k]
        t, y = now, end
        if count < len(clock):
            clock[count] = t
            store7(y, points[count])
        count += 1
    z[TIME], z[FASTEST] = t, fastest
    store7(y, z[MOTION_AT:SLOPE_AT])
    return why, count, 0, count
