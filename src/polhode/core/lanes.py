"""Several products and sums in one instruction, for one body: a b + c, number by number, of tuples.

A processor starts two multiplications in a cycle, of single numbers or of registers of four.  LLVM
does not combine the numbers of tuples by itself.  The rounding is the same: the bits are those of `fma`
on each number.  Loops over many bodies, with one body in each lane, and GPUs use the plain versions
(ALONE) instead.
"""

from functools import cache
from typing import Any

from polhode.core.fma import fma, fused
from polhode.core.jit import jit, machine

WIDTH = 4  # doubles in a register of 256 bits


@cache
def instruction() -> Any:
    """a b + c of tuples of one length, a perhaps a number, as LLVM's operations on vectors."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    there = fused()

    def vectors(builder: Any, numbers: list[Any]) -> list[Any]:
        """The numbers in vectors of WIDTH, the last of which may be incomplete."""
        found = []
        for first in range(0, len(numbers), WIDTH):
            vector = ir.Constant(
                ir.VectorType(numbers[0].type, min(WIDTH, len(numbers))), ir.Undefined
            )
            for place, number in enumerate(numbers[first : first + WIDTH]):
                vector = builder.insert_element(vector, number, ir.Constant(ir.IntType(32), place))
            found.append(vector)
        return found

    def fused_of(builder: Any, a: Any, b: Any, c: Any) -> Any:
        if not there:
            return builder.fadd(builder.fmul(a, b), c)
        name = f"llvm.fma.v{a.type.count}f{64 if isinstance(a.type.element, ir.DoubleType) else 32}"
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(a.type, [a.type] * 3), name
        )
        return builder.call(function, [a, b, c])

    @intrinsic
    def fma_each(typing, a, b, c):
        if not (
            isinstance(b, types.UniTuple)
            and isinstance(b.dtype, types.Float)
            and b == c
            and a in (b, b.dtype)
        ):
            return None

        def generate(context, builder, signature, arguments):
            a, b, c = (
                cgutils.unpack_tuple(builder, one)
                if isinstance(kind, types.UniTuple)
                else [one] * len(signature.args[1])
                for one, kind in zip(arguments, signature.args, strict=True)
            )
            sums = [
                fused_of(builder, *three)
                for three in zip(
                    vectors(builder, a), vectors(builder, b), vectors(builder, c), strict=True
                )
            ]
            numbers = [
                builder.extract_element(sums[i // WIDTH], ir.Constant(ir.IntType(32), i % WIDTH))
                for i in range(len(b))
            ]
            return context.make_tuple(builder, signature.return_type, numbers)

        return b(a, b, c), generate

    return fma_each


@jit
def fma2_alone(a, b, c):
    """a b + c, number by number, of two."""
    return fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])


@machine(instruction)
def fma2(a, b, c):
    """The same, together."""
    return fma2_alone(a, b, c)


@jit
def axpy7_alone(c, x, y):
    """c x + y of seven numbers, c one number."""
    return (
        fma(c, x[0], y[0]),
        fma(c, x[1], y[1]),
        fma(c, x[2], y[2]),
        fma(c, x[3], y[3]),
        fma(c, x[4], y[4]),
        fma(c, x[5], y[5]),
        fma(c, x[6], y[6]),
    )


@machine(instruction)
def axpy7(c, x, y):
    """The same, together."""
    return axpy7_alone(c, x, y)


ALONE = ((fma2, fma2_alone), (axpy7, axpy7_alone))
