"""A carrier of many bodies, made of backends, one for each kind of body.

A method may have a separate step for symmetric bodies (EXACT and the methods based on it).  Bodies of
different kinds are integrated separately, so that each moves as it does alone, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from polhode.engine.carriers.chunk import Chunk
from polhode.engine.driver import Pace
from polhode.results._ensemble_result import Failure
from polhode.support.on_device import on_host

if TYPE_CHECKING:
    from polhode.engine.program import Program
    from polhode.engine.schedule import Segment
    from polhode.methods._method import Method

# of a call; Ctrl-C is handled between calls
FIRST_STEPS, SECONDS = 8, 0.25


class Backend(Protocol):
    """Integrates bodies of one kind, on a processor or a GPU.  A body that fails does not affect the
    others.

    A class of backends is called as Backend(program, n, moments, parameters, dtype, threads), with
    principal moments (3, n) and the parameters of the torque's kernel (m, n), or (3, 1) and (m, 1) if
    all bodies have the same.
    """

    program: Program
    device: str
    threads: int | None
    first_body_steps: int  # in the first call, if the torque is compiled

    @property
    def vectorised(self) -> bool:
        """Whether the inner loop consists of SIMD instructions."""
        ...

    def begin(self, h: float, t: float, motions: Any) -> None:
        """Let the method start from motions (n, width)."""

    def prepare(self, segment: Segment) -> None:
        """Compile, or load, the loops for a segment."""

    def advance(self, segment: Segment, k: int, count: int) -> None:
        """Take `count` steps of a segment from its step k with all bodies that have not failed."""

    def motions(self) -> Any:
        """The motions (n, width), as an array of the device."""

    def field(self, rows: slice) -> np.ndarray:
        """Components (size, n) of the method's state."""
        ...

    def failures(self) -> dict[int, tuple[int, str]]:
        """{body: (step of the segment, reason)}; the body keeps its motion before that step."""
        ...


class Many:
    """Carries many bodies; `members` are pairs (numbers of some bodies, their backend)."""

    def __init__(
        self,
        members: Sequence[tuple[Any, Backend]],
        motions: Any,
        lost: Collection[int] = (),
    ) -> None:
        self.members, self.lost = members, lost  # bodies whose initial motion is not finite
        self.n = sum(len(bodies) for bodies, _ in members)
        first = members[0][1]
        self.program, self.device, self.threads = first.program, first.device, first.threads
        self.steps, self.elapsed = 0, 0.0
        self.failures: dict[int, Failure] = {}
        self.together = False  # whether all bodies are at the same step
        many = first.first_body_steps // self.n if first.program.mode == "compiled" else 0
        self.pace = Pace(max(FIRST_STEPS, many), seconds=SECONDS, least=FIRST_STEPS)
        self._motions = motions  # None when the backends have them

    @property
    def method(self) -> Method:
        """The method, adapted to torque and body."""
        return self.program.method

    @property
    def motions(self) -> Any:
        """The motions (n, width) in principal axes; an array of the device if there is one
        backend."""
        if self._motions is not None:
            return self._motions
        if len(self.members) == 1:
            return self.members[0][1].motions()
        out = np.empty((self.n, self.program.width))
        for bodies, backend in self.members:
            out[bodies] = on_host(backend.motions())
        return out

    @property
    def motion(self) -> np.ndarray:
        """The same as an array of the host."""
        return on_host(self.motions)

    @property
    def vectorised(self) -> bool:
        """Whether the inner loops consist of SIMD instructions."""
        return all(backend.vectorised for _, backend in self.members)

    def begin(self, segment: Segment) -> None:
        """Let the method start from the present motions."""
        for bodies, backend in self.members:
            if self._motions is None:
                motions = backend.motions()
            else:
                motions = self._motions if len(self.members) == 1 else self._motions[bodies]
            backend.begin(segment.h, segment.start, motions)
            backend.prepare(segment)  # not part of the time that steps take
        self._motions = None

    def advance(self, segment: Segment, k: int, recorder: Any, most: int) -> Chunk:
        """Some steps of a segment from its step k."""
        count = min(recorder.next(), segment.count - k, most)
        started = time.perf_counter()
        self.together = False
        for _, backend in self.members:
            backend.advance(segment, k, count)
        taken = time.perf_counter() - started
        self.elapsed += taken
        self._note_failures(segment, self.steps - k)
        self.steps += count
        self.together = True
        return Chunk(
            steps=count,
            reached=segment.time(k + count),
            through=k + count == segment.count,
            taken=taken,
        )

    def _note_failures(self, segment: Segment, before: int) -> None:
        """Note the bodies that have failed in this segment, with step, time and reason."""
        for bodies, backend in self.members:
            for i, (k, reason) in backend.failures().items():
                body = int(bodies[i])
                if body not in self.failures:
                    reason = "its initial motion is not finite" if body in self.lost else reason
                    self.failures[body] = Failure(body, before + k, segment.time(k), reason)

    def total(self, name: str) -> float:
        """The sum of a field of the method's state over all bodies; 0 if there is no such field."""
        rows = self.program.kept(("rows", name), lambda: self.program.rows(name))
        if rows.start == rows.stop:
            return 0.0
        return float(sum(backend.field(rows).sum() for _, backend in self.members))
