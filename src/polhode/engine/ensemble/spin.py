"""Many bodies with rotors: the speeds at the start, once for all bodies, once for each, or drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.bodies.rotor import refuse_rotors
from polhode.core.jit import jit
from polhode.core.motions import Kind
from polhode.core.rotors import rotors
from polhode.core.vec import add, dot, times
from polhode.engine.ensemble.inputs import Counts, law_of
from polhode.engine.rotors import check_rotors
from polhode.errors import InputError, brief, floats
from polhode.results.motion import OMEGA, in_user_axes

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.methods._method import Method

NAME = "rotor_speeds0"


class Spin:
    """What bodies with rotors have besides their motion."""

    def __init__(self, body: RigidBody, given: Any) -> None:
        self.body, self.law = body, law_of(given)
        self.rows = None if given is None or self.law else self._checked(given)

    @property
    def rotors(self) -> int:
        """How many rotors each body has."""
        return len(self.body.rotors)

    def _check_momentum(self) -> None:
        """Refuse a momentum of the whole beside speeds other than those of the body."""
        if self.law is not None or self.rows is not None:
            raise InputError(
                f"momentum0 is that of body and rotors, with the rotors' own speeds, and {NAME} gives others; give "
                "omega0 instead"
            )

    def _checked(self, given: Any) -> np.ndarray:
        rows, n = np.atleast_2d(floats(NAME, given)), self.rotors
        if rows.ndim != 2 or rows.shape[1] != n:
            raise InputError(
                f"{NAME} must have a number for each rotor ({n},), or those of each body (n, {n}), got shape "
                f"{np.shape(given)}; give one of these"
            )
        return rows

    def count(self, counts: Counts, with_momentum: bool) -> None:
        """Say how many bodies these are for; `with_momentum`, beside momentum0."""
        if with_momentum:
            self._check_momentum()
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
            rows = self.body.rotor_speeds(in_user_axes(self.body, motions, kind)[:, OMEGA])
        speeds = np.broadcast_to(rows, (len(motions), self.rotors))
        return np.concatenate([motions, speeds], axis=1)


def spin_of(body: RigidBody | None, given: Any, method: Method, device: str) -> Spin | None:
    """What a body with rotors has; None where it has none, or where bodies are drawn."""
    if body is not None and body.rotors:
        check_rotors(method)
        if device == "cuda":
            refuse_rotors(body, "ensemble with device='cuda'")
        return Spin(body, given)
    if given is not None:
        raise InputError(
            f"{NAME}={brief(given)} is for a body with rotors; leave it out, or give the body some: "
            "body.with_rotors([...])"
        )
    return None


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
