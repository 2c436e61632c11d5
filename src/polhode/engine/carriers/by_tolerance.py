"""One body by tolerance: the method chooses its steps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple, Never

import numpy as np

from polhode.core.loops import tolerance as loops
from polhode.core.motions import Kind
from polhode.engine.carriers.chunk import FIRST, Chunk
from polhode.engine.diagnosis import Place, check_torque
from polhode.engine.driver import Pace
from polhode.errors import IntegrationError
from polhode.results.motion import parts

if TYPE_CHECKING:
    from polhode.engine.program import Program
    from polhode.engine.recorder import Recorder
    from polhode.engine.schedule import Stretch

MOST = 16384  # steps in a call
FEW = 128  # in the first


class Tolerance(NamedTuple):
    """What each step may add to the error: rtol (relative) and atol."""

    rtol: float
    atol: float


class Extensions:
    """The motion inside steps, by the method's continuous extension.

    y + s (F0 + (1 - s) (F1 + s (F2 + ...))), or with s for 1 - s too where the terms are `powers`; quaternions at unit length.
    """

    def __init__(
        self,
        t0: float,
        y0: np.ndarray,
        t: np.ndarray,
        y: np.ndarray,
        terms: np.ndarray,
        powers: Any,
        kind: Kind,
    ) -> None:
        self.t, self.y, self.ends = (
            np.concatenate([[t0], t[:-1]]),
            np.concatenate([[y0], y[:-1]]),
            t,
        )
        self.terms, self.powers, self.kind = terms, powers, kind

    def __call__(self, j: Any, when: Any) -> np.ndarray:
        """The motion inside step j at time `when`; both may be arrays."""
        s = np.asarray((when - self.t[j]) / (self.ends[j] - self.t[j]))[..., None]
        rest, terms, total = s if self.powers else 1.0 - s, self.terms[j], 0.0
        for i in reversed(range(terms.shape[-2])):
            total = (s if i % 2 == 0 else rest) * (terms[..., i, :] + total)
        y = self.y[j] + total
        q = parts(y, self.kind).attitude
        q /= np.linalg.norm(q, axis=-1, keepdims=True)
        return y


class ByTolerance:
    """Carries one body by steps that the loop chooses, and keeps the time and the torque
    evaluations that took."""

    def __init__(
        self, program: Program, tolerance: Tolerance, longest: float, motion: np.ndarray
    ) -> None:
        self.program, self.tolerance, self.longest = program, tolerance, longest
        self.steps = self.rejected = self.counted = 0
        self.elapsed = 0.0
        self.pace = Pace(FEW if program.mode == "compiled" else FIRST["python"], MOST)
        self.control, self.loop = program.controlled(tolerance.rtol)
        self.memory = np.array(self.control.blank())
        width = program.width
        self._place = slice(loops.MOTION_AT, loops.MOTION_AT + width)
        self._slope = slice(self._place.stop, self._place.stop + width)
        self.memory[self._place] = motion

    @property
    def motion(self) -> np.ndarray:
        """Where the body is, in principal axes."""
        return self.memory[self._place].copy()

    method = property(lambda self: self.program.method)

    def begin(self, segment: Stretch) -> None:
        """Start (anew) where the motion is; the largest velocity so far is remembered."""
        loops.restart(self.memory, segment.start)

    def advance(self, segment: Stretch, k: int, recorder: Recorder, most: int) -> Chunk:
        """Some steps on the way to the end of a stretch."""
        return self.take(
            segment,
            recorder.watch is not None,
            recorder.wanted[recorder.n :],
            most,
        )

    def take(self, stretch: Stretch, always: bool, wanted: np.ndarray, most: int) -> Chunk:
        """At most so many steps; extensions for all of them, or for those that pass a wanted
        time."""
        t0, y0, before = float(self.memory[loops.TIME]), self.motion, self.memory.copy()
        width = self.program.width
        clock, points = np.empty(most), np.empty((most, width))
        pieces = np.empty((most if always or len(wanted) else 0, self.control.terms, width))
        if len(wanted):
            wanted = (np.minimum if stretch.stop > t0 else np.maximum)(wanted, stretch.stop)
        started = time.perf_counter()
        try:
            why, done, rejected, counted = self.loop(
                stretch.stop,
                *self.tolerance,
                self.longest,
                most,
                always,
                wanted,
                self.memory,
                self.program.moments,
                self.program.parameters,
                clock,
                points,
                pieces,
            )
        except (
            Exception
        ) as error:  # raised inside a compiled torque: go on step by step until it is raised again
            self.memory[:] = before
            if most == 1:
                return Chunk(failure=error)
            self.pace.one_by_one()
            self.pace.most = 1
            return Chunk()
        taken = time.perf_counter() - started
        self.elapsed += taken
        self.steps += done
        self.rejected += rejected
        self.counted += counted
        t, y = clock[:done], points[:done]
        if why == loops.DONE:
            t[-1] = stretch.end
        inside = (
            Extensions(t0, y0, t, y, pieces[:done], self.control.powers, self.program.motion_kind)
            if len(pieces) and done
            else None
        )
        return Chunk(
            t,
            y,
            np.zeros(done),
            done,
            1,
            float(self.memory[loops.TIME]),
            why == loops.DONE,
            inside,
            None if why in (loops.DONE, loops.FULL) else why,
            taken,
        )

    def diagnose(self, chunk: Chunk, place: Place) -> Never:
        """No step is small enough: the torque's fault, or the motion's."""
        check_torque(self.program, chunk.failure, place)
        acting = self.program.motion_kind.acting
        h, slope = self.memory[loops.STEP], self.memory[self._slope]
        trouble = self.program.trouble_at(place.t + h, self.motion + h * slope)
        if abs(h) <= loops.LEAST * abs(place.t):
            why = f"a step of {abs(h):.2g} is smaller than the rounding of such times; count time from the start of the run, or"
        else:
            why = f"even a step of {abs(h):.2g} misses rtol = {self.tolerance.rtol:g};"
        raise trouble or IntegrationError(
            f"{self.program.method.name} cannot continue at {place}: {why} the {acting} jumps there (name the time in breaks) "
            "or the motion has no end"
        )

    def take_back(self, surplus: int) -> None:
        """Do not count the last steps; torque evaluations are counted as they were made."""
        self.steps -= surplus

    @property
    def state(self) -> dict[str, Any]:
        """Everything needed to go on, as plain data."""
        return {
            "memory": self.memory.tolist(),
            "steps": self.steps,
            "rejected": self.rejected,
            "counted": self.counted,
            "elapsed": self.elapsed,
            "calls": self.program.calls,
        }

    @state.setter
    def state(self, saved: dict[str, Any]) -> None:
        self.memory[:], self.program.calls = saved["memory"], saved["calls"]
        self.steps, self.rejected = saved["steps"], saved["rejected"]
        self.counted, self.elapsed = saved["counted"], saved["elapsed"]

    @property
    def evaluations(self) -> int:
        """Torque evaluations so far: counted by the torque where it is Python, else by the loop."""
        python = self.program.pythons[0]
        return self.counted if python is None else python.calls

    remarks = ""  # there is no method's own state that could say anything
