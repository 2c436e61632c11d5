"""What a motion keeps, and how far a run strays from it: the errors that pages and figures show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Stray(NamedTuple):
    """A deviation from the start along a run, relative; `size` is what it is relative to,
    `by_right` that a torque changes it.

    Of a momentum that is kept about one direction alone, `up`, it is the deviation about that.
    """

    values: np.ndarray
    title: str
    size: float
    by_right: bool = False
    up: list[float] | None = None


def energy(record: Any, start: int = 0) -> Stray:
    """The energy against that at the point `start`: relative to it, or to a thousandth of the
    largest kinetic energy."""
    values = record.energy
    scale = max(abs(float(values[start])), 1e-3 * float(record.kinetic_energy.max())) or 1.0
    name = "Kinetic energy" if record.total_energy is None else "Energy"
    return Stray(
        (values - values[start]) / scale,
        f"{name} (E − E₀) / |E₀|",
        scale,
        record.total_energy is None,
    )


def momentum(record: Any, start: int = 0) -> Stray:
    """The spatial momentum against that at the point `start`; about `record.kept_axis` where no
    more of it is kept."""
    L = record.momentum_spatial
    size = float(np.linalg.norm(L[start])) or float(np.linalg.norm(L, axis=1).max()) or 1.0
    up = record.kept_axis
    if up is not None:
        return Stray(
            (L - L[start]) @ np.asarray(up) / size,
            "Vertical momentum (L − L₀)·up / |L₀|",
            size,
            up=up,
        )
    return Stray(
        np.linalg.norm(L - L[start], axis=1) / size,
        "Momentum |L − L₀| / |L₀|",
        size,
        not record.free,
    )
