"""The languages: one file for each, with a class that says what differs from the others.

A file NAME.py here is the language NAME.  It has a class `Language`: a `Printer` of text
(`polhode.exports.printer`), or a `Machine` that writes machine code (`polhode.exports.machine`).
"""

import importlib
import pkgutil

from typing import Any

from polhode.errors import choice


def names() -> list[str]:
    """The names of all languages."""
    return sorted(one.name for one in pkgutil.iter_modules(__path__))


def get(name: str) -> Any:
    """The class of a language."""
    return importlib.import_module(f"{__name__}.{choice('language', name, names())}").Language
