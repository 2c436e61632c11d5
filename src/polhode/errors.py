"""What polhode raises, and the checks every door of the library shares.

Every message names the value that was given, the rule it broke and what to do about it.  ``except
PolhodeError`` catches all of them; `InputError` is also a ``ValueError`` and `IntegrationError`
also a ``RuntimeError``, so that code that knows nothing of polhode can still catch them.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import inspect
import json
import math
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = [
    "ClusterError",
    "ConvergenceError",
    "EventError",
    "InputError",
    "IntegrationError",
    "PolhodeError",
    "TorqueError",
    "as_path",
    "brief",
    "called_as",
    "choice",
    "closest",
    "difference",
    "flag",
    "floats",
    "label",
    "nearest",
    "number",
    "printable",
    "room",
    "unknown",
    "whole",
]

_LIST_AT_MOST = 12  # names written out in full by `unknown`
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: object) -> str:
    r"""Return text in which no character is a command to a terminal: those are written as escapes.

    Examples
    --------
    >>> print(printable("a \x1b[31mred\x1b[0m title"))
    a \x1b[31mred\x1b[0m title
    """
    return UNPRINTABLE.sub(
        lambda found: found[0].encode("unicode_escape").decode("ascii"), str(text)
    )


class PolhodeError(Exception):
    """Base of every error that polhode raises on purpose; its message is safe to print, whatever it
    quotes.

    Attributes
    ----------
    trajectory : Trajectory or None
        What a run had computed when the error ended it.
    """

    trajectory: Any = None

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))


class InputError(PolhodeError, ValueError):
    """An argument is wrong; the message names the value, the rule and the fix."""


class IntegrationError(PolhodeError, RuntimeError):
    """A run failed numerically.

    Parameters
    ----------
    message : str
        What happened, where, and what to try.
    t : float, optional
        Time at the start of the step that failed.
    step_index : int, optional
        Number of that step, from 0.
    state : optional
        State at the start of that step.
    trajectory : Trajectory, optional
        What was computed before the failure, or None.

    Examples
    --------
    >>> error = IntegrationError("omega is not finite", t=0.5, step_index=50)
    >>> error.t, error.step_index, error.trajectory
    (0.5, 50, None)
    """

    # Every argument after the message has a default: pickle rebuilds an exception as cls(*args),
    # then its __dict__.
    def __init__(
        self,
        message: str,
        *,
        t: float | None = None,
        step_index: int | None = None,
        state: Any = None,
        trajectory: Any = None,
    ) -> None:
        super().__init__(message)
        self.t = t
        self.step_index = step_index
        self.state = state
        self.trajectory = trajectory


class ConvergenceError(IntegrationError):
    """The implicit equation of a step was not solved to round-off.

    Parameters
    ----------
    residual : float, optional
        What was left of the equation after the last iteration.
    largest_step : float, optional
        An estimate of the largest step that would have converged there.
    message, t, step_index, state, trajectory
        As in `IntegrationError`.
    """

    def __init__(
        self,
        message: str,
        *,
        residual: float | None = None,
        largest_step: float | None = None,
        **where: Any,
    ) -> None:
        super().__init__(message, **where)
        self.residual = residual
        self.largest_step = largest_step


class TorqueError(IntegrationError):
    """The torque raised, or returned a wrong shape or a value that is not finite; raised ``from``
    the original."""


class EventError(IntegrationError):
    """An event raised, or returned something other than one finite number; raised ``from`` the
    original."""


class ClusterError(PolhodeError, RuntimeError):
    """A cluster was lost or has no workers; what it had finished is stored, and the same call goes
    on from there."""


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


def nearest(name: object, valid: Iterable[str]) -> str:
    """Return ``" (did you mean 'X'?)"`` for the valid name nearest to `name`, or ``""`` when none
    is near.

    Examples
    --------
    >>> nearest("nbm", ["NMB", "AKW"])
    " (did you mean 'NMB'?)"
    >>> nearest("leapfrog", ["NMB", "AKW"])
    ''
    """
    match = closest(name, valid)
    return f" (did you mean {match!r}?)" if match else ""


def unknown(kind: str, name: object, valid: Iterable[str]) -> InputError:
    """Return the `InputError` for a `name` that is not among the `valid` ones, for the caller to
    raise.

    Examples
    --------
    >>> print(unknown("method", "NBM", ["AKW", "NMB"]))
    unknown method 'NBM' (did you mean 'NMB'?); valid: 'AKW', 'NMB'
    """
    names = [str(v) for v in valid]
    listed = ", ".join(repr(v) for v in names[:_LIST_AT_MOST])
    if len(names) > _LIST_AT_MOST:
        listed += f", ... ({len(names) - _LIST_AT_MOST} more)"
    guess = nearest(name, names) if isinstance(name, str) else ""
    return InputError(f"unknown {kind} {brief(name)}{guess}; valid: {listed or 'none'}")


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


def room(error: OSError) -> str:
    """Return what may help where something could not be written, in words.

    Examples
    --------
    >>> room(OSError(errno.ENOSPC, "No space left on device"))
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


def _plain_floats(value: Any) -> np.ndarray | None:
    """Return a few finite floats, in a list, a tuple or an array, as an array: the common case,
    quickly; None for others."""
    kind = type(value)
    if kind is np.ndarray:
        if value.dtype != np.float64 or value.ndim != 1 or value.size > 8:
            return None
        items, array = value.tolist(), value
    elif (
        kind in (tuple, list)
        and len(value) <= 8
        and all(type(item) is float or type(item) is int for item in value)
    ):
        items, array = value, None
    else:
        return None
    try:
        if not all(map(math.isfinite, items)):
            return None
    except OverflowError:
        return None
    return np.array(items, dtype=np.float64) if array is None else array


def floats(what: str, value: Any, *, last: int | None = None, finite: bool = True) -> np.ndarray:
    """Return `value` as a float64 array, or raise an `InputError` that calls it `what`.

    Booleans, complex numbers, text, masked entries, ragged lists and other objects are refused
    rather than converted.  The array may share memory with `value`: copy before writing.

    Parameters
    ----------
    what : str
        Name of the argument, for the message.
    value : array_like
        The numbers.
    last : int, optional
        Required length of the last axis.
    finite : bool, optional
        Refuse NaN and infinity (the default).

    Examples
    --------
    >>> floats("omega", [1, 2, 3], last=3)
    array([1., 2., 3.])
    """
    plain = _plain_floats(value)
    if plain is not None and last is None:
        return plain
    if np.ma.is_masked(value):
        raise InputError(f"{what} has masked entries; fill or drop them first")
    try:
        array = np.asarray(value)
    except Exception as error:  # a ragged nest of lists, or an object with an __array__ of its own
        raise InputError(
            f"{what} must be an array of real numbers, got {brief(value)}: {error}; give rows of equal "
            "length"
        ) from error
    real = array.dtype.kind in "fiu"
    if array.dtype.kind == "O":  # integers above 64 bits, such as 10**30, arrive as objects
        real = array.size > 0 and all(type(item) in (int, float) for item in array.flat)
    elif real and isinstance(
        value, (list, tuple)
    ):  # [True, 2.0] and [masked, 2.0] would silently become [1.0, 2.0]
        items = np.asarray(value, dtype=object).flat
        real = not any(
            isinstance(item, (bool, np.bool_)) or np.ma.is_masked(item) for item in items
        )
    if not real:
        raise InputError(
            f"{what} must be real numbers (not booleans, complex, text or objects), got {brief(value)}; "
            "convert it to float first"
        )
    try:
        with np.errstate(over="ignore"):
            array = array.astype(np.float64, copy=False)
    except OverflowError as error:
        raise InputError(
            f"{what} does not fit in a float64, got {brief(value)}; choose other units"
        ) from error
    if last is not None and (array.ndim == 0 or array.shape[-1] != last):
        raise InputError(
            f"{what} must have {last} numbers along its last axis, got shape {array.shape}; give {last} of them"
        )
    if finite and not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        index = f"[{', '.join(map(str, where))}]" if where else ""
        raise InputError(
            f"{what} must be finite, got {what}{index} = {float(array[where])!r}; remove or replace it"
        )
    return array


def number(what: str, value: Any, *, positive: bool = False) -> float:
    """Return `value` as a finite float (above zero where `positive`), or raise an `InputError` that
    calls it `what`.

    Examples
    --------
    >>> number("mass", 2, positive=True)
    2.0
    """
    if type(value) is float and math.isfinite(value) and (value > 0.0 or not positive):
        return value
    array = floats(what, value)
    if array.ndim:
        raise InputError(
            f"{what} must be one number, got an array of shape {array.shape}; give one of its entries"
        )
    if positive and not array > 0.0:
        raise InputError(f"{what} must be positive, got {float(array)!r}; give a value above zero")
    return float(array)


def whole(what: str, value: Any, least: int = 0, example: str | None = None) -> int:
    """Return `value` as an int, at least `least`, or raise an `InputError` that calls it `what`.

    Examples
    --------
    >>> whole("n", np.int64(3), 1)
    3
    """
    if (
        isinstance(value, (int, np.integer))
        and not isinstance(value, (bool, np.timedelta64))
        and value >= least
    ):
        return int(value)
    raise InputError(
        f"{what} must be a whole number, at least {least}, got {brief(value)}; {example or f'take {max(least, 1)}'}"
    )


def flag(what: str, value: Any) -> bool:
    """Return `value`, which must be True or False, or raise an `InputError` that calls it `what`.

    Examples
    --------
    >>> flag("hollow", np.True_)
    True
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InputError(f"{what} must be True or False, got {brief(value)}; give one of them")


def choice(kind: str, value: Any, valid: Iterable[str]) -> str:
    """Return `value` if it is one of the `valid` names, or raise the error of `unknown`.

    Examples
    --------
    >>> choice("frame", "body", ("spatial", "body"))
    'body'
    """
    valid = list(valid)
    if isinstance(value, str) and value in valid:
        return value
    raise unknown(kind, value, valid)


def label(what: str, value: Any) -> str | None:
    """Return `value`, which must be text or None, or raise an `InputError` that calls it `what`.

    Examples
    --------
    >>> label("name", "a book")
    'a book'
    """
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{what} must be text or None, got {brief(value)}; put it in quotes")


def called_as(what: str, value: Any, *forms: str) -> Any:
    """Return `value`, a function that can be called as one of the `forms`, or raise an `InputError`
    that calls it `what`.

    Examples
    --------
    >>> called_as("progress", print, "progress(done, total)") is print
    True
    """
    form = " or ".join(forms)
    if not callable(value):
        raise InputError(
            f"{what} must be a function {form}, got {brief(value)}; write def {forms[0]}: ..."
        )
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # some functions written in C do not tell
        return value
    for one in forms:
        with contextlib.suppress(TypeError):
            signature.bind(*one.partition("(")[2].rstrip(")").split(", "))
            return value
    raise InputError(
        f"{what} will be called as {form} but is defined as f{signature}; write def {forms[0]}: ..."
    )


def as_path(what: str, value: Any) -> Path:
    """Return `value` as a Path, or raise an `InputError` that calls it `what`; the file need not
    exist.

    Examples
    --------
    >>> as_path("path", "run.nc").suffix
    '.nc'
    """
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(
            f"{what} must be the path of a file, got {brief(value)}; give text or a pathlib.Path"
        )
    try:
        path = Path(value)
        os.lstat(path)
    except (TypeError, ValueError) as error:  # a zero byte, or bytes for a path
        raise InputError(
            f"{what} must be the path of a file, got {brief(value)} ({error}); choose another name"
        ) from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(
                f"{what} is longer than a path can be, got {brief(value)}; choose another name"
            ) from None
    return path


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
