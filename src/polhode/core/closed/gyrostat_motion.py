"""The torque-free motion of a gyrostat, a body with rotors inside, in closed form.

The rotors have the constant part G of the momentum, so that Om = I^-1 (Pi - G) (Volterra 1899).

*Momentum.*  Let n = Pi/|Pi| at the beginning, N at the time t, and w the stereographic coordinate of
N from -n: in a frame (e1, e2, n), with complex numbers for vectors across n,

    N = (2 w, 1 - |w|^2) / (1 + |w|^2),   w' = i/2 (p + m w + 2 S w* + 4 b w |w|^2 - r* w^2 - 2 r |w|^2)

where p = Om_12, g = I^-1 G, b = g_3, r = p + 2 g_12, S = |Pi| ((A_11 - A_22)/2 + i A_12), m = |Pi| (A_11 + A_22 - 2 A_33) + 2 b,
with A = I^-1 in that frame.  The energy is a polynomial of degree 2 in w and in w*, and constant.  Without w* it leaves

    w'^2 = a0 + 4 a1 w + 6 a2 w^2 + 4 a3 w^3 + a4 w^4,

an elliptic function, with its value at the beginning, w = 0, it is (Whittaker & Watson 1927, 20.6)

    w = (-w1 P'/2 + a1 (P - a2/2) + a0 a3/2) / ((P - a2/2)^2 - a0 a4/4),   w1 = i p/2,   P Weierstrass's function,

where g2 = a0 a4 - 4 a1 a3 + 3 a2^2 and g3 = a0 a2 a4 + 2 a1 a2 a3 - a2^3 - a0 a3^2 - a1^2 a4 are real.  Multiplied by powers of
sigma, all terms are entire functions of t: a few terms of their power series do.  No axis is special,
and symmetric bodies, permanent rotations and rotors at rest are no exceptions.

*Attitude.*  With T(N) the shortest rotation that takes N to n,

    R(t) = R exp(psi n) T(N),   psi' = Om_3(0) + Re(r* w) - 2 b |w|^2.

The first three derivatives of the right-hand side at the beginning are known.  psi is integrated by
the rule that has these, the end, and three points between them, which is exact for polynomials of
degree 10.

Both errors are below round-off while h (|Pi| (1/I_min - 1/I_max) + |g|) < REACH.  A longer time is
divided into parts of this length.
"""

import math
from typing import NamedTuple

from polhode.core.constant import Constant
from polhode.core.closed.short_motion import SIXTH, turned_a_little
from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.length import of_length, square
from polhode.core.scalars import NAN, TINY, nearest, sincos
from polhode.core.vec import add, axpy, dot, qmul, scale, sub, times

REACH = 0.4
FLAT = 1e-6  # where the energy rises by less than this, squared, its error waits
MOST = Constant(1e8, single=1e6)  # parts of a time; a longer one has no result

# the power series of sigma^2/t^2, sigma^2 P and -sigma^4 P'/2t: coefficients of g2 t^4, g3 t^6, g2^2 t^8, g2 g3 t^10, and of g2^3
# and g3^2 t^12
SQUARE = (-1 / 120, -1 / 420, 1 / 201600, 1 / 110880, 113 / 2075673600, 17 / 12612600)
LARGE = (1 / 24, 1 / 30, 17 / 40320, 1 / 12600, -37 / 159667200, 1 / 69300)
SLOPE = (-1 / 15, -8 / 105, -1 / 630, -8 / 17325, 23 / 4054050, -32 / 225225)

# nodes and weights on [0, 1] of the quadrature, and weights of t, t^2, t^3 at the beginning
NODES = (0.3633110879764128855, 0.6566865673706683932, 0.8890932537438278122)
WEIGHTS = (0.3008118593139242023, 0.2744637531284027237, 0.1799868073827459603)
W_END, W_SLOPES = 1 / 32, (12 / 625, 32 / 18375, 1 / 9800)


# --- complex numbers as pairs ---------------------------------------------------------------------


@jit
def product(a, b):
    """a b."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


@jit
def across(a, b):
    """a* b."""
    return a[0] * b[0] + a[1] * b[1], a[0] * b[1] - a[1] * b[0]


@jit
def joined(c, x, y):
    """c x + y, c real."""
    return c * x[0] + y[0], c * x[1] + y[1]


# --- the motion over a short time -----------------------------------------------------------------


@jit
def frame(n):
    """Two vectors that make a frame with n; no direction is singular."""
    x, y, z = n
    side = 1.0 if z >= 0.0 else -1.0
    c = -1.0 / (side + z)
    return (1.0 + side * x * x * c, side * x * y * c, -side * x), (x * y * c, side + y * y * c, -y)


@jit
def quartic(p, r, m, S, b):
    """w1 and the coefficients a1, ..., a4."""
    w1 = -0.5 * p[1], 0.5 * p[0]
    f, k, s, rr = across(w1, S), across(p, r), across(S, r), product(r, r)
    return (
        w1,
        (-0.25 * m * w1[1] - 0.5 * f[1], 0.25 * m * w1[0] + 0.5 * f[0]),
        (SIXTH * (S[0] * S[0] + S[1] * S[1] - 0.25 * m * m - 0.5 * k[0]), -0.25 * k[1]),
        (
            0.125 * m * r[0] + 0.5 * b * p[0] - 0.25 * s[0],
            -0.125 * m * r[1] - 0.5 * b * p[1] - 0.25 * s[1],
        ),
        (2.0 * b * S[0] - 0.25 * rr[0], 0.25 * rr[1] - 2.0 * b * S[1]),
    )


@jit
def coefficients(k, g2, g3):
    """Those of t^4, t^6, ..., t^12 in a power series."""
    gg = g2 * g2
    return k[0] * g2, k[1] * g3, k[2] * gg, k[3] * (g2 * g3), k[4] * (g2 * gg) + k[5] * (g3 * g3)


@jit
def entire(x, c):
    """The power series at x times the step."""
    z = x * x
    zz = z * z
    return 1.0 + zz * ((c[0] + z * c[1]) + zz * ((c[2] + z * c[3]) + zz * c[4]))


@jit
def place(x, series, w1, a1, half_a2, c3, c4):
    """w at x times the step."""
    sigma2 = x * x * entire(x, series[0])
    X = entire(x, series[1]) - sigma2 * half_a2[0], -sigma2 * half_a2[1]
    above = joined(sigma2, c3, product(a1, X))
    above = joined(x * entire(x, series[2]), w1, (sigma2 * above[0], sigma2 * above[1]))
    below = joined(-sigma2 * sigma2, c4, product(X, X))
    w, size = across(below, above), 1.0 / (below[0] * below[0] + below[1] * below[1])
    return size * w[0], size * w[1]


@jit
def rate(r, b, w):
    """psi', less that at the beginning."""
    return r[0] * w[0] + r[1] * w[1] - 2.0 * b * (w[0] * w[0] + w[1] * w[1])


@jit
def short_flow(h, q, Pi, body):
    """(q', Pi') after the time h of free motion from attitude q and body momentum Pi."""
    Om, g, L2 = times(body.Iinv, sub(Pi, body.G)), times(body.Iinv, body.G), dot(Pi, Pi)
    L, rest = math.sqrt(L2), 0.0 if L2 > 0.0 else 1.0
    per = 1.0 / (L + rest)
    n = per * Pi[0], per * Pi[1], per * Pi[2] + rest
    e1, e2 = frame(n)
    # I^-1 in this frame, less the value about the third axis of the body
    c, d, l = body.Iinv[0] - body.Iinv[2], body.Iinv[1] - body.Iinv[2], h * L
    u, v = c * e1[0], d * e1[1]
    c11, c12 = u * e1[0] + v * e1[1], u * e2[0] + v * e2[1]
    c33 = c * n[0] * n[0] + d * n[1] * n[1]
    c22 = (c + d) - (c11 + c33)
    b, p = h * dot(g, n), (h * dot(Om, e1), h * dot(Om, e2))
    r = p[0] + 2.0 * h * dot(g, e1), p[1] + 2.0 * h * dot(g, e2)
    m, S = l * (c11 + c22 - 2.0 * c33) + 2.0 * b, (0.5 * l * (c11 - c22), l * c12)
    w1, a1, a2, a3, a4 = quartic(p, r, m, S, b)
    a0 = product(w1, w1)
    a03, a04, a13, a22 = product(a0, a3), product(a0, a4), product(a1, a3), product(a2, a2)
    g2 = a04[0] - 4.0 * a13[0] + 3.0 * a22[0]
    g3 = (
        product(a2, (a04[0] + 2.0 * a13[0] - a22[0], a04[1] + 2.0 * a13[1] - a22[1]))[0]
        - product(a03, a3)[0]
        - product(product(a1, a1), a4)[0]
    )
    series = coefficients(SQUARE, g2, g3), coefficients(LARGE, g2, g3), coefficients(SLOPE, g2, g3)
    half_a2, c3, c4 = (
        (0.5 * a2[0], 0.5 * a2[1]),
        (0.5 * a03[0], 0.5 * a03[1]),
        (0.25 * a04[0], 0.25 * a04[1]),
    )
    # psi: what its derivatives at the beginning, the points between and the end contribute
    w3 = product(a2, w1)
    more = b * (w1[0] * w1[0] + w1[1] * w1[1]), b * (w1[0] * a1[0] + w1[1] * a1[1])
    turn = (
        W_SLOPES[0] * (r[0] * w1[0] + r[1] * w1[1])
        + W_SLOPES[1] * (r[0] * a1[0] + r[1] * a1[1] - 2.0 * more[0])
        + W_SLOPES[2] * (r[0] * w3[0] + r[1] * w3[1] - 4.0 * more[1])
    )
    for i in range(3):
        turn += WEIGHTS[i] * rate(r, b, place(NODES[i], series, w1, a1, half_a2, c3, c4))
    w = place(1.0, series, w1, a1, half_a2, c3, c4)
    turn += W_END * rate(r, b, w)
    s, k = sincos(0.5 * h * dot(Om, n))
    s, k = turned_a_little(s, k, 0.5 * turn)
    # exp(psi n) T(N), and N
    ww = w[0] * w[0] + w[1] * w[1]
    size = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    per = 1.0 / (1.0 + ww)
    size = size * math.sqrt(per)
    v = axpy(k * w[1] + s * w[0], e1, axpy(s * w[1] - k * w[0], e2, scale(s, n)))
    change = axpy(2.0 * L * w[0], e1, axpy(2.0 * L * w[1], e2, scale(-2.0 * ww, Pi)))
    return qmul(q, (size * v[0], size * v[1], size * v[2], size * k)), axpy(per, change, Pi)


# --- the motion over any time ---------------------------------------------------------------------


@jit
def parts(h, Pi, body):
    """h in units of the time that `short_flow` reaches."""
    x, g = body.Iinv, times(body.Iinv, body.G)
    spread = 0.5 * (abs(x[0] - x[1]) + abs(x[1] - x[2]) + abs(x[2] - x[0]))
    return abs(h) * (spread * math.sqrt(dot(Pi, Pi)) + math.sqrt(dot(g, g))) / REACH


class Marching(NamedTuple):
    """A motion in many parts."""

    q: Quaternion
    Pi: Vector
    excess: float  # of |Pi|^2, relative: see of_length
    owed: float  # what the energy is too large by, likewise


@jit
def onward(h, s, body):
    """One more part, with what rounding did to |Pi|^2 and to the energy taken back."""
    Om, wanted = times(body.Iinv, sub(s.Pi, body.G)), square(s.Pi)
    # the direction on the sphere in which the energy rises
    up = axpy(-dot(Om, s.Pi) / (wanted + TINY), s.Pi, Om)
    back = s.owed / (dot(up, up) + FLAT * dot(Om, Om) + TINY)
    q, Pi = short_flow(h, s.q, axpy(-back, up, s.Pi), body)
    Pi, excess = of_length(wanted, Pi, s.excess)
    both = add(Om, times(body.Iinv, sub(Pi, body.G)))
    return Marching(q, Pi, excess, s.owed + 0.5 * dot(sub(Pi, s.Pi), both))


def far_flow(h, q, Pi, body):
    """The motion in parts, as a function of its own: inlined into every stage of a method it would
    take long to compile."""
    count = parts(h, Pi, body)
    allowed = count < MOST
    count = nearest(count + 0.5) if allowed else 1.0
    part = (h if allowed else NAN) / count
    s = Marching(q, Pi, 0.0, 0.0)
    for _ in range(int(count)):
        s = onward(part, s, body)
    return s.q, s.Pi


@jit
def in_parts(reached, q_short, Pi_short, h, q, Pi, body):
    """The motion in parts where the short one does not reach; its residual is none."""
    if reached:
        return q_short, Pi_short, 0.0
    q, Pi = far_flow(h, q, Pi, body)
    return q, Pi, 0.0


@jit
def exact_motion(h, q, Pi, body):
    """(q', Pi', residual) after any time h of free motion."""
    q_short, Pi_short = short_flow(h, q, Pi, body)
    return in_parts(parts(h, Pi, body) < 1.0, q_short, Pi_short, h, q, Pi, body)
