"""One body: everything a user gives is checked here before any work."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.bodies.rotor import refuse_rotors
from polhode.core.motions import FLIGHT, ROTATION, kind_of
from polhode.engine.diagnosis import Runaway
from polhode.engine.flight import check_flight, check_place
from polhode.engine.one_run import OneRun
from polhode.engine.programs import Bound, find_bound
from polhode.engine.rotors import check_rotors, check_speeds, with_speeds
from polhode.errors import InputError, floats, one_given
from polhode.loads._torque import ZERO, Torque
from polhode.loads.conversion import as_torque, check_made_for
from polhode.loads.agreement import Start
from polhode.loads.force import Force, as_force
from polhode.loads.load import Load, as_load
from polhode.methods._method import Method
from polhode.methods._registry import get
from polhode.results.motion import OMEGA, in_principal_axes, parts, row
from polhode.support.limits import check_moments, check_rates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation

# --- what a user gives ----------------------------------------------------------------------------


def as_body(body: RigidBody | ArrayLike, who: str = "") -> RigidBody:
    """A RigidBody that can be run, from a RigidBody or an inertia; `who` follows no rotors."""
    if not isinstance(body, RigidBody):
        given: Any = body
        if isinstance(given, (list, tuple)) and any(isinstance(one, RigidBody) for one in given):
            raise InputError(
                f"body must be one body, got a list of {len(given)}; write System(bodies, interaction) for bodies that move "
                "together, or use ensemble for each alone"
            )
        plain = type(given) in (list, tuple) and all(type(one) in (int, float) for one in given)
        body = _body_of(tuple(given)) if plain else RigidBody(given)
    check_moments(body.moments)
    if who:
        refuse_rotors(body, who)
    return body


# bodies do not change: the same moments are the same one
_body_of = lru_cache(64)(RigidBody)


def initial_rotation(
    body: RigidBody,
    rotation0: Rotation | ArrayLike | None,
    omega0: ArrayLike | None,
    momentum0: ArrayLike | None,
    scalar_first: bool | None = False,
) -> np.ndarray:
    """Quaternion and body angular velocity in principal axes, as one array of seven, from what the
    user gave."""
    name, value = one_given("three numbers, body frame", omega0=omega0, momentum0=momentum0)
    q = rotations.as_quaternion(rotation0, scalar_first, "rotation0")
    vector = three(name, value)
    if body.rotors and momentum0 is not None:
        vector, momentum0 = body.omega(vector), None
    if body.is_principal and momentum0 is None:
        return np.concatenate([q, check_rates(vector)])
    axes = None if body.is_principal else body.axes
    with np.errstate(over="ignore"):
        motion = in_principal_axes(body.moments, axes, q, vector, momentum0 is not None)
    check_rates(
        motion[OMEGA], "omega0" if momentum0 is None else "the angular velocity of momentum0"
    )
    return motion


def three(name: str, value: Any) -> np.ndarray:
    """Three numbers, checked."""
    vector = floats(name, value)
    if vector.shape != (3,):
        raise InputError(f"{name} must be three numbers, got shape {vector.shape}; give three")
    return vector


# --- the run --------------------------------------------------------------------------------------


class OneBody(OneRun):
    """The motion of one body."""

    force: Force | None = None

    def __init__(
        self,
        body: RigidBody | ArrayLike,
        torque: Torque | Load | Callable[..., Any] | str | None,
        method: Method | str,
        rotation0: Rotation | ArrayLike | None,
        omega0: ArrayLike | None,
        momentum0: ArrayLike | None,
        scalar_first: bool | None,
        force: Force | Callable[..., Any] | None = None,
        position0: ArrayLike | None = None,
        velocity0: ArrayLike | None = None,
        rotor_speeds0: ArrayLike | None = None,
        by_tolerance: bool = False,
    ) -> None:
        if isinstance(torque, (Load, Force)):
            load = as_load(torque)
            torque, self.force = load.torque, load.force
        self.body, self.torque, self.method = as_body(body), as_torque(torque), get(method)
        if self.torque.of_body:
            check_made_for(self.torque, self.body)
        # at the start, principal axes
        self.motion = initial_rotation(self.body, rotation0, omega0, momentum0, scalar_first)
        self.kind = kind_of(self.method.state)
        if self.kind is not ROTATION:  # whatever else a method follows begins at zero
            others = np.zeros(self.kind.width - ROTATION.width)
            self.motion = np.concatenate([self.motion, others])
        on_ground = self.force is None and force is None
        if not (on_ground and position0 is None and velocity0 is None):
            self._fly(force, position0, velocity0, by_tolerance)
        self.loads = {"torque": self.torque, "force": self.force}
        rotors = self.body.rotors
        if rotor_speeds0 is not None:
            rotor_speeds0 = check_speeds(len(rotors), rotor_speeds0, momentum0 is not None)
        if rotors:  # they are followed
            check_rotors(self.method)
            self.motion, self.kind = with_speeds(self.body, self.motion, self.kind, rotor_speeds0)

    def _fly(
        self,
        force: Force | Callable[..., Any] | None,
        position0: ArrayLike | None,
        velocity0: ArrayLike | None,
        by_tolerance: bool,
    ) -> None:
        """Translation is carried along, where a part of it is given."""
        self.force = as_force(force) if self.force is None else self.force + as_force(force)
        check_made_for(self.force, self.body)
        check_flight(self.method, self.torque, by_tolerance)
        check_place(self.force, position0)
        place = (
            three(name, ZERO if value is None else value)
            for name, value in (("position0", position0), ("velocity0", velocity0))
        )
        self.kind = FLIGHT
        self.motion = row(FLIGHT, *parts(self.motion), *place)

    def bound(self, compiled: bool, start: Start) -> Bound:
        return find_bound(self.method, self.torque, self.body, compiled, self.force, start)

    def _guard(self) -> Runaway | None:
        if not self.program.is_bounded:
            return None
        return Runaway(self.torque, self.body, self.t0, self.motion)
