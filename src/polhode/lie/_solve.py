"""`solve`: an equation on a group, from its start to its end."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from polhode.engine.schedule import span
from polhode.errors import InputError, brief, called_as, choice, whole
from polhode.lie.algebras import Algebra, numbers
from polhode.lie.steps import step_of
from polhode.support import memory


class Solution(NamedTuple):
    """Times (n,) and group elements (n, ...)."""

    t: np.ndarray
    y: np.ndarray


def solve(
    algebra: Algebra,
    W: Callable[..., Any],
    y0: ArrayLike,
    t_span: tuple[float, float],
    steps: int,
    method: str = "taylor4",
    *,
    derivatives: Callable[..., Any] | None = None,
    frame: str = "spatial",
) -> Solution:
    """Solve y' = W y on a matrix Lie group.

    Parameters
    ----------
    algebra : Algebra
        `so3`, `su2`, `se3`, `so(n)`, `sl(n)`, `gl(n)` or your own.
    W : callable
        `W(t)`, an element of the algebra; for RKMK4 and CF4 `W(t, y)` is allowed too.
    y0 : array
        A group element, or a vector or several that the group acts on.
    t_span : (t0, t1)
    steps : int
        Number of equal steps.
    method : str
        "taylor1" to "taylor6" and "taylor(n)", "RKMK4", "CF4".
    derivatives : callable, optional
        `derivatives(t, n)`: W and its first n - 1 derivatives at t, for the Taylor methods; without
        it they come from n values of W inside the step, which keeps the order.
    frame : {"spatial", "body"}
        "body" solves y' = y W instead.

    Returns
    -------
    Solution
        Times and group elements at all steps.

    Examples
    --------
    A screw motion: along z at speed 1 while turning about z once in 2 pi.

    >>> from polhode.lie import se3
    >>> run = solve(se3, lambda t: np.array([0.0, 0.0, 1.0, 0.0, 0.0, 1.0]), np.eye(4), (0.0, np.pi), 8)
    >>> (run.y[-1] @ [1.0, 0.0, 0.0, 1.0]).round(6) + 0.0
    array([-1.      ,  0.      ,  3.141593,  1.      ])
    """
    step, needs_time_alone = step_of(method, derivatives)
    choice("frame", frame, ("spatial", "body"))
    steps = whole("steps", steps, 1, "use 100")
    if not isinstance(algebra, Algebra):
        raise InputError(f"algebra must be an Algebra, got {brief(algebra)}; use polhode.lie.so3")
    called_as("W", W, "W(t)", "W(t, y)")
    t0, t1 = span(t_span)
    y = numbers(y0)
    field = _field(W, algebra, t0, y, needs_time_alone)
    if frame == "spatial":
        bracket = algebra.bracket

        def move(a, y):
            return algebra.exp(a) @ y
    else:

        def bracket(a, b):
            return -algebra.bracket(a, b)

        def move(a, y):
            return y @ algebra.exp(a)

    memory.fits(
        f"{steps} steps",
        16 * (steps + 1) * y.size,
        "use fewer at a time, and continue from the last",
    )
    times = np.linspace(t0, t1, steps + 1)
    h, path = (t1 - t0) / steps, [y]
    _check_start(move, field(t0, y), y, algebra)
    for t in times[:-1]:
        path.append(step(h, t, path[-1], field, bracket, move))
    return Solution(times, np.array(path))


def _check_start(move, element, y, algebra):
    """Whether the group can act on y0 at all."""
    try:
        fits = np.shape(move(element, y)) == y.shape
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InputError(
            f"y0 must be something that the group of {algebra.name} acts on by matrices, got shape {y.shape}; give "
            "a group element, such as the identity matrix, or a vector of its size"
        )


def _field(W, algebra, t0, y0, needs_time_alone):
    """W(t, y) from a W(t) or a W(t, y), checked once."""
    try:
        inspect.signature(W).bind(t0)
        of_time = True
    except TypeError:
        of_time = False
    if needs_time_alone and not of_time:
        raise InputError(
            "the Taylor methods need W(t), a function of time alone; use RKMK4 or CF4 for W(t, y)"
        )

    def field(t, y):
        # a copy: W may write to what it is handed
        return numbers(W(t) if of_time else W(t, y.copy()))

    shape = field(t0, y0).shape
    if algebra.shape is not None and shape != algebra.shape:
        raise InputError(
            f"W must return elements of {algebra.name}, arrays of shape {algebra.shape}, got shape {shape}; "
            "return one of these"
        )
    return field
