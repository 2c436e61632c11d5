"""What is wrong with a torque or a force, as an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations
from polhode.engine.rotors import motors_at
from polhode.errors import IntegrationError, TorqueError
from polhode.results.motion import described, in_user_axes, parts, rotor_speeds

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.core.motions import Kind
    from polhode.loads._torque import Torque

AT_START = "correct it"
CORRECT = "correct it, or end the run before"


def list_parts(parts: dict[str, Any]) -> str:
    """The parts of a motion as text."""
    return ", ".join(f"{name} {shortened(value)}" for name, value in parts.items())


def shortened(value: Any) -> Any:
    """The parts of a system as text: those of many bodies do not fit into a message."""
    many = isinstance(value, list) and value and isinstance(value[0], list)
    return f"{value[:2]} ..." if many and len(value) > 2 else value


def exception_text(cause: BaseException, where: str = "", who: str = "the torque") -> str:
    """What a torque or force raised, as text."""
    return f"{who} raised {type(cause).__name__}{where and ' '}{where}: {cause}"


def torque_error(
    cause: BaseException, where: str, fix: str = CORRECT, who: str = "the torque"
) -> TorqueError:
    """The TorqueError for what a torque or force raised; `where` is text."""
    error = TorqueError(f"{exception_text(cause, where, who)}; {fix}")
    error.__cause__ = cause
    return error


def torque_trouble(
    body: RigidBody,
    torque: Torque,
    force: Torque | None,
    kind: Kind,
    t: float,
    y: np.ndarray,
    fix: str = CORRECT,
) -> IntegrationError | None:
    """Evaluate torque and force as Python at time t and motion y (principal axes): the TorqueError
    if a value is bad."""
    y = in_user_axes(body, y, kind)
    now = parts(y, kind)
    if not np.isfinite(now.attitude).all():
        return None
    seen = (now.omega,) if force is None else (now.omega, now.position, now.velocity)
    asked: list[tuple[Torque, tuple[Any, ...]]]
    asked = [(acting, seen) for acting in (torque, force) if acting is not None]
    asked += [
        (motor, (now.omega, speed)) for motor, speed in motors_at(body, rotor_speeds(y, kind))
    ]
    R, place = (
        rotations.matrices(now.attitude),
        f"at t = {t:.15g} ({list_parts(described(y, kind))})",
    )
    for acting, seen in asked:
        who = f"{acting.kind} {acting.name!r}"
        try:
            value = acting(t, R, *(np.where(np.isfinite(x), x, 0.0) for x in seen))
        except Exception as cause:
            return torque_error(cause, place, fix, who)
        if value.shape != (3,):
            return TorqueError(
                f"{who} must return three numbers, got shape {value.shape} {place}; correct it"
            )
        if not np.isfinite(value).all():
            return TorqueError(f"{who} returned {value.tolist()} {place}; {fix}")
    return None
