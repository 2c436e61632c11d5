"""The motions of many bodies, by part."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.core.motions import Kind


class Motions(NamedTuple):
    """Attitudes (n, 4) and body angular velocities (n, 3); in flight positions and velocities
    (n, 3), with rotors their speeds (n, rotors), else None."""

    quaternion: Any
    omega: Any
    position: Any = None
    velocity: Any = None
    rotor_speeds: Any = None


def motions_of(y: np.ndarray, kind: Kind) -> Motions:
    """The parts of motions (..., width), as views; those of systems (..., bodies, component)."""
    if kind.bodies:
        y = y.reshape(*y.shape[:-1], kind.bodies, -1)
    found = {name: y[..., place] for name, place in kind.groups.items()}
    return Motions(found.pop("attitude"), **found)
