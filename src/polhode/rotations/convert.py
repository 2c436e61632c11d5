"""From whatever the user has to a unit quaternion, and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.vec import det as determinant
from polhode.core.vec import matmul, transpose
from polhode.errors import InputError, flag, floats, warn
from polhode.rotations.algebra import exp_of_one, EPS
from polhode.support.frames import nearest_rotation

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

# A matrix or quaternion further than this from the group is refused.  float32 data and numbers
# copied with 7 digits are within 1e-6; a mistyped digit, a matrix that is not a rotation or a
# quaternion that was never normalised is not.
OFF_GROUP = 1e-6
ROUNDING = 4 * float(EPS)  # a norm that is off by no more is 1
_ACCEPTED = (
    "accepted: None, a single scipy Rotation, a 3x3 matrix, 4 numbers (unit quaternion x, y, z, w) "
    "or 3 numbers (rotation vector)"
)


HALF_TURN = [1.0, 0.0, 0.0, 0.0]


def scalar_last(q: np.ndarray, scalar_first: bool | None) -> np.ndarray:
    """Return quaternions (..., 4) with the scalar last.  With None, numbers that often mean the
    identity cause a warning."""
    if scalar_first is not None:
        return q[..., [1, 2, 3, 0]] if flag("scalar_first", scalar_first) else q
    if q.size and q.reshape(-1, 4)[0].tolist() == HALF_TURN:
        warn(
            "the quaternion (1, 0, 0, 0) is read as (x, y, z, w): a half turn about the first axis; for the identity, "
            "write (0, 0, 0, 1) or scalar_first=True; scalar_first=False confirms the half turn",
        )
    return q


def as_quaternion(
    rotation: Any = None, scalar_first: bool | None = False, what: str = "rotation"
) -> np.ndarray:
    """Return one rotation, in any of the usual forms, as a unit quaternion.

    Parameters
    ----------
    rotation : None, scipy Rotation, or array_like of shape (3, 3), (4,) or (3,)
        None is the identity; 3x3 a rotation matrix; 4 numbers a unit quaternion, scalar *last*; 3
        numbers a rotation vector (axis times angle in radians).  A matrix or quaternion may be off
        by 1e-6: the nearest rotation is used.  A quaternion that is unit to rounding is returned
        bit for bit, so that restarts repeat exactly.
    scalar_first : bool or None
        True: 4 numbers are (w, x, y, z).  None: they are scalar last, with a warning where they are
        exactly (1, 0, 0, 0), which others write for the identity.
    what : str, optional
        Name of the argument, for the message.

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
        q = floats(what, rotation.as_quat())
        if q.shape != (4,):
            raise InputError(
                f"{what} must be a single Rotation, got a stack of {len(q)}; pick one: {what}[0]"
            )
        return q.copy()
    value = floats(what, rotation)
    if value.shape == (3, 3):
        return _from_matrix(value)
    if value.shape == (4,):
        value = scalar_last(value, scalar_first)
        norm = math.hypot(*value.tolist())
        if not abs(norm - 1.0) <= OFF_GROUP:
            fix = (
                "divide it by its norm if that is what you mean"
                if norm > 0.0
                else "the identity is (0, 0, 0, 1)"
            )
            raise InputError(
                f"{what} must be a unit quaternion (x, y, z, w), got {_show(value)} of norm {norm:.9g}; "
                + fix
            )
        return value.copy() if abs(norm - 1.0) <= ROUNDING else value / norm
    if value.shape == (3,):
        if math.isinf(math.hypot(*value.tolist())):
            raise InputError(
                f"{what} must be a vector with a length that fits in a float64, got {_show(value)}; give one of "
                "at most pi"
            )
        return exp_of_one(*value.tolist())
    raise InputError(f"{what} has shape {value.shape}; {_ACCEPTED}")


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
            "q has a quaternion of zeros, which is not a rotation; the identity is (0, 0, 0, 1)"
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


def _show(value: np.ndarray) -> str:
    return np.array2string(value, precision=9, separator=", ").replace("\n", "")
