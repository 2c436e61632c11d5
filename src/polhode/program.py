"""One method, one torque and one body, bound together and ready to run: what `integrate`, `Stepper` and ensembles share.

A torque takes one of three ways into the loop:

    compiled    numba could compile it: the whole loop is machine code
    callback    it stays Python (or C): the compiled step calls it, once for each evaluation the method declares
    python      nothing is compiled (`compiled=False`): the same step runs as the Python it is written in

All three give the same numbers.
"""

import ctypes
from dataclasses import dataclass

import numpy as np

from polhode._torque import Callback, Foreign, Frames, in_axes, in_frame, potential_in_axes
from polhode.core import loops
from polhode.core.jit import bind, digest, interpreted
from polhode.core.layout import flatten, layout, shape
from polhode.errors import InputError

_VELOCITY = {"Om": loops.velocity_from_Om, "om": loops.velocity_from_om, "Pi": loops.velocity_from_Pi,
             "pi": loops.velocity_from_pi}


def _method_names(method):
    """What a method puts into the loops."""
    fields = method.state._fields
    kept = next((name for name in _VELOCITY if name in fields), None)
    if "q" not in fields or kept is None:
        raise InputError(f"the state of method {method.name!r} has fields {fields}; it needs q and one of Om, om, Pi, pi")
    memory = layout(method.state)
    return memory.size, {
        "step": method.step,
        "start": method.start,
        "load_state": memory.unpack,
        "store_state": memory.pack,
        "velocity": _VELOCITY[kept],
        "residual": loops.residual_of_state if "residual" in fields else loops.no_residual,
        "calls": loops.calls_of_state if "calls" in fields else loops.no_calls,
    }


class PythonTorque:
    """A Python torque behind a C function pointer, with the error it ran into, if any, kept for the caller."""

    def __init__(self, torque):
        self.torque = torque
        self.error = None
        self.calls = 0
        self.inputs, self.outputs = np.zeros(12), np.zeros(3)
        self._pointer = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(self._call)
        address = ctypes.cast(self._pointer, ctypes.c_void_p).value
        self.values = Callback(float(address), float(self.inputs.ctypes.data), float(self.outputs.ctypes.data))

    def _call(self, t, inputs, outputs):
        if self.error is not None:   # the loop is on its way out
            self.outputs[:] = np.nan
            return
        self.calls += 1
        try:
            state = self.inputs.copy()
            value = self.torque(t, state[:9].reshape(3, 3), state[9:])
            if value.shape != (3,):
                raise ValueError(f"torque {self.torque.name!r} must return three numbers, got shape {value.shape}")
            if not np.isfinite(value).all():
                raise ValueError(f"torque {self.torque.name!r} returned {value}")
            self.outputs[:] = value
        except BaseException as error:   # an exception cannot cross compiled code: it is raised again on the other side
            self.error = error
            self.outputs[:] = np.nan


class _Counter:
    """A torque of zero that counts its calls."""

    calls = 0

    def __call__(self, t, R, Om, p):
        self.calls += 1
        return (0.0, 0.0, 0.0)


def _nested(matrix):
    return tuple(map(tuple, np.asarray(matrix, dtype=float).tolist()))


def _column(values):
    return np.array(flatten(values), dtype=float).reshape(-1, 1)


@dataclass
class Program:
    """Bound loops and the arrays they run on.  `build` makes one."""

    method: object
    torque: object
    body: object
    mode: str            # "compiled", "callback", "python"
    note: str            # why not compiled, in a few words
    size: int            # components of the method's state
    moments: np.ndarray
    parameters: np.ndarray
    names: dict
    python: PythonTorque | None

    def bound(self, loop, **names):
        """The loop as machine code, or as Python in mode "python"."""
        used = {**self.names, **names}
        return interpreted(loop, **used) if self.mode == "python" else bind(loop, **used)

    def begin(self, h, t, motion):
        """The method's first state, in lane 0 of a fresh (size, 2) array."""
        z = np.zeros((self.size, 2))
        self.bound(loops.begin, clock=loops.even_clock)(h, t, motion, z, self.moments, self.parameters)
        return z

    def march(self, uneven=False):
        """The time loop for a grid given as (t0, h), or time by time."""
        loop = self.bound(loops.march, clock=loops.listed_clock if uneven else loops.even_clock)

        def run(count, every, k, grid, z, attitudes, velocities, residuals):
            return loop(count, every, k, grid, z, self.moments, self.parameters, attitudes, velocities, residuals)

        if self.mode != "python" and not loop.signatures:   # compile, or load, before anyone looks at a clock
            run(0, 1, 0, np.zeros(2), np.zeros((self.size, 2)), np.empty((0, 4)), np.empty((0, 3)), np.empty(0))
        return run

    def start_calls(self):
        """How many torque evaluations the method's start makes."""
        counter = _Counter()
        names = {**self.names, "torque": Frames(counter, counter), "clock": loops.even_clock}
        z = np.zeros((self.size, 2))
        interpreted(loops.begin, **names)(0.1, 0.0, (0.0, 0.0, 0.0, 1.0, 0.1, 0.2, 0.3), z, np.ones((3, 1)), self.parameters)
        return counter.calls

    def motion(self, z, lane=0):
        """Attitude and body angular velocity (principal axes) of the state in a lane of z."""
        state = self.state(z, lane)
        Om = self.names["velocity"](state, loops.load_body(self.moments, 0))
        return np.array(state.q, dtype=float), np.array(Om, dtype=float)

    def state(self, z, lane=0):
        """The state in a lane of z as the method's own NamedTuple."""
        return self.names["load_state"](z, lane)

    def source_digest(self):
        """A name for the code of torque and method, for provenance."""
        return digest(self.names["step"], self.torque.name if isinstance(self.torque, Foreign) else self.torque.kernel())


def build(method, torque, body, compiled=True):
    """Bind a method, a torque and a body; the torque is compiled if numba can do it and nothing it refers to may change."""
    size, names = _method_names(method)
    moments = np.array(body.moments, dtype=float).reshape(3, 1)

    def assembled(mode, note, kernel, values, python=None):
        frame = torque.frame
        if not body.is_principal:
            kernel, values = in_axes(kernel, frame), (_nested(body.axes), values)
        bindings = {**names, "torque": in_frame(kernel, frame), "load_parameters": layout(shape(values)).unpack}
        return Program(method, torque, body, mode, note, size, moments, _column(values), bindings, python)

    if not compiled:
        if isinstance(torque, Foreign):
            raise InputError("a foreign torque has no Python form; leave out compiled=False")
        return assembled("python", "as asked", torque.kernel(), torque.values)
    if isinstance(torque, Foreign):
        return assembled("callback", "foreign function", torque.kernel(), torque.values)
    note = torque.obstacle()
    if note is None:
        program = assembled("compiled", "", torque.kernel(), torque.values)
        note = _why_not(program)
        if note is None:
            return program
    from polhode.core.callback import kernel

    python = PythonTorque(torque)
    return assembled("callback", note, kernel, python.values, python)


def _why_not(program):
    """Compile the torque alone, or load it; None when that works, otherwise the first line of the reason."""
    from numba.core.errors import NumbaError

    none = np.zeros((0, 4))
    try:
        program.bound(loops.torque_along)(np.zeros(0), none, none[:, :3], program.parameters, none[:, :3])
    except (NumbaError, NotImplementedError, AttributeError, TypeError, KeyError, AssertionError) as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        return (lines[-1] if lines else type(error).__name__).strip()[:200]
    return None


def potential_energy(torque, body, t, attitudes):
    """The torque's potential at the given times and attitudes (principal axes); None when it has none."""
    kernel = torque.potential_kernel()
    if kernel is None:
        return None
    values = torque.values
    if not body.is_principal:
        kernel, values = potential_in_axes(kernel), (_nested(body.axes), values)
    out = np.empty(len(t))
    names = {"potential": kernel, "load_parameters": layout(shape(values)).unpack}
    arguments = (np.asarray(t, dtype=float), np.ascontiguousarray(attitudes), _column(values), out)
    if torque.obstacle() is None and len(t) > 64:
        from numba.core.errors import NumbaError

        try:
            bind(loops.potential_along, **names)(*arguments)
            return out
        except NumbaError:
            pass
    interpreted(loops.potential_along, **names)(*arguments)
    return out
