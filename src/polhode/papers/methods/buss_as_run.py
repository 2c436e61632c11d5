"""Runge-Kutta, Adams and Simo-Wong as Buss ran them in 2001: to reproduce his tables, not for use.

RK-buss: the paper says that rotations were averaged as quaternions, and finds second order.  Its
numbers are those of an average of rotation *vectors*, with the classical stages k_i of the spatial
velocity.  This omits the commutators and is of order 2, whatever the stages.  The correct method is
RK4-quaternion, of order 4.

    R' = exp(h (k1 + 2 k2 + 2 k3 + k4)/6) R      RK-buss

ABAM-buss: Adams-Bashforth predictor and Adams-Moulton corrector (PECE) with the same averages, of
spatial velocities.  In addition, the predicted velocity is computed in the body frame of the
predicted attitude and then used in the frame of the current one, omega_p = R J^-1 R_p^T pi.  It is
also of order 2, with larger errors.  It starts with three steps, each made of five first-order
ones.  The correct method is ABAM, of order 4.

SW-buss: Simo & Wong's acceleration (nu_i - nu_(i-1))/h enters as nu + h^2/2 a, with one factor h
too many, and the method is only as good as taylor1.  "Almost identical to the first-order method" is
a consequence of that error.  Without it the columns of figure 6 read 1087, 32734 and 37511 steps
(with his first-order first step; SW1, which starts from the equation of motion, needs 778, 23932
and 27925).  The correct methods are SW, and SW1 with the paper's gamma = 1.

The paper has no torque; here it enters by the same rules.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import (
    add,
    axpy,
    matrix,
    qexp,
    qmul,
    qrotate,
    qrotate_t,
    renormalise,
    scale,
    sub,
    times,
)
from polhode.methods._registry import method
from polhode.methods._spatial import SpatialState, bashforth, moulton, simpson, start


@jit
def spatial_rates(t, q, pi, body, torque, p):
    """Spatial velocity and torque."""
    Om = times(body.Iinv, qrotate_t(q, pi))
    return qrotate(q, Om), torque.spatial(t, matrix(q), Om, p)


@jit
def turned(q, x):
    """The attitude after the spatial rotation vector x."""
    return renormalise(qmul(qexp(x), q))


@method(
    "RK-buss",
    state=SpatialState,
    start=start,
    order=2,
    torques=4,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    family="buss",
    cite="buss2001accurate",
    flaw="it averages rotation vectors, which leaves out the commutators: order 2, not 4; use RK4-quaternion",
)
@jit
def runge_kutta(h, t, s, body, torque, p):
    """Runge-Kutta with averaged rotation vectors, as Buss ran it."""
    k1, f1 = spatial_rates(t, s.q, s.pi, body, torque, p)
    k2, f2 = spatial_rates(
        t + 0.5 * h, turned(s.q, scale(0.5 * h, k1)), axpy(0.5 * h, f1, s.pi), body, torque, p
    )
    k3, f3 = spatial_rates(
        t + 0.5 * h, turned(s.q, scale(0.5 * h, k2)), axpy(0.5 * h, f2, s.pi), body, torque, p
    )
    k4, f4 = spatial_rates(t + h, turned(s.q, scale(h, k3)), axpy(h, f3, s.pi), body, torque, p)
    return SpatialState(
        turned(s.q, scale(h, simpson(k1, k2, k3, k4))), axpy(h, simpson(f1, f2, f3, f4), s.pi)
    )


# --- Adams-Bashforth, Adams-Moulton ---------------------------------------------------------------


class VelocityHistory(NamedTuple):
    q: Quaternion
    pi: Vector
    taken: float  # steps so far
    k1: Vector  # spatial velocities one, two, three steps ago
    k2: Vector
    k3: Vector
    f1: Vector  # spatial torques
    f2: Vector
    f3: Vector
    calls: float


@jit
def start_history(h, t, q, Om, body, torque, p):
    none = (0.0, 0.0, 0.0)
    return VelocityHistory(
        q, qrotate(q, times(body.I, Om)), 0.0, none, none, none, none, none, none, 0.0
    )


@jit
def in_five(h, t, q, pi, body, torque, p):
    """Five first-order steps."""
    for i in range(5):
        k, f = spatial_rates(t + 0.2 * i * h, q, pi, body, torque, p)
        q, pi = turned(q, scale(0.2 * h, k)), axpy(0.2 * h, f, pi)
    return q, pi


@method(
    "ABAM-buss",
    state=VelocityHistory,
    start=start_history,
    order=2,
    torques=None,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    multistep=True,
    family="buss",
    cite="buss2001accurate",
    flaw="it averages rotation vectors, and uses a velocity in the wrong frame: order 2, not 4; use ABAM",
)
@jit
def adams(h, t, s, body, torque, p):
    """Adams-Bashforth-Moulton with averaged rotation vectors and a velocity in the wrong frame, as Buss ran it."""
    k0, f0 = spatial_rates(t, s.q, s.pi, body, torque, p)
    if s.taken < 3.0:
        q, pi = in_five(h, t, s.q, s.pi, body, torque, p)
        calls = 6.0
    else:
        q_p = turned(s.q, scale(h, bashforth(k0, s.k1, s.k2, s.k3)))
        pi_p = axpy(h, bashforth(f0, s.f1, s.f2, s.f3), s.pi)
        Om_p = times(body.Iinv, qrotate_t(q_p, pi_p))
        f_p = torque.spatial(t + h, matrix(q_p), Om_p, p)
        # R Om_p for R_p Om_p: the slip
        q = turned(s.q, scale(h, moulton(qrotate(s.q, Om_p), k0, s.k1, s.k2)))
        pi = axpy(h, moulton(f_p, f0, s.f1, s.f2), s.pi)
        calls = 2.0
    return VelocityHistory(q, pi, s.taken + 1.0, k0, s.k1, s.k2, f0, s.f1, s.f2, calls)


# --- Simo-Wong ------------------------------------------------------------------------------------


class Remembered(NamedTuple):
    q: Quaternion
    pi: Vector
    before: Vector  # body velocity one step ago
    f: Vector  # spatial torque at the end of the last step


@jit
def start_remembered(h, t, q, Om, body, torque, p):
    return Remembered(q, qrotate(q, times(body.I, Om)), Om, torque.spatial(t, matrix(q), Om, p))


@method(
    "SW-buss",
    state=Remembered,
    start=start_remembered,
    order=1,
    torques=1,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    multistep=True,
    family="buss",
    cite="buss2001accurate",
    flaw="the acceleration enters with one factor h too many: order 1, not 2; use SW",
)
@jit
def simo_wong(h, t, s, body, torque, p):
    """Simo-Wong with the acceleration times h, as Buss ran it."""
    Om = times(body.Iinv, qrotate_t(s.q, s.pi))
    hA = sub(Om, s.before)
    q = renormalise(qmul(s.q, qexp(scale(h, axpy(0.5 * h, hA, Om)))))
    f = torque.spatial(t + h, matrix(q), add(Om, hA), p)
    return Remembered(q, axpy(0.5 * h, add(s.f, f), s.pi), Om, f)
