"""One method and one system, bound together and ready to run: what `engine.program.Program` is for a
body."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import numpy as np

from polhode.core.digest import digest, reach
from polhode.core.jit import bind, compile_now, compile_obstacle, compiling, direct, interpreted
from polhode.core.layout import Layout, layout
from polhode.core.loops import fixed
from polhode.core.loops import system as loops
from polhode.core.loops.adaptive_motion import STEP
from polhode.core.motions import Kind, of_bodies
from polhode.core.systems import RESIDUAL, Acting, SystemFrames, interacting
from polhode.engine.carriers.threads import default_threads
from polhode.engine.trouble import CORRECT
from polhode.engine.systems import acting
from polhode.engine.systems.shared import Shared, is_large
from polhode.errors import InputError, IntegrationError, TorqueError
from polhode.loads._system import System
from polhode.loads.interaction_kernels import energies
from polhode.loads.neighbours import with_room
from polhode.methods._method import Method
from polhode.methods._states import velocity_of
from polhode.results.motion import in_user_axes, parts


class OfSystem(ABC):
    """What the programs of systems have in common, whatever loops they are bound to."""

    body: System
    method: Method
    motion_kind: Kind
    pythons: tuple[acting.PythonInteraction | None, ...]

    @abstractmethod
    def forces(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces and torques in space at a motion in the user's axes."""

    # --- what is called back ----------------------------------------------------------------------

    def trouble(self) -> Exception | None:
        """The exception of a Python interaction, or None; it may be called again.  Ctrl-C and exit
        are raised."""
        found: BaseException | None = None
        for python in self.pythons:
            if python is not None and python.error is not None:
                found, python.error = python.error if found is None else found, None
        if found is not None and not isinstance(found, Exception):
            raise found
        return found

    @property
    def calls(self) -> list[int | None]:
        """How often each Python interaction has been called."""
        return [None if python is None else python.calls for python in self.pythons]

    @calls.setter
    def calls(self, counts: Sequence[int | None]) -> None:
        for python, count in zip(self.pythons, counts, strict=True):
            if python and count is not None:
                python.calls = count

    def trouble_at(self, t: float, y: np.ndarray, fix: str = CORRECT) -> IntegrationError | None:
        """Evaluate the interaction at a motion in principal axes: the error if a value is bad."""
        y = in_user_axes(self.body, y, self.motion_kind)
        now = parts(y, self.motion_kind)
        if not (np.isfinite(now.attitude).all() and np.isfinite(now.position).all()):
            return None
        try:
            self.checked_forces(t, np.where(np.isfinite(y), y, 0.0), fix)
        except TorqueError as error:
            return error
        return None

    def checked_forces(
        self, t: float, y: np.ndarray, fix: str = CORRECT
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same as `forces`; a TorqueError if the interaction raises an error, or gives a bad
        value."""
        where = f"at t = {t:.15g}{meeting(parts(y, self.motion_kind).position)}"
        name = self.body.interaction.name
        try:
            with np.errstate(all="ignore"):
                F, N = self.forces(t, y)
            cause = self.trouble()
            if cause is not None:
                raise cause
        except Exception as cause:
            why = acting.wrong_answer(self.body, t, y)
            error = TorqueError(
                why
                or f"the interaction {name!r} raised {type(cause).__name__} {where}: {cause}; {fix}"
            )
            error.t = t
            raise error from cause
        for what, found in (("forces", F), ("torques", N)):
            bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
            if len(bad):
                error = TorqueError(
                    f"the interaction {name!r} gave the {what} {found[bad[0]].tolist()} for body {bad[0]} {where}; {fix}"
                )
                error.t = t
                raise error
        return F, N

    # --- provenance -------------------------------------------------------------------------------

    def digests(self) -> dict[str, Any]:
        """Digests of code, for provenance, as those of `Program`."""
        source = self.body.interaction.source()
        return {
            "source": digest(self.method.step, *source, identity=True),
            "torque_source": digest(*source, identity=True),
        }

    def opaque(self) -> str | None:
        """What the interaction uses that cannot be compared between processes, in words."""
        return reach(*self.body.interaction.source(), identity=True).opaque


@dataclass
class SystemProgram(OfSystem):
    """Bound loops and the arrays they run on.  `build` makes one."""

    method: Method
    body: System
    mode: str  # "compiled", "callback", "python"
    note: str  # why not compiled, in a few words
    motion_kind: Kind
    moments: np.ndarray  # the numbers of the bodies
    p: Acting
    act: Callable[..., Any]
    frames: SystemFrames  # the interaction as the method sees it
    pythons: tuple[acting.PythonInteraction | None, ...]
    lowered: str
    control: Any  # what the method needs to choose its steps, None where it cannot
    threads: int = field(default_factory=default_threads)  # that share the bodies of a large system
    tried = False
    start_calls = 1
    _found: dict[Any, Any] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """How many numbers a motion has."""
        return self.motion_kind.width

    @property
    def parameters(self) -> Acting:
        """What a step hands on as parameters, with room for the neighbours that there are now."""
        self.p = with_room(self.p)
        return self.p

    @property
    def row(self) -> Layout:
        """How the state of one body is stored."""
        return layout(self.method.row, rows=True)

    @property
    def reading(self) -> dict[str, Callable[..., Any]]:
        """The functions that read the state of one body."""
        return {"load_state": self.row.unpack, "velocity": velocity_of(self.method.row)}

    def forces(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces and torques in space at a motion in the user's axes."""
        loop = self.kept("forces", lambda: self.bound(loops.forces_at, act=self.act))
        self.run(loop, t, y, self.parameters)
        return self.parameters.places.F.copy(), self.parameters.places.N.copy()

    # --- loops ------------------------------------------------------------------------------------

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make()` returned the first time."""
        if key not in self._found:
            self._found[key] = make()
        return self._found[key]

    def bound(self, loop: Callable[..., Any], **names: Any) -> Callable[..., Any]:
        """The loop as machine code, or as Python in mode "python"."""
        if self.mode == "python":
            return interpreted(loop, **names)
        machine = bind(loop, None, **names)
        machine.subject = f"{self.method.name} of a system"
        return machine

    def run(self, loop: Callable[..., Any], *arguments: Any) -> Any:
        """Call a bound loop for the first time, perhaps."""
        return loop(*arguments) if self.mode == "python" else compile_now(loop, *arguments)

    def begin(self, h: float, t: float, motion: np.ndarray) -> np.ndarray:
        """The states of all bodies, see `polhode.core.loops.system`."""
        n = len(self.body)
        z = np.zeros((3, n, self.row.size))
        names = {"start": self.method.start, "torque": self.frames}
        loop = self.kept("begin", lambda: self.bound(loops.begin, **names))
        self.run(loop, h, t, motion.reshape(n, -1), z, self.moments, self.parameters)
        return z

    def march(self, uneven: bool = False) -> Callable[..., Any]:
        """The time loop for a grid given as (t0, h), or time by time."""
        return self.kept(("march", uneven), lambda: self._march(uneven))

    def _march(self, uneven: bool) -> Callable[..., Any]:
        clock = fixed.listed_clock if uneven else fixed.even_clock
        if is_large(self):
            return Shared(self, self.threads).march(clock)
        names = {**self.reading, "step": self.method.step, "torque": self.frames}
        loop = self.bound(loops.march, clock=clock, **names)
        if self.mode == "python":
            return loop
        z, out = np.zeros((3, len(self.body), self.row.size)), np.empty((0, self.width))
        return direct(
            loop, 0, 1, 0, np.zeros(2), z, self.moments, self.parameters, out, np.empty(0)
        )

    def controlled(self, rtol: float) -> tuple[Any, Callable[..., Any]]:
        """(how the method chooses its steps, the loop that takes them)."""
        control = self.control.suited(self, rtol)
        return control, self.kept(("controlled", control), lambda: self._controlled(control))

    def _controlled(self, control: Any) -> Callable[..., Any]:
        names = {**control.names, "torque": self.frames}
        used = {name: names[name] for name in control.loop.__code__.co_names if name in names}
        loop = self.bound(control.loop, **used)
        if self.mode == "python":
            return loop
        no_times, memory = np.zeros(0), np.array(control.blank())
        memory[STEP] = 1.0
        options = 0.0, 1e-3, 0.0, np.inf, 0, False, no_times
        out = no_times, np.zeros((1, self.width)), np.zeros((0, 1, self.width))
        return direct(loop, *options, memory, self.moments, self.parameters, *out)

    # --- states -----------------------------------------------------------------------------------

    def motion(self, z: np.ndarray, lane: int = 0) -> np.ndarray:
        """The motion of a state, in principal axes."""
        loop = self.kept("look", lambda: self.bound(loops.look, **self.reading))
        found = np.empty(self.width)
        with np.errstate(over="ignore", invalid="ignore"):  # of a motion that has diverged
            self.run(loop, z[lane], self.moments, found)
        return found

    at = 0  # where the state is in z

    @property
    def form(self) -> tuple[Any, ...]:
        """What a state is made of."""
        return self.method.row._fields, self.row.size, len(self.body)

    def residual(self, z: np.ndarray, lane: int = 0) -> float:
        """The largest residual in a state."""
        return float(z[lane][:, RESIDUAL].max())

    def remarks(self, z: np.ndarray) -> str:
        """The method's remarks on the steps so far."""
        rows = z[loops.STATE]

        def total(field: str) -> float:
            place = place_of(field, self.method.row)
            return float(rows[:, place].sum())

        return self.method.remarks(total)


def meeting(x: np.ndarray) -> str:
    """Which two bodies are in the same place, in words."""
    places, counts = np.unique(x, axis=0, return_counts=True)
    if counts.max() == 1:
        return ""
    i, j = np.flatnonzero((x == places[counts.argmax()]).all(axis=1))[:2]
    return f", where bodies {i} and {j} are in the same place"


def build(
    method: Method, system: System, compiled: bool, t0: float, t1: float, motion: np.ndarray
) -> SystemProgram:
    """Bind a method and a system; `motion` is that at the start, in the user's axes."""
    suited = suited_to(method, system)
    compiled = compiled and compiling()
    way = acting.way(system, compiled, t0, t1, motion)
    feels = system.interaction.uses_velocity
    control: Any = suited.control
    rows = control.rows if control else 0
    frames = interacting(way.act, not system.is_principal, feels)
    if suited.potential:
        frames = frames._replace(potential=potential(suited, system, way))
    return SystemProgram(
        method=suited,
        body=system,
        mode=way.mode,
        note=way.note,
        motion_kind=of_bodies(len(system)),
        moments=system.numbers(),
        p=way.p._replace(work=np.zeros((rows, 13 * len(system)))),
        act=way.act,
        frames=frames,
        pythons=way.pythons,
        lowered=method.lowered(speeds_felt(system)),
        control=control,
    )


def place_of(field: str, row: Any) -> int:
    """Where a number is in the row of a body."""
    names = list(get_type_hints(row).items())
    before = names[: [name for name, _ in names].index(field)]
    return sum(1 if kind is float else layout(kind).size for _, kind in before)


def potential(method: Method, system: System, way: acting.Way) -> Callable[..., Any]:
    """`energy(t, p)` for the steps of a method that asks for it."""
    energy = energies([one.energy() for one in system.interaction.terms])
    if way.mode != "python":
        machine = bind(loops.energy_along, energy=energy)
        few = np.empty(0), np.empty((0, 13 * len(system))), way.p, np.empty(0)
        why = system.interaction.obstacle() or compile_obstacle(lambda: compile_now(machine, *few))
        if why is not None:
            raise InputError(
                f"{method.name} asks for the potential energy after each step, and that of "
                f"{system.interaction.name!r} cannot be compiled: {why}.  Correct it, use a method without +ep, or run "
                "with compiled=False"
            )
    return energy


def speeds_felt(system: System) -> str:
    """What acts and depends on velocities, in words; empty where nothing does."""
    interaction = system.interaction
    if not interaction.uses_velocity:
        return ""
    return f"the interaction {interaction.name!r}, which depends on velocities"


def suited_to(method: Method, system: System) -> Method:
    """The method as it runs with a system; an error where it cannot."""
    if method.system is None:
        why = (
            "its torques are part of an equation that it solves for one body"
            if method.torques is None
            else f"it asks for the torque on one body {method.torques} times in a step, without the places of the others"
        )
        raise InputError(
            f"{method.name} does not run with a system: {why}; methods that do are LP2, VLV, EXACT, EXACT-RKN4 and the "
            "others made of kicks and drifts, NMB, SW, taylor1 to taylor6, and DOP853"
        )
    suited = method.suited(None, system)
    assert suited.system is not None
    return suited.system(suited, system)


def check_chooses(method: Method, system: System) -> None:
    """Refuse a method that chooses its steps for one body alone."""
    if method.control is not None and suited_to(method, system).control is None:
        raise InputError(
            f"{method.name} finds its steps from the operations of the torque on one body, and cannot for a system; "
            "give step, or use DOP853 or DP5 with rtol"
        )
