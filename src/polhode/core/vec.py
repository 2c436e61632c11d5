"""Tuple algebra of the rotation group: vectors, 3x3 matrices, quaternions, exp, log, cay and the
tangent map of exp.

Conventions.  A vector is a 3-tuple, a matrix a 3-tuple of rows, a quaternion a scalar-last 4-tuple (x, y, z, w) of unit
length with R(q) taking body to space, so that R(p q) = R(p) R(q).  hat(a) b = a x b, written a^ b; th = |x|.

    exp(x) = 1 + (sin th / th) x^ + ((1 - cos th) / th^2) x^^2
    cay(x) = (1 - x^/2)^-1 (1 + x^/2), which turns by 2 atan(th/2)
    exp(x + e y) = exp(e dexp_x y) exp(x) + O(e^2); the body (right) version is dexp_{-x}

Numerics.  Every function is straight-line code in + - * / sqrt whose only choices are selects, so that one source runs
as Python, vectorises over lanes and compiles for CUDA; plain Python and compiled code agree bit for bit.  (The logs
alone call libm, for atan2.)  The coefficients of exp and dexp are functions of th^2, written in the half angle so that
1 - cos th = 2 sin^2(th/2) never cancels; the two that would cancel change to a Taylor series below th = 2.  th^2 may
underflow: all are right at x = 0.  NaN in gives NaN out, and so does division by zero, where plain Python would raise.
"""

import math

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.scalars import TINY, dexp_first, dexp_second, dexpinv_second, nonzero, sinc_cos

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


# ------------------------------------------------------------------------------------------ vectors
@jit
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@jit
def sub(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@jit
def neg(a):
    """-a."""
    return -a[0], -a[1], -a[2]


@jit
def scale(c, a):
    """c a, c a scalar."""
    return c * a[0], c * a[1], c * a[2]


@jit
def axpy(c, x, y):
    """c x + y, c a scalar."""
    return c * x[0] + y[0], c * x[1] + y[1], c * x[2] + y[2]


@jit
def times(a, b):
    """diag(a) b, the product component by component: principal moments of inertia times a
    vector."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@jit
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def cross(a, b):
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@jit
def norm(a):
    """|a|; the square must stay in range, 1e-154 < |a| < 1e154."""
    return math.sqrt(dot(a, a))


# ----------------------------------------------------------------------------------------- matrices
@jit
def hat(a):
    """a^, the matrix with a^ b = a x b."""
    x, y, z = a
    return (0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)


@jit
def outer(a, b):
    """a b^T."""
    return scale(a[0], b), scale(a[1], b), scale(a[2], b)


@jit
def diag(d):
    """The diagonal matrix of d."""
    return (d[0], 0.0, 0.0), (0.0, d[1], 0.0), (0.0, 0.0, d[2])


@jit
def transpose(M):
    """M^T."""
    a, b, c = M
    return (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])


@jit
def madd(A, B):
    """A + B."""
    return add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2])


@jit
def mscale(c, A):
    """c A, c a scalar."""
    return scale(c, A[0]), scale(c, A[1]), scale(c, A[2])


@jit
def apply(M, a):
    """M a."""
    return dot(M[0], a), dot(M[1], a), dot(M[2], a)


@jit
def apply_t(M, a):
    """M^T a."""
    return axpy(a[0], M[0], axpy(a[1], M[1], scale(a[2], M[2])))


@jit
def matmul(A, B):
    """A B."""
    return apply_t(B, A[0]), apply_t(B, A[1]), apply_t(B, A[2])


@jit
def det(M):
    """det M = M1 . (M2 x M3), by rows."""
    return dot(M[0], cross(M[1], M[2]))


@jit
def solve(M, b):
    """x with M x = b, by Cramer's rule: the columns of M^-1 are Mj x Mk / det M.  NaN if det M = 0."""
    p, q, r = cross(M[1], M[2]), cross(M[2], M[0]), cross(M[0], M[1])
    return scale(1.0 / nonzero(dot(M[0], p)), apply_t((p, q, r), b))


@jit
def rodrigues(b, c, x):
    """1 + b x^ + c x^^2: the form of exp, cay and dexp alike."""
    bx, by, bz = scale(b, x)
    u, v, w = scale(c, x)
    x, y, z = x
    return (
        (1.0 - (v * y + w * z), u * y - bz, u * z + by),
        (u * y + bz, 1.0 - (w * z + u * x), v * z - bx),
        (u * z - by, v * z + bx, 1.0 - (u * x + v * y)),
    )


# -------------------------------------------------------------------------------------- quaternions
@jit
def qmul(p, q):
    """p q, the rotation q followed by the rotation p."""
    a, b, c, d = p
    x, y, z, w = q
    return (
        d * x + a * w + b * z - c * y,
        d * y + b * w + c * x - a * z,
        d * z + c * w + a * y - b * x,
        d * w - a * x - b * y - c * z,
    )


@jit
def qtimes(q, v):
    """q v, v a vector; 2 q' of a body that turns with v.  Every sum is one chain, for steps in
    which nothing waits for it."""
    a, b, c, d = q
    x, y, z = v
    return (
        fma(d, x, fma(b, z, -c * y)),
        fma(d, y, fma(c, x, -a * z)),
        fma(d, z, fma(a, y, -b * x)),
        fma(-a, x, fma(-b, y, -c * z)),
    )


@jit
def qconj(q):
    """The conjugate, for unit q the inverse."""
    return -q[0], -q[1], -q[2], q[3]


@jit
def qrotate(q, a):
    """R(q) a = a + w t + v x t with t = 2 v x a, q = (v, w)."""
    v = q[:3]
    t = scale(2.0, cross(v, a))
    return add(axpy(q[3], t, a), cross(v, t))


@jit
def qrotate_t(q, a):
    """R(q)^T a."""
    return qrotate(qconj(q), a)


@jit
def normalise(q):
    """q / |q|, for any q; NaN if q = 0."""
    x, y, z, w = q
    n = nonzero(math.sqrt(x * x + y * y + z * z + w * w))
    return x / n, y / n, z / n, w / n


@jit
def renormalise(q):
    """q (3 - q.q)/2, one Newton step: |q| = 1 + e becomes 1 - 3 e^2/2, exact for e of the size of round-off."""
    x, y, z, w = q
    c = 1.5 - 0.5 * (x * x + y * y + z * z + w * w)
    return c * x, c * y, c * z, c * w


@jit
def matrix(q):
    """R(q) = 1 + 2 w v^ + 2 v^^2, q = (v, w)."""
    return rodrigues(2.0 * q[3], 2.0, q[:3])


@jit
def attitude(q):
    """R(q / |q|), without a square root; NaN if q = 0."""
    a, b, c, d = q
    two = 2.0 / nonzero(fma(a, a, b * b) + fma(c, c, d * d))
    return rodrigues(two * d, two, (a, b, c))


@jit
def quaternion(R):
    """q with R(q) = R, after Spurrier: the largest of (tr R, R11, R22, R33) picks the row of 4 q
    q^T to normalise.

    Accurate at every angle, pi included.  The largest component of q is positive; w > 0 is certain
    below 90 degrees.
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    qx = (1.0 + a - e - i, b + d, c + g, h - f)
    qy = (b + d, 1.0 + e - i - a, f + h, c - g)
    qz = (c + g, f + h, 1.0 + i - a - e, d - b)
    qw = (h - f, c - g, d - b, 1.0 + a + e + i)
    xy, p = (qx, a) if a > e else (qy, e)
    zw, q = (qz, i) if i > a + e + i else (qw, a + e + i)
    return normalise(xy if p > q else zw)


# --------------------------------------------------------------------------- exponential and Cayley
@jit
def qexp(x):
    """The quaternion of exp(x): (sin(th/2)/th x, cos(th/2))."""
    s, c = sinc_cos(0.25 * dot(x, x))
    a, b, d = scale(0.5 * s, x)
    return a, b, d, c


@jit
def exp(x):
    """exp(x^) = 1 + (sin th/th) x^ + (2 sin^2(th/2)/th^2) x^^2, Rodrigues' formula."""
    return matrix(qexp(x))


@jit
def qlog(q):
    """x with exp(x) = R(q), |x| <= pi: 2 atan2(|v|, |w|) sgn(w) v/|v|; the same for -q, and for q
    of any length."""
    v, w = q[:3], q[3]
    n = math.sqrt(dot(v, v) + TINY)
    return scale((-2.0 if w < 0.0 else 2.0) * math.atan2(n, abs(w)) / n, v)


@jit
def log(R):
    """x with exp(x) = R, |x| <= pi; accurate at every angle, but at pi x and -x are both right and
    rounding decides."""
    return qlog(quaternion(R))


@jit
def qcay(x):
    """The quaternion of cay(x): (x, 2) / sqrt(4 + |x|^2)."""
    n = math.sqrt(4.0 + dot(x, x))
    return x[0] / n, x[1] / n, x[2] / n, 2.0 / n


@jit
def cay(x):
    """cay(x^) = 1 + 4/(4 + |x|^2) x^ + 2/(4 + |x|^2) x^^2."""
    c = 2.0 / (4.0 + dot(x, x))
    return rodrigues(2.0 * c, c, x)


# ------------------------------------------------------------------------------------- tangent maps
@jit
def dexp(x, y):
    """dexp_x y = y + ((1 - cos th)/th^2) x^ y + ((th - sin th)/th^3) x^^2 y."""
    th2, z = dot(x, x), cross(x, y)
    return axpy(dexp_second(th2), cross(x, z), axpy(dexp_first(th2), z, y))


@jit
def dexp_body(x, y):
    """dexp_{-x} y: exp(x + e y) = exp(x) exp(e dexp_{-x} y)."""
    return dexp(neg(x), y)


@jit
def dexp_matrix(x):
    """dexp_x as a matrix; its transpose is dexp_{-x}."""
    th2 = dot(x, x)
    return rodrigues(dexp_first(th2), dexp_second(th2), x)


@jit
def dexpinv(x, y):
    """dexp_x^-1 y = y - x^ y/2 + ((1 - (th/2) cot(th/2))/th^2) x^^2 y; singular at th = 2 pi, 4 pi, ..."""
    z = cross(x, y)
    return axpy(dexpinv_second(dot(x, x)), cross(x, z), axpy(-0.5, z, y))


@jit
def dexpinv_body(x, y):
    """dexp_{-x}^-1 y."""
    return dexpinv(neg(x), y)
