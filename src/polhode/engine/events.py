"""Events: zeros of a function along the motion, located on the interpolant between steps, as in
SciPy's solve_ivp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations
from polhode.core.digest import reach
from polhode.errors import EventError, InputError, called_as, number, whole
from polhode.results.motion import call_form, in_user_axes, interpolated, parts

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.core.motions import Kind


def _name(g: Callable[..., Any]) -> str:
    """The name of an event, for messages."""
    return getattr(g, "__name__", type(g).__name__)


class Watch:
    """Looks for sign changes of g(t, R, omega), in flight and of a system g(t, R, omega, x, v), from step
    to step.

    `g.terminal` (True, or after how many events) ends the run; `g.direction` > 0 or < 0 takes only
    rising or falling zeros.  A function that returns True or False has its zeros where that
    changes; becoming True is rising.
    """

    def __init__(
        self,
        events: Callable[..., Any] | Sequence[Callable[..., Any]],
        body: RigidBody,
        kind: Kind,
    ) -> None:
        self.body, self.kind, self.form = body, kind, call_form("g", kind)
        self.functions: list[Any] = list(events) if isinstance(events, (list, tuple)) else [events]
        for g in self.functions:
            called_as("an event", g, self.form)
            terminal = getattr(g, "terminal", False)
            if not isinstance(terminal, (bool, np.bool_)):
                whole(
                    f"terminal of event {_name(g)!r}",
                    terminal,
                    0,
                    "write terminal = True, or the number of events",
                )
            number(f"direction of event {_name(g)!r}", getattr(g, "direction", 0))
        self.times: list[list[float]] = [[] for _ in self.functions]
        self.motions: list[list[np.ndarray]] = [[] for _ in self.functions]
        self.ended: str | None = None  # how an event ended the run
        self.failed: EventError | None = None

    def _value(self, g: Callable[..., Any], t: float, y: np.ndarray) -> float:
        # a copy: the function may change its arguments
        y = np.array(in_user_axes(self.body, y, self.kind))
        try:
            q, *rest = parts(y, self.kind)
            found = np.asarray(g(float(t), rotations.matrices(q), *rest)).reshape(())
            value = 2.0 * float(found) - 1.0 if found.dtype.kind == "b" else float(found)
        except Exception as error:
            raise EventError(
                f"event {_name(g)!r} raised {type(error).__name__} at t = {float(t):.15g}: {error}; correct it: a "
                f"function {self.form} that returns one number"
            ) from error
        if not np.isfinite(value):
            raise EventError(
                f"event {_name(g)!r} returned {value} at t = {float(t):.15g}; return a finite number"
            )
        return value

    def begin(self, t: float, y: np.ndarray) -> None:
        """The motion starts here."""
        self.at = (t, y)
        self.values = [self._value(g, t, y) for g in self.functions]

    def identity(self) -> list[str]:
        """A digest of the code of each function."""
        reached = [reach(g, identity=True) for g in self.functions]
        for g, (_, _, unknown) in zip(self.functions, reached, strict=True):
            if unknown:
                raise InputError(
                    f"the event {getattr(g, '__name__', g)!r} uses {unknown}, and a run that is continued later could "
                    "not tell whether that is the same; leave it out of the event, or run without checkpoint"
                )
        return [one.digest for one in reached]

    @property
    def state(self) -> dict[str, Any]:
        """What is needed to go on: where the last step ended, the values there, and the events so
        far."""
        pairs = zip(self.times, self.motions, strict=True)
        found = [[[float(t), y.tolist()] for t, y in zip(*pair, strict=True)] for pair in pairs]
        return {
            "t": float(self.at[0]),
            "y": self.at[1].tolist(),
            "values": self.values,
            "found": found,
        }

    @state.setter
    def state(self, saved: dict[str, Any]) -> None:
        self.at, self.values = (saved["t"], np.array(saved["y"])), saved["values"]
        self.times = [[t for t, _ in found] for found in saved["found"]]
        self.motions = [[np.array(y) for _, y in found] for found in saved["found"]]

    def look(
        self,
        t: np.ndarray,
        y: np.ndarray,
        r: np.ndarray,
        inside: Callable[..., np.ndarray] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Look for events in these steps; the motion is cut off at a terminal event, and before one
        that fails.

        `inside(j, when)` is the motion inside step j; by default it is interpolated (Hermite).
        """
        for j in range(len(t)):
            here = (t[j], y[j])
            try:
                hits, self.values = self._hits(here, inside and partial(inside, j))
            except EventError as error:
                self.failed, self.end = error, (len(t) - j, float(self.at[0]), self.at[1])
                return t[:j], y[:j], r[:j]
            for when, motion, i in sorted(hits, key=lambda hit: abs(hit[0] - self.at[0])):
                self.times[i].append(when)
                self.motions[i].append(motion)
                terminal = getattr(self.functions[i], "terminal", False)
                if terminal and len(self.times[i]) >= int(terminal):
                    self.ended = (
                        f"event {_name(self.functions[i])!r} ended the run at t = {when:.15g}"
                    )
                    # steps taken in vain, and where it ended
                    self.end = len(t) - 1 - j, when, motion
                    return np.append(t[:j], when), np.vstack([y[:j], motion]), r[: j + 1]
            self.at = here
        return t, y, r

    def _hits(
        self, here: tuple[float, np.ndarray], inside: Callable[..., np.ndarray] | None
    ) -> tuple[list[Any], list[float]]:
        """The events in the step that ends here, (time, motion, number), and the values at its
        end."""
        values, hits = [self._value(g, *here) for g in self.functions], []
        for i, (g, before, value) in enumerate(
            zip(self.functions, self.values, values, strict=True)
        ):
            direction = getattr(g, "direction", 0)
            if (before < 0 <= value and direction >= 0) or (before > 0 >= value and direction <= 0):
                hits.append((*self._locate(g, self.at, here, inside), i))
        return hits, values

    def _locate(
        self,
        g: Callable[..., Any],
        a: tuple[float, np.ndarray],
        b: tuple[float, np.ndarray],
        inside: Callable[..., np.ndarray] | None,
    ) -> tuple[float, np.ndarray]:
        """The zero of g between two steps, on the interpolant."""
        from scipy.optimize import brentq

        h = b[0] - a[0]

        def at(s: float) -> tuple[float, np.ndarray]:
            when = a[0] + s * h
            return when, inside(when) if inside else interpolated(a[1], b[1], h, s, self.kind)

        try:
            return at(brentq(lambda s: self._value(g, *at(s)), 0.0, 1.0, xtol=1e-14))
        except ValueError:
            raise EventError(
                f"event {_name(g)!r} changed its sign between t = {a[0]:.15g} and {b[0]:.15g}, but not "
                "when it was called again; make it depend only on its arguments"
            ) from None

    def results(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """For each event function its times and the motions there (quaternion, omega, ...), in the
        user's axes; of a system with a row for each body."""
        shape = (-1, self.kind.bodies, 13) if self.kind.bodies else (-1, self.kind.width)
        motions = [
            in_user_axes(
                self.body, np.array(found).reshape(-1, self.kind.width), self.kind
            ).reshape(shape)
            for found in self.motions
        ]
        return [np.array(times) for times in self.times], motions
