"""One method, one torque and one body, bound together and ready to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from polhode.core.digest import digest, reach
from polhode.core.jit import Build, bind, compile_now, compiles, compiling, direct, interpreted
from polhode.core.layout import flatten, layout, shape
from polhode.core.loops import fixed as loops
from polhode.core.loops.tolerance import STEP
from polhode.core.motions import Kind, kind_of
from polhode.engine.start_calls import start_calls
from polhode.engine.flight import Actions, Parameters, flying
from polhode.engine.ways import derivatives_trouble, potential_trouble, ways
from polhode.errors import InputError
from polhode.loads.agreement import Start
from polhode.loads.known_energy import check_potential
from polhode.loads.kernels import (
    FLIGHT,
    GROUND,
    column,
    in_frame,
    nested,
    potential_on_ground,
)
from polhode.loads.own_axes import derivatives_in_axes, in_axes, potential_in_axes
from polhode.methods._states import VELOCITY

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.methods._method import Method


def _method_names(method):
    """What a method puts into the loops."""
    fields = method.state._fields
    kept = next((name for name in VELOCITY if name in fields), None)
    if "q" not in fields or kept is None:
        raise InputError(
            f"the state of method {method.name!r} has fields {fields}; it needs q and one of Om, om, Pi, pi"
        )
    memory = layout(method.state)
    return memory.size, {
        "step": method.step,
        "start": method.start,
        "load_state": memory.unpack,
        "store_state": memory.pack,
        "velocity": VELOCITY[kept],
        "residual": loops.residual_of_state if "residual" in fields else loops.no_residual,
        "calls": loops.calls_of_state if "calls" in fields else loops.no_calls,
        **kind_of(method.state).names(),
    }


@dataclass
class Program:
    """Bound loops and the arrays they run on.  `build` makes one."""

    method: Method
    torque: Torque
    force: Force | None  # None unless in flight
    body: RigidBody
    mode: str  # "compiled", "callback", "python"
    note: str  # why not compiled, in a few words
    kind: Any  # of the state: the NamedTuple class
    shape: Any  # of the parameters
    size: int  # components of the state
    motion_kind: Kind  # what is followed
    moments: np.ndarray
    parameters: np.ndarray
    names: dict
    acting: Torque  # the torque with what was lifted out of it
    pythons: tuple  # the PythonTorques behind torque and force, None for one that is not Python

    def __post_init__(self) -> None:
        self.width = self.motion_kind.width
        self.may_raise = self.mode == "python" or not all(
            one.is_ours for one in (self.torque, self.force) if one is not None
        )
        self._found = {}  # what has been bound or named once
        self._marches = {}  # the time loops, with these numbers
        self.tried = False  # whether the torque was asked for its value before a run

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make()` gave the first time: what has been bound stays with the program."""
        if key not in self._found:
            self._found[key] = make()
        return self._found[key]

    def with_numbers(self, torque: Torque, acting: Torque, body: RigidBody) -> Program:
        """The same loops with the moments of another body and the parameters of another torque of
        the same form."""
        values = acting.values if body.is_principal else (nested(body.axes), acting.values)
        other = replace(
            self,
            torque=torque,
            acting=acting,
            body=body,
            moments=_moments(body),
            parameters=column(values),
        )
        other._found = self._found
        return other

    def trouble(self) -> Exception | None:
        """What a Python torque or force ran into, or None; both may be called again.  Ctrl-C and
        exit are raised."""
        found = None
        for python in self.pythons:
            if python is not None and python.error is not None:
                found, python.error = python.error if found is None else found, None
        if found is not None and not isinstance(found, Exception):
            raise found
        return found

    @property
    def calls(self) -> list[int | None]:
        """How often each Python torque or force has been called; None for one that is not
        Python."""
        return [python and python.calls for python in self.pythons]

    @calls.setter
    def calls(self, counts: Sequence[int | None]) -> None:
        for python, count in zip(self.pythons, counts, strict=True):
            if python:
                python.calls = count

    def bound(
        self, loop: Callable[..., Any], build: Build | None = None, **names: Any
    ) -> Callable[..., Any]:
        """The loop as machine code, or as Python in mode "python"."""
        used = {
            name: value
            for name, value in {**self.names, **names}.items()
            if name in loop.__code__.co_names
        }
        if self.mode == "python":
            return interpreted(loop, **used)
        machine = bind(loop, build, **used)
        machine.subject = self.method.name  # for the notice, should it have to be compiled
        return machine

    def begin(self, h: float, t: float, motion: np.ndarray) -> np.ndarray:
        """The method's first state, in lane 0 of a fresh (size, 2) array."""
        z = np.zeros((self.size, 2))
        loop = self._found.get("begin") or self.kept("begin", self._begin)
        loop(h, t, motion[None], z, self.moments, self.parameters)
        return z

    def _begin(self):
        """The loop that begins; the one call that compiles it is where a torque may raise for the
        first time."""
        loop = self.bound(loops.begin)

        def first(*arguments):
            compile_now(loop, *arguments)
            if self.mode != "python":
                self._found["begin"] = direct(loop)

        return first

    def march(self, uneven: bool = False) -> Callable[..., Any]:
        """The time loop for a grid given as (t0, h), or time by time."""
        if uneven not in self._marches:
            loop = self.kept(("march", uneven), lambda: self._march(uneven))
            moments, parameters = self.moments, self.parameters

            def run(count, every, k, grid, z, points, residuals):
                return loop(count, every, k, grid, z, moments, parameters, points, residuals)

            self._marches[uneven] = run
        return self._marches[uneven]

    def _march(self, uneven):
        clock = loops.listed_clock if uneven else loops.even_clock
        loop = self.bound(loops.march, clock=clock)
        if self.mode != "python":  # before anyone looks at a clock
            loop = direct(
                loop,
                0,
                1,
                0,
                np.zeros(2),
                np.zeros((self.size, 2)),
                self.moments,
                self.parameters,
                np.empty((0, self.width)),
                np.empty(0),
            )
        return loop

    def controlled(self, rtol: float) -> tuple[Any, Callable[..., Any]]:
        """(what the method says of the steps it chooses, the loop that takes them)."""
        control = self.method.control.suited(self, rtol)
        return control, self.kept(("controlled", control), lambda: self._controlled(control))

    def _controlled(self, control):
        loop = self.bound(control.loop, **control.names)
        if self.mode != "python":  # before anyone looks at a clock
            none, memory = np.zeros((1, self.width)), np.array(control.blank())
            memory[STEP] = 1.0
            loop = direct(
                loop,
                0.0,
                1e-3,
                0.0,
                np.inf,
                0,
                False,
                none[0, :0],
                memory,
                self.moments,
                self.parameters,
                none[0, :0],
                none,
                np.zeros((0, 1, self.width)),
            )
        return loop

    def remarks(self, z: np.ndarray) -> str:
        """What the method as it was run has to say of the steps so far."""

        def total(field):
            state = self.state(z)
            return getattr(getattr(state, "base", state), field)  # base: in flight

        return self.method.remarks(total)

    @cached_property
    def start_calls(self) -> int:
        """How many torque evaluations the method's start makes."""
        return start_calls(self.method.start, kind_of(self.method.state))

    def motion(self, z: np.ndarray, lane: int = 0) -> np.ndarray:
        """The numbers of the motion (principal axes) in a lane of z."""
        state = self.state(z, lane)
        Om = self.names["velocity"](state, loops.load_body(self.moments, 0))
        return np.array(flatten(self.names["observe"](state, Om)))

    def state(self, z: np.ndarray, lane: int = 0) -> Any:
        """The state in a lane of z as the method's own NamedTuple."""
        return self.names["load_state"](z, lane)

    def rows(self, field: str) -> slice:
        """The rows of z that hold a field of the state; none where it has no such field."""
        first = 0
        for name, kind in get_type_hints(self.kind).items():
            size = layout(kind).size
            if name == field:
                return slice(first, first + size)
            first += size
        return slice(0, 0)

    def digests(self) -> dict[str, str | None]:
        """Names for the code, for provenance: of torque and method, of torque and force alone, and
        of the potential where it is the user's.  Machine code stays what it is, and so do they."""
        if "digests" in self._found:
            return self._found["digests"]
        acting, own = self._acting(), self.torque.has_potential and not self.torque.is_ours
        found = {
            "source": digest(self.names["step"], *acting, identity=True),
            "torque_source": digest(*acting, identity=True),
            "potential_source": digest(self.torque.potential_kernel()) if own else None,
        }
        if self.mode == "compiled":
            self._found["digests"] = found
        return found

    def opaque(self) -> Any:
        """What torque and force reach that cannot be compared from one process to the next, in
        words; None where all can."""
        return reach(*self._acting(), identity=True).opaque

    def _acting(self):
        return [one.source() for one in (self.torque, self.force) if one is not None]


def build(
    method: Method,
    torque: Torque,
    body: RigidBody,
    compiled: bool = True,
    force: Force | None = None,
    like: RigidBody | None = None,
    start: Start | None = None,
) -> Program:
    """Bind a method, a torque and a body, in flight also a force.

    A torque or force is compiled if numba can do it, nothing it refers to may change, and machine
    code and Python agree near the `start` of the run; otherwise it is called back.  Where `body`
    stands for several, `like` is the one for which the method is made to measure.
    """
    setting, compiled = GROUND if force is None else FLIGHT, compiled and compiling()
    start = start or Start()
    check_potential(torque, start)
    thrust = None if force is None else next(ways(force, setting, compiled, start))
    for way in ways(torque, setting, compiled, start):
        program = _assemble(method, torque, body, force, setting, way, thrust, like or body, start)
        if not (way.mode == "compiled" and program.names["torque"].derivatives):
            return program
        if torque.is_ours or (
            derivatives_trouble(torque, start) is None and compiles(program.march)
        ):
            return program
    raise AssertionError("a callback works in every case")


def _assemble(method, torque, body, force, setting, way, thrust, like, start):
    known = _known(torque, way)
    suited = method.suited(known, like)
    trouble = (
        potential_trouble(torque, start) if suited.potential and way.mode == "compiled" else None
    )
    if trouble:
        suited = method.suited(
            known.without_potential(f"the potential of torque {torque.name!r} {trouble}"), like
        )
    kernel, values, frame = way.kernel, way.values, torque.frame
    derivatives = known.derivative_kernels() if method.adapt and setting is GROUND else ()
    if not body.is_principal:
        kernel, values = in_axes(kernel, frame, setting), (nested(body.axes), values)
        derivatives = derivatives_in_axes(derivatives, frame)
    at = (
        torque.quaternion_kernel()
        if setting is GROUND and body.is_principal and way.mode != "callback"
        else None
    )
    acting, (size, names), run = (
        in_frame(kernel, frame, derivatives, at),
        _method_names(suited),
        suited,
    )
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
    taken = [way] if thrust is None else [way, thrust]
    mode = next((one.mode for one in taken if one.mode != "compiled"), "compiled")
    note = next((one.note for one in taken if one.mode != "compiled"), "")
    return Program(
        suited,
        torque,
        force,
        body,
        mode,
        note,
        run.state,
        shape(values),
        size,
        kind_of(run.state),
        _moments(body),
        column(values),
        names,
        way.acting or torque,
        tuple(one.python for one in taken),
    )


def _moments(body):
    return np.array(body.moments, dtype=float).reshape(3, 1)


def _known(torque, way):
    """What a method may know of the torque: what lies behind a callback is its value alone."""
    if way.mode != "callback":
        return torque
    return torque.without_derivatives().without_potential(
        f"torque {torque.name!r} is not compiled, nor is its potential"
    )


def _potential(torque, body, setting):
    """The torque's potential V(t, R, p) for principal axes, p as the torque gets it."""
    kernel = torque.potential_kernel()
    kernel = kernel if body.is_principal else potential_in_axes(kernel)
    return kernel if setting is GROUND else potential_on_ground(kernel)
