"""Matrix Lie algebras: each is its bracket and its exponential."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.core.vec import dexp_matrix, exp, qexp
from polhode.errors import InputError, brief, whole


@dataclass(frozen=True)
class Algebra:
    """A matrix Lie algebra: elements are arrays of the given shape.

    Attributes
    ----------
    bracket : callable
        `bracket(a, b)`, the commutator, in whatever coordinates the elements have.
    exp : callable
        `exp(a)`, a matrix that multiplies y.
    shape : tuple of int, optional
        Of an element; checked where it is given.
    """

    name: str
    bracket: Callable[..., np.ndarray]
    exp: Callable[..., np.ndarray]
    shape: tuple | None = None


def numbers(value: Any) -> np.ndarray:
    """An array of floats, or of complex numbers where there are any."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "fiuc":
            return array.astype(np.result_type(array, float), copy=False)
    except Exception:  # ragged lists, and objects with an __array__ of their own
        array = None
    raise InputError(
        f"elements of an algebra are arrays of numbers, got {brief(value)}; convert them first"
    )


def commutator(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b - b a."""
    return a @ b - b @ a


def _expm(a):
    from scipy.linalg import expm

    return expm(a)


def _rotation(w):
    """exp of a rotation vector, and the matrix V = dexp_w."""
    w = tuple(map(float, w))
    return np.array(exp(w)), np.array(dexp_matrix(w))


def _exp_se3(a):
    R, V = _rotation(a[3:])
    return np.block([[R, (V @ a[:3])[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def _bracket_se3(a, b):
    return np.concatenate([np.cross(a[3:], b[:3]) - np.cross(b[3:], a[:3]), np.cross(a[3:], b[3:])])


def _exp_su2(w):
    """cos(th/2) - i sin(th/2)/th w.sigma, the double cover of exp in so(3)."""
    x, y, z, c = qexp(tuple(map(float, w)))
    return np.array([[c - 1j * z, -y - 1j * x], [y - 1j * x, c + 1j * z]])


so3 = Algebra("so(3)", np.cross, lambda w: _rotation(w)[0], (3,))
"""Rotation vectors; the group acts by 3x3 matrices."""


su2 = Algebra("su(2)", np.cross, _exp_su2, (3,))
"""Rotation vectors; the group acts by unitary 2x2 matrices, -i/2 w.sigma being the element of w."""


se3 = Algebra("se(3)", _bracket_se3, _exp_se3, (6,))
"""Twists (velocity, angular velocity); the group acts by 4x4 matrices [[R, x], [0, 1]]."""


def so(n: int) -> Algebra:
    """Skew n x n matrices.

    Examples
    --------
    >>> so(4).shape
    (4, 4)
    """
    return _matrices("so", n)


def sl(n: int) -> Algebra:
    """Trace-free n x n matrices.

    Examples
    --------
    >>> from polhode.lie import solve
    >>> run = solve(sl(2), lambda t: np.array([[1.0, 0.0], [0.0, -1.0]]), np.eye(2), (0.0, 1.0), 4)
    >>> bool(abs(np.linalg.det(run.y[-1]) - 1.0) < 1e-14)
    True
    """
    return _matrices("sl", n)


def gl(n: int) -> Algebra:
    """All n x n matrices.

    Examples
    --------
    >>> from polhode.lie import solve
    >>> run = solve(gl(1), lambda t: np.array([[t]]), np.eye(1), (0.0, 2.0), 4)
    >>> float(run.y[-1, 0, 0].round(9)) == float(np.exp(2.0).round(9))
    True
    """
    return _matrices("gl", n)


def _matrices(name: str, n: int) -> Algebra:
    n = whole("n", n, 1, f"write {name}(3)")
    return Algebra(f"{name}({n})", commutator, _expm, (n, n))
