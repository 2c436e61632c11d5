"""The exact free motion over any time, for languages without a library of functions: what elliptic
functions do in polhode is done in several short times here, to the same accuracy."""

from polhode.core.closed.short_motion import further, short_flow, within_reach
from polhode.core.jit import jit

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


REPLACED = {further: in_parts}
