"""Numbers of thirty-one digits as unevaluated sums of two doubles.  Dekker 1971; Hida, Li & Bailey
2001.

An angle that has grown to thousands of radians has lost four of its sixteen digits when its rate is
a double.  The few constants that are multiplied by a long time are therefore formed in pairs (hi,
lo) with |lo| <= ulp(hi)/2.  `FLOAT` and `DOUBLE_DOUBLE` are the same operations in the two
precisions: a formula written once with `ar.add`, `ar.mul`, ... runs in either.
"""

import math
from typing import NamedTuple

from polhode.core.jit import jit

SPLIT = 2.0**27 + 1.0
PI = (math.pi, 1.2246467991473532e-16)


class Arithmetic(NamedTuple):
    """The operations of one precision."""

    real: object  # a float as a number
    pair: object  # a number as (hi, lo)
    value: object  # a number as a float
    add: object
    sub: object
    mul: object
    div: object  # NaN-free only for a divisor that is not zero
    sqrt: object
    pi: object
    near: float  # the square of this is below round-off


# ----------------------------------------------------------------------- error-free transformations
@jit
def two_sum(a, b):
    """(s, e) with s = fl(a + b) and s + e = a + b exactly.  Knuth."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@jit
def quick_two_sum(a, b):
    """The same for |a| >= |b|."""
    s = a + b
    return s, b - (s - a)


@jit
def split(a):
    """a as a sum of two numbers of 26 bits.  Veltkamp."""
    t = SPLIT * a
    high = t - (t - a)
    return high, a - high


@jit
def two_product(a, b):
    """(p, e) with p = fl(a b) and p + e = a b exactly.  Dekker."""
    p = a * b
    ah, al = split(a)
    bh, bl = split(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


# ------------------------------------------------------------------------------------ double-double
@jit
def dd_real(a):
    return a, 0.0


@jit
def dd_pair(x):
    return x


@jit
def dd_value(x):
    return x[0]


@jit
def dd_add(x, y):
    """x + y, with a relative error of 2^-104 also where they cancel."""
    s, e = two_sum(x[0], y[0])
    t, f = two_sum(x[1], y[1])
    s, e = quick_two_sum(s, e + t)
    return quick_two_sum(s, e + f)


@jit
def dd_sub(x, y):
    return dd_add(x, (-y[0], -y[1]))


@jit
def dd_mul(x, y):
    p, e = two_product(x[0], y[0])
    return quick_two_sum(p, e + (x[0] * y[1] + x[1] * y[0]))


@jit
def dd_times(x, a):
    """x times a float."""
    p, e = two_product(x[0], a)
    return quick_two_sum(p, e + x[1] * a)


@jit
def dd_div(x, y):
    """x / y: the quotient of the high parts, and that of what it leaves."""
    a = x[0] / y[0]
    r = dd_sub(x, dd_times(y, a))
    return quick_two_sum(a, r[0] / y[0])


@jit
def dd_sqrt(x):
    """One Newton step on the double root."""
    a = math.sqrt(x[0])
    p, e = two_product(a, a)
    r = ((x[0] - p) - e) + x[1]
    return quick_two_sum(a, 0.5 * r / (a if a > 0.0 else 1.0))


# ------------------------------------------------------------------------------------------- floats
@jit
def f_real(a):
    return a


@jit
def f_pair(a):
    return a, 0.0


@jit
def f_add(a, b):
    return a + b


@jit
def f_sub(a, b):
    return a - b


@jit
def f_mul(a, b):
    return a * b


@jit
def f_div(a, b):
    return a / b


@jit
def f_sqrt(a):
    return math.sqrt(a)


FLOAT = Arithmetic(f_real, f_pair, f_real, f_add, f_sub, f_mul, f_div, f_sqrt, math.pi, 1e-8)
DOUBLE_DOUBLE = Arithmetic(
    dd_real, dd_pair, dd_value, dd_add, dd_sub, dd_mul, dd_div, dd_sqrt, PI, 1e-16
)
