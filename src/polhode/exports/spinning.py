"""Rotors of a body in exported files: what their motors do, as methods see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.core.jit import jit
from polhode.engine.rotors import Motor, motors_of, with_motors
from polhode.exports.acting import MATRIX, VECTOR, Acting
from polhode.exports.calls import UsersFunction
from polhode.exports.ir import REAL, Array
from polhode.exports.traced import motor_in_tuples

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody


class Numbers(NamedTuple):
    """What a motor gets, by names that constants have in the file."""

    motor_torque: float
    motor_damping: float
    further: Any = None


class Way(NamedTuple):
    """A motor whose torque is a function: a kernel as those of loads in flight, which finds the speed
    in place of the first coordinate, and its parameters."""

    kernel: Any
    values: Any = ()


def _way(motor: Motor) -> Any:
    torque = motor_in_tuples(motor)

    @jit
    def kernel(t, R, Om, p):
        return torque(t, R, Om, p.x[0]), 0.0, 0.0

    return Way(kernel)


def has_motors(body: RigidBody) -> bool:
    """Whether a motor of the body does anything but hold a speed."""
    return any((one.torque is not None and one.torque != 0.0) or one.damping for one in body.rotors)


def spinning(acting: Acting, body: RigidBody, flies: bool) -> tuple[Acting, UsersFunction | None]:
    """What acts on a body with rotors, and what the user writes for their motors: the body's own
    motors become part of the file; where it has none, and the torque is the user's, so are they."""
    ways = [_way(motor) for motor in motors_of(body)]
    frames, values = with_motors(acting.frames, acting.values, body, ways, flies)
    values = values._replace(motors=tuple(Numbers(*one) for one in values.motors))
    if acting.asked is None:
        return acting._replace(frames=frames, values=values), None
    baked, numbers = frames.motors, values.motors
    speeds = Array(REAL, len(body.rotors))
    params = (("t", REAL), ("R", MATRIX), ("Om", VECTOR), ("W", speeds))
    asked = None if has_motors(body) else UsersFunction("motors", params, speeds)
    users: Any = asked

    @jit
    def own_motors(t, R, Om, W, p):
        return baked(t, R, Om, W, numbers)

    @jit
    def users_motors(t, R, Om, W, p):
        return users(t, R, Om, W, p)

    chosen = users_motors if asked else own_motors
    return acting._replace(frames=frames._replace(motors=chosen)), asked
