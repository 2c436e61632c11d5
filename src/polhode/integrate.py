"""The front door: `integrate` follows a body over a span of time.  No mathematics here."""

import numpy as np

from polhode._torque import as_torque
from polhode.core import loops
from polhode.errors import InputError, TorqueError, unknown
from polhode.events import Watch
from polhode.flight import as_force, check, initial_place
from polhode.grid import segments
from polhode.march import (
    March, as_body, first_trouble, in_user_axes, initial_motion, interruptible, torque_trouble, unsolved,
)
from polhode.methods import get
from polhode.methods.energy import infeasible_energy
from polhode.program import build, potential_energy
from polhode.record import AtSteps, AtTimes
from polhode.trajectory import BLOW_UP, EVENT, FAILED, FINISHED, INTERRUPTED, Trajectory

OPTIONS = ("body", "torque", "t_span", "step", "method", "rotation0", "omega0", "momentum0", "rtol", "atol", "max_step", "force",
           "position0", "velocity0", "t_eval", "every", "events", "breaks", "progress", "compiled")
STANDARD, BY_TOLERANCE = "LP2", "DOP853"   # the methods when none is named


def integrate(body, torque=None, t_span=None, step=None, method=None, *, rotation0=None, omega0=None, momentum0=None,
              rtol=None, atol=None, max_step=None, force=None, position0=None, velocity0=None, t_eval=None, every=1,
              events=None, breaks=None, progress=None, compiled=True, **misspelt):
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
        `polhode methods` lists them.  The default with a step is LP2: symplectic, second order, one torque evaluation per step;
        with `rtol` it is DOP853.
    rotation0 : scipy Rotation, 3x3 matrix, scalar-last quaternion, rotation vector, or None
        Attitude at t0, body to space.
    omega0, momentum0 : three numbers
        Angular velocity or angular momentum at t0, body frame; one of the two.
    rtol, atol : float, optional
        In place of `step`: the steps are chosen so that each adds at most about rtol + atol radians to the error of the attitude,
        and rtol times the largest angular velocity so far, + atol, to that of the angular velocity; atol is 0 if not given.
    max_step : float, optional
        The largest step that may be chosen, so that a short event of the torque is not stepped over.
    force : function f(t, x, v, R) or Force, optional
        Force on the centre of mass, in space: the body flies freely.  Its mass is the body's.
    position0, velocity0 : three numbers, optional
        Of the centre of mass at t0; zero if one of force, position0 and velocity0 is given without them.
    t_eval : array of times, optional
        Where to store the motion, in place of the steps: by an interpolation on SO(3) that is accurate to O(step^4) in
        attitude and O(step^3) in angular velocity, whatever the method's own order; with `rtol` by the method's own
        continuous extension, about as accurate as the steps.
    every : int or "end"
        Store every so many steps (and the end); "end" stores the two ends alone and needs no memory.
    events : function or list of functions g(t, R, omega), in flight g(t, R, omega, x, v), optional
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

    The same to nine digits, in steps that the method chooses.

    >>> run = integrate([1.0, 2.0, 3.0], t_span=(0, 40), rtol=1e-9, omega0=(0.001, 1.0, 0.0))
    >>> run.method.name, run.steps < 100
    ('DOP853', True)
    """
    if misspelt:
        raise unknown("option of integrate", next(iter(misspelt)), OPTIONS)
    if not (progress is None or callable(progress)):
        raise InputError(f"progress must be a function progress(done, total), got {progress!r}")
    initial = rotation0, omega0, momentum0
    if rtol is None and atol is None and max_step is None:
        run = _Run(body, torque, method or STANDARD, *initial)
        run.will_step(t_span, step, breaks)
    else:
        from polhode.adaptive import ToleranceRun

        run = ToleranceRun(body, torque, method or BY_TOLERANCE, *initial)
        run.will_hold(t_span, step, rtol, atol, max_step, breaks)
    if not (force is None and position0 is None and velocity0 is None):
        run.will_fly(force, position0, velocity0)
    run.will_store(t_eval, every, events)
    return run.follow(compiled, progress)

RUNAWAY = 10.0       # times the kinetic energy that a conservative motion can have
MANY_TURNS = 100.0   # radians per step: an equation unsolved there is a symptom


class _Run:
    """One call of `integrate`: everything is checked before any work, and nothing computed is lost."""

    step = tolerance = None   # what decides the steps: one of the two is given

    def __init__(self, body, torque, method, rotation0, omega0, momentum0):
        self.body = as_body(body)
        self.torque = as_torque(torque)
        self.method = get(method)
        self.force = None
        # where the run is: motion in principal axes, steps done, and the time
        self.y, self.done = initial_motion(self.body, rotation0, omega0, momentum0), 0

    def will_step(self, t_span, step, breaks):
        """The steps are given."""
        if step is None:
            raise InputError("step is missing: give the size of a step, an array of times, or rtol to have the steps chosen")
        if t_span is None and np.ndim(step) == 0:
            raise InputError("t_span is missing: give (t0, t1)")
        self.segments = segments(t_span, step, breaks, self.method.multistep, f"method {self.method.name}")
        self.step = np.asarray(step).tolist()
        self.total = sum(segment.count for segment in self.segments)
        self.t = float(self.segments[0].grid[0])

    def will_fly(self, force, position0, velocity0):
        """Translation is to be carried along."""
        self.force = as_force(force)
        check(self.method, self.torque)
        self.y = np.concatenate([self.y, initial_place(position0, velocity0)])

    def will_store(self, t_eval, every, events):
        """What is to be stored."""
        watch = None if events is None else Watch(events, self.body)
        if t_eval is None:
            self.record = AtSteps(every, self.total, len(self.y), watch)
        elif every != 1:
            raise InputError("give t_eval or every, not both")
        else:
            self.record = AtTimes(t_eval, self.t, self.segments[-1].end, len(self.y), watch)

    def follow(self, compiled, progress):
        """Take the steps."""
        self.start = self.t, self.y
        self.program = build(self.method, self.torque, self.body, compiled, self.force)
        self.march = self._marcher()
        self.record.first(self.t, self.y)
        trouble = first_trouble(self.program, self.t, self.y)
        if trouble is not None:
            self._raise(trouble)
        with interruptible() as interrupted:
            for index, segment in enumerate(self.segments):
                if index == 0 or segment.fresh:
                    self._begin(segment)
                    self._check_torque()
                end = self._through(segment, progress, interrupted)
                if end:
                    return self._trajectory(*end)
        return self._trajectory(FINISHED, "the run reached its end")

    def _marcher(self):
        return March(self.program)

    def _begin(self, segment):
        """Start (anew) where the run is."""
        self.march.begin(segment.first_step, segment.time(0), self.y)

    def _through(self, segment, progress, interrupted):
        """The steps of a segment; (status, message) if the run ends inside it."""
        k = 0
        while k < segment.count:
            groups, every = self.record.next(self.done, segment.count - k, self.march.chunk)
            try:
                chunk = self.march.take(segment, k, groups, every)
            except TorqueError as error:
                self._raise(error)
            if len(chunk.residuals):
                times = segment.times(k, len(chunk.residuals), every)
                self.record.add(self.done, times, chunk.y, chunk.residuals, every)
            self.done += chunk.reached - k
            k = chunk.reached
            self.t = segment.time(k)
            self.y = self.program.motion(self.march.z)
            if chunk.why != loops.DONE:
                return self._stopped(chunk.why, segment.time(k + 1) - self.t)
            end = self._between_chunks(progress, interrupted)
            if end:
                return end
        return None

    def _between_chunks(self, progress, interrupted):
        """(status, message) if the run ends here."""
        if self.record.ended:
            surplus, self.t, self.y = self.record.watch.end
            self.done -= surplus
            return EVENT, self.record.ended
        if self._ran_away():
            return self._blow_up(f"its kinetic energy is more than {RUNAWAY:g} times what the potential can give")
        if progress is not None:
            progress(self.done, self.total)
        if interrupted.is_set():
            return INTERRUPTED, f"interrupted after {self.done} of {self.total} steps, at t = {self.t:.15g}"
        return None

    # --- how a run ends ---------------------------------------------------------------------------------------------------

    def _trajectory(self, status, message):
        if self.march.z is not None:
            message += infeasible_energy(self.program.state(self.march.z))
        if status != EVENT:
            self.record.last(self.t, self.y)
        t, y, residuals = self.record.arrays()
        t_events, y_events = self.record.events()
        return Trajectory(t=t, motion=in_user_axes(self.body, y), ends=self._ends(), residuals=residuals,
                          body=self.body, torque=self.torque,
                          method=self.method, step=self.step, tolerance=self.tolerance, status=status, message=message,
                          steps=self.done, rejected=self.march.rejected,
                          nfev=self.march.evaluations, mode=self.program.mode, note=self.program.note,
                          elapsed=self.march.elapsed, t_events=t_events, y_events=y_events,
                          source=self.program.source_digest())

    def _ends(self):
        """The motion at the start and where the run is: ((t, y), (t, y))."""
        return tuple((t, in_user_axes(self.body, y)) for t, y in (self.start, (self.t, self.y)))

    def _raise(self, error):
        """Raise the error with its place and with what was computed."""
        error.t, error.step_index, error.state = self.t, self.done, self._state()
        error.trajectory = self._trajectory(FAILED, str(error))
        raise error

    def _state(self):
        """The motion in words."""
        y = in_user_axes(self.body, self.y)
        names = ("quaternion", "omega", "position", "velocity")
        return {name: part.tolist() for name, part in zip(names, np.split(y, range(4, len(y), 3)), strict=False)}

    def _check_torque(self):
        """Raise what a Python torque or force ran into."""
        cause = self.program.error
        if cause is None:
            return
        if isinstance(cause, (KeyboardInterrupt, SystemExit)):
            raise cause
        state = ", ".join(f"{name} {value}" for name, value in self._state().items())
        error = TorqueError(f"the torque failed in the step from t = {self.t!r} (step {self.done}; {state}): "
                            f"{type(cause).__name__}: {cause}")
        error.__cause__ = cause
        self._raise(error)

    def _stopped(self, why, h):
        """A step of size h failed: raise for a torque or an unsolved equation, report a blow-up."""
        self._check_torque()
        trouble = torque_trouble(self.program, self.t + h, self.program.motion(self.march.z, 1))
        if trouble is not None:
            self._raise(trouble)
        running_away = abs(h) * np.abs(self.y[4:7]).sum() > MANY_TURNS
        if why == loops.UNSOLVED and not running_away:
            self._raise(unsolved(self.program, self.march.z, self.t, h, self.done))
        return self._blow_up(f"the body turned more than {loops.LARGEST_ANGLE:g} rad in a step, or the state is not finite")

    def _blow_up(self, how):
        return BLOW_UP, (f"{self.method.name} blew up by step {self.done}, t = {self.t:.15g}: {how}.  What came before is kept; "
                         "take a smaller step or another method")

    def _kinetic(self, y):
        return 0.5 * (y[..., 4:7] ** 2) @ self.body.moments

    def _excess(self, t, y):
        """How far the kinetic energy is above what a conservative motion can have, RUNAWAY times T0 + |V - V0|."""
        t0, y0 = self.start
        V = potential_energy(self.torque, self.body, np.append(t, t0), np.vstack([y, y0])[:, :4])
        return self._kinetic(y) - RUNAWAY * (self._kinetic(y0) + np.abs(V[:-1] - V[-1]))

    def _ran_away(self):
        """Whether the energy of a conservative motion has left all bounds; the points where it has are dropped."""
        t0, y0 = self.start
        if not (self.torque.conservative and self._kinetic(self.y) > RUNAWAY * self._kinetic(y0) + 1e-300):
            return False
        before, now = potential_energy(self.torque, self.body, np.array([t0, self.t]), np.stack([y0, y0])[:, :4])
        if before != now or not self._excess(self.t, self.y[None])[0] > 0.0:   # in a field that changes any energy is possible
            return False
        self.t, self.y, self.done = self.record.cut(self._excess, self.done)
        return True
