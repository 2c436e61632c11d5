"""Many bodies that fly: positions, velocities and masses, each once for all bodies, once for each, or
drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.engine.ensemble.inputs import Counts, law_of, vectors
from polhode.errors import InputError, floats
from polhode.loads._torque import ZERO

SHAPES: dict[str, tuple[int, ...]] = {"position0": (3,), "velocity0": (3,), "mass": ()}


class Launch:
    """What bodies that fly have besides their rotation."""

    def __init__(self, position0: Any, velocity0: Any, mass: Any) -> None:
        places = {"position0": position0, "velocity0": velocity0}
        given = {name: ZERO if one is None else one for name, one in places.items()}
        given |= {} if mass is None else {"mass": mass}  # else those of the bodies
        self.laws = {name: law for name, one in given.items() if (law := law_of(one)) is not None}
        self.rows = {
            name: _masses(one) if name == "mass" else vectors(name, getattr(one, "host", one))
            for name, one in given.items()
            if name not in self.laws
        }

    def count(self, counts: Counts) -> None:
        """Say how many bodies each of these is for."""
        for name, rows in self.rows.items():
            counts.add(name, len(rows))

    def draw(self, drawn: Callable[..., np.ndarray]) -> None:
        """Draw what is to be drawn, by drawn(name, law, shape)."""
        for name, law in self.laws.items():
            self.rows[name] = drawn(name, law, SHAPES[name])
        if "mass" in self.laws:
            _check_masses(self.rows["mass"], "choose another law")

    @property
    def masses(self) -> np.ndarray | None:
        """Those given (1 or n), None where bodies have their own."""
        return self.rows.get("mass")

    def beside(self, rotations: np.ndarray) -> np.ndarray:
        """The motions (n, 13) of bodies with these rotations (n, 7)."""
        n = len(rotations)
        places = (np.broadcast_to(self.rows[name], (n, 3)) for name in ("position0", "velocity0"))
        return np.concatenate([rotations, *places], axis=1)


def _masses(given: Any) -> np.ndarray:
    """Masses (1 or n)."""
    masses = np.atleast_1d(floats("mass", getattr(given, "host", given)))
    if masses.ndim != 1:
        raise InputError(
            f"mass must be a number, or one for each body (n,), got shape {masses.shape}; give one of these"
        )
    return _check_masses(masses, "give positive ones")


def _check_masses(masses: np.ndarray, fix: str) -> np.ndarray:
    wrong = np.flatnonzero(masses <= 0.0)
    if len(wrong):
        raise InputError(
            f"mass must be positive, got {masses[wrong[0]].item()!r} for body {wrong[0]}; {fix}"
        )
    return masses
