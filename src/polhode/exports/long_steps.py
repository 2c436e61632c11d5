"""The exact free motion over any time, for languages without a library of functions: what elliptic
functions do in polhode is done in several short times here, to the same accuracy."""

from polhode.core.closed.gyrostat_motion import MOST, Marching, far_flow, onward, parts
from polhode.core.closed.short_motion import further, short_flow, within_reach
from polhode.core.jit import jit
from polhode.core.scalars import NAN, nearest

PARTS = 4096.0  # the most


@jit
def in_parts(reached, q_short, Pi_short, h, q, Pi, body):
    """The motion in as many equal times as are needed for each to be short; a residual of 1 where
    that would be more than 4096."""
    if reached:
        return q_short, Pi_short, 0.0
    part, count = 0.5 * h, 2.0
    while not within_reach(part, Pi, body.Iinv) and count < PARTS:
        part, count = 0.5 * part, 2.0 * count
    k = 0.0
    while k < count:
        q, Pi = short_flow(part, q, Pi, body)
        k += 1.0
    return q, Pi, 0.0 if within_reach(part, Pi, body.Iinv) else 1.0


@jit
def gyrostat_in_parts(h, q, Pi, body):
    """The motion of a gyrostat in equal parts, at most MOST."""
    count = parts(h, Pi, body)
    allowed = count < MOST
    count = nearest(count + 0.5) if allowed else 1.0
    part = (h if allowed else NAN) / count
    s = Marching(q, Pi, 0.0, 0.0)
    k = 0.0
    while k < count:
        s = onward(part, s, body)
        k += 1.0
    return s.q, s.Pi


REPLACED = {further: in_parts, far_flow: gyrostat_in_parts}
