"""Elliptic functions in Python's decimals: the constants of one motion, to sixty digits, from
numbers taken as exact.

The same descent as in core/closed/elliptic.py, continued until it has converged; a complex number
is a pair.
"""

from decimal import Decimal

PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"
)
PRECISION = 150
CONVERGED = Decimal("1e-70")
NOTHING = Decimal("1e-60")  # a difference of roots below this is round-off


def pair(x):
    """A decimal as an unevaluated sum of two floats."""
    hi = float(x)
    return hi, float(x - Decimal(hi))


def times(x, y):
    """The product of two complex numbers."""
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def unit(x):
    """x / |x|; 1 for 0."""
    n = (x[0] * x[0] + x[1] * x[1]).sqrt()
    return (x[0] / n, x[1] / n) if n else (Decimal(1), Decimal(0))


def mean(k, kc):
    """The AGM of 1 and k', and Landen's moduli k_1, k_2, ... of k."""
    a, moduli = Decimal(1), []
    while k > CONVERGED:
        k = (k / (1 + kc)) ** 2
        kc = 2 * kc.sqrt() / (1 + kc)
        a /= 1 + k
        moduli.append(k)
    return a, moduli


def circular(x, moduli):
    """exp(iz), z = pi F(phi, k)/2K, from x = exp(i phi)."""
    twice, w = times(x, x), []
    for k in moduli:
        w.append(unit((1 + k * twice[0], k * twice[1])))
        down = times(twice, (w[-1][0], -w[-1][1]))
        twice = times(down, down)
    turn = Decimal(1), Decimal(0)
    for one in reversed(w):
        turn = times(turn, one)
        turn = unit((1 + turn[0], turn[1]))
    return unit(times(x, (turn[0], -turn[1])))


def decay(sinh, k, kc):
    """(exp(-pi v/K), q) where sc(v, k') is `sinh`, which may be None for infinity, v = K'; q = exp(-pi K'/K)."""
    _, moduli = mean(k, kc)
    q = _descent(1 / k.sqrt(), moduli) ** 2 if k else Decimal(0)
    if sinh is None:
        return q, q
    if sinh * sinh * k > 1:
        return q / _descent(1 / (k * sinh), moduli), q
    return _descent(sinh, moduli), q


def _descent(sinh, moduli):
    E = s = 1 / (sinh + (1 + sinh * sinh).sqrt()) ** 2
    power = Decimal(1)
    for k in moduli:
        ratio = (1 + k / E) / (1 + k * E)
        power /= 2
        s *= ratio**power
        E = E * E * ratio
    return s
