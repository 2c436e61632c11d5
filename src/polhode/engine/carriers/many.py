"""Many bodies: backends side by side, one for each kind of body, behind the face of one carrier.

A method may have a step of its own for symmetric bodies (EXACT and what is made of it).  Each body
is to move as it does alone, to the last bit, so that the kinds go separately.  A backend is a class

    Backend(program, n, moments, parameters, dtype="float64", threads=None)

        program     of `polhode.engine.program.build`: the method's and torque's functions in `names`, the state's class in
                    `kind`, the shape of the parameters in `shape`, numbers of a state in `size` and
                    of a motion in `width`
        n           how many bodies
        moments     (3, n) principal moments of inertia, or (3, 1) when all bodies have the same
        parameters  (m, n) what the torque's kernel gets, in the order of its layout, or (m, 1)

with the methods

    begin(h, t, motions)            let the method start (anew) from motions (n, width)
    prepare(segment)                compile, or load, what the steps of a segment take
    advance(segment, k, count)      `count` steps of a segment from its step k, for every body that is well
    motions()                       (n, width) where the bodies are now, as `begin` takes them; an array of the device
    field(rows)                     (size, n) components of the method's state
    failures()                      {body: (k, reason)}: the number of the step that failed, and "diverged" or "unsolved" or a
                                    sentence; the body's motion stays the one before that step

and the attributes `device`, `threads`, `vectorised` (whether the inner loop is made of packed
instructions) and `first_body_steps` (in the first call, for a torque that is compiled).  A body that
fails leaves all others alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.engine.carriers.chunk import Chunk, Pace
from polhode.results._ensemble import Failure
from polhode.support.on_device import on_host

if TYPE_CHECKING:
    from polhode.engine.schedule import Segment
    from polhode.methods._method import Method

# of a call: between two of them all states go through the memory once, and Ctrl-C is heard
FIRST_STEPS, SECONDS = 8, 0.25


class Many:
    """Carries many bodies; `members` are pairs of the numbers of some bodies and the backend that
    moves them."""

    def __init__(
        self,
        members: Sequence[tuple[np.ndarray, Any]],
        motions: np.ndarray,
        lost: Iterable[int] = (),
    ) -> None:
        self.members, self.lost = members, lost  # bodies whose initial motion is not finite
        self.n = sum(len(bodies) for bodies, _ in members)
        first = members[0][1]
        self.program, self.device, self.threads, self.width = (
            first.program,
            first.device,
            first.threads,
            first.program.width,
        )
        self.steps, self.elapsed, self.failures = 0, 0.0, {}
        self.together = False  # whether all bodies are at the same step
        many = first.first_body_steps // self.n if first.program.mode == "compiled" else 0
        self.pace = Pace(max(FIRST_STEPS, many), seconds=SECONDS, least=FIRST_STEPS)
        self._motions = motions

    @property
    def method(self) -> Method:
        """The method as it is run."""
        return self.program.method

    @property
    def motions(self) -> Any:
        """The motions (n, width) where the bodies are, principal axes; an array of the device where
        one backend has them all."""
        if self._motions is not None:
            return self._motions
        if len(self.members) == 1:
            return self.members[0][1].motions()
        out = np.empty((self.n, self.width))
        for bodies, backend in self.members:
            out[bodies] = on_host(backend.motions())
        return out

    @property
    def motion(self) -> np.ndarray:
        """The same as an array of floats."""
        return on_host(self.motions)

    @property
    def vectorised(self) -> bool:
        """Whether the inner loops are made of packed instructions."""
        return all(backend.vectorised for _, backend in self.members)

    def begin(self, segment: Segment) -> None:
        """Let the method start (anew) where the bodies are."""
        for bodies, backend in self.members:
            if self._motions is None:
                motions = backend.motions()
            else:
                motions = self._motions if len(self.members) == 1 else self._motions[bodies]
            backend.begin(segment.h, segment.start, motions)
            backend.prepare(segment)  # before anyone looks at a clock
        self._motions = None  # the backends have them

    def advance(self, segment: Segment, k: int, recorder: Any, most: int) -> Chunk:
        """Some steps of a segment from its step k, for every body that is well."""
        count = min(recorder.next(), segment.count - k, self.pace.steps, most)
        started = time.perf_counter()
        self.together = False
        for _, backend in self.members:
            backend.advance(segment, k, count)
        taken = time.perf_counter() - started
        self.elapsed += taken
        self._note_failures(segment, self.steps - k)
        self.steps += count
        self.together = True
        self.pace.note(taken)
        return Chunk(
            steps=count, reached=segment.time(k + count), through=k + count == segment.count
        )

    def _note_failures(self, segment, before):
        """Keep number, step, time and reason of the bodies that have failed in this segment."""
        for bodies, backend in self.members:
            for i, (k, reason) in backend.failures().items():
                body = int(bodies[i])
                if body not in self.failures:
                    reason = "its initial motion is not finite" if body in self.lost else reason
                    self.failures[body] = Failure(body, before + k, segment.time(k), reason)

    def total(self, name: str) -> float:
        """The sum of a field of the method's state over all bodies; 0 where it has no such field."""
        rows = self.program.kept(("rows", name), lambda: self.program.rows(name))
        if rows.start == rows.stop:
            return 0.0
        return float(sum(backend.field(rows).sum() for _, backend in self.members))
