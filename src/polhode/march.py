"""A method on its way: the user's initial motion, the state array, and the chunks of compiled steps taken with it."""

import contextlib
import signal
import threading
import time
from dataclasses import dataclass

import numpy as np

from polhode import rotations
from polhode.body import RigidBody
from polhode.core import loops
from polhode.errors import InputError, TorqueError, floats

CHUNK_SECONDS = 0.05      # compiled code is left about this often: for progress, Ctrl-C and memory
CHUNK_STEPS = 1_000_000


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
def interruptible():
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


@dataclass
class Chunk:
    """What a call of the loop gave: the motion after each whole group of steps, the next step's number, why it ended."""

    q: np.ndarray
    om: np.ndarray
    residuals: np.ndarray
    reached: int
    why: int = loops.DONE


class March:
    """Takes chunks of steps and keeps the time and the torque evaluations they took."""

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
        self.z = self.program.begin(h, t, motion)
        self.starts += 1

    def take(self, segment, k, groups, every):
        """`groups` times `every` steps of a segment from its step k."""
        if segment.uneven not in self._loops:
            self._loops[segment.uneven] = self.program.march(segment.uneven)
        q, om, r = np.empty((groups, 4)), np.empty((groups, 3)), np.empty(groups)
        before = self.z.copy()
        started = time.perf_counter()
        try:
            why, reached, counted = self._loops[segment.uneven](groups, every, k, segment.grid, self.z, q, om, r)
        except Exception as error:   # raised inside a compiled torque: go on step by step until it is raised again
            self.z[:] = before
            if groups * every == 1:
                raise TorqueError(f"the torque raised {type(error).__name__} in the step from t = {segment.time(k)!r}: "
                                  f"{error}") from error
            self.chunk = 1
            return Chunk(q[:0], om[:0], r[:0], k)
        seconds = time.perf_counter() - started
        self.elapsed += seconds
        self.counted += counted
        self.steps += reached - k
        if seconds < CHUNK_SECONDS / 2:
            self.chunk = min(2 * self.chunk, CHUNK_STEPS)
        elif seconds > 2 * CHUNK_SECONDS:
            self.chunk = max(self.chunk // 2, 1)
        done = (reached - k) // every
        return Chunk(q[:done], om[:done], r[:done], reached, why)

    @property
    def evaluations(self):
        """Torque evaluations so far: counted where the torque is Python, else from what method and state say."""
        if self.program.python is not None:
            return self.program.python.calls
        first = self.starts * self.program.start_calls()
        torques = self.program.method.torques
        return first + (int(self.counted) if torques is None else self.steps * torques)

    def largest_step(self, t, h):
        """The largest step below h, to a few percent, that the method can take from the last good state; None if none."""
        def works(size):
            out = np.empty((1, 4)), np.empty((1, 3)), np.empty(1)
            return self.program.march()(1, 1, 0, np.array([t, size]), self.z.copy(), *out)[0] == loops.DONE

        good = next((h * 0.5**i for i in range(1, 13) if works(h * 0.5**i)), None)
        if good is None:
            return None
        bad = 2.0 * good
        for _ in range(5):
            middle = 0.5 * (good + bad)
            good, bad = (middle, bad) if works(middle) else (good, middle)
        return abs(good)
