"""Bodies that come too close: nearer than the series of their gravity converges, or so near that the
step does not resolve it.  What is looked at are the start and stored points, after the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.loads.interaction import Interaction
from polhode.loads.interaction_energy import interaction_energy
from polhode.loads.pair import Pair
from polhode.results.motion import OMEGA

if TYPE_CHECKING:
    from polhode.loads._system import System
    from polhode.results._system_trajectory import SystemTrajectory

MOST = 1000  # bodies whose distances are looked at
DISTANCES = 2_000_000  # that are computed after a run
TOUCHING = 0.999  # of the sum of the radii: what is nearer is no rounding
READ = 1000  # points that are read of a run on disk
FEW, SAMPLES = 12, 17  # bodies whose energy is computed after a run, and points at which it is
GROWN = 10.0  # times the least kinetic energy: only then the energy is computed


class Meeting(NamedTuple):
    """The two bodies that come closest, as a part of the sum of their radii."""

    point: int
    i: int
    j: int
    distance: float
    least: float  # the sum of their radii


def closest(radii: np.ndarray, x: np.ndarray) -> Meeting | None:
    """Of bodies at places (k, n, 3); None where no two are closer than the sum of their radii."""
    found, part = None, TOUCHING
    for i in range(len(radii) - 1):
        least = radii[i] + radii[i + 1 :]
        r = np.linalg.norm(x[:, i + 1 :] - x[:, i : i + 1], axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(least > 0.0, r / least, np.inf)
        k, j = np.unravel_index(np.argmin(parts), parts.shape)
        if parts[k, j] < part:
            part = parts[k, j]
            found = Meeting(int(k), i, int(i + 1 + j), float(r[k, j]), float(least[j]))
    return found


def meeting_of(system: System, x: np.ndarray) -> tuple[str, Meeting] | None:
    """The name of an interaction, and the two bodies that are too close for it, at places (k, n, 3)."""
    if len(system) > MOST:
        return None
    for term in system.interaction.terms:
        if term.radii is not None and (found := closest(term.radii, x)):
            return term.name, found
    return None


def too_close(name: str, found: Meeting, t: float) -> str:
    """It, in words."""
    return (
        f"bodies {found.i} and {found.j} are {found.distance:.4g} from each other at t = {t:.6g}, nearer than the sum of their "
        f"radii {found.least:.4g}, beyond which the series of {name!r} converges; keep them farther apart, or use "
        "interactions.polyhedra, or degree=0 for points"
    )


def too_close_at_start(system: System, t: float, x: np.ndarray) -> str:
    """What is to be told of places (n, 3), in words; empty where it is nothing."""
    found = meeting_of(system, x[None])
    return too_close(*found, t) if found else ""


def too_close_along(run: SystemTrajectory) -> str:
    """The same of the stored points of a run."""
    system = run.body
    if len(system) > MOST or all(term.radii is None for term in system.interaction.terms):
        return ""
    pairs = max(len(system) * (len(system) - 1) // 2, 1)
    t, motion = _points(run, max(DISTANCES // pairs, 2))
    found = meeting_of(system, motion[..., 7:10])
    return too_close(*found, float(t[found[1].point])) if found else ""


# --- energy ---------------------------------------------------------------------------------------


def jump_of_energy(run: SystemTrajectory) -> str:
    """Whether the energy of a few bodies, which should be constant, has jumped by more than half of the
    kinetic energy, in words; empty where it has not."""
    interaction = run.interaction
    simple = all(type(one) in (Pair, Interaction) for one in interaction.terms)
    if len(run.body) > FEW or not simple or interaction.energy_unknown():
        return ""
    t, motion = _points(run, SAMPLES)
    kinetic = run.body.kinetic_energy(motion[..., OMEGA], motion[..., 10:])
    if len(t) < 2 or not kinetic.max() > GROWN * kinetic.min():
        return ""
    energy = kinetic + _potential(interaction, t, motion)
    if not np.isfinite(energy).all():
        return ""
    k = int(np.argmax(np.abs(np.diff(energy)))) + 1
    jump = float(np.median(energy[k:]) - np.median(energy[:k]))
    rounding = 1e-9 * max(np.abs(energy - kinetic).max(), kinetic.max())
    spurious = abs(jump) > max(0.5 * float(np.median(kinetic[k:])), rounding)
    if not spurious or np.abs(np.diff(energy)).max() < 0.5 * np.ptp(energy):
        return ""
    return (
        f"the energy, which should be constant, changed by {jump:.4g} between t = {t[k - 1]:.6g} and {t[k]:.6g}, and was "
        f"{energy[0]:.4g} at the start: the step does not resolve the motion there, as where bodies meet; use a smaller one"
    )


def _potential(interaction: Any, t: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """The potential energy in Python: NaN where it cannot be computed."""
    try:
        with np.errstate(all="ignore"):
            rows = motion.reshape(len(t), -1)
            return interaction_energy(interaction, motion.shape[1], t, rows, compiled=False)  # type: ignore[return-value]
    except Exception:  # of a user's function: whoever asks for the energy will be told
        return np.full(len(t), np.nan)


def _points(run: Any, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Times and the motions (k, n, 13) at some stored points."""
    n, on_disk = len(run), hasattr(run, "stream")
    count = min(n, most, READ if on_disk else n)
    which = np.unique(np.linspace(0, n - 1, count).astype(int))
    if on_disk:
        rows = [run.points(int(k), int(k) + 1) for k in which]
        t, motion = (np.concatenate([one[i] for one in rows]) for i in (0, 1))
    else:
        t, motion = run.t[which], run.motion[which]
    return t, motion.reshape(len(t), len(run.body), -1)
