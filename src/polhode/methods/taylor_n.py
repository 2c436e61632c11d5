"""Taylor series methods of any order: taylor(n).  The recursion behind Buss's series instead of its
brackets.

In the body frame R(h) = R exp(Y(h)) with nu = dexp_{-Y} Y', that is

    Y' = dexp^-1_{-Y} nu = nu + 1/2 Y x nu + c(|Y|^2) Y x (Y x nu),   c(z) = sum_j |B_2j|/(2j)! z^(j-1) = 1/12 + z/720 + ...

(the Bernoulli series of dexp^-1, summed up by x^^3 = -|x|^2 x^).  Power series in h, Y = sum_k y_k h^k and nu = sum_k w_k h^k,
turn it into a recursion: (k+1) y_(k+1) is the coefficient of h^k on the right, which needs y_1, ..., y_k alone.

taylor(1), ..., taylor(6) are taylor1, taylor2, taylor3-plain, taylor4, ..., to round-off.  The code
of an order is written out by the functions below; all its numbers are ratios of whole numbers, so
that it runs in any precision.
"""

from fractions import Fraction
from functools import cache
from math import factorial

from polhode.errors import InputError
from polhode.methods._families import number_family
from polhode.methods._series import LARGEST, Recursion
from polhode.methods._taylor import taylor_method
from polhode.methods._taylor_code import number, total, written

STANDARD = 12


@cache
def bernoulli(m):
    """The Bernoulli number B_m."""
    if m == 0:
        return Fraction(1)
    return -sum(
        (
            Fraction(factorial(m + 1), factorial(k) * factorial(m + 1 - k)) * bernoulli(k)
            for k in range(m)
        ),
        Fraction(0),
    ) / (m + 1)


def scalar_total(terms):
    """The sum of (coefficient, scalar expression) pairs as source text."""
    return " + ".join(x if c == 1 else f"{number(c)} * {x}" for c, x in terms)


def convolution(a, b, k, first_a, first_b):
    """The pairs (a_i, b_(k-i)) of the coefficient of h^k in a product of series that begin at these
    powers."""
    return [(f"{a}{i}", f"{b}{k - i}") for i in range(first_a, k - first_b + 1)]


def logarithm_series(n):
    """`prepare(W) -> (y_1, ..., y_n)` from nu and its derivatives.

    a = Y x nu begins at h^2 (y_1 = w_0), b = Y x a at h^3, z = |Y|^2 at h^2, and z2, z3, ... are its powers.
    """
    lines = [
        f"w{k} = " + (f"W[{k}]" if k < 2 else f"scale({number(Fraction(1, factorial(k)))}, W[{k}])")
        for k in range(n)
    ]
    lines.append("y1 = w0")
    for k in range(1, n):  # y_(k+1)
        terms = [(1, f"w{k}")]
        if k >= 2:
            lines.append(
                f"a{k} = "
                + total([(1, f"cross({y}, {w})") for y, w in convolution("y", "w", k, 1, 0)])
            )
            terms.append((Fraction(1, 2), f"a{k}"))
        if k >= 3:
            lines.append(
                f"b{k} = "
                + total([(1, f"cross({y}, {a})") for y, a in convolution("y", "a", k, 1, 2)])
            )
            lines += coefficient_series(k - 3)
            terms.append((Fraction(1, 12), f"b{k}"))
        text = total(terms)
        for c, b in convolution("c", "b", k, 2, 3) if k >= 5 else ():
            text = f"axpy({c}, {b}, {text})"
        lines.append(f"y{k + 1} = scale({number(Fraction(1, k + 1))}, {text})")
    return written("prepare", "W", lines, "(" + "".join(f"y{k}, " for k in range(1, n + 1)) + ")")


def coefficient_series(i):
    """The lines for the coefficient of h^i in z = |Y|^2, its powers, and c(z) - 1/12."""
    if i < 2:
        return []
    lines = [
        f"z{i} = "
        + scalar_total([(1, f"dot({x}, {y})") for x, y in convolution("y", "y", i, 1, 1)])
    ]
    terms = [(abs(bernoulli(4)) / factorial(4), f"z{i}")]
    before = "z"
    for power in range(2, i // 2 + 1):
        name = f"z{power}_"
        lines.append(
            f"{name}{i} = "
            + " + ".join(f"{x} * {y}" for x, y in convolution(before, "z", i, 2 * power - 2, 2))
        )
        terms.append((abs(bernoulli(2 * power + 2)) / factorial(2 * power + 2), f"{name}{i}"))
        before = name
    return [*lines, f"c{i} = " + scalar_total(terms)]


def horner(n):
    """`rotation(h, y)`: sum_k y_k h^k, k from 1."""
    lines = [f"x = y[{n - 1}]"] + [f"x = axpy(h, x, y[{k}])" for k in range(n - 2, -1, -1)]
    return written("rotation", "h, y", lines, "scale(h, x)")


@number_family("taylor", "n", standard="taylor6")
def taylor(n=None):
    """The Taylor series method of order n; without one, of the order that suits a tolerance, or
    STANDARD."""
    order = STANDARD if n is None else int(n)
    if n is None:
        return taylor_method(
            "taylor",
            order,
            horner(order),
            prepare=logarithm_series(order),
            control=Recursion(None),
            summary="Taylor series, of an order chosen by the tolerance",
        )
    if order != n or not 1 <= order <= LARGEST:
        raise InputError(f"taylor(n) needs a whole number n from 1 to {LARGEST}, got {n!r}; use 12")
    return taylor_method(
        f"taylor({order})",
        order,
        horner(order),
        prepare=logarithm_series(order),
        control=Recursion(order),
        summary=f"Taylor series in the exponential, order {order}",
    )
