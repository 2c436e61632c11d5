"""The flow of a system: prepared once, called as often as one likes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode.core.jit import compiling, direct
from polhode.core.loops.fixed import DONE
from polhode.core.motions import of_bodies
from polhode.engine.one_run import check_control
from polhode.engine.one_system import OneSystem, refuse_beside_system
from polhode.engine.prepared import Compared, FlightMotion
from polhode.engine.programs import Bound, find_bound_system, watched
from polhode.engine.schedule import LARGEST_COUNT
from polhode.engine.systems.few import FewProgram, trouble
from polhode.engine.systems.parameters import numbers_with, places, with_parameters
from polhode.engine.systems.program import suited_to
from polhode.engine.whole_run import MOST, axes_of, carry_system_loop
from polhode.errors import (
    InputError,
    IntegrationError,
    check_options,
    flag,
    number,
    shows_options,
)
from polhode.loads.agreement import Start
from polhode.methods._registry import get
from polhode.results.motion import described, in_user_axes, parts
from polhode.support.card import Card
from polhode.support.limits import LARGEST_TIME, check_step, check_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from polhode.loads._system import System
    from polhode.loads.interaction import Interaction
    from polhode.methods._method import Method

STANDARD, BY_TOLERANCE = "LP2", "DOP853"


class SystemFlow(Card):
    """The motion of a system from any initial state to any other time, prepared once for many calls;
    `Flow(system, ...)` makes it.

    Every call returns, bit for bit, the end of `integrate` with the same arguments.  The first call
    compiles.  Up to eight bodies whose interactions numba can compile move in one call of machine code;
    larger systems, and those in Python, use what was prepared for `integrate`.

    Parameters
    ----------
    body : System
    method, step, rtol, atol, max_step, scalar_first
        As in `Flow`.

    Examples
    --------
    Two bodies on a spring.

    >>> import polhode
    >>> def spring(t, x, R):
    ...     pull = 3.0 * (x[1] - x[0])
    ...     return np.stack((pull, -pull)), np.zeros((2, 3))
    >>> flow = polhode.Flow(polhode.System([polhode.RigidBody.box(1, 2, 3)] * 2, spring), step=0.01)
    >>> end = flow(None, [[0, 0, 1], [0, 1, 0]], 0.0, 2.0, position0=[[0, 0, 0], [1, 0, 0]])
    >>> end.attitude.shape, end.position.shape
    ((2, 4), (2, 3))
    """

    __slots__ = (
        "__weakref__",
        "_axes",
        "_bound",
        "_carry",
        "_control",
        "_known",
        "_lasting",
        "_max_step",
        "_method",
        "_scalar_first",
        "_span",
        "_step",
        "_system",
        "_tolerance",
    )

    @shows_options()
    def __init__(
        self,
        body: System,
        torque: None = None,
        method: Method | str | None = None,
        *,
        force: None = None,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        max_step: float | None = None,
        scalar_first: bool | None = None,
        **misspelt: Never,
    ) -> None:
        check_options(SystemFlow, misspelt)
        refuse_beside_system(torque=torque, force=force)
        chosen = not (rtol is None and atol is None and max_step is None)
        self._system = body
        self._method = get(method or (BY_TOLERANCE if chosen else STANDARD))
        suited_to(self._method, body)
        self._scalar_first = None if scalar_first is None else flag("scalar_first", scalar_first)
        self._step = self._tolerance = self._max_step = None
        self._control: tuple[float, ...] = ()
        if chosen:
            self._tolerance, _ = check_control(self._method, step, rtol, atol, max_step)
            self._max_step = max_step
        elif step is None:
            raise InputError("step is missing; give the size of a step, or rtol for adaptive steps")
        else:
            self._step = check_step(number("step", step, positive=True))
            self._control = (self._step,)
        self._axes: tuple[Any, Any] = None, None
        if not body.is_principal:
            self._axes = tuple(map(axes_of, body.axes)), tuple(axes_of(one.T) for one in body.axes)
        self._bound: Bound | None = None
        self._lasting, self._span = False, (0.0, 0.0)
        self._carry: tuple[Any, ...] | None = None
        self._known: tuple[Any, ...] | None = None  # the program, the places of its parameters, ...

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process, or a copy, prepares it anew."""
        rtol, atol = self._tolerance or (None, None)
        again = partial(SystemFlow, rtol=rtol, atol=atol, max_step=self._max_step)
        again = partial(again, step=self._step, scalar_first=self._scalar_first)
        return again, (self._system, None, self._method)

    def __call__(
        self,
        rotation0: Any,
        omega0: ArrayLike | None,
        t0: float,
        t1: float,
        *,
        position0: ArrayLike | None = None,
        velocity0: ArrayLike | None = None,
        parameters: Mapping[str, Any] | None = None,
        t_eval: ArrayLike | None = None,
    ) -> FlightMotion:
        """The motion at t1 from that at t0.

        Parameters
        ----------
        rotation0, omega0, position0, velocity0
            The motion at t0, as in `integrate`.  Arrays of floats with a row for each body are the
            quickest; attitudes as quaternions (x, y, z, w).
        t0, t1 : float
            t1 < t0 runs backwards.
        parameters : dict, optional
            Other values of parameters of the interaction, by name; "interaction.name" in a sum where several
            have one of this name.
        t_eval : array of times, optional
            Where the motion is wanted in place of t1, as in `integrate`.

        Returns
        -------
        FlightMotion
            A named tuple of attitude, omega, position and velocity, (bodies, 4) and (bodies, 3); with
            `t_eval` time comes first.

        Raises
        ------
        PolhodeError
            As `integrate` does; a motion that blows up is an IntegrationError here.
        """
        t0 = t0 if type(t0) is float else number("t0", t0)
        t1 = t1 if type(t1) is float else number("t1", t1)
        given = rotation0, omega0, position0, velocity0
        if t_eval is None and self._step is not None and not self._scalar_first:
            rows = self._rows(given)
            if rows is not None and self._carried(rows, t0, t1, parameters):
                return FlightMotion(*rows)
        return self._by_integrate(given, t0, t1, parameters, t_eval)

    body = property(operator.attrgetter("_system"), doc="The system.")
    method = property(operator.attrgetter("_method"), doc="The method.")
    step = property(operator.attrgetter("_step"), doc="Size of the steps, or None.")
    tolerance = property(operator.attrgetter("_tolerance"), doc="The tolerance, or None.")
    max_step = property(operator.attrgetter("_max_step"), doc="The largest step, or None.")

    @property
    def interaction(self) -> Interaction:
        """What acts between the bodies."""
        return self._system.interaction

    @property
    def compiled(self) -> Callable[..., int]:
        """The flow for machine code, of up to eight bodies: ``advance(attitude, omega, position, velocity,
        t0, t1)``, a function of numba's that your own compiled functions can call.

        It gets arrays of floats, (bodies, 4) and (bodies, 3), writes the motion at t1 into them, and gives
        a status: 0 if all went well.  Otherwise the arrays stay as they were: 1, the motion left all
        bounds; 2, an implicit equation has no solution; 5, the arguments make no sense.  What the
        interaction reads outside itself is frozen into it.
        """
        import numba

        n = len(self._system)
        at_rest = np.tile((0.0, 0.0, 0.0, 1.0), (n, 1)), *np.zeros((3, n, 3))
        at_rest[2][:, 0] = np.arange(n)
        ready = self._step is not None and self._ready(at_rest, 0.0, 1.0)
        if not ready or not compiling():
            raise InputError(
                f"machine code can call the flow of up to eight bodies by steps of one size, with a method made of kicks "
                f"and drifts and interactions that numba can compile, got {self!r}; call the flow from Python"
            )
        assert self._bound is not None
        loop, (_, moments, parameters) = carry_system_loop(self._bound.program), ready
        control, most, width = self._control, int(LARGEST_COUNT), 13 * n
        inward, outward = self._axes

        @numba.njit(error_model="numpy")
        def advance(attitude, omega, position, velocity, t0, t1):
            y = np.empty((1, width))
            return loop(
                *(attitude, omega, position, velocity, y, float(t0), float(t1)),
                *(control, most, moments, parameters, inward, outward),
            )

        return advance

    def __repr__(self) -> str:
        if self.tolerance is None:
            control = f"step = {self.step:g}"
        else:
            control = f"rtol = {self.tolerance.rtol:g}"
            control += f", atol = {self.tolerance.atol:g}" if self.tolerance.atol else ""
        return f"<SystemFlow: {self.method.name}, {control}, {self._system!r}>"

    # --- the quick way ----------------------------------------------------------------------------

    def _rows(self, given: tuple[Any, ...]) -> tuple[np.ndarray, ...] | None:
        """Fresh arrays with a row for each body, None where these are not plain."""
        n, found = len(self._system), list[np.ndarray]()
        for one, width in zip(given, (4, 3, 3, 3), strict=True):
            if one is None and found:  # not the attitude
                one = np.zeros((n, 3))
            if not (isinstance(one, np.ndarray) and one.dtype == float and one.shape == (n, width)):
                return None
            found.append(np.array(one, order="C"))
        if given[2] is None or self._system.fixed.any():  # `integrate` knows what is asked of these
            return None
        return tuple(found)

    def _carried(self, rows: tuple[np.ndarray, ...], t0: float, t1: float, parameters: Any) -> bool:
        """Whether the motion in these arrays, which was that at t0, is now that at t1; where not,
        `integrate` is to be asked."""
        ready = self._ready(rows, t0, t1)
        if ready is None:
            return False
        carry, moments, p = ready
        y = np.empty((1, 13 * len(rows[0])))
        if parameters is not None:
            p = self._numbers_with(parameters, p, rows)
            if p is None:
                return False
        try:
            why = carry(*rows, y, t0, t1, self._control, MOST, moments, p, *self._axes)
        except Exception:  # of the interaction: `integrate` will say where
            return False
        return why == DONE

    def _ready(self, rows: tuple[np.ndarray, ...], t0: float, t1: float) -> Any:
        """The loop for a whole run, and its numbers; None where `integrate` is to be asked."""
        low, high = self._span
        fresh = low <= t0 <= high and low <= t1 <= high
        if self._carry is not None and fresh and self._bound.unchanged():  # type: ignore[union-attr]
            return self._carry
        y = np.concatenate(rows, axis=1).ravel()
        program: Any = self._find(t0, t1, y).program
        if not isinstance(program, FewProgram) or program.mode != "compiled" or not self._lasting:
            self._carry = None
            return None
        if not program.tried:
            q, Om, x, v = rows
            one = OneSystem(self._system, self._method, q, Om, None, False, x, v)
            one.look(program, Start(t0, t1, y, one.kind))
        p = tuple(program.parameters[:, 0].tolist())
        moments = tuple(program.moments[:, 0].tolist())
        memory = np.zeros((1, 13 * len(self._system)))
        still = *(one.copy() for one in rows), memory, 0.0, 0.0
        numbers = self._control, MOST, moments, p, *self._axes
        self._carry = direct(carry_system_loop(program), *still, *numbers), moments, p
        return self._carry

    def _numbers_with(
        self, given: Any, p: tuple[float, ...], rows: tuple[np.ndarray, ...]
    ) -> tuple[float, ...] | None:
        """The numbers of the loop with some parameters changed; None where `integrate` is to be asked:
        machine code and Python are compared with them too."""
        bound: Any = self._bound
        if self._known is None or self._known[0] is not bound:
            self._known = bound, places(self._system), Compared(p)
        _, where, compared = self._known
        found = numbers_with(where, p, given)
        if found is None or bound.span is None or compared.knows(found):
            return found
        motion = np.concatenate(rows, axis=1).ravel()
        if trouble(with_parameters(self._system, given), *self._span, motion):
            return None
        compared.learn(found)
        return found

    def _find(self, t0: float, t1: float, motion: np.ndarray) -> Bound:
        """The program, bound anew only where it may have changed."""
        low, high = self._span
        inside = low <= min(t0, t1) and max(t0, t1) <= high
        if self._bound is not None and inside and self._lasting and self._bound.unchanged():
            return self._bound
        if self._bound is not None:  # twice as much as before, so that this happens seldom
            low, high = min(low, t0, t1) - (high - low), max(high, t0, t1) + (high - low)
        else:
            low, high = min(t0, t1), max(t0, t1)
        self._span = low, high = max(low, -LARGEST_TIME), min(high, LARGEST_TIME)
        start = Start(low, high, motion, of_bodies(len(self._system)))
        self._bound = find_bound_system(self._method, self._system, True, start)
        self._lasting = (
            self._bound.program.mode == "callback"
            or watched(self._method, self._system.interaction)[0]
        )
        return self._bound

    # --- the other ways ---------------------------------------------------------------------------

    def _by_integrate(
        self,
        given: tuple[Any, ...],
        t0: float,
        t1: float,
        parameters: Any,
        t_eval: ArrayLike | None,
    ) -> FlightMotion:
        rotation0, omega0, *beside = given
        check_times(np.array([t0, t1]), "t0 and t1")
        if t0 == t1:
            raise InputError(f"t0 and t1 must differ, got {t0!r} for both; give another t1")
        turning = rotation0, omega0, None, self._scalar_first
        one: OneSystem
        if parameters is None:
            one = Prepared(self, self._system, self._method, *turning, *beside)
        else:
            other = with_parameters(self._system, parameters)
            one = OneSystem(other, self._method, *turning, *beside)
        if self._tolerance is None:
            one.will_step((t0, t1), self._step, None)
        else:
            one.will_choose((t0, t1), None, *self._tolerance, self._max_step, None)
        run = one.follow(t_eval, "end" if t_eval is None else 1, None, True)
        if not run.success:
            t, motion = run.ends[1]
            error = IntegrationError(
                run.message, t=t, step_index=run.steps, state=described(motion, run.kind)
            )
            error.trajectory = run
            raise error
        return FlightMotion(*parts(run.motion if t_eval is not None else run.motion[-1], run.kind))


class Prepared(OneSystem):
    """A run with the program of a flow."""

    def __init__(self, flow: SystemFlow, *given: Any) -> None:
        super().__init__(*given)
        self._flow = flow

    def bound(self, compiled: bool, start: Start) -> Bound:
        motion = in_user_axes(self.body, self.motion, self.kind)
        return self._flow._find(start.t, start.end, motion)
