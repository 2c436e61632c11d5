"""Arrays on the stack of the function that makes them: a user's function in array form costs no
allocation for its attitude and its angular velocity.

Such an array may be passed to functions, but must not be returned.
"""

from functools import cache

import numpy as np

from polhode.core.jit import machine


@cache
def instruction():
    """An array of a tuple, or of a tuple of tuples, as LLVM writes it."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    def shape_of(kind):
        """The shape of nested tuples of floats; None where they are something else."""
        if isinstance(kind, types.Float):
            return ()
        inner = shape_of(kind.dtype) if isinstance(kind, types.UniTuple) else None
        return None if inner is None else (kind.count, *inner)

    def numbers_of(builder, kind, value):
        if isinstance(kind, types.Float):
            return [(kind, value)]
        parts = cgutils.unpack_tuple(builder, value, kind.count)
        return [pair for part in parts for pair in numbers_of(builder, kind.dtype, part)]

    @intrinsic
    def array_here(typing, numbers):
        shape = shape_of(numbers)
        if not shape:
            return None
        real = types.float64
        array = types.Array(real, len(shape), "C")

        def emit(context, builder, signature, arguments):
            whole = context.get_constant
            pairs = numbers_of(builder, numbers, arguments[0])
            data = cgutils.alloca_once(builder, ir.DoubleType(), whole(types.intp, len(pairs)))
            for i, (kind, value) in enumerate(pairs):
                place = builder.gep(data, [whole(types.intp, i)])
                builder.store(context.cast(builder, value, kind, real), place)
            made = context.make_array(array)(context, builder)
            strides = [8 * int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
            populate_array(
                made,
                data=data,
                shape=[whole(types.intp, n) for n in shape],
                strides=[whole(types.intp, n) for n in strides],
                itemsize=whole(types.intp, 8),
                meminfo=None,
            )
            return made._getvalue()

        return array(numbers), emit

    return array_here


@machine(instruction)
def matrix_here(R):
    """A matrix of nested tuples as an array."""
    return np.array(R, dtype=float)


@machine(instruction)
def vector_here(v):
    """A vector of a tuple as an array."""
    return np.array(v, dtype=float)
