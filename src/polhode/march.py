"""A method on its way: the user's initial motion, the state array, and the chunks of compiled steps taken with it."""

import contextlib
import signal
import threading
import time
from dataclasses import dataclass

import numpy as np

from polhode import limits, rotations
from polhode.body import RigidBody
from polhode.core import loops
from polhode.errors import ConvergenceError, InputError, TorqueError, floats
from polhode.frames import rows_times

CHUNK_SECONDS = 0.05      # compiled code is left about this often: for progress, Ctrl-C and memory
CHUNK_STEPS = 1_000_000


def as_body(body):
    """A RigidBody that can be run, from a RigidBody or an inertia."""
    body = body if isinstance(body, RigidBody) else RigidBody(body)
    limits.check_moments(body.moments)
    return body


def initial_motion(body, rotation0, omega0, momentum0):
    """Quaternion and body angular velocity in principal axes, as one array of seven, from what the user gave."""
    if (omega0 is None) == (momentum0 is None):
        given = "neither" if omega0 is None else "both"
        raise InputError(f"give omega0 or momentum0 (three numbers, body frame), got {given}; give one of the two")
    name, value = ("omega0", omega0) if momentum0 is None else ("momentum0", momentum0)
    vector = floats(name, value)
    if vector.shape != (3,):
        raise InputError(f"{name} must be three numbers, got shape {vector.shape}; give three")
    with np.errstate(over="ignore"):
        motion = in_principal_axes(body.moments, None if body.is_principal else body.axes, rotations.as_quaternion(rotation0),
                                   vector, momentum0 is not None)
    limits.check_rates(motion[4:], name if momentum0 is None else "the angular velocity of momentum0")
    return motion


def in_principal_axes(moments, axes, q, vector, is_momentum):
    """Motions (..., 7) in principal axes from the user's: R -> R Q, V -> Q^T V; axes None where they are the same."""
    if axes is not None:
        q = rotations.qmul(q, _quaternions(axes))
        vector = rows_times(vector, axes)
    return np.concatenate([q, vector / moments if is_momentum else vector], axis=-1)


def in_user_axes(body, y):
    """Motions (..., 7 or 13) from principal axes to the user's: R -> R Q^T, Om -> Q Om; the place stays."""
    return y if body.is_principal else back_to_axes(body.axes, y)


def back_to_axes(axes, y):
    """The same for axes (..., 3, 3)."""
    back = np.swapaxes(axes, -1, -2)
    return np.concatenate([rotations.qmul(y[..., :4], _quaternions(back)), rows_times(y[..., 4:7], back), y[..., 7:]], axis=-1)


def _quaternions(axes):
    one_by_one = [rotations.as_quaternion(one) for one in axes.reshape(-1, 3, 3)]
    return np.array(one_by_one).reshape(*axes.shape[:-2], 4)


def interpolated(a, b, h, s):
    """Motions a fraction s into steps of size h from a to b: Hermite on SO(3), and on the place in flight."""
    q, om = rotations.hermite(a[..., :4], a[..., 4:7], b[..., :4], b[..., 4:7], h, s)
    if a.shape[-1] == 7:
        return np.concatenate([q, om], axis=-1)
    h, s = np.asarray(h)[..., None], np.asarray(s)[..., None]
    x0, v0, x1, v1 = a[..., 7:10], a[..., 10:], b[..., 7:10], b[..., 10:]
    rise = (x1 - x0) / h
    x = x0 + s * h * ((1 - s) ** 2 * v0 + s * ((3 - 2 * s) * rise - (1 - s) * v1))
    v = (1 - s) * (1 - 3 * s) * v0 + s * (6 * (1 - s) * rise + (3 * s - 2) * v1)
    return np.concatenate([q, om, x, v], axis=-1)


@contextlib.contextmanager
def interruptible():
    """Ctrl-C sets a flag instead of raising, so that a run ends between two chunks with everything in place.

    A second one raises, as it does elsewhere: a torque in Python may never come to an end.
    """
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def press(number, frame):
        if flag.is_set():
            raise KeyboardInterrupt
        flag.set()

    previous = signal.signal(signal.SIGINT, press)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous)


@dataclass
class Chunk:
    """What a call of the loop gave: the motion after each whole group of steps, the next step's number, why it ended."""

    y: np.ndarray
    residuals: np.ndarray
    reached: int
    why: int = loops.DONE


class March:
    """Takes chunks of steps and keeps the time and the torque evaluations they took."""

    rejected = 0   # steps of given size are never taken back

    def __init__(self, program):
        self.program = program
        self.z = None
        self.starts = 0
        self.steps = 0
        self.counted = 0.0
        self.elapsed = 0.0
        self.chunk = 1   # steps per call: grows until a call takes CHUNK_SECONDS
        self._loops = {}

    def begin(self, h, t, motion):
        """Let the method start (anew) from attitude and velocity."""
        self.z = begun(self.program, h, t, motion)
        self.starts += 1

    def take(self, segment, k, groups, every):
        """`groups` times `every` steps of a segment from its step k."""
        if segment.uneven not in self._loops:
            self._loops[segment.uneven] = self.program.march(segment.uneven)
        y, r = np.empty((groups, self.program.width)), np.empty(groups)
        before = self.z.copy()
        started = time.perf_counter()
        try:
            why, reached, counted = self._loops[segment.uneven](groups, every, k, segment.grid, self.z, y, r)
        except Exception as error:   # raised inside a compiled torque: go on step by step until it is raised again
            self.z[:] = before
            if groups * every == 1:
                raise TorqueError(f"the torque raised {type(error).__name__} in the step from t = {segment.time(k)!r}: "
                                  f"{error}; correct it, or end the run before") from error
            self.chunk = 1
            return Chunk(y[:0], r[:0], k)
        seconds = time.perf_counter() - started
        self.elapsed += seconds
        self.counted += counted
        self.steps += reached - k
        if seconds < CHUNK_SECONDS / 2:
            self.chunk = min(2 * self.chunk, CHUNK_STEPS)
        elif seconds > 2 * CHUNK_SECONDS:
            self.chunk = max(self.chunk // 2, 1)
        done = (reached - k) // every
        return Chunk(y[:done], r[:done], reached, why)

    def take_back(self, surplus):
        """Do not count the last steps."""
        torques = self.program.method.torques
        self.steps -= surplus
        if torques is not None:
            self.program.calls = [calls and calls - surplus * torques for calls in self.program.calls]

    @property
    def state(self):
        """Everything needed to go on, as plain data."""
        return {"z": self.z.tolist(), "starts": self.starts, "steps": self.steps, "counted": self.counted,
                "elapsed": self.elapsed, "calls": self.program.calls}

    @state.setter
    def state(self, saved):
        self.z, self.program.calls = np.array(saved["z"]), saved["calls"]
        self.starts, self.steps, self.counted, self.elapsed = (saved[key] for key in ("starts", "steps", "counted", "elapsed"))

    @property
    def evaluations(self):
        """Torque evaluations so far: counted where the torque is Python, else from what method and state say."""
        if self.program.pythons[0] is not None:
            return self.program.pythons[0].calls
        first = self.starts * self.program.start_calls
        torques = self.program.method.torques
        return first + (int(self.counted) if torques is None else self.steps * torques)


def named(y):
    """The numbers (7 or 13) of a motion by name."""
    names = ("quaternion", "omega", "position", "velocity")
    return {name: part.tolist() for name, part in zip(names, np.split(y, range(4, len(y), 3)), strict=False)}


# --- what went wrong ------------------------------------------------------------------------------------------------------

def torque_trouble(program, t, y):
    """Ask torque and force, as Python, at time t and motion y (principal axes): the TorqueError if an answer is no good."""
    y = in_user_axes(program.body, y)
    if not np.isfinite(y[:4]).all():
        return None
    R, rest = rotations.matrices(y[:4]), np.where(np.isfinite(y[4:]), y[4:], 0.0).reshape(-1, 3)
    place = f"at t = {t:.15g} ({', '.join(f'{name} {value}' for name, value in named(y).items())})"
    for acting in filter(None, (program.torque, program.force)):
        who = f"{acting.kind} {acting.name!r}"
        try:
            value = acting(t, R, *rest)
        except Exception as cause:
            error = TorqueError(f"{who} raised {type(cause).__name__} {place}: {cause}; correct it, or end the run before")
            error.__cause__ = cause
            return error
        if value.shape != (3,):
            return TorqueError(f"{who} must return three numbers, got shape {value.shape} {place}; correct it")
        if not np.isfinite(value).all():
            return TorqueError(f"{who} returned {value.tolist()} {place}; correct it, or end the run before")
    return None


def begun(program, h, t, motion):
    """The method's first state; where that fails, the torque is asked what is wrong with its answer."""
    try:
        return program.begin(h, t, motion)
    except TorqueError as error:
        raise (torque_trouble(program, t, motion) or error) from error.__cause__


def first_trouble(program, t, y):
    """The same before a compiled run begins: machine code reads three numbers whatever it is given."""
    return torque_trouble(program, t, y) if program.mode == "compiled" else None


def unsolved(program, z, t, h, step):
    """The ConvergenceError of a step of size h from the state in lane 0 of z, with the largest step that works."""
    def works(size):
        out = np.empty((1, program.width)), np.empty(1)
        return program.march()(1, 1, 0, np.array([t, size]), z.copy(), *out)[0] == loops.DONE

    residual = float(program.state(z, 1).residual)
    good = next((h * 0.5**i for i in range(1, 13) if works(h * 0.5**i)), None)
    if good is not None:
        bad = 2.0 * good
        for _ in range(8):
            middle = 0.5 * (good + bad)
            good, bad = (middle, bad) if works(middle) else (good, middle)
    advice = f"the largest step that works here is about {abs(good):.3g}" if good else "no smaller step works here"
    if program.method.limit:
        advice += f" ({program.method.limit})"
    return ConvergenceError(
        f"{program.method.name} could not take the step from t = {t:.15g} (step {step}, size {h:g}): the relative residual of "
        f"its equation is {residual:.2g} (1 where none was found) instead of {loops.ROUND_OFF:g}; {advice}",
        residual=residual, largest_step=None if good is None else abs(good))
