"""A motion advanced step by step, for programs that own the time loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode import rotations
from polhode.loads._torque import Torque
from polhode.loads.conversion import as_torque
from polhode.loads.agreement import Start
from polhode.core.loops import fixed as loops
from polhode.errors import InputError, IntegrationError, brief, flag, check_options, number, whole
from polhode.support.limits import check_step, check_times
from polhode.engine.carriers.chunk import MOST
from polhode.engine.diagnosis import begun, first_trouble, step_trouble, torque_error, unsolved
from polhode.engine.one_body import as_body, initial_rotation
from polhode.results.motion import in_user_axes, parts
from polhode.methods import get
from polhode.engine.programs import find, watched

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.bodies._body import RigidBody
    from polhode.methods._registry import Method


MANY = 1000  # steps in a run, as far as one can tell


@dataclass(frozen=True, eq=False)
class State:
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


class Stepper:
    """A motion advanced step by step.

    Parameters are those of `integrate` for a body that does not fly; `t` is the time at the start,
    and a negative `step` runs backwards.  What your torque reads outside itself (globals, closures,
    defaults, attributes of modules) may change between two calls of `step`: the next one takes the
    new values.  Floats in closures and defaults aside, the torque is compiled anew.

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

    def __init__(
        self,
        body: RigidBody | ArrayLike,
        torque: Torque | Callable[..., Any] | str | None = None,
        *,
        step: float,
        t: float = 0.0,
        method: Method | str = "LP2",
        rotation0: Rotation | ArrayLike | None = None,
        omega0: ArrayLike | None = None,
        momentum0: ArrayLike | None = None,
        compiled: bool = True,
        **misspelt: Never,
    ) -> None:
        check_options(Stepper, misspelt)
        self.body, self.torque, self.method = as_body(body), as_torque(torque), get(method)
        h = number("step", step)
        if h == 0.0:
            raise InputError("step must not be zero; a negative step runs backwards")
        check_step(h)
        motion = initial_rotation(self.body, rotation0, omega0, momentum0)
        self._at(float(check_times(np.array([number("t", t)]), "t")[0]), 0, h)
        self._compiled = flag("compiled", compiled)
        self._start = Start(self.t, self.t + MANY * h, in_user_axes(self.body, motion))
        self._build()
        self._out = np.empty((1, self.program.width)), np.empty(1)
        self._z = begun(self.program, h, self._origin, motion)
        self._before = np.empty_like(self._z)
        self._check_torque("at the start")
        trouble = first_trouble(self.program, self._origin, motion)
        if trouble is not None:
            self._raise(trouble)

    def _build(self) -> None:
        """Bind the torque as it is now; what it reads is noted, since a bound copy would not notice
        a change."""
        self.program = find(self.method, self.torque, self.body, self._compiled, start=self._start)
        self._march = self.program.march()
        self._watch = (
            None if self.program.mode == "callback" else watched(self.method, self.torque)[1]
        )

    def _at(self, origin: float, count: int, h: float) -> None:
        """So many steps of h from the origin of time."""
        self._origin, self._count, self._h, self._grid = origin, count, h, np.array([origin, h])

    def step(self, n: int = 1) -> None:
        """Take n steps."""
        n = whole("the number of steps", n)
        while n > MOST:  # Ctrl-C is noticed in between
            self.step(MOST)
            n -= MOST
        if n == 0:
            return
        if self._watch is not None and not self._watch.unchanged():
            self._build()
        self._before[:] = self._z
        try:
            why, self._count, _ = self._march(1, n, self._count, self._grid, self._z, *self._out)
        except (
            BaseException
        ) as error:  # raised by the torque, in Python or inside machine code, or Ctrl-C
            self._z[:] = self._before
            if not isinstance(error, Exception):
                raise
            if n == 1:
                raise torque_error(
                    error,
                    f"in the step from t = {self.t!r}",
                    t=self.t,
                    step_index=self._count,
                    fix="correct it and take the step again: the state is that before it",
                ) from error
            for _ in range(n):  # one by one until it is raised again
                self.step()
            return
        if why == loops.DONE:
            return
        self._check_torque(f"in the step from t = {self.t!r}")
        trouble = step_trouble(self.program, self._z, self.t, self._h)
        if trouble is None and why == loops.UNSOLVED:
            trouble = unsolved(self.program, self._z, self.t, self._h, self._count)
        self._raise(
            trouble
            or IntegrationError(
                f"{self.method.name} blew up in the step from t = {self.t!r}; "
                "take a smaller step: the state is still that before it"
            )
        )

    def _raise(self, error: IntegrationError) -> Never:
        error.t, error.step_index, error.state = self.t, self._count, self.state
        raise error

    def _check_torque(self, where: str) -> None:
        cause = self.program.trouble()
        if cause is not None:
            raise torque_error(
                cause, where, fix="correct it", t=self.t, step_index=self._count
            ) from cause

    @property
    def t(self) -> float:
        """The time."""
        return self._origin + self._count * self._h

    @property
    def quaternion(self) -> np.ndarray:
        """Attitude, body to space, scalar last."""
        return parts(self._motion).attitude

    @property
    def rotation(self) -> Rotation:
        """Attitude as a scipy Rotation."""
        return rotations.as_rotation(self.quaternion)

    @property
    def matrix(self) -> np.ndarray:
        """Attitude as a 3x3 matrix, body to space."""
        return rotations.matrices(self.quaternion)

    @property
    def omega(self) -> np.ndarray:
        """Body angular velocity."""
        return parts(self._motion).omega

    @property
    def _motion(self) -> np.ndarray:
        return in_user_axes(self.body, self.program.motion(self._z))

    @property
    def note(self) -> str:
        """What there is to say about the steps so far: energies that NAME+ep did not restore; ""
        where there is nothing."""
        return self.program.remarks(self._z).removeprefix("; ")

    @property
    def state(self) -> State:
        """All of it; assign it back, to this or another Stepper of the same kind, to go on from
        there bit for bit."""
        return State(self.method.name, self._origin, self._count, self._h, self._z[:, 0].copy())

    @state.setter
    def state(self, saved: State) -> None:
        if not isinstance(saved, State) or saved.method != self.method.name:
            raise InputError(
                f"a Stepper of {self.method.name} cannot go on from {brief(saved)}; use the state of another one "
                "like it"
            )
        self._at(saved.origin, saved.count, saved.step)
        self._z[:, 0] = saved.memory
