"""Long runs: points are written to disk as they are computed, with checkpoints from which an
interrupted run continues.

The files in the folder of a run:

    run                  what is computed, written once; a run that continues must be the same
    points               the stored points, eight bytes a number, only ever appended to
    state-0, state-1     the last two checkpoints: the method's own state, and how many points belong to it
    lock                 held by the process at work; says whether a run made the folder

Checkpoints are atomic: first the points are forced to disk, then the state is written to a new file,
which replaces the older of the two.  Checksums of the state and of the points before it detect
damage; if the newer state is damaged the older one is used.  The results do not depend on this: an
interrupted run ends with the same bits as one without interruptions.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import time
import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, Any

from polhode.errors import InputError, difference, disk_advice
from polhode.engine.checkpoint_files import (
    FILES,
    MADE,
    damaged,
    is_checkpoint,
    made_by_a_run,
    occupied,
    read_run,
    saved_states,
    usable_states,
    write,
)
from polhode.engine.stream import Stream
from polhode.support.atomic import PARTIAL

STANDARD = "30s"
_CODE = {
    "torque_digest": "the code of the torque, or what it uses,",
    "events": "the code of the events, or what they use,",
    "source_digest": "the code of the method",
}
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def interval(every: int | str) -> tuple[int, float]:
    """(steps, seconds) between checkpoints, one of them 0, from a number of steps or text such as
    30s, 5min or 1h."""
    found = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(s|min|h)?\s*", str(every))
    with contextlib.suppress(ValueError, OverflowError):
        number, unit = (
            (float(found[1]), found[2]) if found and not isinstance(every, bool) else (0.0, None)
        )
        if unit and 0.0 < number < float("inf"):
            return 0, number * _UNITS[unit]
        if not unit and number >= 1.0 and number == int(number):
            return int(number), 0.0
    raise InputError(
        f"a checkpoint interval is a number of steps, such as 100000, or a time, such as 30s, 5min or 1h, got "
        f"{every!r}; write {STANDARD}"
    )


# --- the folder -----------------------------------------------------------------------------------


class Checkpoint:
    """A folder for a long run.

    Parameters
    ----------
    folder : str or Path
        Made if it does not exist; an unfinished run in it is continued, if it is the same.
    every : int or str
        Steps between checkpoints, or the time between them: 30s, 5min, 1h.
    about : dict
        Further information about the run; kept in the folder.
    again, anew, as_begun : str
        For messages: how to continue, how to start again, and how to continue with the settings that
        the run began with (by default `again`).
    reserve : int
        Numbers for each point that the finished file will need on the same disk.
    tell : function
        Called with messages about the state of the folder.
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        every: int | str = STANDARD,
        about: dict[str, Any] | None = None,
        again: str = "make the same call again",
        anew: str = "start again in another folder",
        reserve: int = 0,
        tell: Callable[[str], Any] = warnings.warn,
        as_begun: str | None = None,
    ) -> None:
        self.folder, self.about, self.again, self.anew = Path(folder), about or {}, again, anew
        self.as_begun = as_begun or again
        self.reserve, self.tell = reserve, tell
        self.steps, self.seconds = interval(every)
        self.generation, self.done, self.clock = 0, 0, time.monotonic()
        self.points: Any = None  # a Stream, once the folder is open
        self._held: IO[str] | None = None  # the lock
        self.made = False  # whether a run made the folder

    def open(self, identity: dict[str, Any], record: Any) -> dict[str, Any] | None:
        """Begin or continue: the saved state of the run, None for a new one; `identity` is what the
        results depend on."""
        try:
            self._make_folder()
            self._lock()
            self._check_identity(identity)
            self.points = Stream(self.folder / "points", record.kind.width, self._trouble)
            record.keep_in(self.points)
            saved = self._saved()
            self._check_space(record)
            return saved
        except OSError as error:
            self.close()
            raise self._trouble(error) from error
        except InputError:
            self.close()
            raise

    def _check_identity(self, identity: dict[str, Any]) -> None:
        """Write what is computed here, or check that it is the same."""
        identity = json.loads(json.dumps(identity))  # as it is read back: with lists for tuples
        self.fresh = not occupied(self.folder)
        if self.fresh:
            write(self.folder / "run", {"identity": identity, "about": self.about})
            return
        there = read_run(self.folder, self.anew)
        if there["identity"] != identity:
            changed = _changed(there, {"identity": identity, "about": self.about})
            raise InputError(
                f"the unfinished run in {str(self.folder)!r} is another one: {changed}; undo that and "
                f"{self.as_begun}, or {self.anew}"
            )

    def _make_folder(self) -> None:
        """Make the folder, or refuse one with other files."""
        try:
            self.folder.mkdir()
            self.made = True
        except FileExistsError:
            if not self.folder.is_dir():
                raise
            if begun := occupied(self.folder):
                read_run(self.folder, self.anew)
            self._check_strangers(tolerant=begun)
            self.made = made_by_a_run(self.folder)

    def _check_strangers(self, tolerant: bool = False) -> None:
        """Refuse a folder with other files; a run that continues tolerates them, but not links."""
        begun = occupied(self.folder)
        for path in sorted(self.folder.iterdir()):
            name, plain = path.name, path.is_file() and not path.is_symlink()
            ours = (
                name in FILES
                and plain
                and (name != "lock" or path.read_bytes() in (b"", MADE.encode()))
            )
            if not (
                ours or (begun and PARTIAL.fullmatch(name)) or (tolerant and name not in FILES)
            ):
                raise InputError(
                    f"the folder {str(self.folder)!r} is for an unfinished run, but it contains {name!r}, which no run "
                    "wrote; move that away, or choose another folder"
                )

    def _check_space(self, record: Any) -> None:
        size = 8 * (
            (record.fewest - self.points.n) * self.points.width + record.fewest * self.reserve
        )
        free = shutil.disk_usage(self.folder).free
        if size > free:
            if self.fresh:
                self.remove()
            raise InputError(
                f"the run needs {size} bytes ({size / 1e9:.3g} GB) on the disk of {str(self.folder)!r}, where "
                f"{free / 1e9:.3g} GB are free; store fewer points, with every = ..., or choose another disk"
            )

    def _lock(self) -> None:
        self._held = held = open(self.folder / "lock", "a")  # noqa: SIM115 - released when the process ends
        if self.made and not held.tell():
            held.write(MADE)
            held.flush()
        with contextlib.suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    return  # a file system without locks
                raise InputError(
                    f"the run in {str(self.folder)!r} is being computed by another process; wait for it, or end "
                    "it first"
                ) from None

    def _saved(self) -> dict[str, Any] | None:
        """The newest undamaged state, with its points; None if there has been none yet."""
        states = usable_states(self.folder, self.anew)
        for state in states:
            if state is not None and self.points.rewind(state["points"], state["sum"]):
                self.generation, self.done = state["generation"], state["done"]
                if state is not states[0]:
                    self.tell(
                        f"the newest checkpoint in {str(self.folder)!r} is damaged; continuing from the previous one, at "
                        f"step {state['done']}"
                    )
                return state
        if states:
            size = (self.folder / "points").stat().st_size
            raise damaged(
                self.folder,
                self.anew,
                f"the file 'points' ({size} bytes) has changed since it was written",
            )
        self.points.rewind(0, 0)
        return None

    def room(self, done: int) -> int:
        """How many steps remain until the next checkpoint."""
        return max(self.done + self.steps - done, 1) if self.steps else 2**62

    def due(self, done: int) -> bool:
        """Whether it is time for a checkpoint."""
        if self.steps:
            return done - self.done >= self.steps
        return time.monotonic() - self.clock >= self.seconds

    def save(self, state: dict[str, Any]) -> None:
        """Make a checkpoint."""
        try:
            self.points.sync()
            self.generation += 1
            stored = {"points": self.points.n, "sum": self.points.sum}
            entry = {"generation": self.generation, **stored, **state}
            write(self.folder / f"state-{self.generation % 2}", entry)
        except OSError as error:
            raise self._trouble(error) from error
        self.done, self.clock = state["done"], time.monotonic()

    @property
    def intact(self) -> bool:
        """Whether a run can continue from the folder."""
        return is_checkpoint(self.folder) and any(saved_states(self.folder))

    def _trouble(self, error: OSError) -> InputError:
        if self.points and not self.folder.is_dir():
            return InputError(
                f"the folder {str(self.folder)!r} was deleted during the run, and its checkpoints with it; what "
                "was computed is in `trajectory` of this error"
            )
        if not self.points:
            kept = "Nothing was lost"
        elif self.intact:
            kept = f"The last good checkpoint, at step {self.done}, is kept: {self.again}"
        else:
            kept = "No checkpoint was made; the results so far are in `trajectory` of this error"
        return InputError(
            f"cannot write to {str(self.folder)!r}: {error.strerror or error}; {disk_advice(error)}.  {kept}"
        )

    def clear(self) -> None:
        """Delete an unfinished run in the folder, unless another process computes it."""
        self.made = made_by_a_run(self.folder)
        self._check_strangers()
        self._lock()
        self.remove()

    def close(self) -> None:
        """Release the folder; it stays."""
        for one in (self.points, self._held):
            if one is not None:
                one.close()

    def remove(self) -> None:
        """Release the folder and delete what runs have written there, and the folder itself if a run
        made it."""
        self.close()
        for path in self.folder.iterdir():
            # a Zarr store
            if PARTIAL.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name in FILES or PARTIAL.fullmatch(path.name):
                path.unlink()
        if self.made:
            with contextlib.suppress(OSError):  # it may contain other files by now
                self.folder.rmdir()


def as_checkpoint(given: Any, every: int | str = STANDARD) -> Checkpoint:
    """The Checkpoint that was given, or one in the folder that was given."""
    if isinstance(given, Checkpoint):
        return given
    try:
        return Checkpoint(os.fspath(given), every)
    except TypeError:
        raise InputError(
            f"checkpoint must be the path of a folder, got {given!r}; write checkpoint='run.part'"
        ) from None


def _changed(there: dict[str, Any], here: dict[str, Any]) -> str:
    """What differs between two runs, as `read_run` returns them: a setting with its values, or code
    with its file."""
    identities = there["identity"], here["identity"]
    code = [key for key in _CODE if identities[0].get(key) != identities[1].get(key)]
    settings = [
        {key: value for key, value in one.items() if key not in _CODE} for one in identities
    ]
    files = [run["about"].get("torque_file") for run in (there, here)]
    if changed := difference(*settings):
        return changed
    if code[0] != "torque_digest" or None in files:
        return f"{_CODE[code[0]]} has changed"
    if Path(there["about"]["folder"], files[0]).resolve() != Path(files[1]).resolve():
        return f"its torque is that of {files[0]!r} there and another one, of {files[1]!r}, here"
    return f"the code of the torque {files[1]!r} has changed"
