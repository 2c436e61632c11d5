"""What a motion keeps, and how far a run strays from it: the errors that pages and figures show."""

import re
from typing import NamedTuple

import numpy as np


class Stray(NamedTuple):
    """A deviation from the start along a run, relative; `size` is what it is relative to, `by_right` that a torque changes it."""

    values: np.ndarray
    title: str
    size: float
    by_right: bool = False


def weight(torque):
    """Arm and up of a heavy top, else None and the third axis; `torque` is the text that the provenance holds."""
    if "heavy_top" not in str(torque):
        return None, (0.0, 0.0, 1.0)
    found = dict(re.findall(r"(arm|up)=(\([^)]*\))", str(torque)))
    arm, up = (_vector(found.get(key)) for key in ("arm", "up"))
    return list(arm), up


def _vector(text):
    """Three numbers from a provenance, which a stored file may have of anyone; the third axis where they are none."""
    try:
        x, y, z = map(float, text.strip("()").split(","))
    except (AttributeError, ValueError):
        return 0.0, 0.0, 1.0
    return (x, y, z) if np.isfinite([x, y, z]).all() else (0.0, 0.0, 1.0)


def energy(record, start=0):
    """The energy against that at the point `start`: relative to it, or to a thousandth of the largest kinetic energy."""
    values = record.energy
    scale = max(abs(float(values[start])), 1e-3 * float(record.kinetic_energy.max())) or 1.0
    name = "Kinetic energy" if record.total_energy is None else "Energy"
    return Stray((values - values[start]) / scale, f"{name} (E − E₀) / |E₀|", scale, record.total_energy is None)


def momentum(record, start=0):
    """The spatial momentum against that at the point `start`; of a heavy top the vertical part, which is all it keeps."""
    L = record.momentum_spatial
    size = float(np.linalg.norm(L[start])) or float(np.linalg.norm(L, axis=1).max()) or 1.0
    arm, up = weight(record.facts.get("torque", ""))
    if arm:
        return Stray((L - L[start]) @ np.asarray(up) / size, "Vertical momentum (L − L₀)·up / |L₀|", size)
    return Stray(np.linalg.norm(L - L[start], axis=1) / size, "Momentum |L − L₀| / |L₀|", size, not record.free)
