"""Explicit Newmark on SO(3), body frame (NMB).  Krysl & Endres 2005, section 2.4; Bou-Rabee et al. 2009, eq. (3).

    R' = R exp(h W),  W = Om + h/2 A                        KE (30);  NMB-cay has cay(h W), BR (3b)
    I A' + Om' x I Om' = T(t', R')                          KE (19)   the only nonlinear equation; the torque enters once
    Om' = S (Om + h (1 - gamma) A) + h gamma A'             KE (34),  S = dexp_{-h W}
    Om' = W + h/2 A'                                        KE (36)   the same with gamma = 1/2, where S W = W

The tangent of the equation is I + c (w^ I - (I w)^) with w = V + c A', c = h gamma.  KE (43) prints h^2/2 for the
second-order part and I w^ for (I w)^; with those Newton's method does not converge.  KE (33) prints dexp_{+h W} for S, which
gamma = 1/2 forgives.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.newton import newton, size
from polhode.core.vec import (
    add, axpy, cross, dexp_body, diag, hat, madd, matrix, mscale, qcay, qexp, qmul, renormalise, scale, sub, times,
)
from polhode.errors import InputError
from polhode.methods._registry import Method, family, method


class State(NamedTuple):
    q: Quaternion
    Om: Vector
    A: Vector   # from the torque at the end of the step: the next step does not ask for it again
    residual: float


@jit
def balance(a, data):
    """F(a) = I a + w x I w - T with w = V + c a, its tangent, and the size of its terms."""
    c, V, T, I = data
    w = axpy(c, a, V)
    Iw = times(I, w)
    inertial, gyroscopic = times(I, a), cross(w, Iw)
    F = sub(add(inertial, gyroscopic), T)
    wI = hat_times(w, I)
    DF = madd(diag(I), mscale(c, madd(wI, hat((-Iw[0], -Iw[1], -Iw[2])))))
    return F, DF, size(inertial) + size(w) * size(Iw) + size(T)   # w and I w of a near-sphere are nearly parallel


@jit
def hat_times(w, I):
    """w^ diag(I)."""
    return ((0.0, -w[2] * I[1], w[1] * I[2]), (w[2] * I[0], 0.0, -w[0] * I[2]), (-w[1] * I[0], w[0] * I[1], 0.0))


@jit
def start(h, t, q, Om, body, torque, p):
    T = torque.body(t, matrix(q), Om, p)
    return State(q, Om, times(body.Iinv, sub(T, cross(Om, times(body.I, Om)))), 0.0)


@jit
def finish(c, V, h, t, q, s, body, torque, p):
    """From the new attitude: torque, balance (19), velocity Om' = V + c A'."""
    T = torque.body(t + h, matrix(q), axpy(h, s.A, s.Om), p)
    A, residual = newton(balance, s.A, (c, V, T, body.I))
    return State(q, axpy(c, A, V), A, residual)


@method("NMB", state=State, start=start, order=2, torques=1, solves=1, symmetric=True, symplectic=False,
        family="newmark", cite="krysl2005explicit")
@jit
def step(h, t, s, body, torque, p):
    """Explicit Newmark, body frame, exponential map."""
    W = axpy(0.5 * h, s.A, s.Om)
    q = renormalise(qmul(s.q, qexp(scale(h, W))))
    return finish(0.5 * h, W, h, t, q, s, body, torque, p)


@method("NMB-cay", state=State, start=start, order=2, torques=1, solves=1, symmetric=True, symplectic=False,
        family="newmark", aliases=("Lie-Newmark",), cite="bourabee2009counterexample")
@jit
def step_cayley(h, t, s, body, torque, p):
    """Lie-Newmark: explicit Newmark, body frame, Cayley map."""
    W = axpy(0.5 * h, s.A, s.Om)
    q = renormalise(qmul(s.q, qcay(scale(h, W))))
    return finish(0.5 * h, W, h, t, q, s, body, torque, p)


@family("newmark")
def newmark(gamma):
    """Newmark's method with any gamma, as a Method: `newmark(0.5)` is NMB to round-off, any other is of first order."""
    if not 0.0 < gamma <= 1.0:
        raise InputError(f"newmark(gamma): gamma must lie in (0, 1], got {gamma!r}; 0.5 is the second-order method")

    @jit
    def step_gamma(h, t, s, body, torque, p):
        hW = scale(h, axpy(0.5 * h, s.A, s.Om))
        q = renormalise(qmul(s.q, qexp(hW)))
        V = dexp_body(hW, axpy(h * (1.0 - gamma), s.A, s.Om))
        return finish(h * gamma, V, h, t, q, s, body, torque, p)

    half = gamma == 0.5
    return Method(f"newmark({gamma:.17g})", step_gamma, start, State, order=2 if half else 1, torques=1, symmetric=half,
                  symplectic=False, free_order=(2, 2) if half else (1, 1), solves=1, family="newmark",
                  cite="krysl2005explicit", summary=f"Explicit Newmark with gamma = {gamma:g}, body frame.")
