"""Checks of the signature of a function that a user gives."""

import inspect
from typing import Any

from polhode.errors import InputError, brief


def check_function(what: str, function: Any) -> Any:
    if not callable(function):
        raise InputError(f"{what} must be a function, got {brief(function)}; write def f(...): ...")
    return function


def check_call(kind: str, name: str, function: Any, names: list[str]) -> None:
    """Check, before the run, that the function can be called with the arguments it will get."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    given = list(signature.parameters)
    swapped = given != names and sorted(given) == sorted(names)
    try:
        signature.bind(*names)
    except TypeError:
        swapped = True
    if swapped:
        raise InputError(
            f"{kind} {name!r} will be called as f({', '.join(names)}) but is defined as f{signature}; correct its "
            "arguments, or the options that add some"
        )
