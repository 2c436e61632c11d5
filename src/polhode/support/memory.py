"""The memory and disk space of the machine, checked before large arrays are made."""

import os
import shutil

from polhode.errors import InputError

UNKNOWN = 2**36  # bytes, where the system does not say
DISTRUST = (
    "open it on a larger machine, if you trust it"  # what to do with a file that is too large
)


def total() -> int:
    """Bytes of memory of this machine, or as many as a process may have (ulimit -v)."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return UNKNOWN
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return there if limit == resource.RLIM_INFINITY else min(there, limit)


def on_disk() -> int:
    """Bytes that are free on the disk of the current folder."""
    try:
        return shutil.disk_usage(".").free
    except OSError:  # the folder has been deleted
        return 0


def fits(what: str, size: int, fix: str) -> None:
    """Raise an `InputError` for arrays that do not fit into memory, with the bytes needed, the bytes
    available, and what to do.

    >>> fits("1000 points", 72_000, "store fewer")
    """
    there = total()
    if size > there:
        needed = (
            f"{size} bytes ({size / 1e9:.3g} GB)"
            if size < 10**30
            else "more bytes than any machine has"
        )
        raise InputError(f"{what} need {needed}, and this machine has {there / 1e9:.3g} GB; {fix}")
