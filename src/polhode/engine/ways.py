"""How a torque or a force gets into a loop, and whether its machine code does what its Python does.

    compiled    numba could compile it: the whole loop is machine code
    callback    it stays Python (or C): the compiled step calls it, once for each evaluation the method declares
    python      nothing is compiled (`compiled=False`): the same step runs as the Python it is written in

All three give the same numbers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from polhode.core import callback
from polhode.core.jit import bind, compile_obstacle, compiles, interpreted
from polhode.core.layout import layout, shape
from polhode.core.loops import fixed as loops
from polhode.errors import InputError
from polhode.loads._torque import ZERO, Torque
from polhode.loads.foreign import Callback, Foreign
from polhode.loads.agreement import Start, agree, disagreement
from polhode.core.motions import Airborne
from polhode.loads.kernels import GROUND, Frames, column, nested
from polhode.loads.potential import filled, potential_loop


class PythonTorque:
    """A Python torque or force behind a C function pointer, with the error it ran into, if any,
    kept for the caller."""

    def __init__(self, acting: Torque, size: int) -> None:
        self.acting = acting
        self.error = None
        self.calls = 0
        self._state, self._out = ctypes.c_double * size, ctypes.c_double * 3
        self._pointer = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(
            self._call
        )
        self.values = Callback.to(ctypes.cast(self._pointer, ctypes.c_void_p).value)

    def _call(self, t, state, out):
        out = np.frombuffer(self._out.from_address(out))
        if self.error is not None:  # the loop is on its way out
            out[:] = np.nan
            return
        self.calls += 1
        try:
            # R, omega and, in flight, position and velocity
            state = np.frombuffer(self._state.from_address(state)).copy()
            value = self.acting(t, state[:9].reshape(3, 3), *state[9:].reshape(-1, 3))
            if value.shape != (3,):
                raise ValueError(
                    f"{self.acting.kind} {self.acting.name!r} must return three numbers, got shape {value.shape}"
                )
            if not np.isfinite(value).all():
                raise ValueError(f"{self.acting.kind} {self.acting.name!r} returned {value}")
            out[:] = value
        except (
            BaseException
        ) as error:  # an exception cannot cross compiled code: it is raised again on the other side
            self.error = error
            out[:] = np.nan


class Way(NamedTuple):
    """How a torque or a force gets into the loop."""

    mode: str
    note: str
    kernel: object
    values: object
    python: PythonTorque | None = None
    acting: object = None  # the torque or force whose kernel and values these are


def ways(acting: Torque, setting: Any, compiled: bool, start: Start | None) -> Iterator[Way]:
    """The ways in, the best first: the caller takes the first that works."""
    if not compiled:
        if isinstance(acting, Foreign):
            raise InputError(
                "a foreign torque has no Python form; leave out compiled=False, and NUMBA_DISABLE_JIT=1 where set"
            )
        plain = acting.in_python()
        yield Way("python", "as asked", plain.kernel(setting), plain.values, acting=plain)
        return
    if isinstance(acting, Foreign):
        yield Way("callback", "foreign function", acting.kernel(setting), acting.values)
        return
    note = acting.obstacle()
    if note is None:
        lifted = acting.with_lifted()
        for form in [acting] if shape(lifted.values) == shape(acting.values) else [lifted, acting]:
            kernel = form.kernel(setting)
            note = _why_not(acting, form, kernel, setting, start)
            if note is None:
                yield Way("compiled", "", kernel, form.values, acting=form)
                note = derivatives_trouble(acting, start) or "its derivatives could not be compiled"
                break
    python = PythonTorque(acting, 12 if setting is GROUND else 18)
    yield Way(
        "callback",
        note,
        callback.kernel if setting is GROUND else callback.kernel_in_flight,
        python.values,
        python,
    )


def potential_trouble(torque: Torque, start: Start | None) -> str | None:
    """Why the potential cannot be part of machine code; None when it can, and gives what Python
    gives."""
    (loop, values), none = potential_loop(bind, torque), np.zeros((0, 4))
    if torque.potential_obstacle() is not None or not compiles(
        lambda: filled(loop, values, none[:, 0], none)
    ):
        return "cannot be compiled"
    if torque.is_ours:
        return None
    t, attitudes, *_ = start.samples()
    (python, values), ours = (
        potential_loop(interpreted, torque.in_python()),
        filled(loop, values, t, attitudes),
    )
    return (
        None
        if agree(ours, filled(python, values, t, attitudes))
        else "differs from its machine code"
    )


def _why_not(acting, form, kernel, setting, start):
    """Compile the kernel of a form of the torque, or load it; None if that works and gives what
    Python gives, else the reason.  That of the package is known to."""
    if acting.is_ours:
        return None

    def evaluator(made, kernel, inner):
        """`evaluate(t, q, omega, place)` for rows of all of them, by a loop around the kernel; the
        loop; the parameters."""

        def values(place=(*ZERO, *ZERO)):
            return (
                inner if setting is GROUND else Airborne(inner, tuple(place[:3]), tuple(place[3:]))
            )

        loop = made(
            loops.torque_along,
            torque=Frames(*[kernel] * 4),
            load_parameters=layout(shape(values())).unpack,
        )

        def evaluate(t, q, omega, place):
            out = np.empty((len(t), 3))
            for rows in (
                [slice(None)]
                if setting is GROUND
                else map(slice, range(len(t)), range(1, len(t) + 1))
            ):
                loop(t[rows], q[rows], omega[rows], column(values(*place[rows][:1])), out[rows])
            return out

        return evaluate, loop, column(values())

    def python():
        plain = acting.in_python()
        return evaluator(interpreted, plain.kernel(setting), plain.values)[0]

    evaluate, machine, parameters = evaluator(bind, kernel, form.values)
    none = np.empty((0, 4))
    note = compile_obstacle(lambda: machine(none[:, 0], none, none, parameters, none))
    return note or disagreement(machine, parameters, evaluate, python, start)


def derivatives_trouble(torque: Torque, start: Start | None) -> str | None:
    """Why the derivatives cannot be part of machine code; None when they can, and give what Python
    gives."""
    for k in range(1, len(torque.derivatives) + 1):
        note = _derivative_trouble(torque, k, start)
        if note is not None:
            return f"derivative {k}: {note}"
    return None


def _derivative_trouble(torque, k, start):
    values, unpack, rates = (
        column(torque.values),
        layout(shape(torque.values)).unpack,
        layout(shape(nested(np.zeros((k, 3))))),
    )

    def evaluator(made, kernel):
        loop = made(
            loops.derivative_along,
            derivative=kernel,
            load_rates=rates.unpack,
            load_parameters=unpack,
        )

        def evaluate(t, q, omega, place):
            # any derivatives of omega
            out, along = np.empty((len(t), 3)), [np.roll(omega, i, axis=1).T for i in range(k)]
            loop(t, q, np.concatenate(along), values, out)
            return out

        return evaluate, loop

    def python():
        return evaluator(interpreted, torque.in_python().derivative_kernels()[k - 1])[0]

    (evaluate, machine), none = (
        evaluator(bind, torque.derivative_kernels()[k - 1]),
        np.empty((0, 4)),
    )
    note = compile_obstacle(lambda: evaluate(none[:, 0], none, none[:, :3], none))
    return note or disagreement(machine, values, evaluate, python, start)
