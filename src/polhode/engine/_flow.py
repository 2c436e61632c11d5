"""The flow of a body: prepared once, called as often as one likes.  The loops are `run` in
`polhode.core.loops`; whatever is not plain goes through `integrate`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode import rotations
from polhode.core.jit import compiling, direct
from polhode.core.loops.fixed import DONE
from polhode.core.motions import ROTATION, kind_of
from polhode.engine._integrate import BY_TOLERANCE, STANDARD, integrate
from polhode.engine.many_states import ManyStates, are_many
from polhode.engine.diagnosis import RUNAWAY, check_first, escaped_states
from polhode.engine.one_body import as_body, body_of_checked, check_control, three
from polhode.engine.prepared import (
    BodyMotion,
    Ready,
    changed,
    moments_of,
    named,
    places,
    plain,
)
from polhode.engine.program import build
from polhode.engine.programs import find_bound, kind_of_body
from polhode.engine.whole_run import FAST, MOST, Axes, advance_of, axes_of, carry_loop, run_loop
from polhode.errors import (
    InputError,
    IntegrationError,
    PolhodeError,
    check_options,
    flag,
    number,
    shows_options,
)
from polhode.loads._torque import Torque
from polhode.loads.agreement import ANYHOW, Start
from polhode.loads.conversion import as_torque
from polhode.methods._method import Method
from polhode.methods._registry import get
from polhode.rotations.convert import scalar_last
from polhode.results.motion import described, in_principal_axes, parts
from polhode.support.card import Card
from polhode.support.limits import LARGEST_TIME, check_step, check_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation as Attitude
    from polhode.bodies._body import RigidBody

_motion = BodyMotion._make


class Flow(Card):
    """The motion of a body from any initial state to any other time, prepared once for many calls:
    for optimisers, samplers and control loops.

    Every call returns, bit for bit, the end of `integrate` with the same arguments.  The first call
    compiles.  Values that the torque reads outside itself may change between calls.

    Parameters
    ----------
    body, torque, method
        As in `integrate`.
    step : float
        Size of the steps; the last one is cut to end at t1.
    rtol, atol, max_step : float
        Instead of `step`, as in `integrate`.
    scalar_first : bool, optional
        Whether the quaternions given to calls are (w, x, y, z), as in `integrate`; those returned,
        and those of `compiled`, are always (x, y, z, w).

    Examples
    --------
    >>> top = Flow([5.0, 5.0, 1.0], "heavy_top", rtol=1e-9)
    >>> attitude, omega = top((0.0, 0.0, 0.0, 1.0), (0.1, 0.0, 5.0), 0.0, 10.0)
    >>> omega.round(6)
    array([ 0.12351, -0.01948,  5.     ])
    >>> top((0.0, 0.0, 0.0, 1.0), [[0.1, 0.0, 5.0], [0.2, 0.0, 5.0]], 0.0, 10.0).attitude.shape
    (2, 4)
    """

    __slots__ = (  # what was prepared is for these: none can be assigned
        "__weakref__",
        "_advance",
        "_axes",
        "_body",
        "_control",
        "_max_step",
        "_method",
        "_ready",
        "_scalar_first",
        "_step",
        "_tolerance",
        "_torque",
    )

    @shows_options()
    def __init__(
        self,
        body: RigidBody | ArrayLike,
        torque: Torque | Callable[..., Any] | str | None = None,
        method: Method | str | None = None,
        *,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        max_step: float | None = None,
        scalar_first: bool | None = None,
        **misspelt: Never,
    ) -> None:
        check_options(Flow, misspelt)
        chosen = not (rtol is None and atol is None and max_step is None)
        self._body, self._torque = as_body(body), as_torque(torque)
        self._method = get(method or (BY_TOLERANCE if chosen else STANDARD))
        self._scalar_first = None if scalar_first is None else flag("scalar_first", scalar_first)
        self._step = self._tolerance = self._max_step = None
        self._control: tuple[float, ...]
        if chosen:
            self._tolerance, longest = check_control(self._method, step, rtol, atol, max_step)
            self._max_step, self._control = max_step, (*self._tolerance, longest)
        elif step is None:
            raise InputError("step is missing; give the size of a step, or rtol for adaptive steps")
        else:
            self._step = check_step(number("step", step, positive=True))
            self._control = (self._step,)
        # to the principal ones and back, where they differ
        self._axes: tuple[Axes | None, Axes | None] = None, None
        if not self._body.is_principal:
            self._axes = axes_of(self._body.axes), axes_of(self._body.axes.T)
        self._advance: tuple[Any, Callable[..., Any]] | None = None
        self._ready: dict[int | None, Ready] = {}  # by the kind of body, see `_kind`

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process, or a copy, prepares it anew."""
        rtol, atol = self._tolerance or (None, None)
        again = partial(Flow, step=self._step, rtol=rtol, atol=atol, max_step=self._max_step)
        return again, (self._body, self._torque, self._method)

    def __call__(
        self,
        rotation0: Attitude | ArrayLike | None,
        omega0: ArrayLike,
        t0: float,
        t1: float,
        *,
        parameters: Mapping[str, Any] | tuple[Any, ...] | None = None,
        inertia: RigidBody | ArrayLike | None = None,
        t_eval: ArrayLike | None = None,
    ) -> BodyMotion:
        """The motion at t1 from that at t0.

        Parameters
        ----------
        rotation0 : unit quaternion (x, y, z, w), or anything that `integrate` takes
            Attitude at t0.  Tuples, lists and arrays of floats are the quickest.
        omega0 : three numbers
            Angular velocity at t0, body frame.  Arrays (n, 4) of quaternions or (n, 3) of angular
            velocities, or both, are n states, which go over SIMD lanes and threads.
        t0, t1 : float
            t1 < t0 runs backwards.
        parameters : dict, or tuple of all of them
            Values for the torque's parameters in this call.  In a sum of torques a name that occurs
            twice is written "torque.name".
        inertia : three principal moments, or RigidBody, optional
            Of the body in this call.
        t_eval : array of times, optional
            Where the motion is wanted in place of t1, as in `integrate`.

        Returns
        -------
        BodyMotion
            A named tuple: `attitude`, a quaternion (4,), body to space, scalar last, and `omega`
            (3,), body frame.  For n states (n, 4) and (n, 3); with `t_eval` time comes before the
            component.

        Raises
        ------
        PolhodeError
            As `integrate` does; a motion that blows up is an IntegrationError here.
        """
        q, Om = plain(rotation0, 4), plain(omega0, 3)
        if q is None or Om is None or t_eval is not None:
            if are_many(rotation0, omega0):
                return ManyStates(self, t0, t1, parameters, inertia).end(rotation0, omega0, t_eval)
            q = rotations.as_quaternion(rotation0, self._scalar_first, "rotation0")
            Om = three("omega0", omega0).copy()
        elif q[0] == 1.0 or self._scalar_first:
            q = scalar_last(q, self._scalar_first)
        t0 = t0 if type(t0) is float else number("t0", t0)
        t1 = t1 if type(t1) is float else number("t1", t1)
        if t_eval is None and self._carried(q, Om, t0, t1, parameters, inertia):
            return _motion((q, Om))
        return self._followed(rotation0, omega0, t0, t1, parameters, inertia, t_eval)

    body = property(operator.attrgetter("_body"), doc="The body.")
    torque = property(operator.attrgetter("_torque"), doc="The torque.")
    method = property(operator.attrgetter("_method"), doc="The method.")
    step = property(operator.attrgetter("_step"), doc="Size of the steps, or None.")
    tolerance = property(operator.attrgetter("_tolerance"), doc="The tolerance, or None.")
    max_step = property(operator.attrgetter("_max_step"), doc="The largest step, or None.")

    @property
    def compiled(self) -> Callable[..., Any]:
        """The flow for machine code: `advance(q, omega, t0, t1, parameters=None)`, a function of
        numba's that your own compiled functions can call.

        It takes tuples of four and three numbers, and those of the torque's parameters, in their
        order, as a tuple (in a sum of torques one tuple for each term); it gives (q, omega,
        status), where the status is 0 if all went well.  Otherwise the motion is the last good one:
        1, it left all bounds; 2, an implicit equation has no solution; 4, no step is small enough;
        5, the arguments make no sense.  What the torque reads outside itself is frozen into it, as
        numba freezes globals: after a change, read `compiled` again and recompile its callers.
        """
        ready = self._ready.get(None)
        if ready is None or not ready.bound.unchanged():
            q, Om = parts(ANYHOW.copy())
            ready = self._prepare(None, q, Om, 0.0, 1.0, None)
        if ready is None or not compiling():
            note = find_bound(self._method, self._torque, self._body).program.note
            raise InputError(
                f"torque {self._torque.name!r} runs as Python ({note}), which machine code cannot call; make it a function "
                "that numba can compile, or call the flow from Python"
            )
        loop = run_loop(ready.bound.program, self._tolerance and self._tolerance.rtol)
        key = loop, ready.moments, ready.parameters
        if self._advance is None or self._advance[0] != key:
            self._advance = key, advance_of(ready, loop, self._torque, self._control, self._axes)
        return self._advance[1]

    def __repr__(self) -> str:
        if self.tolerance is None:
            control = f"step = {self.step:g}"
        else:
            control = f"rtol = {self.tolerance.rtol:g}"
            control += f", atol = {self.tolerance.atol:g}" if self.tolerance.atol else ""
        return f"<Flow: {self.method.name}, {control}, torque {self.torque.name}, {self.body!r}>"

    # --- the quick way: everything is plain, and nothing goes wrong -------------------------------

    def _carried(self, q, Om, t0, t1, parameters, inertia):
        """Whether the motion in two arrays, which was that at t0, is now that at t1; where not,
        `integrate` is to be asked."""
        found = self._found(q, Om, t0, t1, parameters, inertia)
        if found is None:
            return False
        ready, I, p, given = found
        inward, outward = self._axes
        try:
            why = ready.carry(
                q, Om, t0, t1, self._control, MOST, ready.growth, I, p, inward, outward
            )
        except Exception:  # of the torque: `integrate` will say where
            return False
        if why != FAST:
            return why == DONE
        before, (body, torque) = (q[None].copy(), Om[None].copy()), self._changed(given, inertia)
        ready.carry(q, Om, t0, t1, self._control, MOST, math.inf, I, p, inward, outward)
        return not escaped_states(torque, body, t0, t1, before, (q[None], Om[None]))

    def _found(self, q, Om, t0, t1, parameters, inertia):
        """What is ready for a run from a motion, with the moments and parameters of the loop, and
        the torque's by name; None where `integrate` is to be asked."""
        I = None if inertia is None else moments_of(self._body, inertia)
        kind = None if I is None else kind_of_body(self._method, I)
        ready = self._ready.get(kind)
        if ready is None or not ready.serves(t0, t1):
            ready = self._prepare(kind, q, Om, t0, t1, I)
            if ready is None:
                return None
        if parameters is None:
            return ready, I or ready.moments, ready.parameters, None
        given = named(self._torque, parameters)
        p = ready.filled(given)
        if ready.bound.span is not None and not ready.knows(p):
            if not self._agrees(ready, q, Om, given):
                return None
            ready.learn(p)
        return ready, I or ready.moments, p, given

    def _agrees(self, ready, q, Om, given):
        """Whether machine code and Python give the same with other parameters too; where not,
        `integrate` calls Python."""
        start, body = Start(*ready.span, np.concatenate([q, Om])), ready.bound.program.body
        try:
            other = build(self._method, changed(self._torque, given), body, start=start)
        except PolhodeError:  # of the potential: `integrate` will say so
            return False
        return other.mode == "compiled"

    def _prepare(self, kind, q, Om, t0, t1, moments):
        """Bind the torque as it is now, or None where it must be bound anew for each run."""
        low, high = min(t0, t1), max(t0, t1)
        before = self._ready.get(kind)
        if before is not None:  # twice as much as before, so that this happens seldom
            a, b = before.span
            a, b = (a if low >= a else low - (b - a)), (b if high <= b else high + (b - a))
            low, high = max(a, -LARGEST_TIME), min(b, LARGEST_TIME)
        body = self._body if moments is None else body_of_checked(moments)
        start = Start(low, high, np.concatenate([q, Om]))
        bound = find_bound(self._method, self._torque, body, start=start)
        program = bound.program
        if not bound.given or kind_of(self._method.state) is not ROTATION:
            return None
        axes = None if body.is_principal else body.axes
        try:
            check_first(program, t0, in_principal_axes(None, axes, q, Om, False))
        except IntegrationError:
            program.tried = False  # `integrate` will say so
            return None
        loop = carry_loop(program, self._tolerance and self._tolerance.rtol)
        moments, p = tuple(program.moments[:, 0].tolist()), tuple(program.parameters[:, 0].tolist())
        growth = RUNAWAY if self._torque.conservative else math.inf
        # nothing is computed where the two times are the same
        still = (q, Om, 0.0, 0.0, self._control, MOST, growth, moments, p, *self._axes)
        where = places(program.acting, 0 if body.is_principal else 9)
        span = (low, high) if bound.span else (-math.inf, math.inf)
        ready = Ready(bound, direct(loop, *still), moments, p, *where, span, growth, [p, p])
        self._ready[kind] = ready
        return ready

    # --- the other ways ---------------------------------------------------------------------------

    def _changed(self, parameters, inertia):
        """Body and torque of this call."""
        body = self._body if inertia is None else body_of_checked(moments_of(self._body, inertia))
        return body, self._torque if parameters is None else changed(self._torque, parameters)

    def _followed(self, rotation0, omega0, t0, t1, parameters, inertia, t_eval):
        """The same by `integrate`: long, in Python, at given times, or with something to report."""
        body, torque = self._changed(parameters, inertia)
        check_times(np.array([t0, t1]), "t0 and t1")
        if t0 == t1:
            raise InputError(f"t0 and t1 must differ, got {t0!r} for both; give another t1")
        rtol, atol = self._tolerance or (None, None)
        run = integrate(
            body,
            torque,
            (t0, t1),
            self._step,
            self._method,
            rtol=rtol,
            atol=atol,
            max_step=self._max_step,
            rotation0=rotation0,
            scalar_first=bool(self._scalar_first),
            omega0=omega0,
            t_eval=t_eval,
            every="end" if t_eval is None else 1,
        )
        if not run.success:
            t, motion = run.ends[1]
            error = IntegrationError(
                run.message, t=t, step_index=run.steps, state=described(motion)
            )
            error.trajectory = run
            raise error
        return BodyMotion(
            *(part if t_eval is not None else part[-1] for part in (run.quaternion, run.omega))
        )
