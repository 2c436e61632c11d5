"""Rotations about the principal axes in turn: McLachlan 1993, Reich 1994; LP2 in Krysl & Endres, MR2 in Buss 2001.

The kinetic energy is a sum of three terms Pi_i^2 / (2 I_i), each of whose flows is a rotation about body axis i by the
constant angle h Pi_i / I_i.  Composed symmetrically, 1 2 3 2 1 with half steps but for the middle one, they are a free
motion that is symplectic, explicit and keeps the spatial momentum; torque comes in as kicks before and after.
"""

from polhode.core.jit import jit
from polhode.core.vec import renormalise, sincos
from polhode.methods._kicked import State, kicked, start
from polhode.methods._registry import method


@jit
def turn1(h, q, Pi, body):
    """Turn about body axis 1 by h Pi_1 / I_1; space sees the momentum stand still."""
    s, c = sincos(0.5 * h * Pi[0] * body.Iinv[0])
    sine, cosine = 2.0 * s * c, (c - s) * (c + s)
    x, y, z, w = q
    return (
        (c * x + s * w, c * y + s * z, c * z - s * y, c * w - s * x),
        (Pi[0], cosine * Pi[1] + sine * Pi[2], cosine * Pi[2] - sine * Pi[1]),
    )


@jit
def turn2(h, q, Pi, body):
    """Turn about body axis 2 by h Pi_2 / I_2."""
    s, c = sincos(0.5 * h * Pi[1] * body.Iinv[1])
    sine, cosine = 2.0 * s * c, (c - s) * (c + s)
    x, y, z, w = q
    return (
        (c * x - s * z, c * y + s * w, c * z + s * x, c * w - s * y),
        (cosine * Pi[0] - sine * Pi[2], Pi[1], cosine * Pi[2] + sine * Pi[0]),
    )


@jit
def turn3(h, q, Pi, body):
    """Turn about body axis 3 by h Pi_3 / I_3."""
    s, c = sincos(0.5 * h * Pi[2] * body.Iinv[2])
    sine, cosine = 2.0 * s * c, (c - s) * (c + s)
    x, y, z, w = q
    return (
        (c * x + s * y, c * y - s * x, c * z + s * w, c * w - s * z),
        (cosine * Pi[0] + sine * Pi[1], cosine * Pi[1] - sine * Pi[0], Pi[2]),
    )


@jit
def drift_123(h, q, Pi, body):
    q, Pi = turn1(0.5 * h, q, Pi, body)
    q, Pi = turn2(0.5 * h, q, Pi, body)
    q, Pi = turn3(h, q, Pi, body)
    q, Pi = turn2(0.5 * h, q, Pi, body)
    q, Pi = turn1(0.5 * h, q, Pi, body)
    return renormalise(q), Pi, 0.0


@method("LP2", state=State, start=start, order=2, torques=1, symmetric=True, symplectic=True, conserves=("momentum",),
        family="splitting", cite="mclachlan1993explicit")
@jit
def step(h, t, s, body, torque, p):
    """Lie-Poisson splitting into rotations about the axes 1, 2, 3, 2, 1."""
    return kicked(drift_123, h, t, s, body, torque, p)
