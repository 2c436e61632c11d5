"""The symmetric heavy top in theta functions: its Cayley-Klein parameters at a given time.

Klein & Sommerfeld 1898, Theorie des Kreisels II; Whittaker 1937, sections 71-72.

    alpha = w + iz = cos(theta/2) exp(i (phi + psi)/2),   beta = x + iy = sin(theta/2) exp(i (phi - psi)/2)

for the quaternion (x, y, z, w).  With u = cos theta = u1 + (u2 - u1) sn^2 both 1 + u and 1 - u have two zeros and the double
pole of sn^2 in a period, and

    alpha ~ exp(i Lambda t) theta_1(z + i s) / theta_4(z),   beta ~ exp(i Lambda' t) theta_2(z + i s') / theta_4(z):

entire functions over a common denominator, smooth where the axis passes through the vertical.  The
numerals below are integers, so that the same lines run on decimals.
"""

import math
from typing import NamedTuple

from polhode.core.closed.double_double import dd_add, dd_times
from polhode.core.jit import jit
from polhode.core.scalars import nearest, sincos
from polhode.core.vec import normalise

Pair = tuple[float, float]
Eight = tuple[float, float, float, float, float, float, float, float]


class Part(NamedTuple):
    """One of alpha and beta."""

    rate: Pair  # Lambda
    factor: Pair  # complex amplitude
    side: float  # +1: the complex conjugate of the theta function
    form: Eight  # its coefficients


class Top(NamedTuple):
    """A motion of the top; `at` evaluates it."""

    alpha: Part
    beta: Part
    rate: Pair  # of z, or of y near the separatrix
    period: Pair  # of y; zero away from the separatrix
    start: Pair  # exp(i z0), or y0 as a pair
    nome: float
    spin: float  # angular velocity about the axis of symmetry


@jit
def far_form(x, y, f):
    """theta_1(z + i s) and its derivative, (x, y) = exp(iz): sum (-1)^n (A_n sin (2n+1)z + i B_n cos (2n+1)z)."""
    c2, s2 = (x - y) * (x + y), 2 * x * y
    x3, y3 = x * c2 - y * s2, x * s2 + y * c2
    x5, y5 = x3 * c2 - y3 * s2, x3 * s2 + y3 * c2
    x7, y7 = x5 * c2 - y5 * s2, x5 * s2 + y5 * c2
    a0, a1, a2, a3, b0, b1, b2, b3 = f
    return (
        (a0 * y - a1 * y3 + a2 * y5 - a3 * y7, b0 * x - b1 * x3 + b2 * x5 - b3 * x7),
        (
            a0 * x - 3 * a1 * x3 + 5 * a2 * x5 - 7 * a3 * x7,
            -b0 * y + 3 * b1 * y3 - 5 * b2 * y5 + 7 * b3 * y7,
        ),
    )


@jit
def far_below(x, y, q):
    """theta_4(z)."""
    c2, s2 = (x - y) * (x + y), 2 * x * y
    c4 = 2 * c2 * c2 - 1
    q4 = q * q * q * q
    return 1 - 2 * q * c2 + 2 * q4 * c4 - 2 * q4 * q4 * q * (c2 * c4 - s2 * (2 * s2 * c2))


@jit
def near_below(e, g, p):
    """2 exp(-y) theta_2(iy | p) / 2 p^(1/4), e = exp(-y), g = p/e."""
    e2, g2, p2 = e * e, g * g, p * p
    return 1 + e2 + g2 + p2 * (e2 * e2 + g2 * g2) + p2 * p2 * p2 * (e2 * e2 * e2 + g2 * g2 * g2)


@jit
def near_sine(e, g, p, f):
    """2 exp(-y) sum (-1)^n p^(n(n+1)) sinh (2n+1)(y + i chi) and its derivative: theta_1(z + i s) transformed."""
    c, s = f[0], f[1]
    c2, s2 = (c - s) * (c + s), 2 * c * s
    c3, s3 = c * c2 - s * s2, c * s2 + s * c2
    c5, s5 = c3 * c2 - s3 * s2, c3 * s2 + s3 * c2
    c7, s7 = c5 * c2 - s5 * s2, c5 * s2 + s5 * c2
    e2, g2, p2 = e * e, g * g, p * p
    e4, g4, p6 = e2 * e2, g2 * g2, p2 * p2 * p2
    u1, d1 = g2, p2 * e4
    u2, d2 = p2 * g4, p6 * e4 * e2
    u3, d3 = p6 * g4 * g2, p6 * p6 * e4 * e4
    return (
        (
            (1 - e2) * c - (u1 - d1) * c3 + (u2 - d2) * c5 - (u3 - d3) * c7,
            (1 + e2) * s - (u1 + d1) * s3 + (u2 + d2) * s5 - (u3 + d3) * s7,
        ),
        (
            (1 + e2) * c - 3 * (u1 + d1) * c3 + 5 * (u2 + d2) * c5 - 7 * (u3 + d3) * c7,
            (1 - e2) * s - 3 * (u1 - d1) * s3 + 5 * (u2 - d2) * s5 - 7 * (u3 - d3) * s7,
        ),
    )


@jit
def near_cosine(e, g, p, f):
    """2 exp(-y) (1 + 2 sum (-1)^n p^(n^2) cosh 2n(y + i chi)) and its derivative: theta_2(z + i s) transformed."""
    c, s = f[0], f[1]
    c2, s2 = (c - s) * (c + s), 2 * c * s
    c4, s4 = (c2 - s2) * (c2 + s2), 2 * c2 * s2
    c6, s6 = c4 * c2 - s4 * s2, c4 * s2 + s4 * c2
    c8, s8 = (c4 - s4) * (c4 + s4), 2 * c4 * s4
    e2, g2 = e * e, g * g
    e3, g3, p4 = e * e2, g * g2, p * p * p * p
    p9 = p4 * p4 * p
    v1, w1 = g, p * e3
    v2, w2 = p * g3, p4 * e3 * e2
    v3, w3 = p4 * g3 * g2, p9 * e3 * e2 * e2
    v4 = p9 * g3 * g2 * g2
    return (
        (
            2 * (e - (v1 + w1) * c2 + (v2 + w2) * c4 - (v3 + w3) * c6 + v4 * c8),
            2 * (-(v1 - w1) * s2 + (v2 - w2) * s4 - (v3 - w3) * s6 + v4 * s8),
        ),
        (
            4 * (-(v1 - w1) * c2 + 2 * (v2 - w2) * c4 - 3 * (v3 - w3) * c6 + 4 * v4 * c8),
            4 * (-(v1 + w1) * s2 + 2 * (v2 + w2) * s4 - 3 * (v3 + w3) * s6 + 4 * v4 * s8),
        ),
    )


@jit
def _times(x, y):
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


@jit
def _part(t, part, rate, lag, F, D, below):
    """A Cayley-Klein parameter and its derivative but for a real multiple of itself: F, D the theta
    function and dF/dz."""
    spin = dd_add(dd_times(part.rate, t), (part.side * lag, 0.0))
    s, c = sincos(spin[0])
    factor = _times((c - spin[1] * s, s + spin[1] * c), part.factor)
    a, b = _times(factor, (F[0] / below, -part.side * F[1] / below))
    x, y = _times(factor, (rate * D[0] / below, -part.side * rate * D[1] / below))
    return (a, b), (x - part.rate[0] * b, y + part.rate[0] * a)


@jit
def at(t, c):
    """(q, omega) at time t."""
    if c.period[0] > 0.0:
        y = dd_add(dd_times(c.rate, t), c.start)
        n = nearest(y[0] / c.period[0])
        if n != 0.0:
            y = dd_add(y, dd_times(c.period, -n))
        y = y[0]
        sign = 1.0 if y >= 0.0 else -1.0
        flip = 1.0 - 2.0 * abs(n - 2.0 * nearest(0.5 * n))
        e = math.exp(-abs(y))
        g = c.nome / e if e > 1e-300 else 0.0
        below = flip * near_below(e, g, c.nome)
        S, dS = near_sine(e, g, c.nome, c.alpha.form)
        Q, dQ = near_cosine(e, g, c.nome, c.beta.form)
        k, l = c.alpha.form[2], c.beta.form[2]  # the lag 2 chi/period, per y
        S, dS = (sign * S[0], S[1]), (dS[0], sign * dS[1])
        Q, dQ = (Q[0], sign * Q[1]), (sign * dQ[0], dQ[1])
        dS, dQ = (dS[0] + k * S[1], dS[1] - k * S[0]), (dQ[0] + l * Q[1], dQ[1] - l * Q[0])
        alpha, da = _part(t, c.alpha, c.rate[0], k * y, S, dS, below)
        beta, db = _part(t, c.beta, c.rate[0], l * y, Q, dQ, below)
    else:
        z = dd_times(c.rate, t)
        s, x = sincos(z[0])
        x, y = _times((x - z[1] * s, s + z[1] * x), c.start)
        below = far_below(x, y, c.nome)
        S, dS = far_form(x, y, c.alpha.form)
        Q, dQ = far_form(-y, x, c.beta.form)
        alpha, da = _part(t, c.alpha, c.rate[0], 0.0, S, dS, below)
        beta, db = _part(t, c.beta, c.rate[0], 0.0, Q, dQ, below)
    # omega_1 + i omega_2 = 2 (conj(alpha) beta' - beta conj(alpha'))
    x = _times((alpha[0], -alpha[1]), db)
    y = _times(beta, (da[0], -da[1]))
    return normalise((beta[0], beta[1], alpha[1], alpha[0])), (
        2.0 * (x[0] - y[0]),
        2.0 * (x[1] - y[1]),
        c.spin,
    )
