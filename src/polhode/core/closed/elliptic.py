"""Elliptic functions by Landen's descending transformation, the AGM and theta series.  DLMF 19.8,
20.2, 20.7(viii), 22.20.

Moduli k and k' with k^2 + k'^2 = 1 are always carried as two numbers, both accurate to the last digit, so that neither end is
special.  Of the two nomes q = exp(-pi K'/K) and q' = exp(-pi K/K') one is at most exp(-pi) = 0.0432, where three terms of a
theta series are exact: near k = 0 the series run in exp(iz), z = pi u/2K, and near k = 1 in exp(-y), y = pi u/2K'.
Both variables follow from an amplitude, real or imaginary, by the same descent, which never cancels:

    k_{n+1} = (k_n / (1 + k'_n))^2,   tan(phi_{n+1} - phi_n) = k'_n tan phi_n,   z = lim phi_n / 2^n           DLMF 19.8(ii)
"""

import math

from polhode.core.jit import jit

INF = math.inf
ITERATIONS = 20  # of the AGM: 10 more than k' = 1e-16 needs in 31 digits, 6 more than k' = 1e-150
# a smaller k' counts as zero: the period would be 700 times the time scale of the motion
NO_PERIOD = 1e-150


@jit
def landen(k, kc):
    """k_1, k_2, k_3, k_4 of the descent from k <= 0.708, with kc = k'; k_5 is below 1e-21."""
    a = k / (1.0 + kc)
    k1 = a * a
    c = 2.0 * math.sqrt(kc) / (1.0 + kc)
    a = k1 / (1.0 + c)
    k2 = a * a
    c = 2.0 * math.sqrt(c) / (1.0 + c)
    a = k2 / (1.0 + c)
    k3 = a * a
    a = 0.5 * k3
    return k1, k2, k3, a * a


@jit
def nome(k, kc):
    """q of the modulus k <= 0.708, kc = k': e + 2 e^5 + 15 e^9 + 150 e^13, 2 e = (1 - sqrt k')/(1 + sqrt k').  DLMF 19.5.6."""
    r = 1.0 + math.sqrt(kc)
    e = 0.5 * k * k / ((1.0 + kc) * r * r)
    f = e * e
    f = f * f
    return e * (1.0 + f * (2.0 + f * (15.0 + f * 150.0)))


@jit
def unit(x, y):
    """(x, y) / |(x, y)|; (1, 0) for the origin."""
    n = math.sqrt(x * x + y * y)
    return (x / n, y / n) if n > 0.0 else (1.0, 0.0)


@jit
def half(x, y):
    """exp(i a/2) from exp(i a) = (x, y), |a| <= pi."""
    c, s = (1.0 + x, abs(y)) if x > 0.0 else (abs(y), 1.0 - x)
    return unit(c, s if y >= 0.0 else -s)


@jit
def circular(x, y, k):
    """exp(iz) from exp(i phi) = (x, y), with the moduli k of `landen`.

    With w_n = 1 + k_{n+1} exp(2i phi_n) the descent reads exp(2i phi_{n+1}) = exp(4i phi_n) conj(w_n)/w_n, so that
    z = phi - sum arg(w_n) / 2^{n+1}: no angle is ever formed, and no branch chosen, since |arg w| < 0.18.
    """
    c, s = (x - y) * (x + y), 2.0 * x * y
    w0, c, s = _descend(c, s, k[0])
    w1, c, s = _descend(c, s, k[1])
    w2, c, s = _descend(c, s, k[2])
    w3, c, s = _descend(c, s, k[3])
    a, b = unit(1.0 + w3[0], w3[1])
    a, b = unit(a * w2[0] - b * w2[1], a * w2[1] + b * w2[0])
    a, b = unit(1.0 + a, b)
    a, b = unit(a * w1[0] - b * w1[1], a * w1[1] + b * w1[0])
    a, b = unit(1.0 + a, b)
    a, b = unit(a * w0[0] - b * w0[1], a * w0[1] + b * w0[0])
    a, b = unit(1.0 + a, b)
    return unit(x * a + y * b, y * a - x * b)


@jit
def _descend(c, s, k):
    """w / |w|, and (c, s) = exp(2i phi) one step down."""
    a, b = unit(1.0 + k * c, k * s)
    x, y = c * a + s * b, s * a - c * b  # exp(2i phi) conj(w)
    return (a, b), (x - y) * (x + y), 2.0 * x * y


@jit
def hyperbolic(T, k, kc, q):
    """exp(-2y), y = pi v/2K, where sinh eta = T >= 0 is the imaginary amplitude of iv: T = sc(v, k'), 0 <= v <= K'.

    The same descent with E = exp(-2 eta): E_{n+1} = E_n (E_n + k_{n+1}) / (1 + k_{n+1} E_n).  In the upper half of its range
    v is reflected, sc(K' - v, k') = 1 / (k sc(v, k')); the result is then q over that of K' - v.
    """
    reflected = T * T * k > 1.0
    T = 1.0 / (k * T) if reflected else T
    k1, k2, k3, k4 = landen(k, kc)
    E = T + math.sqrt(1.0 + T * T)
    E0 = 1.0 / (E * E)
    if E0 == 0.0:
        return 0.0
    r0 = (1.0 + k1 / E0) / (1.0 + k1 * E0)
    E = E0 * E0 * r0
    r1 = (1.0 + k2 / E) / (1.0 + k2 * E) if E > 0.0 else 1.0
    E = E * E * r1
    r2 = (1.0 + k3 / E) / (1.0 + k3 * E) if E > 0.0 else 1.0
    E = E * E * r2
    r3 = (1.0 + k4 / E) / (1.0 + k4 * E) if E > 0.0 else 1.0
    E = E * E * r3
    # k_5 is nothing, but not against E, which may be 1e-11 here
    r4 = 1.0 + 0.25 * k4 * k4 / E if E > 0.0 else 1.0
    s = E0 * math.sqrt(r0 * math.sqrt(r1 * math.sqrt(r2 * math.sqrt(r3 * math.sqrt(r4)))))
    return q / s if reflected else s


@jit
def agm(ar, kc, nu):
    """(M(1, k'), X) in the arithmetic `ar`: the arithmetic-geometric mean, and the mean of 1 / (1 + nu dn u) over a period.

    K = pi / 2M.  Where u and u + K are paired, dn(u + K) = k'/dn u gives Landen's Delta_1 = (Delta + ab/Delta)/2 and

        X(nu; a, b) = 1/2 + 1/2 (1 - nu^2 ab)/(1 + nu^2 ab) X(nu_1; a_1, b_1),   nu_1 = 2 nu / (1 + nu^2 ab)

    for 0 <= nu <= 1, a sum of positive terms.  k' = 0 is the limit M = 0, X = 1 of an infinite period.
    """
    one, one_half, a, b = ar.real(1.0), ar.real(0.5), ar.real(1.0), kc
    total, factor = ar.real(0.0), ar.real(1.0)
    if ar.value(kc) == 0.0:
        return ar.real(0.0), one
    last = False
    for _ in range(ITERATIONS):
        ab = ar.mul(a, b)
        p = ar.mul(ar.mul(nu, nu), ab)
        below = ar.add(one, p)
        factor = ar.mul(one_half, factor)
        total = ar.add(total, factor)
        factor = ar.mul(factor, ar.div(ar.sub(one, p), below))
        nu = ar.div(ar.add(nu, nu), below)
        a, b = ar.mul(one_half, ar.add(a, b)), ar.sqrt(ab)
        if last:
            break
        last = abs(ar.value(ar.sub(a, b))) <= ar.near * ar.value(a)
    return a, ar.add(total, ar.div(factor, ar.add(one, ar.mul(nu, a))))
