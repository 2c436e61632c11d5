"""One method, one torque and one body, bound together and ready to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.digest import digest, reach
from polhode.core.jit import compiles, compiling
from polhode.core.layout import layout, shape
from polhode.core.loops import fixed as loops
from polhode.core.motions import Kind, kind_of
from polhode.engine.bound_loops import BoundLoops
from polhode.engine.flight import Parameters, actions, flying
from polhode.engine.rotors import body_numbers, motors_of, speeds_felt, with_motors
from polhode.engine.ways import derivatives_trouble, potential_trouble, ways
from polhode.engine.trouble import CORRECT, torque_trouble
from polhode.errors import InputError, IntegrationError
from polhode.loads.agreement import Start
from polhode.loads.known_energy import check_potential
from polhode.loads.kernels import FLIGHT, GROUND, column, in_frame, nested, potential_on_ground
from polhode.loads.own_axes import derivatives_in_axes, in_axes, potential_in_axes
from polhode.methods._states import VELOCITY, velocity_of

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.engine.ways import PythonTorque, Way
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.loads.kernels import Setting
    from polhode.methods._method import Method


def _method_names(method: Method) -> tuple[int, dict[str, Any]]:
    """How many numbers the state of a method has, and what the method puts into the loops."""
    fields = getattr(method.state, "_fields", ())
    if "q" not in fields or not set(VELOCITY) & set(fields):
        raise InputError(
            f"the state of method {method.name!r} has fields {fields}; it needs q and one of Om, om, Pi, pi"
        )
    memory = layout(method.state)
    return memory.size, {
        "step": method.step,
        "start": method.start,
        "load_state": memory.unpack,
        "store_state": memory.pack,
        "velocity": velocity_of(method.state),
        "residual": loops.residual_of_state if "residual" in fields else loops.no_residual,
        "calls": loops.calls_of_state if "calls" in fields else loops.no_calls,
        **kind_of(method.state).names(),
    }


@dataclass
class Program(BoundLoops):
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
    motion_kind: Kind
    moments: np.ndarray
    parameters: np.ndarray
    names: dict[str, Any]  # what the loops are bound to
    # the torque, in flight also the force, with what was lifted out of them
    loads: tuple[Torque, ...]
    # those behind torque and force, None for one that is not Python
    pythons: tuple[PythonTorque | None, ...]
    control: Any  # what the method needs to choose its steps, None where it cannot
    lowered: str  # what the method loses under this torque, in words
    motors: tuple[Any, ...]  # the parameters of the functions of motors

    def __post_init__(self) -> None:
        acting = (self.torque, self.force, *motors_of(self.body))
        self._given = [one for one in acting if one is not None]
        self.may_raise = self.mode == "python" or not all(one.is_ours for one in self._given)
        self._found, self._marches = {}, {}
        self.width = self.motion_kind.width
        # whether the torque was evaluated before a run, where it may raise in machine code
        self.tried = self.mode != "compiled" or not self.may_raise
        # whether the kinetic energy has a bound that follows from the potential
        self.is_bounded = self.torque.conservative and not self.body.rotors

    @property
    def acting(self) -> Torque:
        """The torque with what was lifted out of it."""
        return self.loads[0]

    def with_numbers(self, torque: Torque, acting: Torque, body: RigidBody) -> Program:
        """The same loops with the moments of another body and the parameters of another torque of
        the same form."""
        values = acting.values if body.is_principal else (nested(body.axes), acting.values)
        other = replace(
            self,
            torque=torque,
            loads=(acting,),
            body=body,
            moments=body_numbers(body),
            parameters=column(values),
        )
        other._found, other._marches = self._found, self._marches
        return other

    def trouble(self) -> Exception | None:
        """The exception of a Python torque or force, or None; both may be called again.  Ctrl-C and
        exit are raised."""
        found: BaseException | None = None
        for python in self.pythons:
            if python is not None and python.error is not None:
                found, python.error = python.error if found is None else found, None
        if found is not None and not isinstance(found, Exception):
            raise found
        return found

    @property
    def called_back(self) -> list[Torque]:
        """What runs as Python, of torque, force and motors."""
        every = self.mode == "python"
        return [one for one, back in zip(self._given, self.pythons, strict=True) if back or every]

    @property
    def calls(self) -> list[int | None]:
        """How often each Python torque or force has been called; None for one that is not
        Python."""
        return [None if python is None else python.calls for python in self.pythons]

    @calls.setter
    def calls(self, counts: Sequence[int | None]) -> None:
        for python, count in zip(self.pythons, counts, strict=True):
            if python and count is not None:
                python.calls = count

    def trouble_at(self, t: float, y: np.ndarray, fix: str = CORRECT) -> IntegrationError | None:
        """The error of torque, force or motors at a motion in principal axes."""
        return torque_trouble(self.body, self.torque, self.force, self.motion_kind, t, y, fix)

    def digests(self) -> dict[str, Any]:
        """Digests of code, for provenance: of torque and method, of torque and force alone, and of the
        potential if it is the user's.  Those of machine code do not change."""
        if "digests" in self._found:
            return self._found["digests"]
        sources, own = self._sources(), self.torque.has_potential and not self.torque.is_ours
        found = {
            "source": digest(self.names["step"], *sources, identity=True),
            "torque_source": digest(*sources, identity=True),
            "potential_source": digest(self.torque.potential_kernel()) if own else None,
        }
        if self.mode == "compiled":
            self._found["digests"] = found
        return found

    def opaque(self) -> str | None:
        """What torque and force use that cannot be compared between processes, in words; None where
        there is no such thing."""
        return reach(*self._sources(), identity=True).opaque

    def _sources(self) -> list[Any]:
        return [one.source() for one in self._given]


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
    stands for several, the method is adapted to `like`.
    """
    setting, compiled = GROUND if force is None else FLIGHT, compiled and compiling()
    start = start or Start()
    check_potential(torque, start)
    thrust = None if force is None else next(ways(force, setting, compiled, start))
    motors = [next(ways(motor, FLIGHT, compiled, start)) for motor in motors_of(body)]
    for way in ways(torque, setting, compiled, start):
        program = _assemble(
            method, torque, body, force, setting, way, thrust, motors, like or body, start
        )
        if not (way.mode == "compiled" and program.names["torque"].derivatives):
            return program
        if torque.is_ours or (
            derivatives_trouble(torque, start) is None and compiles(program.march)
        ):
            return program
    raise AssertionError("a callback works in every case")


def _assemble(
    method: Method,
    torque: Torque,
    body: RigidBody,
    force: Force | None,
    setting: Setting,
    way: Way,
    thrust: Way | None,
    motors: list[Way],
    like: RigidBody,
    start: Start,
) -> Program:
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
    direct_form = setting is GROUND and body.is_principal and way.mode != "callback"
    at = torque.quaternion_kernel() if direct_form else None
    acting: Any = in_frame(kernel, frame, derivatives, at)
    run = suited
    if suited.potential:
        acting = acting._replace(potential=_potential(way.acting or known, body, setting))
    if thrust is not None:
        push, push_values = thrust.kernel, thrust.values
        if not body.is_principal:
            push, push_values = in_axes(push, "spatial", setting), (nested(body.axes), push_values)
        acting = actions(suited, acting, push)
        values = Parameters(values, push_values, float(body.mass))
        _, own = _method_names(suited)
        run = flying(suited, own["velocity"], own["residual"], own["calls"])
    if body.rotors:
        assert run.rotors is not None  # `check_rotors`
        acting, values = with_motors(acting, values, body, motors, force is not None)
        run = run.rotors(run, len(body.rotors))
    size, names = _method_names(run)
    names = {**names, "torque": acting, "load_parameters": layout(shape(values)).unpack}
    loads = [way] if thrust is None else [way, thrust]
    taken = [*loads, *motors]
    mode = next((one.mode for one in taken if one.mode != "compiled"), "compiled")
    note = next((one.note for one in taken if one.mode != "compiled"), "")
    return Program(
        method=suited,
        torque=torque,
        force=force,
        body=body,
        mode=mode,
        note=note,
        kind=run.state,
        shape=shape(values),
        size=size,
        motion_kind=kind_of(run.state),
        moments=body_numbers(body),
        parameters=column(values),
        names=names,
        loads=tuple(
            one.acting or load
            for one, load in zip(loads, filter(None, (torque, force)), strict=True)
        ),
        pythons=tuple(one.python for one in taken),
        control=run.control,
        lowered=method.lowered(speeds_felt(torque, force, body)),
        motors=tuple(way.values for way in motors),
    )


def _known(torque: Torque, way: Way) -> Torque:
    """What a method may know of the torque: of one that is called back, the values alone."""
    if way.mode != "callback":
        return torque
    return torque.without_derivatives().without_potential(
        f"torque {torque.name!r} is not compiled, nor is its potential"
    )


def _potential(torque: Torque, body: RigidBody, setting: Setting) -> Callable[..., Any]:
    """The torque's potential V(t, R, p) for principal axes, with the parameters p of the torque."""
    own: Any = torque.potential_kernel()
    kernel = own if body.is_principal else potential_in_axes(own)
    return kernel if setting is GROUND else potential_on_ground(kernel)
