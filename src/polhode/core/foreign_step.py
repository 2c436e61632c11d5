"""Calling a step written in C from the loops, and answering when it asks for the torque.

    void step(double h, double t, double q[4], double omega[3], const double I[3], torque, void *context, double memory[])
    void torque(double t, const double attitude[], const double omega[3], double out[3], void *context)

Machine code calls the step by a symbol, which is known once its library is loaded: code stored on disk
stays valid in other processes.  The torque that C gets is a function made beside the loop, around the
torque of the loop; its context is the loop's parameters on the stack.  Numbers of the state are in
one array: q first, then omega, then the memory.  What C asks for is answered by

    answer(t, attitude, omega, torque, p)

with the numbers of the attitude as a flat tuple.  A torque that fails answers with NaN.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite.binding import add_symbol

from polhode.core.jit import machine

REAL = ctypes.c_double
REALS = ctypes.POINTER(REAL)
ANSWER = ctypes.CFUNCTYPE(None, REAL, REALS, REALS, REALS, ctypes.py_object)
NAN = float("nan")


def step_in_c(
    address: int, symbol: str, attitude: int, remembers: bool = True
) -> Callable[..., Any]:
    """`call(h, t, numbers, I, answer, torque, p)`: the numbers that the C function makes of others.

    Parameters
    ----------
    address : int
        Of the function.
    symbol : str
        Its name in machine code, which differs for different functions.
    attitude : int
        How many numbers it gives a torque for the attitude.
    remembers : bool
        Whether it takes a memory.
    """
    memory = (REALS,) * remembers
    function: Any = ctypes.CFUNCTYPE(
        None, REAL, REAL, REALS, REALS, REALS, ANSWER, ctypes.py_object, *memory
    )(address)

    @cache
    def instruction() -> Any:
        return _calling(symbol, attitude, remembers)

    @machine(instruction)
    def call(h, t, numbers, I, answer, torque, p):
        asked = _Asked(attitude, answer, torque, p)
        state = (REAL * len(numbers))(*numbers)
        place = ctypes.addressof(state)
        parts = [ctypes.cast(place + 8 * first, REALS) for first in (0, 4, 7)[: 2 + remembers]]
        function(h, t, *parts[:2], (REAL * 3)(*I), _answering, asked, *parts[2:])
        if asked.error is not None:
            raise asked.error
        return tuple(state)

    add_symbol(symbol, address)
    return call


class _Asked:
    """The context of a call from Python: how a torque is answered, and what went wrong."""

    def __init__(self, attitude: int, answer: Any, torque: Any, p: Any) -> None:
        self.attitude, self.answer, self.torque, self.p = attitude, answer, torque, p
        self.error: BaseException | None = None

    def values(self, t: float, attitude: Any, omega: Any) -> tuple[float, ...]:
        """The torque."""
        q = tuple(attitude[: self.attitude])
        return self.answer(t, q, tuple(omega[:3]), self.torque, self.p)


@ANSWER
def _answering(t: float, attitude: Any, omega: Any, out: Any, asked: Any) -> None:
    try:
        values = asked.values(t, attitude, omega) if asked.error is None else (NAN,) * 3
    except BaseException as error:  # it goes on where C returns
        asked.error, values = error, (NAN,) * 3
    out[0], out[1], out[2] = values


def _calling(symbol: str, attitude: int, remembers: bool) -> Any:
    """The call in LLVM's intermediate code."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    double, byte = ir.DoubleType(), ir.IntType(8).as_pointer()
    pointer = double.as_pointer()
    asking = ir.FunctionType(ir.VoidType(), [double, pointer, pointer, pointer, byte])
    given = [double, double, pointer, pointer, pointer, asking.as_pointer(), byte]
    calling = ir.FunctionType(ir.VoidType(), given + [pointer] * remembers)

    def at(builder: Any, place: Any, index: int) -> Any:
        return builder.gep(place, [ir.Constant(ir.IntType(64), index)])

    def stored(builder: Any, values: Any, count: int) -> Any:
        place = cgutils.alloca_once(builder, double, count)
        for i in range(count):
            builder.store(builder.extract_value(values, i), at(builder, place, i))
        return place

    def loaded(builder: Any, place: Any, count: int) -> Any:
        values = [builder.load(at(builder, place, i)) for i in range(count)]
        return cgutils.pack_array(builder, values)

    def kept(builder: Any, value: Any) -> Any:
        place = cgutils.alloca_once(builder, value.type)
        builder.store(value, place)
        return place

    def answering(context: Any, module: Any, answer: Any, asked: Any, held: Any) -> Any:
        """The function that C calls: the answer with the parameters in `held`."""
        result = answer.dispatcher.overloads[asked.args]
        context.active_code_library.add_linking_library(result.library)
        name = f"{symbol}.{result.fndesc.mangled_name}"
        if name in module.globals:
            return module.globals[name]
        function = ir.Function(module, asking, name)
        function.linkage = "internal"
        builder = ir.IRBuilder(function.append_basic_block())
        t, R, Om, out, context_ = function.args
        # of a torque only the type counts, and its address would bind the code to this process
        torque = ir.Constant(context.get_value_type(asked.args[3]), ir.Undefined)
        p = builder.load(builder.bitcast(context_, held))
        values = loaded(builder, R, attitude), loaded(builder, Om, 3)
        status, found = context.call_internal_no_propagate(
            builder, result.fndesc, asked, (t, *values, torque, p)
        )
        for i in range(3):
            one = builder.extract_value(found, i)
            one = builder.select(status.is_error, ir.Constant(double, NAN), one)
            builder.store(one, at(builder, out, i))
        builder.ret_void()
        return function

    @intrinsic
    def call(typingctx, h, t, numbers, I, answer, torque, p):
        real, count = types.float64, numbers.count
        asked = answer.get_call_type(
            typingctx,
            (real, types.UniTuple(real, attitude), types.UniTuple(real, 3), torque, p),
            {},
        )
        signature = numbers(
            real, real, types.UniTuple(real, count), types.UniTuple(real, 3), answer, torque, p
        )

        def emit(context, builder, signature, arguments):
            h, t, numbers, I, _, _, p = arguments
            state, held = stored(builder, numbers, count), kept(builder, p)
            function = answering(context, builder.module, signature.args[4], asked, held.type)
            step = cgutils.get_or_insert_function(builder.module, calling, symbol)
            places = [at(builder, state, first) for first in (0, 4, 7)[: 2 + remembers]]
            own = [stored(builder, I, 3), function, builder.bitcast(held, byte)]
            builder.call(step, [h, t, *places[:2], *own, *places[2:]])
            return loaded(builder, state, count)

        return signature, emit

    return call
