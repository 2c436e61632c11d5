"""The stress test of Bou-Rabee, Ortolan & Saccon 2009: a shell about the identity and an attractor."""

import math

from polhode.core.fma import fma
from polhode.core.vec import apply_t, matrix, qconj, qmul


def _vee(A):
    """v with tr(A y^) = -v . y."""
    return (A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1])


def _distance(A):
    """|Q2 - Q1| in the Frobenius norm, BR (6), from A = Q1^T Q2."""
    return math.sqrt(2.0 * (3.0 - A[0][0] - A[1][1] - A[2][2]))


def _towards(M, R):
    """M^T R."""
    a, b, c = (
        apply_t(M, (R[0][0], R[1][0], R[2][0])),
        apply_t(M, (R[0][1], R[1][1], R[2][1])),
        apply_t(M, (R[0][2], R[1][2], R[2][2])),
    )
    return ((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2]))


def stress(t, R, p):
    A = _towards(matrix(p.attractor), R)
    d = _distance(A)
    shell = 2.0 / _distance(R) - 2.0
    pull = -p.alpha / (d * d * d)
    v, w = _vee(R), _vee(A)
    return (shell * v[0] + pull * w[0], shell * v[1] + pull * w[1], shell * v[2] + pull * w[2])


def stress_at(t, q, p):
    """|Q2 - Q1|^2 = 8 |v|^2 with v the vector of conj(q1) q2, and _vee(Q1^T Q2) = 4 w v."""
    x, y, z, w = q
    a, b, c, d = qmul(qconj(p.attractor), q)
    square = 8.0 * (fma(a, a, b * b) + c * c)
    shell = (8.0 / math.sqrt(8.0 * (fma(x, x, y * y) + z * z)) - 8.0) * w
    pull = -4.0 * p.alpha * d / (square * math.sqrt(square))
    return (fma(pull, a, shell * x), fma(pull, b, shell * y), fma(pull, c, shell * z))


def stress_potential(t, R, p):
    shell = _distance(R) - 1.0
    return shell * shell - p.alpha / _distance(_towards(matrix(p.attractor), R))
