"""Events: zeros of a function along the motion, located on the interpolant between steps, as in scipy's solve_ivp."""

import numpy as np
from scipy.optimize import brentq

from polhode import rotations
from polhode.errors import InputError
from polhode.march import in_user_axes


class Watch:
    """Looks for sign changes of g(t, R, omega) from step to step.

    `g.terminal` (True, or after how many events) ends the run; `g.direction` > 0 or < 0 takes only rising or falling zeros.
    """

    def __init__(self, events, body):
        self.body = body
        self.functions = list(events) if isinstance(events, (list, tuple)) else [events]
        for g in self.functions:
            if not callable(g):
                raise InputError(f"an event must be a function g(t, R, omega), got {g!r}")
        self.times = [[] for _ in self.functions]
        self.motions = [[] for _ in self.functions]
        self.ended = None

    def _value(self, g, t, q, om):
        q, om = in_user_axes(self.body, q, om)
        value = float(g(t, rotations.matrices(q), om))
        if not np.isfinite(value):
            raise InputError(f"event {getattr(g, '__name__', g)!r} returned {value} at t = {t!r}")
        return value

    def begin(self, t, q, om):
        self.at = (t, np.asarray(q), np.asarray(om))
        self.values = [self._value(g, t, q, om) for g in self.functions]

    def look(self, t, q, om, r):
        """Note the events inside these steps; after a terminal one the motion is cut off there."""
        for j in range(len(t)):
            here = (t[j], q[j], om[j])
            hits = []
            for i, g in enumerate(self.functions):
                value = self._value(g, *here)
                rising, falling = self.values[i] < 0 <= value, self.values[i] > 0 >= value
                direction = getattr(g, "direction", 0)
                if (rising and direction >= 0) or (falling and direction <= 0):
                    hits.append((*self._locate(g, self.at, here), i))
                self.values[i] = value
            for when, attitude, velocity, i in sorted(hits, key=lambda hit: abs(hit[0] - self.at[0])):
                self.times[i].append(when)
                self.motions[i].append((attitude, velocity))
                terminal = getattr(self.functions[i], "terminal", False)
                if terminal and len(self.times[i]) >= int(terminal):
                    name = getattr(self.functions[i], "__name__", f"number {i}")
                    self.ended = f"event {name!r} ended the run at t = {when:.15g}"
                    return (np.append(t[:j], when), np.vstack([q[:j], attitude]), np.vstack([om[:j], velocity]), r[:j + 1])
            self.at = here
        return t, q, om, r

    def _locate(self, g, a, b):
        """The zero of g between two steps, on the interpolant."""
        h = b[0] - a[0]

        def motion(s):
            return rotations.hermite(a[1], a[2], b[1], b[2], h, s)

        s = brentq(lambda s: self._value(g, a[0] + s * h, *motion(s)), 0.0, 1.0, xtol=1e-14)
        return a[0] + s * h, *motion(s)

    def found(self):
        """For each event function its times, and the attitudes and velocities there, in the user's axes."""
        motions = [in_user_axes(self.body, np.array([m[0] for m in found]).reshape(-1, 4),
                                np.array([m[1] for m in found]).reshape(-1, 3)) for found in self.motions]
        return [np.array(times) for times in self.times], motions
