"""Loads on a body in flight: force and torque of one cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polhode.errors import check_options, shows_options
from polhode.loads._torque import ZERO, Torque
from polhode.loads.conversion import as_torque, combined
from polhode.loads.force import Force, as_force


class Load:
    """A force on the centre of mass and a torque about it, both in space.

    Made by `@polhode.load` from one function `f(t, x, v, R[, omega][, p])` that returns both, or
    from a torque and a force; `potential` is the energy `V(t, x, R[, p])` of the two.  Loads add, to
    each other and to torques and forces.

    >>> import numpy as np
    >>> both = Load(torque=lambda t, R: np.zeros(3), force=lambda t, x, v, R: -x)
    >>> (both + both).force(0.0, np.eye(3), x=(1, 0, 0)).tolist()
    [-2.0, 0.0, 0.0]
    """

    def __init__(self, torque: Any = None, force: Any = None) -> None:
        self.torque, self.force = as_torque(torque), as_force(force)

    @property
    def name(self) -> str:
        """The names of force and torque, once where they are the same."""
        return " + ".join(dict.fromkeys((self.force.name, self.torque.name)))

    def __call__(
        self, t: float, x: Any, v: Any, R: Any, omega: Any = ZERO
    ) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque in space, as arrays: for looking at, not for loops."""
        torque = self.torque(t, R, omega, x, v)
        if self.torque.frame == "body":
            torque = np.asarray(R, dtype=float) @ torque
        return self.force(t, R, omega, x, v), torque

    def __add__(self, other: Any) -> Load:
        if type(other) is int and other == 0:  # where `sum` begins
            return self
        other = as_load(other)
        torques = [one for one in (self.torque, other.torque) if one.acts]
        torque = combined(*torques) if len(torques) > 1 else (torques or [self.torque])[0]
        return Load(torque, self.force + other.force)

    __radd__ = __add__

    def __repr__(self) -> str:
        return f"<load {self.name}>"


def as_load(value: Any) -> Load:
    """A Load from a Load, a force, or what is a torque."""
    if isinstance(value, Load):
        return value
    return Load(force=value) if isinstance(value, Force) else Load(torque=value)


class _Whole(Force):
    """A function that returns force and torque."""

    kind = "load"


class _Once:
    """A function of force and torque that is called once for both: the other part of an answer is
    kept until it is asked for, at the same place."""

    def __init__(self, whole: Torque) -> None:
        self.whole = whole
        self.asked: tuple[Any, ...] = ()
        self.other = np.zeros(3)

    def part(self, which: int, t: float, R: Any, omega: Any, x: Any, v: Any) -> np.ndarray:
        asked = (t, *(np.asarray(one, dtype=float).tobytes() for one in (R, omega, x, v)))
        if self.asked == (which, *asked):
            self.asked = ()
            return self.other
        answer = self.whole(t, R, omega, x, v)
        if answer.shape != (2, 3):
            raise ValueError(
                f"load {self.whole.name!r} must return a force and a torque, three numbers each, got shape "
                f"{answer.shape}"
            )
        self.asked, self.other = (1 - which, *asked), answer[1 - which]
        return answer[which]


class _PartOfLoad(Torque):
    """Force or torque of a function that returns both."""

    which: int
    once: _Once

    @property
    def feels_velocity(self) -> bool:
        return self.once.whole.feels_velocity

    def __call__(self, t, R, omega=ZERO, x=ZERO, v=ZERO):
        return self.once.part(self.which, t, R, omega, x, v)

    def with_params(self, **changes: Any) -> Torque:
        """The same with some parameters changed; it then calls the function for itself."""
        fresh: Any = super().with_params(**changes)
        fresh.once = _Once(self.once.whole.with_params(**changes))
        return fresh


class _ForceOfLoad(_PartOfLoad, Force):
    which = 0


class _TorqueOfLoad(_PartOfLoad):
    which = 1


@shows_options(Force)
def load(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Turn a function that returns force and torque into a Load; use as `@load` or `@load(...)`.

    The function is called as `f(t, x, v, R[, omega][, p])` and returns two vectors in space, the
    force on the centre of mass and the torque about it.

    Parameters
    ----------
    params, potential, uses_omega, form, name
        As for `polhode.Force`; the potential is that of force and torque together.

    Examples
    --------
    A spring from a point of the body to the origin.

    >>> import numpy as np
    >>> @load
    ... def spring(t, x, v, R):
    ...     arm = R @ np.array([0.1, 0.0, 0.0])
    ...     pull = -3.0 * (x + arm)
    ...     return pull, np.cross(arm, pull)
    >>> force, torque = spring(0.0, np.zeros(3), np.zeros(3), np.eye(3))
    >>> force.round(3).tolist(), torque.tolist()
    ([-0.3, -0.0, -0.0], [0.0, 0.0, 0.0])
    """
    check_options(Force, options)
    if function is None:
        return lambda function: load(function, **options)
    return load_of(function, **options)


def load_of(
    function: Callable[..., Any],
    *,
    params: Mapping[str, Any] | None = None,
    potential: Callable[..., Any] | None = None,
    uses_omega: bool = False,
    form: str = "array",
    name: str | None = None,
) -> Load:
    """A Load whose parts call one function."""
    whole = _Whole(
        function, params=params, potential=potential, uses_omega=uses_omega, form=form, name=name
    )

    def force(t, x, v, R, *rest):
        return function(t, x, v, R, *rest)[0]

    def torque(t, R, x, v, *rest):
        return function(t, x, v, R, *rest)[1]

    def torque_of_omega(t, R, omega, x, v, *rest):
        return function(t, x, v, R, omega, *rest)[1]

    given: dict[str, Any] = {
        "params": params,
        "form": form,
        "name": whole.name,
        "uses_omega": uses_omega,
    }
    twist = _TorqueOfLoad(torque_of_omega if uses_omega else torque, uses_position=True, **given)
    push = _ForceOfLoad(force, potential=potential, **given)
    twist.once = push.once = _Once(whole)
    twist.wrapped = push.wrapped = function
    twist.shares_potential = potential is not None
    return Load(twist, push)
