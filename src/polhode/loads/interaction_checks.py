"""Checks of the functions that an interaction is made of."""

from __future__ import annotations

import inspect
from typing import Any

from polhode.errors import InputError, brief

MANY = 20_000  # bodies that may all act on each other


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


def check_count(name: str, n: int, fix: str) -> None:
    """Refuse an interaction of all pairs of too many bodies."""
    if n > MANY:
        raise InputError(
            f"{n} bodies have {n * (n - 1) // 2:.2g} pairs, and {name!r} acts between all of them; {fix}"
        )


__all__ = ["check_call", "check_count", "check_function"]
