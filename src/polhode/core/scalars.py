"""Sines, cosines and polynomials of one number; their numerics are those of `vec`."""

import math

from polhode.core.constant import Constant
from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.lanes import fma2

NAN = math.nan

# sincos: pi/2 = P1 + P2 + P3 to 2^-107; P1 and P2 have 25 bits, so that n P1 and n P2 are exact for |n| <= 2^28.
# In single precision they have 12, and |n| <= 2^12.
TWO_OVER_PI = 2.0 / math.pi
P1 = Constant(float.fromhex("0x1.921fb50000000p+0"), single=0x1922 / 2.0**12)
P2 = Constant(float.fromhex("0x1.110b460000000p-26"), single=-0x12AE / 2.0**30)
P3 = Constant(
    float.fromhex("0x1.1a62633145c07p-54"),
    single=math.pi / 2.0 - 0x1922 / 2.0**12 + 0x12AE / 2.0**30,
)
# beyond this neighbouring numbers are 0.016 rad apart and an angle means nothing
FAR = Constant(1e14, single=2.0**18)
MAGIC = Constant(1.5 * 2.0**52, single=1.5 * 2.0**23)  # adding it leaves no bit below the units
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
    """(sin x, cos x) to 1.2e-16 for |x| <= 4e8, to ulp(x) up to 1e14, then NaN: x = n pi/2 + r, |r| <= pi/4."""
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


# coefficients of exp and dexp, as functions of th^2 = |x|^2
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
