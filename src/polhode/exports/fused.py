"""a b + c with one rounding, for machines and languages without an instruction for it."""

import math

from polhode.core.jit import jit
from polhode.exports.ir import REAL, Function
from polhode.exports.translate import Translator

SPLIT = 134217729.0  # 2^27 + 1
SCALE = 2.0**800


@jit
def by_sums(a, b, c):
    """a b + c with one rounding, where nothing overflows or underflows: product and sums as pairs of
    numbers that are exactly equal to them (Dekker 1971, Knuth 1969).

    Where what is rounded lies half way between two numbers, the rest e decides.
    """
    p = a * b
    f, g = SPLIT * a, SPLIT * b
    a1, b1 = f - (f - a), g - (g - b)
    a2, b2 = a - a1, b - b1
    low = a2 * b2 - (p - a1 * b1 - a2 * b1 - a1 * b2)  # a b = p + low
    t = c + low
    x = t - c
    rest = c - (t - x) + (low - x)  # c + low = t + rest
    v = p + t
    y = v - p
    left = p - (v - y) + (t - y)  # p + t = v + left
    s = rest + left
    z = s - rest
    e = rest - (s - z) + (left - z)  # rest + left = s + e
    r = v + s
    d = s - (r - v)  # v + s = r + d
    further = r + 2.0 * d
    half = further - r == 2.0 * d
    beyond = (d > 0.0 and e > 0.0) or (d < 0.0 and e < 0.0)
    return further if half and beyond else r


@jit
def fma(a, b, c):
    """a b + c with one rounding; with two beyond 1e290."""
    p = a * b
    size = math.fabs(p)
    if size > 1e-280 and math.fabs(a) + math.fabs(b) + math.fabs(c) + size < 1e290:
        return by_sums(a, b, c)
    if p != 0.0 and size <= 1e-280 and math.fabs(c) < 1e-260:
        first = math.fabs(a) < math.fabs(b)
        x, y = (a * SCALE if first else a), (b if first else b * SCALE)
        return by_sums(x, y, c * SCALE) / SCALE
    return p + c


def functions() -> list[Function]:
    """`fma`, the last, and what it calls."""
    translator = Translator()
    translator.function(fma, (REAL, REAL, REAL))
    return list(translator.done.values())
