"""Loops bound to a method, a load and a body, and the arrays they run on: what the programs of a body and
of a few bodies have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from polhode.core.jit import Build, bind, compile_now, direct, interpreted
from polhode.core.layout import flatten, layout
from polhode.core.loops import fixed as loops
from polhode.core.loops.adaptive_motion import STEP
from polhode.core.motions import kind_of
from polhode.core.rotors import gyrostat
from polhode.engine.start_calls import start_calls

if TYPE_CHECKING:
    from polhode.core.motions import Kind
    from polhode.methods._method import Method


class BoundLoops:
    """What carriers run.  A subclass is a dataclass with these fields."""

    method: Method
    mode: str  # "compiled", "callback", "python"
    note: str  # why not compiled, in a few words
    kind: Any  # of the state: the NamedTuple class, or its shape
    shape: Any  # of the parameters
    size: int  # components of the state
    motion_kind: Kind
    moments: np.ndarray
    parameters: np.ndarray
    names: dict[str, Any]  # what the loops are bound to
    control: Any  # what the method needs to choose its steps, None where it cannot
    _found: dict[Any, Any]  # loops and digests
    _marches: dict[bool, Callable[..., Any]]  # the time loops
    width: int  # numbers of a motion

    @property
    def body_shape(self) -> Any:
        """The shape of the body as kernels see it."""
        rotors = self.motion_kind.spinning
        return gyrostat(rotors) if rotors else loops.Body

    def body_rows(self, moments: np.ndarray) -> np.ndarray:
        """The numbers of that shape, from what the program has of a body or of several."""
        return np.concatenate(
            [moments[:3], 1.0 / moments[:3], moments[3:]]
        )  # the rest is of rotors

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make()` returned the first time."""
        if key not in self._found:
            self._found[key] = make()
        return self._found[key]

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
        arguments = h, t, motion[None], z, self.moments, self.parameters
        if "begin" in self._found:
            self._found["begin"](*arguments)
        else:
            loop = self.bound(loops.begin)
            compile_now(loop, *arguments)  # the first call of the torque, which may raise
            self._found["begin"] = self._direct(loop)
        return z

    def _direct(self, loop: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        """The loop for arguments of these types, compiled now: before anyone looks at a clock."""
        return loop if self.mode == "python" else direct(loop, *arguments)

    def march(self, uneven: bool = False) -> Callable[..., Any]:
        """The time loop for a grid given as (t0, h), or time by time."""
        if uneven not in self._marches:
            self._marches[uneven] = self._march(uneven)
        return self._marches[uneven]

    def _march(self, uneven: bool) -> Callable[..., Any]:
        loop = self.bound(loops.march, clock=loops.listed_clock if uneven else loops.even_clock)
        grid, z = np.zeros(2), np.zeros((self.size, 2))
        out = np.empty((0, self.width)), np.empty(0)
        return self._direct(loop, 0, 1, 0, grid, z, self.moments, self.parameters, *out)

    def controlled(self, rtol: float) -> tuple[Any, Callable[..., Any]]:
        """(how the method chooses its steps, the loop that takes them)."""
        control = self.control.suited(self, rtol)
        return control, self.kept(("controlled", control), lambda: self._controlled(control))

    def _controlled(self, control: Any) -> Callable[..., Any]:
        loop = self.bound(control.loop, **control.names)
        no_times, memory = np.zeros(0), np.array(control.blank())
        memory[STEP] = 1.0
        options = 0.0, 1e-3, 0.0, np.inf, 0, False, no_times
        out = no_times, np.zeros((1, self.width)), np.zeros((0, 1, self.width))
        return self._direct(loop, *options, memory, self.moments, self.parameters, *out)

    def remarks(self, z: np.ndarray) -> str:
        """The method's remarks on the steps so far."""

        def total(field: str) -> float:
            state = self.state(z)
            return getattr(getattr(state, "base", state), field)  # base: in flight

        return self.method.remarks(total)

    @cached_property
    def start_calls(self) -> int:
        """How many torque evaluations the method's start makes."""
        return start_calls(self.method.start, kind_of(self.method.state))

    def motion(self, z: np.ndarray, lane: int = 0) -> np.ndarray:
        """The motion in a lane of z, in principal axes."""
        state = self.state(z, lane)
        body = self.names.get("load_body", loops.load_body)(self.moments, 0)
        with np.errstate(over="ignore", invalid="ignore"):  # of a motion that has diverged
            Om = self.names["velocity"](state, body)
            return np.array(flatten(self.names["observe"](state, Om, body)))

    at = slice(None), 0  # where the state is in z

    @property
    def form(self) -> tuple[Any, ...]:
        """What the numbers of a state are; those of another program of the same form may be taken."""
        return self.kind._fields, self.size

    def residual(self, z: np.ndarray, lane: int = 0) -> float:
        """The residual of the state in a lane of z."""
        return float(self.state(z, lane).residual)

    def state(self, z: np.ndarray, lane: int = 0) -> Any:
        """The state in a lane of z as the method's own NamedTuple."""
        return self.names["load_state"](z, lane)

    def rows(self, field: str) -> slice:
        """The rows of z with a field of the state; none where it has no such field."""
        first = 0
        for name, kind in get_type_hints(self.kind).items():
            size = layout(kind).size
            if name == field:
                return slice(first, first + size)
            first += size
        return slice(0, 0)
