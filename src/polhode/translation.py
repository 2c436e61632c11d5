"""Where the rotational methods come from: the same three on a vector space.  Krysl 2005, section 2.

    Phi_h    p' = p + h f(t, u),      u' = u + h M^-1 p'       symplectic Euler
    Phi*_h   u' = u + h M^-1 p,       p' = p + h f(t', u')     its adjoint
    Xi_h     Phi*_{h/2} Phi_{h/2}                              Newmark with beta = 0, gamma = 1/2: velocity Verlet

For the translation of a body, or any motion in a space of any dimension.  `mass` is a number, one
number for each coordinate, or a symmetric matrix; `force(t, u)` returns an array like u.

    >>> import numpy as np
    >>> t, u, p = newmark([1.0], [0.0], lambda t, u: -u, step=0.01, steps=314)
    >>> bool(abs(u[-1, 0] - np.cos(3.14)) < 1e-4)
    True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode.support import memory
from polhode.errors import InputError, brief, called_as, floats, number, whole


__all__ = ["adjoint", "newmark", "symplectic_euler"]


def __dir__() -> list[str]:
    return __all__  # what completion offers


def symplectic_euler(
    u: ArrayLike,
    p: ArrayLike,
    force: Callable[..., Any],
    *,
    step: float,
    steps: int,
    mass: ArrayLike = 1.0,
    t: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Phi_h, kick then drift: symplectic, first order.

    Parameters
    ----------
    u, p : arrays of the same shape (n,)
        Position and momentum at the start.
    force : function f(t, u)
    step : float
        May be negative.
    steps : int
    mass : float, (n,) array or (n, n) array
    t : float
        Time at the start.

    Returns
    -------
    t, u, p : arrays of shape (steps + 1,), (steps + 1, n), (steps + 1, n)

    Examples
    --------
    >>> t, u, p = symplectic_euler([1.0], [0.0], lambda t, u: -u, step=0.01, steps=100)
    >>> u.shape, round(float(u[-1, 0]), 2)
    ((101, 1), 0.54)
    """

    def advance(h, t, u, p, f, velocity, force):
        p = p + h * f
        u = u + h * velocity(p)
        return u, p, force(t + h, u)

    return _march(advance, u, p, force, step, steps, mass, t)


def adjoint(
    u: ArrayLike,
    p: ArrayLike,
    force: Callable[..., Any],
    *,
    step: float,
    steps: int,
    mass: ArrayLike = 1.0,
    t: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Phi*_h, drift then kick: the inverse of Phi_{-h}.  Arguments as for `symplectic_euler`.

    Examples
    --------
    >>> t, u, p = symplectic_euler([1.0], [0.0], lambda t, u: -u, step=0.1, steps=1)
    >>> t, back, p = adjoint(u[-1], p[-1], lambda t, u: -u, step=-0.1, steps=1, t=0.1)
    >>> float(back[-1, 0].round(15))
    1.0
    """

    def advance(h, t, u, p, f, velocity, force):
        u = u + h * velocity(p)
        f = force(t + h, u)
        return u, p + h * f, f

    return _march(advance, u, p, force, step, steps, mass, t)


def newmark(
    u: ArrayLike,
    p: ArrayLike,
    force: Callable[..., Any],
    *,
    step: float,
    steps: int,
    mass: ArrayLike = 1.0,
    t: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Xi_h, half a kick, drift, half a kick: symplectic, symmetric, second order.  Arguments as for
    `symplectic_euler`.

    Examples
    --------
    >>> t, u, p = newmark([1.0], [0.0], lambda t, u: -u, step=0.01, steps=100)
    >>> round(float(u[-1, 0]), 4)
    0.5403
    """

    def advance(h, t, u, p, f, velocity, force):
        p = p + 0.5 * h * f
        u = u + h * velocity(p)
        f = force(t + h, u)
        return u, p + 0.5 * h * f, f

    return _march(advance, u, p, force, step, steps, mass, t)


def _march(advance, u, p, force, step, steps, mass, t):
    """Take the steps; the force at the end of one is that at the beginning of the next, so each is
    evaluated once."""
    force = _checked(force)
    u, p = floats("u", u), floats("p", p)
    if u.ndim != 1 or u.shape != p.shape:
        raise InputError(
            f"u and p must be lists of equally many numbers, got shapes {u.shape} and {p.shape}; correct them"
        )
    h, t = number("step", step), number("t", t)
    if h == 0.0:
        raise InputError(f"step must not be zero, got {h!r}; a negative step runs backwards")
    steps = whole("steps", steps, example="use 100")
    velocity = _velocity(mass, len(u))
    memory.fits(
        f"{steps} steps",
        16 * (steps + 1) * len(u),
        "use fewer at a time, and continue from the last",
    )
    times = t + h * np.arange(steps + 1)
    us, ps = np.empty((steps + 1, len(u))), np.empty((steps + 1, len(u)))
    us[0], ps[0] = u, p
    f = force(t, u)
    for k in range(steps):
        u, p, f = advance(h, times[k], u, p, f, velocity, force)
        us[k + 1], ps[k + 1] = u, p
    return times, us, ps


def _checked(force):
    """The force on a copy of the position, which it may write to, as numbers."""
    called_as("force", force, "force(t, u)")

    def acting(t, u):
        f = floats("what force(t, u) returns", force(t, u.copy()), finite=False)
        if f.shape != u.shape:
            raise InputError(
                f"force(t, u) must return {len(u)} numbers, as many as u has, got shape {f.shape}; return these"
            )
        return f

    return acting


def _velocity(mass, n):
    """M^-1 as a function of the momentum, with the mass checked."""
    M = floats("mass", mass)
    if M.shape == (n, n):
        if not np.allclose(M, M.T) or np.linalg.eigvalsh(M)[0] <= 0.0:
            raise InputError(
                f"a mass matrix must be symmetric and positive definite, got {brief(mass)}; correct its entries"
            )
        inverse = np.linalg.inv(M)
        return lambda p: inverse @ p
    if M.shape not in ((), (n,)):
        raise InputError(
            f"mass must be a number, {n} numbers or an {n} x {n} matrix, got shape {M.shape}; give one of these"
        )
    if np.any(M <= 0.0):
        raise InputError(f"mass must be positive, got {brief(mass)}; give values above zero")
    return lambda p: p / M
