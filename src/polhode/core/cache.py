"""Machine code on disk: one file for each bound loop, kind of arguments and processor, found by the
digest of its code.

A file begins with a sum of itself and of its name, so that one that was cut short, damaged or
renamed is never used: it is a miss, and what is compiled in its place replaces it.  Machine code
does what its writer likes, so folder and file must belong to the user or to root, and nobody else
may write to them; nothing is unpickled before that is known.  Files appear whole, by a rename:
processes that write the same one do no harm.  Where files cannot be kept, for whatever reason,
every process compiles.
"""

import contextlib
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

LIMIT = 2000  # files kept; the least recently used go first
CHECKED_EVERY = 100  # files that a process writes between two looks at how many there are

_HEAD = b"polhode machine code 2\n"
_OURS = re.compile(
    r"[\w.]+-[0-9a-f]{32}-[0-9a-f]{16}\.nbc(?:\.\w+\.new)?"
    r"|.+-[0-9a-f]{32}\.py\w+(?:\.\d+)?\.nb[ci]"
)  # of earlier versions


def cache_directory():
    """Where machine code is kept: $POLHODE_CACHE_DIR, else the user's cache folder; None where the
    user has none."""
    chosen = os.environ.get("POLHODE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # no HOME, and a user whom the system does not know
        return None
    return Path(base) / "polhode" if Path(base).is_absolute() else None


def attach(dispatcher, name):
    """Let a numba dispatcher keep its machine code on disk under a digest of its code."""
    folder = cache_directory()
    if folder is not None and usable(folder):
        dispatcher._cache = DiskCache(
            folder,
            f"{re.sub(r'[^A-Za-z0-9_.]', '', dispatcher.__qualname__)[-80:] or 'loop'}-{name}",
        )


# --- whom to trust --------------------------------------------------------------------------------


@cache
def usable(folder):
    """Whether the folder is there, or could be made, and is safe; found out once."""
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


def safe(found):
    """Whether only this user and root can have written what `os.stat` describes."""
    return os.name != "posix" or (
        found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


# --- files ----------------------------------------------------------------------------------------


def sealed(name, body):
    """The contents of a file of this name: what it holds, behind a sum."""
    return _HEAD + hashlib.sha256(name.encode() + b"\n" + body).digest() + body


def whole(name, data):
    """What a file holds; None where its contents are not what was written under this name."""
    body = data[len(_HEAD) + 32 :]
    return body if data == sealed(name, body) else None


def read(path):
    """What `write` put there; None where that is not there, not whole, or not safe."""
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


def _opened(path, flags):
    # a pipe is not waited for
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def write(path, body):
    """Put a file into its place, whole; False where that cannot be done."""
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
            with contextlib.suppress(OSError):  # it has its name by now
                os.unlink(fresh)


def prune(folder):
    """Delete the files that were used least recently, where there are more than `LIMIT`; those of
    others stay."""
    with contextlib.suppress(OSError):
        with os.scandir(folder) as entries:
            ours = [entry for entry in entries if _OURS.fullmatch(entry.name)]
        if len(ours) > LIMIT:
            for entry in sorted(ours, key=_age)[: len(ours) - LIMIT]:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _age(entry):
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:  # another process has deleted it
        return 0.0


# --- what numba asks for --------------------------------------------------------------------------


def _provide(symbols, target_context):
    """Make known what machine code refers to.  All that numba knows takes a third of a second to
    import; what most loops need is there without it."""
    from llvmlite.binding import address_of_symbol
    from numba.core.runtime import rtsys

    if any(name.startswith("NRT_") for name in symbols):
        rtsys.initialize(target_context)
    if not all(map(address_of_symbol, symbols)):
        target_context.refresh()


class DiskCache:
    """What numba's dispatchers expect of a cache."""

    written = 0  # by this process

    def __init__(self, folder, name):
        self.folder, self.name = folder, name

    @property
    def cache_path(self):
        """The folder."""
        return str(self.folder)

    def _path(self, key):
        return (
            self.folder / f"{self.name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        )

    def load_overload(self, sig, target_context):
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
        except Exception:  # whatever makes it unfit, it can be compiled
            return None

    def save_overload(self, sig, result):
        """Keep a compile result, unless it holds addresses of this process or a class that cannot
        be found by its name."""
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

    def enable(self):
        """Nothing: it always is."""

    def disable(self):
        """Nothing: a dispatcher without a cache has none."""

    def flush(self):
        """Nothing: what is there is right."""
