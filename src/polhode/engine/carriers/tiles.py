"""The processor as a backend: tiles of lanes in machine code, taken by threads.  The loops are in
`polhode.core.loops.tiles`.

Python threads call loops that let go of the interpreter: nothing but the ranges of tiles they take
decides who does what, and no tile knows about any other, so that the numbers do not depend on it.
"""

from __future__ import annotations

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import count as counter
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from polhode.core.loops import fixed as loops, tiles
from polhode.core.jit import Build, bind, compile_now, compiling, jit
from polhode.core.layout import layout
from polhode.core.single import SinglePrecision
from polhode.errors import whole

if TYPE_CHECKING:
    from polhode.engine.program import Program
    from polhode.engine.schedule import Segment

LANES = 64  # bodies in a tile: the state of a tile fits the nearest cache
# tiles a thread takes at a time, at most; there are at least ROUNDS such tasks for each thread
TASK = 16
ROUNDS = 4
LITTLE = 50_000  # body-steps that are not worth a second thread
REASONS = {loops.DIVERGED: "diverged", loops.UNSOLVED: "unsolved"}
PACKED, SINGLE = (
    re.compile(r" fmul <\d+ x (?:double|float)>"),
    re.compile(r" fmul (?:double|float) "),
)


def default_threads() -> int:
    """As many threads as the process may use processors."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Tiles:
    """Many bodies on the processor.  `polhode.engine.carriers.many` says what a backend does."""

    device = "cpu"

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
        if threads is not None:
            threads = whole(
                "threads", threads, 1, "write threads=2, or leave it out for one per processor"
            )
        self.program, self.n, self.dtype = program, n, np.dtype(dtype)
        # the interpreter runs one torque at a time: bodies go one by one
        self.python = any(program.pythons)
        self.lanes = 1 if self.python else lanes
        self.threads = 1 if self.python else threads or default_threads()
        self.tiles = -(-n // self.lanes)
        self.task = max(1, min(TASK, self.tiles // (ROUNDS * self.threads)))
        self.dead = np.zeros(n, dtype=bool)
        self.failed, self.unstarted = {}, {}
        self._lock = threading.Lock()
        # its threads start when they are needed
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._machines = program.kept(
            ("tiles", self.dtype, self.lanes, moments.shape[1] > 1, parameters.shape[1] > 1), dict
        )
        self._arrange(np.concatenate([moments, 1.0 / moments]), parameters)

    def _arrange(self, inertia, parameters):
        """Lay out the tiles: state, whether all is well, and what each body has of its own."""
        import numba

        size, lanes, own = self.program.size, self.lanes, []
        state = layout(self.program.kind, lanes)
        self._names = {
            **self.program.names,
            "load_state": state.unpack,
            "store_state": state.pack,
            "LANES": lanes,
            "WELL": size * lanes,
            "real": getattr(numba, self.dtype.name),
        }
        for kind, rows, common, this in (
            (loops.Body, inertia, "common_body", "this_body"),
            (self.program.shape, parameters, "common_parameters", "these_parameters"),
        ):
            if rows.shape[1] == 1:
                self._names |= {common: in_common(kind), this: tiles.the_same}
            else:
                self._names |= {
                    common: tiles.nothing,
                    this: of_its_own(kind, lanes, size + 1 + len(own)),
                }
                own += list(rows)
        self.moments, self.parameters = (
            inertia[:, :1].astype(self.dtype),
            parameters[:, :1].astype(self.dtype),
        )
        self.z = np.empty((self.tiles, (size + 1 + len(own)) * lanes), self.dtype)
        states = self._states(self.z)
        states[:, size] = 1.0
        for i, row in enumerate(own, size + 1):
            whole = self.n // lanes
            states[:whole, i] = row[: whole * lanes].reshape(whole, lanes)
            states[whole:, i] = row[-1]
            states[whole:, i, : self.n - whole * lanes] = row[whole * lanes :]

    def _loop(self, loop, *arguments, replace=(), **names):
        """A loop as machine code, compiled or loaded by a call that does nothing."""
        key = (loop, *names.values())
        with self._lock:
            if key not in self._machines:
                build = Build(replace=replace, threaded=True, packed=loop is tiles.advance)
                if self.dtype == np.float32:
                    build = build._replace(rebinder=SinglePrecision)
                used = {
                    name: value
                    for name, value in {**self._names, **names}.items()
                    if name in loop.__code__.co_names
                }
                self._machines[key] = bind(loop, build, **used)
                compile_now(self._machines[key], *arguments)
            return self._machines[key]

    # --- what a backend does ----------------------------------------------------------------------

    def begin(self, h: float, t: float, motions: np.ndarray) -> None:
        """Let the method start (anew) from attitudes and velocities (n, 7)."""
        rest = (h, t, motions.astype(self.dtype, copy=False), self.z, self.moments, self.parameters)
        loop = self._loop(tiles.begin, 0, 0, *rest)
        self._spread(
            lambda first, last: self._begin(loop, first * self.lanes, last * self.lanes, rest)
        )

    def _begin(self, loop, first, last, rest):
        try:
            loop(first, last, *rest)
            self._raise_from_python()
        except Exception as error:  # raised by the torque of one of these bodies
            if last - first > 1:
                for body in range(first, last):
                    self._begin(loop, body, body + 1, rest)
            elif first < self.n:
                self._fail(first, 0, error)
                self.unstarted[first] = rest[2][first].astype(float)

    def advance(self, segment: Segment, k: int, count: int) -> None:
        """`count` steps of the segment from its step k, for every body that is well."""
        grid, clock = segment.grid, loops.listed_clock if segment.uneven else loops.even_clock
        together = None
        if not self.python:
            together = self._loop(
                tiles.advance,
                0,
                0,
                0,
                0,
                grid,
                self.z,
                self.moments,
                self.parameters,
                replace=tiles.TOGETHER,
                clock=clock,
            )
        self._spread(
            lambda first, last: self._advance(together, clock, first, last, grid, k, count), count
        )

    def motions(self) -> np.ndarray:
        """Attitudes and body angular velocities (n, 7), principal axes."""
        out = np.empty((self.n, self.program.width))
        loop = self._loop(tiles.read, 0, 0, self.z, self.moments, out)
        self._spread(lambda first, last: loop(first, last, self.z, self.moments, out))
        for body, motion in self.unstarted.items():
            out[body] = motion
        return out

    def field(self, name: str) -> np.ndarray:
        """A field of the method's state (size, n); nothing where there is no such field."""
        rows = self._states(self.z)[:, self.program.rows(name)]
        return (
            rows.swapaxes(0, 1)
            .reshape(rows.shape[1], self.tiles * self.lanes)[:, : self.n]
            .astype(float)
        )

    def failures(self) -> dict[int, Any]:
        """{body: (number of the step that failed in its segment, why)}."""
        return self.failed

    @property
    def vectorised(self) -> bool:
        """Whether the inner loop is made of packed instructions, as LLVM says."""
        packed = [
            vectorised(machine)
            for (loop, *_), machine in self._machines.items()
            if loop is tiles.advance
        ]
        return bool(packed) and all(packed)

    # --- inside -----------------------------------------------------------------------------------

    def _spread(self, task, steps=1):
        """Run task(first tile, last tile), which takes so many steps, over all tiles."""
        ranges = [(a, min(a + self.task, self.tiles)) for a in range(0, self.tiles, self.task)]
        threads = 1 if self.n * steps < LITTLE else min(self.threads, len(ranges))
        turn = counter()

        def work(_):
            while (i := next(turn)) < len(ranges):
                task(*ranges[i])

        if threads == 1:
            work(None)
        else:
            list(self._pool.map(work, range(threads)))

    def _advance(self, together, clock, first, last, grid, k, count):
        """The steps of some tiles; bodies that did not come along are taken one by one from where
        they were."""
        before, here = (
            self.z[first:last].copy(),
            slice(first * self.lanes, min(last * self.lanes, self.n)),
        )
        well = self._states(self.z)[first:last, self.program.size]
        if self.python:
            well[:] = 0.0
        else:
            try:
                together(first, last, count, k, grid, self.z, self.moments, self.parameters)
            except Exception:  # raised by the torque of one of these bodies
                self.z[first:last] = before
                well[:] = 0.0
        behind = (well.ravel()[: here.stop - here.start] != 1.0) | self.dead[here]
        well[:] = 1.0
        if behind.any():
            bodies = here.start + np.flatnonzero(behind)
            self._states(self.z)[bodies // self.lanes, :, bodies % self.lanes] = self._states(
                before
            )[bodies // self.lanes - first, :, bodies % self.lanes]
            self._one_by_one(clock, bodies[~self.dead[bodies]], grid, k, count)

    def _states(self, z):
        """The same memory as (tile, component, lane)."""
        return z.reshape(len(z), -1, self.lanes)

    def _one_by_one(self, clock, bodies, grid, k, count):
        """The steps of some bodies; where a torque raises, the one body and the one step are sought
        out."""
        why, reached = np.zeros(len(bodies), dtype=np.int64), np.full(len(bodies), k)
        rest = (grid, self.z, self.moments, self.parameters)
        loop = self._loop(tiles.one_by_one, bodies[:0], 0, k, *rest, why, reached, clock=clock)
        before = self._states(self.z)[bodies // self.lanes, :, bodies % self.lanes]
        try:
            loop(bodies, count, k, *rest, why, reached)
            self._raise_from_python()
        except Exception as error:
            if len(bodies) == 1 and (count == 1 or self.python):
                # a loop that raised has not said where
                self._fail(bodies[0], reached[0] if self.python else k, error)
                return
            self._states(self.z)[bodies // self.lanes, :, bodies % self.lanes] = before
            for body in bodies:
                for part in range(count) if len(bodies) == 1 else (0,):
                    if not self.dead[body]:
                        self._one_by_one(
                            clock,
                            np.array([body]),
                            grid,
                            k + part,
                            1 if len(bodies) == 1 else count,
                        )
            return
        for i in np.flatnonzero(why != loops.DONE):
            self._fail(bodies[i], reached[i], REASONS[int(why[i])])

    def _fail(self, body, k, reason):
        if isinstance(reason, Exception):
            reason = f"the torque raised {type(reason).__name__}: {reason}"
        self.dead[body] = True
        self.failed[int(body)] = (int(k), reason)

    def _raise_from_python(self):
        """What a Python torque ran into cannot cross machine code: it is raised again here."""
        error = self.program.trouble()
        if error is not None:
            raise error


@lru_cache(256)
def in_common(kind: Any) -> Any:
    """`common(values)`: what all bodies have, from an array (component, 1)."""
    unpack = layout(kind).unpack

    @jit
    def common(values):
        return unpack(values, 0)

    return common


@lru_cache(256)
def of_its_own(kind: Any, lanes: int, first: int) -> Any:
    """`this(common, tile, lane)`: what a body has of its own, from the tile's components first,
    first + 1, ..."""
    unpack = layout(kind, lanes, first).unpack

    @jit
    def this(common, tile, lane):
        return unpack(tile, lane)

    return this


_vectorised = WeakKeyDictionary()  # what was found for each loop: to look takes milliseconds


def vectorised(machine: Any) -> bool:
    """Whether a bound loop multiplies vectors; what is the same for all lanes it may still multiply
    singly."""
    if not compiling():
        return False
    if machine not in _vectorised:
        _vectorised[machine] = _multiplies_vectors(machine)
    return _vectorised[machine]


def _multiplies_vectors(machine):
    compiled = next(iter(machine.overloads.values()))
    # optimised, and there also when the loop came from the disk
    code = str(compiled.library._get_module_for_linking())
    return len(PACKED.findall(code)) > len(SINGLE.findall(code))
