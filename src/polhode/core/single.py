"""Kernels in single precision: the same functions with every constant in float32.

A literal such as 0.5 is a double, and a double times a float32 is a double: one literal turns a
kernel back into double precision.  `SinglePrecision` therefore copies functions with all their
float constants, in the code, in globals and in closures, rounded to float32.  Constants that mean
something in terms of the arithmetic itself (how many bits a number has, what counts as round-off)
have their single-precision values listed here.
"""

import math
from types import CodeType, FunctionType

from polhode.core.loops import fixed as loops
from polhode.core import newton, vec
from polhode.core.jit import Rebinder

# for constants that float32 has not got, such as 1e-300 added to keep a square root from zero
SMALLEST, LARGEST = 1e-30, 1e30

# In double precision and in single.  A constant is known by its name and its value, wherever it was
# imported.
ARITHMETIC = {
    # sincos: pi/2 = P1 + P2 + P3; P1 and P2 have 12 bits, so that n P1 and n P2 are exact for |n| <= 2^12
    ("P1", vec.P1): 0x1922 / 2.0**12,
    ("P2", vec.P2): -0x12AE / 2.0**30,
    ("P3", vec.P3): math.pi / 2.0 - 0x1922 / 2.0**12 + 0x12AE / 2.0**30,
    ("MAGIC", vec.MAGIC): 1.5 * 2.0**23,
    ("FAR", vec.FAR): 2.0**18,
    ("LARGEST_ANGLE", loops.LARGEST_ANGLE): 2.0**18,
    ("NEARLY", newton.NEARLY): 5e-4,
    ("ROUND_OFF", newton.ROUND_OFF): 1e-5,
    ("SETTLED", 2e-15): 4e-7,  # core/loops/cuda.py
    ("SMALLEST", 1e-12): 1e-6,  # methods/dmv.py
    ("ROUND_OFF", 1e-15): 5e-7,  # methods/energy.py, as are the next three
    ("REACH", 4e-15): 2e-6,
    ("SPREAD", 1e-29): 1e-12,
    ("SPHERE", 1e-6): 1e-2,
}


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
        return single(obj) if isinstance(obj, float) else super().__call__(obj)

    def twin(self, function):
        from numba import float32

        # machine code has an instruction for both, its Python takes numbers as they are
        if hasattr(function, "__machine__"):
            return function
        scope = {
            name: ARITHMETIC.get((name, value), value) if isinstance(value, float) else value
            for name, value in function.__globals__.items()
        }
        # float(x) in a kernel, too, is of the kernel's precision
        scope.setdefault("float", float32)
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
