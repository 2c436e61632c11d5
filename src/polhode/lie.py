"""Linear equations on matrix Lie groups: y' = W(t) y with W in a Lie algebra.  Buss 2001, section
5.

An algebra is its bracket and its exponential.  y(t + h) = exp(Y(h)) y(t) with the series (W_k the k-th derivative of W at t,
[a,b,c] = [a,[b,c]])

    Y = sum_n Y_n h^(n+1)/(n+1)!
    Y0 = W0        Y1 = W1        Y2 = W2 + 1/2 [W1,W0]        Y3 = W3 + [W2,W0]
    Y4 = W4 + 3/2 [W3,W0] + [W2,W1] + 1/2 [W1,W1,W0] - 1/6 [W0,W2,W0] - 1/6 [W0,W0,W1,W0]
    Y5 = W5 + 2 [W4,W0] + 5/2 [W3,W1] + 2 [W2,W1,W0] + 1/2 [W1,W2,W0] - 1/2 [W0,W3,W0] - 1/2 [W0,W0,W2,W0] - [W0,W1,W1,W0]

written out for orders 1 to 6 and by the recursion Y' = sum_q B_q/q! ad_Y^q W for any other.  (The
slides have a spurious -h^5/1440 [W0,W0,W1,W0].)  With y' = y W every bracket changes its sign.  For
W that looks at y too there are RKMK4 (Munthe-Kaas 1999) and CF4 (Celledoni, Marthinsen & Owren
2003), both of order 4.

    >>> import numpy as np
    >>> run = solve(so3, lambda t: np.array([0.0, 0.0, 1.0]), np.eye(3), (0.0, np.pi / 2), 10)
    >>> np.round(run.y[-1] @ [1.0, 0.0, 0.0], 12) + 0.0
    array([0., 1., 0.])
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import factorial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.support import memory
from polhode.core.vec import dexp_matrix, exp, qexp
from polhode.errors import InputError, brief, called_as, choice, number, unknown, whole
from polhode.engine.schedule import span
from polhode.support.limits import check_times
from polhode.methods.taylor_n import bernoulli

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Algebra", "Solution", "gl", "se3", "series", "sl", "so", "so3", "solve", "su2"]


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
    bracket: object
    exp: object
    shape: tuple | None = None


class Solution(NamedTuple):
    """Times (n,) and group elements (n, ...)."""

    t: np.ndarray
    y: np.ndarray


# --- algebras -------------------------------------------------------------------------------------


def _numbers(value):
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
    >>> run = solve(sl(2), lambda t: np.array([[1.0, 0.0], [0.0, -1.0]]), np.eye(2), (0.0, 1.0), 4)
    >>> bool(abs(np.linalg.det(run.y[-1]) - 1.0) < 1e-14)
    True
    """
    return _matrices("sl", n)


def gl(n: int) -> Algebra:
    """All n x n matrices.

    Examples
    --------
    >>> run = solve(gl(1), lambda t: np.array([[t]]), np.eye(1), (0.0, 2.0), 4)
    >>> float(run.y[-1, 0, 0].round(9)) == float(np.exp(2.0).round(9))
    True
    """
    return _matrices("gl", n)


def _matrices(name, n):
    n = whole("n", n, 1, f"write {name}(3)")
    return Algebra(f"{name}({n})", commutator, _expm, (n, n))


# --- the series -----------------------------------------------------------------------------------


def series(W: Sequence[np.ndarray], h: float, bracket: Callable[..., Any]) -> np.ndarray:
    """Y(h) with exp(Y(h)) y(0) = y(h), for y' = W y, from W and its derivatives; their number is the order.

    Examples
    --------
    >>> series([np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])], 0.1, np.cross)
    array([0.005, 0.   , 0.1  ])
    """
    W, h = _several(W, "W"), float(check_times(np.array(number("h", h)), "h"))
    terms = _listed(W, bracket) if len(W) <= 6 else _recursion(W, bracket)
    return sum(h ** (n + 1) / factorial(n + 1) * Y for n, Y in enumerate(terms))


def _listed(W, bracket):
    """Y0, Y1, ..., as printed."""

    def b(*elements):
        first, *rest = elements
        return bracket(first, b(*rest)) if rest else first

    W0, W1, W2, W3, W4, W5 = [*W, *[None] * (6 - len(W))]
    terms = (
        lambda: W0,
        lambda: W1,
        lambda: W2 + b(W1, W0) / 2,
        lambda: W3 + b(W2, W0),
        lambda: (
            W4
            + 3 / 2 * b(W3, W0)
            + b(W2, W1)
            + b(W1, W1, W0) / 2
            - b(W0, W2, W0) / 6
            - b(W0, W0, W1, W0) / 6
        ),
        lambda: (
            W5
            + 2 * b(W4, W0)
            + 5 / 2 * b(W3, W1)
            + 2 * b(W2, W1, W0)
            + b(W1, W2, W0) / 2
            - b(W0, W3, W0) / 2
            - b(W0, W0, W2, W0) / 2
            - b(W0, W1, W1, W0)
        ),
    )
    return [term() for term in terms[: len(W)]]


def _recursion(W, bracket):
    """Y0, Y1, ... from Y' = sum_q B_q/q! ad_Y^q W, by powers of h: V_q = ad_Y^q W has the coefficients V[q][k]."""
    n = len(W)
    w = [Wk / factorial(k) for k, Wk in enumerate(W)]
    y = [None]  # y[k] is the coefficient of h^k in Y
    V = [w] + [[None] * n for _ in range(n)]
    for k in range(n):
        for q in range(1, k + 1):
            V[q][k] = sum(bracket(y[i], V[q - 1][k - i]) for i in range(1, k - q + 2))
        y.append(
            sum(float(bernoulli(q)) / factorial(q) * V[q][k] for q in range(k + 1) if bernoulli(q))
            / (k + 1)
        )
    return [factorial(k) * y[k] for k in range(1, n + 1)]


# --- steps ----------------------------------------------------------------------------------------


@cache
def _stencil(n):
    """Nodes in [0, 1], and the rows that give the derivatives at 0 from values there: accurate
    enough for order n."""
    nodes = 0.5 - 0.5 * np.cos(np.pi * np.arange(n) / max(n - 1, 1)) if n > 1 else np.zeros(1)
    return nodes, np.linalg.inv(np.vander(nodes, increasing=True)) * np.array(
        [factorial(k) for k in range(n)]
    )[:, None]


def _derivatives(W, t, h, n):
    """W and its first n - 1 derivatives at t, the k-th to O(h^(n-k)), from n values in the step."""
    nodes, rows = _stencil(n)
    values = np.array([W(t + c * h) for c in nodes])
    return [np.tensordot(row, values, 1) / h**k for k, row in enumerate(rows)]


def _taylor(order, derivatives):
    def step(h, t, y, W, bracket, move):
        known = (
            _known(derivatives(t, order), order)
            if derivatives
            else _derivatives(lambda s: W(s, y), t, h, order)
        )
        return move(series(known, h, bracket), y)

    return step


def _known(found, order):
    """What a user's function `derivatives` returned, checked."""
    found = _several(found, f"derivatives(t, {order})")
    if len(found) != order:
        raise InputError(
            f"derivatives(t, {order}) must return {order} elements of the algebra, got {len(found)}; return W and "
            f"its first {order - 1} derivatives"
        )
    return found


def _several(found, what):
    """A list, or the rows of an array."""
    listed = isinstance(found, (list, tuple)) or (isinstance(found, np.ndarray) and found.ndim)
    elements = [_numbers(one) for one in found] if listed else []
    if not elements or not all(one.size and one.ndim for one in elements):
        raise InputError(
            f"{what} must be a list of an element of the algebra and its derivatives, got {brief(found)}; give at "
            "least one"
        )
    return elements


def _rkmk4(h, t, y, W, bracket, move):
    """Munthe-Kaas's method with the classical stages and two commutators."""
    k1 = h * W(t, y)
    k2 = h * W(t + h / 2, move(k1 / 2, y))
    k3 = h * W(t + h / 2, move(k2 / 2 - bracket(k1, k2) / 8, y))
    k4 = h * W(t + h, move(k3, y))
    return move((k1 + 2 * k2 + 2 * k3 + k4) / 6 - bracket(k1, k4) / 12, y)


def _cf4(h, t, y, W, bracket, move):
    """The commutator-free method: two exponentials at the end, no bracket."""
    k1 = h * W(t, y)
    half = move(k1 / 2, y)
    k2 = h * W(t + h / 2, half)
    k3 = h * W(t + h / 2, move(k2 / 2, y))
    k4 = h * W(t + h, move(k3 - k1 / 2, half))
    return move(
        (-k1 + 2 * k2 + 2 * k3 + 3 * k4) / 12, move((3 * k1 + 2 * k2 + 2 * k3 - k4) / 12, y)
    )


def _step(method, derivatives):
    name = method.strip().lower() if isinstance(method, str) else ""
    if derivatives is not None:
        called_as("derivatives", derivatives, "derivatives(t, n)")
    match = re.fullmatch(r"taylor\(?([1-9][0-9]?)\)?", name)
    if match:
        return _taylor(int(match[1]), derivatives), True
    if name in ("rkmk4", "cf4"):
        return {"rkmk4": _rkmk4, "cf4": _cf4}[name], False
    raise unknown(
        "Lie group method",
        method,
        [*(f"taylor{n}" for n in range(1, 7)), "taylor(n)", "RKMK4", "CF4"],
    )


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

    >>> run = solve(se3, lambda t: np.array([0.0, 0.0, 1.0, 0.0, 0.0, 1.0]), np.eye(4), (0.0, np.pi), 8)
    >>> (run.y[-1] @ [1.0, 0.0, 0.0, 1.0]).round(6) + 0.0
    array([-1.      ,  0.      ,  3.141593,  1.      ])
    """
    step, needs_time_alone = _step(method, derivatives)
    choice("frame", frame, ("spatial", "body"))
    steps = whole("steps", steps, 1, "take 100")
    if not isinstance(algebra, Algebra):
        raise InputError(f"algebra must be an Algebra, got {brief(algebra)}; take polhode.lie.so3")
    called_as("W", W, "W(t)", "W(t, y)")
    t0, t1 = span(t_span)
    y = _numbers(y0)
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
        f"{steps} steps", 16 * (steps + 1) * y.size, "take fewer at a time, and go on from the last"
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
            "the Taylor methods need W(t), a function of time alone; take RKMK4 or CF4 for W(t, y)"
        )

    def field(t, y):
        # a copy: W may write to what it is handed
        return _numbers(W(t) if of_time else W(t, y.copy()))

    shape = field(t0, y0).shape
    if algebra.shape is not None and shape != algebra.shape:
        raise InputError(
            f"W must return elements of {algebra.name}, arrays of shape {algebra.shape}, got shape {shape}; "
            "return one of these"
        )
    return field
