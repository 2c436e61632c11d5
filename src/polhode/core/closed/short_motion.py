"""The torque-free motion of a rigid body over a short time: straight-line code, exact to round-off.

*Momentum.*  Pi_i' = c_i Pi_j Pi_k with c_1 = 1/I3 - 1/I2 etc. is solved by Weierstrass's functions sqrt(p - e_i) = s_i/s, where s
and s_i are his sigma functions: with y_i = c_j c_k Pi_i^2 and e_i = (y_1 + y_2 + y_3)/3 - y_i, their addition theorem (Whittaker
& Watson 1927, chapter 20) reads

    Pi_i(t) = (Pi_i s_j s_k + c_i Pi_j Pi_k s_i s) / D,    D = s_1^2 - y_1 s^2 = s_2^2 - y_2 s^2 = s_3^2 - y_3 s^2,

all sigma functions at t.  No axis is special, nothing is sorted, and symmetric bodies are no exception.  The sigma functions are
entire: a few terms of their power series in t, with coefficients in e_i, g2 = 2 (e_1^2 + e_2^2 + e_3^2), g3 = 4 e_1 e_2 e_3, do.

*Attitude.*  With n = Pi/|Pi| at the beginning, N at the time t and T(N) the shortest rotation that takes N to n,

    R(t) = R exp(psi n) T(N),    psi' = Om(t).(n + N) / (1 + n.N),

where psi'' = 0 at the beginning.  psi is integrated by the rule of Gauss and Lobatto with double
ends and two points between them, which is exact for polynomials of degree 7.

Both errors are below round-off while |t Pi| (1/I_min - 1/I_max) < REACH: `free_motion.flow` takes
over beyond that.
"""

import math

from polhode.core.closed.free_motion import flow
from polhode.core.jit import apart, jit
from polhode.core.scalars import sincos
from polhode.core.scalars import TINY
from polhode.core.vec import (
    add,
    axpy,
    cross,
    dot,
    qmul,
    scale,
    times,
)

REACH = 0.3
THIRD, SIXTH = 1.0 / 3.0, 1.0 / 6.0

# nodes and weights on [0, 1] of the quadrature; the derivative counts at the end alone
EARLY, LATE = 0.5 - 0.5 / math.sqrt(7.0), 0.5 + 0.5 / math.sqrt(7.0)
W_END, W_INSIDE, W_SLOPE = 37.0 / 270.0, 49.0 / 135.0, -1.0 / 180.0


# the power series: sigma(t)/t = 1 + S[0] g2 t^4 + S[1] g3 t^6 + ..., sigma_i(t) = 1 - e t^2/2 + (P4[0] e^2 + P4[1] g2) t^4 + ...
S = (-1 / 240, -1 / 840, -1 / 161280, -1 / 2217600)
P4 = (-1 / 8, 1 / 48)
P6 = (1 / 240, -1 / 480)
P8 = (-13 / 13440, 1 / 2688, -1 / 161280)
P10 = (1 / 26880, -1 / 403200, -1 / 537600)
P12 = (79 / 17740800, -59 / 35481600, 1 / 10137600, 17 / 1277337600)


@jit
def sigma_coefficients(g2, g3):
    """sigma(t)/t in powers of t^2, from t^4 on."""
    return S[0] * g2, S[1] * g3, S[2] * g2 * g2, S[3] * g2 * g3


@jit
def sigma_i_coefficients(e, g2):
    """sigma_i(t) in powers of t^2, from t^2 on."""
    ee, gg = e * e, g2 * g2
    return (
        -0.5 * e,
        P4[0] * ee + P4[1] * g2,
        e * (P6[0] * ee + P6[1] * g2),
        ee * (P8[0] * ee + P8[1] * g2) + P8[2] * gg,
        e * (ee * (P10[0] * ee + P10[1] * g2) + P10[2] * gg),
        ee * (ee * (P12[0] * ee + P12[1] * g2) + P12[2] * gg) + P12[3] * (g2 * gg),
    )


@jit
def sigma_at(x, a):
    """sigma at x times the step.  Sums are arranged for short chains of dependent operations."""
    z = x * x
    return x + x * z * z * ((a[0] + z * a[1]) + z * z * (a[2] + z * a[3]))


@jit
def sigma_i_at(x, b):
    z = x * x
    return ((1.0 + z * b[0]) + z * z * (b[1] + z * b[2])) + z * z * z * z * (
        (b[3] + z * b[4]) + z * z * b[5]
    )


@jit
def momentum_at(x, series, Pi, growth, y):
    """Pi(x h) D and D."""
    s, s1, s2, s3 = (
        sigma_at(x, series[0]),
        sigma_i_at(x, series[1]),
        sigma_i_at(x, series[2]),
        sigma_i_at(x, series[3]),
    )
    g1, g2, g3 = growth
    return (
        (
            Pi[0] * (s2 * s3) + g1 * (s1 * s),
            Pi[1] * (s3 * s1) + g2 * (s2 * s),
            Pi[2] * (s1 * s2) + g3 * (s3 * s),
        ),
        s1 * s1 - y * (s * s),
    )


@jit
def short_flow(h, q, Pi, body):
    """(q', Pi') after the time h of free motion from attitude q and body momentum Pi."""
    x = body.Iinv
    c = (h * (x[2] - x[1]), h * (x[0] - x[2]), h * (x[1] - x[0]))
    y = (
        (c[1] * c[2]) * (Pi[0] * Pi[0]),
        (c[2] * c[0]) * (Pi[1] * Pi[1]),
        (c[0] * c[1]) * (Pi[2] * Pi[2]),
    )
    mean = THIRD * (y[0] + y[1] + y[2])
    e = (mean - y[0], mean - y[1], mean - y[2])
    g2, g3 = 2.0 * dot(e, e), 4.0 * e[0] * e[1] * e[2]
    series = (
        sigma_coefficients(g2, g3),
        sigma_i_coefficients(e[0], g2),
        sigma_i_coefficients(e[1], g2),
        sigma_i_coefficients(e[2], g2),
    )
    growth = (c[0] * Pi[1] * Pi[2], c[1] * Pi[2] * Pi[0], c[2] * Pi[0] * Pi[1])
    L2, Om = dot(Pi, Pi) + TINY, times(x, Pi)
    steady = dot(Om, Pi) / L2  # psi' / |Pi| at the beginning
    K = axpy(-steady, Pi, Om)  # Om across Pi: all that changes it
    N, D = momentum_at(EARLY, series, Pi, growth, y[0])
    early = dot(N, K) / (L2 * D + (dot(N, Pi) + TINY))
    N, D = momentum_at(LATE, series, Pi, growth, y[0])
    late = dot(N, K) / (L2 * D + (dot(N, Pi) + TINY))
    N, D = momentum_at(1.0, series, Pi, growth, y[0])
    new = scale(1.0 / D, N)
    below = L2 + (dot(new, Pi) + TINY)
    end = dot(new, K) / below
    slope = (c[0] * new[1] * new[2], c[1] * new[2] * new[0], c[2] * new[0] * new[1])
    bend = (dot(slope, K) - end * dot(slope, Pi)) / below
    L = math.sqrt(L2)
    half = 0.5 * h * L
    s, k = sincos(half * steady)
    s, k = turned_a_little(s, k, half * (W_END * end + W_INSIDE * (early + late) + W_SLOPE * bend))
    size = (1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])) / math.sqrt(
        2.0 * below
    )
    along, across = size * s, size * k / L
    v = axpy(across, cross(new, Pi), scale(along, add(Pi, new)))
    return qmul(q, (v[0], v[1], v[2], across * below)), new


@jit
def turned_a_little(s, c, d):
    """Sine and cosine of an angle to which a small d is added."""
    z = d * d
    sine = d - d * z * (SIXTH - z * (1 / 120 - z * (1 / 5040)))
    less = z * (0.5 - z * (1 / 24 - z * (1 / 720)))
    return s + (c * sine - s * less), c - (s * sine + c * less)


@jit
def within_reach(h, Pi, Iinv):
    """Whether |h Pi| (1/I_min - 1/I_max) < REACH."""
    a, b, c = abs(Iinv[0] - Iinv[1]), abs(Iinv[1] - Iinv[2]), abs(Iinv[2] - Iinv[0])
    spread = h * (0.5 * (a + b + c))  # the largest of the three is the sum of the others
    return spread * spread * dot(Pi, Pi) < REACH * REACH


@apart
def far_flow(h, q, Pi, body):
    """`free_motion.flow` as a function of its own: inlined into every stage of a method, it would
    take minutes to compile."""
    return flow(h, q, Pi, body)


@jit
def further(reached, q_short, Pi_short, h, q, Pi, body):
    """The motion by elliptic functions where the short one does not reach; its residual is none."""
    if reached:
        return q_short, Pi_short, 0.0
    q, Pi = far_flow(h, q, Pi, body)
    return q, Pi, 0.0


@jit
def no_further(reached, q_short, Pi_short, h, q, Pi, body):
    """In place of `further` where lanes stay together: a motion that is out of reach is reported as
    unsolved."""
    return q_short, Pi_short, 0.0 if reached else 1.0


@jit
def exact_motion(h, q, Pi, body):
    """(q', Pi', residual) after any time h of free motion."""
    q_short, Pi_short = short_flow(h, q, Pi, body)
    return further(within_reach(h, Pi, body.Iinv), q_short, Pi_short, h, q, Pi, body)
