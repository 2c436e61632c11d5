"""Checks of the arguments of a torque: parameters, derivatives, potential, the function itself."""

import inspect
import keyword
import math
from collections import namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from polhode.core.vec import dot
from polhode.errors import InputError, brief, called_as, floats
from polhode.loads.kernels import nested


def parameter_value(name: str, value: Any) -> Any:
    """A parameter as a float, or as nested tuples of floats."""
    array = floats(f"torque parameter {name!r}", value)
    if array.ndim > 2 or not array.size:
        raise InputError(
            f"torque parameter {name!r} must be a number, a vector or a matrix, got shape {array.shape}; give one "
            "of these"
        )
    return nested(array)


def parameters(params: Any) -> Any:
    if params is None:
        return None
    if hasattr(params, "_asdict"):
        params = params._asdict()
    if not isinstance(params, dict) or not params:
        raise InputError(
            f"torque params must be a dict of names and numbers, got {brief(params)}; write params={{'k': 1.0}}"
        )
    for name in params:
        if (
            not (isinstance(name, str) and name.isidentifier())
            or name.startswith("_")
            or keyword.iskeyword(name)
        ):
            raise InputError(
                f"the name of a torque parameter must be that of a variable, got {brief(name)}; write "
                "params={'k': 1.0}"
            )
    return parameters_class(tuple(params))(
        *(parameter_value(name, value) for name, value in params.items())
    )


@lru_cache(256)
def parameters_class(names):
    made = namedtuple("Params", names)
    made.__setitem__ = made.__setattr__ = _refuse_change
    made.__reduce__ = lambda self: (_parameters_again, (self._fields, tuple(self)))
    return made


def _refuse_change(params, name, value):
    """Parameters do not change in place."""
    raise InputError(
        f"parameters cannot be written into, got {name} = {brief(value)}; make another torque or interaction by "
        f".with_params({name}=...)"
    )


def _parameters_again(names, values):
    """Parameters in another process."""
    return parameters_class(names)(*values)


def derivative_functions(derivatives: Any) -> tuple[Callable[..., Any], ...]:
    """The derivatives as a tuple of functions; one function, several or None may be given."""
    several = isinstance(derivatives, (list, tuple))
    given = () if derivatives is None else tuple(derivatives) if several else (derivatives,)
    if not all(map(callable, given)):
        raise InputError(
            f"torque derivatives must be functions d_k(t, R, w), first, second, ..., got {brief(derivatives)}; give "
            "a tuple of them"
        )
    return given


def potential_function(
    potential: Any, params: Any, in_flight: bool = False
) -> Callable[..., Any] | None:
    """A function, or None."""
    names = ["t", *["x"] * in_flight, "R", *["p"] * (params is not None)]
    form = f"V({', '.join(names)})"
    return None if potential is None else called_as("potential", potential, form)


def check_function(what: str, function: Any) -> Any:
    if not callable(function):
        raise InputError(f"{what} must be a function, got {brief(function)}; write def f(...): ...")
    return function


def check_arguments(function: Callable[..., Any], torque: Any) -> None:
    """Check, before the run, that a torque can be called with the arguments it will get."""
    where = {"torque": "@polhode.torque", "force": "polhode.Force"}.get(
        torque.kind, "@polhode.load"
    )
    fix = f"see the options uses_omega, uses_position and params of {where}"
    check_call(torque.kind, torque.name, function, torque.arguments(), fix)


def check_call(
    kind: str,
    name: str,
    function: Callable[..., Any],
    names: list[str],
    fix: str = "correct its arguments, or the options that add some",
) -> None:
    """Check that a function can be called with arguments of these names."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    given = list(signature.parameters)
    # the same names in another order are a slip; other names are the user's own
    swapped = given != names and sorted(given) == sorted(names)
    try:
        signature.bind(*names)
    except TypeError:
        swapped = True
    if swapped:
        raise InputError(
            f"{kind} {name!r} will be called as f({', '.join(names)}) but is defined as f{signature}; {fix}"
        )


def vector(name: str, value: Any) -> tuple[float, ...]:
    """Three numbers as a tuple."""
    array = floats(name, value)
    if array.shape != (3,):
        raise InputError(f"{name} must be three numbers, got {brief(value)}; give three")
    return tuple(array.tolist())


def direction(name: str, value: Any) -> tuple[float, ...]:
    """A vector of length 1."""
    value = vector(name, value)
    length = math.sqrt(dot(value, value))
    if length == 0.0:
        raise InputError(f"{name} must not be zero: it is a direction; give one, such as (0, 0, 1)")
    return tuple(x / length for x in value)
