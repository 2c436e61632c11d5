"""What a run stores: the motion after every so many steps, or at given times by interpolation, and
the events on the way."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.support import memory
from polhode.errors import InputError, floats, unknown, whole
from polhode.results.motion import in_user_axes, interpolated
from polhode.support.provenance import short_list
from polhode.results._run import BLOCK, Run
from polhode.results._system_trajectory import SystemTrajectory
from polhode.results._trajectory import Trajectory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from polhode.core.motions import Kind
    from polhode.engine.carriers.chunk import Chunk
    from polhode.engine.events import Watch
    from polhode.engine.stream import Rows, Stream

LITTLE = 10_000  # bytes that every machine has
# of the points that a streamed run may need on disk: its own, and the wider columns of the finished
# file
_COPIES = 4


def check_memory(count: int, size: int) -> None:
    """Refuse points that cannot fit into memory: so many, of so many bytes in all."""
    if size < LITTLE or size <= memory.total():
        return
    disk = (
        ", or stream them to disk (--checkpoint)"
        if _COPIES * size < memory.on_disk()
        else ", or use fewer steps"
    )
    memory.fits(
        f"{count} stored points",
        size,
        f"store fewer with a larger every, every='end' or t_eval{disk}",
    )


class Points:
    """Times, motions and residuals in memory; `checkpoint.Stream` is the same on disk."""

    def __init__(self, capacity: int, width: int) -> None:
        self.t, self.y, self.r = np.empty(capacity), np.empty((capacity, width)), np.empty(capacity)
        self.n = 0

    @property
    def last_time(self) -> float:
        """Where the last point is."""
        return self.t[self.n - 1]

    def put(self, t: Rows, y: Rows, r: Rows) -> None:
        """Store points."""
        new = slice(self.n, self.n + len(t))
        if new.stop > len(self.t):  # no one knew how many there would be
            room = max(new.stop, 2 * len(self.t))
            # while they are copied
            check_memory(room, 8 * (self.y.shape[1] + 2) * (room + len(self.t)))
            self.t, self.y, self.r = (
                np.concatenate([kept, np.empty((room - len(kept), *kept.shape[1:]))])
                for kept in (self.t, self.y, self.r)
            )
        self.t[new], self.y[new], self.r[new] = t, y, r
        self.n += len(t)

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, motions and residuals stored so far."""
        if self.n == len(self.t):
            return self.t, self.y, self.r
        return self.t[: self.n].copy(), self.y[: self.n].copy(), self.r[: self.n].copy()

    def trajectory(self, body: Any, kind: Kind, **facts: Any) -> Run:
        """The run, from its points and its other facts."""
        t, y, r = self.arrays()
        made = SystemTrajectory if kind.bodies else Trajectory
        motion = in_user_axes(body, y, kind)
        return made(t=t, motion=motion, residuals=r, body=body, kind=kind, **facts)

    def cut(
        self, excess: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> tuple[float, np.ndarray]:
        """Drop the points from the first on where excess(t, y) > 0: (t, y) of the last one kept."""
        found = np.flatnonzero(excess(self.t[: self.n], self.y[: self.n]) > 0.0)
        if len(found):
            self.n = max(int(found[0]), 1)
        return float(self.t[self.n - 1]), self.y[self.n - 1].copy()


class Recorder(ABC):
    """Says which points of a run are stored; subclasses know.  `points` is where they go, in memory
    or on disk."""

    points: Points | Stream = None  # type: ignore[assignment]  # until `keep_in`
    wanted: np.ndarray  # times at which an extension inside steps is needed
    done = 0  # steps that were shown to it

    def __init__(self, capacity: int, kind: Kind, watch: Watch | None) -> None:
        self.capacity, self.kind, self.watch = capacity, kind, watch
        # points that there will be in any case, where the run reaches its end
        self.fewest = capacity

    def keep_in(self, points: Points | Stream | None = None) -> None:
        """Where the points go: into memory if nothing else is given."""
        if points is None:
            check_memory(self.fewest, 8 * (self.kind.width + 2) * self.fewest)
            points = Points(self.capacity, self.kind.width)
        self.points = points

    def first(self, t: float, y: np.ndarray) -> None:
        """The initial motion; without `keep_in` before, points are kept in memory."""
        if self.points is None:
            self.keep_in()
        self._first(t, y)
        if self.watch:
            self.watch.begin(t, y)

    @abstractmethod
    def _first(self, t: float, y: np.ndarray) -> None: ...

    @abstractmethod
    def next(self, left: int, most: int) -> tuple[int, int]:
        """(groups, steps per group) to take now, of those left and at most so many."""

    @abstractmethod
    def add(self, chunk: Chunk) -> None:
        """The motion after each group of steps of a `Chunk`."""

    @abstractmethod
    def last(self, t: float, y: np.ndarray) -> None:
        """Where the run ended."""

    @abstractmethod
    def _which(self) -> dict[str, Any]: ...

    @property
    def n(self) -> int:
        """How many points are stored."""
        return self.points.n

    @property
    def ended(self) -> str | None:
        """Why an event ended the run, or None."""
        return self.watch.ended if self.watch else None

    @property
    def failed(self) -> Exception | None:
        """The error of an event, or None."""
        return self.watch.failed if self.watch else None

    @property
    def over(self) -> bool:
        """Whether an event has ended the run, or failed."""
        return bool(self.ended or self.failed)

    def cut(
        self, excess: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> tuple[float, np.ndarray, int | None]:
        """Drop the stored points from the first on where excess(t, y) > 0: (t, y, steps done) of
        the last one kept."""
        return *self.points.cut(excess), self.steps()

    def steps(self) -> int | None:
        """The number of steps up to the last stored point, None where that is not known."""
        return None

    def identity(self) -> dict[str, Any]:
        """What is stored, as plain data."""
        return {**self._which(), "events": self.watch.identity() if self.watch else []}

    def trajectory(self, end: tuple[float, np.ndarray] | None, **facts: Any) -> Run:
        """The run, from its points and its other facts; `end` is a time and a motion to be stored
        before."""
        if end is not None:
            self.last(*end)
        t_events, y_events = self.watch.results() if self.watch else (None, None)
        return self.points.trajectory(kind=self.kind, t_events=t_events, y_events=y_events, **facts)


class AtSteps(Recorder):
    """After every so many steps, and at the end; `total` is 0 where the number of steps is not
    known."""

    wanted = np.empty(0)

    def __init__(self, every: int | str, total: int, kind: Kind, watch: Watch | None) -> None:
        if isinstance(every, str):
            if every != "end":
                raise unknown("value of every", every, ["end"])
            every = total or sys.maxsize
        else:
            every = whole("every", every, 1, "write every=10, or every='end'")
        # the first, and one after each group of steps, the last of which may be shorter
        super().__init__(1 + max(1, -(-total // every)), kind, watch)
        self.every = min(every, sys.maxsize)
        self.worst = 0.0  # residual since the last stored point

    def _first(self, t: float, y: np.ndarray) -> None:
        self.points.put([t], [y], [0.0])

    def next(self, left: int, most: int) -> tuple[int, int]:
        if self.watch:
            return min(left, most, 4096), 1
        to_next = self.every - self.done % self.every
        if to_next < self.every or self.every > most or left < self.every:
            return 1, min(to_next, left, most)
        return min(most // self.every, left // self.every, BLOCK), self.every

    def add(self, chunk: Chunk) -> None:
        before, self.done = self.done, self.done + chunk.steps
        t, y, r = chunk.t, chunk.y, chunk.residuals
        if self.watch:
            t, y, r = self.watch.look(t, y, r, chunk.inside)
        if not len(t):
            return
        if len(t) == 1 and not self.watch:  # as in a run that keeps its ends alone
            worst, kept = max(float(r[0]), self.worst), self.done % self.every == 0
            if kept:
                self.points.put(t, y, [worst])
            self.worst = 0.0 if kept else worst
            return
        if not self.watch and before // self.every == self.done // self.every:  # none is stored
            self.worst = max(self.worst, float(r.max()))
            return
        if (
            not self.watch
            and not self.worst
            and before % self.every == 0
            and (self.done - before) % self.every == 0
            and chunk.every == self.every
        ):
            self.points.put(t, y, r)
            return
        keep = (before + chunk.every * np.arange(1, len(t) + 1)) % self.every == 0
        if self.ended:
            keep[-1] = True
        if not keep.all() or self.worst:
            r = self._largest(r, keep)
        self.points.put(t[keep], y[keep], r[keep])

    def _largest(self, r: np.ndarray, keep: np.ndarray) -> np.ndarray:
        """For each point that is kept the largest residual since the one before; what comes after
        the last is remembered."""
        r = np.concatenate([[max(r[0], self.worst)], r[1:]])
        stored = np.flatnonzero(keep)
        rest = r[stored[-1] + 1 :] if len(stored) else r
        self.worst = float(rest.max(initial=0.0))
        if len(stored):
            r[stored] = np.maximum.reduceat(
                r[: stored[-1] + 1], np.concatenate([[0], stored[:-1] + 1])
            )
        return r

    def steps(self) -> int:
        """The number of steps up to the last stored point."""
        return (self.n - 1) * self.every

    def last(self, t: float, y: np.ndarray) -> None:
        if self.points.last_time != t:
            self.points.put([t], [y], [self.worst])

    def _which(self) -> dict[str, Any]:
        return {"every": self.every}

    @property
    def state(self) -> dict[str, Any]:
        """What must be known to go on, next to the points."""
        return {"done": self.done, "worst": self.worst}

    @state.setter
    def state(self, saved: dict[str, Any]) -> None:
        self.done, self.worst = saved["done"], saved["worst"]


class AtTimes(Recorder):
    """At given times, by interpolation inside the steps."""

    def __init__(
        self, t_eval: ArrayLike, t0: float, t1: float, kind: Kind, watch: Watch | None
    ) -> None:
        times = floats("t_eval", t_eval)
        if times.ndim != 1 or not len(times):
            raise InputError(
                f"t_eval must be a list of times, got shape {times.shape}; give at least one"
            )
        self.direction = 1.0 if t1 > t0 else -1.0
        low, high = min(t0, t1), max(t0, t1)
        slack = 1e-12 * (high - low)
        outside = times[(times < low - slack) | (times > high + slack)]
        if len(outside):
            raise InputError(
                f"t_eval must lie inside the span {t0!r} to {t1!r}, got {float(outside[0])!r}; drop it"
            )
        if np.any(np.diff(times) * self.direction < 0):
            raise InputError("t_eval must be in the direction of t_span; sort it")
        super().__init__(len(times), kind, watch)
        self.wanted = np.clip(times, low, high)

    def _first(self, t: float, y: np.ndarray) -> None:
        self.at = (t, y)
        here = int(np.sum(self.wanted == t))
        self.points.put(np.full(here, t), np.tile(y, (here, 1)), np.zeros(here))

    def next(self, left: int, most: int) -> tuple[int, int]:
        return min(left, most, BLOCK), 1

    def add(self, chunk: Chunk) -> None:
        """The motion at the wanted times inside the steps of a `Chunk`."""
        self.done += chunk.steps
        t, y, r = chunk.t, chunk.y, chunk.residuals
        if self.watch:
            t, y, r = self.watch.look(t, y, r, chunk.inside)
        if not len(t):
            return
        ts, ys = np.concatenate([[self.at[0]], t]), np.concatenate([[self.at[1]], y])
        last = self.n + np.searchsorted(
            self.direction * self.wanted[self.n :], self.direction * t[-1], side="right"
        )
        wanted = self.wanted[self.n : last]
        if len(wanted):
            i = np.clip(
                np.searchsorted(self.direction * ts, self.direction * wanted, side="left") - 1,
                0,
                len(t) - 1,
            )
            h = ts[i + 1] - ts[i]
            motions = (
                chunk.inside(i, wanted)
                if chunk.inside
                else interpolated(ys[i], ys[i + 1], h, (wanted - ts[i]) / h, self.kind)
            )
            self.points.put(wanted, motions, r[i])
        self.at = (t[-1], y[-1])

    def last(self, t: float, y: np.ndarray) -> None:
        """Nothing: only what was asked for is stored."""

    def _which(self) -> dict[str, Any]:
        return {"t_eval": short_list(self.wanted)}

    @property
    def state(self) -> dict[str, Any]:
        """What must be known to go on, next to the points: where the last step ended."""
        return {"done": self.done, "t": float(self.at[0]), "y": self.at[1].tolist()}

    @state.setter
    def state(self, saved: dict[str, Any]) -> None:
        self.done, self.at = saved["done"], (saved["t"], np.array(saved["y"]))
