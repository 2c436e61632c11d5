"""Tuple algebra of the rotation group: vectors, 3x3 matrices, quaternions, exp, log, cay and their
tangent maps.

Conventions.  A vector is a 3-tuple, a matrix a 3-tuple of rows, a quaternion a scalar-last 4-tuple (x, y, z, w) of unit
length with R(q) taking body to space, so that R(p q) = R(p) R(q).  hat(a) b = a x b, written a^ b; th = |x|.

    exp(x) = 1 + (sin th / th) x^ + ((1 - cos th) / th^2) x^^2
    cay(x) = (1 - x^/2)^-1 (1 + x^/2), which turns by 2 atan(th/2)
    exp(x + e y) = exp(e dexp_x y) exp(x) + O(e^2), likewise cay and dcay; the body (right) version is dexp_{-x}

Numerics.  Every function is straight-line code in + - * / sqrt whose only choices are selects, so that one source runs
as Python, vectorises over lanes and compiles for CUDA; plain Python and compiled code agree bit for bit.  (The logs
alone call libm, for atan2.)  The coefficients of exp and dexp are functions of th^2, written in the half angle so that
1 - cos th = 2 sin^2(th/2) never cancels; the two that would cancel change to a Taylor series below th = 2.  th^2 may
underflow: all are right at x = 0.  NaN in gives NaN out, and so does division by zero, where plain Python would raise.
"""

import math

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.lanes import fma2

NAN = math.nan
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

# sincos: pi/2 = P1 + P2 + P3 to 2^-107; P1 and P2 have 25 bits, so that n P1 and n P2 are exact for |n| <= 2^28.
TWO_OVER_PI = 2.0 / math.pi
P1 = float.fromhex("0x1.921fb50000000p+0")
P2 = float.fromhex("0x1.110b460000000p-26")
P3 = float.fromhex("0x1.1a62633145c07p-54")
FAR = 1e14  # beyond this neighbouring doubles are 0.016 rad apart and an angle means nothing
MAGIC = 1.5 * 2.0**52  # adding it leaves no bit below the units
# Minimax on |r| <= pi/4 (fdlibm): sin r = r + r^3 SIN(r^2), cos r = 1 - r^2/2 + r^4 COS(r^2), both to 2^-58.
SIN = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COS = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip

# sinc_cos: sin x / x and cos x in powers of z = x^2 to 5e-17 for z < SHORT.  The first two terms are those of the Taylor series,
# the rest of which is economised by Chebyshev's polynomials on [0, SHORT]: ten terms in place of twelve.
SHORT = 4.0
SINC = (
    1.0, -1.0 / 6.0, 1.0 / 120.0, -0.0001984126984126972, 2.755731922392222e-06, -2.505210837269644e-08,
    1.6059042583468236e-10, -7.647096759295614e-13, 2.809472250767683e-15, -7.913313661745482e-18,
)  # fmt: skip
COSINE = (
    1.0, -0.5, 1.0 / 24.0, -0.0013888888888888636, 2.480158730145401e-05, -2.755731919730106e-07,
    2.0876754363399387e-09, -1.1470605334570631e-11, 4.7753188007804074e-14, -1.4974986301573797e-16,
)  # fmt: skip
SINC_COS = tuple(zip(SINC, COSINE, strict=True))

# Tangent maps: Taylor series in th^2 of (th - sin th)/th^3 and (sin u - u cos u)/th^3, u = th/2,
# for th^2 <= NEAR.
NEAR = 4.0
DEXP = tuple((-1.0) ** k / math.factorial(2 * k + 3) for k in range(12))
DEXPINV = tuple((-0.25) ** k * (k + 1) / (4 * math.factorial(2 * k + 3)) for k in range(12))
# added to th^2: nothing to any th above 1e-142, and below it every coefficient is at its limit
TINY = 1e-300


# ------------------------------------------------------------------------------------------ scalars
@jit
def nonzero(x):
    """x, but NaN where x = 0: a denominator that never raises."""
    return x if x != 0.0 else NAN


@jit
def nearest(x):
    """x rounded to the nearest integer, ties to even, |x| < 2^51; safe for NaN and free of
    branches."""
    return (x + MAGIC) - MAGIC


@jit
def poly6(c, z):
    """c0 + c1 z + ... + c5 z^5, in Estrin's order for its short chain of dependent operations."""
    zz = z * z
    return fma(zz, fma(zz, fma(z, c[5], c[4]), fma(z, c[3], c[2])), fma(z, c[1], c[0]))


@jit
def poly10_twice(c, z):
    """c0 + c1 z + ... + c9 z^9 for pairs c0, c1, ...: two polynomials together."""
    z2 = z * z
    z4 = z2 * z2
    z, z2, z4 = (z, z), (z2, z2), (z4, z4)
    low = fma2(z2, fma2(z, c[3], c[2]), fma2(z, c[1], c[0]))
    middle = fma2(z2, fma2(z, c[7], c[6]), fma2(z, c[5], c[4]))
    return fma2(z4, fma2(z4, fma2(z, c[9], c[8]), middle), low)


@jit
def poly12(c, z):
    """c0 + c1 z + ... + c11 z^11."""
    zz = z * z
    zzzz = zz * zz
    low = fma(zz, fma(z, c[3], c[2]), fma(z, c[1], c[0]))
    middle = fma(zz, fma(z, c[7], c[6]), fma(z, c[5], c[4]))
    high = fma(zz, fma(z, c[11], c[10]), fma(z, c[9], c[8]))
    return fma(zzzz, fma(zzzz, high, middle), low)


@jit
def sincos(x):
    """(sin x, cos x) to 1.2e-16 for |x| <= 4e8, to ulp(x) up to 1e14, NaN beyond: x = n pi/2 + r with |r| <= pi/4."""
    x = x if abs(x) < FAR else NAN
    n = nearest(x * TWO_OVER_PI)
    r = fma(n, -P3, fma(n, -P2, fma(n, -P1, x)))
    z = r * r
    s = fma(r * z, poly6(SIN, z), r)
    s = s if z > 0.0 else r  # keeps the sign of zero
    h = 0.5 * z
    w = 1.0 - h
    # the bracket returns what rounding took from w
    c = w + fma(z * z, poly6(COS, z), (1.0 - w) - h)
    m = n - 4.0 * nearest(0.25 * n - 0.125)  # the quadrant: -1, 0, 1 or 2
    odd = m * m == 1.0
    sin = c if odd else s
    cos = s if odd else c
    return -sin if abs(m - 0.5) > 1.0 else sin, -cos if m > 0.5 else cos


@jit
def sinc_cos(z):
    """(sin x / x, cos x) of z = x^2: no root and no division for angles up to two radians, which is what a step turns by."""
    if z < SHORT:
        return poly10_twice(SINC_COS, z)
    x = math.sqrt(z)
    s, c = sincos(x)
    return s / x, c


@jit
def sinc_cos_short(z):
    """The same where lanes stay together: NaN for larger angles, which are then taken one by
    one."""
    z = z if z < SHORT else NAN
    return poly10_twice(SINC_COS, z)


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
    """q (3 - q.q)/2, one Newton step: |q| = 1 + e becomes 1 - 3 e^2/2, so exact for e of the size of round-off."""
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


# ------------------------------------------------------- coefficients, as functions of th^2 = |x|^2
@jit
def half_angle(th2):
    """(th, sin(th/2), cos(th/2)) with th > 0 even at th2 = 0."""
    th = math.sqrt(th2 + TINY)
    s, c = sincos(0.5 * th)
    return th, s, c


@jit
def sinc_half(th2):
    """sin(th/2) / th."""
    th, s, _ = half_angle(th2)
    return s / th


@jit
def dexp_first(th2):
    """(1 - cos th) / th^2 = 2 (sin(th/2) / th)^2."""
    s = sinc_half(th2)
    return 2.0 * s * s


@jit
def dexp_second(th2):
    """(th - sin th) / th^3."""
    th, s, c = half_angle(th2)
    far = (th - 2.0 * s * c) / (th * (th2 if th2 > NEAR else 1.0))
    return far if th2 > NEAR else poly12(DEXP, th2)


@jit
def dexpinv_second(th2):
    """(1 - u cot u) / th^2 = (th / sin u) (sin u - u cos u) / th^3, u = th/2; a pole at th = 2 pi, 4 pi, ..."""
    th, s, c = half_angle(th2)
    far = (s - 0.5 * th * c) / (th * (th2 if th2 > NEAR else 1.0))
    return th / nonzero(s) * (far if th2 > NEAR else poly12(DEXPINV, th2))


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


@jit
def qcayinv(q):
    """x with cay(x) = R(q): 2 v/w; NaN at angle pi, which cay never reaches."""
    return scale(2.0 / nonzero(q[3]), q[:3])


@jit
def cayinv(R):
    """x with cay(x) = R; NaN at angle pi."""
    return qcayinv(quaternion(R))


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


@jit
def dcay(x, y):
    """dcay_x y = 4/(4 + |x|^2) (y + x^ y/2), from (1 - x^/2)^-1 y^ (1 + x^/2)^-1."""
    return scale(4.0 / (4.0 + dot(x, x)), axpy(0.5, cross(x, y), y))


@jit
def dcayinv(x, y):
    """dcay_x^-1 y = y - x^ y/2 + (x.y) x/4."""
    return axpy(0.25 * dot(x, y), x, axpy(-0.5, cross(x, y), y))
