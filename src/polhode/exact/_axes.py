"""Principal axes to more digits than a double has: a long time multiplies the error of a moment of
inertia."""

from decimal import Decimal, localcontext

import numpy as np

from polhode.core.vec import matmul, transpose
from polhode.exact._decimal import pair

DIGITS = 50
SWEEPS = 12


def _jacobi(B, V):
    """The diagonal matrix that Jacobi's sweeps make of B, and V times their rotations."""
    for _ in range(SWEEPS):
        if max(abs(B[0][1]), abs(B[0][2]), abs(B[1][2])) < Decimal(10) ** (5 - DIGITS) * (
            B[0][0] + B[1][1] + B[2][2]
        ):
            break
        for p, q in ((0, 1), (0, 2), (1, 2)):
            if B[p][q] == 0:
                continue
            cot = (B[q][q] - B[p][p]) / (2 * B[p][q])
            t = (1 if cot >= 0 else -1) / (abs(cot) + (1 + cot * cot).sqrt())
            c = 1 / (1 + t * t).sqrt()
            turn = [[Decimal(i == j) for j in range(3)] for i in range(3)]
            turn[p][p] = turn[q][q] = c
            turn[p][q], turn[q][p] = t * c, -t * c
            B, V = matmul(transpose(turn), matmul(B, turn)), matmul(V, turn)
    return B, V


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
            W = matmul(transpose(V), V)
            V = matmul(V, [[(3 * (i == j) - W[i][j]) / 2 for j in range(3)] for i in range(3)])
        B, V = _jacobi(matmul(transpose(V), matmul(tensor, V)), V)
        moments = np.array([pair(B[i][i]) for i in range(3)]).T
        axes = np.moveaxis(np.array([[pair(x) for x in row] for row in V]), -1, 0)
    return moments, axes
