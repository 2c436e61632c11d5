"""One body at steps of given size."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.loops import fixed as loops
from polhode.engine.carriers.chunk import FIRST, Chunk
from polhode.engine.diagnosis import (
    Place,
    blow_up,
    check_callbacks,
    check_torque,
    start_error,
    step_error,
)
from polhode.engine.driver import Pace
from polhode.results.motion import parts

if TYPE_CHECKING:
    from polhode.engine.program import Program
    from polhode.engine.recorder import Recorder
    from polhode.engine.schedule import Segment

MANY_TURNS = 100.0  # radians per step: an equation unsolved there is a symptom


class FixedSteps:
    """Carries one body at steps of given size, and keeps the time and the torque evaluations that
    took."""

    rejected = 0  # steps of given size are never refused

    def __init__(self, program: Program, motion: np.ndarray) -> None:
        self.program = program
        self.motion = motion  # where the body is, in principal axes
        # the method's own state in column 0; column 1 takes a failed one
        self.z: Any = None
        self.starts = self.steps = 0
        self.counted = self.elapsed = 0.0
        self.pace = Pace(FIRST[program.mode])

    method = property(lambda self: self.program.method)

    def begin(self, segment: Segment) -> None:
        """Let the method start (anew) from attitude and velocity."""
        program, t = self.program, segment.start
        try:
            self.z = program.begin(segment.h, t, self.motion)
        except Exception as cause:
            error = start_error(program, t, self.motion, cause)
            if error is None:
                raise
            raise error from cause
        if program.mode != "compiled":
            check_callbacks(program, f"at t = {t!r}")
        self.starts += 1

    def advance(self, segment: Segment, k: int, recorder: Recorder, most: int) -> Chunk:
        """Some steps of a segment from its step k."""
        groups, every = recorder.next(segment.count - k, most)
        return self.take(segment, k, groups, every)

    def take(self, segment: Segment, k: int, groups: int, every: int) -> Chunk:
        """`groups` times `every` steps of a segment from its step k."""
        y, residuals = np.empty((groups, self.program.width)), np.empty(groups)
        loop = self.program.march(segment.listed is not None)
        started = time.perf_counter()
        why, reached, counted = self.march(loop, groups, every, k, segment.grid, y, residuals)
        if isinstance(why, Exception) and groups * every > 1:
            self.pace.one_by_one()  # until it is raised again
            return Chunk()
        taken = time.perf_counter() - started
        self.elapsed += taken
        self.counted += counted
        self.steps += reached - k
        done, through = (reached - k) // every, reached == segment.count
        return Chunk(
            segment.times(k, done, every),
            y[:done],
            residuals[:done],
            reached - k,
            every,
            segment.end if through else segment.time(reached),
            through,
            failure=None if why == loops.DONE else why,
            taken=taken,
        )

    def march(
        self,
        loop: Callable[..., Any],
        groups: int,
        every: int,
        k: int,
        grid: np.ndarray,
        y: np.ndarray,
        residuals: np.ndarray,
    ) -> tuple[Any, int, float]:
        """What the loop gives, and in place of the reason what the torque raised in machine code.
        The state is then the one before all of these steps, as it is after Ctrl-C."""
        program, before = self.program, self.z.copy()
        try:
            why, reached, counted = loop(
                groups, every, k, grid, self.z, program.moments, program.parameters, y, residuals
            )
        except BaseException as error:
            self.z[:] = before
            self.motion = program.motion(self.z)  # the loop may have written over it
            if not isinstance(error, Exception):
                raise
            return error, k, 0.0
        self.motion = y[-1] if why == loops.DONE else program.motion(self.z)
        return why, reached, counted

    def diagnose(self, chunk: Chunk, place: Place) -> tuple[str, str]:
        """A step failed: raise for a torque or an unsolved equation; a blow-up is a way to end."""
        program, h = self.program, place.next_step
        check_torque(program, chunk.failure, place)
        omega = parts(self.motion, program.motion_kind).omega
        running_away = abs(h) * np.abs(omega).sum(axis=-1).max() > MANY_TURNS
        is_unsolved = chunk.failure == loops.UNSOLVED and not running_away
        error = step_error(program, self.z, place.t, h, place.step, is_unsolved)
        if error is not None:
            raise error
        return blow_up(
            program.method,
            place,
            f"the body turned more than {loops.LARGEST_ANGLE:g} rad in a step, or the state is not finite",
        )

    def take_back(self, surplus: int) -> None:
        """Do not count the last steps."""
        torques = self.program.method.torques
        self.steps -= surplus
        if torques is not None:
            self.program.calls = [
                calls and calls - surplus * torques for calls in self.program.calls
            ]

    @property
    def state(self) -> dict[str, Any]:
        """Everything needed to go on, as plain data."""
        return {
            "z": self.z.tolist(),
            "starts": self.starts,
            "steps": self.steps,
            "counted": self.counted,
            "elapsed": self.elapsed,
            "calls": self.program.calls,
        }

    @state.setter
    def state(self, saved: dict[str, Any]) -> None:
        self.z, self.program.calls = np.array(saved["z"]), saved["calls"]
        self.motion = self.program.motion(self.z)
        self.starts, self.steps, self.counted, self.elapsed = (
            saved[key] for key in ("starts", "steps", "counted", "elapsed")
        )

    @property
    def memory(self) -> np.ndarray:
        """The method's own state."""
        return self.z[self.program.at].copy()

    def resume(self, memory: np.ndarray) -> None:
        """Go on from the method's own state."""
        self.z[self.program.at] = memory
        self.motion = self.program.motion(self.z)

    @property
    def evaluations(self) -> int:
        """Torque evaluations so far: counted where the torque is Python, else from what method and
        state say."""
        if self.program.pythons[0] is not None:
            return self.program.pythons[0].calls
        first = self.starts * self.program.start_calls
        torques = self.program.method.torques
        return first + (int(self.counted) if torques is None else self.steps * torques)

    @property
    def remarks(self) -> str:
        """What the method as it was run has to say of the steps so far."""
        method = self.program.method
        if self.z is None or not (method.remark or method.counted):
            return ""
        return self.program.remarks(self.z)
