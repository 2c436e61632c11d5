"""Calling a function by its address from compiled code: torques written in Python, C or anything
else that has a C ABI.

    void torque(double t, const double state[12], double out[3])      state: R row by row, then body angular velocity
    void force(double t, const double state[18], double out[3])       ... then position and velocity

The address is data (a parameter of the torque), not a constant, so that one compiled loop for each
method serves all such torques.  `state` and `out` are on the stack of the loop: threads share nothing.
"""

import ctypes
from functools import cache
from typing import Any

from polhode.core.jit import jit, machine


@cache
def instruction() -> Any:
    """The call in LLVM's intermediate code."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def call_address(typingctx, function, t, numbers):
        real = types.float64
        signature = types.UniTuple(real, 3)(
            types.UniTuple(real, 3), real, types.UniTuple(real, numbers.count)
        )

        def emit(context, builder, signature, arguments):
            function, t, numbers = arguments
            double, address = ir.DoubleType(), ir.IntType(64)
            pointer, count = double.as_pointer(), signature.args[2].count
            into, out = (
                cgutils.alloca_once(builder, double, ir.Constant(address, size))
                for size in (count, 3)
            )
            for i in range(count):
                builder.store(
                    builder.extract_value(numbers, i), builder.gep(into, [ir.Constant(address, i)])
                )
            kind = ir.FunctionType(ir.VoidType(), [double, pointer, pointer])
            high, middle, low = (
                builder.fptoui(builder.extract_value(function, i), address) for i in range(3)
            )
            upper = builder.or_(
                builder.shl(high, ir.Constant(address, 40)),
                builder.shl(middle, ir.Constant(address, 20)),
            )
            builder.call(
                builder.inttoptr(builder.or_(upper, low), kind.as_pointer()), [t, into, out]
            )
            result = [builder.load(builder.gep(out, [ir.Constant(address, i)])) for i in range(3)]
            return cgutils.pack_array(builder, result)

        return signature, emit

    return call_address


@machine(instruction)
def call_address(function, t, numbers):
    """Call `function(t, state, out)` with the numbers as `state`: the three numbers that it puts
    into `out`.

    `function` is its address in three parts.
    """
    high, middle, low = map(int, function)
    state, out = (ctypes.c_double * len(numbers))(*numbers), (ctypes.c_double * 3)()
    ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(
        high << 40 | middle << 20 | low
    )(t, ctypes.addressof(state), ctypes.addressof(out))
    return tuple(out)


@jit
def call_parameters(p, t, numbers):
    """The answer of the function whose address is in p, in the precision of the kernel."""
    a, b, c = call_address((p.high, p.middle, p.low), t, numbers)
    return (float(a), float(b), float(c))


@jit
def kernel(t, R, Om, p):
    """The torque whose address is in the parameters."""
    return call_parameters(p, t, R[0] + R[1] + R[2] + Om)


@jit
def kernel_in_flight(t, R, Om, p):
    """The same for a torque or force that also looks at position and velocity."""
    return call_parameters(p.inner, t, R[0] + R[1] + R[2] + Om + p.x + p.v)


# --- interactions ---------------------------------------------------------------------------------
#
#     void interaction(double t, int64_t n, const double *x, const double *R, const double *v,
#                      const double *omega, double *F, double *N)
#
# adds forces and torques of n bodies to F and N.

INTERACTION = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_int64, *[ctypes.c_void_p] * 6)


@cache
def call_with_arrays() -> Any:
    """The call in LLVM's intermediate code."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def call_interaction(typingctx, address, t, x, R, v, omega, F, N):
        signature = types.void(types.int64, types.float64, x, R, v, omega, F, N)

        def emit(context, builder, signature, arguments):
            address, t, *arrays = arguments
            double, whole = ir.DoubleType(), ir.IntType(64)
            pointer = double.as_pointer()
            held = [
                context.make_array(kind)(context, builder, one)
                for kind, one in zip(signature.args[2:], arrays, strict=True)
            ]
            n = builder.extract_value(held[0].shape, 0)
            kind = ir.FunctionType(ir.VoidType(), [double, whole, *[pointer] * 6])
            function = builder.inttoptr(address, kind.as_pointer())
            builder.call(function, [t, n, *(one.data for one in held)])
            return context.get_dummy_value()

        return signature, emit

    return call_interaction


@machine(call_with_arrays)
def call_interaction(address, t, x, R, v, omega, F, N):
    """Call an interaction by its address: it adds to F and N."""
    given = (one.ctypes.data for one in (x, R, v, omega, F, N))
    INTERACTION(int(address))(t, len(x), *given)


@jit
def act(t, p, term):
    """An interaction whose address is in its term."""
    s = p.places
    call_interaction(term.address[0], t, s.x, s.R, s.v, s.omega, s.F, s.N)


# --- interactions in C ----------------------------------------------------------------------------
#
#     void interaction(double t, int n, const double *x, const double *R, double *F, double *N, void *p)
#
# writes forces and torques of n bodies to F and N, which are zero; with velocities v and omega after R.


@cache
def call_with_pointers() -> Any:
    """The call in LLVM's intermediate code."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def call_in_c(typingctx, address, t, n, arrays):
        signature = types.void(types.int64, types.float64, types.int64, arrays)

        def emit(context, builder, signature, arguments):
            address, t, n, arrays = arguments
            double, short = ir.DoubleType(), ir.IntType(8 * ctypes.sizeof(ctypes.c_int))
            pointer = double.as_pointer()
            kinds = signature.args[3].types
            given = [
                context.make_array(kind)(context, builder, builder.extract_value(arrays, i)).data
                for i, kind in enumerate(kinds)
            ]
            kind = ir.FunctionType(ir.VoidType(), [double, short, *[pointer] * len(given)])
            function = builder.inttoptr(address, kind.as_pointer())
            builder.call(function, [t, builder.trunc(n, short), *given])
            return context.get_dummy_value()

        return signature, emit

    return call_in_c


@machine(call_with_pointers)
def call_in_c(address, t, n, arrays):
    """Call an interaction in C by its address, with pointers to the numbers of these arrays."""
    pointers = [ctypes.c_void_p] * len(arrays)
    function = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_int, *pointers)(int(address))
    function(t, n, *(one.ctypes.data for one in arrays))


@jit
def add_rows(found, to):
    for i in range(len(to)):
        for m in range(3):
            to[i, m] += found[i, m]


@jit
def act_in_c(t, p, term):
    """An interaction in C whose address is in its term; `seen` takes its answer."""
    s, n = p.places, len(p.places.F)
    term.seen[:] = 0.0
    F, N = term.seen[:n], term.seen[n:]
    call_in_c(term.address[0], t, n, (s.x, s.R, F, N, term.values))
    add_rows(F, s.F)
    add_rows(N, s.N)


@jit
def act_in_c_feeling(t, p, term):
    """The same for one that depends on velocities."""
    s, n = p.places, len(p.places.F)
    term.seen[:] = 0.0
    F, N = term.seen[:n], term.seen[n:]
    call_in_c(term.address[0], t, n, (s.x, s.R, s.v, s.omega, F, N, term.values))
    add_rows(F, s.F)
    add_rows(N, s.N)
