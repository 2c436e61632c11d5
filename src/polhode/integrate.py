"""The front door: `integrate` for a whole run, `Stepper` for those who own the time loop.  No mathematics here."""

import contextlib
import signal
import threading
import time
from dataclasses import dataclass, field

import numpy as np

from polhode import rotations
from polhode._torque import as_torque
from polhode.body import RigidBody
from polhode.core import loops
from polhode.errors import ConvergenceError, InputError, TorqueError, floats, number, unknown
from polhode.events import Watch
from polhode.grid import segments
from polhode.methods import get
from polhode.program import build
from polhode.trajectory import BLOW_UP, EVENT, FINISHED, INTERRUPTED, Trajectory

CHUNK_SECONDS = 0.05      # compiled code is left about this often: for progress, Ctrl-C and memory
CHUNK_STEPS = 1_000_000
LARGEST_STORE = 2**36     # bytes


def integrate(body, torque=None, t_span=None, step=None, method="VLV", *, rotation0=None, omega0=None, momentum0=None,
              t_eval=None, every=1, events=None, breaks=None, progress=None, compiled=True, **misspelt):
    """Follow a rigid body's rotation over a span of time.

    Parameters
    ----------
    body : RigidBody, or inertia as 3 principal moments or a symmetric 3x3 matrix
    torque : function f(t, R), Torque, name or None
        Spatial torque from time and attitude matrix; see `polhode.torque` for other kinds.  None: nothing acts.
    t_span : (t0, t1)
        The run; t1 < t0 runs backwards.
    step : float, or array of times
        Size of the steps; the last one is cut to end at t1.  An array of times gives every step its own size.
    method : str or Method
        `polhode methods` lists them.  The default is symplectic, second order, one torque evaluation per step.
    rotation0 : scipy Rotation, 3x3 matrix, scalar-last quaternion, rotation vector, or None
        Attitude at t0, body to space.
    omega0, momentum0 : three numbers
        Angular velocity or angular momentum at t0, body frame; one of the two.
    t_eval : array of times, optional
        Where to store the motion, in place of the steps: by an interpolation on SO(3) that is accurate to O(step^4) in
        attitude and O(step^3) in angular velocity, whatever the method's own order.
    every : int or "end"
        Store every so many steps (and the end); "end" stores the two ends alone and needs no memory.
    events : function or list of functions g(t, R, omega), optional
        Zeros are located on the interpolant; attributes `terminal` and `direction` as in scipy's solve_ivp.
    breaks : times, optional
        Steps end on these times and begin anew: for jumps of the torque.
    progress : function, optional
        Called as progress(steps done, steps in all) about twenty times a second.
    compiled : bool
        False runs the steps as plain Python: slow, for looking inside.

    Returns
    -------
    Trajectory

    Examples
    --------
    A body spun about its intermediate axis flips over.

    >>> run = integrate([1.0, 2.0, 3.0], t_span=(0, 40), step=0.01, omega0=(0.001, 1.0, 0.0))
    >>> bool(run.omega[:, 1].min() < -0.99)
    True
    """
    if misspelt:
        valid = ["body", "torque", "t_span", "step", "method", "rotation0", "omega0", "momentum0", "t_eval", "every",
                 "events", "breaks", "progress", "compiled"]
        raise unknown("option of integrate", next(iter(misspelt)), valid)
    run = _Run(body, torque, t_span, step, method, rotation0, omega0, momentum0, breaks, compiled)
    keeper = run.keeper(t_eval, every, events)
    return run.follow(keeper, progress)


def as_body(body):
    """A RigidBody from a RigidBody or an inertia."""
    return body if isinstance(body, RigidBody) else RigidBody(body)


def initial_motion(body, rotation0, omega0, momentum0):
    """Quaternion and body angular velocity in principal axes, as one array of seven, from what the user gave."""
    if (omega0 is None) == (momentum0 is None):
        given = "neither" if omega0 is None else "both"
        raise InputError(f"give omega0 or momentum0 (three numbers, body frame), got {given}")
    name, value = ("omega0", omega0) if momentum0 is None else ("momentum0", momentum0)
    vector = floats(name, value)
    if vector.shape != (3,):
        raise InputError(f"{name} must be three numbers, got shape {vector.shape}")
    q = rotations.as_quaternion(rotation0)
    omega = vector if momentum0 is None else body.omega(vector)
    if not body.is_principal:
        q = rotations.qmul(q, rotations.as_quaternion(body.axes))
        omega = body.axes.T @ omega
    return np.concatenate([q, omega])


def in_user_axes(body, q, omega):
    """Attitudes and body velocities from principal axes to the user's."""
    if body.is_principal:
        return q, omega
    return rotations.qmul(q, rotations.as_quaternion(body.axes.T)), omega @ body.axes.T


@contextlib.contextmanager
def _interruptible():
    """Ctrl-C sets a flag instead of raising, so that a run ends between two chunks with everything in place."""
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    previous = signal.signal(signal.SIGINT, lambda *_: flag.set())
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous)


class _Stopped(Exception):
    """A step could not be taken; carries why."""

    def __init__(self, why, k):
        self.why, self.k = why, k


class _March:
    """A method on its way: the state array and the chunks of steps taken with it."""

    def __init__(self, program):
        self.program = program
        self.loops = {}
        self.z = None
        self.evaluations = 0.0
        self.elapsed = 0.0
        self.chunk = 1   # steps per call: grows until a call takes CHUNK_SECONDS

    def begin(self, h, t, motion):
        self.z = self.program.begin(h, t, motion)

    def take(self, segment, k, groups, every):
        """`groups` times `every` steps of a segment from its step k; the motion after each group."""
        q, om, r = np.empty((groups, 4)), np.empty((groups, 3)), np.empty(groups)
        if segment.uneven not in self.loops:
            self.loops[segment.uneven] = self.program.march(segment.uneven)
        march = self.loops[segment.uneven]
        started = time.perf_counter()
        before = self.z.copy()
        try:
            why, reached, evaluations = march(groups, every, k, segment.grid, self.z, q, om, r)
        except Exception as error:   # raised inside a compiled torque: the state is that of the chunk's beginning
            self.z[:] = before
            if groups * every == 1:
                raise TorqueError(f"the torque raised {type(error).__name__} at t = {segment.time(k)!r}: {error}") from error
            self.chunk = 1
            return q[:0], om[:0], r[:0], k
        seconds = time.perf_counter() - started
        self.elapsed += seconds
        self.evaluations += evaluations
        if seconds < CHUNK_SECONDS / 2:
            self.chunk = min(2 * self.chunk, CHUNK_STEPS)
        elif seconds > 2 * CHUNK_SECONDS:
            self.chunk = max(self.chunk // 2, 1)
        done = (reached - k) // every
        if why != loops.DONE:
            return q[:done], om[:done], r[:done], _Stopped(why, reached)
        return q, om, r, reached


class _Run:
    """One call of `integrate`."""

    def __init__(self, body, torque, t_span, step, method, rotation0, omega0, momentum0, breaks, compiled):
        self.body = as_body(body)
        self.torque = as_torque(torque)
        self.method = get(method)
        if step is None:
            raise InputError("step is missing: give the size of a step, or an array of times")
        if t_span is None and np.ndim(step) == 0:
            raise InputError("t_span is missing: give (t0, t1)")
        self.motion = initial_motion(self.body, rotation0, omega0, momentum0)
        self.segments = segments(t_span, step, breaks, self.method.multistep, f"method {self.method.name}")
        self.step = step if np.ndim(step) else float(step)
        self.total = sum(part.count for part in self.segments)
        self.t0 = float(self.segments[0].grid[0])
        self.compiled = compiled

    def keeper(self, t_eval, every, events):
        """What is to be stored, with every rule about it checked before any work."""
        watch = Watch(events) if events is not None else None
        if t_eval is not None:
            if every != 1:
                raise InputError("give t_eval or every, not both")
            return _AtTimes(t_eval, self.t0, self.segments[-1].end, watch)
        if isinstance(every, str):
            if every != "end":
                raise unknown("value of every", every, ["end"])
            every = self.total
        if not (isinstance(every, (int, np.integer)) and not isinstance(every, bool) and every >= 1):
            raise InputError(f"every must be a whole number of steps, at least 1, or 'end', got {every!r}")
        size = 72 * (self.total // every + 2)
        if size > LARGEST_STORE:
            raise InputError(f"{self.total} steps stored every {every} need {size:.3g} bytes; store fewer points: every=..., "
                             "every='end' or t_eval")
        return _AtSteps(int(every), self.total, watch)

    def follow(self, keeper, progress):
        self.program = build(self.method, self.torque, self.body, self.compiled)
        march = _March(self.program)
        t, q, om, done = self.t0, self.motion[:4], self.motion[4:], 0
        keeper.first(t, q, om)
        status, message = FINISHED, "the run reached its end"
        starts = 0
        with _interruptible() as interrupted:
            for index, segment in enumerate(self.segments):
                if index == 0 or segment.fresh:
                    march.begin(segment.grid[1] - (segment.grid[0] if segment.uneven else 0.0), float(segment.grid[0]),
                                np.concatenate([q, om]))
                    starts += 1
                    self._check_python(t, done, q, om, keeper, march, starts)
                k = 0
                while k < segment.count:
                    groups, every = keeper.next(done, segment.count - k, march.chunk)
                    try:
                        qs, oms, rs, reached = march.take(segment, k, groups, every)
                    except TorqueError as error:
                        self._fail(error, t, done, q, om, keeper, march, starts)
                    stop = reached if isinstance(reached, _Stopped) else None
                    now = stop.k if stop else reached
                    times = segment.times(k, k + len(rs) * every)[every - 1::every]
                    if len(rs):
                        keeper.add(done, times, qs, oms, rs, every)
                    done += now - k
                    k = now
                    t = segment.time(k)
                    q, om = self.program.motion(march.z)
                    if stop:
                        status, message = self._stopped(stop.why, segment, k, t, done, q, om, keeper, march, starts)
                        break
                    if keeper.ended:
                        status, message = EVENT, keeper.ended
                        break
                    if progress is not None:
                        progress(done, self.total)
                    if interrupted.is_set():
                        status = INTERRUPTED
                        message = f"interrupted after {done} of {self.total} steps, at t = {t:.15g}"
                        break
                if status != FINISHED:
                    break
        return self._trajectory(keeper, march, done, t, q, om, status, message, starts)

    # --- ends ------------------------------------------------------------------------------------------------------------

    def _evaluations(self, march, done, starts):
        if self.program.python is not None:
            return self.program.python.calls
        first = starts * self.program.start_calls()
        if self.method.torques is None:
            return first + int(march.evaluations)
        return first + done * self.method.torques

    def _trajectory(self, keeper, march, done, t, q, om, status, message, starts):
        if status != EVENT:
            keeper.last(t, q, om)
        times, quaternion, omega, residuals = keeper.arrays()
        quaternion, omega = in_user_axes(self.body, quaternion, omega)
        t_events, y_events = keeper.events()
        y_events = y_events and [in_user_axes(self.body, *pair) for pair in y_events]
        return Trajectory(t=times, quaternion=quaternion, omega=omega, residuals=residuals, body=self.body, torque=self.torque,
                          method=self.method, step=np.asarray(self.step).tolist(), status=status, message=message,
                          nfev=self._evaluations(march, done, starts), steps=done, mode=self.program.mode,
                          note=self.program.note, elapsed=march.elapsed, t_events=t_events, y_events=y_events,
                          source=self.program.source_digest())

    def _fail(self, error, t, done, q, om, keeper, march, starts):
        """Raise the error with the place and with what was computed."""
        error.t, error.step_index = t, done
        error.state = {"quaternion": q.tolist(), "omega": om.tolist()}
        error.trajectory = self._trajectory(keeper, march, done, t, q, om, "failed", str(error), starts)
        raise error

    def _check_python(self, t, done, q, om, keeper, march, starts):
        python = self.program.python
        if python is not None and python.error is not None:
            cause = python.error
            if isinstance(cause, (KeyboardInterrupt, SystemExit)):
                raise cause
            failure = TorqueError(f"the torque failed in the step from t = {t!r} (step {done}), attitude {q.tolist()}, "
                                  f"omega {om.tolist()}: {type(cause).__name__}: {cause}")
            failure.__cause__ = cause
            self._fail(failure, t, done, q, om, keeper, march, starts)

    def _stopped(self, why, segment, k, t, done, q, om, keeper, march, starts):
        """A step failed: raise for a torque or an unsolved equation, report a blow-up."""
        self._check_python(t, done, q, om, keeper, march, starts)
        h = segment.time(k + 1) - t
        if why == loops.UNSOLVED:
            state = interpreted_state(self.program, march.z, 1)
            largest = self._largest_step(segment, k, t, h, march)
            advice = f"the largest step that works here is about {largest:.3g}" if largest else "no smaller step works here"
            error = ConvergenceError(
                f"{self.method.name} could not solve its equation in the step from t = {t:.15g} (step {done}, size {h:g}): "
                f"relative residual {state.residual:.2g} instead of {loops.ROUND_OFF:g}; {advice}",
                residual=float(state.residual), largest_step=largest)
            self._fail(error, t, done, q, om, keeper, march, starts)
        attitude, _ = self.program.motion(march.z, 1)
        if np.isfinite(attitude).all():
            R = rotations.matrices(in_user_axes(self.body, attitude, om)[0])
            value = self.torque(t + h, R, in_user_axes(self.body, attitude, om)[1])
            if not np.isfinite(value).all():
                self._fail(TorqueError(f"torque {self.torque.name!r} returned {value.tolist()} at t = {t + h:.15g} (step {done}), "
                                       f"attitude {attitude.tolist()}"), t, done, q, om, keeper, march, starts)
        return BLOW_UP, (f"{self.method.name} blew up in step {done}, at t = {t:.15g}: the angular velocity left the range of "
                         f"{loops.LARGEST_ANGLE:g} rad per step; what came before is kept.  Take a smaller step or "
                         "another method")

    def _largest_step(self, segment, k, t, h, march):
        """The largest step, to a few percent, that the method can take from the last good state."""
        def works(size):
            z = march.z.copy()
            why, _, _ = self.program.march()(1, 1, 0, np.array([t, size]), z, np.empty((1, 4)), np.empty((1, 3)), np.empty(1))
            return why == loops.DONE

        good = h
        for _ in range(12):
            good *= 0.5
            if works(good):
                break
        else:
            return None
        bad = 2.0 * good
        for _ in range(5):
            middle = 0.5 * (good + bad)
            good, bad = (middle, bad) if works(middle) else (good, middle)
        return abs(good)


def interpreted_state(program, z, lane):
    """The state in a lane of z as the method's own NamedTuple."""
    return program.names["load_state"](z, lane)


# --- what is stored -------------------------------------------------------------------------------------------------------

class _Keeper:
    """Collects points; subclasses say which."""

    def __init__(self, capacity, watch):
        self.t, self.r = np.empty(capacity), np.empty(capacity)
        self.q, self.om = np.empty((capacity, 4)), np.empty((capacity, 3))
        self.n = 0
        self.watch = watch

    @property
    def ended(self):
        """Why an event ended the run, or nothing."""
        return self.watch.ended if self.watch else None

    def put(self, t, q, om, r):
        m = len(t)
        self.t[self.n:self.n + m], self.q[self.n:self.n + m] = t, q
        self.om[self.n:self.n + m], self.r[self.n:self.n + m] = om, r
        self.n += m

    def arrays(self):
        if self.n == len(self.t):
            return self.t, self.q, self.om, self.r
        return self.t[:self.n].copy(), self.q[:self.n].copy(), self.om[:self.n].copy(), self.r[:self.n].copy()

    def events(self):
        return self.watch.found() if self.watch else (None, None)


class _AtSteps(_Keeper):
    """Every so many steps, and the end."""

    def __init__(self, every, total, watch):
        super().__init__(total // every + 2, watch)
        self.every = every

    def first(self, t, q, om):
        self.put([t], [q], [om], [0.0])
        if self.watch:
            self.watch.begin(t, q, om)

    def next(self, done, left, chunk):
        """(groups, steps per group) to take now."""
        if self.watch:
            return min(left, chunk, 4096), 1
        to_next = self.every - done % self.every
        if to_next < self.every or self.every > chunk or left < self.every:
            return 1, min(to_next, left, chunk)
        return min(chunk // self.every, left // self.every), self.every

    def add(self, done, t, q, om, r, every):
        if self.watch:
            t, q, om, r = self.watch.look(t, q, om, r)
        numbers = done + every * np.arange(1, len(t) + 1)
        keep = numbers % self.every == 0
        if self.ended and len(t):
            keep[-1] = True
        self.put(t[keep], q[keep], om[keep], r[keep])

    def last(self, t, q, om):
        if self.t[self.n - 1] != t:
            self.put([t], [q], [om], [0.0])


class _AtTimes(_Keeper):
    """At given times, by interpolation inside the steps."""

    def __init__(self, t_eval, t0, t1, watch):
        times = floats("t_eval", t_eval)
        if times.ndim != 1 or not len(times):
            raise InputError(f"t_eval must be a list of times, got shape {times.shape}")
        self.direction = 1.0 if t1 > t0 else -1.0
        slack = 1e-12 * abs(t1 - t0)
        outside = times[(times < min(t0, t1) - slack) | (times > max(t0, t1) + slack)]
        if len(outside):
            raise InputError(f"t_eval must lie inside the span {t0!r} to {t1!r}, got {outside[0]!r}")
        if np.any(np.diff(times) * self.direction < 0):
            raise InputError("t_eval must go the way of t_span: sort it")
        super().__init__(len(times), watch)
        self.wanted = np.clip(times, min(t0, t1), max(t0, t1))
        self.at = None

    def first(self, t, q, om):
        self.at = (t, q, om, 0.0)
        here = np.sum(self.wanted == t)
        self.put([t] * here, [q] * here if here else np.empty((0, 4)), [om] * here if here else np.empty((0, 3)), [0.0] * here)
        if self.watch:
            self.watch.begin(t, q, om)

    def next(self, done, left, chunk):
        return min(left, chunk, 65536), 1

    def add(self, done, t, q, om, r, every):
        if self.watch:
            t, q, om, r = self.watch.look(t, q, om, r)
        ts, qs = np.concatenate([[self.at[0]], t]), np.concatenate([[self.at[1]], q])
        oms = np.concatenate([[self.at[2]], om])
        last = self.n + np.searchsorted(self.direction * self.wanted[self.n:], self.direction * t[-1], side="right")
        wanted = self.wanted[self.n:last]
        i = np.clip(np.searchsorted(self.direction * ts, self.direction * wanted, side="left") - 1, 0, len(t) - 1)
        h = ts[i + 1] - ts[i]
        if len(wanted):
            at, velocity = rotations.hermite(qs[i], oms[i], qs[i + 1], oms[i + 1], h, (wanted - ts[i]) / h)
            self.put(wanted, at, velocity, np.asarray(r)[i])
        self.at = (t[-1], q[-1], om[-1], 0.0)

    def last(self, t, q, om):
        pass


# --- for those who own the time loop --------------------------------------------------------------------------------------

@dataclass(frozen=True)
class State:
    """Everything a Stepper needs to go on exactly: the method's memory, and the time as origin plus count steps."""

    method: str
    origin: float
    count: int
    step: float
    memory: np.ndarray = field(repr=False)

    @property
    def t(self):
        """The time."""
        return self.origin + self.count * self.step


class Stepper:
    """A motion advanced step by step, for programs that own the time loop.

    Parameters are those of `integrate`; `t` is the time at the start and `step` may be negative.

    Examples
    --------
    >>> top = Stepper([5, 5, 1], "heavy_top", step=0.01, rotation0=(0.3, 0, 0), omega0=(0, 0, 50))
    >>> top.step(100)
    >>> round(top.t, 12)
    1.0
    >>> saved = top.state
    >>> top.step(); top.state = saved; top.t == saved.t
    True
    """

    def __init__(self, body, torque=None, *, step, t=0.0, method="VLV", rotation0=None, omega0=None, momentum0=None,
                 compiled=True):
        self.body, self.torque, self.method = as_body(body), as_torque(torque), get(method)
        h = number("step", step)
        if h == 0.0:
            raise InputError("step must not be zero")
        motion = initial_motion(self.body, rotation0, omega0, momentum0)
        self.program = build(self.method, self.torque, self.body, compiled)
        self._origin, self._count, self._h = number("t", t), 0, h
        self._z = self.program.begin(h, self._origin, motion)
        self._check("at the start")
        self._out = np.empty((1, 4)), np.empty((1, 3)), np.empty(1)

    def step(self, n=1):
        """Take n steps."""
        if not (isinstance(n, (int, np.integer)) and n >= 0):
            raise InputError(f"the number of steps must be a whole number, at least 0, got {n!r}")
        if n == 0:
            return
        grid = np.array([self._origin, self._h])
        why, self._count, _ = self.program.march()(1, int(n), self._count, grid, self._z, *self._out)
        if why != loops.DONE:
            self._check(f"in the step from t = {self.t!r}")
            if why == loops.UNSOLVED:
                residual = float(interpreted_state(self.program, self._z, 1).residual)
                raise ConvergenceError(f"{self.method.name} could not solve its equation in the step from t = {self.t!r}: "
                                       f"relative residual {residual:.2g}; take a smaller step", residual=residual, t=self.t,
                                       step_index=self._count, state=self.state)
            raise TorqueError(f"{self.method.name} blew up, or the torque is not finite, in the step from t = {self.t!r}",
                              t=self.t, step_index=self._count, state=self.state)

    def _check(self, where):
        python = self.program.python
        if python is not None and python.error is not None:
            cause, python.error = python.error, None
            raise TorqueError(f"the torque failed {where}: {type(cause).__name__}: {cause}", t=self.t,
                              step_index=self._count) from cause

    @property
    def t(self):
        """The time."""
        return self._origin + self._count * self._h

    @property
    def quaternion(self):
        """Attitude, body to space, scalar last."""
        return in_user_axes(self.body, *self.program.motion(self._z))[0]

    @property
    def rotation(self):
        """Attitude as a scipy Rotation."""
        return rotations.as_rotation(self.quaternion)

    @property
    def matrix(self):
        """Attitude as a 3x3 matrix, body to space."""
        return rotations.matrices(self.quaternion)

    @property
    def omega(self):
        """Body angular velocity."""
        return in_user_axes(self.body, *self.program.motion(self._z))[1]

    @property
    def state(self):
        """All of it; assign it back, to this or another Stepper of the same kind, to go on from there bit for bit."""
        return State(self.method.name, self._origin, self._count, self._h, self._z[:, 0].copy())

    @state.setter
    def state(self, saved):
        if not isinstance(saved, State) or saved.method != self.method.name:
            raise InputError(f"a Stepper of {self.method.name} cannot go on from {saved!r}")
        self._origin, self._count, self._h = saved.origin, saved.count, saved.step
        self._z[:, 0] = saved.memory


