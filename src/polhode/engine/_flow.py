"""The flow of a body: prepared once, called as often as one likes.  The loops are `run` in
`polhode.core.loops`; whatever is not plain goes through `integrate`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Never

import numpy as np

from polhode import rotations
from polhode.core.jit import compiled as dispatcher, compiling, direct, jit
from polhode.core.layout import filler, flatten, shape
from polhode.core.loops.fixed import DONE, REFUSED
from polhode.core.motions import ROTATION, Rotation, kind_of
from polhode.engine._ensemble import ensemble
from polhode.engine._integrate import BY_TOLERANCE, STANDARD, integrate
from polhode.engine.carriers.tiles import default_threads
from polhode.engine.diagnosis import RUNAWAY, Runaway, check_first
from polhode.engine.ensemble import inputs
from polhode.engine.one_body import as_body, check_control, three
from polhode.engine.programs import Bound, find_bound
from polhode.engine.schedule import LARGEST_COUNT
from polhode.errors import (
    InputError,
    IntegrationError,
    brief,
    check_options,
    floats,
    number,
    unknown,
)
from polhode.loads._torque import Torque
from polhode.loads.agreement import ANYHOW, Start
from polhode.loads.conversion import as_torque
from polhode.loads.kernels import nested
from polhode.loads.sum import Sum
from polhode.methods._method import Method
from polhode.methods._registry import get
from polhode.methods.exact_flow import symmetry_axis
from polhode.results.motion import described, in_principal_axes, in_user_axes, parts
from polhode.support.limits import (
    LARGEST_MOMENT,
    LARGEST_RATE,
    LARGEST_TIME,
    LEAST_MOMENT,
    check_rates,
    check_step,
    check_times,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation as Attitude
    from polhode.bodies._body import RigidBody

# steps of one call: more of them go through `integrate`, in chunks, between which Ctrl-C is heard
MOST = 100_000
TASK = 8  # states that a thread takes at a time
UNIT = 4 * float(np.finfo(float).eps)  # a quaternion that is unit to rounding stays as it is
OFF_UNIT = 1e-6
_FLOATS = {count: (float,) * count for count in (3, 4)}


class Axes(NamedTuple):
    """A change of the axes of a body: as a quaternion, and as a matrix."""

    turn: tuple
    matrix: tuple


@jit
def turned(q, Om, axes):
    """A motion in other axes of the body, R -> R Q, Om -> Q^T Om: the arithmetic of
    `results.motion`."""
    (x, y, z, w), (a, b, c, d), M = q, axes.turn, axes.matrix
    attitude = (
        w * a + d * x + (y * c - z * b),
        w * b + d * y + (z * a - x * c),
        w * c + d * z + (x * b - y * a),
        w * d - (x * a + y * b + z * c),
    )
    return attitude, (
        Om[0] * M[0][0] + Om[1] * M[1][0] + Om[2] * M[2][0],
        Om[0] * M[0][1] + Om[1] * M[1][1] + Om[2] * M[2][1],
        Om[0] * M[0][2] + Om[1] * M[1][2] + Om[2] * M[2][2],
    )


@jit
def unturned(q, Om, axes):
    """The same where the axes stay."""
    return q, Om


@jit
def unit(q):
    """(a quaternion at unit length, whether it was one): the rule of `rotations.as_quaternion`."""
    norm = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    fits = abs(norm - 1.0) <= OFF_UNIT
    if abs(norm - 1.0) <= UNIT:
        norm = 1.0
    return (q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm), fits


def advance_of(ready, torque, control, axes):
    """`Flow.compiled`."""
    import numba

    terms = torque.terms
    values = [term.params or () for term in terms]
    places = [i for place, _ in ready.own for i in range(place.start, place.stop)]
    kind = shape(tuple(values) if isinstance(torque, Sum) else values[0])
    fill = dispatcher(filler(kind, ready.parameters, places))
    whole, unitary = dispatcher(unturned if axes is None else turned), dispatcher(unit)
    inward, outward = axes or (None, None)
    run, usual, rest = ready.loop, ready.parameters, (*control, int(LARGEST_COUNT), ready.moments)

    @numba.njit(error_model="numpy")
    def advance(q, omega, t0, t1, parameters=None):
        p = usual if parameters is None else fill(parameters)
        attitude = (float(q[0]), float(q[1]), float(q[2]), float(q[3]))
        spin = (float(omega[0]), float(omega[1]), float(omega[2]))
        attitude, fits = unitary(attitude)
        if not fits:
            return attitude, spin, REFUSED
        attitude, spin = whole(attitude, spin, inward)
        attitude, spin, why = run(attitude, spin, float(t0), float(t1), *(*rest, p))
        attitude, spin = whole(attitude, spin, outward)
        return attitude, spin, why

    return advance


def _axes(matrix):
    return Axes(tuple(rotations.as_quaternion(matrix).tolist()), nested(matrix))


def _plain(value: Any, count: int) -> tuple[float, ...] | None:
    """So many floats in a tuple, where `value` is a tuple, list or array of just these."""
    kind = type(value)
    if kind is np.ndarray and value.ndim == 1:
        value = tuple(value.tolist())
    elif kind is list:
        value = tuple(value)
    elif kind is not tuple:
        return None
    return value if tuple(map(type, value)) == _FLOATS[count] else None


class Ready(NamedTuple):
    """A program and its loop, ready to be called."""

    bound: Bound
    loop: Callable[..., Any]  # for machine code
    run: Callable[..., Any]  # for Python
    moments: tuple[float, ...]
    parameters: tuple[float, ...]
    own: list[tuple[slice, tuple[int, ...]]]  # the places of the torque's parameters, their shapes
    places: dict[str, tuple[slice, tuple[int, ...]]]  # the same by name
    span: tuple[float, float]  # over which machine code and Python were compared
    conservative: bool

    def serves(self, t0: float, t1: float) -> bool:
        """Whether it is still what it was, and good for a run between these times."""
        low, high = self.span
        return low <= t0 <= high and low <= t1 <= high and self.bound.unchanged()

    def filled(self, given: Mapping[str, Any]) -> tuple[float, ...]:
        """The parameters of the loop with some of the torque's changed."""
        numbers = list(self.parameters)
        for name, value in given.items():
            if name not in self.places:
                raise unknown("parameter", name, self.places)
            place, form = self.places[name]
            if type(value) is float and form == () and math.isfinite(value):
                numbers[place.start] = value
                continue
            array = floats(f"parameter {name!r}", value)
            if array.shape != form:
                raise InputError(
                    f"parameter {name!r} must have shape {form}, got {array.shape}; give as many numbers as the "
                    "torque has"
                )
            numbers[place] = array.ravel().tolist()
        return tuple(numbers)


class Flow:
    """The motion of a body from any start to any later or earlier time, prepared once and called as
    often as one likes: for optimisers, samplers and control loops.

    Every call gives, bit for bit, the end of `integrate` with the same arguments.  The first one
    compiles.  What the torque reads outside itself may change between calls: the next one takes the
    new values.

    Parameters
    ----------
    body, torque, method
        As in `integrate`.
    step : float
        Size of the steps; the last one is cut to end at t1.
    rtol, atol, max_step : float
        In place of `step`, as in `integrate`.

    Examples
    --------
    >>> top = Flow([5.0, 5.0, 1.0], "heavy_top", rtol=1e-9)
    >>> attitude, omega = top((0.0, 0.0, 0.0, 1.0), (0.1, 0.0, 5.0), 0.0, 10.0)
    >>> omega.round(6)
    array([-0.093986,  0.06022 ,  5.      ])
    >>> top((0.0, 0.0, 0.0, 1.0), [[0.1, 0.0, 5.0], [0.2, 0.0, 5.0]], 0.0, 10.0).attitude.shape
    (2, 4)
    """

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
        **misspelt: Never,
    ) -> None:
        check_options(Flow, misspelt)
        chosen = not (rtol is None and atol is None and max_step is None)
        self.body, self.torque = as_body(body), as_torque(torque)
        self.method = get(method or (BY_TOLERANCE if chosen else STANDARD))
        self.step = self.tolerance = self.max_step = None
        if chosen:
            self.tolerance, longest = check_control(self.method, step, rtol, atol, max_step)
            self.max_step, self._control = max_step, (*self.tolerance, longest)
        elif step is None:
            raise InputError(
                "step is missing; give the size of a step, or rtol to have the steps chosen"
            )
        else:
            self.step = check_step(number("step", step, positive=True))
            self._control = (self.step,)
        self._axes = None  # to the principal ones and back, where they differ
        if not self.body.is_principal:
            self._axes = _axes(self.body.axes), _axes(self.body.axes.T)
        self._advance: tuple[Any, Callable[..., Any]] | None = None
        self._ready: dict[int | None, Ready] = {}  # by the kind of body, see `_kind`

    def __call__(
        self,
        rotation0: Attitude | ArrayLike | None,
        omega0: ArrayLike,
        t0: float,
        t1: float,
        *,
        parameters: Mapping[str, Any] | tuple[Any, ...] | None = None,
        inertia: ArrayLike | None = None,
        t_eval: ArrayLike | None = None,
    ) -> Rotation:
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
        inertia : three principal moments, optional
            Of the body in this call.
        t_eval : array of times, optional
            Where the motion is wanted in place of t1, as in `integrate`.

        Returns
        -------
        Rotation
            A named tuple: `attitude`, a quaternion (4,), body to space, scalar last, and `omega`
            (3,), body frame.  For n states (n, 4) and (n, 3); with `t_eval` time comes before the
            component.

        Raises
        ------
        PolhodeError
            As `integrate` does; a motion that blows up is an IntegrationError here.
        """
        q, Om = _plain(rotation0, 4), _plain(omega0, 3)
        if q is None or Om is None or t_eval is not None:
            if self._several(rotation0, omega0):
                return self._many(rotation0, omega0, t0, t1, parameters, inertia, t_eval)
            q = tuple(rotations.as_quaternion(rotation0).tolist())
            Om = tuple(three("omega0", omega0).tolist())
        t0 = t0 if type(t0) is float else number("t0", t0)
        t1 = t1 if type(t1) is float else number("t1", t1)
        if t_eval is None:
            motion = self._end(q, Om, t0, t1, parameters, inertia)
            if motion is not None:
                y = np.array(motion)
                return Rotation(y[:4], y[4:])
        return self._followed(q, Om, t0, t1, parameters, inertia, t_eval)

    @property
    def compiled(self) -> Callable[..., Any]:
        """The flow for machine code: `advance(q, omega, t0, t1, parameters=None)`, a function of
        numba's that your own compiled functions can call.

        It takes tuples of four and three numbers, and those of the torque's parameters, in their
        order, as a tuple (in a sum of torques one tuple for each term); it gives (q, omega,
        status), where the status is 0 if all went well.  Otherwise the motion is the last good one:
        1, it left all bounds; 2, an implicit equation has no solution; 4, no step is small enough;
        5, the arguments make no sense.  What the torque reads outside itself is frozen into it, as
        numba freezes globals: ask for `compiled` again, and compile anew what calls it, after a
        change.
        """
        ready = self._ready.get(None)
        if ready is None or not ready.bound.unchanged():
            ready = self._prepare(None, tuple(ANYHOW.tolist()), 0.0, 1.0, None)
        if ready is None or not compiling():
            note = find_bound(self.method, self.torque, self.body).program.note
            raise InputError(
                f"torque {self.torque.name!r} runs as Python ({note}), which machine code cannot call; make it a function "
                "that numba can compile, or call the flow from Python"
            )
        key = ready.loop, ready.moments, ready.parameters
        if self._advance is None or self._advance[0] != key:
            self._advance = key, advance_of(ready, self.torque, self._control, self._axes)
        return self._advance[1]

    # --- the quick way: everything is plain, and nothing goes wrong -------------------------------

    def _end(self, q, Om, t0, t1, parameters, inertia):
        """The motion at t1, seven numbers, or None where `integrate` is to be asked."""
        norm, (a, b, c) = math.hypot(*q), Om
        if not -UNIT <= norm - 1.0 <= UNIT:
            if not -OFF_UNIT <= norm - 1.0 <= OFF_UNIT:
                return None
            q = q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm
        if not (abs(a) <= LARGEST_RATE and abs(b) <= LARGEST_RATE and abs(c) <= LARGEST_RATE):
            return None
        if not (abs(t0) <= LARGEST_TIME and abs(t1) <= LARGEST_TIME):
            return None
        found = self._found(q + Om, t0, t1, parameters, inertia)
        if found is None:
            return None
        ready, I, p, given = found
        if self._axes is not None:
            q, Om = turned(q, Om, self._axes[0])
        try:
            end, spin, why = ready.run(q, Om, t0, t1, *self._control, MOST, I, p)
        except Exception:  # of the torque: `integrate` will say where
            return None
        if why != DONE:
            return None
        if ready.conservative and _energy(I, spin) > RUNAWAY * _energy(I, Om) + 1e-300:
            body, torque = self._changed(given, inertia)
            guard = Runaway(torque, body, t0, np.array(q + Om))
            if guard.escaped(t1, np.array(end + spin)):
                return None
        if self._axes is not None:
            end, spin = turned(end, spin, self._axes[1])
        return end + spin

    def _found(self, motion, t0, t1, parameters, inertia):
        """What is ready for a run from a motion, with the moments and parameters of the loop, and
        the torque's by name; None where `integrate` is to be asked."""
        I = None if inertia is None else self._moments(inertia)
        kind = None if I is None else self._kind(I)
        ready = self._ready.get(kind)
        if ready is None or not ready.serves(t0, t1):
            ready = self._prepare(kind, motion, t0, t1, I)
            if ready is None:
                return None
        if parameters is None:
            return ready, I or ready.moments, ready.parameters, None
        given = self._named(parameters)
        return ready, I or ready.moments, ready.filled(given), given

    def _prepare(self, kind, motion, t0, t1, moments):
        """Bind the torque as it is now, or None where it must be bound anew for each run."""
        low, high = min(t0, t1), max(t0, t1)
        before = self._ready.get(kind)
        if before is not None:  # twice as much as before, so that this happens seldom
            a, b = before.span
            a, b = (a if low >= a else low - (b - a)), (b if high <= b else high + (b - a))
            low, high = max(a, -LARGEST_TIME), min(b, LARGEST_TIME)
        body = self.body if moments is None else as_body(moments)
        start = Start(low, high, np.array(motion))
        bound = find_bound(self.method, self.torque, body, start=start)
        program = bound.program
        if not bound.given or kind_of(self.method.state) is not ROTATION:
            return None
        try:
            check_first(program, t0, self._principal(motion))
        except IntegrationError:
            program.tried = False  # `integrate` will say so
            return None
        loop = program.run_loop(self.tolerance and self.tolerance.rtol)
        moments, p = tuple(program.moments[:, 0].tolist()), tuple(program.parameters[:, 0].tolist())
        # nothing is computed where the two times are the same
        still = (motion[:4], motion[4:], 0.0, 0.0, *self._control, MOST, moments, p)
        places = _places(program.acting, 0 if body.is_principal else 9)
        span = (low, high) if bound.span else (-math.inf, math.inf)
        run = direct(loop, *still)
        ready = Ready(bound, loop, run, moments, p, *places, span, self.torque.conservative)
        self._ready[kind] = ready
        return ready

    def _principal(self, motion):
        q, Om = motion[:4], motion[4:]
        if self._axes is not None:
            q, Om = turned(q, Om, self._axes[0])
        return np.array(q + Om)

    def _moments(self, inertia):
        """Three principal moments, checked."""
        if not self.body.is_principal:
            raise InputError(
                "inertia=... is for a body whose axes are the principal ones, got a Flow of a body with other axes; "
                "give Flow the principal moments, or make a new Flow"
            )
        I = _plain(inertia, 3)
        if I is not None and min(I) >= LEAST_MOMENT and 2.0 * max(I) <= sum(I) <= LARGEST_MOMENT:
            return I
        body = as_body(inertia)
        if not body.is_principal:
            raise InputError(
                f"inertia must be three principal moments, got {brief(inertia)}; make a new Flow for a body with other axes"
            )
        return tuple(body.moments.tolist())

    def _kind(self, moments):
        """All that methods made to measure ask of a body; None stands for the flow's own."""
        axis = None if self.method.adapt is None else symmetry_axis(moments)
        return 3 if axis is None else axis

    def _named(self, parameters):
        """The torque's parameters in this call, by name."""
        if isinstance(parameters, Mapping):
            return parameters
        names = inputs.fields(self.torque)
        if not isinstance(parameters, tuple) or len(parameters) != len(names):
            raise InputError(
                f"parameters must be a dict, or a tuple of the {len(names)} that torque {self.torque.name!r} has, got "
                f"{brief(parameters)}; write parameters={{name: value}}"
            )
        return dict(zip(names, parameters, strict=True))

    # --- the other ways ---------------------------------------------------------------------------

    def _changed(self, parameters, inertia):
        """Body and torque of this call."""
        body = self.body if inertia is None else as_body(self._moments(inertia))
        if not parameters:
            return body, self.torque
        given = inputs.check_parameters(self.torque, self._named(parameters))
        changed = [_changed_term(term, given) for term in self.torque.terms]
        return body, Sum(changed) if isinstance(self.torque, Sum) else changed[0]

    def _followed(self, rotation0, omega0, t0, t1, parameters, inertia, t_eval):
        """The same by `integrate`: long, in Python, at given times, or with something to report."""
        body, torque = self._changed(parameters, inertia)
        rtol, atol = self.tolerance or (None, None)
        run = integrate(
            body,
            torque,
            (t0, t1),
            self.step,
            self.method,
            rtol=rtol,
            atol=atol,
            max_step=self.max_step,
            rotation0=rotation0,
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
        return Rotation(
            *(part if t_eval is not None else part[-1] for part in (run.quaternion, run.omega))
        )

    def _several(self, rotation0, omega0):
        """Whether these are many states."""
        if hasattr(rotation0, "as_quat"):
            return not rotation0.single or np.ndim(omega0) == 2
        form = np.shape(rotation0) if rotation0 is not None else ()
        return np.ndim(omega0) == 2 or (len(form) == 2 and form != (3, 3)) or len(form) == 3

    def _many(self, rotation0, omega0, t0, t1, parameters, inertia, t_eval):
        q, Om = inputs.attitudes(rotation0), inputs.vectors("omega0", omega0)
        counts = inputs.Counts(None)
        counts.add("rotation0", len(q))
        counts.add("omega0", len(Om))
        q, Om = np.broadcast_to(q, (counts.n, 4)), np.broadcast_to(Om, (counts.n, 3))
        floats("rotation0", q), floats("omega0", Om)  # not a number is refused
        if t_eval is not None:
            each = [
                self._followed(*one, t0, t1, parameters, inertia, t_eval)
                for one in zip(q, Om, strict=True)
            ]
            return Rotation(*map(np.stack, zip(*each, strict=True)))
        if self.tolerance is None:
            return self._by_lanes(q, Om, t0, t1, parameters, inertia)
        return self._by_threads(q, Om, t0, t1, parameters, inertia)

    def _by_lanes(self, q, Om, t0, t1, parameters, inertia):
        """Many states by steps of one size, as an ensemble."""
        body, torque = self._changed(parameters, inertia)
        run = ensemble(body, torque, (t0, t1), self.step, self.method, rotation0=q, omega0=Om)
        if run.failures:
            i = min(one.body for one in run.failures)
            self._one_of_many(i, q[i], Om[i], t0, t1, parameters, inertia)
        return Rotation(run.quaternion, run.omega)

    def _by_threads(self, q, Om, t0, t1, parameters, inertia):
        """Many states by tolerance, each in its own steps."""
        t0, t1 = number("t0", t0), number("t1", t1)
        check_rates(Om)
        check_times(np.array([t0, t1]), "t0 and t1")
        first = (*q[0].tolist(), *Om[0].tolist())
        found = self._found(first, t0, t1, parameters, inertia)
        why = np.ones(len(q), dtype=np.int64)
        if found is None:
            motions = np.concatenate([q, Om], axis=1)
        else:
            ready, I, p, _ = found
            axes = None if self.body.is_principal else self.body.axes
            motions = in_principal_axes(None, axes, q, Om, False)
            loop = ready.bound.program.run_loop(self.tolerance.rtol, many=True)
            rest = (motions, t0, t1, *self._control, MOST, I, p, why)
            spread(direct(loop, 0, 0, *rest), len(q), rest)
            motions = in_user_axes(self.body, motions)
        for i in np.flatnonzero(why != DONE):  # long, or with something to report
            one = self._one_of_many(i, q[i], Om[i], t0, t1, parameters, inertia)
            motions[i] = np.concatenate(one)
        return parts(motions)

    def _one_of_many(self, i, q, Om, t0, t1, parameters, inertia):
        try:
            return self._followed(q, Om, t0, t1, parameters, inertia, None)
        except Exception as error:
            error.add_note(f"(state {i} of those given)")
            raise


def spread(loop, count, rest):
    """Call loop(first, last, *rest) for all of so many states, by threads."""
    tasks = iter(range(0, count, TASK))  # a thread takes the next when it has done one

    def work(_):
        for first in tasks:
            loop(first, min(first + TASK, count), *rest)

    threads = min(default_threads(), -(-count // TASK))
    if threads == 1:
        return work(None)
    pool = ThreadPoolExecutor(threads)
    try:
        list(pool.map(work, range(threads)))
    finally:
        for _ in tasks:  # after Ctrl-C none is left
            pass
        pool.shutdown()


def _energy(I, Om):
    """Kinetic."""
    (A, B, C), (a, b, c) = I, Om
    return 0.5 * (A * a * a + B * b * b + C * c * c)


def _changed_term(term, given):
    """A torque with those of its parameters changed that are given."""
    named = {
        name: given[key]
        for name in inputs.fields(term)
        for key in (name, f"{term.name}.{name}")
        if key in given
    }
    return term.with_params(**named) if named else term


def _places(torque, first):
    """Where each parameter of a torque is among the numbers that its kernel gets, and its shape: in
    their order, and by name."""
    names = [name for term in torque.terms for name in inputs.fields(term)]
    own, places = [], {}
    for term in torque.terms:
        for name in inputs.fields(term):
            form = np.shape(getattr(term.params, name))
            place = slice(first, first + math.prod(form)), form
            first = place[0].stop
            own.append(place)
            places |= {f"{term.name}.{name}": place} if isinstance(torque, Sum) else {}
            places |= {name: place} if names.count(name) == 1 else {}
        first += len(flatten(term.values)) - len(flatten(term.params or ()))
    return own, places
