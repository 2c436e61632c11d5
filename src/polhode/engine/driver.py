"""The driver: takes a carrier through the segments of a run, chunk by chunk, and ends it well
whatever happens.

It alone knows of recording, events, guards, checkpoints, progress and interrupts.  A carrier takes
the steps, a recorder stores what is wanted of them, a guard says when a motion has left all bounds,
a checkpoint keeps what is needed to go on.
"""

from __future__ import annotations

import threading
from _signal import SIGINT, signal  # without the enums of `signal`, which take six microseconds
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from polhode.engine.diagnosis import RUNAWAY, Place, Runaway, blow_up
from polhode.results._run import EVENT, FINISHED, INTERRUPTED
from polhode.results.motion import described, in_user_axes

if TYPE_CHECKING:
    from polhode.engine.carriers.chunk import Chunk
    from polhode.engine.checkpoint import Checkpoint
    from polhode.engine.program import Program
    from polhode.engine.schedule import Segment, Stretch
    from polhode.methods._method import Method


SECONDS = 0.05  # a chunk takes about so long: then comes progress, and Ctrl-C is heard
MOST = 1_000_000  # steps in a chunk
LARGEST_GROWTH = 8  # of the number of steps from one chunk to the next


@dataclass
class Pace:
    """How many steps a chunk takes: as many as fill `seconds`."""

    steps: int
    most: int = MOST
    seconds: float = SECONDS
    least: int = 1

    def note(self, taken: float) -> None:
        """Adapt to what a chunk has taken, in seconds."""
        if taken < self.seconds / 2:
            growth = (
                LARGEST_GROWTH if LARGEST_GROWTH * taken < self.seconds else self.seconds / taken
            )
            self.steps = min(int(self.steps * growth), self.most)
        elif taken > 2 * self.seconds:
            self.steps = max(self.steps // 2, self.least)

    def one_by_one(self) -> None:
        """Single steps, to find the one that fails."""
        self.steps = 1


class Carrier(Protocol):
    """What a carrier has, see `polhode.engine.carriers`; what comes after `advance` only one of a
    single body."""

    program: Program
    pace: Pace
    elapsed: float

    @property
    def method(self) -> Method: ...

    @property
    def motion(self) -> np.ndarray: ...

    def begin(self, segment: Any) -> None: ...

    def advance(self, segment: Any, k: int, recorder: Any, most: int) -> Chunk: ...

    rejected: int
    state: dict[str, Any]

    @property
    def evaluations(self) -> int: ...

    @property
    def remarks(self) -> str: ...

    def diagnose(self, chunk: Chunk, place: Place) -> tuple[str, str]: ...

    def take_back(self, surplus: int) -> None: ...


class Interrupts:
    """Inside, Ctrl-C sets a flag instead of raising: a run ends between two chunks, with everything
    in place.

    A second one raises, as it does elsewhere: a torque in Python may never come to an end.
    """

    pressed = False
    _previous: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():  # the only one that may
            self._previous = signal(SIGINT, self._press)
        return self

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def __exit__(self, *error: Any) -> None:
        if self._previous is not None:
            signal(SIGINT, self._previous)


class Driver:
    """One run on its way."""

    def __init__(
        self,
        carrier: Carrier,
        segments: Sequence[Any],
        recorder: Any,
        *,
        guard: Runaway | None = None,
        checkpoint: Checkpoint | None = None,
        progress: Callable[[int, int], Any] | None = None,
    ) -> None:
        self.carrier, self.segments, self.recorder = carrier, segments, recorder
        self.guard, self.checkpoint, self.progress = guard, checkpoint, progress
        self.index = self.k = self.done = 0  # the segment, the steps done in it, and in all
        self.through = False  # whether the segment is at its end
        self.t = segments[0].start
        self._end: np.ndarray | None = None  # the motion where an event or a guard ended the run

    @property
    def motion(self) -> np.ndarray:
        """Where the run is, in principal axes."""
        return self.carrier.motion if self._end is None else self._end

    @property
    def total(self) -> int:
        """Steps in all; as far as one can tell, where the method chooses them."""
        if hasattr(self.segments[0], "count"):
            return sum(segment.count for segment in self.segments)
        first, last = self.segments[0].start, self.segments[-1].end
        covered = abs(self.t - first) / abs(last - first)
        return max(self.done, round(self.done / covered)) if covered else 0

    def run(self) -> tuple[str, str]:
        """Go to the end: (status, message)."""
        with Interrupts() as interrupts:
            while not (self.through and self.index + 1 == len(self.segments)):
                if self.through:
                    self.index, self.k, self.through = self.index + 1, 0, False
                segment = self.segments[self.index]
                if self.k == 0 and (self.index == 0 or segment.fresh):
                    self.carrier.begin(segment)
                end = self._advance(segment) or self._between_chunks(interrupts)
                if end:
                    return end
        return FINISHED, "the run reached its end"

    def _advance(self, segment: Segment | Stretch) -> tuple[str, str] | None:
        """One chunk; (status, message) if the run ends with it."""
        pace = self.carrier.pace
        most = min(pace.steps, self.checkpoint.room(self.done)) if self.checkpoint else pace.steps
        chunk = self.carrier.advance(segment, self.k, self.recorder, most)
        if chunk.steps:
            pace.note(chunk.taken)
        self.done += chunk.steps
        self.k += chunk.steps
        self.through = chunk.through
        if chunk.steps:
            self.t = segment.end if chunk.through else chunk.reached
        self.recorder.add(chunk)
        return (
            self.carrier.diagnose(chunk, self.place)
            if chunk.failure is not None and not self.recorder.over
            else None
        )

    def _between_chunks(self, interrupts: Interrupts) -> tuple[str, str] | None:
        """(status, message) if the run ends here."""
        if self.recorder.watch is not None and self.recorder.over:
            surplus, self.t, self._end = self.recorder.watch.end
            self._take_back(surplus)
            if self.recorder.failed:
                raise self.recorder.failed
            return EVENT, self.recorder.ended
        if self.guard is not None and self.guard.escaped(self.t, self.carrier.motion):
            return self._cut(self.guard)
        if self.progress is not None:
            self.progress(self.done, self.total)
        if self.checkpoint is not None:
            self.save(interrupts.pressed)
        if interrupts.pressed:
            return INTERRUPTED, self.so_far()
        return None

    def so_far(self) -> str:
        """How far an interrupted run has come, in words."""
        return f"interrupted after {self.done} of {self.total} steps, at t = {self.t:.15g}"

    def _cut(self, guard: Runaway) -> tuple[str, str]:
        """Drop the points where the motion has left all bounds."""
        self.t, self._end, done = self.recorder.cut(guard.excess)
        steps = [segment.steps_until(self.t) for segment in self.segments]
        if done is None and None not in steps:
            done = sum(steps)
        self._take_back(0 if done is None else self.done - done)
        return blow_up(
            self.carrier.method,
            self.place,
            f"its kinetic energy is more than {RUNAWAY:g} times what the potential can give",
        )

    def _take_back(self, surplus: int) -> None:
        """Do not count the last steps, which were taken for nothing: how many they were is a matter
        of speed."""
        self.done -= surplus
        self.carrier.take_back(surplus)

    @property
    def place(self) -> Place:
        """Where the run is, for messages."""
        program = self.carrier.program
        motion = in_user_axes(program.body, self.motion, program.motion_kind)
        next_step = self.segments[self.index].step_at(self.k)
        return Place(self.t, self.done, described(motion, program.motion_kind), next_step)

    # --- checkpoints ------------------------------------------------------------------------------

    def save(self, now: bool = True) -> None:
        """Make a checkpoint, now or when it is time; a segment in which no step was taken has not
        begun."""
        if self.checkpoint and self.k and (now or self.checkpoint.due(self.done)):
            self.checkpoint.save(
                {
                    "index": self.index,
                    "k": self.k,
                    "through": self.through,
                    "done": self.done,
                    "of": self.total,
                    "t": self.t,
                    "carrier": self.carrier.state,
                    "recorder": self.recorder.state,
                    "watch": self.recorder.watch and self.recorder.watch.state,
                    "torque_digest": self.carrier.program.digests()["torque_source"],
                }
            )

    def restore(self, saved: dict[str, Any]) -> None:
        """Be where a checkpoint was made."""
        self.index, self.k, self.through, self.done, self.t = (
            saved[key] for key in ("index", "k", "through", "done", "t")
        )
        self.carrier.state, self.recorder.state = saved["carrier"], saved["recorder"]
        if self.recorder.watch:
            self.recorder.watch.state = saved["watch"]
