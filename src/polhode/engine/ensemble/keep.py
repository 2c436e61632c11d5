"""What an ensemble keeps: only the end, the motions after every so many steps, or statistics without
the motions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.support import memory
from polhode.engine.ensemble.measure import (
    FLYING_ARGUMENTS,
    IN_FLIGHT,
    QUANTITIES,
    check_function,
)
from polhode.errors import InputError, brief, choice, whole

if TYPE_CHECKING:
    from polhode.engine.carriers.chunk import Chunk


class Summary(NamedTuple):
    """Mean, variance (divided by the number of values), smallest and largest."""

    mean: np.ndarray
    variance: np.ndarray
    min: np.ndarray
    max: np.ndarray


class Statistic(NamedTuple):
    """Statistics of a quantity over time, for each body, and over the bodies that have not failed, at
    each sampled time.

    For a body that failed, the samples before that count.  A body that was never sampled, and a time
    at which all bodies have failed, have NaN.
    """

    over_time: Summary
    over_bodies: Summary


@dataclass
class Statistics:
    """Which statistics to keep.

    Parameters
    ----------
    every : int
        Sample after every so many steps, and at the start.
    of : list of str
        Names among "energy", "kinetic_energy", "momentum" (its size), "momentum_x", "momentum_y"
        and "momentum_z" (in space); in flight also "position_x", ..., "velocity_z".
    functions : dict of functions
        Your own quantities: functions of any of t, R, omega, body, p, in flight also x and v, that
        return a number; compiled if numba can.

    Examples
    --------
    >>> tilt = lambda R: R[2, 2]
    >>> Statistics(every=10, of=["energy"], functions={"tilt": tilt}).every
    10
    """

    every: int = 10
    of: tuple[str, ...] = tuple(QUANTITIES)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.every = whole("every", self.every, 1, "write every=10")
        if not isinstance(self.of, (str, list, tuple, set)):
            raise InputError(
                f"of must be a list of statistics, got {brief(self.of)}; write of=['energy']"
            )
        self.of = (self.of,) if isinstance(self.of, str) else tuple(self.of)
        for name in self.of:
            choice("statistic", name, (*QUANTITIES, *IN_FLIGHT))
        if not isinstance(self.functions, dict):
            raise InputError(
                f"functions must be a dict from names to functions, got {brief(self.functions)}; write "
                "functions={'tilt': tilt}"
            )
        for name, function in self.functions.items():
            if not isinstance(name, str):
                raise InputError(
                    f"the name of a statistic must be text, got {brief(name)}; write functions={{'tilt': tilt}}"
                )
            if name in (*QUANTITIES, *IN_FLIGHT):
                raise InputError(
                    f"the statistic {name!r} is built in; choose another name for your function"
                )
            check_function(name, function)

    def check_on_ground(self) -> None:
        """Refuse what only bodies that fly have."""
        flying = [name for name in self.of if name in IN_FLIGHT]
        for name, function in self.functions.items():
            if any(one in inspect.signature(function).parameters for one in FLYING_ARGUMENTS):
                flying.append(name)
        if flying:
            raise InputError(
                f"the statistic {flying[0]!r} is one of bodies that fly; leave it out, or give position0, velocity0 or "
                "force"
            )


def make_recorder(keep: int | str | Statistics, run: Any) -> End:
    """The recorder for the option `keep`."""
    if isinstance(keep, str):
        choice("value of keep", keep, ["end", "statistics"])
        return End() if keep == "end" else Running(Statistics(of=run.quantities), run)
    if isinstance(keep, dict):
        for name in keep:
            choice("option of statistics", name, ("every", "of", "functions"))
        keep = Statistics(**keep)
    if isinstance(keep, Statistics):
        return Running(keep, run)
    return Every(whole("keep", keep, 1, "write keep='end'"), run)


class End:
    """A recorder of ensembles that keeps only the end."""

    every = 2**62  # steps between samples
    watch, over = None, False  # there are no events
    done = 0  # steps so far
    carrier: Any

    def follow(self, carrier: Any) -> None:
        """Record the motions of this carrier."""
        self.carrier = carrier

    def next(self) -> int:
        """Steps to the next sample."""
        return self.every - self.done % self.every

    def first(self, t: float) -> None:
        """At the start."""

    def add(self, chunk: Chunk) -> None:
        """After some steps."""
        self.done += chunk.steps

    def result(self) -> tuple[Any, Any, Any]:
        """(times, statistics, motions)."""
        return None, None, None


class Every(End):
    """The motions at the start, after every so many steps, and at the end."""

    def __init__(self, every: int, run: Any) -> None:
        self.every, self.total = every, run.total
        memory.fits(
            f"{run.n} bodies stored every {every} of {run.total} steps",
            8 * run.kind.width * run.n * (run.total // every + 2),
            "keep fewer, 'statistics' or 'end'",
        )
        self.t: list[float] = []
        self.y: list[np.ndarray] = []

    def first(self, t: float) -> None:
        """At the start."""
        self._put(t, self.carrier.motion)

    def add(self, chunk: Chunk) -> None:
        """After some steps."""
        super().add(chunk)
        if self.done % self.every == 0 or self.done == self.total:
            self._put(chunk.reached, self.carrier.motion)

    def _put(self, t: float, y: np.ndarray) -> None:
        self.t.append(t)
        self.y.append(y)

    def result(self) -> tuple[Any, Any, Any]:
        """(times, statistics, motions)."""
        return np.array(self.t), None, self.y


class Running(Every):
    """Statistics of the motions at the start, after every so many steps, and at the end."""

    def __init__(self, options: Statistics, run: Any) -> None:
        self.every, self.total = options.every, run.total
        self.measure = run.measure(options)
        self.names = [*options.of, *options.functions]
        self.t, self.seen = [], np.zeros(run.n)
        self.time = {
            name: Summary(
                np.zeros(run.n), np.zeros(run.n), np.full(run.n, np.inf), np.full(run.n, -np.inf)
            )
            for name in self.names
        }
        self.bodies: dict[str, list[Any]] = {name: [] for name in self.names}
        self.well = np.ones(run.n, dtype=bool)

    def _put(self, t: float, y: np.ndarray) -> None:
        # first, since a user's function may raise
        values = [self.measure(name, np.full(len(y), t), y) for name in self.names]
        self.t.append(t)
        self.seen += self.well
        for name, x in zip(self.names, values, strict=True):
            self._over_time(self.time[name], x)
            x = x[self.well]
            self.bodies[name].append(
                (x.mean(), x.var(), x.min(), x.max()) if len(x) else (np.nan,) * 4
            )

    def _over_time(self, so_far: Summary, x: np.ndarray) -> None:
        """Welford's update, body by body."""
        mean, squares, least, most = so_far
        change = np.where(self.well, x - mean, 0.0)
        mean += change / np.maximum(self.seen, 1.0)
        squares += change * np.where(self.well, x - mean, 0.0)
        np.minimum(least, np.where(self.well, x, np.inf), out=least)
        np.maximum(most, np.where(self.well, x, -np.inf), out=most)

    def first(self, t: float) -> None:
        """At the start."""
        self.well[list(self.carrier.lost)] = False
        super().first(t)

    def add(self, chunk: Chunk) -> None:
        """After some steps; bodies that have failed no longer count."""
        self.well[list(self.carrier.failures)] = False
        super().add(chunk)

    def result(self) -> tuple[Any, Any, Any]:
        """(times, statistics, motions)."""
        found, never = {}, self.seen == 0.0
        for name in self.names:
            mean, squares, least, most = self.time[name]
            over_time = Summary(mean, squares / np.maximum(self.seen, 1.0), least, most)
            for values in over_time:
                values[never] = np.nan
            found[name] = Statistic(over_time, Summary(*np.array(self.bodies[name]).T))
        return np.array(self.t), found, None
