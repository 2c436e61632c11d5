"""Lie-Verlet (VLV), variational.  Bou-Rabee, Ortolan & Saccon 2009, eq. (5), after Bou-Rabee &
Marsden 2009.

    I W - h/2 I W x W + h^2/4 (W . I W) W = Pi-                          (5a)
    R' = R cay(h W)                                                       (5b)
    Pi-' = I W + h/2 I W x W + h^2/4 (W . I W) W                          (5c)

between half kicks by the torque; W is the velocity half way.
"""

from polhode.core.jit import jit
from polhode.core.kicks import KickedState, start
from polhode.core.newton import differences, gyroscopic_tangent, newton_after, products, size
from polhode.core.vec import add, dot, madd, outer, qcay, qmul, renormalise, scale, sub, times
from polhode.methods._kicked import in_flight, in_system, kicked
from polhode.methods._registry import method


@jit
def turning(W, IW, g, h):
    """The terms of (5a) beside I W, -h/2 I W x W and h^2/4 (W . I W) W, and the latter's factor; g
    = h/2 differences(I)."""
    c = 0.25 * h * h * dot(W, IW)
    return times(g, products(W)), scale(c, W), c


@jit
def halfway(W, data):
    """F(W) of (5a), its tangent, and the size of its terms."""
    h, I, g, Pi = data
    IW = times(I, W)
    across, along, c = turning(W, IW, g, h)
    F = sub(add(add(IW, across), along), Pi)
    DF = madd(
        gyroscopic_tangent((I[0] + c, I[1] + c, I[2] + c), g, W), outer(scale(0.5 * h * h, W), IW)
    )
    return F, DF, size(IW) + size(across) + size(along) + size(Pi)


@jit
def drift(h, q, Pi, body):
    I, g = body.I, scale(0.5 * h, differences(body.I))
    guess = times(body.Iinv, Pi)
    guess = times(body.Iinv, sub(Pi, times(g, products(guess))))
    W = guess
    for _ in range(2):
        across, along, _ = turning(W, times(I, W), g, h)
        W = times(body.Iinv, sub(sub(Pi, across), along))
    W, residual = newton_after(halfway, W, guess, (h, I, g, Pi))
    IW = times(I, W)
    across, along, _ = turning(W, IW, g, h)
    return renormalise(qmul(q, qcay(scale(h, W)))), add(sub(IW, across), along), residual


@method(
    "VLV",
    state=KickedState,
    start=start,
    order=2,
    torques=1,
    solves=1,
    symmetric=True,
    symplectic=True,
    conserves=("momentum",),
    family="variational",
    aliases=("Lie-Verlet",),
    synonyms=("Verlet", "RATTLE", "leapfrog"),
    cite="bourabee2009hamilton",
    flight=in_flight,
    system=in_system,
)
@jit
def step(h, t, s, body, torque, p):
    """Lie-Verlet: variational, explicit in the torque, Cayley map."""
    return kicked(drift, h, t, s, body, torque, p)
