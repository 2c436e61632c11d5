"""Many bodies with rotors: the speeds at the start, once for all bodies, once for each, or drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.core.jit import jit
from polhode.core.motions import SPEEDS, Kind
from polhode.core.rotors import rotors
from polhode.core.vec import add, dot, times
from polhode.engine.ensemble.bodies import Bodies
from polhode.engine.ensemble.inputs import Counts, law_of
from polhode.engine.rotors import check_speeds, first_speeds

NAME = f"{SPEEDS}0"


class Spin:
    """What bodies with rotors have besides their motion."""

    def __init__(self, bodies: Bodies, given: Any, with_momentum: bool) -> None:
        self.bodies, self.law = bodies.gyrostats, law_of(given)
        self.rotors, self.rows = bodies.spinning, None
        if given is not None:
            given = np.zeros(self.rotors) if self.law else getattr(given, "host", given)
            rows = check_speeds(self.rotors, given, with_momentum, many=True)
            self.rows = None if self.law else np.atleast_2d(rows)

    def count(self, counts: Counts) -> None:
        """Say how many bodies these are for."""
        if self.rows is not None:
            counts.add(NAME, len(self.rows))

    def draw(self, drawn: Callable[..., np.ndarray]) -> None:
        """Draw what is to be drawn, by drawn(name, law, shape)."""
        if self.law is not None:
            self.rows = drawn(NAME, self.law, (self.rotors,))

    def beside(self, motions: np.ndarray, kind: Kind) -> np.ndarray:
        """Motions of this kind (principal axes), with the speeds at the start."""
        rows = self.rows
        if rows is None:
            rows = self._each(lambda body, of: first_speeds(body, of, kind), motions)
        speeds = np.broadcast_to(rows, (len(motions), self.rotors))
        return np.concatenate([motions, speeds], axis=1)

    def omega(self, momenta: np.ndarray) -> np.ndarray:
        """Angular velocities of bodies with these momenta (1 or n, 3) of body and rotors."""
        return self._each(lambda body, of: body.omega(of), momenta)

    def _each(self, found: Callable[..., np.ndarray], rows: np.ndarray) -> np.ndarray:
        """found(body, rows) of one body with all rows, or of each with its own."""
        if len(self.bodies) == 1:
            return found(self.bodies[0], rows)
        rows = np.broadcast_to(rows, (len(self.bodies), rows.shape[1]))
        return np.array([found(*one) for one in zip(self.bodies, rows, strict=True)])


# --- quantities, see `measure` --------------------------------------------------------------------


def momentum_of(n: int) -> Callable[..., Any]:
    """The body momentum with n rotors, of (motion, body)."""
    of = rotors(n)

    @jit
    def whole(motion, body):
        l = of.momenta(of.spins(motion), motion.omega, body)
        return add(times(body.I, motion.omega), of.total(l, body))

    return whole


def kinetic_energy_of(n: int) -> Callable[..., Any]:
    """The kinetic energy of the rotation with n rotors."""
    of = rotors(n)

    @jit
    def kinetic_energy(t, motion, body, p):
        locked = 0.5 * dot(motion.omega, times(body.I, motion.omega))
        return locked + of.energy(of.spins(motion), motion.omega, body)

    return kinetic_energy
