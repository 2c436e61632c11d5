"""Kernels in single precision: the same functions with every constant in float32.

A literal such as 0.5 is a double, and a double times a float32 is a double: one literal turns a
kernel back into double precision.  `SinglePrecision` therefore copies functions with all their
float constants, in the code, in globals and in closures, rounded to float32.  Constants that mean
something in terms of the arithmetic itself (how many bits a number has, what counts as round-off)
are each a `Constant`, which says what it is in single precision.
"""

import math
from types import CodeType, FunctionType

from polhode.core.rebind import Rebinder

# for constants that float32 has not got, such as 1e-300 added to keep a square root from zero
SMALLEST, LARGEST = 1e-30, 1e30


def single(value):
    """A constant with every float in it rounded to float32; anything else as it is."""
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

    def __call__(self, obj):
        return single(obj) if type(obj) is float else super().__call__(obj)

    def number(self, constant):
        return single(constant.single)

    def twin(self, function):
        from numba import float32

        # machine code has an instruction for both, its Python takes numbers as they are
        if hasattr(function, "__machine__"):
            return function
        # float(x) in a kernel, too, is of the kernel's precision
        scope = {"float": float32, **function.__globals__}
        twin = FunctionType(
            single(function.__code__),
            scope,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        twin.__qualname__, twin.__module__ = function.__qualname__, function.__module__
        twin.__dict__.update(function.__dict__)  # its marks
        twin.__kwdefaults__ = function.__kwdefaults__
        return twin
