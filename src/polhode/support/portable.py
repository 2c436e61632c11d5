"""Pickling of users' functions, for other processes.

Pickle stores a function by its name in its module.  A function that cannot be found by name, such as
a lambda or one defined inside another, is stored as code by cloudpickle if that is installed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import reduce
from types import FunctionType
from typing import Any

from polhode.errors import InputError


def portable(value: Any) -> Any:
    """What to pickle in place of a value: a function that pickle would not find is wrapped."""
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(portable, value))
    if not isinstance(value, FunctionType) or (not _interactive(value) and _named(value) is value):
        return value
    return Portable(value)


class Portable:
    """A function that is pickled by where it is found, or as code."""

    def __init__(self, function: FunctionType) -> None:
        self.__wrapped__ = function

    def __deepcopy__(self, memo: dict[int, Any]) -> FunctionType:
        return self.__wrapped__  # functions are not copied

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        function = self.__wrapped__
        by_name = find, (function.__module__, function.__qualname__)
        is_found = _function(_named(function)) is function
        if is_found and not _interactive(function):
            return by_name
        try:
            import cloudpickle
        except ImportError:
            if is_found:
                return by_name  # which a forked process finds
            raise InputError(
                f"the function {function.__qualname__!r} cannot be sent to another process: it is not found by its name "
                f"in {function.__module__!r}; define it at the top of a module, with what varies as params, or install "
                "cloudpickle"
            ) from None
        return cloudpickle.loads, (cloudpickle.dumps(function),)


def find(module: str, name: str) -> Any:
    """The function that a module has under a name, or that the torque of this name is made of."""
    return _function(reduce(getattr, name.split("."), importlib.import_module(module)))


def _function(found: Any) -> Any:
    """The function of what `@polhode.torque` made of it; anything else is returned as it is."""
    return getattr(found, "function", found)


def _named(function: FunctionType) -> Any:
    """What is found under the function's name; None where there is nothing."""
    try:
        return reduce(getattr, function.__qualname__.split("."), sys.modules[function.__module__])
    except (AttributeError, KeyError):
        return None


def _interactive(function: FunctionType) -> bool:
    """Whether it was typed into a session or a notebook: a new process does not have it."""
    return function.__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__")
