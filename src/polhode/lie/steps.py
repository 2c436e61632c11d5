"""The series for Y, and the steps of the methods."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from math import factorial
from typing import Any

import numpy as np

from polhode.errors import InputError, brief, called_as, number, unknown
from polhode.lie.algebras import numbers
from polhode.methods.taylor_n import bernoulli
from polhode.support.limits import check_times


def series(W: Sequence[np.ndarray], h: float, bracket: Callable[..., Any]) -> np.ndarray:
    """Y(h) with exp(Y(h)) y(0) = y(h), for y' = W y, from W and its derivatives; their number is the order.

    Examples
    --------
    >>> series([np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])], 0.1, np.cross)
    array([0.005, 0.   , 0.1  ])
    """
    W, h = several(W, "W"), float(check_times(np.array(number("h", h)), "h"))
    terms = written_out(W, bracket) if len(W) <= 6 else by_recursion(W, bracket)
    return sum(h ** (n + 1) / factorial(n + 1) * Y for n, Y in enumerate(terms))


def written_out(W, bracket):
    """Y0, Y1, ..., as printed."""

    def b(*elements):
        first, *rest = elements
        return bracket(first, b(*rest)) if rest else first

    terms = (
        lambda: W[0],
        lambda: W[1],
        lambda: W[2] + b(W[1], W[0]) / 2,
        lambda: W[3] + b(W[2], W[0]),
        lambda: (
            W[4]
            + 3 / 2 * b(W[3], W[0])
            + b(W[2], W[1])
            + b(W[1], W[1], W[0]) / 2
            - b(W[0], W[2], W[0]) / 6
            - b(W[0], W[0], W[1], W[0]) / 6
        ),
        lambda: (
            W[5]
            + 2 * b(W[4], W[0])
            + 5 / 2 * b(W[3], W[1])
            + 2 * b(W[2], W[1], W[0])
            + b(W[1], W[2], W[0]) / 2
            - b(W[0], W[3], W[0]) / 2
            - b(W[0], W[0], W[2], W[0]) / 2
            - b(W[0], W[1], W[1], W[0])
        ),
    )
    return [term() for term in terms[: len(W)]]


def by_recursion(W, bracket):
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
    found = several(found, f"derivatives(t, {order})")
    if len(found) != order:
        raise InputError(
            f"derivatives(t, {order}) must return {order} elements of the algebra, got {len(found)}; return W and "
            f"its first {order - 1} derivatives"
        )
    return found


def several(found, what):
    """A list, or the rows of an array."""
    listed = isinstance(found, (list, tuple)) or (isinstance(found, np.ndarray) and found.ndim)
    elements = [numbers(one) for one in found] if listed else []
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


def step_of(method, derivatives):
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
