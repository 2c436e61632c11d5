"""Families of methods made on demand, when their name is looked for: `newmark(0.6)`, `MR2-312`."""

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from polhode.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])
FAMILIES: list["Family"] = []


class Family(NamedTuple):
    """Methods made on demand, when their name is looked for."""

    form: str  # how a name is written: newmark(gamma), MR2-abc
    pattern: str  # a regular expression of the names, in lower case
    make: Callable  # from the groups of the pattern, as text
    standard: str  # a registered method that stands for the family


def family(form: str, pattern: str, standard: str) -> Callable[[F], F]:
    """Register a factory of methods made on demand, such as `MR2-312`; its arguments are the groups
    of the pattern.  The fields are those of `Family`."""

    def enter(factory):
        FAMILIES.append(Family(form, pattern, factory, standard))
        return factory

    return enter


def number_family(name: str, parameter: str, standard: str) -> Callable[[F], F]:
    """Register a factory of methods with a number as a parameter: `newmark(0.6)`, `taylor(12)`.
    Where the parameter has a default the name alone is a method too."""

    def enter(factory):
        (one,) = inspect.signature(factory).parameters.values()
        optional = one.default is not one.empty

        def make(text):
            return factory() if text is None else factory(_number(name, text))

        brackets = r"\((.*)\)"
        pattern = name + (f"(?:{brackets})?" if optional else brackets)
        family(f"{name}({parameter})", pattern, standard)(make)
        return factory

    return enter


def _number(name, text):
    """The parameter of NAME(text)."""
    parts = text.split(",")
    try:
        numbers = [float(part) for part in parts]
        if not all(map(math.isfinite, numbers)):
            raise ValueError
    except ValueError:
        raise InputError(
            f"'{name}({text})': the parameters must be finite numbers; write {name}(1)"
        ) from None
    if len(numbers) != 1:
        raise InputError(
            f"'{name}({text})': {name}(...) takes one number, got {len(numbers)}; write {name}(1)"
        )
    return numbers[0]
