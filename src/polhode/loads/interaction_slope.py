"""Whether forces and torques of an interaction are minus the slope of its potential."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode import rotations
from polhode.errors import warn

PROBE = 1e-5  # radians, and parts of the distance of the bodies
FEW = 64  # bodies with which a function of all of them is tried
# attitudes and places are changed by so much, places in parts of the distance of the bodies
TURNS, SHIFTS = (0.0, 0.7, 1.9, 2.6), (0.0, 0.01, -0.02, 0.05)


def check_slopes(interaction: Any, t: float, motion: np.ndarray) -> None:
    """Warn, once for each interaction, if the work of its forces and torques in a small displacement is
    not minus the change of its potential; `motion` (n, 13) is one in the user's axes.

    Forces may jump and a potential have a kink, so a difference at one motion is not enough.
    """
    if not interaction.has_potential:
        return
    for term in interaction.terms:
        if term.compared or term.uses_velocity or (term.is_ours and not term.in_c):
            continue
        term.compared = True
        few, which = term.sample(len(motion))
        if len(which) > FEW:
            continue
        x, R = motion[which, 7:10], rotations.matrices(motion[which, :4])
        for turning in (False, True):
            wrong = [found for k in range(len(TURNS)) if (found := _work(few, t, x, R, k, turning))]
            if len(wrong) > 1:
                term.misfit = True
                _tell(term.name, t, turning, *wrong[0])
                break


def _work(
    term: Any, t: float, x: np.ndarray, R: np.ndarray, k: int, turning: bool
) -> tuple[float, float] | None:
    """Work, and minus the change of the potential, both for a unit of the displacement, at the k-th
    motion near the given one; None where they agree, or one of them is not known."""
    length = _spacing(x)
    some = np.sin(np.arange(x.size).reshape(x.shape) + 1.0 + k)  # any directions
    x = x + SHIFTS[k] * length * some
    R = rotations.matrices(rotations.exp(TURNS[k] * some)) @ R
    way = np.cos(np.arange(x.size).reshape(x.shape) * 1.7 + k)
    try:
        with np.errstate(all="ignore"):
            acting = term(t, x, R)[turning]
            V, ahead, behind = (
                term.potential_energy(t, *_moved(x, R, length, step * way, turning))
                for step in (0.0, PROBE, -PROBE)
            )
    except Exception:  # a user's function need not know every motion
        return None
    parts = np.sum(acting * way, axis=1) * (1.0 if turning else length)
    slope = -(ahead - behind) / (2.0 * PROBE)
    if not np.isfinite([*parts, slope, V]).all():
        return None
    most = 1e-4 * max(np.abs(parts).sum(), abs(slope)) + 1e-9 * abs(V)
    return None if abs(parts.sum() - slope) <= most else (float(parts.sum()), float(slope))


def _moved(
    x: np.ndarray, R: np.ndarray, length: float, by: np.ndarray, turning: bool
) -> tuple[np.ndarray, np.ndarray]:
    if turning:
        return x, rotations.matrices(rotations.exp(by)) @ R
    return x + length * by, R


def _spacing(x: np.ndarray) -> float:
    """The distance of the two nearest bodies; 1 where there is none."""
    r = np.linalg.norm(x[:, None] - x[None], axis=-1)[np.triu_indices(len(x), 1)]
    return float(r[r > 0.0].min(initial=np.inf)) if (r > 0.0).any() else 1.0


def _tell(name: str, t: float, turning: bool, work: float, slope: float) -> None:
    what, by = ("torques", "turned") if turning else ("forces", "moved")
    warn(
        f"the {what} of the interaction {name!r} are not minus the slope of its potential: at t = {t:.6g} their work is "
        f"{work:.6g} where bodies are {by} by a unit, and the potential falls by {slope:.6g}, so that kinetic plus potential "
        "energy is not conserved; correct the potential, or write the part without one as a separate interaction and "
        "add the two",
        RuntimeWarning,
    )
