"""Conversion of what a user gives to a Torque: `@torque`, and `as_torque`, used by all functions that
take a torque."""

from __future__ import annotations

import ctypes
import inspect
import operator
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, partial
from types import FunctionType
from typing import Any, overload

import numpy as np

import polhode
from polhode.bodies._body import RigidBody
from polhode.errors import InputError, brief, check_options, shows_options, warn
from polhode.loads._torque import Torque
from polhode.loads.foreign import Foreign
from polhode.loads.recorded import Recorded
from polhode.loads.sum import Sum


@overload
def torque(function: Callable[..., Any], /, **options: Any) -> Torque: ...


@overload
def torque(function: None = None, /, **options: Any) -> Callable[[Callable[..., Any]], Torque]: ...


@shows_options(Torque)
def torque(
    function: Callable[..., Any] | None = None, /, **options: Any
) -> Torque | Callable[[Callable[..., Any]], Torque]:
    """Turn a function into a Torque; use as `@torque` or `@torque(frame="body", ...)`.

    The function is called as `f(t, R[, omega][, x, v][, p])`: `omega` (body frame) when
    `uses_omega=True`, position and velocity when `uses_position=True`, `p` when there are `params`.

    Parameters
    ----------
    function : callable
    frame, params, potential, derivatives, uses_omega, uses_position
        As the attributes of `Torque`.
    form : {"array", "tuple"}
        Whether the function gets and gives arrays, or tuples of floats, which vectorise and run on a
        GPU.
    name : str, optional
        That of the function by default.

    Examples
    --------
    >>> @torque(frame="body", params={"k": 0.1}, uses_omega=True)
    ... def drag(t, R, omega, p):
    ...     return -p.k * omega
    >>> drag
    <torque drag(k=0.1), body frame>
    """
    check_options(Torque, options)
    if function is None:
        return partial(torque, **options)
    return Torque(function, **options)


def as_torque(value: Torque | Callable[..., Any] | str | None) -> Torque:
    """None, a Torque, a function, the name of a built-in torque, or a C function pointer, as a
    Torque.

    Examples
    --------
    >>> as_torque("heavy_top"), as_torque(None)
    (<torque heavy_top(moment=20.0), body frame>, <torque free(), body frame>)
    """
    if isinstance(value, Torque):
        if isinstance(value, Recorded):
            value.refuse()
        if value.kind == "force":
            raise InputError(
                f"{value!r} acts on the centre of mass of a body in flight and is no torque; give it as force=..., or "
                "use integrate"
            )
        return value
    if isinstance(value, FunctionType):
        return of_function(value)
    if value is None:
        return _nothing()
    if isinstance(value, str):
        make = polhode.torques.by_name(value)
        call = _needed_call(make)
        if call is not None:
            raise InputError(
                f"torque {make.__name__!r} has parameters without defaults; write {call}"
            )
        return make()
    if isinstance(value, polhode.Load):
        raise InputError(
            f"{value!r} is a force and a torque on a body in flight, which only a run that follows the position takes; "
            "use integrate, ensemble, Flow or Stepper"
        )
    if isinstance(value, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return Foreign(value)
    if callable(value):
        return Torque(value)
    raise InputError(
        f"torque must be a function f(t, R), a Torque, a name or None, got {brief(value)}; write def f(t, R): ..."
    )


def combined(one: Torque, other: Torque | Callable[..., Any] | str | None) -> Torque:
    """Both torques at once."""
    return Sum((*as_torque(one).terms, *as_torque(other).terms))


@lru_cache(64)
def _needed_call(make):
    """The call that makes a named torque; None if all its parameters have defaults."""
    given = inspect.signature(make).parameters.values()
    if all(one.default is not one.empty for one in given):
        return None
    bare = (str(one.replace(annotation=one.empty)) for one in given)
    return f"polhode.torques.{make.__name__}({', '.join(bare)})"


@lru_cache(1)
def _nothing():
    """The torque of a run for which none is given."""
    return polhode.torques.free()


# torques and forces of plain functions, by id: the same function is the same one
_wrapped: OrderedDict[tuple[int, type], Any] = OrderedDict()
KEPT = 64


def of_function(function: FunctionType, kind: type[Torque] = Torque) -> Any:
    """The torque, or force, of a plain function."""
    # what a Torque reads of its function
    made_of = function.__code__, function.__defaults__, function.__kwdefaults__, function.__name__
    key = id(function), kind
    found, known = _wrapped.get(key, (None, ()))
    if (
        found is None
        or found.function is not function
        or not all(map(operator.is_, known, made_of))
    ):
        found = kind(function)
        _wrapped[key] = found, made_of
        while len(_wrapped) > KEPT:
            _wrapped.popitem(last=False)
    return found


def check_made_for(load: Torque, body: RigidBody) -> None:
    """Warn of a torque or force that was made for another body."""
    for term in load.terms:
        for name in term.of_body:
            given, own = np.asarray(getattr(term.params, name)), np.asarray(getattr(body, name))
            if not np.allclose(given, own, rtol=1e-9, atol=1e-9 * np.abs(own).max()):
                warn(
                    f"{term.kind} {term.name!r} was made for another body: its {name} is {brief(given.tolist())}, that of "
                    f"the body {brief(own.tolist())}; make it for this body"
                )
