"""One method and a few bodies, bound together: the loops of one body, on a state that is a tuple of those
of all bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polhode.core import few
from polhode.core.jit import bind, compiling, interpreted
from polhode.core.layout import layout, shape
from polhode.core.loops import few as few_loops
from polhode.core.loops import fixed
from polhode.core.motions import Kind, of_bodies
from polhode.core.systems import launched
from polhode.engine.bound_loops import BoundLoops
from polhode.engine.systems import acting
from polhode.engine.systems.program import OfSystem, speeds_felt, suited_to
from polhode.errors import InputError
from polhode.loads import few_kernels
from polhode.loads._system import System
from polhode.loads.interaction import Interaction
from polhode.loads.kernels import column, nested
from polhode.methods._method import Method
from polhode.methods._states import velocity_of


@dataclass
class FewProgram(BoundLoops, OfSystem):
    """What `engine.program.Program` is for a body.  `build` makes one."""

    method: Method
    body: System
    mode: str
    note: str
    motion_kind: Kind
    kind: Any
    shape: Any
    size: int
    moments: np.ndarray
    parameters: np.ndarray
    names: dict[str, Any]
    lowered: str
    control = None
    loads = ()  # there are no torques
    pythons = (None,)
    threads = 1
    tried = False
    start_calls = 1
    _found: dict[Any, Any] = field(default_factory=dict)
    _marches: dict[bool, Callable[..., Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.width = self.motion_kind.width

    def forces(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        made = interpreted if self.mode == "python" else bind
        interaction, n = self.body.interaction, len(self.body)
        evaluate = self.kept("forces", lambda: by_tuples(made, interaction, n))
        found = evaluate(t, y)
        return found[:n], found[n:]

    @property
    def torque(self) -> Interaction:
        """What acts."""
        return self.body.interaction

    @property
    def body_shape(self) -> Any:
        return few.shape_of_bodies(len(self.body), not self.body.is_principal)

    def body_rows(self, moments: np.ndarray) -> np.ndarray:
        return moments

    def rows(self, field: str) -> slice:
        """No field of the state is counted."""
        return slice(0, 0)


def by_tuples(made: Callable[..., Any], interaction: Interaction, n: int) -> acting.Evaluate:
    """What evaluates an interaction as the loops of a few bodies do; `made` is `bind` or
    `interpreted`."""
    numbers, of = few_kernels.numbers(interaction, n), few.few(n)
    loop = made(
        few_loops.forces_at,
        load_motion=of.names["load_motion"],
        look=of.look,
        forces=few_kernels.forces_of(interaction, n),
        load_parameters=layout(shape(numbers)).unpack,
        store_forces=layout(shape((((0.0,) * 3,) * n,) * 2), rows=True).pack,
    )
    parameters = column(numbers)

    def evaluate(t: float, motion: np.ndarray) -> np.ndarray:
        out = np.empty((1, 6 * n))
        loop(t, motion[None], parameters, out)
        return out.reshape(2 * n, 3)

    return evaluate


def numbers_of(system: System) -> few.FewBodies:
    """What loops know of the bodies."""
    found = system.numbers()
    bodies = (fixed.Body(tuple(row[:3]), tuple(row[3:6])) for row in found.tolist())
    lightness = tuple(found[:, 6].tolist())
    return few.FewBodies(
        tuple(bodies), lightness, () if system.is_principal else nested(system.axes)
    )


def too_much(method: Method, system: System) -> str:
    """Why a system cannot run in registers, in words; empty where it can."""
    n, suited = len(system), suited_to(method, system)
    if n > few.MOST:
        return f"it has {n} bodies, and registers hold {few.MOST} at most"
    if suited.few is None and (suited.start is not launched or suited.control is not None):
        return f"{method.name} is not made of kicks and drifts"
    if not few_kernels.fits(system.interaction, n):
        return f"the interaction {system.interaction.name!r} works on arrays alone, or has too many links or parameters"
    return ""


def check_few(method: Method, system: System) -> None:
    """Refuse an ensemble of systems that do not run in registers."""
    why = too_much(method, system)
    if why:
        raise InputError(
            f"an ensemble runs each system in the registers of a processor, and this one does not fit: {why}; run the "
            "systems one by one with integrate, or with sweep in several processes"
        )


def trouble(system: System, t0: float, t1: float, motion: np.ndarray) -> str:
    """Why an interaction cannot be machine code, in words; empty where all can."""
    given = t0, t1, motion, len(system), by_tuples
    for one in system.interaction.terms:
        note = acting.obstacle(one, *given)
        if note is not None:
            return f"the interaction {one.name!r} runs as Python ({note})"
    return ""


def build(
    method: Method, system: System, compiled: bool, t0: float, t1: float, motion: np.ndarray
) -> FewProgram | None:
    """The program of a few bodies; None where there are too many, or where the method or an
    interaction needs arrays."""
    n, interaction = len(system), system.interaction
    if too_much(method, system):
        return None
    suited, compiled = suited_to(method, system), compiled and compiling()
    if compiled and trouble(system, t0, t1, motion):
        return None
    feels, own = interaction.uses_velocity, not system.is_principal
    bodies, numbers = numbers_of(system), few_kernels.numbers(interaction, n)
    of = few.few(n, suited.row, velocity_of(suited.row))
    memory = layout(of.state)
    step, start = suited.few(n) if suited.few else (suited.step, few.start_system)
    body_layout = shape(bodies)
    return FewProgram(
        method=suited,
        body=system,
        mode="compiled" if compiled else "python",
        note="" if compiled else "as asked",
        motion_kind=of_bodies(n),
        kind=of.state,
        shape=shape(numbers),
        size=memory.size,
        moments=column(bodies),
        parameters=column(numbers),
        names={
            "step": step,
            "start": start,
            "load_state": memory.unpack,
            "store_state": memory.pack,
            "residual": fixed.residual_of_state,
            "calls": fixed.calls_of_state,
            **of.names,
            "load_body": layout(body_layout).unpack,
            "flat_body": layout(body_layout, flat=True).unpack,
            "torque": few.interacting(n, few_kernels.forces_of(interaction, n), own, feels),
            "load_parameters": layout(shape(numbers)).unpack,
        },
        lowered=method.lowered(speeds_felt(system)),
    )
