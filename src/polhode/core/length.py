"""Momenta that keep their length: what rounding does to |Pi| in one step is taken back in the next.

A free motion turns the body momentum Pi.  Computed, the rotation is not quite one: it changes
|Pi|^2 by a few units of rounding, and since the same numbers recur, so does the sign.  Scaling the
result back is not enough, because a correction smaller than half a unit in the last place of Pi is
lost when it is applied.  So the state carries `excess`, what |Pi|^2 is still too large by, relative
to itself, as compensated summation does: nothing is lost, and nothing adds up.
"""

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.scalars import TINY


@jit
def square(Pi):
    """|Pi|^2."""
    return fma(Pi[0], Pi[0], fma(Pi[1], Pi[1], Pi[2] * Pi[2]))


@jit
def of_length(wanted, Pi, excess):
    """(Pi', excess'): Pi scaled to |Pi'|^2 = wanted (1 - excess).  What the rounding of Pi' leaves
    is the next excess."""
    per = 1.0 / (wanted + TINY)
    half = -0.5 * fma(per, square(Pi) - wanted, excess)
    Pi = fma(half, Pi[0], Pi[0]), fma(half, Pi[1], Pi[1]), fma(half, Pi[2], Pi[2])
    return Pi, fma(per, square(Pi) - wanted, excess)
