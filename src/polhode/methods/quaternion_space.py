"""Runge-Kutta and Adams methods on q' = q nu / 2 in the four-space of quaternions, normalised after every step.

Buss 2001 finds these methods to be of second order only, "the reason being that the sphere is not a
linear space".  That is true of averages of rotation vectors (RK-buss).  The quaternions around the
sphere are a linear space, the equation extends to it, and both methods are of fourth order there.
They lose only the exact unit length, which is restored.

The spatial momentum pi' = t is part of the state beside q, constant without torque; nu = J^-1 R(q)^T pi.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import axpy, matrix, normalise, qmul, qrotate, qrotate_t, times
from polhode.methods._registry import method
from polhode.methods._spatial import SpatialState, bashforth, moulton, simpson, start


@jit
def rates(t, q, pi, body, torque, p):
    """q' and pi'."""
    unit = normalise(q)
    Om = times(body.Iinv, qrotate_t(unit, pi))
    x, y, z, w = qmul(q, (Om[0], Om[1], Om[2], 0.0))
    return (0.5 * x, 0.5 * y, 0.5 * z, 0.5 * w), torque.spatial(t, matrix(unit), Om, p)


@jit
def axpy4(c, x, y):
    return c * x[0] + y[0], c * x[1] + y[1], c * x[2] + y[2], c * x[3] + y[3]


@jit
def weighted4(w, a, b, c, d):
    """w1 a + w2 b + w3 c + w4 d."""
    return axpy4(
        w[0],
        a,
        axpy4(w[1], b, axpy4(w[2], c, (w[3] * d[0], w[3] * d[1], w[3] * d[2], w[3] * d[3]))),
    )


RUNGE_KUTTA = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)
BASHFORTH = (55.0 / 24.0, -59.0 / 24.0, 37.0 / 24.0, -9.0 / 24.0)
MOULTON = (9.0 / 24.0, 19.0 / 24.0, -5.0 / 24.0, 1.0 / 24.0)


@jit
def runge_kutta(h, t, q, pi, k1, f1, body, torque, p):
    """A classical Runge-Kutta step, its first stage given."""
    k2, f2 = rates(t + 0.5 * h, axpy4(0.5 * h, k1, q), axpy(0.5 * h, f1, pi), body, torque, p)
    k3, f3 = rates(t + 0.5 * h, axpy4(0.5 * h, k2, q), axpy(0.5 * h, f2, pi), body, torque, p)
    k4, f4 = rates(t + h, axpy4(h, k3, q), axpy(h, f3, pi), body, torque, p)
    return normalise(axpy4(h, weighted4(RUNGE_KUTTA, k1, k2, k3, k4), q)), axpy(
        h, simpson(f1, f2, f3, f4), pi
    )


@method(
    "RK4-quaternion",
    state=SpatialState,
    start=start,
    order=4,
    torques=4,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    aliases=("RK4",),
    cite="buss2001accurate",
)
@jit
def step(h, t, s, body, torque, p):
    """Classical Runge-Kutta on the quaternion, normalised."""
    k, f = rates(t, s.q, s.pi, body, torque, p)
    q, pi = runge_kutta(h, t, s.q, s.pi, k, f, body, torque, p)
    return SpatialState(q, pi)


class QuaternionHistory(NamedTuple):
    q: Quaternion
    pi: Vector
    taken: float  # steps so far
    k1: Quaternion  # q' one, two, three steps ago
    k2: Quaternion
    k3: Quaternion
    f1: Vector  # spatial torques
    f2: Vector
    f3: Vector
    calls: float


@jit
def start_history(h, t, q, Om, body, torque, p):
    none, still = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)
    return QuaternionHistory(
        q, qrotate(q, times(body.I, Om)), 0.0, still, still, still, none, none, none, 0.0
    )


@method(
    "ABAM",
    state=QuaternionHistory,
    start=start_history,
    order=4,
    torques=None,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    multistep=True,
    aliases=("AB-AM",),
    synonyms=("Adams", "ode113"),
    cite="buss2001accurate",
)
@jit
def step_adams(h, t, s, body, torque, p):
    """Adams-Bashforth predictor, Adams-Moulton corrector on the quaternion, normalised; starts with Runge-Kutta."""
    k0, f0 = rates(t, s.q, s.pi, body, torque, p)
    if s.taken < 3.0:
        q, pi = runge_kutta(h, t, s.q, s.pi, k0, f0, body, torque, p)
        calls = 4.0
    else:
        k_p, f_p = rates(
            t + h,
            axpy4(h, weighted4(BASHFORTH, k0, s.k1, s.k2, s.k3), s.q),
            axpy(h, bashforth(f0, s.f1, s.f2, s.f3), s.pi),
            body,
            torque,
            p,
        )
        q = normalise(axpy4(h, weighted4(MOULTON, k_p, k0, s.k1, s.k2), s.q))
        pi = axpy(h, moulton(f_p, f0, s.f1, s.f2), s.pi)
        calls = 2.0
    return QuaternionHistory(q, pi, s.taken + 1.0, k0, s.k1, s.k2, f0, s.f1, s.f2, calls)
