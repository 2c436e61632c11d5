"""Large systems: threads share the bodies.

The step of a method made of kicks and drifts runs as Python, and each of its moves is a loop in machine
code over parts of the bodies.  Which parts there are changes no bits: moves are of one body each, and
the forces are summed in blocks that depend on the number of bodies alone (`polhode.core.rows`), as they
are in a loop over all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from polhode.core.jit import Build, bind, direct, interpreted
from polhode.core.kicks import FlyingState, Kicks
from polhode.core.loops import shared as loops
from polhode.core.loops.fixed import DONE
from polhode.core.loops.system import march
from polhode.core.rows import BLOCKS, LARGE
from polhode.core.systems import SystemFrames, SystemState
from polhode.engine.carriers.threads import share

PARTS = 4  # of the bodies, for each thread
LEAST = 512  # bodies in a part


def is_large(program: Any) -> bool:
    """Whether threads can share the bodies of a system, and it has enough of them."""
    method = program.method
    moves = (
        method.row is FlyingState
        and method.few is None
        and method.control is None
        and not method.restores_energy
    )
    return moves and program.mode == "compiled" and len(program.body) >= LARGE


class Shared:
    """The moves of all bodies, shared by threads."""

    def __init__(self, program: Any, threads: int) -> None:
        self.program, self.threads = program, threads
        n = len(program.body)
        size = max(LEAST, -(-n // (PARTS * threads)))
        self.parts = [(first, min(first + size, n)) for first in range(0, n, size)]
        # of each block, forces and torques, and the first and last of the bodies that get some
        self.sums = np.zeros((2, BLOCKS, n, 3))
        self.begins, self.ends = np.zeros((2, BLOCKS), dtype=np.int64)
        self.terms = program.body.interaction.terms
        self.machines: dict[Any, Callable[..., Any]] = {}

    def march(self, clock: Callable[..., Any]) -> Callable[..., Any]:
        """The time loop, as `polhode.core.loops.system.march`."""
        moves = Kicks(self.kick, self.drift, self.pull, self.fresh, self.unit)
        frames = SystemFrames(moves, None, None, None, None, None, None, None)  # type: ignore[arg-type]
        return interpreted(
            march,
            step=partial(self.program.method.step),
            clock=clock,
            torque=frames,
            outcome_of_all=partial(self.outcome),
            observed=partial(self.observed),
        )

    # --- sharing ----------------------------------------------------------------------------------

    def machine(
        self, loop: Callable[..., Any], arguments: tuple[Any, ...], names: dict[str, Any]
    ) -> Callable[..., Any]:
        """A loop as machine code, compiled or loaded the first time."""
        key = (loop, *names.values())
        if key not in self.machines:
            machine = bind(loop, Build(threaded=True), **names)
            machine.subject = f"{self.program.method.name} of a large system"
            self.machines[key] = direct(machine, *arguments)
        return self.machines[key]

    def each(self, loop: Callable[..., Any], *arguments: Any, **names: Any) -> list[Any]:
        """Call loop(first, last, ...) for all parts of the bodies: what it returned."""
        machine = self.machine(loop, (0, 0, *arguments), names)
        found: list[Any] = [None] * len(self.parts)

        def task(k: int) -> None:
            found[k] = machine(*self.parts[k], *arguments)

        share(task, range(len(self.parts)), min(self.threads, len(self.parts)))
        return found

    # --- moves ------------------------------------------------------------------------------------

    def kick(self, c: float, s: SystemState) -> SystemState:
        self.each(loops.kick, float(c), s.z)
        return s

    def drift(
        self, move: Callable[..., Any], steps: Any, length: float, s: SystemState, body: np.ndarray
    ) -> SystemState:
        residuals = self.each(loops.drift, steps, float(length), s.z, body, move=move)
        return SystemState(max(s.residual, *residuals, 0.0), s.z, 0.0)

    def fresh(self, s: SystemState) -> SystemState:
        self.each(loops.fresh, s.z)
        return SystemState(0.0, s.z, 0.0)

    def unit(self, s: SystemState) -> SystemState:
        self.each(loops.unit, s.z)
        return s

    def pull(self, t: float, ahead: float, s: SystemState, body: np.ndarray, _: Any, p: Any) -> Any:
        frames = self.program.frames
        self.each(loops.show, float(ahead), s.z, body, p.places, torque=frames)
        for i, one in enumerate(self.terms):
            self.act(one, i, float(t))
        self.each(loops.feel, s.z, body, p.places, torque=frames)
        return s

    def act(self, one: Any, i: int, t: float) -> None:
        """Add the forces and torques of one interaction."""
        found, p = self.kept(i, one.rows), self.program.parameters
        if found is None:
            act = self.kept(("act", i), one.act)
            self.machine(loops.act_at_once, (t, p, p.terms[i]), {"act": act})(t, p, p.terms[i])
            return
        prepare = {"prepare": found.prepare}
        self.machine(loops.prepare_all, (t, p, p.terms[i]), prepare)(t, p, p.terms[i])
        if self.program.parameters is not p:  # its list of neighbours has more room now
            p = self.program.parameters
            self.machine(loops.prepare_all, (t, p, p.terms[i]), prepare)(t, p, p.terms[i])
        arguments, n = (t, p, p.terms[i]), len(self.program.body)
        forces, torques = self.sums
        rows = {"rows": found.rows}
        machine = self.machine(loops.act_in_block, (0, 0, *arguments, forces[0], torques[0]), rows)

        def task(b: int) -> None:
            first, last = found.edge(b, n), found.edge(b + 1, n)
            self.begins[b] = first
            self.ends[b] = machine(first, last, *arguments, forces[b], torques[b])

        share(task, range(BLOCKS), min(self.threads, BLOCKS))
        self.each(loops.add_blocks, self.begins, self.ends, forces, torques, p.places)

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make()` returned the first time: machine code is found by it."""
        return self.program.kept(("shared", key), make)

    # --- after a step -----------------------------------------------------------------------------

    def outcome(self, h: float, s: SystemState, body: np.ndarray, *reading: Any) -> int:
        names = self.program.reading
        reasons = self.each(loops.outcome, float(h), float(s.residual), s.z, body, **names)
        return next((why for why in reasons if why != DONE), DONE)

    def observed(self, z: np.ndarray, body: np.ndarray, motions: np.ndarray, *reading: Any) -> None:
        self.each(loops.look, z, body, motions, **self.program.reading)
