"""The Taylor methods as code: functions written out for an order, from the formulas of `_taylor.py`,
and the nodes at which they ask for the torque."""

from fractions import Fraction
from math import comb

from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.vec import add, axpy, cross, dot, scale, sub, times

ZERO = (0.0, 0.0, 0.0)


@jit
def ratio(a, b):
    """a / b for whole numbers: a constant in machine code, exact to all digits in extended
    precision."""
    return a / b


# --- code written out for an order n --------------------------------------------------------------


ALGEBRA = {
    "add": add,
    "sub": sub,
    "scale": scale,
    "axpy": axpy,
    "cross": cross,
    "dot": dot,
    "times": times,
    "ratio": ratio,
    "ZERO": ZERO,
}


def written(name, arguments, lines, result, **scope):
    """The function `name(arguments)` made of lines of straight code."""
    return generated(__name__, name, arguments, lines, result, **ALGEBRA, **scope)


def number(value):
    """A fraction as source text."""
    value = Fraction(value)
    return (
        f"{value.numerator}.0"
        if value.denominator == 1
        else f"ratio({value.numerator}.0, {value.denominator}.0)"
    )


def total(terms):
    """The sum of (coefficient, vector expression) pairs as source text."""
    (c, x), *rest = terms
    text = x if c == 1 else f"scale({number(c)}, {x})"
    for c, x in rest:
        text = f"add({x}, {text})" if c == 1 else f"axpy({number(c)}, {x}, {text})"
    return text


def listing(letter, count):
    return "(" + "".join(f"{letter}{i}, " for i in range(count)) + ")"


def momentum_derivative(k, torque=()):
    """The line for m^(k+1)."""
    return f"m{k + 1} = " + total(
        [(comb(k, j), f"cross(m{j}, n{k - j})") for j in range(k, -1, -1)]
        + [(1, x) for x in torque]
    )


def motion_series(n, acting):
    """`series(m0, T, k) -> (W, M)`: nu and m with their first n - 1 derivatives, from those of T; k
    = J^-1."""
    lines = ["n0 = times(k, m0)"]
    for i in range(n - 1):
        lines += [
            momentum_derivative(i, [f"T[{i}]"] if acting else []),
            f"n{i + 1} = times(k, m{i + 1})",
        ]
    return written("series", "m0, T, k", lines, f"{listing('n', n)}, {listing('m', n)}")


def taylor_sum(n):
    """`ahead(h, M)`: the vector sum_k M_k h^k / k!, by Horner's rule."""
    lines = [f"x = M[{n - 1}]"] + [
        f"x = axpy(h * {number(Fraction(1, k + 1))}, x, M[{k}])" for k in range(n - 2, -1, -1)
    ]
    return written("ahead", "h, M", lines, "x")


# --- collocation ----------------------------------------------------------------------------------


def radau(s):
    """Nodes (0 first) and weights on [0, 1] that integrate polynomials of degree 2s - 2, by
    Newton's method on P_(s-1) + P_s.

    The nodes are multiples of 2^-53: their differences are exact.
    """
    import numpy as np
    from numpy.polynomial import legendre

    polynomial = np.zeros(s + 1)
    polynomial[s - 1 :] = 1.0
    x = np.sort(legendre.legroots(polynomial).real)
    for _ in range(3):
        x = x - legendre.legval(x, polynomial) / legendre.legval(x, legendre.legder(polynomial))
    x[0] = -1.0
    weights = (1.0 - x) / (s * legendre.legval(x, np.eye(s)[s - 1])) ** 2
    return (np.round(0.5 * (1.0 + x) * 2.0**53) / 2.0**53).tolist(), (0.5 * weights).tolist()


def coefficients(nodes):
    """Lines of code: c0, c1, ..., values at the nodes, become the coefficients of the polynomial
    that takes them.

    Divided differences, then powers (Bjorck and Pereyra 1970).  The inverse of the Vandermonde
    matrix would do the same in exact arithmetic; its entries grow by a factor of 30 with each two
    nodes, and so does what is lost when they are rounded.
    """
    count, lines = len(nodes), []
    for k in range(1, count):
        for i in range(count - 1, k - 1, -1):
            lines.append(
                f"c{i} = scale(ratio(1.0, {nodes[i] - nodes[i - k]!r}), sub(c{i}, c{i - 1}))"
            )
    for k in range(count - 2, 0, -1):  # nodes[0] is 0
        for i in range(k, count - 1):
            lines.append(f"c{i} = axpy({-nodes[k]!r}, c{i + 1}, c{i})")
    return lines


def weighted(weights, letter):
    """sum_i w_i letter_i as source text."""
    text = f"scale({weights[0]!r}, {letter}0)"
    for i, weight in enumerate(weights[1:], 1):
        text = f"axpy({weight!r}, {letter}{i}, {text})"
    return text


def sweeps_of(order, feels):
    """How many sweeps an order needs; `feels`: the torque depends on velocities."""
    return order - 1 if feels and order > 2 else order // 2


def constant_torque(length):
    """`constant(T0)`: the derivatives of a torque that does not change."""
    return written("constant", "T0", [], "(T0, " + "ZERO, " * (length - 1) + ")")


def mean_of(weights):
    """`mean(f)`: sum_i w_i f_i."""
    names = "".join(f"f{i}, " for i in range(len(weights)))
    return written("mean", "f", [f"{names} = f"], weighted(weights, "f"))


def derivatives_of(nodes, length):
    """`derivatives(h, T)`: those of the polynomial with the values T at the nodes, at 0, `length` of
    them with itself."""
    count = len(nodes)
    lines = [f"c{i} = T[{i}]" for i in range(count)] + coefficients(nodes)
    lines += ["D0 = T[0]", "r = 1.0"]
    for k in range(1, count):
        lines += [f"r = r * {k}.0 / h", f"D{k} = scale(r, c{k})"]
    lines += [f"D{k} = ZERO" for k in range(count, length)]
    return written("derivatives", "h, T", lines, listing("D", length))
