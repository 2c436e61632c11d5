"""What steppers have in common: a motion advanced step by step, for programs with a time loop of their
own.

A stepper has a carrier and a program like any run, but no driver: a step takes microseconds.
"""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode.core.loops.fixed import DONE
from polhode.engine.carriers.chunk import Chunk
from polhode.engine.carriers.fixed_steps import FixedSteps
from polhode.engine.driver import MOST
from polhode.engine.diagnosis import Place, check_first
from polhode.engine.schedule import Segment
from polhode.engine.stepper_state import Clock, StepperState, step_size
from polhode.errors import InputError, IntegrationError, brief, flag, number, whole
from polhode.loads.agreement import Start
from polhode.results.motion import described, in_user_axes, parts
from polhode.support.card import Card
from polhode.support.limits import check_times

if TYPE_CHECKING:
    from polhode.engine.one_run import OneRun

MANY = 1000  # steps: the time over which machine code and Python are compared
AGAIN = "correct it and repeat the step: the state is the one before the step"
SETTABLE = (
    *("rotation", "quaternion", "matrix", "omega", "momentum", "momentum_spatial"),
    *("position", "velocity", "state"),
)


class Stepping(Card):
    """A motion that is advanced step by step; a subclass says what moves, and what can be set."""

    __slots__ = (
        "__weakref__",
        "_bound",
        "_carrier",
        "_clock",
        "_compiled",
        "_loop",
        "_one",
        "_out",
        "_start",
    )

    def _prepare(self, one: OneRun, step: float, t: float, compiled: bool) -> None:
        """Be where a run begins."""
        h = step_size("step", number("step", step))
        t = float(check_times(np.array([number("t", t)]), "t")[0])
        self._one, self._clock, self._compiled = one, Clock(t, h), flag("compiled", compiled)
        self._start = Start(t, t + MANY * h, in_user_axes(one.body, one.motion, one.kind), one.kind)
        self._build()
        self._look()
        self._out = np.empty((1, self.program.width)), np.empty(1)
        self._carrier = FixedSteps(self.program, one.motion)
        self._begin(one.motion)

    def _look(self) -> None:
        """A first look at what acts."""

    def _build(self) -> None:
        """Bind what acts as it is now; a bound copy would not notice a change."""
        self._bound = self._one.bound(self._compiled, self._start)
        self._loop = self.program.march()

    def _begin(self, motion: np.ndarray) -> None:
        """Let the method start from a motion in principal axes; nothing changes if that fails."""
        clock, carrier = self._clock, FixedSteps(self.program, motion)
        try:
            carrier.begin(Segment(clock.t, clock.usual, sys.maxsize, math.inf))
            check_first(self.program, clock.t, motion)
        except IntegrationError as error:
            raise self._placed(error) from error.__cause__
        self._carrier = carrier

    def step(self, n: int = 1, *, dt: float | None = None) -> None:
        """Take n steps, of size `dt` if it is given, otherwise of the Stepper's own size.

        Changing the size costs almost nothing.  Methods that use earlier steps need steps of equal
        size and refuse others.
        """
        if n.__class__ is not int or n < 1:
            one = f"for one step of {brief(n)} write step(dt={brief(n)})"
            n = whole("the number of steps", n, example=one if isinstance(n, float) else None)
        clock = self._clock
        h = clock.usual if dt is None else dt if dt.__class__ is float else number("dt", dt)
        if h != clock.h or h != clock.usual:
            self._resize(h)
        if not self._bound.unchanged():
            self._rebind()
        while n:
            some = min(n, MOST)  # Ctrl-C is noticed in between
            self._take(some)
            n -= some

    def _take(self, n: int) -> None:
        clock = self._clock
        why, clock.k, _ = self._carrier.march(self._loop, 1, n, clock.k, clock.grid, *self._out)
        if why != DONE:
            if n == 1 or not isinstance(why, Exception):
                self._fail(why)
            for _ in range(n):  # one by one until it is raised again
                self._take(1)

    def _resize(self, h: float) -> None:
        """Steps of h from here on."""
        step_size("dt", h)
        if self.method.multistep and h != self._clock.usual:
            raise InputError(
                f"method {self.method.name} uses earlier steps and needs steps of equal size, got dt = {h!r} with "
                f"step = {self._clock.usual!r}; leave out dt, or use another method"
            )
        self._clock.restart(h)

    def _rebind(self) -> None:
        """Bind a torque or an interaction that has changed.  The state is kept, unless it now has another form."""
        carrier, motion, before = self._carrier, self._carrier.motion, (self._bound, self._loop)
        self._build()
        if carrier.program.form == self.program.form:
            carrier.program = self.program
            return
        try:
            self._begin(motion)
        except IntegrationError:
            self._bound, self._loop = before
            raise

    def _fail(self, why: Any) -> Never:
        """Raise the error for a failed step."""
        try:
            _, message = self._carrier.diagnose(Chunk(failure=why), self._place)
        except IntegrationError as error:
            raise self._placed(error) from error.__cause__
        raise self._placed(IntegrationError(message))

    def _placed(self, error: IntegrationError) -> IntegrationError:
        """The error with the time, the number of the step and the state."""
        state = None if self._carrier.z is None else self.state
        error.t, error.step_index, error.state = self.t, self._clock.steps, state
        return error

    @property
    def _place(self) -> Place:
        clock = self._clock
        return Place(clock.t, clock.steps, described(self.motion, self.kind), clock.h, AGAIN)

    body = property(operator.attrgetter("_one.body"), doc="The body, or the system.")
    method = property(operator.attrgetter("_one.method"), doc="The method.")
    kind = property(operator.attrgetter("_one.kind"), doc="What is followed.")
    program = property(operator.attrgetter("_bound.program"), doc="What is run.")

    @property
    def t(self) -> float:
        """The time."""
        return self._clock.t

    @property
    def dt(self) -> float:
        """The size of a step, unless a call of `step` gives another."""
        return self._clock.usual

    @property
    def motion(self) -> np.ndarray:
        """Where it is, in the user's axes."""
        return in_user_axes(self.body, self._carrier.motion.copy(), self.kind)

    @property
    def note(self) -> str:
        """Remarks on the steps since the motion was last set, such as energies that NAME+ep did not
        restore; "" if there are none."""
        return self._carrier.remarks.removeprefix("; ")

    @property
    def state(self) -> StepperState:
        """The whole state; assign it to this or another Stepper of the same kind to continue from
        there bit for bit."""
        clock, name, memory = self._clock, self.method.name, self._carrier.memory
        if clock.h != clock.usual:  # a step of any size begins a new count
            return StepperState(name, clock.t, 0, clock.usual, memory, clock.steps)
        return StepperState(name, clock.origin, clock.k, clock.h, memory, clock.earlier)

    @state.setter
    def state(self, saved: StepperState) -> None:
        fits = isinstance(saved, StepperState) and saved.method == self.method.name
        if not fits or saved.memory.shape != self._carrier.memory.shape:
            raise InputError(
                f"a {type(self).__name__} of {self.method.name} cannot continue from {brief(saved)}; use the state of "
                "one with the same method"
            )
        self._clock = Clock(saved.origin, saved.step, saved.count, saved.earlier)
        self._carrier.resume(saved.memory)

    # --- changes between steps --------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in SETTABLE:
            who = type(self).__name__
            raise AttributeError(
                f"{name!r} of a {who} cannot be set, got {brief(value)}; set one of {', '.join(SETTABLE)}, or give the "
                "size of steps to the call: step(dt=...)"
            )
        object.__setattr__(self, name, value)

    def _set(self, **values: np.ndarray) -> None:
        """Set parts of the motion, in principal axes, and start anew."""
        motion = self._carrier.motion.copy()
        for part, value in values.items():
            getattr(parts(motion, self.kind), part)[...] = value
        self._begin(motion)
