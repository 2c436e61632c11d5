"""What a run stores: the motion after every so many steps, or at given times by interpolation, and the events on the way."""

import numpy as np

from polhode import rotations
from polhode.errors import InputError, floats, unknown

LARGEST = 2**36   # bytes
POINT = 72        # bytes of a stored point


class Record:
    """Collects points; subclasses say which."""

    def __init__(self, capacity, watch):
        self.t, self.r = np.empty(capacity), np.empty(capacity)
        self.q, self.om = np.empty((capacity, 4)), np.empty((capacity, 3))
        self.n = 0
        self.watch = watch

    @property
    def ended(self):
        """Why an event ended the run, or None."""
        return self.watch.ended if self.watch else None

    def put(self, t, q, om, r):
        """Store points."""
        new = slice(self.n, self.n + len(t))
        self.t[new], self.q[new], self.om[new], self.r[new] = t, q, om, r
        self.n += len(t)

    def arrays(self):
        """Times, attitudes, velocities and residuals stored so far."""
        if self.n == len(self.t):
            return self.t, self.q, self.om, self.r
        return self.t[:self.n].copy(), self.q[:self.n].copy(), self.om[:self.n].copy(), self.r[:self.n].copy()

    def events(self):
        """The times of the events and the motion there."""
        return self.watch.found() if self.watch else (None, None)


class AtSteps(Record):
    """After every so many steps, and at the end."""

    def __init__(self, every, total, watch):
        if isinstance(every, str):
            if every != "end":
                raise unknown("value of every", every, ["end"])
            every = total
        if not (isinstance(every, (int, np.integer)) and not isinstance(every, bool) and every >= 1):
            raise InputError(f"every must be a whole number of steps, at least 1, or 'end', got {every!r}")
        points = total // every + 2
        if points * POINT > LARGEST:
            raise InputError(f"{total} steps stored every {every} need {points * POINT:.3g} bytes; store fewer points with "
                             "every=..., every='end' or t_eval=...")
        super().__init__(points, watch)
        self.every = int(every)

    def first(self, t, q, om):
        """The initial motion."""
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
        """The motion after step done + every, done + 2 every, ..."""
        if self.watch:
            t, q, om, r = self.watch.look(t, q, om, r)
        keep = (done + every * np.arange(1, len(t) + 1)) % self.every == 0
        if self.ended:
            keep[-1] = True
        self.put(t[keep], q[keep], om[keep], r[keep])

    def last(self, t, q, om):
        """Where the run ended."""
        if self.t[self.n - 1] != t:
            self.put([t], [q], [om], [0.0])


class AtTimes(Record):
    """At given times, by interpolation inside the steps."""

    def __init__(self, t_eval, t0, t1, watch):
        times = floats("t_eval", t_eval)
        if times.ndim != 1 or not len(times):
            raise InputError(f"t_eval must be a list of times, got shape {times.shape}")
        self.direction = 1.0 if t1 > t0 else -1.0
        low, high = min(t0, t1), max(t0, t1)
        slack = 1e-12 * (high - low)
        outside = times[(times < low - slack) | (times > high + slack)]
        if len(outside):
            raise InputError(f"t_eval must lie inside the span {t0!r} to {t1!r}, got {float(outside[0])!r}")
        if np.any(np.diff(times) * self.direction < 0):
            raise InputError("t_eval must go the way of t_span: sort it")
        super().__init__(len(times), watch)
        self.wanted = np.clip(times, low, high)

    def first(self, t, q, om):
        """The initial motion."""
        self.at = (t, q, om)
        here = int(np.sum(self.wanted == t))
        self.put(np.full(here, t), np.tile(q, (here, 1)), np.tile(om, (here, 1)), np.zeros(here))
        if self.watch:
            self.watch.begin(t, q, om)

    def next(self, done, left, chunk):
        """(groups, steps per group) to take now."""
        return min(left, chunk, 65536), 1

    def add(self, done, t, q, om, r, every):
        """The motion after each of some steps in a row."""
        if self.watch:
            t, q, om, r = self.watch.look(t, q, om, r)
        ts, qs, oms = (np.concatenate([[old], new]) for old, new in zip(self.at, (t, q, om), strict=True))
        last = self.n + np.searchsorted(self.direction * self.wanted[self.n:], self.direction * t[-1], side="right")
        wanted = self.wanted[self.n:last]
        if len(wanted):
            i = np.clip(np.searchsorted(self.direction * ts, self.direction * wanted, side="left") - 1, 0, len(t) - 1)
            h = ts[i + 1] - ts[i]
            motion = rotations.hermite(qs[i], oms[i], qs[i + 1], oms[i + 1], h, (wanted - ts[i]) / h)
            self.put(wanted, *motion, r[i])
        self.at = (t[-1], q[-1], om[-1])

    def last(self, t, q, om):
        """Nothing: only what was asked for is stored."""
