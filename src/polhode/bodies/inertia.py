"""Checks of inertia tensors, and sums that round alike on every machine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polhode.errors import InputError
from polhode.support.frames import principal_axes

# asymmetry allowed, relative to the largest entry: the rounding of a rotated tensor
_SYMMETRY = 1e-12
# excess allowed, relative to the largest moment: a flat body has equality up to rounding
_TRIANGLE = 1e-12
# below this fraction of the largest, a moment of a full tensor is rounding
_SINGULAR = 4 * np.finfo(float).eps


def show(values: Any, digits: int = 15) -> str:
    return "(" + ", ".join(f"{v:.{digits}g}" for v in np.asarray(values).tolist()) + ")"


def scaled(array: np.ndarray) -> tuple[np.ndarray, int]:
    """Return (array / 2^e, e) with the largest entry in [1/2, 1)."""
    e = int(np.frexp(np.max(np.abs(array), initial=0.0))[1])
    return np.ldexp(array, -e), e


def sums(terms: np.ndarray) -> np.ndarray:
    """Return the sums along the last axis, made contiguous: NumPy then adds pairwise, in a fixed
    order."""
    return np.ascontiguousarray(terms).sum(axis=-1)


def off_line(points: np.ndarray) -> float:
    """Return the root of the sum of squared distances of `points` (3, n) from the line through 0
    and the farthest."""
    farthest = points[:, np.argmax((points * points).sum(axis=0))]
    along = farthest / (math.sqrt((farthest * farthest).sum()) or 1.0)
    off = points - along[:, None] * (along[:, None] * points).sum(axis=0)
    return math.sqrt((off * off).sum())


def symmetric(tensor: np.ndarray) -> np.ndarray:
    unit, e = scaled(tensor)
    off = np.abs(unit - unit.T)
    if off.max() > _SYMMETRY * np.abs(unit).max():
        i, j = (int(k) for k in np.unravel_index(np.argmax(off), off.shape))
        raise InputError(
            f"inertia must be symmetric: inertia[{i}, {j}] = {tensor[i, j]:.15g} but inertia[{j}, {i}] = "
            f"{tensor[j, i]:.15g}, {np.ldexp(off[i, j], e):.3g} apart; correct the entry, or pass "
            "(inertia + inertia.T) / 2"
        )
    return tensor.copy() if not off.any() else np.ldexp(0.5 * (unit + unit.T), e)


def principal(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments and axes, which have no unit."""
    unit, e = scaled(tensor)
    moments, axes = principal_axes(unit)
    with np.errstate(over="ignore"):
        moments = np.ldexp(moments, e)
    if not np.isfinite(moments).all():
        raise InputError(
            f"inertia has moments {show(moments)}, beyond the range of float64; choose other units"
        )
    return moments, axes


def check_positive(moments: np.ndarray, is_principal: bool) -> None:
    smallest, i = float(moments.min()), int(moments.argmin())
    if is_principal and smallest <= 0.0:
        raise InputError(
            f"moments must be positive, got I{i + 1} = {smallest:.15g} in {show(moments)}; correct it "
            "(a body without extent about an axis has no motion about it: give it a small moment)"
        )
    if not is_principal and smallest <= _SINGULAR * moments.max():
        raise InputError(
            f"inertia must be positive definite, but its principal moments are {show(moments)}: I{i + 1} "
            f"= {smallest:.6g} is not positive beyond rounding; check the off-diagonal entries, or give "
            "the three principal moments of a very thin body themselves"
        )


def triangle_excess(moments: np.ndarray) -> str:
    """Return "I2 = 10 > I1 + I3 = 6" where the triangle inequality fails, else the empty string."""
    u, m = scaled(moments)[0].tolist(), moments.tolist()
    i = int(np.argmax(u))
    j, k = (n for n in range(3) if n != i)
    if u[i] - (u[j] + u[k]) <= _TRIANGLE * u[i]:
        return ""
    return f"I{i + 1} = {m[i]:.15g} > I{j + 1} + I{k + 1} = {m[j] + m[k]:.15g}"


def diagonal(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Moments, axes, and whether these are those in which the tensor is given."""
    is_principal = not np.any(tensor[~np.eye(3, dtype=bool)])
    moments, axes = (np.diag(tensor).copy(), np.eye(3)) if is_principal else principal(tensor)
    return moments, axes, bool(is_principal)
