"""The motion of a system whose parts may be set, and whose bodies may be given impulses, between steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations
from polhode.engine.one_body import three
from polhode.engine.one_system import each, initial_rotations, places, refuse_moving
from polhode.engine.settable_motion import FRAMES
from polhode.errors import InputError, brief, choice, floats, whole
from polhode.results.motion import ATTITUDE, OMEGA, InMotion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.core.motions import Kind
    from polhode.loads._system import System


class SettableSystem(InMotion):
    """A `body`, which is a system, a `kind` and a `motion`, with parts that can be read and set: arrays
    with a row for each body."""

    __slots__ = ()

    if TYPE_CHECKING:
        body: System
        kind: Kind

        @property
        def motion(self) -> np.ndarray:
            """The parts of all bodies in one row, in the user's axes."""

        def _part(self, field: str) -> np.ndarray:
            """A part of the motion, in the user's axes."""

        def _set(self, **values: np.ndarray) -> None:
            """Set parts of the motion, in principal axes."""

    # --- impulses ---------------------------------------------------------------------------------

    def apply_impulse(
        self, momentum: ArrayLike, *, body: int | None = None, frame: str = "spatial"
    ) -> None:
        """Add to the angular momentum of a body at once, as a blow does.

        Parameters
        ----------
        momentum : three numbers, or an array (n, 3)
            Angular impulse about the centre of mass (about the fixed point of a body that is fixed).
        body : int, optional
            The number of the body; without it, `momentum` has a row for each.
        frame : {"spatial", "body"}
            The axes of these numbers.
        """
        blows = self._for_bodies("momentum", momentum, body)
        if choice("frame", frame, FRAMES) == "spatial":
            blows = rotations.rotate_inverse(self.quaternion, blows)
        self._spin("momentum", self.momentum + blows)

    def apply_linear_impulse(
        self,
        impulse: ArrayLike,
        *,
        body: int | None = None,
        at: ArrayLike | None = None,
        frame: str = "spatial",
    ) -> None:
        """Add to the momentum of a body at once, as a blow does.

        Parameters
        ----------
        impulse : three numbers, or an array (n, 3)
            Force times time; the velocity changes by impulse / mass.
        body : int, optional
            The number of the body; without it, `impulse` has a row for each.
        at : three numbers, or an array (n, 3), optional
            Where it acts, measured from the centre of mass: off the centre it also changes the
            angular momentum, by at x impulse.
        frame : {"spatial", "body"}
            The axes of these numbers.
        """
        push = self._for_bodies("impulse", impulse, body)
        arm = np.zeros_like(push) if at is None else self._for_bodies("at", at, body)
        blow, q = np.cross(arm, push), self.quaternion
        if choice("frame", frame, FRAMES) == "body":
            push = rotations.rotate(q, push)
        else:
            blow = rotations.rotate_inverse(q, blow)
        velocity = self.velocity + push / self.body.masses[:, None]
        refuse_moving(self.body, velocity)
        self._set(omega=self._turning("momentum", self.momentum + blow), velocity=velocity)

    def _for_bodies(self, name: str, value: Any, body: int | None) -> np.ndarray:
        """A vector for each body: for one of them, zero for the others, or for all."""
        n = len(self.body)
        if body is None:
            given = floats(name, value)
            if given.shape != (n, 3):
                raise InputError(
                    f"{name} must have a row for each of the {n} bodies, got {brief(value)}; give as many, or the number "
                    "of the body: body=0"
                )
            return given
        number = whole("body", body, -n, "write body=0")
        if not 0 <= number < n:
            raise InputError(
                f"body must be the number of one of {n}, from 0 to {n - 1}, got {number}; write body={number % n}"
            )
        found = np.zeros((n, 3))
        found[number] = three(name, value)
        return found

    # --- parts ------------------------------------------------------------------------------------

    def _turn(self, name: str, rotation: Any) -> None:
        given = initial_rotations(self.body, rotation, None, None, None, name)
        self._set(attitude=given[:, ATTITUDE])

    def _spin(self, name: str, value: Any) -> None:
        self._set(omega=self._turning(name, value))

    def _turning(self, name: str, value: Any) -> np.ndarray:
        """Angular velocities in principal axes, from those of the user or from momenta."""
        vectors = each(name, floats(name, value), len(self.body), 3)
        omega = self.body.omega(vectors) if name == "momentum" else vectors
        return initial_rotations(self.body, None, omega, None, None)[:, OMEGA]

    @property
    def rotation(self) -> Rotation:
        """Attitudes as a scipy Rotation.  Accepts anything that `rotation0` does."""
        return rotations.as_rotation(self.quaternion)

    @rotation.setter
    def rotation(self, value: Rotation | ArrayLike) -> None:
        self._turn("rotation", value)

    @property
    def matrix(self) -> np.ndarray:
        """Attitudes as matrices (n, 3, 3), body to space."""
        return rotations.matrices(self.quaternion)

    @matrix.setter
    def matrix(self, value: Rotation | ArrayLike) -> None:
        self._turn("matrix", value)

    @property
    def quaternion(self) -> np.ndarray:
        """Attitudes as quaternions (n, 4), body to space, scalar last."""
        return self._part("attitude")

    @quaternion.setter
    def quaternion(self, value: Rotation | ArrayLike) -> None:
        self._turn("quaternion", value)

    @property
    def omega(self) -> np.ndarray:
        """Angular velocities in the body frames (n, 3)."""
        return self._part("omega")

    @omega.setter
    def omega(self, value: ArrayLike) -> None:
        self._spin("omega", value)

    @property
    def momentum(self) -> np.ndarray:
        """Angular momenta about the centres of mass, body frames (n, 3)."""
        return self.body.momentum(self.omega)

    @momentum.setter
    def momentum(self, value: ArrayLike) -> None:
        self._spin("momentum", value)

    @property
    def momentum_spatial(self) -> np.ndarray:
        """The same in space."""
        return rotations.rotate(self.quaternion, self.momentum)

    @momentum_spatial.setter
    def momentum_spatial(self, value: ArrayLike) -> None:
        given = each("momentum_spatial", floats("momentum_spatial", value), len(self.body), 3)
        self._spin("momentum", rotations.rotate_inverse(self.quaternion, given))

    @property
    def position(self) -> np.ndarray:
        """Positions of the centres of mass (n, 3)."""
        return self._part("position")

    @position.setter
    def position(self, value: ArrayLike | None) -> None:
        self._set(position=places("position", value, len(self.body)))

    @property
    def velocity(self) -> np.ndarray:
        """Velocities of the centres of mass (n, 3)."""
        return self._part("velocity")

    @velocity.setter
    def velocity(self, value: ArrayLike | None) -> None:
        given = each("velocity", floats("velocity", value), len(self.body), 3)
        refuse_moving(self.body, given)
        self._set(velocity=given)

    # --- quantities -------------------------------------------------------------------------------

    @property
    def kinetic_energy(self) -> float:
        """The kinetic energy of all bodies."""
        return float(self.body.kinetic_energy(self.omega, self.velocity))

    @property
    def linear_momentum(self) -> np.ndarray:
        """The momentum of all bodies."""
        return self.body.linear_momentum(self.velocity)

    @property
    def angular_momentum(self) -> np.ndarray:
        """The angular momentum of all bodies about the origin."""
        motion = self.quaternion, self.omega, self.position, self.velocity
        return self.body.angular_momentum(*motion)
