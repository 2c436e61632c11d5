"""The flow of a body: prepared once, called as often as one likes.  The loops are `run` in
`polhode.core.loops`; whatever is not plain goes through `integrate`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode.core.jit import compiling, direct
from polhode.core.loops.fixed import DONE
from polhode.bodies._body import RigidBody
from polhode.core.motions import ROTATION, kind_of
from polhode.engine._integrate import BY_TOLERANCE, STANDARD
from polhode.engine.flow_by_integrate import by_integrate
from polhode.engine.flow_parts import FlowParts
from polhode.engine.many_states import ManyStates, are_many
from polhode.engine.diagnosis import RUNAWAY, check_first, escaped_states
from polhode.engine.flight import check_flight
from polhode.engine.one_body import as_body
from polhode.engine.one_run import check_control
from polhode.engine.prepared import (
    FOUR,
    THREE,
    Compared,
    Given,
    Ready,
    changed,
    moments_of,
    named,
    places,
    plain,
)
from polhode.engine.program import build
from polhode.engine.programs import find_bound, kind_of_body, kind_of_gyrostat
from polhode.engine.rotors import body_numbers, check_rotors
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
from polhode.loads.conversion import as_torque, check_made_for
from polhode.loads.force import Force, as_force
from polhode.loads.load import Load
from polhode.methods._method import Method
from polhode.methods._registry import get
from polhode.rotations.convert import scalar_last
from polhode.results.motion import ATTITUDE, OMEGA
from polhode.support.card import Card
from polhode.support.limits import LARGEST_TIME, check_step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation as Attitude


class Flow(FlowParts, Card):
    """The motion of a body from any initial state to any other time, prepared once for many calls:
    for optimisers, samplers and control loops.

    Every call returns, bit for bit, the end of `integrate` with the same arguments.  The first call
    compiles.  Values that the torque reads outside itself may change between calls.

    Parameters
    ----------
    body, torque, method, force
        As in `integrate`; with a force, or a `Load` for the torque, the body flies.  With a `System` this
        makes a `SystemFlow`.
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
        "_force",
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
        torque: Torque | Load | Callable[..., Any] | str | None = None,
        method: Method | str | None = None,
        *,
        force: Force | Callable[..., Any] | None = None,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        max_step: float | None = None,
        scalar_first: bool | None = None,
        **misspelt: Never,
    ) -> None:
        check_options(Flow, misspelt)
        chosen = not (rtol is None and atol is None and max_step is None)
        if isinstance(torque, Load):
            force, torque = torque.force + as_force(force), torque.torque
        self._body, self._torque = as_body(body), as_torque(torque)
        self._force = None if force is None else as_force(force)
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
        check_made_for(self._torque, self._body)
        if self._force is not None:
            check_flight(self._method, self._torque, chosen)
            check_made_for(self._force, self._body)
        if self._body.rotors:
            check_rotors(self._method)
        self._follow(self._force is not None)
        # to the principal ones and back, where they differ
        self._axes: tuple[Axes | None, Axes | None] = None, None
        if not self._body.is_principal:
            self._axes = axes_of(self._body.axes), axes_of(self._body.axes.T)
        self._advance: tuple[Any, Callable[..., Any]] | None = None
        self._ready: dict[Any, Ready] = {}  # by the kind of body, see `_other`

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process, or a copy, prepares it anew."""
        rtol, atol = self._tolerance or (None, None)
        again = partial(Flow, step=self._step, rtol=rtol, atol=atol, max_step=self._max_step)
        given = (self._body, self._torque, self._method)
        return (again if self._force is None else partial(again, force=self._force)), given

    def __call__(
        self,
        rotation0: Attitude | ArrayLike | None,
        omega0: ArrayLike,
        t0: float,
        t1: float,
        *,
        position0: ArrayLike | None = None,
        velocity0: ArrayLike | None = None,
        rotor_speeds0: ArrayLike | None = None,
        parameters: Mapping[str, Any] | tuple[Any, ...] | None = None,
        inertia: RigidBody | ArrayLike | None = None,
        t_eval: ArrayLike | None = None,
    ) -> Given:
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
        position0, velocity0 : three numbers, or (n, 3), optional
            Of the centre of mass at t0, of a body that flies; zero if not given.
        rotor_speeds0 : one number for each rotor, or (n, rotors), optional
            Speeds of the body's rotors at t0, relative to it; by default those of the body.
        parameters : dict, or tuple of all of them
            Values for the parameters of the torque, and of the force, in this call.  A name that
            occurs twice, in a sum of torques or in torque and force, is written "torque.name".  In
            flight they are a dict.
        inertia : three principal moments, or RigidBody, optional
            Of the body in this call, its rotors included; in flight the mass is that of the
            RigidBody, if it is one.
        t_eval : array of times, optional
            Where the motion is wanted in place of t1, as in `integrate`.

        Returns
        -------
        BodyMotion
            A named tuple: `attitude`, a quaternion (4,), body to space, scalar last, and `omega`
            (3,), body frame; in flight also `position` and `velocity` (3,), in space, and with
            rotors `rotor_speeds` (rotors,).  For n states (n, 4) and (n, 3); with `t_eval` time
            comes before the component.

        Raises
        ------
        PolhodeError
            As `integrate` does; a motion that blows up is an IntegrationError here.
        """
        given: tuple[Any, ...] = rotation0, omega0
        rest: tuple[np.ndarray, ...] | None = ()
        if self._kind is not ROTATION or not (position0 is velocity0 is rotor_speeds0 is None):
            given = (*given, *self._beside(position0, velocity0, rotor_speeds0))
            rest = self._plain(given[2:])
        q, Om = plain(rotation0, FOUR), plain(omega0, THREE)
        if q is None or Om is None or rest is None or t_eval is not None:
            if are_many(*given):
                return ManyStates(self, t0, t1, parameters, inertia).end(given, t_eval)
            q, Om, *others = self._checked(given)
            rest = tuple(others)
        elif q[0] == 1.0 or self._scalar_first:
            q = scalar_last(q, self._scalar_first)
        t0 = t0 if type(t0) is float else number("t0", t0)
        t1 = t1 if type(t1) is float else number("t1", t1)
        if t_eval is None and self._carried(q, Om, rest, t0, t1, parameters, inertia):
            return self._make((q, Om, *rest) if rest else (q, Om))
        return by_integrate(self, given, t0, t1, parameters, inertia, t_eval)

    body = property(operator.attrgetter("_body"), doc="The body.")
    torque = property(operator.attrgetter("_torque"), doc="The torque.")
    force = property(operator.attrgetter("_force"), doc="The force, None unless in flight.")
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
        5, the arguments make no sense.  In flight position and velocity come after omega, then, with
        rotors, their speeds, in the arguments and in what it gives; in flight the parameters are a
        pair, those of the torque and those of the force.  What torque and motors read outside
        themselves is frozen into it, as numba freezes globals: after a change, read `compiled` again
        and recompile its callers.
        """
        ready = self._ready.get(None)
        if ready is None or not ready.bound.unchanged():
            rest = np.zeros(self._kind.width - len(ANYHOW))
            ready = self._prepare(None, np.concatenate([ANYHOW, rest]), 0.0, 1.0, None)
        if ready is None or not compiling():
            program = find_bound(self._method, self._torque, self._body, force=self._force).program
            what = " and ".join(f"{load.kind} {load.name!r}" for load in program.called_back)
            raise InputError(
                f"{what} runs as Python ({program.note}), which machine code cannot call; make it a function "
                "that numba can compile, or call the flow from Python"
            )
        loop = run_loop(ready.bound.program, self._tolerance and self._tolerance.rtol)
        key = loop, ready.moments, ready.parameters
        if self._advance is None or self._advance[0] != key:
            given = (self._torque, self._force, self._control, self._axes)
            self._advance = key, advance_of(ready, loop, *given)
        return self._advance[1]

    def __repr__(self) -> str:
        if self.tolerance is None:
            control = f"step = {self.step:g}"
        else:
            control = f"rtol = {self.tolerance.rtol:g}"
            control += f", atol = {self.tolerance.atol:g}" if self.tolerance.atol else ""
        acting = f"torque {self.torque.name}"
        acting += "" if self.force is None else f", force {self.force.name}"
        return f"<Flow: {self.method.name}, {control}, {acting}, {self.body!r}>"

    # --- the quick way: everything is plain, and nothing goes wrong -------------------------------

    def _carried(self, q, Om, rest, t0, t1, parameters, inertia):
        """Whether the motion in these arrays, which was that at t0, is now that at t1; where not,
        `integrate` is to be asked."""
        found = self._found(q, Om, rest, t0, t1, parameters, inertia)
        if found is None:
            return False
        ready, I, p, given = found
        control, (inward, outward) = self._control, self._axes
        try:
            why = ready.carry(
                q, Om, rest, t0, t1, control, MOST, ready.growth, I, p, inward, outward
            )
        except Exception:  # of the torque: `integrate` will say where
            return False
        if why != FAST:
            return why == DONE
        before, (body, torque, _) = np.concatenate([q, Om])[None], self._changed(given, inertia)
        ready.carry(q, Om, rest, t0, t1, control, MOST, math.inf, I, p, inward, outward)
        return not escaped_states(torque, body, t0, t1, before, np.concatenate([q, Om])[None])

    def _found(self, q, Om, rest, t0, t1, parameters, inertia):
        """What is ready for a run from a motion, with the moments and parameters of the loop, and
        the torque's by name; None where `integrate` is to be asked."""
        I, kind, moments = (None, None, None) if inertia is None else self._other(inertia)
        ready = self._ready.get(kind)
        if ready is None or not ready.serves(t0, t1):
            ready = self._prepare(kind, np.concatenate([q, Om, *rest]), t0, t1, moments)
            if ready is None:
                return None
        given, p = None, ready.parameters
        if parameters is not None:
            given = named(self._torque, parameters, self._force)
            p = ready.filled(given)
        if self._force is not None and isinstance(inertia, RigidBody):
            p = (*p[: ready.mass], inertia.mass, *p[ready.mass + 1 :])
        if given is not None and ready.bound.span is not None and not ready.compared.knows(p):
            if not self._agrees(ready, np.concatenate([q, Om, *rest]), given):
                return None
            ready.compared.learn(p)
        return ready, I or ready.moments, p, given

    def _other(self, inertia):
        """The numbers of the body of a call, its kind, and what makes the body."""
        moments = moments_of(self._body, inertia)
        if not self._body.rotors:
            return moments, kind_of_body(self._method, moments), moments
        body = self._body_of(moments, self._body.mass)
        return (
            tuple(body_numbers(body)[:, 0].tolist()),
            kind_of_gyrostat(self._method, body),
            moments,
        )

    def _agrees(self, ready, y, given):
        """Whether machine code and Python give the same with other parameters too; where not,
        `integrate` calls Python."""
        program = ready.bound.program
        start = Start(*ready.span, y, self._kind)
        torque, force = changed(self._torque, given, self._force)
        try:
            other = build(self._method, torque, program.body, force=force, start=start)
        except PolhodeError:  # of the potential: `integrate` will say so
            return False
        return other.mode == "compiled"

    def _prepare(self, kind, y, t0, t1, moments):
        """Bind the torque as it is now, or None where it must be bound anew for each run."""
        low, high = min(t0, t1), max(t0, t1)
        before = self._ready.get(kind)
        if before is not None:  # twice as much as before, so that this happens seldom
            a, b = before.span
            a, b = (a if low >= a else low - (b - a)), (b if high <= b else high + (b - a))
            low, high = max(a, -LARGEST_TIME), min(b, LARGEST_TIME)
        body = self._body if moments is None else self._body_of(moments, self._body.mass)
        start = Start(low, high, y, self._kind)
        bound = find_bound(self._method, self._torque, body, force=self._force, start=start)
        program = bound.program
        if not bound.given or kind_of(self._method.state) is not ROTATION:
            return None
        try:
            rotation = self._in_principal_axes(y[ATTITUDE], y[OMEGA])
            check_first(program, t0, np.concatenate([rotation, y[len(rotation) :]]))
        except IntegrationError:
            program.tried = False  # `integrate` will say so
            return None
        loop = carry_loop(program, self._tolerance and self._tolerance.rtol)
        moments, p = tuple(program.moments[:, 0].tolist()), tuple(program.parameters[:, 0].tolist())
        growth = RUNAWAY if self._torque.conservative and not body.rotors else math.inf
        # nothing is computed where the two times are the same
        q, Om, *rest = (y[place].copy() for place in self._places)
        still = (q, Om, tuple(rest), 0.0, 0.0, self._control, MOST, growth, moments, p, *self._axes)
        where = places(program.loads, 0 if body.is_principal else 9)
        span = (low, high) if bound.span else (-math.inf, math.inf)
        ready = Ready(bound, direct(loop, *still), moments, p, *where, span, growth, Compared(p))
        self._ready[kind] = ready
        return ready

    # --- the other ways ---------------------------------------------------------------------------

    def _changed(self, parameters, inertia):
        """Body, torque and force of this call."""
        body, loads = self._body, (self._torque, self._force)
        if inertia is not None:
            mass = getattr(inertia, "mass", body.mass)
            body = self._body_of(moments_of(body, inertia), mass)
        return body, *(
            loads if parameters is None else changed(self._torque, parameters, self._force)
        )
