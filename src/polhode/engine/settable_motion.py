"""A motion whose parts may be set, and which may be given impulses, between steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode import rotations
from polhode.engine.one_body import initial_rotation, three
from polhode.engine.rotors import struck
from polhode.errors import InputError, choice
from polhode.loads._torque import ZERO
from polhode.results.motion import ATTITUDE, OMEGA, InMotion, parts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.bodies._body import RigidBody
    from polhode.core.motions import Kind

FRAMES = ("spatial", "body")


class SettableMotion(InMotion):
    """A `body`, a `kind` and a `motion`, with parts that can be read and set."""

    __slots__ = ()

    if TYPE_CHECKING:
        body: RigidBody
        kind: Kind

        @property
        def motion(self) -> np.ndarray:
            """The parts as one row, in the user's axes."""

        def _set(self, **values: np.ndarray) -> None:
            """Set parts of the motion, in principal axes."""

    def apply_impulse(self, momentum: ArrayLike, *, frame: str = "spatial") -> None:
        """Add to the angular momentum at once, as a blow does.

        Parameters
        ----------
        momentum : three numbers
            Angular impulse about the centre of mass (about the fixed point of a top).
        frame : {"spatial", "body"}
            The axes of these numbers.
        """
        blow = three("momentum", momentum)
        if choice("frame", frame, FRAMES) == "spatial":
            blow = rotations.rotate_inverse(self.quaternion, blow)
        self.momentum = self.momentum + blow

    def apply_linear_impulse(
        self, impulse: ArrayLike, *, at: ArrayLike | None = None, frame: str = "spatial"
    ) -> None:
        """Add to the momentum of a body in flight at once, as a blow does.

        Parameters
        ----------
        impulse : three numbers
            Force times time; the velocity changes by impulse / mass.
        at : three numbers, optional
            Where it acts, measured from the centre of mass: off the centre it also changes the
            angular momentum, by at x impulse.
        frame : {"spatial", "body"}
            The axes of these numbers.
        """
        self._check_flight("a linear impulse does nothing here")
        push, arm = three("impulse", impulse), three("at", ZERO if at is None else at)
        blow, q = np.cross(arm, push), self.quaternion
        if choice("frame", frame, FRAMES) == "body":
            push = rotations.rotate(q, push)
        else:
            blow = rotations.rotate_inverse(q, blow)
        velocity = np.asarray(self.velocity) + push / self.body.mass
        self._set(**self._turning(self.momentum + blow), velocity=velocity)

    def _turning(self, momentum: np.ndarray) -> dict[str, np.ndarray]:
        """The parts that give this total momentum, in principal axes; free rotors keep theirs."""
        if self.body.rotors:
            blow = momentum - self.momentum
            return struck(self.body, self.omega, np.asarray(self.rotor_speeds), blow)
        return {"omega": initial_rotation(self.body, None, None, momentum)[OMEGA]}

    def _check_flight(self, trouble: str) -> None:
        if "velocity" not in self.kind.slices:
            raise InputError(
                f"{trouble}: this {type(self).__name__} follows the rotation alone; give it position0, velocity0 or "
                "force when it is made"
            )

    def _turn(self, name: str, rotation: Rotation | ArrayLike) -> None:
        q = rotations.as_quaternion(rotation, None, name)
        self._set(attitude=initial_rotation(self.body, q, ZERO, None)[ATTITUDE])

    def _fly(self, part: str, value: ArrayLike | None) -> None:
        self._check_flight(f"{part} cannot be set")
        self._set(**{part: three(part, value)})

    @property
    def rotation(self) -> Rotation:
        """Attitude as a scipy Rotation.  Accepts anything that `rotation0` does."""
        return rotations.as_rotation(self.quaternion)

    @rotation.setter
    def rotation(self, value: Rotation | ArrayLike) -> None:
        self._turn("rotation", value)

    @property
    def matrix(self) -> np.ndarray:
        """Attitude as a 3x3 matrix, body to space."""
        return rotations.matrices(self.quaternion)

    @matrix.setter
    def matrix(self, value: Rotation | ArrayLike) -> None:
        self._turn("matrix", value)

    @property
    def quaternion(self) -> np.ndarray:
        """Attitude as a quaternion, body to space, scalar last."""
        return self.motion[ATTITUDE]

    @quaternion.setter
    def quaternion(self, value: Rotation | ArrayLike) -> None:
        self._turn("quaternion", value)

    @property
    def omega(self) -> np.ndarray:
        """Angular velocity in the body frame."""
        return self.motion[OMEGA]

    @omega.setter
    def omega(self, value: ArrayLike) -> None:
        given = initial_rotation(self.body, None, three("omega", value), None)
        self._set(omega=given[OMEGA])

    @property
    def momentum(self) -> np.ndarray:
        """Angular momentum in the body frame, with that of the rotors."""
        return self.body.momentum(self.omega, self.rotor_speeds)

    @momentum.setter
    def momentum(self, value: ArrayLike) -> None:
        self._set(**self._turning(three("momentum", value)))

    @property
    def momentum_spatial(self) -> np.ndarray:
        """Angular momentum in space."""
        return rotations.rotate(self.quaternion, self.momentum)

    @momentum_spatial.setter
    def momentum_spatial(self, value: ArrayLike) -> None:
        self.momentum = rotations.rotate_inverse(self.quaternion, three("momentum_spatial", value))

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy of the rotation, with that of the rotors."""
        return float(self.body.kinetic_energy(self.omega, self.rotor_speeds))

    @property
    def position(self) -> np.ndarray | None:
        """Position of the centre of mass, in flight."""
        return getattr(parts(self.motion, self.kind), "position", None)

    @position.setter
    def position(self, value: ArrayLike | None) -> None:
        self._fly("position", value)

    @property
    def velocity(self) -> np.ndarray | None:
        """Velocity of the centre of mass, in flight."""
        return getattr(parts(self.motion, self.kind), "velocity", None)

    @velocity.setter
    def velocity(self, value: ArrayLike | None) -> None:
        self._fly("velocity", value)
