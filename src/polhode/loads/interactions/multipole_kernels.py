"""The mutual potential of two bodies on tuples, to second and to fourth degree.

r = x_j - x_i, n = r / |r|, u = 1 / |r|.  A body has a mass m and, from the solid harmonics of Legendre
that its mass has at a point X from its centre,

    h2(X) = X . S X,  h3(X) = T X X X,  h4(X) = U X X X X:  sum of m |X|^k |y|^k P_k(cos),

the symmetric tensors S = -3/2 (I - tr I / 3), T and U without traces.  A point of mass 1 has the energy
-G h_k(X) / |X|^(2k + 1) with each of them.
"""

import math

from polhode.core.jit import jit
from polhode.core.vec import add, apply, apply_t, axpy, cross, dot, matmul, scale, transpose

NOTHING = (0.0, 0.0, 0.0)


@jit
def _direction(r):
    u = 1.0 / math.sqrt(dot(r, r))
    return scale(u, r), u


# --- degree 0 -------------------------------------------------------------------------------------


def mass_of(R, a, p):
    return (a.mass,)


def point_force(r, A, B, p):
    n, u = _direction(r)
    return scale(p.G * A[0] * B[0] * (u * u), n), NOTHING, NOTHING


def point_energy(r, A, B, p):
    return -p.G * A[0] * B[0] / math.sqrt(dot(r, r))


# --- degree 2 -------------------------------------------------------------------------------------


def quadrupole_of(R, a, p):
    """What others see: the mass, and S in space."""
    return a.mass, matmul(matmul(R, a.S), transpose(R))


def second_force(r, A, B, p):
    n, u = _direction(r)
    a, b = apply(A[1], n), apply(B[1], n)
    u2 = u * u
    g = p.G * u2
    s, t = A[0] * u2, B[0] * u2
    # both bodies: m_i h_j + m_j h_i
    h = s * dot(n, b) + t * dot(n, a)
    F = scale(g, axpy(A[0] * B[0] + 5.0 * h, n, scale(-2.0, axpy(s, b, scale(t, a)))))
    g = -2.0 * p.G * u
    return F, scale(g * t, cross(n, a)), scale(g * s, cross(n, b))


def second_energy(r, A, B, p):
    n, u = _direction(r)
    h = A[0] * dot(n, apply(B[1], n)) + B[0] * dot(n, apply(A[1], n))
    return -p.G * u * (A[0] * B[0] + h * (u * u))


# --- degree 4 -------------------------------------------------------------------------------------


def multipoles_of(R, a, p):
    """What others see: the mass, S in space, the attitude, and T and U in the body."""
    return a.mass, matmul(matmul(R, a.S), transpose(R)), R, a.T, a.U


@jit
def _cubic(T, x):
    """T x x; T has the components 000 001 002 011 012 022 111 112 122 222."""
    X, Y, Z = x
    a, b, c, d, e, f = X * X, 2.0 * X * Y, 2.0 * X * Z, Y * Y, 2.0 * Y * Z, Z * Z
    return (
        T[0] * a + T[1] * b + T[2] * c + T[3] * d + T[4] * e + T[5] * f,
        T[1] * a + T[3] * b + T[4] * c + T[6] * d + T[7] * e + T[8] * f,
        T[2] * a + T[4] * b + T[5] * c + T[7] * d + T[8] * e + T[9] * f,
    )


@jit
def _quartic(U, x):
    """U x x x = (U x) x x, where U x has the components of T."""
    X, Y, Z = x
    T = (
        U[0] * X + U[1] * Y + U[2] * Z,
        U[1] * X + U[3] * Y + U[4] * Z,
        U[2] * X + U[4] * Y + U[5] * Z,
        U[3] * X + U[6] * Y + U[7] * Z,
        U[4] * X + U[7] * Y + U[8] * Z,
        U[5] * X + U[8] * Y + U[9] * Z,
        U[6] * X + U[10] * Y + U[11] * Z,
        U[7] * X + U[11] * Y + U[12] * Z,
        U[8] * X + U[12] * Y + U[13] * Z,
        U[9] * X + U[13] * Y + U[14] * Z,
    )
    return _cubic(T, x)


@jit
def _higher(n, A):
    """T n n and U n n n of a body, in space."""
    N = apply_t(A[2], n)
    return apply(A[2], _cubic(A[3], N)), apply(A[2], _quartic(A[4], N))


def fourth_force(r, A, B, p):
    n, u = _direction(r)
    S, Z = A[1], B[1]
    a, b = apply(S, n), apply(Z, n)
    a3, a4 = _higher(n, A)
    b3, b4 = _higher(n, B)
    m, M = A[0], B[0]
    g2 = p.G * (u * u)
    u2, u3, u4 = u * u, u * u * u, (u * u) * (u * u)
    # a mass, and the multipoles of the other body: seen from j, i is at -r
    second = axpy(m * u2, b, scale(M * u2, a))
    third = axpy(-m * u3, b3, scale(M * u3, a3))
    fourth = axpy(m * u4, b4, scale(M * u4, a4))
    radial = m * M + 5.0 * dot(n, second) + 7.0 * dot(n, third) + 9.0 * dot(n, fourth)
    F = axpy(-2.0, second, axpy(-3.0, third, scale(-4.0, fourth)))
    g1 = -p.G * u
    TA = scale(g1 * M, cross(n, axpy(2.0 * u2, a, axpy(3.0 * u3, a3, scale(4.0 * u4, a4)))))
    TB = scale(g1 * m, cross(n, axpy(2.0 * u2, b, axpy(-3.0 * u3, b3, scale(4.0 * u4, b4)))))
    # both quadrupoles: h = 35/3 (n S n)(n Z n) - 20/3 n S Z n + 2/3 S : Z
    al, be, c = dot(n, a), dot(n, b), dot(a, b)
    Sb, Za, C = apply(S, b), apply(Z, a), matmul(S, Z)
    d = C[0][0] + C[1][1] + C[2][2]
    k = 1.0 / 3.0 * u4
    radial += k * (315.0 * al * be - 140.0 * c + 10.0 * d)
    F = axpy(-70.0 * k * be, a, axpy(-70.0 * k * al, b, axpy(20.0 * k, add(Sb, Za), F)))
    ab = cross(a, b)
    both = (C[1][2] - C[2][1], C[2][0] - C[0][2], C[0][1] - C[1][0])
    both = axpy(4.0 * k, both, scale(-20.0 * k, ab))
    own_A = cross(axpy(70.0 * k * be, a, scale(-20.0 * k, Sb)), n)
    own_B = cross(axpy(70.0 * k * al, b, scale(-20.0 * k, Za)), n)
    G1 = p.G * u
    TA = axpy(G1, add(own_A, both), TA)
    TB = axpy(G1, axpy(-1.0, both, own_B), TB)
    return scale(g2, axpy(radial, n, F)), TA, TB


def fourth_energy(r, A, B, p):
    n, u = _direction(r)
    S, Z = A[1], B[1]
    a, b = apply(S, n), apply(Z, n)
    a3, a4 = _higher(n, A)
    b3, b4 = _higher(n, B)
    m, M = A[0], B[0]
    C = matmul(S, Z)
    h2 = m * dot(n, b) + M * dot(n, a)
    h3 = M * dot(n, a3) - m * dot(n, b3)
    h4 = m * dot(n, b4) + M * dot(n, a4)
    d = C[0][0] + C[1][1] + C[2][2]
    h4 += (35.0 * dot(n, a) * dot(n, b) - 20.0 * dot(a, b) + 2.0 * d) / 3.0
    u2 = u * u
    return -p.G * u * (m * M + u2 * (h2 + u * h3 + u2 * h4))
