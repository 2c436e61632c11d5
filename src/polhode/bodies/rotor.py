"""Rotors: wheels that turn about an axis fixed in the body, without changing its inertia.

With rotors of moments J about the axes a, turning at the speeds W relative to the body,

    momentum = inertia omega + sum J W a
    energy = omega . inertia omega / 2 + sum J W (a . omega) + sum J W^2 / 2,

where the inertia is that of the whole, rotors included.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import InputError, brief, floats, number, unknown
from polhode.support.portable import portable

FORMS = "torque(t) or torque(t, R, omega, speed)"


@dataclass(frozen=True, init=False, repr=False)
class Rotor:
    """A balanced wheel on an axle fixed in the body.

    Given a speed alone, its motor holds it at that speed.  Given a torque, a damping or a momentum,
    it turns freely but for these: the torque acts between body and rotor, and the total momentum
    stays as it is.

    Parameters
    ----------
    axis : three numbers
        Direction of the axle, in your body axes; its length does not matter.
    inertia : float
        Moment of inertia about the axle.  It is part of the body's inertia, which is that of the
        whole with its rotors.
    speed : float, optional
        Angular velocity relative to the body, about the axis: at the start, or at all times where
        the motor holds it.  0 by default for a rotor that turns freely.
    momentum : float, optional
        In place of the speed: the rotor's whole angular momentum about its axis at the start,
        ``inertia * (speed + axis . omega)``, which a free rotor keeps.
    torque : float or function, optional
        Torque of the motor on the rotor about the axis: a number, a function ``torque(t)``, or
        ``torque(t, R, omega, speed)`` of time, attitude matrix, body angular velocity and the
        rotor's speed.  Zero lets it turn freely.
    damping : float, optional
        Viscous friction in the bearing: a torque ``-damping * speed`` on the rotor.

    Examples
    --------
    >>> Rotor((0, 0, 1), 0.01, speed=300.0)  # held at constant speed
    Rotor(axis=(0.0, 0.0, 1.0), inertia=0.01, speed=300.0)
    >>> Rotor((0, 0, 1), 0.01, torque=0.002).is_held  # a reaction wheel that spins up
    False
    >>> Rotor((1, 0, 0), 0.01, damping=0.1).damping  # a viscous damper
    0.1
    """

    axis: tuple[float, float, float]
    inertia: float
    speed: float | None
    momentum: float | None
    torque: float | Callable[..., float] | str | None  # text: a function that was not stored
    damping: float | None

    def __init__(
        self,
        axis: Any,
        inertia: float,
        *,
        speed: float | None = None,
        momentum: float | None = None,
        torque: float | Callable[..., float] | None = None,
        damping: float | None = None,
    ) -> None:
        direction = floats("axis of a rotor", axis)
        if direction.shape != (3,):
            raise InputError(
                f"axis of a rotor must be three numbers, got shape {direction.shape}; give three"
            )
        length = math.hypot(*direction)
        if not 0.0 < length < math.inf:
            raise InputError(
                f"axis of a rotor must have a length, got {brief(axis)}; give a direction, such as (0, 0, 1)"
            )
        if speed is None and momentum is None and torque is None and damping is None:
            raise InputError(
                "a rotor needs speed=... (held by its motor), or torque=..., damping=... or momentum=... (turning "
                "freely but for these); give one, torque=0.0 for a free rotor"
            )
        if speed is not None and momentum is not None:
            raise InputError(
                f"a rotor starts with a speed or a momentum, got speed = {brief(speed)} and momentum = {brief(momentum)}; "
                "give one of them"
            )
        given = {"speed": speed, "momentum": momentum, "damping": damping}
        if not (torque is None or callable(torque) or isinstance(torque, str)):
            given["torque"], torque = torque, None
        values = {
            name: None if value is None else number(f"{name} of a rotor", value)
            for name, value in given.items()
        }
        if (values["damping"] or 0.0) < 0.0:
            raise InputError(
                f"damping of a rotor must not be negative, got {damping!r}; give 0 or more"
            )
        if callable(torque):
            check_motor(torque)
        self.__dict__.update(
            {
                "torque": torque,
                **values,
                # one that has length 1 already keeps its bits
                "axis": tuple(
                    (direction / (1.0 if abs(length - 1.0) < 1e-15 else length)).tolist()
                ),
                "inertia": number("inertia of a rotor", inertia, positive=True),
            }
        )

    @property
    def is_held(self) -> bool:
        """Whether its motor holds it at constant speed."""
        return self.torque is None and self.damping is None and self.momentum is None

    @property
    def is_free(self) -> bool:
        """Whether neither motor nor bearing works on it: it turns freely, and the energy stays."""
        return not (self.is_held or self.torque or self.damping)

    def __getstate__(self) -> dict[str, Any]:
        """For another process, and for deep copies."""
        return {name: portable(value) for name, value in self.__dict__.items()}

    def __repr__(self) -> str:
        given = ((name, getattr(self, name)) for name in self.__dataclass_fields__)
        shown = (f"{name}={getattr(v, '__name__', v)}" for name, v in given if v is not None)
        return f"Rotor({', '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the rotor as a plain dict that JSON can hold; of a function only the name."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        found["axis"] = list(self.axis)
        if callable(self.torque):
            found["torque"] = getattr(self.torque, "__name__", type(self.torque).__name__)
        return {name: value for name, value in found.items() if value is not None}


def check_motor(torque: Callable[..., float]) -> int:
    """The number of arguments that a motor's function is called with, 1 or 4."""
    try:
        signature = inspect.signature(torque)
    except (TypeError, ValueError):
        return 4
    kinds = [one.kind for one in signature.parameters.values()]
    for count in (4, 1) if inspect.Parameter.VAR_POSITIONAL in kinds else (1, 4):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    raise InputError(
        f"torque of a rotor is called as {FORMS}, and {brief(torque)} is defined as {signature}; give it these "
        "arguments"
    )


def as_rotors(rotors: Any) -> tuple[Rotor, ...]:
    """Rotors, from what a user gives for them."""
    if isinstance(rotors, (Rotor, Mapping, str)) or not isinstance(rotors, Iterable):
        raise InputError(f"rotors must be a list of Rotor, got {brief(rotors)}; write rotors=[...]")
    return tuple(map(_as_rotor, rotors))


def _as_rotor(value):
    if isinstance(value, Rotor):
        return value
    if not isinstance(value, Mapping) or not {"axis", "inertia"} <= set(value):
        raise InputError(
            f"a rotor is a polhode.Rotor(axis, inertia, ...), got {brief(value)}; make one"
        )
    for key in value:
        if key not in Rotor.__dataclass_fields__:
            raise unknown("key of a rotor", key, Rotor.__dataclass_fields__)
    return Rotor(**value)


def check_own(inertia: np.ndarray) -> None:
    """Refuse rotors that leave nothing of the inertia of the whole."""
    least = float(np.linalg.eigvalsh(inertia)[0])
    if not least > 1e-12 * np.abs(inertia).max():
        raise InputError(
            f"the rotors are too heavy: of the inertia, which includes them, they leave a moment of {least:.6g} about "
            "one of the axes; give the inertia of the whole body, rotors included, or lighter rotors"
        )


def refuse_rotors(body: Any, who: str) -> None:
    """Refuse a body with rotors where these are not followed."""
    if body.rotors:
        raise InputError(
            f"{who} does not follow the rotors of a body; use polhode.integrate, or leave them out: "
            "body.with_rotors([])"
        )


# --- sums over the rotors of a body ---------------------------------------------------------------


def without(inertia: np.ndarray, rotors: Iterable[Rotor]) -> np.ndarray:
    """The inertia less the moments of these rotors about their axes."""
    for one in rotors:
        inertia = inertia - one.inertia * np.outer(one.axis, one.axis)
    return inertia


def axial(rotors: tuple[Rotor, ...]) -> np.ndarray:
    """J a of each, (n, 3)."""
    return np.array([np.multiply(one.inertia, one.axis) for one in rotors])


def _along(one: Rotor, omega: np.ndarray) -> np.ndarray:
    """The part of omega (..., 3) along the axis: the same bits for one as for many."""
    a, b, c = one.axis
    return omega[..., 0] * a + omega[..., 1] * b + omega[..., 2] * c


def speeds(rotors: tuple[Rotor, ...], omega: np.ndarray) -> np.ndarray:
    """The speeds at the start (..., n), where the body has the angular velocity omega (..., 3)."""
    if not rotors:
        return np.empty((*omega.shape[:-1], 0))
    return np.stack(
        [
            (one.speed or 0.0) + 0.0 * omega[..., 0]
            if one.momentum is None
            else one.momentum / one.inertia - _along(one, omega)
            for one in rotors
        ],
        axis=-1,
    )


def energy(rotors: tuple[Rotor, ...], omega: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """What the speeds add to the energy of a body whose rotors stand still in it."""
    moments = np.array([one.inertia for one in rotors])
    along = np.sum((omega @ axial(rotors).T) * speeds, axis=-1)
    return along + 0.5 * np.sum(moments * speeds**2, axis=-1)
