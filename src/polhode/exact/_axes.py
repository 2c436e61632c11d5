"""Principal axes to more digits than a double has: a long time multiplies the error of a moment of
inertia."""

from decimal import Decimal, localcontext

import numpy as np

from polhode.exact._decimal import pair

DIGITS = 50
SWEEPS = 12


def _product(A, B):
    return [[sum(A[i][k] * B[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def _transposed(A):
    return [list(row) for row in zip(*A, strict=True)]


def _jacobi(B, V):
    """Jacobi's sweeps: V^T B V becomes diagonal; B and V are changed in place."""
    for _ in range(SWEEPS):
        if max(abs(B[0][1]), abs(B[0][2]), abs(B[1][2])) < Decimal(10) ** (5 - DIGITS) * (
            B[0][0] + B[1][1] + B[2][2]
        ):
            return
        for p, q in ((0, 1), (0, 2), (1, 2)):
            if B[p][q] == 0:
                continue
            cot = (B[q][q] - B[p][p]) / (2 * B[p][q])
            t = (1 if cot >= 0 else -1) / (abs(cot) + (1 + cot * cot).sqrt())
            c = 1 / (1 + t * t).sqrt()
            turn = [[Decimal(i == j) for j in range(3)] for i in range(3)]
            turn[p][p] = turn[q][q] = c
            turn[p][q], turn[q][p] = t * c, -t * c
            B[:] = _product(_transposed(turn), _product(B, turn))
            V[:] = _product(V, turn)


def principal(body):
    """Moments (2, 3) and axes (2, 3, 3) of a body, each as high and low parts.

    The high parts are the body's own, but for moments that agree to rounding, which a body makes
    equal, and axes between them."""
    if body.is_principal:
        return np.stack([body.moments, np.zeros(3)]), np.stack([body.axes, np.zeros((3, 3))])
    with localcontext() as context:
        context.prec = DIGITS
        V = [[Decimal(x) for x in row] for row in body.axes.tolist()]
        tensor = [[Decimal(x) for x in row] for row in body.inertia.tolist()]
        for _ in range(3):  # V (3 - V^T V) / 2: orthogonal to 1e-16, 1e-32, all digits
            W = _product(_transposed(V), V)
            V = _product(V, [[(3 * (i == j) - W[i][j]) / 2 for j in range(3)] for i in range(3)])
        B = _product(_transposed(V), _product(tensor, V))
        _jacobi(B, V)
        moments = np.array([pair(B[i][i]) for i in range(3)]).T
        axes = np.moveaxis(np.array([[pair(x) for x in row] for row in V]), -1, 0)
    return moments, axes
