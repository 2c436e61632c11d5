"""Discrete Moser-Veselov (DMV) and its corrections.  Moser & Veselov 1991; McLachlan & Zanna 2005;
Hairer & Vilmart 2006.

The free flow, with the unit quaternion (v, w) of the rotation F:

    w I v + v x I v = h Pi/2,  w = sqrt(1 - |v|^2);    R' = R F,  Pi' = F^T Pi

It conserves momentum and energy and is symplectic: it is the exact flow over h of another
Hamiltonian, with x_i = 1/I_i,

    K(H, C) = H + h^2 K3(H, C) + h^4 K5(H, C) + ...,     H = Pi.I^-1 Pi/2,  C = Pi.Pi/2

H and C are constant, and so are a = dK/dH and b = dK/dC.  That flow is the true motion for the time
h a, followed by a rotation about the momentum by h b.  DMV4 and DMV6 choose the step h~ with
h~ a(h~) = h, to fourth and sixth order: this raises the order of the body momentum but not that of
the attitude.  DMV4+att and DMV6+att also rotate the attitude back by h~ b(h~).  Since h~ depends on
H and C, the map is still symplectic in the body momentum alone, but not in attitude and momentum
together.  There is no solution beyond about h |Pi| = I.  The torque acts as half kicks, so the
order with a torque is two.

h~ is a polynomial in h.  It may have a maximum; beyond that it shrinks and becomes negative,
although the equation of DMV may still have a solution.  Such a step is rejected, by a check that is
not in the papers.  On the free body of Krysl & Endres (|Pi| = 1, I from 0.9 to 1.7) DMV has
solutions up to h = 1.06.  DMV4 is rejected from h = 1.22 on, where h~ = 0.81 is largest, although
its equation could be solved up to 2.5, with h~ = -1.02.  DMV6 has no solution above 1.40.
"""

import math
from functools import partial

from polhode.core.constant import Constant
from polhode.core.jit import jit
from polhode.core.kicks import KickedState, start
from polhode.core.newton import differences, gyroscopic_tangent, newton, products, size
from polhode.core.vec import (
    add,
    cross,
    dot,
    madd,
    outer,
    qexp,
    qmul,
    qrotate_t,
    renormalise,
    scale,
    sub,
    times,
)
from polhode.methods._kicked import in_flight, in_system, kicked
from polhode.methods._registry import method

LIMIT = "there is no solution beyond about h |Pi| = I"
CORRECTED = (
    "there is no solution beyond about h~ |Pi| = I, h~ the corrected step; and a step so long that h~ no longer grows "
    "with it is rejected, since the series for h~ is not valid there"
)
SMALLEST = Constant(1e-12, single=1e-6)  # w^2 where |v| >= 1, which is no solution


@jit
def turn(v, data):
    """w I v + v x I v - h Pi/2, its tangent, and the size of its terms."""
    half, I = data
    Iv, g = times(I, v), differences(I)
    rest = 1.0 - dot(v, v)
    w = math.sqrt(rest if rest > SMALLEST else SMALLEST)
    along, across = scale(w, Iv), times(g, products(v))
    F = sub(add(along, across), half)
    DF = madd(gyroscopic_tangent(scale(w, I), g, v), outer(scale(-1.0 / w, Iv), v))
    return F, DF, size(along) + size(across) + size(half)


@jit
def moser_veselov(h, q, Pi, body):
    """The free flow over h."""
    half = scale(0.5 * h, Pi)
    v = times(body.Iinv, half)
    v, residual = newton(turn, sub(v, times(body.Iinv, cross(v, half))), (half, body.I))
    rest = 1.0 - dot(v, v)
    turned = (v[0], v[1], v[2], math.sqrt(rest if rest > SMALLEST else SMALLEST))
    # |v| >= 1 solves the guarded equation, not the true one; and a NaN is no solution either
    residual = residual if residual < 1.0 and rest > SMALLEST else 1.0
    return renormalise(qmul(q, turned)), qrotate_t(turned, Pi), residual


@jit
def symmetric_polynomials(x):
    """e1, e2, e3 of three numbers."""
    return x[0] + x[1] + x[2], x[0] * x[1] + x[1] * x[2] + x[2] * x[0], x[0] * x[1] * x[2]


@jit
def in_steps(h, Pi, body):
    """x and Pi in units of I1 and h, in which the step is 1: their high powers then stay in range,
    whatever the user's units."""
    return scale(body.I[0], body.Iinv), scale(h * body.Iinv[0], Pi)


@jit
def rates(x, Pi):
    """(a3, b3, a5, b5): the derivatives of K3 and K5 with respect to H and C."""
    e1, e2, e3 = symmetric_polynomials(x)
    H, C = 0.5 * dot(Pi, times(x, Pi)), 0.5 * dot(Pi, Pi)
    a3 = (2.0 * e1 * H - e2 * C) / 6.0
    b3 = (2.0 * e3 * C - e2 * H) / 6.0
    k30, k21, k12, k03 = (
        0.1 * e1 * e1 - 0.05 * e2,
        0.1 * e3 - 0.15 * e1 * e2,
        0.1 * e1 * e3 + 0.05 * e2 * e2,
        -0.05 * e2 * e3,
    )
    a5 = 3.0 * k30 * H * H + 2.0 * k21 * H * C + k12 * C * C
    b5 = k21 * H * H + 2.0 * k12 * H * C + 3.0 * k03 * C * C
    return a3, b3, a5, b5


@jit
def corrected(c3, c5):
    """h~ = h + c3 h^3 + c5 h^5 at h = 1, and whether it still grows with h; if not, the step is refused."""
    return 1.0 + c3 + c5, 1.0 + 3.0 * c3 + 5.0 * c5 > 0.0


@jit
def drift4(h, q, Pi, body):
    a3, _, _, _ = rates(*in_steps(h, Pi, body))
    k, sound = corrected(-a3, 0.0)
    q, Pi, residual = moser_veselov(h * k, q, Pi, body)
    return q, Pi, residual if sound else 1.0


@jit
def drift6(h, q, Pi, body):
    a3, _, a5, _ = rates(*in_steps(h, Pi, body))
    k, sound = corrected(-a3, 3.0 * a3 * a3 - a5)
    q, Pi, residual = moser_veselov(h * k, q, Pi, body)
    return q, Pi, residual if sound else 1.0


@jit
def drift4_att(h, q, Pi, body):
    x, P = in_steps(h, Pi, body)
    a3, b3, _, _ = rates(x, P)
    k, _ = corrected(-a3, 0.0)
    return drift4(h, qmul(q, qexp(scale(-k * k * k * b3, P))), Pi, body)


@jit
def drift6_att(h, q, Pi, body):
    x, P = in_steps(h, Pi, body)
    a3, b3, a5, b5 = rates(x, P)
    k, _ = corrected(-a3, 3.0 * a3 * a3 - a5)
    z = k * k
    return drift6(h, qmul(q, qexp(scale(-k * z * (b3 + z * b5), P))), Pi, body)


dmv_method = partial(
    method,
    state=KickedState,
    start=start,
    order=2,
    torques=1,
    solves=1,
    symmetric=True,
    conserves=("momentum", "energy"),
    family="variational",
    flight=in_flight,
    system=in_system,
)
corrected_method = partial(
    dmv_method, symplectic="orbits", limit=CORRECTED, builds_on=("moser1991discrete",)
)


@dmv_method("DMV", symplectic=True, limit=LIMIT, cite="moser1991discrete")
@jit
def step(h, t, s, body, torque, p):
    """Discrete Moser-Veselov: integrable like the free body itself."""
    return kicked(moser_veselov, h, t, s, body, torque, p)


@corrected_method("DMV4", free_order=(2, 4), cite="mclachlan2005discrete")
@jit
def step_4(h, t, s, body, torque, p):
    """Discrete Moser-Veselov with the step corrected: the free momentum is of order 4."""
    return kicked(drift4, h, t, s, body, torque, p)


@corrected_method("DMV6", free_order=(2, 6), cite="mclachlan2005discrete")
@jit
def step_6(h, t, s, body, torque, p):
    """Discrete Moser-Veselov with the step corrected: the free momentum is of order 6."""
    return kicked(drift6, h, t, s, body, torque, p)


@corrected_method("DMV4+att", free_order=(4, 4), cite="hairer2006preprocessed")
@jit
def step_4_att(h, t, s, body, torque, p):
    """Discrete Moser-Veselov with step and attitude corrected: the free motion is of order 4."""
    return kicked(drift4_att, h, t, s, body, torque, p)


@corrected_method("DMV6+att", free_order=(6, 6), cite="hairer2006preprocessed")
@jit
def step_6_att(h, t, s, body, torque, p):
    """Discrete Moser-Veselov with step and attitude corrected: the free motion is of order 6."""
    return kicked(drift6_att, h, t, s, body, torque, p)
