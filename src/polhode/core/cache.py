"""Machine code on disk: one file for each bound loop, types of arguments and processor, named by the
digest of its code.

A file begins with a checksum of its contents and its name, so that one that is truncated, damaged or
renamed is never used: it is a miss, and the new machine code replaces it.  Loading machine code is
running it, so folder and file must belong to the user or to root, and nobody else may be able to write
to them; nothing is unpickled before that is checked.  Files are written atomically, so that several
processes may write the same one.  If files cannot be stored, for whatever reason, every process
compiles.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

LIMIT = 2000  # files; the least recently used are deleted
CHECKED_EVERY = 100  # files that a process writes between two checks of their number

_HEAD = b"polhode machine code 2\n"
_OURS = re.compile(
    r"[\w.]+-[0-9a-f]{32}-[0-9a-f]{16}\.nbc(?:\.\w+\.new)?"
    r"|.+-[0-9a-f]{32}\.py\w+(?:\.\d+)?\.nb[ci]"
)  # of earlier versions


def cache_directory() -> Path | None:
    """The folder for machine code: $POLHODE_CACHE_DIR, else the user's cache folder; None if there is
    none."""
    chosen = os.environ.get("POLHODE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base: str | Path
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # no HOME, and a user unknown to the system
        return None
    return Path(base) / "polhode" if Path(base).is_absolute() else None


def attach(dispatcher: Any, name: str) -> None:
    """Let a numba dispatcher store its machine code under a digest of its code."""
    folder = cache_directory()
    if folder is not None and usable(folder):
        readable = re.sub(r"[^A-Za-z0-9_.]", "", dispatcher.__qualname__)[-80:] or "loop"
        dispatcher._cache = DiskCache(folder, f"{readable}-{name}")


# --- safety ---------------------------------------------------------------------------------------


@cache
def usable(folder: Path) -> bool:
    """Whether the folder exists, or can be made, and is safe; checked once."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return False
    if safe(found):
        return True
    warnings.warn(
        f"machine code is not stored in {str(folder)!r}, since another user owns that folder or may "
        "write to it; make it writable only for you (chmod go-w), or name another folder in "
        "POLHODE_CACHE_DIR",
        RuntimeWarning,
        stacklevel=2,
    )
    return False


def safe(found: os.stat_result) -> bool:
    """Whether only this user and root can write what `os.stat` describes."""
    return os.name != "posix" or (
        found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


# --- files ----------------------------------------------------------------------------------------


def sealed(name: str, body: bytes) -> bytes:
    """The contents of a file of this name: a checksum and the body."""
    return _HEAD + hashlib.sha256(name.encode() + b"\n" + body).digest() + body


def whole(name: str, data: bytes) -> bytes | None:
    """The body of a file; None if the checksum is wrong."""
    body = data[len(_HEAD) + 32 :]
    return body if data == sealed(name, body) else None


def read(path: Path) -> bytes | None:
    """What `write` wrote; None if the file is missing, damaged or not safe."""
    try:
        with open(path, "rb", opener=_opened) as file:
            found = os.fstat(file.fileno())
            if not (stat.S_ISREG(found.st_mode) and safe(found)):
                return None
            data = file.read()
    except OSError:
        return None
    body = whole(path.name, data)
    if body is not None:
        with contextlib.suppress(OSError):
            os.utime(path)  # used just now
    return body


def _opened(path: str, flags: int) -> int:
    # without waiting for a pipe
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def write(path: Path, body: bytes) -> bool:
    """Write a file atomically; False if that is not possible."""
    fresh = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f"{path.name}.", suffix=".new", delete=False
        ) as file:
            fresh = file.name
            file.write(sealed(path.name, body))
        os.replace(fresh, path)
        return True
    except OSError:
        return False
    finally:
        if fresh:
            with contextlib.suppress(OSError):  # usually it has been renamed
                os.unlink(fresh)


def prune(folder: Path) -> None:
    """Delete the least recently used files, if there are more than `LIMIT`; other files stay."""
    with contextlib.suppress(OSError):
        with os.scandir(folder) as entries:
            ours = [entry for entry in entries if _OURS.fullmatch(entry.name)]
        if len(ours) > LIMIT:
            for entry in sorted(ours, key=_age)[: len(ours) - LIMIT]:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _age(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:  # another process has deleted it
        return 0.0


# --- the interface to numba -----------------------------------------------------------------------


def _provide(symbols: Iterable[str], target_context: Any) -> None:
    """Make available the symbols to which machine code refers.  To load all of numba's takes a third
    of a second, and most loops do not need them."""
    from llvmlite.binding import address_of_symbol
    from numba.core.runtime import rtsys

    if any(name.startswith("NRT_") for name in symbols):
        rtsys.initialize(target_context)
    if not all(map(address_of_symbol, symbols)):
        target_context.refresh()


class DiskCache:
    """A cache as numba's dispatchers expect it."""

    written = 0  # files, by this process

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self.folder)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return self.folder / f"{self.name}-{digest}.nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compile result for arguments of these types, or None."""
        from numba.core.compiler import CompileResult

        key = sig, target_context.codegen().magic_tuple()
        body = read(self._path(key))
        if body is None:
            return None
        try:
            there, symbols, payload = pickle.loads(body)
            if there != key:
                return None
            _provide(symbols, target_context)
            return CompileResult._rebuild(target_context, *payload)
        except Exception:  # whatever is wrong with it, the loop can be compiled
            return None

    def save_overload(self, sig: Any, result: Any) -> None:
        """Store a compile result, unless it contains addresses of this process or a class that cannot
        be pickled."""
        from numba.core.serialize import dumps

        if result.library.has_dynamic_globals or any(not loop.can_cache for loop in result.lifted):
            return
        key = sig, result.codegen.magic_tuple()
        try:
            body = dumps((key, result.library.symbols, result._reduce()))
        except pickle.PicklingError:
            return
        if write(self._path(key), body):
            if DiskCache.written % CHECKED_EVERY == 0:
                prune(self.folder)
            DiskCache.written += 1

    def enable(self) -> None:
        """Does nothing."""

    disable = flush = enable
