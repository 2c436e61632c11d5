"""Runge-Kutta methods on the rotation group, explicit, body frame; k_i = Om_i are the velocities of
the stages.

CG-RK4 is Crouch & Grossman's update with the classical tableau, as Engo & Marthinsen 1998 and Krysl
& Endres 2004 use it, and plain RK4 for the body momentum.  It is of second order, since that tableau
fails Crouch & Grossman's third-order condition.  CG4 has the same form with the five-stage tableau
of Jackiewicz, Marthinsen & Owren 2000 and is of fourth order.

    R' = R exp(h/6 k1) exp(h/3 k2) exp(h/3 k3) exp(h/6 k4)      CG-RK4

RKMK4 solves an equation for a rotation vector u, with the attitude R exp(u), by the classical
tableau (Munthe-Kaas 1998).  All but two of the commutators are combined away: h/4 k1 x k2 in the
third stage, h/2 k1 x k4 in the sum (Munthe-Kaas & Owren 1999).

    u' = dexp_{-u}^-1 Om      RKMK4

CF4 is commutator-free (Celledoni, Marthinsen & Owren 2003); its fourth stage begins at the second.

    R' = R exp(h/12 (3 k1 + 2 k2 + 2 k3 - k4)) exp(h/12 (-k1 + 2 k2 + 2 k3 + 3 k4))      CF4

All but CG-RK4 use the spatial momentum as an unknown, pi' = t: without torque it is constant, and
Om = I^-1 R^T pi.
"""

import math
from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.scalars import TINY, sincos
from polhode.core.vec import (
    add,
    axpy,
    cross,
    dot,
    matrix,
    qexp,
    qmul,
    qrotate_t,
    renormalise,
    scale,
    times,
)
from polhode.methods._registry import method
from polhode.methods._spatial import SpatialState, start

# Jackiewicz, Marthinsen & Owren's tableau
A21 = 0.8177227988124852
A31, A32 = 0.3199876375476427, 0.0659864263556022
A41, A42, A43 = 0.9214417194464946, 0.4997857776773573, -1.0969984448371582
A51, A52, A53, A54 = 0.3552358559023322, 0.2390958372307326, 1.3918565724203246, -1.1092979392113465
B1, B2, B3, B4, B5 = (
    0.1370831520630755,
    -0.0183698531564020,
    0.7397813985370780,
    -0.1907142565505889,
    0.3322195591068374,
)
C2, C3, C4, C5 = A21, A31 + A32, A41 + A42 + A43, A51 + A52 + A53 + A54


class BodyState(NamedTuple):
    q: Quaternion
    Pi: Vector


@jit
def start_body(h, t, q, Om, body, torque, p):
    return BodyState(q, times(body.I, Om))


@jit
def turned(q, c, k):
    """R exp(c k)."""
    return qmul(q, qexp(scale(c, k)))


@jit
def stage(t, q, pi, body, torque, p):
    """Velocity and spatial torque: (Om, t) = (R^-1 R', pi')."""
    Om = times(body.Iinv, qrotate_t(q, pi))
    return Om, torque.spatial(t, matrix(q), Om, p)


@jit
def stage_body(t, q, Pi, body, torque, p):
    """Velocity and rate of the body momentum: Om, Pi x Om + T."""
    Om = times(body.Iinv, Pi)
    return Om, add(cross(Pi, Om), torque.body(t, matrix(q), Om, p))


@jit
def classical(a, b, c, d):
    """a + 2 b + 2 c + d."""
    return add(add(a, d), scale(2.0, add(b, c)))


@method(
    "CG-RK4",
    state=BodyState,
    start=start_body,
    order=2,
    torques=4,
    symmetric=False,
    symplectic=False,
    free_order=(2, 4),
    family="runge-kutta",
    cite="engo1998modeling",
    flaw="the classical tableau fails a condition of order 3 on the group; use CG4",
)
@jit
def step_cg_rk4(h, t, s, body, torque, p):
    """Crouch-Grossman with the classical Runge-Kutta tableau: second order."""
    k1, f1 = stage_body(t, s.q, s.Pi, body, torque, p)
    k2, f2 = stage_body(
        t + 0.5 * h, turned(s.q, 0.5 * h, k1), axpy(0.5 * h, f1, s.Pi), body, torque, p
    )
    k3, f3 = stage_body(
        t + 0.5 * h, turned(s.q, 0.5 * h, k2), axpy(0.5 * h, f2, s.Pi), body, torque, p
    )
    k4, f4 = stage_body(t + h, turned(s.q, h, k3), axpy(h, f3, s.Pi), body, torque, p)
    q = turned(turned(turned(turned(s.q, h / 6.0, k1), h / 3.0, k2), h / 3.0, k3), h / 6.0, k4)
    return BodyState(renormalise(q), axpy(h / 6.0, classical(f1, f2, f3, f4), s.Pi))


@jit
def spin(k):
    """A velocity as half its size and its axis: the five-stage method turns by each of them up to
    five times."""
    n = math.sqrt(dot(k, k) + TINY)
    return 0.5 * n, scale(1.0 / n, k)


@jit
def spun(q, c, w):
    """R exp(c k), from the spin of k."""
    half, axis = w
    s, cosine = sincos(c * half)
    x, y, z = scale(s, axis)
    return qmul(q, (x, y, z, cosine))


@method(
    "CG4",
    state=SpatialState,
    start=start,
    order=4,
    torques=5,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    family="runge-kutta",
    synonyms=("Crouch-Grossman",),
    cite="jackiewicz2000construction",
)
@jit
def step_cg4(h, t, s, body, torque, p):
    """Crouch-Grossman, five stages, fourth order."""
    k1, f1 = stage(t, s.q, s.pi, body, torque, p)
    w1 = spin(k1)
    q = spun(s.q, h * A21, w1)
    k2, f2 = stage(t + C2 * h, q, axpy(h * A21, f1, s.pi), body, torque, p)
    w2 = spin(k2)
    q = spun(spun(s.q, h * A31, w1), h * A32, w2)
    k3, f3 = stage(t + C3 * h, q, axpy(h * A31, f1, axpy(h * A32, f2, s.pi)), body, torque, p)
    w3 = spin(k3)
    q = spun(spun(spun(s.q, h * A41, w1), h * A42, w2), h * A43, w3)
    k4, f4 = stage(
        t + C4 * h,
        q,
        axpy(h * A41, f1, axpy(h * A42, f2, axpy(h * A43, f3, s.pi))),
        body,
        torque,
        p,
    )
    w4 = spin(k4)
    q = spun(spun(spun(spun(s.q, h * A51, w1), h * A52, w2), h * A53, w3), h * A54, w4)
    pi = axpy(h * A51, f1, axpy(h * A52, f2, axpy(h * A53, f3, axpy(h * A54, f4, s.pi))))
    k5, f5 = stage(t + C5 * h, q, pi, body, torque, p)
    q = spun(
        spun(spun(spun(spun(s.q, h * B1, w1), h * B2, w2), h * B3, w3), h * B4, w4),
        h * B5,
        spin(k5),
    )
    pi = axpy(
        h * B1, f1, axpy(h * B2, f2, axpy(h * B3, f3, axpy(h * B4, f4, axpy(h * B5, f5, s.pi))))
    )
    return SpatialState(renormalise(q), pi)


@method(
    "RKMK4",
    state=SpatialState,
    start=start,
    order=4,
    torques=4,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    family="runge-kutta",
    synonyms=("Munthe-Kaas",),
    cite="munthekaas1999computations",
)
@jit
def step_rkmk4(h, t, s, body, torque, p):
    """Munthe-Kaas with the classical Runge-Kutta tableau and two commutators: fourth order."""
    k1, f1 = stage(t, s.q, s.pi, body, torque, p)
    k2, f2 = stage(t + 0.5 * h, turned(s.q, 0.5 * h, k1), axpy(0.5 * h, f1, s.pi), body, torque, p)
    third = axpy(0.25 * h, cross(k1, k2), k2)
    k3, f3 = stage(
        t + 0.5 * h, turned(s.q, 0.5 * h, third), axpy(0.5 * h, f2, s.pi), body, torque, p
    )
    k4, f4 = stage(t + h, turned(s.q, h, k3), axpy(h, f3, s.pi), body, torque, p)
    mean = axpy(0.5 * h, cross(k1, k4), classical(k1, k2, k3, k4))
    return SpatialState(
        renormalise(turned(s.q, h / 6.0, mean)), axpy(h / 6.0, classical(f1, f2, f3, f4), s.pi)
    )


@method(
    "CF4",
    state=SpatialState,
    start=start,
    order=4,
    torques=4,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    family="runge-kutta",
    cite="celledoni2003commutator",
)
@jit
def step_cf4(h, t, s, body, torque, p):
    """Commutator-free, four stages, five exponentials: fourth order."""
    k1, f1 = stage(t, s.q, s.pi, body, torque, p)
    second = turned(s.q, 0.5 * h, k1)
    k2, f2 = stage(t + 0.5 * h, second, axpy(0.5 * h, f1, s.pi), body, torque, p)
    k3, f3 = stage(t + 0.5 * h, turned(s.q, 0.5 * h, k2), axpy(0.5 * h, f2, s.pi), body, torque, p)
    k4, f4 = stage(t + h, turned(second, h, axpy(-0.5, k1, k3)), axpy(h, f3, s.pi), body, torque, p)
    middle = scale(2.0, add(k2, k3))
    q = turned(s.q, h / 12.0, add(axpy(3.0, k1, middle), scale(-1.0, k4)))
    q = turned(q, h / 12.0, add(axpy(3.0, k4, middle), scale(-1.0, k1)))
    return SpatialState(renormalise(q), axpy(h / 6.0, classical(f1, f2, f3, f4), s.pi))
