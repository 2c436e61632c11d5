"""Lewis & Simo's conserving algorithm (LS).  Lewis & Simo 1994; LS in Krysl 2005.

    R'  = R exp(h W),   W = (Om + Om')/2
    pi' = pi + h t(R exp(h W/2))

At the attitude half way, with v = exp(-h W/2) Pi, it reads exp(h W/2) I (2 W - Om) - v = h T.
Without torque it conserves momentum (second line) and energy: Om'.Pi' - Om.Pi =
(Pi' - Pi).(Om + Om') = 0, since exp(h W) does not change W.
"""

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.newton import size
from polhode.core.vec import (
    apply,
    apply_t,
    axpy,
    dexp_matrix,
    dot,
    exp,
    hat,
    madd,
    matmul,
    mscale,
    neg,
    qexp,
    qmul,
    qrotate_t,
    renormalise,
    scale,
    sub,
    times,
    transpose,
)
from polhode.methods._implicit import ImplicitState, guess, implicit, start, torque_halfway
from polhode.methods._length import of_length, square
from polhode.methods._registry import method


@jit
def balance(W, data):
    """exp(u) Pi' - exp(-u) Pi with u = h W/2 and Pi' = I (2 W - Om), its tangent, and the size of its terms."""
    h, I, Pi, Om = data
    u = scale(0.5 * h, W)
    E = exp(u)
    after, before = apply(E, times(I, axpy(2.0, W, neg(Om)))), apply_t(E, Pi)
    # exp(u + du) = exp((S du)^) exp(u) and exp(-u - du) = exp(-(S^T du)^) exp(-u), with S = dexp_u
    S = dexp_matrix(u)
    turn = madd(matmul(hat(neg(after)), S), matmul(hat(neg(before)), transpose(S)))
    EI = (times(E[0], I), times(E[1], I), times(E[2], I))
    return (
        sub(after, before),
        madd(mscale(2.0, EI), mscale(0.5 * h, turn)),
        size(after) + size(before),
    )


@method(
    "LS",
    state=ImplicitState,
    start=start,
    order=2,
    torques=None,
    solves=1,
    symmetric=True,
    symplectic=False,
    conserves=("momentum", "energy"),
    family="midpoint",
    aliases=("Lewis-Simo",),
    cite="lewis1994conserving",
)
@jit
def step(h, t, s, body, torque, p):
    """Lewis-Simo: implicit, exponential map, torque half way; free, it keeps momentum and energy."""
    Om = times(body.Iinv, s.Pi)
    W, T, D, residual, calls = implicit(
        balance,
        (h, body.I, s.Pi, Om),
        torque_halfway,
        (h, t, s.q, torque, p),
        h,
        guess(h, s, body),
        s.D,
    )
    q = renormalise(qmul(s.q, qexp(scale(h, W))))
    middle = qrotate_t(qexp(scale(0.5 * h, W)), s.Pi)
    # |middle + h T|^2, |middle| = |Pi|
    pushed = fma(h, dot(T, axpy(h, T, scale(2.0, middle))), square(s.Pi))
    Pi, excess = of_length(pushed, times(body.I, axpy(2.0, W, neg(Om))), s.excess)
    return ImplicitState(q, Pi, T, D, residual, calls, excess)
