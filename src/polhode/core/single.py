"""Kernels in single precision: the same functions with every constant in float32.

A literal such as 0.5 is a double, and a double times a float32 is a double: a single literal would
turn a kernel back into double precision.  `SinglePrecision` therefore copies functions with all their
float constants, in the code, in globals and in closures, rounded to float32.  Constants that depend on
the arithmetic (the number of bits, a bound for round-off) are each a `Constant`, with its own value in
single precision.
"""

from __future__ import annotations

import math
from types import CodeType
from typing import Any

from polhode.core.constant import Constant
from polhode.core.reads import copied
from polhode.core.rebind import Rebinder

# for constants out of the range of float32, such as 1e-300 added to keep a square root from zero
SMALLEST, LARGEST = 1e-30, 1e30


def single(value: Any) -> Any:
    """A constant with every float in it rounded to float32; anything else unchanged."""
    if isinstance(value, float):
        from numba import float32

        if value != 0.0 and abs(value) < SMALLEST:
            value = math.copysign(SMALLEST, value)
        elif LARGEST < abs(value) < math.inf:
            value = math.copysign(LARGEST, value)
        return float32(value)
    if isinstance(value, CodeType):
        return value.replace(co_consts=tuple(map(single, value.co_consts)))
    if type(value) is tuple:
        return tuple(map(single, value))
    return value


class SinglePrecision(Rebinder):
    """A Rebinder whose copies compute in float32."""

    def __call__(self, obj: Any) -> Any:
        return single(obj) if type(obj) is float else super().__call__(obj)

    def number(self, constant: Constant) -> Any:
        return single(constant.single)

    def twin(self, function: Any) -> Any:
        from numba import float32

        if hasattr(function, "__machine__"):  # an instruction for both precisions
            return function
        code = single(function.__code__)
        scope = {"float": float32, **function.__globals__}  # float(x) has the kernel's precision
        return copied(function, code, scope, function.__defaults__, function.__closure__)
