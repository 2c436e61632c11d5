"""The processor as a backend: tiles of lanes in machine code, shared among threads.  The loops are in
`polhode.core.loops.tiles`.

Python threads call loops that release the interpreter's lock, each for a range of tiles.  Tiles are
independent, so that the results do not depend on the number of threads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from polhode.core.loops import fixed as loops, tiles
from polhode.core.jit import Build, bind, compiling, direct, jit
from polhode.core.layout import layout
from polhode.core.single import SinglePrecision
from polhode.engine.carriers.threads import check_threads, share
from polhode.engine.trouble import exception_text

if TYPE_CHECKING:
    from polhode.engine.program import Program
    from polhode.engine.schedule import Segment

Loop = Callable[..., Any]
LANES = 64  # bodies in a tile: the state of a tile fits the nearest cache
ROUNDS = 8  # tasks for each thread, for an even load
LITTLE = 50_000  # body-steps that are not worth a second thread
REASONS = {loops.DIVERGED: "diverged", loops.UNSOLVED: "unsolved"}
PACKED = re.compile(r" fmul <\d+ x (?:double|float)>")
SINGLE = re.compile(r" fmul (?:double|float) ")


class Tiles:
    """A backend for the processor."""

    device = "cpu"
    first_body_steps = 8_000_000  # some hundredths of a second

    def __init__(
        self,
        program: Program,
        n: int,
        moments: np.ndarray,
        parameters: np.ndarray,
        dtype: str = "float64",
        threads: int | None = None,
        lanes: int = LANES,
    ) -> None:
        threads = check_threads(threads)
        self.program, self.n, self.dtype = program, n, np.dtype(dtype)
        # the interpreter runs one torque at a time: one body after another
        self.python = any(program.pythons)
        self.lanes = 1 if self.python else lanes
        self.threads = 1 if self.python else threads
        self.tiles = -(-n // self.lanes)
        self.task = max(1, self.tiles // (ROUNDS * self.threads))
        self.dead = np.zeros(n, dtype=bool)
        self.failed: dict[int, tuple[int, str]] = {}
        self.unstarted: dict[int, np.ndarray] = {}  # motions of bodies that failed at the start
        # whether each body has its own moments, and its own parameters
        self.own = moments.shape[1] > 1, parameters.shape[1] > 1
        self._machines = program.kept(("tiles", self.dtype, self.lanes, self.own), dict)
        self._arrange(program.body_rows(moments), parameters)

    def _arrange(self, inertia: np.ndarray, parameters: np.ndarray) -> None:
        """Allocate the tiles, for the state, whether the body is well, and its own moments and
        parameters, and store the latter."""
        own = [
            row
            for rows, each in zip((inertia, parameters), self.own, strict=True)
            if each
            for row in rows
        ]
        self.moments, self.parameters = (
            np.ascontiguousarray(rows[:, :1], self.dtype) for rows in (inertia, parameters)
        )
        self.z = np.empty((self.tiles, (self.program.size + 1 + len(own)) * self.lanes), self.dtype)
        states, whole = self._states(self.z), self.n // self.lanes
        for i, row in enumerate(own, self.program.size + 1):
            states[:whole, i] = row[: whole * self.lanes].reshape(whole, self.lanes)
            states[whole:, i] = row[-1]
            states[whole:, i, : self.n - whole * self.lanes] = row[whole * self.lanes :]

    def _names(self) -> dict[str, Any]:
        """What the loops are bound to."""
        import numba

        size, lanes = self.program.size, self.lanes
        state, place = layout(self.program.kind, lanes), size + 1
        names: dict[str, Any] = {
            **self.program.names,
            "load_state": state.unpack,
            "store_state": state.pack,
            "LANES": lanes,
            "WELL": size * lanes,
            "real": getattr(numba, self.dtype.name),
        }
        for kind, own, common, this in (
            (self.program.body_shape, self.own[0], "common_body", "this_body"),
            (self.program.shape, self.own[1], "common_parameters", "these_parameters"),
        ):
            if own:
                names |= {common: tiles.nothing, this: of_its_own(kind, lanes, place)}
                place += layout(kind).size
            else:
                names |= {common: layout(kind).unpack, this: tiles.the_same}
        return names

    def _loop(self, loop: Loop, *arguments: Any, replace: tuple = (), **names: Any) -> Loop:
        """A loop as machine code for arguments of these types; a call that does nothing compiles or
        loads it."""
        key = (loop, *names.values())
        if key not in self._machines:
            build = Build(replace=replace, threaded=True, packed=loop is tiles.advance)
            if self.dtype == np.float32:
                build = build._replace(rebinder=SinglePrecision)
            used = {
                name: value
                for name, value in {**self._names(), **names}.items()
                if name in loop.__code__.co_names
            }
            machine = bind(loop, build, **used)
            machine.subject = self.program.method.name
            self._machines[key] = machine, direct(machine, *arguments) if compiling() else machine
        return self._machines[key][1]

    # --- what a backend does ----------------------------------------------------------------------

    def begin(self, h: float, t: float, motions: np.ndarray) -> None:
        """Let the method start from motions (n, width)."""
        motions = np.ascontiguousarray(motions, self.dtype)
        rest = (float(h), float(t), motions, self.z, self.moments, self.parameters)
        loop = self._loop(tiles.begin, 0, 0, *rest)
        self._spread(
            lambda first, last: self._begin(loop, first * self.lanes, last * self.lanes, rest)
        )
        self._well(np.flatnonzero(self.dead), 0.0)

    def _begin(self, loop: Loop, first: int, last: int, rest: tuple[Any, ...]) -> None:
        """Begin with some bodies; if a torque raises, one by one."""
        try:
            loop(first, last, *rest)
            self._raise_from_python()
        except Exception as error:
            if last - first > 1:
                for body in range(first, last):
                    self._begin(loop, body, body + 1, rest)
            elif first < self.n:
                self._fail(first, 0, error)
                self.unstarted[first] = rest[2][first].astype(float)

    def prepare(self, segment: Segment) -> None:
        """Compile, or load, the loops for a segment."""
        if not self.python:
            self._together(segment)

    def advance(self, segment: Segment, k: int, count: int) -> None:
        """Take `count` steps of a segment from its step k with all bodies that have not failed."""
        if self.python:
            self._one_by_one(segment, np.flatnonzero(~self.dead), k, count)
            return
        loop = self._together(segment)
        self._spread(lambda first, last: self._advance(loop, segment, first, last, k, count), count)

    def _together(self, segment: Segment) -> Loop:
        """The loop over whole tiles."""
        rest = (segment.grid, self.z, self.moments, self.parameters, self.z[0], np.zeros(1, int))
        return self._loop(
            tiles.advance, 0, 0, 0, 0, *rest, replace=tiles.TOGETHER, clock=clock_of(segment)
        )

    def motions(self) -> np.ndarray:
        """The motions (n, width) in principal axes."""
        out = np.empty((self.n, self.program.width))
        loop = self._loop(tiles.read, 0, 0, self.z, self.moments, out)
        self._spread(lambda first, last: loop(first, last, self.z, self.moments, out))
        for body, motion in self.unstarted.items():
            out[body] = motion
        return out

    def field(self, rows: slice) -> np.ndarray:
        """Components (size, n) of the method's state."""
        found = self._states(self.z)[:, rows].swapaxes(0, 1)
        return found.reshape(-1, self.tiles * self.lanes)[:, : self.n].astype(float)

    def failures(self) -> dict[int, tuple[int, str]]:
        """{body: (step of the segment, reason)}."""
        return self.failed

    @property
    def vectorised(self) -> bool:
        """Whether the inner loop consists of SIMD instructions."""
        packed = [
            vectorised(machine)
            for (loop, *_), (machine, _) in self._machines.items()
            if loop is tiles.advance
        ]
        return bool(packed) and all(packed)

    # --- inside -----------------------------------------------------------------------------------

    def _spread(self, task: Callable[[int, int], None], steps: int = 1) -> None:
        """Run task(first tile, last tile), which takes so many steps, over all tiles."""
        if self.n * steps < LITTLE:
            task(0, self.tiles)
            return
        starts = range(0, self.tiles, self.task)
        share(
            lambda first: task(first, min(first + self.task, self.tiles)),
            starts,
            min(self.threads, len(starts)),
        )

    def _advance(
        self, together: Loop, segment: Segment, first: int, last: int, k: int, count: int
    ) -> None:
        """The steps of some tiles; bodies for which the loop over tiles fails take them again, one by
        one."""
        before, reached = np.empty_like(self.z[0]), np.zeros(1, dtype=int)
        rest = (segment.grid, self.z, self.moments, self.parameters, before, reached)
        while first < last:
            try:
                together(first, last, count, k, *rest)
                raised = False
            except Exception:  # of the torque of a body in this tile
                raised = True
            tile, first = int(reached[0]), int(reached[0]) + 1
            if tile < last:
                states, earlier = self._states(self.z)[tile], before.reshape(-1, self.lanes)
                behind = np.flatnonzero((states[self.program.size] != 1.0) | raised)
                states[:, behind] = earlier[:, behind]
                bodies = tile * self.lanes + behind
                bodies = bodies[bodies < self.n]
                self._one_by_one(segment, bodies[~self.dead[bodies]], k, count)

    def _states(self, z: np.ndarray) -> np.ndarray:
        """The tiles as an array (tile, component, lane)."""
        return z.reshape(len(z), -1, self.lanes)

    def _well(self, bodies: Any, value: float) -> None:
        """Mark bodies as well (1) or failed (0)."""
        states = self._states(self.z)
        states[bodies // self.lanes, self.program.size, bodies % self.lanes] = value

    def _one_by_one(self, segment: Segment, bodies: np.ndarray, k: int, count: int) -> None:
        """The steps of some bodies; if a torque raises, find the body and the step."""
        if len(bodies) == 0:
            return
        why, reached = np.zeros(len(bodies), dtype=np.int64), np.full(len(bodies), k)
        rest = (segment.grid, self.z, self.moments, self.parameters, why, reached)
        loop = self._loop(tiles.one_by_one, bodies[:0], 0, k, *rest, clock=clock_of(segment))
        states = self._states(self.z)
        place = bodies // self.lanes, slice(None), bodies % self.lanes
        before = states[place]
        try:
            loop(bodies, count, k, *rest)
            self._raise_from_python()
        except Exception as error:
            if len(bodies) == 1 and (count == 1 or self.python):
                # machine code that raised does not tell at which step
                self._fail(bodies[0], reached[0] if self.python else k, error)
                return
            states[place] = before
            if len(bodies) > 1:
                for body in bodies:
                    self._one_by_one(segment, np.array([body]), k, count)
            else:
                for step in range(k, k + count):
                    if not self.dead[bodies[0]]:
                        self._one_by_one(segment, bodies, step, 1)
            return
        for i in np.flatnonzero(why != loops.DONE):
            self._fail(bodies[i], reached[i], REASONS[int(why[i])])

    def _fail(self, body: Any, k: int, reason: str | Exception) -> None:
        if isinstance(reason, Exception):
            reason = exception_text(reason)
        self.dead[body] = True
        self.failed[int(body)] = (int(k), reason)
        self._well(body, 0.0)

    def _raise_from_python(self) -> None:
        """Raise the exception of a Python torque, which cannot pass through machine code."""
        error = self.program.trouble()
        if error is not None:
            raise error


def clock_of(segment: Segment) -> Any:
    """The function by which the loops read the grid of a segment."""
    return loops.even_clock if segment.listed is None else loops.listed_clock


@lru_cache(256)
def of_its_own(kind: Any, lanes: int, first: int) -> Any:
    """`this(common, tile, lane)`: the moments, or parameters, of one body from the components first,
    first + 1, ... of a tile."""
    unpack = layout(kind, lanes, first).unpack

    @jit
    def this(common: Any, tile: Any, lane: int) -> Any:
        return unpack(tile, lane)

    return this


_vectorised: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()  # to look takes milliseconds


def vectorised(machine: Any) -> bool:
    """Whether a bound loop has more products of vectors than of single numbers."""
    if not compiling():
        return False
    if machine not in _vectorised:
        compiled = next(iter(machine.overloads.values()))
        # optimised, and there also when the loop came from the disk
        code = str(compiled.library._get_module_for_linking())
        _vectorised[machine] = len(PACKED.findall(code)) > len(SINGLE.findall(code))
    return _vectorised[machine]
