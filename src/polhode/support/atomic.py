"""Atomic writing: files and folders are written under a temporary name, then renamed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from polhode.errors import InputError, disk_advice

PARTIAL = re.compile(r"\..+\.\d+\.part")  # the names that `partial_path` gives


def partial_path(path: Path, folder: Path | None = None, process: int | None = None) -> Path:
    """Where a file is written until it is complete, by this process or another: beside its place,
    or in another folder on the same disk."""
    return (folder or path.parent) / f".{path.name}.{process or os.getpid()}.part"


@contextlib.contextmanager
def written_whole(path: Path, force: bool = True, partial: Path | None = None) -> Iterator[Path]:
    """Yield the path to write to; afterwards that file, or folder, is synced to disk and renamed.

    Without `force` a file that has appeared at `path` meanwhile is kept, and the new one keeps its
    temporary name.  If writing fails, nothing is left behind.
    """
    partial = partial or partial_path(path)
    try:
        yield partial
        for one in [partial] if partial.is_file() else filter(Path.is_file, partial.rglob("*")):
            with open(one, "rb+") as file:
                os.fsync(file.fileno())
        taken = not _rename(partial, path, force)
        _sync_folder(path.parent)
    except BaseException:
        remove(partial)
        raise
    if taken:
        raise InputError(
            f"{str(path)!r} has appeared during the run and is left alone; the result is in {str(partial)!r}: "
            "rename that"
        )


def write(path: Path, content: str | bytes, force: bool = True) -> Path:
    """Write a file of text or bytes; an InputError says why that failed."""
    data = content.encode() if isinstance(content, str) else content
    try:
        with written_whole(path, force) as partial:
            partial.write_bytes(data)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def write_text(path: Path, text: str, force: bool = True) -> Path:
    """Write a text file, with the ends of lines of this system."""
    return write(path, text.replace("\n", os.linesep), force)


def cannot_write(path: Path, error: OSError) -> InputError:
    """The error for a file that could not be written."""
    return InputError(
        f"cannot write {str(path)!r}: {error.strerror or error}; {disk_advice(error)}"
    )


def remove(path: Path) -> None:
    """Delete a file or a folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _rename(partial, path, force):
    """Rename the file; False if the name is taken and `force` is not set."""
    if not force and path.exists():
        return False
    if path.exists() and (path.is_dir() or partial.is_dir()):
        # a folder cannot be replaced in one step
        old = path.with_name(f".{path.name}.{os.getpid()}.old")
        os.replace(path, old)
        os.replace(partial, path)
        remove(old)
        return True
    if not force and partial.is_file():
        try:
            os.link(partial, path)  # unlike a rename, this fails when the name is taken
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            pass
        else:
            partial.unlink()
            return True
    os.replace(partial, path)
    return True


def _sync_folder(folder):
    with contextlib.suppress(OSError):  # not every system opens folders
        opened = os.open(folder, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)
