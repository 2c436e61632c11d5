"""Gauss-Legendre collocation, 8 stages, order 16.  Hairer, Lubich & Wanner 2006, II.1; Hairer,
McLachlan & Razakarivony 2008.

    k_i = f(t + c_i h, y + h sum_j a_ij k_j),   y' = y + h sum_i b_i k_i

for y = (q, Pi), q' = q Om/2, Pi' = Pi x Om + T.  The stages are iterated until their change is round-off.  State and weights
are kept as sums of two doubles, so that what remains is the rounding of each step's increment: a random walk of steps far
smaller than the round-off of the state.
"""

from decimal import Decimal, localcontext
from functools import cache

import numpy as np

from polhode.core.closed.double_double import two_sum
from polhode.core.jit import jit
from polhode.core.vec import cross, matrix

STAGES = 8
SWEEPS = 60
torque = load_parameters = None  # bound per torque

CONVERGED, UNSOLVED = 0, 1


@cache
def coefficients():
    """a (8, 8), b as high and low parts (2, 8), c (8,), from 60 digits."""
    with localcontext() as context:
        context.prec = 60
        c = [(1 + _node(Decimal(float(x)))) / 2 for x in np.polynomial.legendre.leggauss(STAGES)[0]]
        integrals = [_integrated(c, j) for j in range(STAGES)]
        a = np.array([[float(_value(p, x)) for p in integrals] for x in c])
        b = [_value(p, Decimal(1)) for p in integrals]
        high = [float(x) for x in b]
        low = [float(x - Decimal(h)) for x, h in zip(b, high, strict=True)]
    return a, np.array([high, low]), np.array([float(x) for x in c])


def _node(x):
    """A zero of the Legendre polynomial, by Newton's method."""
    for _ in range(4):
        before, p = Decimal(1), x
        for n in range(1, STAGES):
            before, p = p, ((2 * n + 1) * x * p - n * before) / (n + 1)
        x -= p * (x * x - 1) / (STAGES * (x * p - before))
    return x


def _integrated(c, j):
    """Coefficients of the integral from 0 of the Lagrange polynomial that is 1 at c_j."""
    p = [Decimal(1)]
    for m, other in enumerate(c):
        if m != j:
            scale = c[j] - other
            p = [
                ((p[i - 1] if i else 0) - (other * p[i] if i < len(p) else 0)) / scale
                for i in range(len(p) + 1)
            ]
    return [Decimal(0)] + [x / (i + 1) for i, x in enumerate(p)]


def _value(p, x):
    return sum(coefficient * x**i for i, coefficient in enumerate(p))


@jit
def slope(t, y, I, torque, p, k):
    """k = f(t, y)."""
    q, Pi = (y[0], y[1], y[2], y[3]), (y[4], y[5], y[6])
    # not times 1/I, whose rounding would be the same in every step
    Om = (Pi[0] / I[0], Pi[1] / I[1], Pi[2] / I[2])
    T = torque.body(t, matrix(q), Om, p)
    C = cross(Pi, Om)
    k[0] = 0.5 * (q[3] * Om[0] + q[1] * Om[2] - q[2] * Om[1])
    k[1] = 0.5 * (q[3] * Om[1] + q[2] * Om[0] - q[0] * Om[2])
    k[2] = 0.5 * (q[3] * Om[2] + q[0] * Om[1] - q[1] * Om[0])
    k[3] = -0.5 * (q[0] * Om[0] + q[1] * Om[1] + q[2] * Om[2])
    for i in range(3):
        k[4 + i] = C[i] + T[i]


def gauss(t0, h, rest_of_h, first, count, y, low, moments, parameters, a, b, c, k, new):
    """`count` steps of size h + rest_of_h from y + low, which are changed in place; `first` were taken
    from t0 before.  Work space k (8, 7), new (8, 7).

    Returns (CONVERGED or UNSOLVED, evaluations).
    """
    I = (moments[0, 0], moments[1, 0], moments[2, 0])
    p = load_parameters(parameters, 0)
    at = new[0].copy()
    evaluations = 0
    for n in range(first, first + count):
        t = t0 + n * h
        slope(t, y, I, torque, p, at)
        for i in range(STAGES):
            k[i] = at
        last = np.inf
        solved = False
        for _ in range(SWEEPS):
            change = 0.0
            size = 0.0
            for i in range(STAGES):
                for d in range(7):
                    total = 0.0
                    for j in range(STAGES):
                        total += a[i, j] * k[j, d]
                    at[d] = y[d] + (low[d] + h * total)
                slope(t + c[i] * h, at, I, torque, p, new[i])
            for i in range(STAGES):
                for d in range(7):
                    change = max(change, abs(new[i, d] - k[i, d]))
                    size = max(size, abs(new[i, d]))
                    k[i, d] = new[i, d]
            evaluations += STAGES
            # at round-off the changes stop shrinking
            if change <= 1e-16 * size or (change >= last and change <= 1e-13 * size):
                solved = True
                break
            last = change
        if not solved:
            return UNSOLVED, evaluations
        for d in range(7):
            main = 0.0
            rest = 0.0
            for i in range(STAGES):
                main += b[0, i] * k[i, d]
                rest += b[1, i] * k[i, d]
            s, e = two_sum(y[d], h * main)
            low[d] = low[d] + (e + (h * rest + rest_of_h * main))
            y[d], low[d] = two_sum(s, low[d])
    return CONVERGED, evaluations
