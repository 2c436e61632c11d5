"""Explicit Newmark on SO(3), spatial frame (NMS).  Krysl & Endres 2004, section 2.5.

    R' = exp(h w) R,  w = om + h/2 al
    i' al' + om' x i' om' = t(t', R'),  i = R I R^T        (20), (42)
    om' = w + h/2 al'

The trajectory is the same as that of NMB, equations (37) to (41): w is the axis of the rotation
that would transform it.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.newton import newton, size
from polhode.core.vec import (
    add,
    apply,
    axpy,
    cross,
    hat,
    madd,
    matmul,
    matrix,
    mscale,
    neg,
    outer,
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
from polhode.methods._system_newmark import with_newmark


class SpatialNewmarkState(NamedTuple):
    q: Quaternion
    om: Vector
    al: Vector
    residual: float


@jit
def inertia(R, I):
    """i = R I R^T, column by column."""
    a, b, c = (R[0][0], R[1][0], R[2][0]), (R[0][1], R[1][1], R[2][1]), (R[0][2], R[1][2], R[2][2])
    return madd(
        mscale(I[0], outer(a, a)), madd(mscale(I[1], outer(b, b)), mscale(I[2], outer(c, c)))
    )


@jit
def balance(a, data):
    """F(a) = i a + v x i v - t with v = w + h/2 a, its tangent i + h/2 (v^ i - (i v)^), and the size of its terms."""
    h, w, t, i = data
    v = axpy(0.5 * h, a, w)
    iv = apply(i, v)
    inertial, gyroscopic = apply(i, a), cross(v, iv)
    F = sub(add(inertial, gyroscopic), t)
    DF = madd(i, mscale(0.5 * h, madd(matmul(hat(v), i), hat(neg(iv)))))
    # v and i v of a fast top are nearly parallel
    return F, DF, size(inertial) + size(v) * size(iv) + size(t)


@jit
def start(h, t, q, Om, body, torque, p):
    T = qrotate_t(q, torque.spatial(t, matrix(q), Om, p))
    A = times(body.Iinv, sub(T, cross(Om, times(body.I, Om))))
    return SpatialNewmarkState(q, qrotate(q, Om), qrotate(q, A), 0.0)


@method(
    "NMS",
    state=SpatialNewmarkState,
    start=start,
    order=2,
    torques=1,
    solves=1,
    symmetric=True,
    symplectic=False,
    family="newmark",
    cite="krysl2004explicit",
    system=with_newmark,
)
@jit
def step(h, t, s, body, torque, p):
    """Explicit Newmark, spatial frame: the trajectory of NMB."""
    w = axpy(0.5 * h, s.al, s.om)
    q = renormalise(qmul(qexp(scale(h, w)), s.q))
    R = matrix(q)
    f = torque.spatial(t + h, R, qrotate_t(q, axpy(h, s.al, s.om)), p)
    al, residual = newton(balance, s.al, (h, w, f, inertia(R, body.I)))
    return SpatialNewmarkState(q, axpy(0.5 * h, al, w), al, residual)
