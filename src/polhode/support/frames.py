"""Principal axes and nearest rotations in plain arithmetic, so that they are the same bits on every
processor.

LAPACK, and BLAS behind every ``@`` of NumPy, choose their loops by the processor and round accordingly; where two moments of
inertia agree, so that directions between them are free, the axes that LAPACK gives are made of rounding alone.  Here everything
is + - * / and sqrt in a fixed order, each rounded as IEEE 754 says, and directions that a tensor leaves free are chosen by rule:
the axes are the rotation nearest to the identity.

Jacobi's rotation in the plane (p, q) takes A_pq to zero; r is the third axis:

    t^2 + 2 t (A_qq - A_pp) / (2 A_pq) - 1 = 0, the root |t| <= 1,   c = 1/sqrt(1 + t^2),   s = t c
    A_pp -= t A_pq,   A_qq += t A_pq,   (A_rp, A_rq) <- (c A_rp - s A_rq, s A_rp + c A_rq),   columns p, q of V likewise

Equal to rounding, two moments are made equal.  Their plane is then known by its normal n alone, and
the rotation that takes e_k to n by the shortest way, with k the axis next to n, is the nearest to
the identity:

    R = 1 + w^ + w^^2 / (1 + n_k),   w = e_k x n.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from polhode.core.vec import IDENTITY, cross, dot, matmul, rodrigues, scale, transpose

# moments that differ by less, relative to the largest, differ by rounding
EQUAL = 16 * np.finfo(float).eps
TIE = 1e-9  # orders of the axes that are as near to the identity as each other: the first is taken
SWEEPS = 30  # a sweep squares what is left: 10 are enough


def rows_times(v: np.ndarray, M: np.ndarray) -> np.ndarray:
    """v M for row vectors v (..., 3) and matrices M (..., 3, 3), term by term: the same bits for
    one vector as for many."""
    return v[..., :1] * M[..., 0, :] + v[..., 1:2] * M[..., 1, :] + v[..., 2:] * M[..., 2, :]


def nearest_rotation(R: Any) -> Any:
    """The rotation nearest to a matrix (rows) that is one to 1e-6: R (3 - R^T R)/2, twice, squares
    the distance twice."""
    for _ in range(2):
        W = matmul(transpose(R), R)
        R = matmul(
            R, tuple(tuple(1.5 * (i == j) - 0.5 * W[i][j] for j in range(3)) for i in range(3))
        )
    return R


def principal_axes(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments and axes of a symmetric tensor (3, 3) with entries of about 1: tensor = axes
    diag(moments) axes^T.

    The axes are a rotation, and of all that diagonalise the tensor to rounding the nearest to the
    identity.
    """
    moments, V = _jacobi(tensor.tolist())
    order = _nearest_order(V)
    moments = [moments[k] for k in order]
    V = [[-row[k] if V[i][k] < 0.0 else row[k] for i, k in enumerate(order)] for row in V]
    moments, axes = _settled(moments, nearest_rotation(V))
    return np.array(moments), np.array(axes)


def _jacobi(A):
    """Eigenvalues, and eigenvectors as columns, in the order in which the rotations leave them."""
    # off[r] is A_pq, r the third axis
    d, off = [A[i][i] for i in range(3)], [A[1][2], A[0][2], A[0][1]]
    V = [list(row) for row in IDENTITY]
    for _ in range(SWEEPS):
        if not any(off):
            break
        for p, q, r in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
            if off[r] == 0.0:
                continue
            cot = (d[q] - d[p]) / (2.0 * off[r])
            t = math.copysign(1.0, cot) / (abs(cot) + math.sqrt(1.0 + cot * cot))
            c = 1.0 / math.sqrt(1.0 + t * t)
            s = t * c
            d[p], d[q], off[r] = d[p] - t * off[r], d[q] + t * off[r], 0.0
            off[q], off[p] = c * off[q] - s * off[p], s * off[q] + c * off[p]
            for row in V:
                row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
    return d, V


def _nearest_order(V):
    """Which column goes where, for the largest sum of |V_ii|.

    With the diagonal made positive that is the trace.  It is never below 1/2 + sqrt 2, and a
    reflection has trace 1 at most: the axes are then a rotation, and no entry of the diagonal is
    near zero, where its sign would be rounding.
    """
    sums = {
        order: sum(abs(V[i][k]) for i, k in enumerate(order))
        for order in itertools.permutations(range(3))
    }
    least = max(sums.values()) - TIE
    return next(order for order, found in sums.items() if found >= least)


def _settled(moments, axes):
    """Moments that agree to rounding made equal, and the directions between them, which are then
    free, chosen by rule."""
    allowed = EQUAL * max(map(abs, moments))
    if max(moments) - min(moments) <= allowed:
        return [sum(moments) / 3.0] * 3, IDENTITY
    # j is the axis between the other two
    apart, j = min((abs(moments[j - 2] - moments[j - 1]), j) for j in range(3))
    if apart > allowed:
        return moments, axes
    n = [row[j] for row in axes]
    largest = max(map(abs, n)) - TIE
    k = next(i for i in range(3) if abs(n[i]) >= largest)
    alone, equal = moments[j], 0.5 * (moments[j - 2] + moments[j - 1])
    return [alone if i == k else equal for i in range(3)], _shortest_way(
        n if n[k] > 0.0 else [-x for x in n], k
    )


def _shortest_way(n, k):
    """The rotation by the smallest angle that takes the axis e_k to the unit vector n, n_k > 0."""
    n = scale(1.0 / math.sqrt(dot(n, n)), n)
    return rodrigues(1.0, 1.0 / (1.0 + n[k]), cross(IDENTITY[k], n))
