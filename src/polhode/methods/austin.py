"""The implicit midpoint rule on SO(3) (AKW).  Austin, Krishnaprasad & Wang 1993; AKW in Krysl &
Endres 2004, IMR in Krysl 2005.

    Pi' = Pi + h (Pm x W + Tm),   Pm = (Pi + Pi')/2,  W = I^-1 Pm
    R'  = R cay(h W)

Tm is the torque at the attitude half way, which is R rotated by atan(h |W|/2) about W.  AKW-end
uses the mean (T + T')/2 of both ends instead.  AKW-exp uses exp(h W) instead of the Cayley map.  It
shows how much of AKW's error is due to the Cayley map, but it no longer conserves spatial momentum.
"""

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.newton import differences, gyroscopic_tangent, products, size
from polhode.core.vec import (
    add,
    axpy,
    dot,
    matrix,
    neg,
    normalise,
    qcay,
    qexp,
    qmul,
    renormalise,
    scale,
    sub,
    times,
)
from polhode.methods._implicit import ImplicitState, guess, implicit, start, torque_halfway
from polhode.methods._length import of_length, square
from polhode.methods._registry import method


@jit
def balance(W, data):
    """I W - h/2 I W x W - P, its tangent, and the size of its terms; P = Pi, and more with
    AKW-end."""
    h, I, P = data
    IW, g = times(I, W), scale(0.5 * h, differences(I))
    turn = times(g, products(W))
    return sub(add(IW, turn), P), gyroscopic_tangent(I, g, W), size(IW) + size(turn) + size(P)


@jit
def turned(q, x):
    """R cay(x)."""
    return renormalise(qmul(q, qcay(x)))


@jit
def half_turned(q, x):
    """R turned half as far: the bisector of 1 and cay(x)."""
    a, b, c, d = qcay(x)
    return qmul(q, normalise((a, b, c, d + 1.0)))


@jit
def momentum_after(h, s, W, T, body):
    """Pi' = 2 Pm - Pi, of |Pi'|^2 = |Pi|^2 + 2 h Tm . Pm, and its excess."""
    Pm = times(body.I, W)
    return of_length(fma(2.0 * h, dot(T, Pm), square(s.Pi)), axpy(2.0, Pm, neg(s.Pi)), s.excess)


@jit
def torque_halfway_cayley(W, place):
    h, t, q, torque, p = place
    return torque.body(t + 0.5 * h, matrix(half_turned(q, scale(h, W))), W, p)


@jit
def torque_at_end(W, place):
    h, t, q, Om, torque, p = place
    return torque.body(t + h, matrix(turned(q, scale(h, W))), axpy(2.0, W, neg(Om)), p)


@method(
    "AKW",
    state=ImplicitState,
    start=start,
    order=2,
    torques=None,
    solves=1,
    symmetric=True,
    symplectic=False,
    conserves=("momentum", "energy"),
    family="midpoint",
    aliases=("IMR",),
    synonyms=("implicit midpoint", "midpoint"),
    cite="austin1993almost",
)
@jit
def step(h, t, s, body, torque, p):
    """Implicit midpoint rule, Cayley map, torque half way."""
    W, T, D, residual, calls = implicit(
        balance,
        (h, body.I, s.Pi),
        torque_halfway_cayley,
        (h, t, s.q, torque, p),
        0.5 * h,
        guess(h, s, body),
        s.D,
    )
    Pi, excess = momentum_after(h, s, W, T, body)
    return ImplicitState(turned(s.q, scale(h, W)), Pi, T, D, residual, calls, excess)


@method(
    "AKW-end",
    state=ImplicitState,
    start=start,
    order=2,
    torques=None,
    solves=1,
    symmetric=True,
    symplectic=False,
    conserves=("momentum", "energy"),
    family="midpoint",
    cite="austin1993almost",
)
@jit
def step_end(h, t, s, body, torque, p):
    """Implicit midpoint rule, Cayley map, mean of the torques at both ends."""
    P = axpy(0.25 * h, s.T, s.Pi)
    W, T, D, residual, calls = implicit(
        balance,
        (h, body.I, P),
        torque_at_end,
        (h, t, s.q, times(body.Iinv, s.Pi), torque, p),
        0.25 * h,
        guess(h, s, body),
        s.D,
    )
    Pi, excess = momentum_after(h, s, W, scale(0.5, add(s.T, T)), body)
    return ImplicitState(turned(s.q, scale(h, W)), Pi, T, D, residual, calls, excess)


@method(
    "AKW-exp",
    state=ImplicitState,
    start=start,
    order=2,
    torques=None,
    solves=1,
    symmetric=True,
    symplectic=False,
    conserves=("energy",),
    family="midpoint",
    cite="krysl2004explicit",
)
@jit
def step_exp(h, t, s, body, torque, p):
    """Implicit midpoint rule with the exponential map in place of Cayley's."""
    W, T, D, residual, calls = implicit(
        balance,
        (h, body.I, s.Pi),
        torque_halfway,
        (h, t, s.q, torque, p),
        0.5 * h,
        guess(h, s, body),
        s.D,
    )
    q = renormalise(qmul(s.q, qexp(scale(h, W))))
    Pi, excess = momentum_after(h, s, W, T, body)
    return ImplicitState(q, Pi, T, D, residual, calls, excess)
