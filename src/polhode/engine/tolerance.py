"""Runs by tolerance: the method chooses its steps.  What `integrate(..., rtol=...)` does in place of steps of given size."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polhode.core.loops import tolerance as adaptive
from polhode.core.jit import direct
from polhode.errors import InputError, IntegrationError, TorqueError, number
from polhode.engine.grid import stretches
from polhode.support.limits import check_step
from polhode.engine.march import CHUNK_SECONDS, torque_trouble
from polhode.methods import everything
from polhode.engine.run import Run

SMALLEST_RTOL = 1e-14     # steps cannot be better than their round-off
LARGEST_RTOL = 0.1
CHUNKS = {"compiled": 128, "callback": 1, "python": 1}, 16384   # steps in the first call of the loop, and at most


class Tolerance(NamedTuple):
    """What each step may add to the error: rtol (relative) and atol."""

    rtol: float
    atol: float


def check(method, step, rtol, atol, max_step):
    """(tolerance, largest step) of a run by tolerance, as far as they make sense together."""
    if step is not None:
        raise InputError("give step, for steps of given size, or rtol, to have them chosen; not both")
    if method.control is None:
        able = ", ".join([*(one.name for one in everything() if one.control), "taylor"])
        raise InputError(f"{method.name} takes steps of given size; give step instead of rtol, or a method that chooses its "
                         f"steps: {able}")
    longest = np.inf if max_step is None else check_step(number("max_step", max_step, positive=True), "max_step")
    return tolerance(rtol, atol), longest


def tolerance(rtol, atol):
    """The tolerance, checked."""
    if rtol is None:
        raise InputError("atol and max_step go with rtol, which is missing; give rtol too, or step for steps of given size")
    rtol, atol = number("rtol", rtol), number("atol", 0.0 if atol is None else atol)
    if not SMALLEST_RTOL <= rtol <= LARGEST_RTOL:
        raise InputError(f"rtol must lie between {SMALLEST_RTOL:g}, where round-off begins, and {LARGEST_RTOL:g}, got "
                         f"{rtol!r}; take 1e-9")
    if atol < 0.0:
        raise InputError(f"atol must not be negative, got {atol!r}; give 0 or more")
    return Tolerance(rtol, atol)


@dataclass
class Chunk:
    """What a call of the loop gave: times and motions of the steps it took, what came before, and why it ended."""

    t: np.ndarray
    y: np.ndarray
    starts: tuple         # time and motion at the beginning of each step
    terms: np.ndarray     # of the continuous extensions
    powers: bool          # these are powers of s, not nested in s and 1 - s
    why: int

    def inside(self, j, when):
        """The motion inside step j at time `when`; both may be arrays."""
        t, y = self.starts
        s = np.asarray((when - t[j]) / (self.t[j] - t[j]))[..., None]
        return extended(y[j], self.terms[j], s, s if self.powers else 1.0 - s)


def extended(y, terms, s, rest):
    """y + s (F0 + (1 - s) (F1 + s (F2 + ...))), or with s for `rest` = 1 - s too; the quaternion at unit length."""
    total = 0.0
    for i in reversed(range(terms.shape[-2])):
        total = (s if i % 2 == 0 else rest) * (terms[..., i, :] + total)
    y = y + total
    return np.concatenate([y[..., :4] / np.linalg.norm(y[..., :4], axis=-1, keepdims=True), y[..., 4:]], axis=-1)


class Controlled:
    """Takes chunks of steps that the loop chooses, and keeps the time and the torque evaluations they took."""

    z = None   # there is no method's own state: the motion is all

    def __init__(self, program, tolerance, longest):
        self.program, self.tolerance, self.longest = program, tolerance, longest
        self.steps = self.rejected = self.counted = 0
        self.elapsed = 0.0
        self.chunk, self.most = CHUNKS[0][program.mode], CHUNKS[1]
        self.control = program.method.control.suited(program, tolerance.rtol)
        self.memory = np.array(self.control.blank())
        self.loop = program.bound(self.control.loop, **self.control.names)
        if program.mode != "python":   # before anyone looks at a clock
            none, memory = np.zeros((1, 7)), self.memory.copy()
            memory[1] = 1.0
            self.loop = direct(self.loop, 0.0, *tolerance, longest, False, none[0, :0], memory, program.moments,
                               program.parameters, none[0, :0], none, np.zeros((0, 1, 7)))

    def _call(self, stop, always, wanted, memory, clock, points, pieces):
        return self.loop(stop, *self.tolerance, self.longest, always, wanted, memory, self.program.moments,
                         self.program.parameters, clock, points, pieces)

    def begin(self, t, y):
        """Start (anew) from a motion; the largest velocity so far is remembered."""
        self.memory[0], self.memory[1], self.memory[3], self.memory[4:11] = t, 0.0, 0.0, y

    @property
    def t(self):
        """Where it is."""
        return float(self.memory[0])

    @property
    def y(self):
        """The motion there."""
        return self.memory[4:11].copy()

    @property
    def state(self):
        """Everything needed to go on, as plain data."""
        return {"memory": self.memory.tolist(), "steps": self.steps, "rejected": self.rejected, "counted": self.counted,
                "elapsed": self.elapsed, "calls": self.program.calls}

    @state.setter
    def state(self, saved):
        self.memory[:], self.program.calls = saved["memory"], saved["calls"]
        self.steps, self.rejected = saved["steps"], saved["rejected"]
        self.counted, self.elapsed = saved["counted"], saved["elapsed"]

    def take(self, stretch, always, wanted, most):
        """At most so many steps on the way to the end of a stretch; extensions for all of them, or for those that pass a wanted
        time."""
        t0, y0, before, count = self.t, self.y, self.memory.copy(), min(self.chunk, most)
        clip = np.minimum if stretch.stop > t0 else np.maximum
        clock, points = np.empty(count), np.empty((count, 7))
        pieces = np.empty((count if always or len(wanted) else 0, self.control.terms, 7))
        wanted = clip(wanted, stretch.stop)
        started = time.perf_counter()
        try:
            why, done, rejected, counted = self._call(stretch.stop, always, wanted, self.memory, clock, points, pieces)
        except Exception as error:   # raised inside a compiled torque: go on step by step until it is raised again
            self.memory[:] = before
            if count == 1:
                raise TorqueError(f"the torque raised {type(error).__name__} in the step from t = {t0!r}: {error}; correct it, "
                                  "or end the run before") from error
            self.chunk = self.most = 1
            return Chunk(clock[:0], points[:0], (clock[:0], points[:0]), pieces[:0], self.control.powers, adaptive.FULL)
        self._account(time.perf_counter() - started, done, rejected, counted)
        t, y = clock[:done], points[:done]
        starts = np.concatenate([[t0], t[:-1]]), np.concatenate([[y0], y[:-1]])
        if why == adaptive.DONE:
            t[-1] = stretch.end
        return Chunk(t, y, starts, pieces[:done], self.control.powers, why)

    def take_back(self, surplus):
        """Steps of its own choosing are counted as they were taken."""
        self.steps -= surplus

    def _account(self, seconds, done, rejected, counted):
        self.elapsed += seconds
        self.steps += done
        self.rejected += rejected
        self.counted += counted
        if seconds < CHUNK_SECONDS / 2:
            self.chunk = min(2 * self.chunk, self.most)
        elif seconds > 2 * CHUNK_SECONDS:
            self.chunk = max(self.chunk // 2, 1)

    @property
    def evaluations(self):
        """Torque evaluations so far: counted by the torque where it is Python, else by the loop."""
        python = self.program.pythons[0]
        return self.counted if python is None else python.calls


class ToleranceRun(Run):
    """One call of `integrate` with a tolerance."""

    total = 0   # steps in all: nobody knows

    def will_hold(self, t_span, step, rtol, atol, max_step, breaks):
        """The steps are to be chosen."""
        self.tolerance, self.longest = check(self.method, step, rtol, atol, max_step)
        if t_span is None:
            raise InputError("t_span is missing; give (t0, t1)")
        self.segments, self.breaks = stretches(t_span, breaks), breaks
        self.t = self.segments[0].start
        latest = max(abs(self.t), abs(self.segments[-1].end))
        if not self.longest > adaptive.LEAST * latest:
            raise InputError(f"max_step = {self.longest!r} is lost in the rounding of times as large as {latest!r}; take a "
                             "larger one, or count time from the start of the run")

    def will_fly(self, force, position0, velocity0):
        """Translation goes with steps of given size."""
        raise InputError("a run by rtol follows the rotation alone; give step=... to let the body fly")

    def will_store(self, t_eval, every, events):
        """What is to be stored; how many steps there will be is not known, but they are at most `longest`."""
        super().will_store(t_eval, every, events)
        if t_eval is None:
            steps = abs(self.segments[-1].end - self.t) / self.longest
            self.record.fewest = max(self.record.capacity, int(steps // self.record.every))

    def _marcher(self):
        return Controlled(self.program, self.tolerance, self.longest)

    def follow(self, compiled, progress, checkpoint=None):
        """Take the steps."""
        self.span = abs(self.segments[-1].end - self.t)
        return super().follow(compiled, progress, checkpoint)

    def _steps_until(self, t):
        """All of them: where they ended is not kept."""
        return self.done

    def _grid(self):
        return {"tolerance": list(self.tolerance), "max_step": str(self.longest)}

    def _begin(self, segment):
        self.march.begin(segment.start, self.y)

    def _through(self, segment, progress, interrupted):
        """The steps of a stretch; (status, message) if the run ends inside it."""
        why = adaptive.FULL
        while why == adaptive.FULL:
            chunk = self.march.take(segment, self.record.watch is not None, self.record.wanted[self.record.n:], self._room())
            why = chunk.why
            if len(chunk.t):
                self.record.add(self.done, chunk.t, chunk.y, np.zeros(len(chunk.t)), 1, chunk.inside)
                self.done += len(chunk.t)
                self.k += len(chunk.t)
                self.t, self.y = float(chunk.t[-1]), chunk.y[-1].copy()
            if not self.record.over:
                self._check_torque()
                if why == adaptive.STUCK:
                    self._stuck()
            covered = abs(self.t - self.start[0]) / self.span
            self.total = max(self.done, round(self.done / covered)) if covered else 0   # as far as one can tell
            self.through = why != adaptive.FULL
            end = self._between_chunks(progress, interrupted)
            if end:
                return end
        return None

    def _stuck(self):
        """No step is small enough: the torque's fault, or the motion's."""
        memory = self.march.memory
        h, slope = memory[1], memory[11:18]
        trouble = torque_trouble(self.program, self.t + h, self.y + h * slope)
        if abs(h) <= adaptive.LEAST * abs(self.t):
            why = f"a step of {abs(h):.2g} is lost in the rounding of such times; count time from the start of the run, or"
        else:
            why = f"even a step of {abs(h):.2g} misses rtol = {self.tolerance.rtol:g};"
        raise trouble or IntegrationError(
            f"{self.method.name} cannot go on at t = {self.t:.15g} (step {self.done}; {self._state()}): {why} the torque jumps "
            "there (name the time in breaks) or the motion has no end")
