"""One run: everything is checked, the steps are taken chunk by chunk, and whatever happens is told with what was computed."""

import contextlib
import sys

import numpy as np

from polhode._torque import as_torque
from polhode.agreement import Start
from polhode.core import loops
from polhode.errors import InputError, IntegrationError, TorqueError
from polhode.events import Watch
from polhode.flight import as_force, check, initial_place
from polhode.grid import segments
from polhode.march import (
    March, as_body, first_trouble, in_user_axes, initial_motion, interruptible, named, torque_trouble, unsolved,
)
from polhode.methods import get
from polhode.methods.energy import remarks, unrestored
from polhode.program import build, potential_energy
from polhode.provenance import environment, listed
from polhode.record import AtSteps, AtTimes
from polhode.trajectory import BLOW_UP, EVENT, FAILED, FINISHED, INTERRUPTED

RUNAWAY = 10.0       # times the kinetic energy that a conservative motion can have
MANY_TURNS = 100.0   # radians per step: an equation unsolved there is a symptom


class Run:
    """One call of `integrate`: everything is checked before any work, and nothing computed is lost."""

    step = tolerance = None   # what decides the steps: one of the two is given

    def __init__(self, body, torque, method, rotation0, omega0, momentum0):
        self.body = as_body(body)
        self.torque = as_torque(torque)
        self.method = get(method)
        self.force = None
        # where the run is: motion in principal axes, steps done, and the time
        self.y, self.done = initial_motion(self.body, rotation0, omega0, momentum0), 0
        self.index, self.k, self.through = 0, 0, False   # the segment, the steps done in it, and whether that is all of them

    def will_step(self, t_span, step, breaks):
        """The steps are given."""
        if step is None:
            raise InputError("step is missing; give the size of a step, an array of times, or rtol to have the steps chosen")
        if t_span is None and np.ndim(step) == 0:
            raise InputError("t_span is missing; give (t0, t1)")
        self.segments = segments(t_span, step, breaks, self.method.multistep, f"method {self.method.name}")
        self.step, self.breaks = np.asarray(step).tolist(), breaks
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
            raise InputError("give t_eval or every, not both; drop one")
        else:
            self.record = AtTimes(t_eval, self.t, self.segments[-1].end, len(self.y), watch)

    def follow(self, compiled, progress, checkpoint=None):
        """Take the steps."""
        self.start = self.t, self.y
        first = Start(self.t, self.segments[-1].end, in_user_axes(self.body, self.y))
        self.program = build(self.method, self.torque, self.body, compiled, self.force, start=first)
        self.march = self._marcher()
        self.checkpoint = checkpoint
        unknown = checkpoint and self.program.opaque()
        if unknown:
            raise InputError(f"the torque uses {unknown}, and a run that is continued later could not tell whether that is the "
                             "same; leave it out of the torque, or run without checkpoint")
        saved = checkpoint.open(self._identity(), self.record) if checkpoint else self.record.keep_in()
        try:
            trajectory = self._follow(progress, saved)
        except BaseException as error:   # of the torque, an event, the disk, memory, `progress`, a second Ctrl-C
            self._attach(error)
            raise
        finally:
            if checkpoint is not None:
                checkpoint.close()
        if trajectory.status == INTERRUPTED:
            error = KeyboardInterrupt(trajectory.message)
            error.trajectory = trajectory
            raise error
        return trajectory

    def _follow(self, progress, saved=None):
        if saved:
            self._go_on(saved)
        else:
            self.record.first(self.t, self.y)
            trouble = first_trouble(self.program, self.t, self.y)
            if trouble is not None:
                raise trouble
        with interruptible() as interrupted:
            while not (self.through and self.index + 1 == len(self.segments)):
                if self.through:
                    self.index, self.k, self.through = self.index + 1, 0, False
                segment = self.segments[self.index]
                if self.k == 0 and (self.index == 0 or segment.fresh):
                    self._begin(segment)
                    self._check_torque()
                end = self._through(segment, progress, interrupted)
                if end:
                    return self._trajectory(*end)
                self.through = True
        return self._trajectory(FINISHED, "the run reached its end")

    def _marcher(self):
        return March(self.program)

    def _begin(self, segment):
        """Start (anew) where the run is."""
        self.march.begin(segment.first_step, segment.time(0), self.y)

    def _through(self, segment, progress, interrupted):
        """The steps of a segment; (status, message) if the run ends inside it."""
        while self.k < segment.count:
            k = self.k
            groups, every = self.record.next(self.done, segment.count - k, min(self.march.chunk, self._room()))
            chunk = self.march.take(segment, k, groups, every)
            if len(chunk.residuals):
                times = segment.times(k, len(chunk.residuals), every)
                self.record.add(self.done, times, chunk.y, chunk.residuals, every)
            self.done += chunk.reached - k
            self.k = k = chunk.reached
            self.t, self.through = segment.time(k), k == segment.count
            self.y = self.program.motion(self.march.z)
            if chunk.why != loops.DONE and not self.record.over:
                return self._stopped(chunk.why, segment.time(k + 1) - self.t)
            end = self._between_chunks(progress, interrupted)
            if end:
                return end
        return None

    def _between_chunks(self, progress, interrupted):
        """(status, message) if the run ends here."""
        if self.record.over:
            surplus, self.t, self.y = self.record.watch.end
            self._take_back(surplus)
            if self.record.failed:
                raise self.record.failed
            return EVENT, self.record.ended
        if self._ran_away():
            return self._blow_up(f"its kinetic energy is more than {RUNAWAY:g} times what the potential can give")
        if progress is not None:
            progress(self.done, self.total)
        self._save(interrupted.is_set())
        if interrupted.is_set():
            return INTERRUPTED, f"interrupted after {self.done} of {self.total} steps, at t = {self.t:.15g}"
        return None

    # --- checkpoints ------------------------------------------------------------------------------------------------------

    def _room(self):
        """How many steps may be taken in one go."""
        return self.checkpoint.room(self.done) if self.checkpoint else sys.maxsize

    def _save(self, now):
        """Make a checkpoint, now or when it is time; a segment in which no step was taken has not begun."""
        if self.checkpoint and self.k and (now or self.checkpoint.due(self.done)):
            self.checkpoint.save({
                "index": self.index, "k": self.k, "through": self.through, "done": self.done, "of": self.total, "t": self.t,
                "y": self.y.tolist(), "march": self.march.state, "record": self.record.state,
                "watch": self.record.watch and self.record.watch.state, "torque_digest": self.program.torque_digest()})

    def _go_on(self, saved):
        """Be where a checkpoint was made."""
        self.index, self.k, self.through, self.done = (saved[key] for key in ("index", "k", "through", "done"))
        self.t, self.y = saved["t"], np.array(saved["y"])
        self.march.state, self.record.state = saved["march"], saved["record"]
        if self.record.watch:
            self.record.watch.state = saved["watch"]
        if saved.get("torque_digest", self.program.torque_digest()) != self.program.torque_digest():
            self.checkpoint.tell("the torque changes what it refers to while it runs, and a checkpoint does not hold that: the "
                                 "torque goes on from its state at the start")

    def _identity(self):
        """What the numbers depend on, as plain data."""
        return {
            **environment(), "method": self.method.name, "torque": repr(self.torque), "torque_mode": self.program.mode,
            "force": self.force and repr(self.force), "body": self.body.to_dict(), "initial": self._state(),
            "t_span": [self.t, self.segments[-1].end], "breaks": None if self.breaks is None else listed(np.ravel(self.breaks)),
            **self._grid(), **self.record.identity(), "torque_digest": self.program.torque_digest(),
            "source_digest": self.program.source_digest(),
        }

    def _grid(self):
        return {"step": listed(np.array(self.step)) if isinstance(self.step, list) else self.step}

    # --- how a run ends ---------------------------------------------------------------------------------------------------

    def _trajectory(self, status, message):
        if status == FINISHED:
            self._save(now=True)
        if self.march.z is not None:
            message += remarks(self.program.method, unrestored(self.program.state(self.march.z)))
        lowered = self.method.lowered(self.torque)
        message += f"; {lowered}" if lowered else ""
        if status != EVENT:
            self.record.last(self.t, self.y)
        t_events, y_events = self.record.events()
        return self.record.points.trajectory(
            body=self.body, ends=self._ends(), torque=self.torque, method=self.method, step=self.step, tolerance=self.tolerance,
            status=status, message=message, steps=self.done, rejected=self.march.rejected, nfev=self.march.evaluations,
            mode=self.program.mode, note=self.program.note, elapsed=self.march.elapsed, t_events=t_events, y_events=y_events,
            title=self.title, source=self.program.source_digest(), torque_source=self.program.torque_digest())

    def _ends(self):
        """The motion at the start and where the run is: ((t, y), (t, y))."""
        return tuple((t, in_user_axes(self.body, y)) for t, y in (self.start, (self.t, self.y)))

    def _attach(self, error):
        """Give an error that ends the run its place, and what was computed before it."""
        if isinstance(error, IntegrationError):
            error.t, error.step_index, error.state = self.t, self.done, self._state()
        if getattr(error, "trajectory", None) is None:
            status = INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED
            with contextlib.suppress(Exception):   # the first error is the one to be told
                error.trajectory = self._trajectory(status, str(error))

    def _state(self):
        """The motion in words."""
        return named(in_user_axes(self.body, self.y))

    def _check_torque(self):
        """Raise what a Python torque or force ran into."""
        cause = self.program.trouble()
        if cause is None:
            return
        state = ", ".join(f"{name} {value}" for name, value in self._state().items())
        error = TorqueError(f"the torque failed in the step from t = {self.t!r} (step {self.done}; {state}): "
                            f"{type(cause).__name__}: {cause}; correct it, or end the run before")
        error.__cause__ = cause
        raise error

    def _stopped(self, why, h):
        """A step of size h failed: raise for a torque or an unsolved equation, report a blow-up."""
        self._check_torque()
        trouble = torque_trouble(self.program, self.t + h, self.program.motion(self.march.z, 1))
        if trouble is not None:
            raise trouble
        running_away = abs(h) * np.abs(self.y[4:7]).sum() > MANY_TURNS
        if why == loops.UNSOLVED and not running_away:
            raise unsolved(self.program, self.march.z, self.t, h, self.done)
        return self._blow_up(f"the body turned more than {loops.LARGEST_ANGLE:g} rad in a step, or the state is not finite")

    def _blow_up(self, how):
        return BLOW_UP, (f"{self.method.name} blew up by step {self.done}, t = {self.t:.15g}: {how}.  What came before is kept; "
                         "take a smaller step or another method")

    def _kinetic(self, y):
        return 0.5 * np.sum(y[..., 4:7] ** 2 * self.body.moments, axis=-1)

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
        if self.torque.energy_unknown():
            return False
        before, now = potential_energy(self.torque, self.body, np.array([t0, self.t]), np.stack([y0, y0])[:, :4])
        if before != now or not self._excess(self.t, self.y[None])[0] > 0.0:   # in a field that changes any energy is possible
            return False
        self.t, self.y, done = self.record.cut(self._excess)
        self._take_back(self.done - (self._steps_until(self.t) if done is None else done))
        return True

    def _take_back(self, surplus):
        """Do not count the last steps, which were taken for nothing: how many they were is a matter of speed."""
        self.done -= surplus
        self.march.take_back(surplus)

    def _steps_until(self, t):
        """The number of steps from the start to the end of the one that reaches time t."""
        return sum(segment.steps_until(t) for segment in self.segments)
