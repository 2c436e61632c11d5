"""What a run stores: the motion after every so many steps, or at given times by interpolation, and the events on the way."""

import sys

import numpy as np

from polhode.errors import InputError, floats, unknown
from polhode.march import interpolated

LARGEST = 2**36   # bytes


class Record:
    """Collects points; subclasses say which."""

    def __init__(self, capacity, width, watch):
        self.t, self.y, self.r = np.empty(capacity), np.empty((capacity, width)), np.empty(capacity)
        self.n = 0
        self.watch = watch

    @property
    def ended(self):
        """Why an event ended the run, or None."""
        return self.watch.ended if self.watch else None

    def put(self, t, y, r):
        """Store points."""
        new = slice(self.n, self.n + len(t))
        if new.stop > len(self.t):   # no one knew how many there would be
            room = max(new.stop, 2 * len(self.t))
            self.t, self.y, self.r = (np.concatenate([kept, np.empty((room - len(kept), *kept.shape[1:]))])
                                      for kept in (self.t, self.y, self.r))
        self.t[new], self.y[new], self.r[new] = t, y, r
        self.n += len(t)

    def arrays(self):
        """Times, motions and residuals stored so far."""
        if self.n == len(self.t):
            return self.t, self.y, self.r
        return self.t[:self.n].copy(), self.y[:self.n].copy(), self.r[:self.n].copy()

    def cut(self, excess, done):
        """Drop the stored points from the first on where excess(t, y) > 0: (t, y, steps done) of the last one kept."""
        found = np.flatnonzero(excess(self.t[:self.n], self.y[:self.n]) > 0.0)
        if len(found):
            self.n = max(int(found[0]), 1)
        return float(self.t[self.n - 1]), self.y[self.n - 1].copy(), self.steps(done)

    def steps(self, done):
        """The number of steps up to the last stored point, where that is known."""
        return done

    def events(self):
        """The times of the events and the motion there."""
        return self.watch.found() if self.watch else (None, None)


class AtSteps(Record):
    """After every so many steps, and at the end; `total` is 0 where the number of steps is not known."""

    wanted = np.empty(0)

    def __init__(self, every, total, width, watch):
        if isinstance(every, str):
            if every != "end":
                raise unknown("value of every", every, ["end"])
            every = total or sys.maxsize
        if not (isinstance(every, (int, np.integer)) and not isinstance(every, bool) and every >= 1):
            raise InputError(f"every must be a whole number of steps, at least 1, or 'end', got {every!r}")
        points = total // every + 2
        size = 8 * (width + 2) * points
        if size > LARGEST:
            raise InputError(f"{total} steps stored every {every} need {size:.3g} bytes; store fewer points with "
                             "every=..., every='end' or t_eval=...")
        super().__init__(points, width, watch)
        self.every = int(every)

    def first(self, t, y):
        """The initial motion."""
        self.put([t], [y], [0.0])
        if self.watch:
            self.watch.begin(t, y)

    def next(self, done, left, chunk):
        """(groups, steps per group) to take now."""
        if self.watch:
            return min(left, chunk, 4096), 1
        to_next = self.every - done % self.every
        if to_next < self.every or self.every > chunk or left < self.every:
            return 1, min(to_next, left, chunk)
        return min(chunk // self.every, left // self.every), self.every

    def add(self, done, t, y, r, every, inside=None):
        """The motion after step done + every, done + 2 every, ...; `inside` is that of `Watch.look`."""
        if self.watch:
            t, y, r = self.watch.look(t, y, r, inside)
        keep = (done + every * np.arange(1, len(t) + 1)) % self.every == 0
        if self.ended:
            keep[-1] = True
        self.put(t[keep], y[keep], r[keep])

    def steps(self, done):
        """The number of steps up to the last stored point."""
        return (self.n - 1) * self.every

    def last(self, t, y):
        """Where the run ended."""
        if self.t[self.n - 1] != t:
            self.put([t], [y], [0.0])


class AtTimes(Record):
    """At given times, by interpolation inside the steps."""

    def __init__(self, t_eval, t0, t1, width, watch):
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
        super().__init__(len(times), width, watch)
        self.wanted = np.clip(times, low, high)

    def first(self, t, y):
        """The initial motion."""
        self.at = (t, y)
        here = int(np.sum(self.wanted == t))
        self.put(np.full(here, t), np.tile(y, (here, 1)), np.zeros(here))
        if self.watch:
            self.watch.begin(t, y)

    def next(self, done, left, chunk):
        """(groups, steps per group) to take now."""
        return min(left, chunk, 65536), 1

    def add(self, done, t, y, r, every, inside=None):
        """The motion after each of some steps in a row; `inside` is that of `Watch.look`."""
        if self.watch:
            t, y, r = self.watch.look(t, y, r, inside)
        ts, ys = np.concatenate([[self.at[0]], t]), np.concatenate([[self.at[1]], y])
        last = self.n + np.searchsorted(self.direction * self.wanted[self.n:], self.direction * t[-1], side="right")
        wanted = self.wanted[self.n:last]
        if len(wanted):
            i = np.clip(np.searchsorted(self.direction * ts, self.direction * wanted, side="left") - 1, 0, len(t) - 1)
            h = ts[i + 1] - ts[i]
            motions = inside(i, wanted) if inside else interpolated(ys[i], ys[i + 1], h, (wanted - ts[i]) / h)
            self.put(wanted, motions, r[i])
        self.at = (t[-1], y[-1])

    def last(self, t, y):
        """Nothing: only what was asked for is stored."""
