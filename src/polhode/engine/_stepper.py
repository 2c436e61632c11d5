"""A motion advanced step by step, for programs with a time loop of their own.

A Stepper has a carrier and a program like any run, but no driver: a step takes microseconds.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode.core.loops.fixed import DONE
from polhode.core.motions import KINDS
from polhode.engine.carriers.chunk import Chunk
from polhode.engine.carriers.fixed_steps import FixedSteps
from polhode.engine.driver import MOST
from polhode.engine.diagnosis import Place, check_first
from polhode.engine.one_body import OneBody, as_body
from polhode.engine.programs import find_bound
from polhode.engine.schedule import Segment
from polhode.engine.settable_motion import SettableMotion
from polhode.engine.stepper_state import Clock, StepperState, step_size
from polhode.errors import (
    InputError,
    IntegrationError,
    brief,
    check_options,
    flag,
    number,
    shows_options,
    whole,
)
from polhode.loads.agreement import Start
from polhode.loads.potential import potential_energy
from polhode.results.motion import ATTITUDE, described, in_user_axes, parts
from polhode.support.card import Card
from polhode.support.limits import check_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.bodies._body import RigidBody
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.methods._method import Method


MANY = 1000  # steps: the time over which machine code and Python are compared
AGAIN = "correct it and repeat the step: the state is the one before the step"
SETTABLE = (
    *("rotation", "quaternion", "matrix", "omega", "momentum", "momentum_spatial"),
    *("position", "velocity", "state"),
)


class Stepper(Card, SettableMotion):
    """A motion advanced step by step.

    The parameters are those of `integrate`; `t` is the initial time, and a negative `step` runs
    backwards.  Between steps you may assign to `rotation`, `quaternion` or `matrix`, to `omega`,
    `momentum` or `momentum_spatial`, and in flight to `position` and `velocity`; the method then
    starts again from there.  The `params` of your torque may also change, and so may anything that
    it reads outside itself (globals, closures, defaults, attributes of modules); except for `params`
    and for floats in closures and defaults this compiles the torque again.

    Examples
    --------
    >>> top = Stepper([5, 5, 1], "heavy_top", step=0.01, rotation0=(0.3, 0, 0), omega0=(0, 0, 50))
    >>> top.step(100)
    >>> round(top.t, 12)
    1.0
    >>> top.step(dt=0.004)
    >>> top.apply_impulse((0.5, 0.0, 0.0), frame="body")
    >>> saved = top.state
    >>> top.step(7)
    >>> top.state = saved
    >>> top.t == saved.t
    True
    """

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

    @shows_options()
    def __init__(
        self,
        body: RigidBody | ArrayLike,
        torque: Torque | Callable[..., Any] | str | None = None,
        *,
        step: float,
        t: float = 0.0,
        method: Method | str = "LP2",
        rotation0: Rotation | ArrayLike | None = None,
        scalar_first: bool | None = None,
        omega0: ArrayLike | None = None,
        momentum0: ArrayLike | None = None,
        force: Force | Callable[..., Any] | None = None,
        position0: ArrayLike | None = None,
        velocity0: ArrayLike | None = None,
        rotor_speeds0: ArrayLike | None = None,
        units: str | Mapping[str, str] | None = None,
        compiled: bool = True,
        **misspelt: Never,
    ) -> None:
        check_options(Stepper, misspelt)
        if units is not None:
            body = as_body(body).with_units(units)
        begin = rotation0, omega0, momentum0, scalar_first
        beside = force, position0, velocity0, rotor_speeds0
        one = OneBody(body, torque, method, *begin, *beside)
        h = step_size("step", number("step", step))
        t = float(check_times(np.array([number("t", t)]), "t")[0])
        self._one, self._clock, self._compiled = one, Clock(t, h), flag("compiled", compiled)
        self._start = Start(t, t + MANY * h, in_user_axes(one.body, one.motion, one.kind), one.kind)
        self._build()
        self._out = np.empty((1, self.program.width)), np.empty(1)
        self._carrier = FixedSteps(self.program, one.motion)
        self._begin(one.motion)

    def _build(self) -> None:
        """Bind the torque as it is now; a bound copy would not notice a change."""
        one = self._one
        self._bound = find_bound(
            one.method, one.torque, one.body, self._compiled, one.force, self._start
        )
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
        """Bind a torque that has changed.  The state is kept, unless it now has another form."""
        carrier, motion, before = self._carrier, self._carrier.motion, (self._bound, self._loop)
        self._build()
        old, new = carrier.program, self.program
        if (old.kind._fields, old.size) == (new.kind._fields, new.size):
            carrier.program = new
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

    body = property(operator.attrgetter("_one.body"), doc="The body.")
    torque = property(operator.attrgetter("_one.torque"), doc="The torque.")
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
        """Where the body is, in the user's axes."""
        return in_user_axes(self.body, self._carrier.motion.copy(), self.kind)

    @property
    def total_energy(self) -> float:
        """Kinetic plus potential energy of the rotation; the kinetic energy alone if the torque has no
        potential."""
        attitude = self._carrier.motion[None, ATTITUDE]
        known = potential_energy(self.torque, self.body, np.array([self.t]), attitude)
        return self.kinetic_energy + (0.0 if known is None else float(known[0]))

    @property
    def note(self) -> str:
        """Remarks on the steps since the motion was last set, such as energies that NAME+ep did not
        restore; "" if there are none."""
        return self._carrier.remarks.removeprefix("; ")

    @property
    def state(self) -> StepperState:
        """The whole state; assign it to this or another Stepper of the same kind to continue from
        there bit for bit."""
        clock, name, memory = self._clock, self.method.name, self._carrier.z[:, 0].copy()
        if clock.h != clock.usual:  # a step of any size begins a new count
            return StepperState(name, clock.t, 0, clock.usual, memory, clock.steps)
        return StepperState(name, clock.origin, clock.k, clock.h, memory, clock.earlier)

    @state.setter
    def state(self, saved: StepperState) -> None:
        fits = isinstance(saved, StepperState) and saved.method == self.method.name
        if not fits or saved.memory.shape != self._carrier.z[:, 0].shape:
            raise InputError(
                f"a Stepper of {self.method.name} cannot continue from {brief(saved)}; use the state of a Stepper "
                "with the same method"
            )
        self._clock = Clock(saved.origin, saved.step, saved.count, saved.earlier)
        self._carrier.resume(saved.memory)

    def __repr__(self) -> str:
        what = f"{self.method.name}, step {self._clock.usual:g}, torque {self.torque.name}"
        return f"<Stepper: {what}, t = {self.t:g}, {self.body!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or one in another process, continues from here bit for bit."""
        start, names = self._start, ("rotation0", "omega0", "position0", "velocity0")
        kind = KINDS[start.kind.name]  # rotors begin as the body says
        options = dict(zip(names, parts(start.motion[: kind.width], kind), strict=False))
        options |= {"step": self._clock.usual, "t": start.t, "method": self.method}
        options |= {"force": self._one.force, "compiled": self._compiled}
        return partial(Stepper, **options), (self.body, self.torque), (None, {"state": self.state})

    # --- changes between steps --------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in SETTABLE:
            raise AttributeError(
                f"{name!r} of a Stepper cannot be set, got {brief(value)}; set one of {', '.join(SETTABLE)}, or give the "
                "size of steps to the call: step(dt=...)"
            )
        object.__setattr__(self, name, value)

    def _set(self, **values: np.ndarray) -> None:
        """Set parts of the motion, in principal axes, and start anew."""
        motion = self._carrier.motion.copy()
        for part, value in values.items():
            motion[self.kind.slices[part]] = value
        self._begin(motion)
