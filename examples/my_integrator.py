"""Certify an integrator of your own: how game engines rotate rigid bodies.

    polhode certify examples/my_integrator.py
    polhode certify examples/my_integrator.py NMB VLV LP2       side by side with known ones

Engines such as Bullet, ODE and PhysX take one step of semi-implicit Euler: first the velocity, then
the attitude with the new velocity.  The gyroscopic term Om x I Om, explicit, blows up for long thin
bodies; the usual cure, from Catto's "Numerical methods" (GDC 2015) and in Bullet as
BT_ENABLE_GYROSCOPIC_FORCE_IMPLICIT_BODY, is an implicit Euler step in the body frame, solved by a
single Newton iteration:

    W = Om + h I^-1 T                                       the torque's push
    f(Om') = I (Om' - W) + h Om' x I Om'                    should vanish; at Om' = W it is h W x I W
    Om' = W - (I + h (W^ I - (I W)^))^-1 h W x I W          one Newton iteration
    q' = normalise(q + h/2 q Om')                           the attitude follows on a straight line, back onto the sphere

It never blows up, which is what engines need.  The certificate shows the price: first order, neither
symmetric nor symplectic, nothing conserved.  In the stress test the energy first falls, then grows
tenfold.  A free body loses energy and half of its angular momentum, as if by friction, until it spins
about one of its two stable axes; it keeps a quarter of its energy over 2000 steps only if a step turns
it by at most 0.05 rad.
"""

import polhode
from polhode.core.newton import differences, gyroscopic_tangent, products
from polhode.core.vec import axpy, matrix, normalise, qmul, scale, solve, sub, times
from polhode.methods import Motion


@polhode.method(
    "game-engine",
    order=1,
    torques=1,
    symmetric=False,
    symplectic=False,
    summary="Semi-implicit Euler with an implicit gyroscopic term, as in game engines.",
)
def step(h, t, s, body, torque, p):
    W = axpy(h, times(body.Iinv, torque.body(t, matrix(s.q), s.Om, p)), s.Om)
    g = scale(h, differences(body.I))  # h W x I W = g (W2 W3, W3 W1, W1 W2)
    Om = sub(W, solve(gyroscopic_tangent(body.I, g, W), times(g, products(W))))
    x, y, z, w = qmul(s.q, (Om[0], Om[1], Om[2], 0.0))
    q = (s.q[0] + 0.5 * h * x, s.q[1] + 0.5 * h * y, s.q[2] + 0.5 * h * z, s.q[3] + 0.5 * h * w)
    return Motion(normalise(q), Om)
