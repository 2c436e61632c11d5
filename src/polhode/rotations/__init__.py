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

from polhode.rotations.algebra import (
    angle_between,
    dexp_body,
    dexpinv_body,
    exp,
    log,
    qmul,
    rotate,
    rotate_inverse,
)
from polhode.rotations.convert import as_quaternion, as_rotation, matrices
from polhode.rotations.interpolate import hermite

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


def __dir__() -> list[str]:
    return __all__  # what completion offers
