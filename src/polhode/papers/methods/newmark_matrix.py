"""NMB on the attitude matrix itself, as Krysl & Endres 2004 wrote it: R' = R exp(h W), product
after product.

Rounding then takes R off the rotation group, slowly: figure 9 shows it in the projection pi.chi of
the spatial momentum on the axis of a symmetric top, which is Pi_3 as long as R is orthogonal.
NMB-matrix leaves it at that; NMB-matrix-orth brings R back at every step by R (3 - R^T R)/2, one
Newton step towards the nearest rotation.  The quaternion in the state is read off R for output.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Matrix, Quaternion, Vector
from polhode.core.vec import axpy, exp, madd, matmul, matrix, mscale, quaternion, scale, transpose
from polhode.methods._registry import method
from polhode.methods.newmark import acceleration, velocity


class MatrixState(NamedTuple):
    q: Quaternion
    Om: Vector
    A: Vector
    R: Matrix
    residual: float


@jit
def start(h, t, q, Om, body, torque, p):
    R = matrix(q)
    return MatrixState(q, Om, acceleration(Om, torque.body(t, R, Om, p), body), R, 0.0)


@jit
def as_it_is(R):
    return R


@jit
def orthogonal(R):
    """R (3 - R^T R)/2: errors of the size of round-off disappear."""
    return madd(mscale(1.5, R), mscale(-0.5, matmul(R, matmul(transpose(R), R))))


@jit
def newmark_matrix(mend, h, t, s, body, torque, p):
    W = axpy(0.5 * h, s.A, s.Om)
    R = mend(matmul(s.R, exp(scale(h, W))))
    expected = axpy(h, s.A, s.Om)
    T = torque.body(t + h, R, expected, p)
    Om, residual = velocity(0.5 * h, W, T, expected, body)
    return MatrixState(quaternion(R), Om, acceleration(Om, T, body), R, residual)


@method(
    "NMB-matrix",
    state=MatrixState,
    start=start,
    order=2,
    torques=1,
    solves=1,
    symmetric=True,
    symplectic=False,
    family="newmark",
    cite="krysl2004explicit",
    flaw="round-off takes the matrix off the rotation group; use NMB",
)
@jit
def step(h, t, s, body, torque, p):
    """Explicit Newmark on the attitude matrix, never re-orthogonalised."""
    return newmark_matrix(as_it_is, h, t, s, body, torque, p)


@method(
    "NMB-matrix-orth",
    state=MatrixState,
    start=start,
    order=2,
    torques=1,
    solves=1,
    symmetric=True,
    symplectic=False,
    family="newmark",
    cite="krysl2004explicit",
)
@jit
def step_orthogonal(h, t, s, body, torque, p):
    """Explicit Newmark on the attitude matrix, re-orthogonalised at every step."""
    return newmark_matrix(orthogonal, h, t, s, body, torque, p)
