"""Explicit Newmark on SO(3), body frame (NMB).  Krysl & Endres 2004, section 2.4; Bou-Rabee et al.
2009, eq. (3).

    R' = R exp(h W),  W = Om + h/2 A                                   KE (30)
    I A' + Om' x I Om' = T(t', R')                                     KE (19)
    Om' = S (Om + h (1 - gamma) A) + h gamma A',  S = dexp_{-h W}      KE (34)
    Om' = W + h/2 A'                                                   KE (36)

NMB-cay uses cay(h W) instead of exp(h W), BR (3b).  KE (19) is the only nonlinear equation; the
torque is evaluated once.  KE (36) is KE (34) with gamma = 1/2, where S W = W.

In principal axes (19) is w1 + c d1 w2 w3 = V1 + c T1/I1, and cyclically, for w = Om' = V + c A',
with c = h gamma and d1 = (I3 - I2)/I1.  KE (43) solves it for A' with two misprints: h^2/2 instead
of h^2/4 in the second-order part of the tangent, and I w^ instead of (I w)^.  With those Newton's
method does not converge.  KE (33) prints dexp_{+h W} for S, which is harmless for gamma = 1/2.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.newton import differences, gyroscopic, products
from polhode.core.vec import (
    axpy,
    dexp_body,
    matrix,
    qcay,
    qexp,
    qmul,
    renormalise,
    scale,
    sub,
    times,
)
from polhode.errors import InputError
from polhode.methods._families import number_family
from polhode.methods._method import Method
from polhode.methods._registry import method
from polhode.methods._system_newmark import with_newmark


class NewmarkState(NamedTuple):
    q: Quaternion
    Om: Vector
    A: Vector  # from the torque at the end of the step: the next step does not ask for it again
    residual: float


@jit
def acceleration(Om, T, body):
    """A of (19)."""
    return times(body.Iinv, sub(T, times(differences(body.I), products(Om))))


@jit
def start(h, t, q, Om, body, torque, p):
    return NewmarkState(q, Om, acceleration(Om, torque.body(t, matrix(q), Om, p), body), 0.0)


@jit
def velocity(c, V, T, guess, body):
    """Om' = V + c A' of (19), near a guess, and its relative residual."""
    return gyroscopic(
        scale(c, times(body.Iinv, differences(body.I))), axpy(c, times(body.Iinv, T), V), guess
    )


@jit
def finish(c, V, h, t, q, s, body, torque, p):
    """From the new attitude: torque, velocity, acceleration."""
    expected = axpy(h, s.A, s.Om)
    T = torque.body(t + h, matrix(q), expected, p)
    Om, residual = velocity(c, V, T, expected, body)
    return NewmarkState(q, Om, acceleration(Om, T, body), residual)


@method(
    "NMB",
    state=NewmarkState,
    start=start,
    order=2,
    torques=1,
    solves=1,
    symmetric=True,
    symplectic=False,
    family="newmark",
    synonyms=("Newmark",),
    cite="krysl2004explicit",
    best_for="impacts and contacts with a fixed step",
    system=with_newmark,
)
@jit
def step(h, t, s, body, torque, p):
    """Explicit Newmark, body frame, exponential map."""
    W = axpy(0.5 * h, s.A, s.Om)
    q = renormalise(qmul(s.q, qexp(scale(h, W))))
    return finish(0.5 * h, W, h, t, q, s, body, torque, p)


@method(
    "NMB-cay",
    state=NewmarkState,
    start=start,
    order=2,
    torques=1,
    solves=1,
    symmetric=True,
    symplectic=False,
    family="newmark",
    aliases=("Lie-Newmark",),
    cite="bourabee2009counterexample",
    system=with_newmark,
)
@jit
def step_cayley(h, t, s, body, torque, p):
    """Lie-Newmark: explicit Newmark, body frame, Cayley map."""
    W = axpy(0.5 * h, s.A, s.Om)
    q = renormalise(qmul(s.q, qcay(scale(h, W))))
    return finish(0.5 * h, W, h, t, q, s, body, torque, p)


@number_family("newmark", "gamma", standard="NMB")
def newmark(gamma):
    """Newmark's method with any gamma, as a Method: `newmark(0.5)` is NMB to round-off, any other
    is of first order."""
    if not 0.0 < gamma <= 1.0:
        raise InputError(
            f"newmark(gamma): gamma must lie in (0, 1], got {gamma!r}; 0.5 is the second-order method"
        )

    @jit
    def step_gamma(h, t, s, body, torque, p):
        hW = scale(h, axpy(0.5 * h, s.A, s.Om))
        q = renormalise(qmul(s.q, qexp(hW)))
        V = dexp_body(hW, axpy(h * (1.0 - gamma), s.A, s.Om))
        return finish(h * gamma, V, h, t, q, s, body, torque, p)

    half = gamma == 0.5
    return Method(
        f"newmark({gamma:.17g})",
        step_gamma,
        start,
        NewmarkState,
        order=2 if half else 1,
        torques=1,
        symmetric=half,
        symplectic=False,
        free_order=(2, 2) if half else (1, 1),
        solves=1,
        family="newmark",
        cite="krysl2004explicit",
        summary=f"Explicit Newmark with gamma = {gamma:g}, body frame.",
    )
