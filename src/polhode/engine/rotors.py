"""Rotors of a body in a program: their numbers, and the torques of their motors as kernels.

A motor whose torque is a function is handled as a load in flight, f(t, R, omega, x, v): the speed of
its rotor comes in place of the first coordinate, and the first number of the result is its torque.
So it is compiled, compared with its Python or called back as torques and forces are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.bodies.rotor import Rotor, check_motor
from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.kicks import spun
from polhode.core.lift import lifted
from polhode.core.motions import ROTATION, SPEEDS, Kind, with_rotors
from polhode.core.rotors import WithMotors, each
from polhode.errors import InputError, brief, floats
from polhode.loads._torque import ZERO, Torque
from polhode.loads.kernels import FLIGHT, Airborne, Frames, nested
from polhode.loads.own_axes import in_axes
from polhode.methods._registry import everything
from polhode.results.motion import OMEGA, in_user_axes

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.engine.ways import Way
    from polhode.methods._method import Method


def check_rotors(method: Method) -> None:
    """Refuse a method that takes no rotors."""
    if method.rotors is None:
        able = ", ".join(one.name for one in everything() if one.rotors and not one.flaw)
        raise InputError(
            f"{method.name} cannot follow a body with rotors; use one of {able}, or a composition of one of order 2"
        )


PER_ROTOR = 5  # numbers of a `Gyrostat` besides the moments


def each_rotor(numbers: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Axis (n, 3), moment (n,) and 1 where it is free (n,), of each rotor, from `rotor_numbers` of n
    bodies as columns; None: there are no rotors."""
    if numbers is None:
        return []
    n = len(numbers) // PER_ROTOR
    return [
        (numbers[3 * k : 3 * k + 3].T, numbers[3 * n + k], numbers[4 * n + k]) for k in range(n)
    ]


def rotor_numbers(body: RigidBody) -> list[float]:
    """What `Gyrostat` holds besides the moments, in principal axes."""
    axes = np.array([one.axis for one in body.rotors]) @ body.axes
    moments = [one.inertia for one in body.rotors]
    return [*axes.ravel().tolist(), *moments, *(float(not one.is_held) for one in body.rotors)]


def body_numbers(body: RigidBody) -> np.ndarray:
    """What the loops read of a body, (numbers, 1): its moments and those of its rotors."""
    numbers = [*body.moments.tolist(), *(rotor_numbers(body) if body.rotors else ())]
    return np.array(numbers).reshape(-1, 1)


def check_speeds(n: int, given: Any, with_momentum: bool, many: bool = False) -> np.ndarray:
    """Speeds of n rotors at the start that are not those of the body, one row of them, or a row for
    each of many bodies; `with_momentum`, beside momentum0."""
    if not n:
        raise InputError(
            f"{SPEEDS}0={brief(given)} is for a body with rotors; leave it out, or give the body some: "
            "body.with_rotors([...])"
        )
    if with_momentum:
        raise InputError(
            f"momentum0 is that of body and rotors, with the rotors' own speeds, and {SPEEDS}0 gives others; give "
            "omega0 instead"
        )
    rows = floats(f"{SPEEDS}0", given)
    if rows.shape != (n,) and not (many and rows.ndim == 2 and rows.shape[1] == n):
        each = f", or those of each body (n, {n})" if many else ""
        raise InputError(
            f"{SPEEDS}0 must have a number for each rotor ({n},){each}, got shape {rows.shape}; give "
            f"{'one of these' if many else f'{n} of them'}"
        )
    return rows


def first_speeds(body: RigidBody, motions: np.ndarray, kind: Kind = ROTATION) -> np.ndarray:
    """The speeds at the start that the body itself says, of motions (principal axes) of this kind."""
    return body.rotor_speeds(in_user_axes(body, motions, kind)[..., OMEGA])


def with_speeds(
    body: RigidBody, motion: np.ndarray, kind: Kind, speeds0: np.ndarray | None = None
) -> tuple[np.ndarray, Kind]:
    """A motion (principal axes) with the speeds of the rotors at the start, by default those of the
    body, and its kind."""
    speeds = first_speeds(body, motion, kind) if speeds0 is None else speeds0
    return np.concatenate([motion, speeds]), with_rotors(kind, len(body.rotors))


def struck(
    body: RigidBody, omega: np.ndarray, speeds: np.ndarray, blow: np.ndarray
) -> dict[str, np.ndarray]:
    """The parts of a motion after a blow to the body, in principal axes; what is given is in the
    user's axes.  Free rotors keep their momenta about their axes."""
    change = blow @ body.axes / body.moments
    found = {"omega": omega @ body.axes + change}
    for i, one in enumerate(body.rotors):
        lost = 0.0 if one.is_held else np.dot(body.axes @ change, one.axis)
        found[f"rotor_{i + 1}"] = speeds[i] - lost
    return found


# --- motors ---------------------------------------------------------------------------------------


class Motor(Torque):
    """The torque of a motor, as a load in flight."""

    kind = "torque of a rotor"
    motor: Callable[..., float]

    def __init__(self, function: Callable[..., float]) -> None:
        name = getattr(function, "__name__", type(function).__name__)
        if check_motor(function) == 1:

            def load(t, R, omega, x, v):
                return (function(t), 0.0, 0.0)
        else:

            def load(t, R, omega, x, v):
                return (function(t, R, omega, x[0]), 0.0, 0.0)

        super().__init__(load, uses_omega=True, uses_position=True, name=name)
        self.wrapped = self.motor = function

    def with_lifted(self, what: str = "function") -> Torque:
        """The same motor with the floats in the closure of its function as parameters."""
        given = check_motor(self.motor)
        found = lifted(self.motor, given)
        if found is None:
            return self
        function: Any = found.function
        if given == 1:

            def load(t, R, omega, x, v, *constants):
                return (function(t, *constants), 0.0, 0.0)
        else:

            def load(t, R, omega, x, v, *constants):
                return (function(t, R, omega, x[0], *constants), 0.0, 0.0)

        return self._with(function=load, lifted=found.values)


_motors: OrderedDict[int, Motor] = OrderedDict()  # by the id of the function, which they hold
KEPT = 64


def _motor(function: Callable[..., float]) -> Motor:
    """The motor of a function: the same one for the same function."""
    found = _motors.get(id(function))
    if found is None or found.wrapped is not function:
        found = _motors[id(function)] = Motor(function)
        while len(_motors) > KEPT:
            _motors.popitem(last=False)
    return found


def motor_of(rotor: Rotor) -> Motor | None:
    """The motor of a rotor whose torque is a function."""
    if isinstance(rotor.torque, str):
        raise InputError(
            f"the torque {rotor.torque!r} of a rotor was a function, which is not stored with a run; give the body its "
            "rotors again: body.with_rotors([...])"
        )
    return _motor(rotor.torque) if callable(rotor.torque) else None


def motors_of(body: RigidBody) -> list[Motor]:
    """The motors whose torques are functions."""
    return [motor for motor in map(motor_of, body.rotors) if motor is not None]


def motors_at(body: RigidBody, speeds: Any) -> list[tuple[Motor, tuple[float, float, float]]]:
    """The same, each with what comes in place of its position at these speeds of all rotors."""
    driven = [i for i, one in enumerate(body.rotors) if callable(one.torque)]
    found = motors_of(body)
    return [(motor, (speeds[i], 0.0, 0.0)) for motor, i in zip(found, driven, strict=True)]


def feels_speed(body: RigidBody) -> bool:
    """Whether a motor depends on the angular velocity or a speed, as far as is known."""
    return any(
        one.damping or (callable(one.torque) and check_motor(one.torque) > 1) for one in body.rotors
    )


def speeds_felt(torque: Torque, force: Torque | None, *bodies: RigidBody) -> str:
    """What acts and depends on velocities, in words, as far as is known; empty where nothing does."""
    for load in (force, torque):
        if load is not None and load.feels_omega:
            return f"a {load.kind} that depends on the angular velocity"
        if load is not None and load.feels_velocity:
            return f"a {load.kind} that depends on the velocity"
    feel = any(map(feels_speed, bodies))
    return "a torque of a rotor that depends on a speed" if feel else ""


@jit
def steady(t, R, Om, speed, p):
    """A constant torque and a viscous friction."""
    return p[0] - p[1] * speed


def _driven(kernel):
    """The same and a load."""

    @jit
    def motor(t, R, Om, speed, p):
        inner = Airborne(p[2], (speed, 0.0, 0.0), ZERO)
        return kernel(t, R, Om, inner)[0] + steady(t, R, Om, speed, p)

    return motor


def motor_numbers(body: RigidBody, owns: Sequence[Any], tilted: bool) -> tuple[Any, ...]:
    """What the motors of a body get: constant torque and damping, and of one that is a function its
    own, those of all being `owns`; `tilted`, with the axes of the body."""
    numbers: list[tuple[Any, ...]] = []
    left = list(owns)
    for one in body.rotors:
        driven = callable(one.torque)
        given: tuple[Any, ...]
        given = (0.0 if one.torque is None or driven else one.torque, one.damping or 0.0)
        if driven:
            own = left.pop(0)
            given = (*given, (nested(body.axes), own) if tilted else own)
        numbers.append(given)
    return tuple(numbers)


def with_motors(
    acting: Frames, values: Any, body: RigidBody, taken: Sequence[Way], flying: bool
) -> tuple[Frames, WithMotors]:
    """Torque (and force) with the motors of a body beside them, and the parameters of all; `taken`
    are the ways of `motors_of`."""
    left, n = list(taken), len(body.rotors)
    kernels = []
    for one in body.rotors:
        if callable(one.torque):
            kernel = left.pop(0).kernel
            kernel = kernel if body.is_principal else in_axes(kernel, "spatial", FLIGHT)
            kernels.append(_driven(kernel))
        else:
            kernels.append(steady)
    motors = generated(
        __name__,
        "motors",
        "t, R, Om, W, p",
        (),
        each("motor_#(t, R, Om, W[#], p[#])", n),
        **{f"motor_{i}": kernel for i, kernel in enumerate(kernels)},
    )
    own = motor_numbers(body, [way.values for way in taken], not body.is_principal)
    return acting._replace(kicks=spun(flying, n).kicks, motors=motors), WithMotors(values, own)
