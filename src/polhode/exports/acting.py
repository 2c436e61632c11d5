"""Torques and loads as the functions of a file see them: those that polhode knows, and those that the user of
the file writes."""

from __future__ import annotations

from typing import Any, NamedTuple

from polhode.core.jit import jit
from polhode.core.kicks import IN_FLIGHT
from polhode.core.layout import Vector
from polhode.core.vec import apply_t, attitude, matrix
from polhode.engine.flight import Parameters, actions, check_flight
from polhode.exports.calls import UsersFunction
from polhode.exports.ir import REAL, Array, Record
from polhode.loads._torque import Torque
from polhode.loads.kernels import FLIGHT, in_frame
from polhode.loads.load import Load
from polhode.methods._method import Method

VECTOR, QUATERNION, MATRIX = Array(REAL, 3), Array(REAL, 4), Array(Array(REAL, 3), 3)


class Push(NamedTuple):
    """What the user's load returns in flight."""

    torque: Vector
    acceleration: Vector


class Acting(NamedTuple):
    """What acts on a body."""

    known: Torque  # what a method may know of the torque
    frames: Any  # how its functions see it
    values: Any  # the parameters; None if the user gives them
    asked: UsersFunction | None  # the user's function


def of_torque(torque: Torque) -> Acting:
    """A torque that becomes part of the file."""
    derivatives = torque.derivative_kernels()
    own = torque.quaternion_kernel()
    frames = in_frame(torque.kernel(), torque.frame, derivatives, own)
    return Acting(torque, frames, torque.values, None)


def of_load(load: Load, method: Method, mass: float) -> Acting:
    """Torque and force that become part of the file, for a method in flight."""
    torque, force = load.torque, load.force
    check_flight(method, torque)
    frames = actions(method, in_frame(torque.kernel(FLIGHT), torque.frame), force.kernel(FLIGHT))
    return Acting(torque, frames, Parameters(torque.values, force.values, mass), None)


def _unknown(frame: str) -> Torque:
    def unknown(t, R, omega):
        raise NotImplementedError

    return Torque(unknown, frame=frame, uses_omega=True, form="tuple", name="of the user")


def of_user(frame: str) -> Acting:
    """A torque that the user writes."""
    params = (("t", REAL), ("R", MATRIX), ("Om", VECTOR))
    asked: Any = UsersFunction("torque", params, VECTOR)
    return Acting(_unknown(frame), in_frame(asked, frame), None, asked)


def of_user_in_flight(frame: str) -> Acting:
    """A torque about the centre of mass and its acceleration that the user writes."""
    params = (("t", REAL), ("R", MATRIX), ("Om", VECTOR), ("x", VECTOR), ("v", VECTOR))
    asked: Any = UsersFunction("load", params, Record(Push, (VECTOR, VECTOR)))

    def together(rotation):
        @jit
        def both(t, q, Om, x, v, p):
            R = rotation(q)
            T, a = asked(t, R, Om, x, v, p)
            return apply_t(R, T), a

        @jit
        def both_in_body(t, q, Om, x, v, p):
            T, a = asked(t, rotation(q), Om, x, v, p)
            return T, a

        return both if frame == "spatial" else both_in_body

    class Users(NamedTuple):
        both: Any
        both_near: Any
        kicks: Any
        motors: Any = None

    frames = Users(together(matrix), together(attitude), IN_FLIGHT)
    return Acting(_unknown(frame), frames, None, asked)
