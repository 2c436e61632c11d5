"""Constants that depend on the precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary


class Constant(float):
    """A float that depends on the arithmetic, such as a bound for round-off, with its value in single
    precision.

    In code it is an ordinary float; a kernel in float32 uses `single` instead.
    """

    __slots__ = ("single",)
    single: float

    def __new__(cls, value: float, *, single: float) -> Constant:
        made = super().__new__(cls, value)
        made.single = float(single)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Constant, single=self.single), (float(self),)


# what makes a function with other numbers; not an attribute of it, which would be part of its code
_makers: WeakKeyDictionary[Callable[..., Any], Callable[[Any], Any]] = WeakKeyDictionary()


def with_digits(make: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """A function whose constants have more digits than a float: make(float) is the function itself, and
    make(number) the same for another kind of number, which is made from text."""
    function = make(float)
    _makers[function] = lru_cache(4)(make)
    return function


def maker_of(function: Any) -> Callable[[Any], Any] | None:
    """The `make` of such a function; None for anything else."""
    return _makers.get(function) if isinstance(function, FunctionType) else None
