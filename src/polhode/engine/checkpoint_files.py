"""The files in the folder of an unfinished run: their names, how they are written and read, and what
is wrong with them.  `polhode.engine.checkpoint` says what they are for."""

from __future__ import annotations

import hashlib
import json
from os import PathLike
from pathlib import Path
from typing import Any

from polhode.errors import InputError
from polhode.support.atomic import written_whole

# the number changes with the format
_HEAD = "polhode checkpoint 3 "
_WRITTEN = ("run", "state-0", "state-1")  # by `write`
FILES = ("points", *_WRITTEN, *(f".{name}.new" for name in _WRITTEN), "lock")
# in the file lock
MADE = "polhode made this folder, and deletes it when the run in it is finished.\n"


def write(path: Path, data: dict[str, Any]) -> None:
    """Write data to a file as JSON with a checksum, atomically and through to the disk."""
    text = json.dumps(data)
    head = f"{_HEAD}{hashlib.sha256(text.encode()).hexdigest()}"
    with written_whole(path, partial=path.with_name(f".{path.name}.new")) as partial:
        partial.write_text(f"{head}\n{text}", encoding="utf-8")


def read(path: Path) -> dict[str, Any] | None:
    """What `write` wrote; None if the file is missing or damaged."""
    try:
        head, _, text = path.read_text(encoding="utf-8").partition("\n")
        return (
            json.loads(text) if head == _HEAD + hashlib.sha256(text.encode()).hexdigest() else None
        )
    except (OSError, ValueError):
        return None


# --- the folder ------------------------------------------------------------------------------------


def occupied(folder: str | PathLike[str]) -> bool:
    """Whether a run has begun in a folder."""
    return any((Path(folder) / name).exists() for name in ("run", "points", "state-0", "state-1"))


def made_by_a_run(folder: str | PathLike[str]) -> bool:
    """Whether a run made the folder."""
    try:
        return (Path(folder) / "lock").read_text(encoding="utf-8") == MADE
    except (OSError, ValueError):
        return False


def is_checkpoint(folder: str | PathLike[str]) -> bool:
    """Whether a folder is that of an unfinished run."""
    return (Path(folder) / "run").is_file()


def read_run(
    folder: str | PathLike[str], anew: str = "start the run again in another place"
) -> dict[str, Any]:
    """What the run in a folder is: {"identity": ..., "about": ...}; `anew` is the advice if that
    cannot be read."""
    folder = Path(folder)
    found = read(folder / "run")
    if found is None:
        raise InputError(
            f"cannot continue from {str(folder)!r}: its file 'run' {_trouble_with(folder / 'run')}{anew}"
        )
    return found


def _trouble_with(path: Path) -> str:
    """Why a file cannot be read: text to be followed by what to do."""
    try:
        head = path.read_bytes()[: len(_HEAD)].decode("ascii", "replace")
    except OSError:
        return "is missing; "
    kind, _, number = head.strip().rpartition(" ")
    if head != _HEAD and _HEAD.startswith(kind + " ") and number.isdigit():
        return f"is of another version of polhode (format {number}, here {_HEAD.split()[-1]}); continue with that version, or "
    return f"is damaged ({path.stat().st_size} bytes have changed since they were written); "


def saved_states(folder: str | PathLike[str]) -> list[Any]:
    """The saved states in a folder, the newest first, None for a damaged one, which comes first."""
    places = [path for path in (Path(folder) / f"state-{i}" for i in (0, 1)) if path.exists()]
    states = [read(path) for path in places]
    return sorted(
        states, key=lambda state: -float("inf") if state is None else -state["generation"]
    )


def usable_states(folder: str | PathLike[str], anew: str) -> list[Any]:
    """The saved states; an error if there are some and all are damaged."""
    states = saved_states(folder)
    if states and not any(states):
        names = " and ".join(
            repr(f"state-{i}") for i in (0, 1) if (Path(folder) / f"state-{i}").exists()
        )
        raise damaged(
            folder,
            anew,
            f"{names} {'have' if len(states) > 1 else 'has'} changed since the checkpoint",
        )
    return states


def damaged(folder: str | PathLike[str], anew: str, what: str) -> InputError:
    """The error for a folder from which no run can continue."""
    return InputError(
        f"the checkpoints in {str(folder)!r} are damaged: {what}, so it cannot be continued; {anew}"
    )
