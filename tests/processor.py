"""What the processor has that numba compiles for; NUMBA_CPU_NAME may name another one than the
machine's own.

The answer is read from the machine code of one product and sum.
"""

import platform
from functools import cache

X86 = platform.machine().lower() in ("x86_64", "amd64")


@cache
def _product_and_sum():
    """The assembly of fma(a, b, c) + a."""
    import numba

    from polhode.core.fma import instruction

    fma = instruction()
    function = numba.njit(lambda a, b, c: fma(a, b, c) + a)
    function(1.0, 2.0, 3.0)
    return next(iter(function.inspect_asm().values()))


def has_fma():
    """Whether a product and a sum are one instruction; without it LLVM calls the C library, which
    gives the same bits."""
    return "vfmadd" in _product_and_sum()


def has_avx():
    """Whether registers hold four doubles."""
    return "vaddsd" in _product_and_sum()
