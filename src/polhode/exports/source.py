"""The Python source of a function, as a syntax tree."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

from polhode.core.generated import text_of
from polhode.core.lift import is_of
from polhode.errors import InputError


class Untranslatable(InputError):
    """Code that cannot be written in other languages."""


@lru_cache(256)
def _functions(path: str) -> dict[str, list[Any]]:
    """The definitions in a file, by name."""
    found: dict[str, list[Any]] = {}
    for node in ast.walk(ast.parse("".join(linecache.getlines(path)))):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found.setdefault(getattr(node, "name", "<lambda>"), []).append(node)
    return found


def definition(function: Callable[..., Any]) -> Any:
    """The syntax tree of a function, a `FunctionDef` or a `Lambda`."""
    if not isinstance(function, FunctionType):
        raise Untranslatable(
            f"{function!r} is not a plain Python function; only those can be exported: write it in Python"
        )
    text = text_of(function)
    if text is not None:
        return ast.parse(text).body[0]
    try:
        code = function.__code__
        nodes = [
            one for one in _functions(code.co_filename).get(code.co_name, ()) if is_of(one, code)
        ]
    except (SyntaxError, OSError):
        nodes = []
    if len(nodes) != 1:
        raise Untranslatable(
            f"the source of {function.__qualname__!r} was not found; write the function in a file, where it has a line "
            "of its own"
        )
    return nodes[0]


def place(function: Any, node: Any) -> str:
    """Where a part of a function is, in words."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", str(function))
    if code is None or text_of(function) is not None:
        return f"{name!r}, in `{ast.unparse(node)}`"
    return f"{name!r}, line {node.lineno} of {code.co_filename}"
