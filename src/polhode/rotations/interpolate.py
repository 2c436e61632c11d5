"""Interpolation between two motions."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.errors import InputError, floats
from polhode.rotations.algebra import conjugate, dexp_body, dexpinv_body, dot, exp, log, norm, qmul


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
            "h must not be zero: there is nothing to interpolate in a step of length zero; drop that step"
        )
    x1 = _turn(log(qmul(conjugate(q0), q1)), 0.5 * h * (omega0 + omega1))
    d0, d1 = h * omega0, h * dexpinv_body(x1, omega1)
    # x(0) = 0, x'(0) = d0, x(1) = x1, x'(1) = d1
    x = s * ((1 - s) ** 2 * d0 + s * ((3 - 2 * s) * x1 - (1 - s) * d1))
    rate = (1 - s) * (1 - 3 * s) * d0 + s * (6 * (1 - s) * x1 + (3 * s - 2) * d1)
    q, omega = qmul(q0, exp(x)), dexp_body(x, rate) / h
    end = np.where(dot(q, q1) < 0.0, -q1, q1)
    q = np.where(s == 0.0, q0, np.where(s == 1.0, end, q))
    return q, np.where(s == 0.0, omega0, np.where(s == 1.0, omega1, omega))


def _turn(x: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return `x` or the turn the other way about that ends alike, whichever is nearer to the
    `expected` one."""
    a = norm(x)
    other = x - 2 * np.pi * x / np.where(a == 0.0, 1.0, a)
    # dexpinv is singular at 2 pi: keep clear of it
    swap = (a > 2 * np.pi - 5.5) & (norm(other - expected) < norm(x - expected))
    return np.where(swap, other, x)
