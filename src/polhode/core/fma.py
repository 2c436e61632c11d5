"""a b + c with one rounding, by the instruction that processors have for it: polynomials and long
sums take half the time.

The instruction is asked for by name.  Leaving it to the compiler (fastmath's "contract") would make
the bits of a step depend on the loop around it.  Python computes the same bits by the library's
function, and so does code for a processor without the instruction (NUMBA_CPU_NAME=generic) on one
that has it.  GPUs, whose compiler pairs products and sums by itself, and those who compute with
symbols take `product_and_sum` instead.
"""

import ctypes
import math
import os
from functools import cache
from typing import Any

from polhode.core.jit import jit, machine


def fused() -> bool:
    """Whether the processor has the instruction."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_features().get("fma", True)  # arm64 does not list what it always has


@cache
def instruction() -> Any:
    """LLVM's fma; product and sum on a processor without it."""
    from numba.core import types
    from numba.extending import intrinsic

    there = fused()

    @intrinsic
    def fma(typing, a, b, c):
        if not (isinstance(a, types.Float) and a == b == c):
            return None

        def generate(context, builder, signature, arguments):
            a, b, c = arguments
            return builder.fma(a, b, c) if there else builder.fadd(builder.fmul(a, b), c)

        return a(a, b, c), generate

    return fma


def of_the_library() -> Any:
    """Python's fma (3.13 and later), or that of the C library."""
    if hasattr(math, "fma"):
        return math.fma
    function = ctypes.CDLL(None if os.name == "posix" else "ucrtbase").fma
    function.argtypes, function.restype = (ctypes.c_double,) * 3, ctypes.c_double
    return function


rounded_once = of_the_library()


@jit
def product_and_sum(a, b, c):
    """a b + c, as written."""
    return a * b + c


@machine(instruction)
def fma(a, b, c):
    """a b + c; numbers that are not floats are multiplied and added as they do it."""
    nearly = a * b + c
    return rounded_once(a, b, c) if isinstance(nearly, float) and math.isfinite(nearly) else nearly
