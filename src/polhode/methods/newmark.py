"""Explicit Newmark on SO(3), body frame (NMB).  Krysl & Endres 2005, section 2.4; Bou-Rabee et al. 2009, eq. (3).

    R' = R exp(h W),  W = Om + h/2 A         KE (30);  NMB-cay has cay(h W), BR (3b)
    I A' + W' x I W' = T(t', R')             KE (19)   the only nonlinear equation; the torque enters once
    Om' = W + h/2 A'                         KE (36)

The tangent of the equation is I + h/2 (w^ I - (I w)^) with w = W + h/2 A'.  KE (43) prints h^2/2 for the second-order part
and I w^ for (I w)^; with those Newton's method does not converge.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.newton import newton, size
from polhode.core.vec import (
    add, axpy, cross, diag, hat, madd, matrix, mscale, qcay, qexp, qmul, renormalise, scale, sub, times,
)
from polhode.methods._registry import method


class State(NamedTuple):
    q: Quaternion
    Om: Vector
    A: Vector   # from the torque at the end of the step: the next step does not ask for it again
    residual: float


@jit
def balance(a, data):
    """F(a) = I a + w x I w - T with w = W + h/2 a, its tangent, and the size of its terms."""
    h, W, T, I = data
    w = axpy(0.5 * h, a, W)
    Iw = times(I, w)
    inertial, gyroscopic = times(I, a), cross(w, Iw)
    F = sub(add(inertial, gyroscopic), T)
    wI = hat_times(w, I)
    DF = madd(diag(I), mscale(0.5 * h, madd(wI, hat((-Iw[0], -Iw[1], -Iw[2])))))
    return F, DF, size(inertial) + size(gyroscopic) + size(T)


@jit
def hat_times(w, I):
    """w^ diag(I)."""
    return ((0.0, -w[2] * I[1], w[1] * I[2]), (w[2] * I[0], 0.0, -w[0] * I[2]), (-w[1] * I[0], w[0] * I[1], 0.0))


@jit
def start(h, t, q, Om, body, torque, p):
    T = torque.body(t, matrix(q), Om, p)
    return State(q, Om, times(body.Iinv, sub(T, cross(Om, times(body.I, Om)))), 0.0)


@jit
def finish(h, t, q, W, s, body, torque, p):
    """From the new attitude: torque, balance (19), velocity (36)."""
    T = torque.body(t + h, matrix(q), axpy(h, s.A, s.Om), p)
    A, residual = newton(balance, s.A, (h, W, T, body.I))
    return State(q, axpy(0.5 * h, A, W), A, residual)


@method("NMB", state=State, start=start, order=2, torques=1, solves=1, symmetric=True, symplectic=False,
        family="newmark", cite="krysl2005explicit")
@jit
def step(h, t, s, body, torque, p):
    """Explicit Newmark, body frame, exponential map."""
    W = axpy(0.5 * h, s.A, s.Om)
    q = renormalise(qmul(s.q, qexp(scale(h, W))))
    return finish(h, t, q, W, s, body, torque, p)


@method("NMB-cay", state=State, start=start, order=2, torques=1, solves=1, symmetric=True, symplectic=False,
        family="newmark", aliases=("Lie-Newmark",), cite="bourabee2009counterexample")
@jit
def step_cayley(h, t, s, body, torque, p):
    """Lie-Newmark: explicit Newmark, body frame, Cayley map."""
    W = axpy(0.5 * h, s.A, s.Om)
    q = renormalise(qmul(s.q, qcay(scale(h, W))))
    return finish(h, t, q, W, s, body, torque, p)
