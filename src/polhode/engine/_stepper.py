"""A motion advanced step by step, for programs that own the time loop."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode.loads._torque import Torque
from polhode.loads.conversion import as_torque
from polhode.loads.agreement import Start
from polhode.core.loops import fixed as loops
from polhode.errors import (
    InputError,
    IntegrationError,
    brief,
    flag,
    check_options,
    shows_options,
    number,
    whole,
)
from polhode.support.limits import check_step, check_times
from polhode.engine.carriers.chunk import MOST
from polhode.engine.diagnosis import (
    check_callbacks,
    check_first,
    first_state,
    step_error,
    torque_error,
)
from polhode.engine.one_body import as_body, initial_rotation
from polhode.results.motion import InMotion, in_user_axes
from polhode.methods import get
from polhode.engine.programs import find_bound

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.bodies._body import RigidBody
    from polhode.core.motions import Kind
    from polhode.methods._method import Method


MANY = 1000  # steps in a run, as far as one can tell
AGAIN = "correct it and take the step again: the state is that before it"


@dataclass(frozen=True, eq=False)
class StepperState:
    """Everything a Stepper needs to go on exactly: the method's memory, and the time as origin plus
    count steps."""

    method: str
    origin: float
    count: int
    step: float
    memory: np.ndarray = field(repr=False)

    @property
    def t(self) -> float:
        """The time."""
        return self.origin + self.count * self.step


class Stepper(InMotion):
    """A motion advanced step by step.

    Parameters are those of `integrate` for a body that does not fly; `t` is the time at the start,
    and a negative `step` runs backwards.  What your torque reads outside itself (globals, closures,
    defaults, attributes of modules) may change between two calls of `step`: the next one takes the
    new values.  So may the torque's `params`.  Floats in closures and defaults aside, the torque is
    compiled anew.

    Examples
    --------
    >>> top = Stepper([5, 5, 1], "heavy_top", step=0.01, rotation0=(0.3, 0, 0), omega0=(0, 0, 50))
    >>> top.step(100)
    >>> round(top.t, 12)
    1.0
    >>> saved = top.state
    >>> top.step(7)
    >>> top.state = saved
    >>> top.t == saved.t
    True
    """

    __slots__ = (  # what a Stepper does not have cannot be assigned
        "__weakref__",
        "_body",
        "_bound",
        "_compiled",
        "_count",
        "_grid",
        "_h",
        "_march",
        "_method",
        "_origin",
        "_out",
        "_start",
        "_torque",
        "_z",
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
        compiled: bool = True,
        **misspelt: Never,
    ) -> None:
        check_options(Stepper, misspelt)
        self._body, self._torque, self._method = as_body(body), as_torque(torque), get(method)
        h = number("step", step)
        if h == 0.0:
            raise InputError("step must not be zero; a negative step runs backwards")
        check_step(h)
        motion = initial_rotation(self._body, rotation0, omega0, momentum0, scalar_first)
        self._at(float(check_times(np.array([number("t", t)]), "t")[0]), 0, h)
        self._compiled = flag("compiled", compiled)
        self._start = Start(self.t, self.t + MANY * h, in_user_axes(self._body, motion))
        self._build()
        self._out = np.empty((1, self.program.width)), np.empty(1)
        self._z = first_state(self.program, h, self._origin, motion)
        try:
            check_callbacks(self.program, "at the start", "correct it")
            check_first(self.program, self._origin, motion)
        except IntegrationError as error:
            raise self._placed(error) from error.__cause__

    def _build(self) -> None:
        """Bind the torque as it is now; a bound copy would not notice a change."""
        self._bound = find_bound(
            self._method, self._torque, self._body, self._compiled, start=self._start
        )
        self._march = self.program.march()

    def _at(self, origin: float, count: int, h: float) -> None:
        """So many steps of h from the origin of time."""
        self._origin, self._count, self._h, self._grid = origin, count, h, np.array([origin, h])

    def step(self, n: int = 1) -> None:
        """Take n steps."""
        if n.__class__ is not int or n < 1:
            n = whole("the number of steps", n)
        while n > MOST:  # Ctrl-C is noticed in between
            self.step(MOST)
            n -= MOST
        if n == 0:
            return
        if not self._bound.unchanged():
            self._build()
        before = self._z.copy()
        try:
            why, self._count, _ = self._march(1, n, self._count, self._grid, self._z, *self._out)
        except BaseException as error:  # of the torque, in Python or in machine code, or Ctrl-C
            self._z[:] = before
            if not isinstance(error, Exception):
                raise
            if n > 1:
                for _ in range(n):  # one by one until it is raised again
                    self.step()
                return
            raise self._placed(torque_error(error, self._where, AGAIN)) from error
        if why != loops.DONE:
            raise self._placed(self._failure(why))

    @property
    def _where(self) -> str:
        return f"in the step from t = {self.t!r}"

    def _failure(self, why: int) -> IntegrationError:
        """What made a step fail."""
        cause = self.program.trouble()
        if cause is not None:
            return torque_error(cause, self._where, AGAIN)
        return step_error(
            self.program, self._z, self.t, self._h, self._count, why == loops.UNSOLVED
        ) or IntegrationError(
            f"{self.method.name} blew up {self._where}; take a smaller step: the state is still that before it"
        )

    def _placed(self, error: IntegrationError) -> IntegrationError:
        """The error with the time, the number of the step and the state."""
        error.t, error.step_index, error.state = self.t, self._count, self.state
        return error

    body = property(operator.attrgetter("_body"), doc="The body.")
    torque = property(operator.attrgetter("_torque"), doc="The torque.")
    method = property(operator.attrgetter("_method"), doc="The method.")
    program = property(operator.attrgetter("_bound.program"), doc="What is run.")

    @property
    def t(self) -> float:
        """The time."""
        return self._origin + self._count * self._h

    @property
    def kind(self) -> Kind:
        """What is followed."""
        return self.program.motion_kind

    @property
    def motion(self) -> np.ndarray:
        """Where the body is, in the user's axes."""
        return in_user_axes(self._body, self.program.motion(self._z), self.kind)

    @property
    def note(self) -> str:
        """What there is to say about the steps so far: energies that NAME+ep did not restore; ""
        where there is nothing."""
        return self.program.remarks(self._z).removeprefix("; ")

    @property
    def state(self) -> StepperState:
        """All of it; assign it back, to this or another Stepper of the same kind, to go on from
        there bit for bit."""
        return StepperState(
            self.method.name, self._origin, self._count, self._h, self._z[:, 0].copy()
        )

    @state.setter
    def state(self, saved: StepperState) -> None:
        fits = isinstance(saved, StepperState) and saved.method == self.method.name
        if not fits or saved.memory.shape != self._z[:, 0].shape:
            raise InputError(
                f"a Stepper of {self.method.name} cannot go on from {brief(saved)}; use the state of another one "
                "like it"
            )
        self._at(saved.origin, saved.count, saved.step)
        self._z[:, 0] = saved.memory
