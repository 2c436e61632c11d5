"""Comparison of a user's torque as machine code with the same torque in Python.

Integers of Python are unlimited and those of machine code have 64 bits: 7_000_000**3 overflows
there, and 10**-9 is 0.  The compiled function is therefore compared with the function itself, at a
few times and attitudes along the run.  If the two differ by more than rounding, the function is
called back instead.
"""

import threading
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from polhode import rotations
from polhode.core.motions import FLIGHT, ROTATION, Kind

# of the largest value seen: rounding, where large numbers nearly cancel, but no more
TOLERANCE = 1e-9
# verdicts remembered for each piece of machine code, one for each set of parameters and span of
# time
KEPT = 256
# of the time of the run
PASSED = np.array([0.0, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.25, 0.4, 0.6, 0.8, 1.0])
TURNS = np.zeros((len(PASSED), 3))  # rotation vectors: first those of the motion, then any
TURNS[6:] = [
    [0.4, -0.7, 1.1],
    [-1.3, 0.2, 0.6],
    [2.2, 1.4, -0.9],
    [-0.3, -2.6, 0.8],
    [0.9, 1.6, 2.1],
    [-1.8, 0.7, -1.9],
]

ANYHOW = np.array([0.1, -0.2, 0.3, np.sqrt(0.86), 0.3, -0.5, 0.7])  # an arbitrary motion


class Start(NamedTuple):
    """Where a run begins and when it ends: times, and the motion, of some kind, in the user's
    axes."""

    t: float = 0.0
    end: float = 1.0
    motion: np.ndarray = ANYHOW
    kind: Kind = ROTATION

    def samples(self):
        """Times, quaternions, angular velocities, and places (n, 6): the first steps, then further
        away."""
        q, omega, x, v = (
            self.motion[self.kind.slices[part]] if part in self.kind.slices else np.zeros(3)
            for part in FLIGHT.slices
        )
        passed = PASSED[:, None] * (self.end - self.t)
        turns = np.where(TURNS.any(axis=1, keepdims=True), TURNS, passed * omega)
        velocities = omega + max(1.0, float(np.abs(omega).max())) * TURNS
        places = np.concatenate([x + passed * v, v + 0.0 * passed], axis=1)
        return (
            self.t + passed[:, 0],
            rotations.qmul(q + 0.0 * passed, rotations.exp(turns)),
            velocities,
            places,
        )


# {machine code: {(parameters, span): verdict}}
_verdicts: WeakKeyDictionary = WeakKeyDictionary()
_lock = threading.Lock()


def disagreement(machine, parameters, evaluate, python, start):
    """None where machine code and Python agree, otherwise where they do not, in words.

    `machine` is what the verdict is remembered by, together with the parameters and the span.
    `evaluate(t, q, omega, place)` calls it for rows of all of them, and `python()` makes a function
    that does the same in Python.
    """
    key = parameters.tobytes(), start.t, start.end
    with _lock:
        known = _verdicts.setdefault(machine, {})
        if key in known:
            return known[key]
    verdict = _compared(evaluate, python(), start)
    with _lock:
        while len(known) >= KEPT:
            del known[next(iter(known))]
        known[key] = verdict
    return verdict


def _compared(evaluate, python, start):
    pairs, samples = [], start.samples()
    for t, ours, theirs in zip(
        samples[0], _rows(evaluate, samples), _rows(python, samples), strict=True
    ):
        if (ours is None) != (theirs is None):
            who = (
                ("raises an error", "does not")
                if theirs is None
                else ("does not raise an error", "does")
            )
            return f"at t = {t:.6g} its Python {who[0]} and its machine code {who[1]}"
        if ours is not None:
            pairs.append((t, ours, theirs))
    largest = _largest([value for _, *both in pairs for value in both])
    for t, ours, theirs in pairs:
        if not _near(ours, theirs, largest):
            return f"at t = {t:.6g} its Python gives {theirs.tolist()} and its machine code {ours.tolist()}"
    return None


def agree(ours, theirs):
    """Whether numbers from machine code and from Python differ by rounding alone."""
    return _near(ours, theirs, _largest([ours, theirs]))


def _near(ours, theirs, largest):
    return np.allclose(ours, theirs, rtol=0.0, atol=TOLERANCE * largest, equal_nan=True)


def _largest(values):
    return max(
        (float(np.abs(value[np.isfinite(value)]).max(initial=0.0)) for value in values), default=0.0
    )


def _rows(evaluate, samples):
    """Three numbers for each sample, or None where there is an error."""
    with np.errstate(all="ignore"):
        try:
            return list(evaluate(*samples))
        except Exception:  # of one of them
            return [
                _row(evaluate, [column[j : j + 1] for column in samples])
                for j in range(len(samples[0]))
            ]


def _row(evaluate, sample):
    try:
        return evaluate(*sample)[0]
    except Exception:
        return None
