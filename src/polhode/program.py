"""One method, one torque and one body, bound together and ready to run: what `integrate`, `Stepper` and ensembles share.

A torque takes one of three ways into the loop:

    compiled    numba could compile it: the whole loop is machine code
    callback    it stays Python (or C): the compiled step calls it, once for each evaluation the method declares
    python      nothing is compiled (`compiled=False`): the same step runs as the Python it is written in

All three give the same numbers.
"""

import ctypes
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, get_type_hints

import numpy as np

from polhode._kernels import (
    FLIGHT, GROUND, Airborne, Frames, derivatives_in_axes, in_axes, in_frame, nested, no_potential, potential_in_axes,
    potential_on_ground,
)
from polhode._known_energy import check_potential
from polhode._torque import ZERO, Callback, Foreign
from polhode.agreement import Start, agree, disagreement
from polhode.core import loops
from polhode.core.digest import digest, reach
from polhode.core.jit import bind, compile_now, compiling, direct, interpreted
from polhode.core.layout import flatten, layout, shape
from polhode.errors import InputError, PolhodeError, TorqueError
from polhode.flight import Actions, Parameters, flying
from polhode.methods._states import VELOCITY


# what numba raises, besides errors of its own, where it meets code that it does not expect
AT_A_LOSS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RuntimeError, SyntaxError, SystemError,
             TypeError, ValueError)


def _method_names(method):
    """What a method puts into the loops."""
    fields = method.state._fields
    kept = next((name for name in VELOCITY if name in fields), None)
    if "q" not in fields or kept is None:
        raise InputError(f"the state of method {method.name!r} has fields {fields}; it needs q and one of Om, om, Pi, pi")
    memory = layout(method.state)
    return memory.size, {
        "step": method.step,
        "start": method.start,
        "load_state": memory.unpack,
        "store_state": memory.pack,
        "velocity": VELOCITY[kept],
        "residual": loops.residual_of_state if "residual" in fields else loops.no_residual,
        "calls": loops.calls_of_state if "calls" in fields else loops.no_calls,
        "launch": loops.launch_flight if "x" in fields else loops.launch_rotation,
        "observe": loops.observe_flight if "x" in fields else loops.observe_rotation,
        "flaw": loops.flaw_in_flight if "x" in fields else loops.flaw_in_rotation,
    }


class PythonTorque:
    """A Python torque or force behind a C function pointer, with the error it ran into, if any, kept for the caller."""

    def __init__(self, acting, size):
        self.acting = acting
        self.error = None
        self.calls = 0
        self._state, self._out = ctypes.c_double * size, ctypes.c_double * 3
        self._pointer = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(self._call)
        self.values = Callback.to(ctypes.cast(self._pointer, ctypes.c_void_p).value)

    def _call(self, t, state, out):
        out = np.frombuffer(self._out.from_address(out))
        if self.error is not None:   # the loop is on its way out
            out[:] = np.nan
            return
        self.calls += 1
        try:
            state = np.frombuffer(self._state.from_address(state)).copy()   # R, omega and, in flight, position and velocity
            value = self.acting(t, state[:9].reshape(3, 3), *state[9:].reshape(-1, 3))
            if value.shape != (3,):
                raise ValueError(f"{self.acting.kind} {self.acting.name!r} must return three numbers, got shape {value.shape}")
            if not np.isfinite(value).all():
                raise ValueError(f"{self.acting.kind} {self.acting.name!r} returned {value}")
            out[:] = value
        except BaseException as error:   # an exception cannot cross compiled code: it is raised again on the other side
            self.error = error
            out[:] = np.nan


class _Counter:
    """A torque of zero that counts its calls."""

    calls = 0

    def __call__(self, t, R, Om, p):
        self.calls += 1
        return (0.0, 0.0, 0.0)


@lru_cache(256)
def _start_calls(start):
    counter, one = _Counter(), (1.0, 1.0, 1.0)
    torque = Frames(*[counter] * 4, potential=no_potential)
    start(0.1, 0.0, (0.0, 0.0, 0.0, 1.0), (0.1, 0.2, 0.3), loops.Body(one, one), torque, ())
    return counter.calls


def _column(values):
    return np.array(flatten(values), dtype=float).reshape(-1, 1)


@dataclass
class Program:
    """Bound loops and the arrays they run on.  `build` makes one."""

    method: object
    torque: object
    force: object        # None unless in flight
    body: object
    mode: str            # "compiled", "callback", "python"
    note: str            # why not compiled, in a few words
    kind: type           # of the state: the NamedTuple class
    shape: object        # of the parameters
    size: int            # components of the state
    width: int           # numbers of a motion: 7, in flight 13
    moments: np.ndarray
    parameters: np.ndarray
    names: dict
    acting: object       # the torque with what was lifted out of it
    pythons: tuple       # the PythonTorques behind torque and force, None for one that is not Python

    def trouble(self):
        """What a Python torque or force ran into, or None; both may be called again.  Ctrl-C and exit are raised."""
        found = next((python.error for python in self.pythons if python and python.error is not None), None)
        for python in filter(None, self.pythons):
            python.error = None
        if found is not None and not isinstance(found, Exception):
            raise found
        return found

    @property
    def calls(self):
        """How often each Python torque or force has been called; None for one that is not Python."""
        return [python and python.calls for python in self.pythons]

    @calls.setter
    def calls(self, counts):
        for python, count in zip(self.pythons, counts, strict=True):
            if python:
                python.calls = count

    def bound(self, loop, **names):
        """The loop as machine code, or as Python in mode "python"."""
        used = {name: value for name, value in {**self.names, **names}.items() if name in loop.__code__.co_names}
        return interpreted(loop, **used) if self.mode == "python" else bind(loop, **used)

    def begin(self, h, t, motion):
        """The method's first state, in lane 0 of a fresh (size, 2) array."""
        z = np.zeros((self.size, 2))
        try:
            compile_now(self.bound(loops.begin), h, t, motion, z, self.moments, self.parameters)
        except Exception as error:
            if type(error).__module__.startswith("numba."):   # it is not the torque that failed
                raise
            raise TorqueError(f"the torque raised {type(error).__name__} at t = {t!r}: {error}; correct it", t=t) from error
        return z

    def march(self, uneven=False):
        """The time loop for a grid given as (t0, h), or time by time."""
        loop = self.bound(loops.march, clock=loops.listed_clock if uneven else loops.even_clock)
        if self.mode != "python":   # before anyone looks at a clock
            loop = direct(loop, 0, 1, 0, np.zeros(2), np.zeros((self.size, 2)), self.moments, self.parameters,
                          np.empty((0, self.width)), np.empty(0))

        def run(count, every, k, grid, z, points, residuals):
            return loop(count, every, k, grid, z, self.moments, self.parameters, points, residuals)

        return run

    @property
    def start_calls(self):
        """How many torque evaluations the method's start makes."""
        return _start_calls(self.method.start)

    def motion(self, z, lane=0):
        """The numbers of the motion (principal axes) in a lane of z."""
        state = self.state(z, lane)
        point = np.empty((1, self.width))
        self.names["observe"](state, self.names["velocity"](state, loops.load_body(self.moments, 0)), point, 0)
        return point[0]

    def state(self, z, lane=0):
        """The state in a lane of z as the method's own NamedTuple."""
        return self.names["load_state"](z, lane)

    def rows(self, field):
        """The rows of z that hold a field of the state; none where it has no such field."""
        first = 0
        for name, kind in get_type_hints(self.kind).items():
            size = layout(kind).size
            if name == field:
                return slice(first, first + size)
            first += size
        return slice(0, 0)

    def source_digest(self):
        """A name for the code of torque and method, for provenance."""
        return digest(self.names["step"], *self._acting(), identity=True)

    def torque_digest(self):
        """A name for the code of torque and force alone."""
        return digest(*self._acting(), identity=True)

    def opaque(self):
        """What torque and force reach that cannot be compared from one process to the next, in words; None where all can."""
        return reach(*self._acting(), identity=True).opaque

    def _acting(self):
        return [one.source() for one in (self.torque, self.force) if one is not None]


class _Way(NamedTuple):
    """How a torque or a force gets into the loop."""

    mode: str
    note: str
    kernel: object
    values: object
    python: PythonTorque | None = None
    acting: object = None   # the torque or force whose kernel and values these are


def _ways(acting, setting, compiled, start):
    """The ways in, the best first: the caller takes the first that works."""
    if not compiled:
        if isinstance(acting, Foreign):
            raise InputError("a foreign torque has no Python form; leave out compiled=False, and NUMBA_DISABLE_JIT=1 where set")
        plain = acting.in_python()
        yield _Way("python", "as asked", plain.kernel(setting), plain.values, acting=plain)
        return
    if isinstance(acting, Foreign):
        yield _Way("callback", "foreign function", acting.kernel(setting), acting.values)
        return
    note = acting.obstacle()
    if note is None:
        lifted = acting.with_lifted()
        for form in [acting] if shape(lifted.values) == shape(acting.values) else [lifted, acting]:
            kernel = form.kernel(setting)
            note = _why_not(acting, form, kernel, setting, start)
            if note is None:
                yield _Way("compiled", "", kernel, form.values, acting=form)
                note = _derivatives_trouble(acting, start) or "its derivatives could not be compiled"
                break
    from polhode.core import callback

    python = PythonTorque(acting, 12 if setting is GROUND else 18)
    yield _Way("callback", note, callback.kernel if setting is GROUND else callback.kernel_in_flight, python.values, python)


def build(method, torque, body, compiled=True, force=None, like=None, start=None):
    """Bind a method, a torque and a body, in flight also a force.

    A torque or force is compiled if numba can do it, nothing it refers to may change, and machine code and Python agree near the
    `start` of the run; otherwise it is called back.  Where `body` stands for several, `like` is the one for which the method is
    made to measure.
    """
    setting, compiled = GROUND if force is None else FLIGHT, compiled and compiling()
    start = start or Start()
    check_potential(torque, start)
    thrust = None if force is None else next(_ways(force, setting, compiled, start))
    for way in _ways(torque, setting, compiled, start):
        program = _assemble(method, torque, body, force, setting, way, thrust, like or body, start)
        if not (way.mode == "compiled" and program.names["torque"].derivatives):
            return program
        if torque.is_ours or (_derivatives_trouble(torque, start) is None and _compiles(program.march)):
            return program
    raise AssertionError("a callback always works")


def _assemble(method, torque, body, force, setting, way, thrust, like, start):
    known = _known(torque, way)
    suited = method.suited(known, like)
    trouble = _potential_trouble(torque, start) if suited.potential and way.mode == "compiled" else None
    if trouble:
        suited = method.suited(known.without_potential(f"the potential of torque {torque.name!r} {trouble}"), like)
    kernel, values, frame = way.kernel, way.values, torque.frame
    derivatives = known.derivative_kernels() if method.adapt and setting is GROUND else ()
    if not body.is_principal:
        kernel, values = in_axes(kernel, frame, setting), (nested(body.axes), values)
        derivatives = derivatives_in_axes(derivatives, frame)
    at = torque.quaternion_kernel() if setting is GROUND and body.is_principal and way.mode != "callback" else None
    acting, (size, names), run = in_frame(kernel, frame, derivatives, at), _method_names(suited), suited
    if suited.potential:
        acting = acting._replace(potential=_potential(way.acting or known, body, setting))
    if force is not None:
        push, push_values = thrust.kernel, thrust.values
        if not body.is_principal:
            push, push_values = in_axes(push, "spatial", setting), (nested(body.axes), push_values)
        acting, values = Actions(*acting, push), Parameters(values, push_values, float(body.mass))
        run = flying(suited, names["velocity"], names["residual"], names["calls"])
        size, names = _method_names(run)
    names = {**names, "torque": acting, "load_parameters": layout(shape(values)).unpack}
    ways = [way] if thrust is None else [way, thrust]
    mode = next((one.mode for one in ways if one.mode != "compiled"), "compiled")
    note = next((one.note for one in ways if one.mode != "compiled"), "")
    return Program(suited, torque, force, body, mode, note, run.state, shape(values), size, 7 if force is None else 13,
                   np.array(body.moments, dtype=float).reshape(3, 1), _column(values), names, way.acting or torque,
                   tuple(one.python for one in ways))


def _known(torque, way):
    """What a method may know of the torque: what lies behind a callback is its value alone."""
    if way.mode != "callback":
        return torque
    return torque.without_derivatives().without_potential(f"torque {torque.name!r} is not compiled, nor is its potential")


def _potential(torque, body, setting):
    """The torque's potential V(t, R, p) for principal axes, p as the torque gets it."""
    kernel = torque.potential_kernel()
    kernel = kernel if body.is_principal else potential_in_axes(kernel)
    return kernel if setting is GROUND else potential_on_ground(kernel)


def _potential_trouble(torque, start):
    """Why the potential cannot be part of machine code; None when it can, and gives what Python gives."""
    (loop, values), none = _potential_loop(bind, torque), np.zeros((0, 4))
    if torque.potential_obstacle() is not None or not _compiles(lambda: _filled(loop, none[:, 0], none, values)):
        return "cannot be compiled"
    if torque.is_ours:
        return None
    t, attitudes, *_ = start.samples()
    (python, values), ours = _potential_loop(interpreted, torque.in_python()), _filled(loop, t, attitudes, values)
    return None if agree(ours, _filled(python, t, attitudes, values)) else "differs from its machine code"


def _why_not(acting, form, kernel, setting, start):
    """Compile the kernel of a form of the torque, or load it; None if that works and gives what Python gives, else the reason."""
    def evaluator(made, kernel, inner):
        """`evaluate(t, q, omega, place)` for rows of all of them, by a loop around the kernel; the loop; the parameters."""
        def values(place=(*ZERO, *ZERO)):
            return inner if setting is GROUND else Airborne(inner, tuple(place[:3]), tuple(place[3:]))

        loop = made(loops.torque_along, torque=Frames(*[kernel] * 4), load_parameters=layout(shape(values())).unpack)

        def evaluate(t, q, omega, place):
            out = np.empty((len(t), 3))
            for rows in [slice(None)] if setting is GROUND else map(slice, range(len(t)), range(1, len(t) + 1)):
                loop(t[rows], q[rows], omega[rows], _column(values(*place[rows][:1])), out[rows])
            return out

        return evaluate, loop, _column(values())

    def python():
        plain = acting.in_python()
        return evaluator(interpreted, plain.kernel(setting), plain.values)[0]

    (evaluate, machine, parameters), none = evaluator(bind, kernel, form.values), np.empty((0, 4))
    note = obstacle(lambda: machine(none[:, 0], none, none, parameters, none))
    return note if note or acting.is_ours else disagreement(machine, parameters, evaluate, python, start)


def _derivatives_trouble(torque, start):
    """Why the derivatives cannot be part of machine code; None when they can, and give what Python gives."""
    for k in range(1, len(torque.derivatives) + 1):
        note = _derivative_trouble(torque, k, start)
        if note is not None:
            return f"derivative {k}: {note}"
    return None


def _derivative_trouble(torque, k, start):
    values, unpack, rates = _column(torque.values), layout(shape(torque.values)).unpack, layout(shape(nested(np.zeros((k, 3)))))

    def evaluator(made, kernel):
        loop = made(loops.derivative_along, derivative=kernel, load_rates=rates.unpack, load_parameters=unpack)

        def evaluate(t, q, omega, place):
            out, along = np.empty((len(t), 3)), [np.roll(omega, i, axis=1).T for i in range(k)]   # any derivatives of omega
            loop(t, q, np.concatenate(along), values, out)
            return out

        return evaluate, loop

    def python():
        return evaluator(interpreted, torque.in_python().derivative_kernels()[k - 1])[0]

    (evaluate, machine), none = evaluator(bind, torque.derivative_kernels()[k - 1]), np.empty((0, 4))
    note = obstacle(lambda: evaluate(none[:, 0], none, none[:, :3], none))
    return note or disagreement(machine, values, evaluate, python, start)


def _compiles(attempt):
    return obstacle(attempt) is None


def obstacle(attempt):
    """Why numba cannot compile what `attempt()` calls, in a line of its own; None when it can."""
    from numba.core import errors

    of_numba = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    try:
        compile_now(attempt)
    except PolhodeError:
        raise
    except (*of_numba, *AT_A_LOSS) as error:
        text = re.sub("\x1b\\[[0-9;]*m", "", str(error))   # numba writes in colours
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
        return (lines[0] if lines else type(error).__name__)[:200]
    return None


def potential_energy(torque, body, t, attitudes):
    """The torque's potential at the given times and attitudes (principal axes); None when it has none."""
    if not torque.has_potential:
        return None
    t, attitudes = np.asarray(t, dtype=float), np.ascontiguousarray(attitudes)

    def python(rows=slice(None)):
        loop, values = _potential_loop(interpreted, torque.in_python(), body)
        return _filled(loop, t[rows], attitudes[rows], values)

    if len(t) > 64 and torque.potential_obstacle() is None and compiling():
        loop, values = _potential_loop(bind, torque.with_lifted("potential"), body)
        if _compiles(lambda: _filled(loop, t[:0], attitudes[:0], values)):
            found, few = _filled(loop, t, attitudes, values), np.linspace(0, len(t) - 1, 12).astype(int)
            if torque.is_ours or agree(found[few], python(few)):
                return found
    return python()


def _potential_loop(made, torque, body=None):
    """The loop that finds potentials, as `bind` or `interpreted` makes it, and its parameters; without a body in its own axes."""
    kernel, values = torque.potential_kernel(), torque.values
    if body is not None and not body.is_principal:
        kernel, values = potential_in_axes(kernel), (nested(body.axes), values)
    return made(loops.potential_along, potential=kernel, load_parameters=layout(shape(values)).unpack), _column(values)


def _filled(loop, t, attitudes, values):
    out = np.empty(len(t))
    loop(t, attitudes, values, out)
    return out
