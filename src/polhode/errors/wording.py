"""What messages share: names that are not known, values in one line, what differs, full disks."""

from __future__ import annotations

import contextlib
import difflib
import errno
import json
import sys
import warnings
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from polhode.errors.exceptions import InputError

_LIST_AT_MOST = 12  # names written out in full by `unknown`


def closest(name: object, valid: Iterable[str]) -> str | None:
    """Return the valid name nearest to `name`, or None when none is near.

    Examples
    --------
    >>> closest("nbm", ["NMS", "NMB", "AKW"])
    'NMB'
    """
    folded: dict[str, str] = {}
    for candidate in valid:
        folded.setdefault(str(candidate).casefold(), str(candidate))
    wanted = str(name).casefold()
    # the commonest slip of all
    swapped = [candidate for candidate in folded if sorted(candidate) == sorted(wanted)]
    match = swapped or difflib.get_close_matches(wanted, list(folded), n=1)
    return folded[match[0]] if match else None


def nearest(
    name: object, valid: Iterable[str], synonyms: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return ``" (did you mean 'X'?)"`` for the valid name nearest to `name`, or ``""`` when none
    is near; `synonyms` are other words for valid names.

    Examples
    --------
    >>> nearest("nbm", ["NMB", "AKW"])
    " (did you mean 'NMB'?)"
    >>> nearest("leapfrog", ["NMB", "AKW"])
    ''
    """
    match = closest(name, [*synonyms, *valid])
    return f" (did you mean {synonyms.get(match, match)!r}?)" if match else ""


def unknown(
    kind: str,
    name: object,
    valid: Iterable[str],
    synonyms: Mapping[str, str] = MappingProxyType({}),
) -> InputError:
    """Return the `InputError` for a `name` that is not among the `valid` ones, for the caller to
    raise; `synonyms` are other words for valid names.

    Examples
    --------
    >>> print(unknown("method", "NBM", ["AKW", "NMB"]))
    unknown method 'NBM' (did you mean 'NMB'?); valid: 'AKW', 'NMB'
    >>> print(unknown("method", "ode45", ["DP5", "NMB"], {"ode45": "DP5"}))
    unknown method 'ode45' (did you mean 'DP5'?); valid: 'DP5', 'NMB'
    """
    names = [str(v) for v in valid]
    listed = ", ".join(repr(v) for v in names[:_LIST_AT_MOST])
    if len(names) > _LIST_AT_MOST:
        listed += f", ... ({len(names) - _LIST_AT_MOST} more)"
    guess = nearest(name, names, synonyms) if isinstance(name, str) else ""
    return InputError(f"unknown {kind} {brief(name)}{guess}; valid: {listed or 'none'}")


def brief(value: object, most: int = 60) -> str:
    """Return how `value` is written in Python, in one line of at most so many characters, whatever
    it is.

    Examples
    --------
    >>> brief([1.0] * 100)
    '[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1...'
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # nested too deeply, of too many digits, or with a __repr__ that fails
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= most else text[: most - 3] + "..."


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line outside this package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "polhode":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def difference(there: dict[str, Any], here: dict[str, Any]) -> str:
    """Return the first entries in which two nested dicts of plain data differ, in words.

    Examples
    --------
    >>> difference({"method": "NMB", "run": {"step": 0.1}}, {"method": "NMB", "run": {"step": 0.2}})
    'run.step is 0.1 there and 0.2 here'
    """
    found = [
        f"{path} is {_entry(one)} there and {_entry(other)} here"
        for path, one, other in _differing(there, here)
    ]
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")


def _differing(one: Any, other: Any, path: str = "") -> Iterable[tuple[str, Any, Any]]:
    """(path, one, other) of every entry in which two nests of plain data differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from _differing(one.get(key), other.get(key), f"{path}.{key}" if path else key)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from _differing(a, b, f"{path}[{place}]")
    elif one != other:
        yield path, one, other


def _entry(value: object) -> str:
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def disk_advice(error: OSError) -> str:
    """Return what may help where something could not be written, in words.

    Examples
    --------
    >>> disk_advice(OSError(errno.ENOSPC, "No space left on device"))
    'free some space, or choose another disk'
    """
    if error.errno == errno.EFBIG:
        return f"{_largest_file()}, or store less (a larger every)"
    full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None))
    return "free some space, or choose another disk" if full else "choose another place"


def _largest_file():
    """What to do about the size that a file may have, in words."""
    with contextlib.suppress(ImportError):  # Windows has no such limit
        import resource

        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        if limit != resource.RLIM_INFINITY:
            return f"files may have {limit} bytes here: raise that limit (ulimit -f)"
    return "choose a disk that takes larger files"
