"""A motion advanced step by step, for programs with a time loop of their own.

A Stepper has a carrier and a program like any run, but no driver: a step takes microseconds.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode import rotations
from polhode.core.loops.fixed import DONE
from polhode.engine.carriers.chunk import MOST, Chunk
from polhode.engine.carriers.fixed_steps import FixedSteps
from polhode.engine.diagnosis import Place, check_first
from polhode.engine.one_body import OneBody, initial_rotation, three
from polhode.engine.programs import find_bound
from polhode.engine.schedule import Segment
from polhode.engine.stepper_state import Clock, StepperState, step_size
from polhode.errors import (
    InputError,
    IntegrationError,
    brief,
    check_options,
    choice,
    flag,
    number,
    shows_options,
    whole,
)
from polhode.loads._torque import ZERO
from polhode.loads.agreement import Start
from polhode.results.motion import ATTITUDE, OMEGA, InMotion, described, in_user_axes, parts
from polhode.support.limits import check_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.bodies._body import RigidBody
    from polhode.engine.program import Program
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.methods._method import Method


MANY = 1000  # steps: the time over which machine code and Python are compared
AGAIN = "correct it and repeat the step: the state is the one before the step"
SETTABLE = (
    *("rotation", "quaternion", "matrix", "omega", "momentum", "momentum_spatial"),
    *("position", "velocity", "state"),
)


class Stepper(InMotion):
    """A motion advanced step by step.

    Parameters are those of `integrate`; `t` is the time at the start, and a negative `step` runs
    backwards.  Between two calls of `step` these may be assigned to: `rotation`, `quaternion` or
    `matrix`, `omega`, `momentum` or `momentum_spatial`, in flight `position` and `velocity`; the
    method then starts anew from there.  What your torque reads outside itself (globals, closures,
    defaults, attributes of modules) may change too: the next step takes the new values.  So may the
    torque's `params`.  Floats in closures and defaults aside, the torque is compiled anew.

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
        compiled: bool = True,
        **misspelt: Never,
    ) -> None:
        check_options(Stepper, misspelt)
        one = OneBody(body, torque, method, rotation0, omega0, momentum0, scalar_first)
        if not (force is None and position0 is None and velocity0 is None):
            one.will_fly(force, position0, velocity0)
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
        """Take n steps of the size given when the Stepper was made; with `dt`, these n are of that
        size.

        Another size each time costs next to nothing.  Methods that remember earlier steps need them
        of equal size and refuse it.
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
        if _form(carrier.program) == _form(self.program):
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
    def motion(self) -> np.ndarray:
        """Where the body is, in the user's axes."""
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
        options = dict(zip(names, parts(start.motion, start.kind), strict=False))
        options |= {"step": self._clock.usual, "t": start.t, "method": self.method}
        options |= {"force": self._one.force, "compiled": self._compiled}
        return partial(Stepper, **options), (self.body, self.torque), (None, {"state": self.state})

    # --- changes between steps --------------------------------------------------------------------

    def apply_impulse(self, momentum: ArrayLike, *, frame: str = "spatial") -> None:
        """Add to the angular momentum at once, as a blow does.

        Parameters
        ----------
        momentum : three numbers
            Angular impulse about the centre of mass (about the fixed point of a top).
        frame : {"spatial", "body"}
            The axes of these numbers.
        """
        blow = three("momentum", momentum)
        if choice("frame", frame, ("spatial", "body")) == "spatial":
            blow = rotations.rotate_inverse(self.quaternion, blow)
        self.momentum = self.momentum + blow

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in SETTABLE:
            raise AttributeError(
                f"{name!r} of a Stepper cannot be set, got {brief(value)}; set one of {', '.join(SETTABLE)}, or give the "
                "size of steps to the call: step(dt=...)"
            )
        object.__setattr__(self, name, value)

    def _set(self, part: str, value: np.ndarray) -> None:
        """Set a part of the motion, in principal axes, and start anew."""
        motion = self._carrier.motion.copy()
        motion[self.kind.slices[part]] = value
        self._begin(motion)

    def _turn(self, name: str, rotation: Rotation | ArrayLike) -> None:
        q = rotations.as_quaternion(rotation, None, name)
        self._set("attitude", initial_rotation(self.body, q, ZERO, None)[ATTITUDE])

    def _fly(self, part: str, value: ArrayLike | None) -> None:
        if part not in self.kind.slices:
            raise InputError(
                f"{part} cannot be set: this Stepper follows the rotation alone; give it position0, velocity0 or force "
                "when it is made"
            )
        self._set(part, three(part, value))

    @property
    def rotation(self) -> Rotation:
        """Attitude as a scipy Rotation.  Accepts anything that `rotation0` does."""
        return rotations.as_rotation(self.quaternion)

    @rotation.setter
    def rotation(self, value: Rotation | ArrayLike) -> None:
        self._turn("rotation", value)

    @property
    def matrix(self) -> np.ndarray:
        """Attitude as a 3x3 matrix, body to space."""
        return rotations.matrices(self.quaternion)

    @matrix.setter
    def matrix(self, value: Rotation | ArrayLike) -> None:
        self._turn("matrix", value)

    @property
    def quaternion(self) -> np.ndarray:
        """Attitude as a quaternion, body to space, scalar last."""
        return self.motion[ATTITUDE]

    @quaternion.setter
    def quaternion(self, value: Rotation | ArrayLike) -> None:
        self._turn("quaternion", value)

    @property
    def omega(self) -> np.ndarray:
        """Angular velocity in the body frame."""
        return self.motion[OMEGA]

    @omega.setter
    def omega(self, value: ArrayLike) -> None:
        given = initial_rotation(self.body, None, three("omega", value), None)
        self._set("omega", given[OMEGA])

    @property
    def momentum(self) -> np.ndarray:
        """Angular momentum in the body frame."""
        return self.body.momentum(self.omega)

    @momentum.setter
    def momentum(self, value: ArrayLike) -> None:
        given = initial_rotation(self.body, None, None, three("momentum", value))
        self._set("omega", given[OMEGA])

    @property
    def momentum_spatial(self) -> np.ndarray:
        """Angular momentum in space."""
        return rotations.rotate(self.quaternion, self.momentum)

    @momentum_spatial.setter
    def momentum_spatial(self, value: ArrayLike) -> None:
        self.momentum = rotations.rotate_inverse(self.quaternion, three("momentum_spatial", value))

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy of the rotation."""
        return float(self.body.kinetic_energy(self.omega))

    @property
    def position(self) -> np.ndarray | None:
        """Position of the centre of mass, in flight."""
        return getattr(parts(self.motion, self.kind), "position", None)

    @position.setter
    def position(self, value: ArrayLike | None) -> None:
        self._fly("position", value)

    @property
    def velocity(self) -> np.ndarray | None:
        """Velocity of the centre of mass, in flight."""
        return getattr(parts(self.motion, self.kind), "velocity", None)

    @velocity.setter
    def velocity(self, value: ArrayLike | None) -> None:
        self._fly("velocity", value)


def _form(program: Program) -> tuple[Any, int]:
    """The fields of a state, and how many numbers it has."""
    return program.kind._fields, program.size
