"""Only regular files are read: a device or a pipe may never end."""

import stat
from os import PathLike
from pathlib import Path

from polhode.errors import InputError, as_path

LARGEST_TEXT = 2**26  # bytes of a scenario


def file_path(path: str | PathLike[str]) -> Path:
    """The path of a file, which has a name."""
    path = as_path("path", path)
    if not path.name:
        raise InputError(f"{str(path)!r} is a folder; give the name of a file, such as run.nc")
    return path


def check_regular(path: Path, what: str, largest: int | None = None) -> Path:
    """The path, if it is a regular file or a folder, and not larger than allowed; `OSError` if it does
    not exist."""
    found = path.stat()
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise InputError(
            f"cannot read {str(path)!r}: it is a device or a pipe, and {what} is a plain file; copy it into one"
        )
    if largest is not None and found.st_size > largest:
        raise InputError(
            f"{path}: has {found.st_size} bytes, and {what} may have {largest}; make it smaller"
        )
    return path
