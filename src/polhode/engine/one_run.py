"""One call of `integrate`: the steps that are asked for, what is stored of them, and whatever ends the
run keeps what was computed.  What runs, a body or a system, is known to the subclasses."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.loops import tolerance as loops
from polhode.engine.carriers.by_tolerance import ByTolerance, Tolerance
from polhode.engine.carriers.fixed_steps import FixedSteps
from polhode.engine.diagnosis import Runaway, check_first
from polhode.engine.driver import Carrier, Driver
from polhode.engine.events import Watch
from polhode.engine.recorder import AtSteps, AtTimes, Recorder
from polhode.engine.schedule import segments, stretches
from polhode.errors import InputError, IntegrationError, number
from polhode.loads.agreement import Start
from polhode.methods._method import Method
from polhode.methods._registry import everything
from polhode.results._run import EVENT, FAILED, FINISHED, INTERRUPTED
from polhode.results.motion import described, in_user_axes
from polhode.support.limits import check_step
from polhode.support.provenance import environment, short_list

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from polhode.core.motions import Kind
    from polhode.engine.checkpoint import Checkpoint
    from polhode.engine.programs import Bound

SMALLEST_RTOL, LARGEST_RTOL = 1e-14, 0.1  # steps cannot be better than their round-off


def check_tolerance(rtol: float | None, atol: float | None) -> Tolerance:
    """The tolerance, checked."""
    if rtol is None:
        raise InputError(
            "atol and max_step go with rtol, which is missing; give rtol too, or step for fixed steps"
        )
    rtol, atol = number("rtol", rtol), number("atol", 0.0 if atol is None else atol)
    if not SMALLEST_RTOL <= rtol <= LARGEST_RTOL:
        raise InputError(
            f"rtol must lie between {SMALLEST_RTOL:g}, where round-off begins, and {LARGEST_RTOL:g}, got "
            f"{rtol!r}; use 1e-9"
        )
    if atol < 0.0:
        raise InputError(f"atol must not be negative, got {atol!r}; give 0 or more")
    return Tolerance(rtol, atol)


def check_control(
    method: Method,
    step: float | ArrayLike | None,
    rtol: float | None,
    atol: float | None,
    max_step: float | None,
) -> tuple[Tolerance, float]:
    """(tolerance, largest step) of a run by tolerance, as far as they make sense together."""
    if step is not None:
        raise InputError("give step, for fixed steps, or rtol, for adaptive steps; not both")
    if method.control is None:
        able = ", ".join([*(one.name for one in everything() if one.control), "taylor"])
        raise InputError(
            f"{method.name} takes fixed steps; give step instead of rtol, or use an adaptive method: "
            f"{able}"
        )
    longest = (
        np.inf
        if max_step is None
        else check_step(number("max_step", max_step, positive=True), "max_step")
    )
    return check_tolerance(rtol, atol), longest


# --- the run --------------------------------------------------------------------------------------


class OneRun(ABC):
    """What is to be computed, from the user's input, and the trajectory that comes of it.

    A subclass checks the input and has `body`, which may be a system, `method`, the `motion` at the
    start, in principal axes, its `kind`, and `loads`.
    """

    body: Any
    loads: dict[str, Any]  # what acts, by the names it has in a trajectory
    method: Method
    motion: np.ndarray
    kind: Kind
    segments: Sequence[Any]  # of the kind that the carrier takes
    step: float | list[float] | None = None
    tolerance: Tolerance | None = None
    breaks: ArrayLike | None = None
    title = ""
    look: Any = None  # (program, start): what a run checks anew each time, if anything

    @abstractmethod
    def bound(self, compiled: bool, start: Start) -> Bound:
        """The program, with what tells whether it is out of date."""

    def _guard(self) -> Runaway | None:
        """What notices a motion that leaves all bounds."""
        return None

    def will_step(
        self,
        t_span: tuple[float, float] | ArrayLike | None,
        step: float | ArrayLike | None,
        breaks: ArrayLike | None,
    ) -> None:
        """The steps are given."""
        if step is None:
            raise InputError(
                "step is missing; give the size of a step, an array of times, or rtol for adaptive steps"
            )
        if t_span is None and np.ndim(step) == 0:
            raise InputError("t_span is missing; give (t0, t1)")
        self.segments = segments(
            t_span, step, breaks, self.method.multistep, f"method {self.method.name}"
        )
        self.t0, self.t1 = self.segments[0].start, self.segments[-1].end
        self.step, self.breaks = step if type(step) is float else np.asarray(step).tolist(), breaks

    def will_choose(
        self,
        t_span: tuple[float, float] | ArrayLike | None,
        step: float | ArrayLike | None,
        rtol: float | None,
        atol: float | None,
        max_step: float | None,
        breaks: ArrayLike | None,
    ) -> None:
        """The steps are to be chosen."""
        self.tolerance, self.longest = check_control(self.method, step, rtol, atol, max_step)
        if t_span is None:
            raise InputError("t_span is missing; give (t0, t1)")
        self.segments, self.breaks = stretches(t_span, breaks), breaks
        self.t0, self.t1 = self.segments[0].start, self.segments[-1].end
        latest = max(abs(self.t0), abs(self.t1))
        if not self.longest > loops.LEAST * latest:
            raise InputError(
                f"max_step = {self.longest!r} is smaller than the rounding of times as large as {latest!r}; use a "
                "larger one, or count time from the start of the run"
            )

    def _recorder(
        self,
        t_eval: ArrayLike | None,
        every: int | str,
        events: Callable[..., Any] | Sequence[Callable[..., Any]] | None,
    ) -> Recorder:
        """Of what is to be stored."""
        watch = None if events is None else Watch(events, self.body, self.kind)
        if t_eval is not None:
            if every != 1:
                raise InputError("give t_eval or every, not both; drop one")
            return AtTimes(t_eval, self.t0, self.t1, self.kind, watch)
        total = 0 if self.tolerance else sum(segment.count for segment in self.segments)
        recorder = AtSteps(every, total, self.kind, watch)
        # how many steps there will be is not known, but they are at most `longest`
        if self.tolerance:
            steps = abs(self.t1 - self.t0) / self.longest
            recorder.fewest = max(recorder.capacity, int(steps // recorder.every))
        return recorder

    # --- running ----------------------------------------------------------------------------------

    def follow(
        self,
        t_eval: ArrayLike | None,
        every: int | str,
        events: Callable[..., Any] | Sequence[Callable[..., Any]] | None,
        compiled: bool,
        progress: Callable[[int, int], Any] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Any:
        """Take the steps: a Trajectory."""
        self.recorder = self._recorder(t_eval, every, events)
        self.first = in_user_axes(self.body, self.motion, self.kind)
        start = Start(self.t0, self.t1, self.first, self.kind)
        program, motion = self.bound(compiled, start).program, self.motion
        self.program = program
        if self.look is not None:
            self.look(program, start)
        carrier: Carrier = (
            FixedSteps(program, motion)
            if self.tolerance is None
            else ByTolerance(program, self.tolerance, self.longest, motion)
        )
        guard = self._guard()
        what = carrier, self.segments, self.recorder
        self.driver = Driver(*what, guard=guard, checkpoint=checkpoint, progress=progress)
        saved = None if checkpoint is None else self._open(checkpoint)
        try:
            if saved:
                self.driver.restore(saved)
            else:
                self.recorder.first(self.t0, motion)
                if not program.tried:
                    check_first(program, self.t0, motion)
            status, message = self.driver.run()
            trajectory = self._trajectory(status, message)
        except BaseException as error:  # also of an event, the disk, `progress`, a second Ctrl-C
            self._attach(error)
            raise
        finally:
            if checkpoint is not None:
                checkpoint.close()
        if status == INTERRUPTED:
            interrupt: Any = KeyboardInterrupt(trajectory.message)
            interrupt.trajectory = trajectory
            raise interrupt
        return trajectory

    def _open(self, checkpoint: Checkpoint) -> dict[str, Any] | None:
        """Begin in a folder, or go on from what is there: the saved state, None for a fresh run."""
        unknown = self.program.opaque()
        if unknown:
            raise InputError(
                f"the {self.kind.acting} uses {unknown}, and a run that is continued later could not tell whether that is the "
                f"same; leave it out of the {self.kind.acting}, or run without checkpoint"
            )
        saved = checkpoint.open(self._identity(), self.recorder)
        if saved and saved["torque_digest"] != self.program.digests()["torque_source"]:
            checkpoint.tell(
                f"the {self.kind.acting} changes what it refers to while it runs, and a checkpoint does not hold that: the "
                f"{self.kind.acting} goes on from its state at the start"
            )
        return saved

    def _identity(self) -> dict[str, Any]:
        """What the numbers depend on, as plain data."""
        digests = self.program.digests()
        steps = (
            {"step": short_list(np.array(self.step)) if isinstance(self.step, list) else self.step}
            if self.tolerance is None
            else {"tolerance": list(self.tolerance), "max_step": str(self.longest)}
        )
        return {
            **environment(),
            "method": self.method.name,
            **{name: load and repr(load) for name, load in self.loads.items()},
            f"{self.kind.acting}_mode": self.program.mode,
            "body": self.body.to_dict(),
            "initial": described(self.first, self.kind),
            "t_span": [self.t0, self.t1],
            "breaks": None if self.breaks is None else short_list(np.ravel(self.breaks)),
            **steps,
            **self.recorder.identity(),
            "torque_digest": digests["torque_source"],
            "source_digest": digests["source"],
        }

    # --- how a run ends ---------------------------------------------------------------------------

    def _trajectory(self, status: str, message: str) -> Any:
        driver, carrier = self.driver, self.driver.carrier
        if status == FINISHED and driver.checkpoint is not None:
            driver.save()
        lowered = self.program.lowered
        method = self.program.method
        if method.remark or method.counted:
            message += carrier.remarks
        message += lowered and f"; {lowered}"
        last = driver.motion
        ends = (self.t0, self.first), (driver.t, in_user_axes(self.body, last, self.kind))
        return self.recorder.trajectory(
            None if status == EVENT else (driver.t, last),
            body=self.body,
            ends=ends,
            **self.loads,
            method=self.method,
            step=self.step,
            tolerance=self.tolerance,
            status=status,
            message=message,
            steps=driver.done,
            rejected=carrier.rejected,
            nfev=carrier.evaluations,
            mode=self.program.mode,
            note=self.program.note,
            elapsed=carrier.elapsed,
            title=self.title,
            **self.program.digests(),
        )

    def _attach(self, error: Any) -> None:
        """Give an error that ends the run its place, and what was computed before it."""
        if isinstance(error, IntegrationError):
            place = self.driver.place
            error.t, error.step_index, error.state = place.t, place.step, place.parts
        if getattr(error, "trajectory", None) is None:
            status = INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED
            with contextlib.suppress(Exception):  # the first error is the one to be told
                error.trajectory = self._trajectory(status, str(error))
