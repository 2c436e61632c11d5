"""Functions generated as source text, if their length or the fields they name are known only at run
time.  This is the only place that executes such text.

The package makes the text from numbers, operations and field names that it knows; nothing that a user
wrote enters it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from polhode.core.jit import jit

_texts: WeakKeyDictionary[FunctionType, str] = WeakKeyDictionary()


def generated(
    home: str,
    name: str,
    arguments: str,
    lines: Iterable[str],
    result: str | None = None,
    **scope: Any,
) -> Callable[..., Any]:
    """The function `name(arguments)` that executes lines of source and returns an expression, marked
    with `jit`.

    Parameters
    ----------
    home : str
        The module to which the function belongs: `__name__`.
    lines : iterable of str
        Statements, one per line, without indentation.
    result : str, optional
        The expression that is returned.
    scope
        The objects that the text names.
    """
    body = [*lines] if result is None else [*lines, f"return {result}"]
    scope["__name__"] = home
    text = "\n    ".join([f"def {name}({arguments}):", *body])
    exec(text, scope)
    _texts[scope[name]] = text
    return jit(scope[name])


def text_of(function: FunctionType) -> str | None:
    """The source of a function that was generated; None for any other."""
    return _texts.get(function)
