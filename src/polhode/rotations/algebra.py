"""Quaternions and rotation vectors in arrays: products, exponential, logarithm, angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polhode.errors import floats

EPS = np.finfo(float).eps


def qmul(p: Any, q: Any) -> np.ndarray:
    """Return the quaternion product ``p q`` (..., 4): first `q`, then `p`.

    Examples
    --------
    >>> qmul([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0])
    array([0., 0., 1., 0.])
    """
    p, q = floats("p", p, last=4, finite=False), floats("q", q, last=4, finite=False)
    u, v, a, b = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    return np.concatenate([a * v + b * u + cross(u, v), a * b - dot(u, v)], axis=-1)


def rotate(q: Any, v: Any) -> np.ndarray:
    """Return ``R v`` (..., 3): body vectors `v` seen from space, for unit quaternions `q`.

    Examples
    --------
    >>> rotate([0.0, 0.0, 1.0, 0.0], [1.0, 2.0, 3.0])
    array([-1., -2.,  3.])
    """
    q, v = floats("q", q, last=4, finite=False), floats("v", v, last=3, finite=False)
    u, w = q[..., :3], q[..., 3:]
    c = 2.0 * cross(u, v)
    return v + w * c + cross(u, c)


def rotate_inverse(q: Any, v: Any) -> np.ndarray:
    """Return ``R^T v`` (..., 3): space vectors `v` seen from the body, for unit quaternions `q`.

    Examples
    --------
    >>> rotate_inverse([0.0, 0.0, 0.6, 0.8], rotate([0.0, 0.0, 0.6, 0.8], [1.0, 2.0, 3.0])).round(12)
    array([1., 2., 3.])
    """
    return rotate(conjugate(floats("q", q, last=4, finite=False)), v)


def angle_between(q1: Any, q2: Any) -> np.ndarray:
    """Return the angle (...), in [0, pi], of the rotation from `q1` to `q2`; accurate down to 1e-16
    and up to pi.

    Examples
    --------
    >>> float(angle_between([0, 0, 0, 1], [0, 0, 1e-12, 1]))
    2e-12
    """
    q1, q2 = floats("q1", q1, last=4, finite=False), floats("q2", q2, last=4, finite=False)
    d = qmul(conjugate(q1), q2)
    return 2.0 * np.arctan2(norm(d[..., :3])[..., 0], np.abs(d[..., 3]))


def exp(x: Any) -> np.ndarray:
    """Return the unit quaternions (..., 4) of rotation vectors `x` (..., 3).

    Examples
    --------
    >>> exp([0.0, 0.0, 0.0])
    array([0., 0., 0., 1.])
    """
    x = floats("x", x, last=3, finite=False)
    half = 0.5 * norm(x)
    return np.concatenate([0.5 * sinc(half) * x, np.cos(half)], axis=-1)


def exp_of_one(a: float, b: float, c: float) -> np.ndarray:
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
    n = norm(v)
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
    a, xy = norm(x), cross(x, y)
    # (1 - cos a)/a^2 = sinc(a/2)^2/2 cancels nowhere; (a - sin a)/a^3 = sum (-1)^k a^2k/(2k+3)! does for a < 1
    far = np.where(a < 1.0, 1.0, a)
    s: np.ndarray = np.minimum(a, 1.0) ** 2
    c: np.ndarray | float = 0.0
    for k in range(8, -1, -1):
        c = 1.0 / math.factorial(2 * k + 3) - s * c
    c = np.where(a < 1.0, c, (far - np.sin(far)) / (far * far * far))
    return y - 0.5 * sinc(0.5 * a) ** 2 * xy + c * cross(x, xy)


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
    a, xy = norm(x), cross(x, y)
    far = np.where(a < 1.0, 1.0, a)
    s: np.ndarray = np.minimum(a, 1.0) ** 2
    c: np.ndarray | float = 0.0
    for coefficient in reversed(_COT):
        c = coefficient + s * c
    c = np.where(
        a < 1.0, c, (1.0 - 0.5 * far * np.cos(0.5 * far) / np.sin(0.5 * far)) / (far * far)
    )
    return y + 0.5 * xy + c * cross(x, xy)


def conjugate(q: np.ndarray) -> np.ndarray:
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def dot(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.sum(u * v, axis=-1, keepdims=True)


def norm(v: np.ndarray) -> np.ndarray:
    # hypot: no overflow, no underflow
    return np.hypot(np.hypot(v[..., :1], v[..., 1:2]), v[..., 2:3])


def sinc(a: np.ndarray) -> np.ndarray:
    return np.where(a == 0.0, 1.0, np.sin(a) / np.where(a == 0.0, 1.0, a))


def cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    (a, b, c), (d, e, f) = np.moveaxis(u, -1, 0), np.moveaxis(v, -1, 0)
    return np.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=-1)
