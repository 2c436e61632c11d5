"""What follows from the motions of all bodies of a system, at many times or of many systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode import rotations

if TYPE_CHECKING:
    from polhode.loads._system import System


class OfBodies:
    """What has a system as its `body`, and motions of all bodies (n, bodies, component)."""

    __slots__ = ()

    if TYPE_CHECKING:
        body: System
        quaternion: np.ndarray
        omega: np.ndarray
        position: np.ndarray
        velocity: np.ndarray

    @property
    def momentum(self) -> np.ndarray:
        """Angular momenta about the centres of mass, body frame (n, bodies, 3)."""
        return self.body.momentum(self.omega)

    @property
    def momentum_spatial(self) -> np.ndarray:
        """The same in space."""
        return rotations.rotate(self.quaternion, self.momentum)

    @property
    def linear_momenta(self) -> np.ndarray:
        """The momentum of each body (n, bodies, 3)."""
        return self.body.linear_momenta(self.velocity)

    @property
    def linear_momentum(self) -> np.ndarray:
        """The momentum of all bodies (n, 3)."""
        return self.linear_momenta.sum(axis=1)

    @property
    def angular_momenta(self) -> np.ndarray:
        """The angular momentum of each body about the origin (n, bodies, 3)."""
        motion = self.quaternion, self.omega, self.position, self.velocity
        return self.body.angular_momenta(*motion)

    @property
    def angular_momentum(self) -> np.ndarray:
        """The angular momentum of all bodies about the origin (n, 3)."""
        return self.angular_momenta.sum(axis=1)

    @property
    def centre(self) -> np.ndarray:
        """The centre of mass (n, 3)."""
        return np.einsum("b,tbi->ti", self.body.masses, self.position) / self.body.mass

    @property
    def rotational_energy(self) -> np.ndarray:
        """Kinetic energies of the rotations (n, bodies)."""
        return self.body.rotational_energy(self.omega)

    @property
    def kinetic_energy(self) -> np.ndarray:
        """The kinetic energy of all bodies (n,)."""
        return self.body.kinetic_energy(self.omega, self.velocity)
