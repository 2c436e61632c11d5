"""The torque-free motion of a rigid body in closed form.

Whittaker 1937, section 69; van Zon & Schofield 2007, J. Comput. Phys. 225; Celledoni, Fasso,
Safstrom & Zanna 2008, SIAM J. Sci.  Comput. 30.  The gauge T(n) below, which has no singular
directions, and the arithmetic of the rates are not in the papers.

*Momentum.*  With moments I1 >= I2 >= I3 and D = L^2 - 2 E I2, the polhode goes round the principal axis a = 1 (D > 0) or a = 3
(D < 0); c is the other of the two and b the intermediate axis.  On it

    Pi = A dn u + B sn u + C cn u,   u = u0 + alpha t,

A, B, C along the axes a, b, c.  With P = L^2 - 2 E I3, Q = 2 E I1 - L^2, J = I1 I2 I3 the two numbers (I1 - I2) P / J and
(I2 - I3) Q / J are alpha^2 and alpha^2 k^2, the larger first, and alpha^2 k'^2 = (I1 - I3) |D| / J.  P, Q are sums of positive
terms in the Pi_i^2, and D the one difference.

*Attitude.*  With n = Pi/L, e the unit vector along A and T(n) the shortest rotation that takes n to e,

    R = R0 T(n0)^T exp(psi e) T(n),   psi' = L/Ia + L d / (1 + n.e),   d = (2 E Ia - L^2) / (Ia L^2).

n stays in the half of the sphere about e, so that nothing is singular there, rotation about an axis included.  1 + n.e has
its zeros where dn u = -1/nu, nu = |A|/L, at u = +-i (2K' - sigma), so that with z = pi u/2K (Jacobi 1850)

    psi/2 = Lambda t/2 +- arg theta_4(z + i pi sigma/2K | q^2),   Lambda = L/Ia + L d <1 / (1 + nu dn)>,
    sc(sigma, k') = 1 / sqrt(rho^2 - 1),   rho = |B|/|C|.

Near the separatrix (k^2 > 1/2) all series are taken after Jacobi's imaginary transformation.  The
two rates and the period, which a long time multiplies, are formed in the arithmetic `ar`; all else
is bounded and in floats.
"""

import math
from typing import NamedTuple

from polhode.core.closed.double_double import FLOAT, dd_add, dd_times
from polhode.core.closed.elliptic import (
    INF,
    NO_PERIOD,
    agm,
    circular,
    half,
    hyperbolic,
    landen,
    nome,
    unit,
)
from polhode.core.jit import jit
from polhode.core.layout import Vector
from polhode.core.scalars import nearest, sincos
from polhode.core.vec import add, axpy, cross, dot, normalise, qconj, qmul, scale

STILL = 1e18  # u0 of a body that turns about its intermediate axis: it never leaves


class Polhode(NamedTuple):
    """A free motion but for its initial attitude; `turn` evaluates it."""

    A: Vector
    B: Vector
    C: Vector
    e: Vector  # unit vector along A
    L: float
    rate: tuple[float, float]  # of z, or of y near the separatrix
    half_spin: tuple[float, float]  # Lambda / 2
    period: tuple[float, float]  # of y, 2 pi K/2K'; zero away from the separatrix
    start: tuple[float, float]  # exp(i z0), or (y0, 0)
    nome: float  # q, or q'
    phase: tuple[float, float, float, float]  # coefficients of theta_4(. | q^2)
    side: float  # sign of the phase


@jit
def _larger_first(ar, x, y):
    return (x, y) if ar.value(ar.sub(x[0], y[0])) >= 0.0 else (y, x)


@jit
def _power_of_two(x):
    """The power of two next above |x|, 1 for 0, well inside the range of floats."""
    return math.ldexp(1.0, min(max(math.frexp(x)[1], -900), 900)) if x != 0.0 else 1.0


@jit
def polhode(ar, Pi, I):
    """The free motion with body momentum Pi at t = 0 and principal moments I, all numbers of the
    arithmetic `ar`."""
    plus = ar.add
    sub = ar.sub
    mul = ar.mul
    div = ar.div
    sqrt = ar.sqrt
    real = ar.real
    value = ar.value
    # in units of the largest moment and momentum, so that no square leaves the range of floats
    i = _power_of_two(max(value(I[0]), value(I[1]), value(I[2])))
    m = _power_of_two(max(abs(value(Pi[0])), abs(value(Pi[1])), abs(value(Pi[2]))))
    u, v = real(1.0 / i), real(1.0 / m)
    x = (mul(u, I[0]), mul(v, Pi[0]), (1.0, 0.0, 0.0))
    y = (mul(u, I[1]), mul(v, Pi[1]), (0.0, 1.0, 0.0))
    z = (mul(u, I[2]), mul(v, Pi[2]), (0.0, 0.0, 1.0))
    x, y = _larger_first(ar, x, y)
    x, z = _larger_first(ar, x, z)
    y, z = _larger_first(ar, y, z)
    (I1, M1, e1), (I2, M2, e2), (I3, M3, e3) = x, y, z
    d12, d23, d13 = sub(I1, I2), sub(I2, I3), sub(I1, I3)
    w1, w2, w3 = div(mul(M1, M1), I1), div(mul(M2, M2), I2), div(mul(M3, M3), I3)
    P, Q = plus(mul(w1, d13), mul(w2, d23)), plus(mul(w2, d12), mul(w3, d13))
    D = sub(mul(w1, d12), mul(w3, d23))
    J = mul(mul(I1, I2), I3)
    squares = div(mul(d12, P), J), div(mul(d23, Q), J)
    L2 = plus(plus(mul(M1, M1), mul(M2, M2)), mul(M3, M3))
    # round the first axis or the last; where nothing moves, round the axis of symmetry
    first = value(D) > 0.0 or (value(D) == 0.0 and value(d12) > value(d23))
    Ia, Ma, ea, Ic, Mc, ec = (I1, M1, e1, I3, M3, e3) if first else (I3, M3, e3, I1, M1, e1)
    dab, dbc = (d12, d23) if first else (d23, d12)
    alpha2, gamma2 = squares if first else (squares[1], squares[0])
    excess = Q if first else sub(real(0.0), P)  # 2 E Ia - L^2
    moves = value(alpha2) > 0.0
    beta2 = div(mul(d13, D if first else sub(real(0.0), D)), J)
    kc = sqrt(div(beta2, alpha2 if moves else real(1.0))) if moves else real(1.0)
    kc = kc if value(kc) > NO_PERIOD else real(0.0)
    k = sqrt(div(gamma2, alpha2 if moves else real(1.0)))
    at_rest = value(L2) == 0.0
    L = real(1.0) if at_rest else sqrt(L2)
    bulge = div(mul(Ia, dbc), mul(I2, d13)) if value(d13) > 0.0 else real(0.0)
    nu = div(sqrt(plus(mul(Ma, Ma), mul(mul(M2, M2), bulge))), L)
    mean, X = agm(ar, kc, nu)
    rate = mul(sqrt(alpha2), mean)
    Lambda = div(plus(mul(L, L), mul(excess, X)), mul(Ia, L)) if not at_rest else real(0.0)
    near = value(kc) * value(kc) < 0.5
    period = real(0.0)
    if near:
        other, _ = agm(ar, k, real(0.0))
        rate = mul(sqrt(alpha2), other)
        period = div(mul(ar.pi, other), mean) if value(mean) > 0.0 else real(INF)
    side = dot(ea, cross(e2, ec)) * (1.0 if value(Ma) >= 0.0 else -1.0)
    time = m / i
    forward = -side * time if first else side * time
    rho2 = value(div(mul(Ia, dbc), mul(Ic, dab))) if value(dab) > 0.0 else 0.0  # rho^2 - 1
    momenta = (m * value(mul(nu, L)), m * value(M2), m * value(Mc))
    rates = (
        ar.pair(mul(real(forward), rate)),
        ar.pair(mul(real(0.5 * time), Lambda)),
        ar.pair(period),
    )
    axes = scale(1.0 if value(Ma) >= 0.0 else -1.0, ea), e2, ec
    arguments = axes, momenta, m * value(L), rho2, value(k), value(kc), rates, side
    return _near(*arguments) if near else _far(*arguments)


# ---------------------------------------------------- the bounded part, on either side of k^2 = 1/2
@jit
def _far(axes, momenta, L, rho2, k, kc, rates, side):
    """Amplitudes, exp(i z0) and the coefficients of theta_4(z + i pi sigma/2K | q^2) = 1 - 2 q^2 cos 2(..) + 2 q^8 cos 4(..)."""
    e, eb, ec = axes
    ma, b, c = momenta
    rho = math.sqrt(1.0 + rho2)
    mc = math.sqrt(c * c + b * b / (1.0 + rho2))
    q = nome(k, kc)
    q2 = q * q
    q4 = q2 * q2
    G, t3, t4 = _constants(q)
    x, y = unit(rho * c, b)
    s = hyperbolic(1.0 / math.sqrt(rho2) if rho2 > 0.0 else INF, k, kc, q)  # exp(-pi sigma/K)
    f, g = (q2 / s if s > 0.0 else 0.0), q2 * s
    f2, g2 = q4 * f * f, q4 * g * g
    return Polhode(
        scale(ma * t4 / t3, e),
        scale(rho * mc * t3 / G, eb),
        scale(mc * t4 / G, ec),
        e,
        L,
        rates[0],
        rates[1],
        rates[2],
        circular(x, y, landen(k, kc)),
        q,
        (f + g, f - g, f2 + g2, f2 - g2),
        side,
    )


@jit
def _near(axes, momenta, L, rho2, k, kc, rates, side):
    """Amplitudes, y0, and chi = pi sigma/2K' as (cos chi/2, sin chi/2, chi / period of y)."""
    e, eb, ec = axes
    ma, b, c = momenta
    # u0 -> u0 + 2K where needed, so that cn u0 >= 0 however long the period
    sign = 1.0 if c >= 0.0 else -1.0
    b, c = sign * b, sign * c
    rho = math.sqrt(1.0 + rho2)
    mc = sign * math.sqrt(c * c + b * b / (1.0 + rho2))
    p = nome(kc, k)
    G, t3, t4 = _constants(p)
    x = hyperbolic(
        abs(b) / (rho * c) if c > 1e-150 * abs(b) else (INF if b != 0.0 else 0.0), kc, k, p
    )
    y = -0.5 * math.log(x) if x > 0.0 else STILL
    cosine, sine = circular(math.sqrt(rho2) / rho, 1.0 / rho, landen(kc, k))
    ch, sh = half(cosine, sine)
    return Polhode(
        scale(2.0 * ma * G / t3, e),
        scale(rho * mc * t3 / t4, eb),
        scale(2.0 * mc * G / t4, ec),
        e,
        L,
        rates[0],
        rates[1],
        rates[2],
        (y if b >= 0.0 else -y, 0.0),
        p,
        (ch, sh, math.atan2(sine, cosine) / rates[2][0], 0.0),
        side,
    )


@jit
def _constants(q):
    """theta_2(0) / 2 q^(1/4), theta_3(0), theta_4(0)."""
    q2 = q * q
    q4 = q2 * q2
    q9 = q4 * q4 * q
    return 1.0 + q2 + q4 * q2, 1.0 + 2.0 * (q + q4 + q9), 1.0 - 2.0 * (q - q4 + q9)


@jit
def _momentum(c, dn, sn, cn, below):
    """(A dn + B sn + C cn) / below."""
    return scale(1.0 / below, axpy(dn, c.A, axpy(sn, c.B, scale(cn, c.C))))


@jit
def _at_z(z, c):
    """Pi and theta_4(z + i pi sigma/2K | q^2) from z = (cos, sin), in powers of q."""
    x, y = z
    c2, s2 = (x - y) * (x + y), 2.0 * x * y
    c4, s4 = (c2 - s2) * (c2 + s2), 2.0 * c2 * s2
    c6 = c2 * c4 - s2 * s4
    q = c.nome
    q2 = q * q
    q4 = q2 * q2
    even, odd = 1.0 + 2.0 * q4 * c4, 2.0 * q * (c2 + q4 * q4 * c6)
    sn = y - q2 * ((s2 * x + c2 * y) - q4 * (s4 * x + c4 * y))
    cn = x + q2 * ((c2 * x - s2 * y) + q4 * (c4 * x - s4 * y))
    f, g, f2, g2 = c.phase
    return _momentum(c, even + odd, sn, cn, even - odd), (1.0 - f * c2 + f2 * c4, g * s2 - g2 * s4)


@jit
def _at_y(y, c):
    """Pi and, up to a real factor and exp(i chi y / period), theta_4(z + i pi sigma/2K | q^2), in powers of q' = p.

    e = exp(-|y|) and g = exp(|y| - period): the pulse of the polhode that is under way, and the next.
    """
    e = math.exp(-abs(y))
    p = c.nome
    g = p / e if e > 1e-300 else 0.0
    p2, e2, g2 = p * p, e * e, g * g
    p4, e4, g4 = p2 * p2, e2 * e2, g2 * g2
    p6 = p4 * p2
    even, odd = 1.0 + p2 * (e4 + g4), e2 + g2 + p6 * (e4 * e2 + g4 * g2)
    e3, g3 = e * e2, g * g2
    p9 = p4 * p4 * p
    dn = (e + g) + p * (e3 + g3) + p4 * (e * e4 + g * g4) + p9 * (e3 * e4 + g3 * g4)
    cn = (e - g) - p * (e3 - g3) + p4 * (e * e4 - g * g4) - p9 * (e3 * e4 - g3 * g4)
    ch, sh = c.phase[0], c.phase[1]
    v, w = (ch - sh) * (ch + sh), 2.0 * ch * sh  # exp(i chi)
    a, b = 1.0 + p2 * p * g * v, p2 * p * g * w
    a, b = _one_plus(p2 * g * v, p2 * g * w, a, b)
    a, b = _one_plus(p * g * v, p * g * w, a, b)
    a, b = _one_plus(g * v, g * w, a, b)
    r, i = 1.0 + p4 * e * v, -p4 * e * w
    r, i = _one_plus(p2 * p * e * v, -p2 * p * e * w, r, i)
    r, i = _one_plus(p2 * e * v, -p2 * e * w, r, i)
    r, i = _one_plus(p * e * v, -p * e * w, r, i)
    theta = (ch * (a + e * r) - sh * (b - e * i), sh * (a - e * r) + ch * (b + e * i))
    sign = 1.0 if y >= 0.0 else -1.0
    return _momentum(c, dn, sign * (even - odd), cn, even + odd), (theta[0], sign * theta[1])


@jit
def _one_plus(x, y, a, b):
    """1 + (x + iy)(a + ib)."""
    return 1.0 + (x * a - y * b), x * b + y * a


@jit
def _attitude(Pi, theta, spin, c):
    """G = exp(psi e) T(n), up to its length: (sin (e + n) + cos n x e, cos (1 + n.e)), sin and cos of psi/2."""
    a, b = theta[0], c.side * theta[1]
    x, y = spin[0] * a - spin[1] * b, spin[0] * b + spin[1] * a
    v = add(scale(y, axpy(c.L, c.e, Pi)), scale(x, cross(Pi, c.e)))
    return normalise((v[0], v[1], v[2], x * (c.L + dot(Pi, c.e))))


@jit
def _sincos(x):
    """(cos, sin) of a pair."""
    s, c = sincos(x[0])
    return c - x[1] * s, s + x[1] * c


@jit
def turn(t, c):
    """(G, Pi) at time t: the attitude is q0 conj(G(0)) G(t)."""
    spin = dd_times(c.half_spin, t)
    if c.period[0] > 0.0:
        y = dd_add(dd_times(c.rate, t), c.start)
        n = nearest(y[0] / c.period[0])
        if n != 0.0:
            y = dd_add(y, dd_times(c.period, -n))
        Pi, theta = _at_y(y[0], c)
        spin = dd_add(spin, (-c.side * c.phase[2] * y[0], 0.0))
        if n - 2.0 * nearest(0.5 * n) != 0.0:
            a = dot(Pi, c.e)
            Pi = axpy(2.0 * a, c.e, scale(-1.0, Pi))
    else:
        x, y = _sincos(dd_times(c.rate, t))
        Pi, theta = _at_z((x * c.start[0] - y * c.start[1], y * c.start[0] + x * c.start[1]), c)
    return _attitude(Pi, theta, _sincos(spin), c), Pi


@jit
def flow(h, q, Pi, body):
    """(q', Pi') after the time h of free motion from attitude q and body momentum Pi: for steps, in
    plain doubles."""
    c = polhode(FLOAT, Pi, body.I)
    before, _ = turn(0.0, c)
    after, Pi = turn(h, c)
    return normalise(qmul(qmul(q, qconj(before)), after)), Pi
