"""Rotations at the edge of the library: whatever the user has -> unit quaternion -> whatever the
user wants.

Quaternions are scalar-last ``(x, y, z, w)``, as in SciPy; a rotation takes body vectors to space,
``v = R V``.  All functions but `as_quaternion` work over leading axes.  The compiled loops have
their own copies in ``core/vec.py``; these are the NumPy ones, for input, output and interpolation.
In the rotation-vector chart at R0, with body velocity W,

    R = R0 exp(x),   W = dexp_{-x} x',
    dexp_{-x} y      = y - (1 - cos a)/a^2 x*y + (a - sin a)/a^3 x*(x*y),           a = |x|,  * the cross product
    dexp_{-x}^{-1} y = y + x*y/2 + (1 - (a/2) cot(a/2))/a^2 x*(x*y).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.vec import det as determinant
from polhode.core.vec import matmul, transpose
from polhode.errors import InputError, floats
from polhode.support.frames import nearest_rotation

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

__all__ = [
    "angle_between",
    "as_quaternion",
    "as_rotation",
    "dexp_body",
    "dexpinv_body",
    "exp",
    "hermite",
    "log",
    "matrices",
    "qmul",
    "rotate",
    "rotate_inverse",
]

# A matrix or quaternion further than this from the group is refused.  float32 data and numbers
# copied with 7 digits are within 1e-6; a mistyped digit, a matrix that is not a rotation or a
# quaternion that was never normalised is not.
OFF_GROUP = 1e-6  # what a matrix or quaternion may be off
_EPS = np.finfo(float).eps
ROUNDING = 4 * float(_EPS)  # a norm that is off by no more is 1
_ACCEPTED = (
    "accepted: None, a single scipy Rotation, a 3x3 matrix, 4 numbers (unit quaternion x, y, z, w) "
    "or 3 numbers (rotation vector)"
)


def as_quaternion(rotation: Any = None) -> np.ndarray:
    """Return one rotation, in any of the usual forms, as a unit quaternion.

    Parameters
    ----------
    rotation : None, scipy Rotation, or array_like of shape (3, 3), (4,) or (3,)
        None is the identity; 3x3 a rotation matrix; 4 numbers a unit quaternion, scalar *last*; 3
        numbers a rotation vector (axis times angle in radians).  A matrix or quaternion may be off
        by 1e-6: the nearest rotation is used.  A quaternion that is unit to rounding is returned
        bit for bit, so that restarts repeat exactly.

    Returns
    -------
    ndarray, shape (4,)
        Scalar-last unit quaternion, float64.

    Examples
    --------
    >>> as_quaternion([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).round(6)
    array([0.      , 0.      , 0.707107, 0.707107])
    """
    if rotation is None:
        return np.array([0.0, 0.0, 0.0, 1.0])
    if hasattr(rotation, "as_quat"):  # a scipy Rotation, without importing scipy
        q = floats("rotation", rotation.as_quat())
        if q.shape != (4,):
            raise InputError(
                f"rotation must be a single Rotation, got a stack of {len(q)}; pick one: rotation[0]"
            )
        return q.copy()
    value = floats("rotation", rotation)
    if value.shape == (3, 3):
        return _from_matrix(value)
    if value.shape == (4,):
        norm = math.hypot(*value.tolist())
        if not abs(norm - 1.0) <= OFF_GROUP:
            fix = (
                "divide it by its norm if that is what you mean"
                if norm > 0.0
                else "the identity is (0, 0, 0, 1)"
            )
            raise InputError(
                f"rotation must be a unit quaternion (x, y, z, w), got {_show(value)} of norm {norm:.9g}; "
                + fix
            )
        return value.copy() if abs(norm - 1.0) <= ROUNDING else value / norm
    if value.shape == (3,):
        if math.isinf(math.hypot(*value.tolist())):
            raise InputError(
                f"rotation must be a vector with a length that fits in a float64, got {_show(value)}; give one of "
                "at most pi"
            )
        return _exp_of_one(*value.tolist())
    raise InputError(f"rotation has shape {value.shape}; {_ACCEPTED}")


def _from_matrix(R: np.ndarray) -> np.ndarray:
    rows = R.tolist()
    off, det = (
        float(np.abs(np.array(matmul(transpose(rows), rows)) - np.eye(3)).max()),
        determinant(rows),
    )
    mirror = "and contains a reflection " if det < 0.0 else ""
    if not off <= OFF_GROUP:
        raise InputError(
            f"rotation matrix {_show(R)} is not orthogonal {mirror}(determinant {det:.6g}): R^T R is off "
            f"the identity by up to {off:.3g}, allowed {OFF_GROUP:g}; correct it, or pass U @ Vt from "
            "numpy.linalg.svd, the nearest (three rotation vectors? give one rotation at a time)"
        )
    if det < 0.0:
        raise InputError(
            f"rotation matrix {_show(R)} is a reflection: its determinant is {det:.6g}, not +1; "
            "change the sign of one row or column (left-handed axes?)"
        )
    # The four-fold products of q with itself; the column of the largest diagonal has no
    # cancellation (Shepperd 1978).
    (a, b, c), (d, e, f), (g, h, i) = nearest_rotation(rows)
    K = np.array(
        [
            [1 + a - e - i, b + d, c + g, h - f],
            [b + d, 1 - a + e - i, f + h, c - g],
            [c + g, f + h, 1 - a - e + i, d - b],
            [h - f, c - g, d - b, 1 + a + e + i],
        ]
    )
    q = K[:, np.argmax(np.diag(K))]
    q = q / math.sqrt((q * q).sum())
    return -q if q[3] < 0.0 else q


def as_rotation(q: Any) -> Rotation:
    """Return quaternions of shape (4,) or (n, 4) as a scipy Rotation.

    Examples
    --------
    >>> float(as_rotation([0.0, 0.0, 0.0, 1.0]).magnitude())
    0.0
    """
    from scipy.spatial.transform import Rotation

    q = floats("q", q, last=4)
    if q.ndim > 2:
        raise InputError(
            f"q must have shape (4,) or (n, 4), got {q.shape}; reshape it to (-1, 4) first"
        )
    if not np.all(np.any(q != 0.0, axis=-1)):
        raise InputError(
            "q has a quaternion of zeros, which is no rotation; the identity is (0, 0, 0, 1)"
        )
    return Rotation.from_quat(q)


def matrices(q: Any) -> np.ndarray:
    """Return the rotation matrices (..., 3, 3) of unit quaternions `q` (..., 4).

    Examples
    --------
    >>> matrices([0.0, 0.0, 1.0, 0.0])
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    q = floats("q", q, last=4, finite=False)
    x, y, z, w = np.moveaxis(q, -1, 0)
    out = np.empty((*q.shape[:-1], 3, 3))
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - z * w),
        2 * (x * z + y * w),
    )
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = (
        2 * (x * y + z * w),
        1 - 2 * (x * x + z * z),
        2 * (y * z - x * w),
    )
    out[..., 2, 0], out[..., 2, 1], out[..., 2, 2] = (
        2 * (x * z - y * w),
        2 * (y * z + x * w),
        1 - 2 * (x * x + y * y),
    )
    return out


def qmul(p: Any, q: Any) -> np.ndarray:
    """Return the quaternion product ``p q`` (..., 4): first `q`, then `p`.

    Examples
    --------
    >>> qmul([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0])
    array([0., 0., 1., 0.])
    """
    p, q = floats("p", p, last=4, finite=False), floats("q", q, last=4, finite=False)
    u, v, a, b = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    return np.concatenate([a * v + b * u + _cross(u, v), a * b - _dot(u, v)], axis=-1)


def rotate(q: Any, v: Any) -> np.ndarray:
    """Return ``R v`` (..., 3): body vectors `v` seen from space, for unit quaternions `q`.

    Examples
    --------
    >>> rotate([0.0, 0.0, 1.0, 0.0], [1.0, 2.0, 3.0])
    array([-1., -2.,  3.])
    """
    q, v = floats("q", q, last=4, finite=False), floats("v", v, last=3, finite=False)
    u, w = q[..., :3], q[..., 3:]
    c = 2.0 * _cross(u, v)
    return v + w * c + _cross(u, c)


def rotate_inverse(q: Any, v: Any) -> np.ndarray:
    """Return ``R^T v`` (..., 3): space vectors `v` seen from the body, for unit quaternions `q`.

    Examples
    --------
    >>> rotate_inverse([0.0, 0.0, 0.6, 0.8], rotate([0.0, 0.0, 0.6, 0.8], [1.0, 2.0, 3.0])).round(12)
    array([1., 2., 3.])
    """
    return rotate(_conjugate(floats("q", q, last=4, finite=False)), v)


def angle_between(q1: Any, q2: Any) -> np.ndarray:
    """Return the angle (...), in [0, pi], of the rotation from `q1` to `q2`; accurate down to 1e-16
    and up to pi.

    Examples
    --------
    >>> float(angle_between([0, 0, 0, 1], [0, 0, 1e-12, 1]))
    2e-12
    """
    q1, q2 = floats("q1", q1, last=4, finite=False), floats("q2", q2, last=4, finite=False)
    d = qmul(_conjugate(q1), q2)
    return 2.0 * np.arctan2(_norm(d[..., :3])[..., 0], np.abs(d[..., 3]))


def exp(x: Any) -> np.ndarray:
    """Return the unit quaternions (..., 4) of rotation vectors `x` (..., 3).

    Examples
    --------
    >>> exp([0.0, 0.0, 0.0])
    array([0., 0., 0., 1.])
    """
    x = floats("x", x, last=3, finite=False)
    half = 0.5 * _norm(x)
    return np.concatenate([0.5 * _sinc(half) * x, np.cos(half)], axis=-1)


def _exp_of_one(a: float, b: float, c: float) -> np.ndarray:
    """Return the bits of `exp` for one vector, in less time."""
    half = 0.5 * float(np.hypot(np.hypot(a, b), c))
    factor = 0.5 * (float(np.sin(half)) / half if half else 1.0)
    return np.array([factor * a, factor * b, factor * c, float(np.cos(half))])


def log(q: Any) -> np.ndarray:
    """Return the rotation vectors (..., 3), of length pi at most, of unit quaternions `q` (..., 4).

    Examples
    --------
    >>> log([0.0, 0.0, -1.0, 0.0])
    array([ 0.        ,  0.        , -3.14159265])
    """
    q = floats("q", q, last=4, finite=False)
    q = np.where(q[..., 3:] < 0.0, -q, q)
    v, w = q[..., :3], q[..., 3:]
    n = _norm(v)
    zero = n == 0.0
    return (
        np.where(
            zero, 2.0 / np.where(zero, w, 1.0), 2.0 * np.arctan2(n, w) / np.where(zero, 1.0, n)
        )
        * v
    )


def dexp_body(x: Any, y: Any) -> np.ndarray:
    """Return the body velocity ``dexp_{-x} y`` of ``exp(x)`` where x changes at rate `y` (both
    (..., 3)).

    Examples
    --------
    >>> dexp_body([0.0, 0.0, np.pi], [1.0, 0.0, 0.0]).round(4)   # x grows along the first axis; the body turns otherwise
    array([ 0.    , -0.6366,  0.    ])
    """
    x, y = floats("x", x, last=3, finite=False), floats("y", y, last=3, finite=False)
    a, xy = _norm(x), _cross(x, y)
    # (1 - cos a)/a^2 = sinc(a/2)^2/2 cancels nowhere; (a - sin a)/a^3 = sum (-1)^k a^2k/(2k+3)! does for a < 1
    far = np.where(a < 1.0, 1.0, a)
    s, c = np.minimum(a, 1.0) ** 2, 0.0
    for k in range(8, -1, -1):
        c = 1.0 / math.factorial(2 * k + 3) - s * c
    c = np.where(a < 1.0, c, (far - np.sin(far)) / (far * far * far))
    return y - 0.5 * _sinc(0.5 * a) ** 2 * xy + c * _cross(x, xy)


# |B_2k|/(2k)!, k = 1, 2, ...: the series of (1 - (a/2) cot(a/2))/a^2 in a^2; the ratio of two terms is near 1/(4 pi^2)
_COT = (
    1 / 12,
    1 / 720,
    1 / 30240,
    1 / 1209600,
    1 / 47900160,
    691 / 1307674368000,
    1 / 74724249600,
    3617 / 10670622842880000,
    43867 / 5109094217170944000,
    174611 / 802857662698291200000,
)


def dexpinv_body(x: Any, y: Any) -> np.ndarray:
    """Return the rate of x (..., 3) at which ``exp(x)`` has body velocity `y`: inverse of
    `dexp_body`, |x| < 2 pi.

    Examples
    --------
    >>> dexpinv_body([0.0, 0.0, 0.5], dexp_body([0.0, 0.0, 0.5], [1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    x, y = floats("x", x, last=3, finite=False), floats("y", y, last=3, finite=False)
    a, xy = _norm(x), _cross(x, y)
    far = np.where(a < 1.0, 1.0, a)
    s, c = np.minimum(a, 1.0) ** 2, 0.0
    for coefficient in reversed(_COT):
        c = coefficient + s * c
    c = np.where(
        a < 1.0, c, (1.0 - 0.5 * far * np.cos(0.5 * far) / np.sin(0.5 * far)) / (far * far)
    )
    return y + 0.5 * xy + c * _cross(x, xy)


def hermite(
    q0: Any, omega0: Any, q1: Any, omega1: Any, h: Any, s: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Interpolate attitude and body angular velocity inside a step.

    The rotation vector from `q0` is a cubic in `s` that matches attitude and velocity at both ends,
    so the motion is continuous with a continuous velocity across steps.  While a step turns the
    body by less than about 2 rad the error is O(h^4) in the attitude and O(h^3) in the velocity.
    Longer steps are taken without complaint but with no such claim; near and above pi the turn, of
    the two shortest that end at `q1`, is the one nearer to the velocities.

    Parameters
    ----------
    q0, q1 : array_like, shape (..., 4)
        Unit quaternions at the two ends; their signs do not matter.
    omega0, omega1 : array_like, shape (..., 3)
        Body angular velocities at the two ends.
    h : array_like, shape (...)
        Length of the step, of either sign, not zero.
    s : array_like, shape (...)
        Fraction of the step, 0 to 1 (beyond is extrapolation).  All arguments broadcast over the
        leading axes.

    Returns
    -------
    q : ndarray, shape (..., 4)
        Attitudes: `q0` at s = 0, `q1` (or ``-q1``, whichever continues from `q0`) at s = 1.
    omega : ndarray, shape (..., 3)
        Body angular velocities of the interpolant: exactly `omega0` and `omega1` at the ends.

    Examples
    --------
    A steady spin about z is reproduced.

    >>> q, omega = hermite([0, 0, 0, 1], [0, 0, 1], exp([0, 0, 0.5]), [0, 0, 1], h=0.5, s=[0.0, 0.5])
    >>> log(q).round(12), omega.round(12)
    (array([[0.  , 0.  , 0.  ],
           [0.  , 0.  , 0.25]]), array([[0., 0., 1.],
           [0., 0., 1.]]))
    """
    q0, q1 = floats("q0", q0, last=4, finite=False), floats("q1", q1, last=4, finite=False)
    omega0 = floats("omega0", omega0, last=3, finite=False)
    omega1 = floats("omega1", omega1, last=3, finite=False)
    h, s = floats("h", h)[..., None], floats("s", s, finite=False)[..., None]
    if not np.all(h):
        raise InputError(
            "h must not be zero: there is nothing to interpolate in a step of no length; drop that step"
        )
    x1 = _turn(log(qmul(_conjugate(q0), q1)), 0.5 * h * (omega0 + omega1))
    d0, d1 = h * omega0, h * dexpinv_body(x1, omega1)
    # x(0) = 0, x'(0) = d0, x(1) = x1, x'(1) = d1
    x = s * ((1 - s) ** 2 * d0 + s * ((3 - 2 * s) * x1 - (1 - s) * d1))
    rate = (1 - s) * (1 - 3 * s) * d0 + s * (6 * (1 - s) * x1 + (3 * s - 2) * d1)
    q, omega = qmul(q0, exp(x)), dexp_body(x, rate) / h
    end = np.where(_dot(q, q1) < 0.0, -q1, q1)
    q = np.where(s == 0.0, q0, np.where(s == 1.0, end, q))
    return q, np.where(s == 0.0, omega0, np.where(s == 1.0, omega1, omega))


def _turn(x: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return `x` or the turn the other way about that ends alike, whichever is nearer to the
    `expected` one."""
    a = _norm(x)
    other = x - 2 * np.pi * x / np.where(a == 0.0, 1.0, a)
    # dexpinv is singular at 2 pi: keep clear of it
    swap = (a > 2 * np.pi - 5.5) & (_norm(other - expected) < _norm(x - expected))
    return np.where(swap, other, x)


def _show(value: np.ndarray) -> str:
    return np.array2string(value, precision=9, separator=", ").replace("\n", "")


def _conjugate(q: np.ndarray) -> np.ndarray:
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def _dot(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.sum(u * v, axis=-1, keepdims=True)


def _norm(v: np.ndarray) -> np.ndarray:
    # hypot: no overflow, no underflow
    return np.hypot(np.hypot(v[..., :1], v[..., 1:2]), v[..., 2:3])


def _sinc(a: np.ndarray) -> np.ndarray:
    return np.where(a == 0.0, 1.0, np.sin(a) / np.where(a == 0.0, 1.0, a))


def _cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    (a, b, c), (d, e, f) = np.moveaxis(u, -1, 0), np.moveaxis(v, -1, 0)
    return np.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=-1)
