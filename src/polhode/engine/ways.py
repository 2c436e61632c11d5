"""How a torque or a force is called from a loop, and whether its machine code agrees with its
Python.

    compiled    numba can compile it: the whole loop is machine code
    callback    it stays Python (or C): the compiled step calls it back
    python      nothing is compiled (`compiled=False`): the step runs as Python too

All three give the same numbers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
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
from polhode.loads.kernels import GROUND, Frames, Setting, column, nested
from polhode.loads.potential import filled, potential_loop

NO_ROWS = np.empty((0, 4))  # a loop over no rows is compiled, and does nothing


class PythonTorque:
    """A Python torque or force behind a C function pointer.  It keeps the exception that was raised,
    if any, for the caller."""

    def __init__(self, acting: Torque, size: int) -> None:
        self.acting = acting
        self.error: BaseException | None = None
        self.calls = 0
        self._state: Any = ctypes.c_double * size
        self._out: Any = ctypes.c_double * 3
        self._pointer = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(
            self._call
        )
        self.values = Callback.to(ctypes.cast(self._pointer, ctypes.c_void_p).value or 0)

    def _call(self, t: float, state: int, out: int) -> None:
        """Called from machine code, with the addresses of the state and of the result."""
        result = np.frombuffer(self._out.from_address(out))
        result[:] = np.nan
        if self.error is not None:  # the loop is about to end
            return
        self.calls += 1
        try:
            # R, omega and, in flight, position and velocity
            given = np.frombuffer(self._state.from_address(state)).copy()
            value = self.acting(t, given[:9].reshape(3, 3), *given[9:].reshape(-1, 3))
            if value.shape != (3,):
                raise ValueError(
                    f"{self.acting.kind} {self.acting.name!r} must return three numbers, got shape {value.shape}"
                )
            if not np.isfinite(value).all():
                raise ValueError(f"{self.acting.kind} {self.acting.name!r} returned {value}")
            result[:] = value
        except BaseException as error:  # it cannot pass through machine code: raised again later
            self.error = error


class Way(NamedTuple):
    """One way to call a torque or a force from a loop."""

    mode: str
    note: str
    kernel: Callable[..., Any]
    values: Any
    python: PythonTorque | None = None
    acting: Torque | None = None  # the torque or force whose kernel and values these are


def ways(acting: Torque, setting: Setting, compiled: bool, start: Start) -> Iterator[Way]:
    """The ways to call a torque or a force, the best first: the caller takes the first that
    works."""
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
            note = _kernel_trouble(acting, form, kernel, setting, start)
            if note is None:
                yield Way("compiled", "", kernel, form.values, acting=form)
                note = derivatives_trouble(acting, start) or "its derivatives could not be compiled"
                break
    size, kernel = (12, callback.kernel) if setting is GROUND else (18, callback.kernel_in_flight)
    python = PythonTorque(acting, size)
    yield Way("callback", note or "", kernel, python.values, python)


def potential_trouble(torque: Torque, start: Start) -> str | None:
    """Why the potential cannot be part of machine code; None where it can, and agrees with its
    Python."""
    loop, values = potential_loop(bind, torque)
    if torque.potential_obstacle() is not None or not compiles(
        lambda: filled(loop, values, NO_ROWS[:, 0], NO_ROWS)
    ):
        return "cannot be compiled"
    if torque.is_ours:
        return None
    t, attitudes, *_ = start.samples()
    ours = filled(loop, values, t, attitudes)
    python, values = potential_loop(interpreted, torque.in_python())
    theirs = filled(python, values, t, attitudes)
    return None if agree(ours, theirs) else "differs from its machine code"


Evaluate = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def _kernel_trouble(
    acting: Torque, form: Torque, kernel: Callable[..., Any], setting: Setting, start: Start
) -> str | None:
    """Why the kernel of a form of the torque cannot be machine code; None where it can, and agrees
    with the Python, as the package's own torques do."""
    if acting.is_ours:
        return None

    def given(values: Any, place: Any = (*ZERO, *ZERO)) -> Any:
        """The parameters, in flight with a position and a velocity."""
        return values if setting is GROUND else Airborne(values, (*place[:3],), (*place[3:],))

    def loop_of(made: Callable[..., Any], kernel: Callable[..., Any], values: Any) -> Any:
        unpack = layout(shape(given(values))).unpack
        torque = Frames(kernel, kernel, kernel, kernel)
        return made(loops.torque_along, torque=torque, load_parameters=unpack)

    def evaluator(loop: Callable[..., Any], values: Any) -> Evaluate:
        def evaluate(
            t: np.ndarray, q: np.ndarray, omega: np.ndarray, place: np.ndarray
        ) -> np.ndarray:
            out = np.empty((len(t), 3))
            if setting is GROUND:
                loop(t, q, omega, column(values), out)
                return out
            for i in range(len(t)):  # a place is a parameter
                row = slice(i, i + 1)
                loop(t[row], q[row], omega[row], column(given(values, place[i])), out[row])
            return out

        return evaluate

    def python() -> Evaluate:
        plain = acting.in_python()
        return evaluator(loop_of(interpreted, plain.kernel(setting), plain.values), plain.values)

    machine, parameters = loop_of(bind, kernel, form.values), column(given(form.values))
    return compile_obstacle(
        lambda: machine(NO_ROWS[:, 0], NO_ROWS, NO_ROWS, parameters, NO_ROWS)
    ) or disagreement(machine, parameters, evaluator(machine, form.values), python, start)


def derivatives_trouble(torque: Torque, start: Start) -> str | None:
    """Why the derivatives cannot be part of machine code; None where they can, and agree with their
    Python."""
    for k in range(1, len(torque.derivatives) + 1):
        note = _derivative_trouble(torque, k, start)
        if note is not None:
            return f"derivative {k}: {note}"
    return None


def _derivative_trouble(torque: Torque, k: int, start: Start) -> str | None:
    values, rates = column(torque.values), layout(shape(nested(np.zeros((k, 3))))).unpack
    unpack = layout(shape(torque.values)).unpack

    def loop_of(made: Callable[..., Any], torque: Torque) -> Any:
        kernel = torque.derivative_kernels()[k - 1]
        return made(
            loops.derivative_along, derivative=kernel, load_rates=rates, load_parameters=unpack
        )

    def evaluator(loop: Callable[..., Any]) -> Evaluate:
        def evaluate(
            t: np.ndarray, q: np.ndarray, omega: np.ndarray, place: np.ndarray
        ) -> np.ndarray:
            # any derivatives of omega
            out, along = np.empty((len(t), 3)), [np.roll(omega, i, axis=1).T for i in range(k)]
            loop(t, q, np.concatenate(along), values, out)
            return out

        return evaluate

    machine = loop_of(bind, torque)
    evaluate = evaluator(machine)
    return compile_obstacle(
        lambda: evaluate(NO_ROWS[:, 0], NO_ROWS, NO_ROWS[:, :3], NO_ROWS)
    ) or disagreement(
        machine,
        values,
        evaluate,
        lambda: evaluator(loop_of(interpreted, torque.in_python())),
        start,
    )
