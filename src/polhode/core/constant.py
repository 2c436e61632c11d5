"""Constants that depend on the precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any


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


def with_digits(make: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """A function whose constants have more digits than a float: make(float) is the function itself, and
    make(number) the same for another kind of number, which is made from text."""
    function = make(float)
    function.__digits__ = lru_cache(4)(make)  # type: ignore[attr-defined]
    return function
