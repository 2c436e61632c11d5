"""Checks of what a user gives, shared by all doors: each returns the value, or raises an `InputError`
that names it."""

from __future__ import annotations

import contextlib
import errno
import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from polhode.errors.exceptions import InputError
from polhode.errors.wording import brief, unknown


_REAL = {float, int}
F = TypeVar("F", bound=Callable[..., Any])


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
    kind, few = type(value), None  # a few plain floats are the common case, and are to be quick
    if kind is np.ndarray and value.dtype == np.float64 and value.ndim == 1 and value.size <= 8:
        few = value.tolist()
    elif kind in (tuple, list) and len(value) <= 8 and _REAL.issuperset(map(type, value)):
        few = value
    if few is not None and last is None:
        try:
            if all(map(math.isfinite, few)):
                return value if kind is np.ndarray else np.array(few, dtype=np.float64)
        except OverflowError:  # an integer beyond all floats
            pass
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
        f"{what} must be a whole number, at least {least}, got {brief(value)}; {example or f'use {max(least, 1)}'}"
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


def one_given(detail: str, **given: Any) -> tuple[str, Any]:
    """Return (name, value) of the only one of several arguments that is not None, or raise an
    `InputError`.

    Examples
    --------
    >>> one_given("three numbers", omega0=(0, 0, 1), momentum0=None)
    ('omega0', (0, 0, 1))
    """
    found = [(name, value) for name, value in given.items() if value is not None]
    if len(found) == 1:
        return found[0]
    raise InputError(
        f"give {' or '.join(given)} ({detail}), got {'both' if found else 'neither'}; give one of the two"
    )


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


def reporter(progress: Callable[..., Any] | None, form: str) -> Callable[..., Any]:
    """Return the function of the option `progress`, called as `form`; one that does nothing where
    it is None.

    Examples
    --------
    >>> reporter(None, "progress(done, total)")(1, 2)
    """
    if progress is None:
        return lambda *_: None
    return called_as("progress", progress, form)


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


def check_options(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise the error of `unknown` for the first of the options that is not a parameter of a
    function.

    Examples
    --------
    >>> check_options(check_options, {"options": 3})
    """
    if options:
        parameters = inspect.signature(function).parameters.values()
        valid = [
            one.name for one in parameters if one.kind not in (one.POSITIONAL_ONLY, one.VAR_KEYWORD)
        ]
        for name in options:
            if name == "parameters" and "step" in valid and name not in valid:
                raise InputError(
                    f"{function.__name__} takes the parameters that torque or interaction have; write .with_params(k=2.0) to "
                    "change some, or use Flow or ensemble, whose parameters={'k': 2.0} change them for a call"
                )
            if name not in valid:
                raise unknown(f"option of {function.__name__}", name, valid)


def shows_options(
    of: Callable[..., Any] | None = None, without: Iterable[str] = ()
) -> Callable[[F], F]:
    """Let `help` show, in place of the ``**options`` of a function, the keywords of what it hands
    them to, `without` those that it fills in itself; nothing where it only refuses them.

    Examples
    --------
    >>> @shows_options(sorted)
    ... def ordered(names, **options):
    ...     return sorted(names, **options)
    >>> str(inspect.signature(ordered))
    '(names, *, key=None, reverse=False)'
    """

    def enter(function: F) -> F:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        taken = {*without, *(one.name for one in own)}
        others = [] if of is None else inspect.signature(of).parameters.values()
        handed = [
            one.replace(kind=one.KEYWORD_ONLY)
            for one in others
            if one.name not in taken and one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)
        ]
        vars(function)["__signature__"] = signature.replace(parameters=[*own, *handed])
        return function

    return enter
