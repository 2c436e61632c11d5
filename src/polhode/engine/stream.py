"""Points on disk: where a long run stores what it computes, and a trajectory that reads them on
demand."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.motions import Kind
from polhode.errors import InputError
from polhode.results.motion import in_user_axes
from polhode.results._run import BLOCK, Run
from polhode.results._system_trajectory import SystemTrajectory
from polhode.results._trajectory import Trajectory

Rows = np.ndarray | Sequence[Any]  # times, motions or residuals
_BUFFER = 2**21  # bytes of points that wait in memory
_ON_DISK = ("t", "motion", "residuals")


class Stream:
    """Points on disk, like `recorder.Points` in memory: rows of time, motion (principal axes) and
    residual.  `trouble` makes the exception for an OSError."""

    def __init__(self, path: Path, width: int, trouble: Callable[[OSError], Exception]) -> None:
        self.path, self.width, self.trouble = path, width + 2, trouble
        self.file = open(path, "a+b", buffering=0)  # noqa: SIM115 - open during the run
        # points in all, the checksum of those in the file, and their bytes
        self.n = self.sum = self.written = 0
        self.last_time: float | None = None
        self._waiting: list[bytes] = []
        self._size = 0  # of what waits

    def put(self, t: Rows, y: Rows, r: Rows) -> None:
        """Store points."""
        if len(t):
            rows = np.column_stack([t, y, r]).astype("<f8", copy=False)
            self.n, self.last_time = self.n + len(rows), float(rows[-1, 0])
            self._waiting.append(rows.tobytes())
            self._size += rows.nbytes
        if self._size > _BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write what waits; what cannot be written goes on waiting."""
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

    def rewind(self, n: int, expected: int) -> bool:
        """Go back to the first n points; False, with nothing changed, if their checksum is not the
        expected one."""
        total, left = 0, 8 * self.width * n
        self.file.seek(0)
        while left and (data := self.file.read(min(left, _BUFFER))):
            total, left = zlib.crc32(data, total), left - len(data)
        if left or total != expected:
            return False
        self.file.truncate(8 * self.width * n)
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
        # also if the file was deleted while it is open
        source = self.path if self.file.closed else os.dup(self.file.fileno())
        with open(source, "rb") as file:
            file.seek(first)
            return file.read(last - first)

    def close(self) -> None:
        """Close the file, unless it was deleted: then it stays open as long as its points are
        needed."""
        with contextlib.suppress(OSError):
            if not self.file.closed and os.path.samestat(
                os.fstat(self.file.fileno()), os.stat(self.path)
            ):
                self.file.close()

    def trajectory(self, kind: Kind, **facts: Any) -> OnDisk:
        """The run, from its points and its other facts; what cannot be written stays in memory."""
        with contextlib.suppress(InputError):
            self.sync()
        return (StreamedSystem if kind.bodies else Streamed)(self, kind=kind, **facts)

    def cut(
        self, excess: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> tuple[float, np.ndarray]:
        """Drop all points from the first with excess(t, y) > 0 on: (t, y) of the last one kept."""
        for a in range(0, self.n, BLOCK):
            rows = self.rows(a, min(a + BLOCK, self.n))
            found = np.flatnonzero(excess(rows[:, 0], rows[:, 1:-1]) > 0.0)
            if len(found):
                self.n = max(a + int(found[0]), 1)
                break
        last = self.rows(self.n - 1, self.n)[0]
        self.last_time = t = float(last[0])
        return t, last[1:-1]


class OnDisk(Run):
    """A run whose points are on disk: arrays are read when they are first used, and files are
    written in pieces."""

    in_memory: type[Run]

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

    def _blank(self) -> Any:
        return self.in_memory.__new__(self.in_memory)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or one for another process, has the points in memory."""
        whole = self.part(slice(None))
        del whole.__dict__["stream"]
        return copy, (whole,)

    def points(self, a: int, b: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = self.stream.rows(a, b)
        motion = in_user_axes(self.body, rows[:, 1:-1].copy(), self.kind)
        return rows[:, 0].copy(), motion, rows[:, -1].copy()


class Streamed(OnDisk, Trajectory):
    """The run of a body on disk."""

    in_memory = Trajectory


class StreamedSystem(OnDisk, SystemTrajectory):
    """The run of a system on disk."""

    in_memory = SystemTrajectory
