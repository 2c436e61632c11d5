"""Lie-Verlet (VLV), variational.  Bou-Rabee, Ortolan & Saccon 2009, eq. (5), after Bou-Rabee & Marsden 2009.

    I W - h/2 I W x W + h^2/4 (W . I W) W = Pi-                          (5a)
    R' = R cay(h W)                                                       (5b)
    Pi-' = I W + h/2 I W x W + h^2/4 (W . I W) W                          (5c)

between half kicks by the torque; W is the velocity half way.
"""

from polhode.core.jit import jit
from polhode.core.newton import newton, size
from polhode.core.vec import (
    add, axpy, cross, diag, dot, hat, madd, mscale, outer, qcay, qmul, renormalise, scale, sub, times,
)
from polhode.methods._kicked import State, kicked, start
from polhode.methods._registry import method
from polhode.methods.newmark import hat_times


@jit
def halfway(W, data):
    """F(W) of (5a), its tangent, and the size of its terms."""
    h, I, Pi = data
    IW = times(I, W)
    c = 0.25 * h * h * dot(W, IW)
    turn = scale(0.5 * h, cross(IW, W))
    F = sub(add(sub(IW, turn), scale(c, W)), Pi)
    DF = madd(
        madd(diag((I[0] + c, I[1] + c, I[2] + c)), mscale(0.5 * h, madd(hat_times(W, I), hat(scale(-1.0, IW))))),
        mscale(0.5 * h * h, outer(W, IW)),
    )
    return F, DF, size(IW) + size(turn) + c * size(W) + size(Pi)


@jit
def drift(h, q, Pi, body):
    Om = times(body.Iinv, Pi)
    W, residual = newton(halfway, axpy(0.5 * h, times(body.Iinv, cross(Pi, Om)), Om), (h, body.I, Pi))
    IW = times(body.I, W)
    Pi = add(axpy(0.5 * h, cross(IW, W), IW), scale(0.25 * h * h * dot(W, IW), W))
    return renormalise(qmul(q, qcay(scale(h, W)))), Pi, residual


@method("VLV", state=State, start=start, order=2, torques=1, solves=1, symmetric=True, symplectic=True,
        conserves=("momentum",), family="variational", aliases=("Lie-Verlet",), cite="bourabee2009hamilton")
@jit
def step(h, t, s, body, torque, p):
    """Lie-Verlet: variational, explicit in the torque, Cayley map."""
    return kicked(drift, h, t, s, body, torque, p)
