"""Points on disk: where a long run stores what it computes, and the trajectory that reads them when
it must."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable
from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError
from polhode.results.motion import in_user_axes
from polhode.results._trajectory import BLOCK, Trajectory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_BUFFER = 2**21  # bytes of points that wait in memory
_ON_DISK = ("t", "motion", "residuals")


class Stream:
    """Points on disk, as `recorder.Points` has them in memory: rows of time, motion (principal axes)
    and residual."""

    def __init__(
        self, path: str | PathLike[str], width: int, trouble: Callable[[OSError], Exception]
    ) -> None:
        # what to raise for an OSError
        self.path, self.width, self.trouble = path, width + 2, trouble
        self.file = open(path, "r+b" if path.exists() else "w+b", buffering=0)  # noqa: SIM115 - the run holds it
        # points in all, the sum over those in the file, and their bytes
        self.n = self.sum = self.written = 0
        self.last_time = None
        self._waiting, self._size = [], 0

    def put(self, t: ArrayLike, y: ArrayLike, r: ArrayLike) -> None:
        """Store points."""
        if len(t):
            rows = np.column_stack([t, y, r]).astype("<f8", copy=False)
            self.n, self.last_time = self.n + len(rows), float(rows[-1, 0])
            self._waiting.append(rows.tobytes())
            self._size += rows.nbytes
        if self._size > _BUFFER:
            self.flush()

    def flush(self) -> None:
        """Hand to the system what waits; what it does not take goes on waiting."""
        data = b"".join(self._waiting)
        try:
            while data:
                taken = self.file.write(data)
                self.sum, self.written = zlib.crc32(data[:taken], self.sum), self.written + taken
                data = data[taken:]
        except OSError as error:
            raise self.trouble(error) from error
        finally:
            self._waiting, self._size = [data] if data else [], len(data)

    def sync(self) -> None:
        """Force everything to disk."""
        self.flush()
        try:
            os.fsync(self.file.fileno())
        except OSError as error:
            raise self.trouble(error) from error

    def rewind(self, n: int, expected: Any) -> bool:
        """Go back to the first n points; False, and nothing has changed, where they are not those
        of the sum `expected`."""
        total, left = 0, 8 * self.width * n
        self.file.seek(0)
        while left and (data := self.file.read(min(left, _BUFFER))):
            total, left = zlib.crc32(data, total), left - len(data)
        if left or total != expected:
            return False
        self.file.truncate(8 * self.width * n)
        self.file.seek(0, os.SEEK_END)
        self.n, self.sum, self.written = n, total, 8 * self.width * n
        self.last_time = float(self.rows(n - 1, n)[0, 0]) if n else None
        return True

    def rows(self, a: int, b: int) -> np.ndarray:
        """The rows a to b."""
        first, last = (8 * self.width * row for row in (a, b))
        waiting = b"".join(self._waiting)[
            max(first - self.written, 0) : max(last - self.written, 0)
        ]
        data = self._on_disk(first, min(last, self.written)) + waiting
        return np.frombuffer(data, "<f8").reshape(-1, self.width).astype(float)

    def _on_disk(self, first: int, last: int) -> bytes:
        """These bytes of the file."""
        if first >= last:
            return b""
        with (
            open(self.path, "rb") if self.file.closed else contextlib.nullcontext(self.file) as file
        ):
            file.seek(first)
            data, left = [], last - first
            while left and (piece := file.read(left)):
                data.append(piece)
                left -= len(piece)
            if file is self.file:
                file.seek(0, os.SEEK_END)
        return b"".join(data)

    def close(self) -> None:
        """Let go of the file; it stays open where someone has deleted it, for as long as its points
        are wanted."""
        with contextlib.suppress(OSError):
            if not self.file.closed and os.path.samestat(
                os.fstat(self.file.fileno()), os.stat(self.path)
            ):
                self.file.close()

    def trajectory(self, **facts: Any) -> Streamed:
        """The run, from its points and its other facts; what the disk does not take stays in
        memory."""
        with contextlib.suppress(InputError):
            self.sync()
        return Streamed(self, **facts)

    def cut(
        self, excess: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> tuple[float, np.ndarray]:
        """Drop the points from the first on where excess(t, y) > 0: (t, y) of the last one kept."""
        for a in range(0, self.n, BLOCK):
            rows = self.rows(a, min(a + BLOCK, self.n))
            found = np.flatnonzero(excess(rows[:, 0], rows[:, 1:-1]) > 0.0)
            if len(found):
                self.n = max(a + int(found[0]), 1)
                break
        last = self.rows(self.n - 1, self.n)[0]
        self.last_time = float(last[0])
        return self.last_time, last[1:-1]


class Streamed(Trajectory):
    """A run whose points are on disk: arrays are read when they are first asked for, and files are
    written in pieces."""

    def __init__(self, stream: Stream, **facts: Any) -> None:
        self.stream = stream
        none = np.empty(0)
        super().__init__(t=none, motion=none, residuals=none, **facts)
        for name in _ON_DISK:
            del self.__dict__[name]

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name not in _ON_DISK:
                return super().__getattr__(name)
            self.t, self.motion, self.residuals = self.points(0, len(self))
            return self.__dict__[name]

    def __len__(self) -> int:
        return self.stream.n

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process, or a copy, has the points in memory."""
        whole = self.part(slice(None))
        del whole.__dict__["stream"]
        return copy, (whole,)

    def points(self, a: int, b: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = self.stream.rows(a, b)
        motion = in_user_axes(self.body, rows[:, 1:-1].copy(), self.kind)
        return rows[:, 0].copy(), motion, rows[:, -1].copy()
