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

from polhode.core.jit import jit
from polhode.core.vec import (
    add,
    apply_t,
    matrix,
    qexp,
    qmul,
    qrotate,
    qrotate_t,
    renormalise,
    scale,
    times,
)
from polhode.methods._method import Method, variant
from polhode.methods._spatial import SpatialState, start
from polhode.methods._system_taylor import system_taylor
from polhode.methods._taylor_code import (
    constant_torque,
    derivatives_of,
    listing,
    mean_of,
    momentum_derivative,
    motion_series,
    number,
    radau,
    sweeps_of,
    taylor_sum,
    total,
    written,
)

HIGHEST = 18
MAGNIFIED = (
    f"fixed steps compute derivatives of the torque by differences, and above order {HIGHEST} rounding in these is "
    "the larger error; use a lower order, a torque with derivatives, or rtol in place of step"
)


# --- without torque -------------------------------------------------------------------------------


def free_step(n, rotation, prepare):
    series = motion_series(n, acting=False)

    @jit
    def step(h, t, s, body, torque, p):
        W, _ = series(qrotate_t(s.q, s.pi), (), body.Iinv)
        return SpatialState(renormalise(qmul(s.q, qexp(rotation(h, prepare(W))))), s.pi)

    return step


# --- by collocation -------------------------------------------------------------------------------


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
    return written(
        "sweep",
        "h, t, q, T0, W, M, body, torque, p",
        lines,
        f"derivatives(h, {listing('T', count)}), scale(h, mean({listing('f', count)}))",
        at=at,
        qrotate=qrotate,
        derivatives=derivatives_of(nodes, length),
        mean=mean_of(weights),
    )


def collocated_step(n, rotation, prepare, count, sweeps):
    """`count` nodes and so many sweeps."""
    length = max(n - 1, count)
    series, ahead = motion_series(n, acting=True), taylor_sum(n)
    nodes, weights = radau(count)
    sweep = sweep_over(nodes, weights, length, rotation, ahead)
    constant = constant_torque(length)

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
    sweeps = sweeps_of(order, False)

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
        system=lambda entry, bodies: variant(
            entry, **system_taylor(order, *formula, count, bodies.interaction.uses_velocity)
        ),
        **facts,
    )

    def adapt(torque, body):
        if torque is None:  # not known, as for systems
            return base
        if not torque.acts:
            return variant(base, step=free_step(*formula), torques=0)
        if torque.derivatives and len(torque.derivatives) >= n - 1:
            return variant(base, step=analytic_step(*formula, torque.frame), torques=1)
        remark = MAGNIFIED if order > HIGHEST else ""
        if torque.uses_omega and order > 2:
            more = sweeps_of(order, True)
            return variant(
                base,
                step=collocated_step(*formula, count, more),
                torques=1 + more * (count - 1),
                remark=remark,
            )
        return variant(base, remark=remark) if remark else base

    return variant(base, adapt=adapt)
