"""The languages: one file for each, with a class that says what differs from the others.

A file NAME.py here is the language NAME.  It has a class `Language`, a `Printer` (see
`polhode.exports.printer`).
"""

import importlib
import pkgutil

from polhode.errors import choice
from polhode.exports.printer import Printer


def names() -> list[str]:
    """The names of all languages."""
    return sorted(one.name for one in pkgutil.iter_modules(__path__))


def get(name: str) -> type[Printer]:
    """The printer of a language."""
    return importlib.import_module(f"{__name__}.{choice('language', name, names())}").Language
