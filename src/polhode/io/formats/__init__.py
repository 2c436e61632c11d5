"""File formats: one module each; all modules in this folder are found automatically.

A format stores `Contents`: named arrays with units, and provenance.  It knows neither runs nor
ensembles, so that one `write` and one `read` serve both.  A format of your own is a subclass of
`Format` given to `register`; a module in this folder is imported when the first file is looked at.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, brief, label, unknown


class Variable(NamedTuple):
    """An array of a file: its dimensions by name, its shape and type, and units and meaning as
    attributes."""

    name: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    attributes: dict[str, Any]

    @property
    def key(self) -> str:
        """Its name in CSV and NumPy files, where the time is called t."""
        return "t" if self.name == "time" else self.name


class Contents(NamedTuple):
    """What is stored of a run or an ensemble.

    `attributes` are the provenance as texts and numbers, which every format holds; `provenance` is
    the same as nested data.  `blocks()` yields (first, {name: values}): pieces along the first
    dimension, so that a run longer than memory can be written.
    """

    variables: list[Variable]
    attributes: dict[str, Any]
    provenance: dict[str, Any]
    blocks: Callable[[], Iterable[tuple[int, dict[str, np.ndarray]]]]


class Format:
    """A file format; subclasses say how it is written and read."""

    suffix: str  # without the dot
    first_bytes: bytes = b"\0no file begins so"  # the bytes by which a file is recognised
    stores_ensembles = True

    def write(self, contents: Contents, path: Path) -> None:
        """Write a new file, or a folder."""
        raise InputError(
            f"cannot write {str(path)!r}: the format {type(self).__name__} has no method for it; define "
            "write(self, contents, path), or choose another suffix"
        )

    def read(self, path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays of numbers by name, provenance); a ValueError says what is wrong with the file."""
        raise InputError(
            f"cannot read {str(path)!r}: the format {type(self).__name__} has no method for it; define "
            "read(self, path), or store the run with another suffix"
        )

    def check_installed(self) -> None:
        """Raise an InputError where a library is missing."""

    def recognises(self, path: Path) -> bool:
        """Whether the file is of this format, whatever its name."""
        if not path.is_file():
            return False
        with open(path, "rb") as file:
            return file.read(len(self.first_bytes)) == self.first_bytes

    def may_replace(self, folder: Path) -> bool:
        """Whether a folder is one that this format wrote; an InputError where it holds other
        things too."""
        return False


_registered: dict[str, Format] = {}


def register(format: Format) -> Format:
    """Add a format: its suffix is known from now on wherever files are written or read.

    Examples
    --------
    >>> import json
    >>> class Json(Format):
    ...     suffix = "json"
    ...     def write(self, contents, path):
    ...         path.write_text(json.dumps(contents.provenance), encoding="utf-8")
    >>> register(Json()).suffix in formats()
    True
    """
    if not isinstance(format, Format):
        raise InputError(
            f"a format must be an object of a subclass of polhode.io.formats.Format, got {brief(format)}; write "
            "register(MyFormat())"
        )
    suffix = getattr(format, "suffix", None)
    if not (isinstance(suffix, str) and suffix and suffix == suffix.lower() and "." not in suffix):
        raise InputError(
            f"the suffix of a format must be text in lower case without a dot, got {brief(suffix)} of "
            f"{type(format).__name__}; write suffix = 'json' in the class, for example"
        )
    _registered[format.suffix] = format
    return format


@cache
def _import_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def formats(ensembles: bool = False) -> dict[str, Format]:
    """The formats by suffix; with `ensembles`, only those that can store ensembles."""
    _import_all()
    return {
        suffix: format
        for suffix, format in sorted(_registered.items())
        if format.stores_ensembles or not ensembles
    }


def suffixes(ensembles: bool = False) -> str:
    """The suffixes as text: ".csv, .nc or .npz"."""
    *first, last = (f".{suffix}" for suffix in formats(ensembles))
    return f"{', '.join(first)} or {last}"


def suffix_of(path: str | PathLike[str], suffixes: Any, format: str | None = None) -> str:
    """The suffix of an output file, or the format given in its place, which must be one of these."""
    name = (label("format", format) or Path(path).suffix).lstrip(".").lower()
    if name not in suffixes:
        what = "output format" if format else f"suffix of the output file {str(path)!r}:"
        raise unknown(what, name, suffixes)
    return name


def format_to_read(path: Path) -> Format:
    """The format of a file, by its suffix or, if that is unknown, by its first bytes."""
    known = formats()
    found = known.get(path.suffix.lstrip(".").lower())
    found = found or next((one for one in known.values() if one.recognises(path)), None)
    if found is None:
        raise InputError(
            f"cannot read {str(path)!r}: {path.suffix!r} is not the suffix of a stored run; those are "
            f"{suffixes()}"
        )
    return found
