"""What the Taylor methods share: the derivatives of the motion, and three ways in which a torque
enters them.

In the body frame, with the body momentum m = R^T pi, nu = J^-1 m and the body torque T:

    m^(k+1) = sum_j C(k,j) m^(j) x nu^(k-j) + T^(k)

A method is a function `rotation(h, W)`: the rotation vector over h from W = (nu, nu', ..., nu^(n-1)),
or from values computed from them.  The spatial momentum pi is the state: without torque it does not
change by a bit.  The torque is

    free        absent;
    analytic    given with its first n - 1 derivatives, if it provides them: one torque evaluation;
    collocated  a polynomial through its values at 0 and at further nodes of the step.  The first motion is that
                with the torque at the beginning; each sweep evaluates the torque along the motion
                of the previous sweep.

The nodes are Radau's (0 included): s of them integrate polynomials of degree 2s - 2, so that pi' =
pi + h sum b_i t_i is of order 2s - 1.  The polynomial differs from the torque by O(h^s), hence the
attitude within the step by O(h^(s+2)); a sweep gains two orders, or one if the torque depends on
the angular velocity.  Order n therefore needs s >= n - 2 nodes, 2s - 1 >= n, and (n-1)/2, or n - 1,
sweeps.  The derivatives of the polynomial are differences of its values, which magnify rounding
about sixfold with each further node: above order HIGHEST that is more than the order gains.
"""

from fractions import Fraction
from math import comb

from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.vec import (
    add,
    apply_t,
    axpy,
    cross,
    dot,
    matrix,
    qexp,
    qmul,
    qrotate,
    qrotate_t,
    renormalise,
    scale,
    sub,
    times,
)
from polhode.methods._method import Method, variant
from polhode.methods._spatial import SpatialState, start

ZERO = (0.0, 0.0, 0.0)
HIGHEST = 18
MAGNIFIED = (
    f"fixed steps compute derivatives of the torque by differences, and above order {HIGHEST} rounding in these is "
    "the larger error; use a lower order, a torque with derivatives, or rtol in place of step"
)


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


# --- without torque -------------------------------------------------------------------------------


def free_step(n, rotation, prepare):
    series = motion_series(n, acting=False)

    @jit
    def step(h, t, s, body, torque, p):
        W, _ = series(qrotate_t(s.q, s.pi), (), body.Iinv)
        return SpatialState(renormalise(qmul(s.q, qexp(rotation(h, prepare(W))))), s.pi)

    return step


# --- by collocation -------------------------------------------------------------------------------


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


def sweep_over(nodes, weights, length, rotation, ahead):
    """`sweep(...)`: torque along a motion, as derivatives of its polynomial, and its impulse over
    h."""

    @jit
    def at(h, t, q, W, M, body, torque, p):
        """Body torque, and the same in space, at time h ahead."""
        q = renormalise(qmul(q, qexp(rotation(h, W))))
        T = torque.body(t + h, matrix(q), times(body.Iinv, ahead(h, M)), p)
        return T, qrotate(q, T)

    count = len(nodes)
    lines = ["f0 = qrotate(q, T0)"]
    lines += [
        f"T{i}, f{i} = at({nodes[i]!r} * h, t, q, W, M, body, torque, p)" for i in range(1, count)
    ]
    lines += [f"c{i} = T{i}" for i in range(count)] + coefficients(nodes)
    lines += ["D0 = T0", "r = 1.0"]
    for k in range(1, count):
        lines += [f"r = r * {k}.0 / h", f"D{k} = scale(r, c{k})"]
    lines += [f"D{k} = ZERO" for k in range(count, length)]
    return written(
        "sweep",
        "h, t, q, T0, W, M, body, torque, p",
        lines,
        f"{listing('D', length)}, scale(h, {weighted(weights, 'f')})",
        at=at,
        qrotate=qrotate,
    )


def collocated_step(n, rotation, prepare, count, sweeps):
    """`count` nodes and so many sweeps."""
    length = max(n - 1, count)
    series, ahead = motion_series(n, acting=True), taylor_sum(n)
    nodes, weights = radau(count)
    sweep = sweep_over(nodes, weights, length, rotation, ahead)
    constant = written("constant", "T0", [], "(T0, " + "ZERO, " * (length - 1) + ")")

    @jit
    def once(h, t, q, m, T0, T, body, torque, p):
        W, M = series(m, T, body.Iinv)
        return sweep(h, t, q, T0, prepare(W), M, body, torque, p)

    # written out: a loop inside the step would keep LLVM from vectorising over bodies
    swept = written(
        "swept",
        "h, t, q, m, T0, T, impulse, body, torque, p",
        ["T, impulse = once(h, t, q, m, T0, T, body, torque, p)"] * sweeps,
        "T, impulse",
        once=once,
    )

    @jit
    def step(h, t, s, body, torque, p):
        m = qrotate_t(s.q, s.pi)
        T0 = torque.body(t, matrix(s.q), times(body.Iinv, m), p)
        T, impulse = swept(
            h, t, s.q, m, T0, constant(T0), scale(h, qrotate(s.q, T0)), body, torque, p
        )
        W, _ = series(m, T, body.Iinv)
        return SpatialState(
            renormalise(qmul(s.q, qexp(rotation(h, prepare(W))))), add(s.pi, impulse)
        )

    return step


# --- with the torque's own derivatives ------------------------------------------------------------


def analytic_step(n, rotation, prepare, frame):
    """Torque derivatives, in the torque's own frame, for order n.

    Let a_j,i be the i-th derivative of R^T t^(j): a_0,i = T^(i) are the derivatives of the body
    torque and a_j,0 those of the spatial one, seen from the body.  a_j,i+1 = a_j+1,i - sum_l C(i,l)
    nu^(l) x a_j,i-l leads from either kind to the other.
    """
    lines = ["n0 = times(k, m0)"]
    for k in range(n):
        known = f"torque.derivatives{'[0]' * (k - 1)}[1](t, R, {listing('n', k)}, p)"
        if frame == "spatial":
            lines.append(f"a{k}_0 = " + (f"apply_t(R, {known})" if k else "T0"))
            lines += [
                f"a{j}_{k - j} = "
                + total([*_turned(j, k - j - 1, -1), (1, f"a{j + 1}_{k - j - 1}")])
                for j in range(k - 1, -1, -1)
            ]
        else:
            lines.append(f"a0_{k} = " + (known if k else "T0"))
            lines += [
                f"a{j + 1}_{k - j - 1} = "
                + total([*_turned(j, k - j - 1, 1), (1, f"a{j}_{k - j}")])
                for j in range(k)
            ]
        if k < n - 1:
            lines += [momentum_derivative(k, [f"a0_{k}"]), f"n{k + 1} = times(k, m{k + 1})"]
    lines += ["r = 1.0", "impulse = ZERO"]  # seen from the body at the beginning
    for k in range(n):
        lines += [
            f"r = r * h * {number(Fraction(1, k + 1))}",
            f"impulse = axpy(r, a{k}_0, impulse)",
        ]
    everything = written(
        "everything",
        "h, t, R, m0, T0, k, torque, p",
        lines,
        f"{listing('n', n)}, impulse",
        apply_t=apply_t,
    )

    @jit
    def step(h, t, s, body, torque, p):
        R, m = matrix(s.q), qrotate_t(s.q, s.pi)
        T0 = torque.body(t, R, times(body.Iinv, m), p)
        W, impulse = everything(h, t, R, m, T0, body.Iinv, torque, p)
        return SpatialState(
            renormalise(qmul(s.q, qexp(rotation(h, prepare(W))))), add(s.pi, qrotate(s.q, impulse))
        )

    return step


def _turned(j, i, sign):
    """sign times sum_l C(i,l) nu^(l) x a_j,i-l."""
    return [(sign * comb(i, l), f"cross(n{l}, a{j}_{i - l})") for l in range(i + 1)]


# --- methods --------------------------------------------------------------------------------------


@jit
def as_it_is(W):
    return W


def taylor_method(
    name,
    order,
    rotation,
    terms=None,
    prepare=as_it_is,
    family="taylor",
    cite="buss2001accurate",
    **facts,
):
    """The Method of a `rotation` formula of some order that uses `terms` of nu, nu', ... (as many
    as its order)."""
    n = terms or order
    count = max((order + 2) // 2, order - 2)
    sweeps = order // 2

    formula = (n, rotation, prepare)
    base = Method(
        name,
        collocated_step(*formula, count, sweeps),
        start,
        SpatialState,
        order,
        1 + sweeps * (count - 1),
        symmetric=False,
        symplectic=False,
        conserves=("momentum",),
        free_order=(order, order),
        family=family,
        cite=cite,
        **facts,
    )

    def adapt(torque, body):
        if not torque.acts:
            return variant(base, step=free_step(*formula), torques=0)
        if torque.derivatives and len(torque.derivatives) >= n - 1:
            return variant(base, step=analytic_step(*formula, torque.frame), torques=1)
        remark = MAGNIFIED if order > HIGHEST else ""
        if torque.uses_omega and order > 2:
            more = order - 1
            return variant(
                base,
                step=collocated_step(*formula, count, more),
                torques=1 + more * (count - 1),
                remark=remark,
            )
        return variant(base, remark=remark) if remark else base

    return variant(base, adapt=adapt)
