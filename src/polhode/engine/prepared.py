"""What a `Flow` has prepared, and what its calls give: parameters, moments, states."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.bodies.inertia import triangle_excess
from polhode.core.layout import flatten
from polhode.core.motions import Kind
from polhode.engine.ensemble.parameters import (
    check_given_once,
    check_parameters,
    fields,
    own_values,
    parameter_names,
)
from polhode.engine.one_body import as_body
from polhode.engine.programs import Bound
from polhode.errors import InputError, brief, floats, unknown
from polhode.loads.sum import Sum
from polhode.support.limits import LARGEST_MOMENT, LEAST_MOMENT

if TYPE_CHECKING:
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force

_FLOAT = np.dtype(float)


# --- ready to be called ---------------------------------------------------------------------------


class Compared:
    """Parameters with which machine code and Python were compared."""

    def __init__(self, parameters: tuple[float, ...]) -> None:
        self.least = self.largest = parameters

    def knows(self, parameters: tuple[float, ...]) -> bool:
        """Whether they were compared with parameters like these."""
        return all(map(operator.le, self.least, parameters)) and all(
            map(operator.le, parameters, self.largest)
        )

    def learn(self, parameters: tuple[float, ...]) -> None:
        """They have been compared with these."""
        self.least = tuple(map(min, self.least, parameters))
        self.largest = tuple(map(max, self.largest, parameters))


class Ready(NamedTuple):
    """A program and its loop, ready to be called."""

    bound: Bound
    carry: Callable[..., Any]  # the loop, see `whole_run`
    moments: tuple[float, ...]
    parameters: tuple[float, ...]
    own: list[tuple[slice, tuple[int, ...]]]  # the places of the torque's parameters, their shapes
    places: dict[str, list[tuple[slice, tuple[int, ...]]]]  # the same by name
    mass: int  # where it is among the parameters, in flight
    span: tuple[float, float]  # over which machine code and Python were compared
    growth: float  # of the kinetic energy, beyond which the potential is asked
    compared: Compared

    def serves(self, t0: float, t1: float) -> bool:
        """Whether it is still what it was, and good for a run between these times."""
        low, high = self.span
        return low <= t0 <= high and low <= t1 <= high and self.bound.unchanged()

    def filled(self, given: Mapping[str, Any]) -> tuple[float, ...]:
        """The parameters of the loop with some of the torque's changed."""
        numbers = list(self.parameters)
        for name, value in given.items():
            if name not in self.places:
                raise unknown("parameter", name, self.places)
            for place, form in self.places[name]:
                if type(value) is float and form == () and math.isfinite(value):
                    numbers[place.start] = value
                else:
                    numbers[place] = _fitting(name, value, form).ravel().tolist()
        return tuple(numbers)


def _fitting(name, value, form):
    """The value of a parameter as an array of the shape it has in the torque."""
    array = floats(f"parameter {name!r}", value)
    if array.shape != form:
        raise InputError(
            f"parameter {name!r} must have shape {form}, got {array.shape}; give as many numbers as the "
            "torque has"
        )
    return array


def places(loads, axes):
    """Where each parameter of a torque, and in flight of a force, is among the numbers that the
    kernels get, and its shape: in their order, and by name; and where the mass is.  `axes` are the
    numbers before those of each."""
    torque, force = (*loads, None)[:2]
    valid, own, named, first = parameter_names(torque, force), [], {}, 0
    for load in loads:
        first += axes
        for term in load.terms:
            for name in fields(term):
                form = np.shape(getattr(term.params, name))
                place = slice(first, first + math.prod(form)), form
                first = place[0].stop
                own.append(place)
                for key in (f"{term.name}.{name}", name):
                    if key in valid:  # terms of one name change together
                        named.setdefault(key, []).append(place)
            first += len(flatten(term.values)) - len(flatten(term.params or ()))
    return own, named, first


class BodyMotion(NamedTuple):
    """Attitude, as quaternion (..., 4), body to space, scalar last, and angular velocity (..., 3),
    body frame."""

    attitude: np.ndarray
    omega: np.ndarray


class FlightMotion(NamedTuple):
    """The same in flight, with position and velocity (..., 3) of the centre of mass."""

    attitude: np.ndarray
    omega: np.ndarray
    position: np.ndarray
    velocity: np.ndarray


class GyrostatMotion(NamedTuple):
    """That of a body with rotors, with their speeds (..., rotors) relative to the body."""

    attitude: np.ndarray
    omega: np.ndarray
    rotor_speeds: np.ndarray


class GyrostatFlightMotion(NamedTuple):
    """The same in flight."""

    attitude: np.ndarray
    omega: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    rotor_speeds: np.ndarray


Given = BodyMotion | FlightMotion | GyrostatMotion | GyrostatFlightMotion
_GIVEN: dict[tuple[str, ...], Any] = {
    one._fields: one for one in (BodyMotion, FlightMotion, GyrostatMotion, GyrostatFlightMotion)
}


def given_by(kind: Kind) -> Any:
    """The class of what a call gives, of motions of this kind."""
    return _GIVEN[(*kind.groups,)]


# --- what a call gets -----------------------------------------------------------------------------


Form = tuple[tuple[int], tuple[type, ...]]


def form(count: int) -> Form:
    """What `plain` asks of so many floats: the shape of an array, the types in a tuple."""
    return (count,), (float,) * count


FOUR, THREE = form(4), form(3)


def plain(value: Any, form: Form) -> np.ndarray | None:
    """A fresh array, where `value` is a tuple, list or array of floats of this form."""
    kind = type(value)
    if kind is np.ndarray:
        return value.copy() if value.shape == form[0] and value.dtype is _FLOAT else None
    if (kind is tuple or kind is list) and tuple(map(type, value)) == form[1]:
        return np.array(value)
    return None


def moments_of(body: RigidBody, inertia: Any) -> tuple[float, ...]:
    """Three principal moments in place of those of a body, checked."""
    if not body.is_principal:
        raise InputError(
            "inertia=... is for a body whose axes are the principal ones, got a Flow of a body with other axes; "
            "give Flow the principal moments, or make a new Flow"
        )
    numbers = plain(inertia, THREE)
    I = () if numbers is None else tuple(numbers.tolist())
    if I and min(I) >= LEAST_MOMENT and 2.0 * max(I) <= sum(I) <= LARGEST_MOMENT:
        return I
    other = inertia
    if not isinstance(inertia, RigidBody):  # it need not obey a rule that the Flow's body breaks
        other = RigidBody(inertia, check_triangle=False)
        if triangle_excess(other.moments) and not triangle_excess(body.moments):
            raise InputError(
                f"inertia must be three principal moments of which none is larger than the sum of the other two, got "
                f"{brief(inertia)}; correct it, or give inertia=RigidBody(..., check_triangle=False)"
            )
    if as_body(other).rotors:
        raise InputError(
            "inertia is that of the whole body, and its rotors are those of the Flow; leave them out: "
            "body.with_rotors([])"
        )
    if not other.is_principal:
        raise InputError(
            f"inertia must be three principal moments, got {brief(inertia)}; make a new Flow for a body with other axes"
        )
    return tuple(other.moments.tolist())


def named(torque: Torque, parameters: Any, force: Force | None = None) -> Mapping[str, Any]:
    """The parameters in a call, by name."""
    if isinstance(parameters, Mapping):
        check_given_once(parameters)
        return parameters
    if (isinstance(torque, Sum) or force is not None) and parameters != ():
        several = "a sum of torques" if force is None else "torque and force"
        raise InputError(
            f"parameters of {several} must be a dict, got {brief(parameters)}; write "
            "parameters={name: value}, or 'torque.name' where a name occurs twice"
        )
    names = fields(torque)
    if not isinstance(parameters, tuple) or len(parameters) != len(names):
        raise InputError(
            f"parameters must be a dict, or a tuple of the {len(names)} that torque {torque.name!r} has, got "
            f"{brief(parameters)}; write parameters={{name: value}}"
        )
    return dict(zip(names, parameters, strict=True))


def changed(
    torque: Torque, parameters: Any, force: Force | None = None
) -> tuple[Torque, Force | None]:
    """A torque and a force with those of their parameters changed that are given."""
    given = check_parameters(torque, dict(named(torque, parameters, force)), force)
    return _with(torque, given), None if force is None else _with(force, given)


def _with(load: Any, given: Mapping[str, Any]) -> Any:
    """A torque or force with those of its parameters changed that are given."""
    terms = []
    for term in load.terms:
        own = own_values(term, given)
        for name, value in own.items():
            _fitting(name, value, np.shape(getattr(term.params, name)))
        terms.append(term.with_params(**own) if own else term)
    if all(map(operator.is_, terms, load.terms)):
        return load
    return type(load)(terms) if isinstance(load, Sum) else terms[0]
