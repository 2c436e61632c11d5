"""Constants of closures as arguments, so that functions that differ only in these are compiled once.

    def spring(k):
        def torque(t, R):
            return np.array([0.0, 0.0, -k * R[1, 0]])
        return torque

`lifted(torque, 2)` gives the same function with k as a third argument, and the value of k.  It is
compiled from the source file, and only if the unchanged source compiles to exactly the code of the
function.  Floats that are defaults of arguments which callers leave out are lifted in the same way.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from polhode.core.reads import contents, copied


class Lifted(NamedTuple):
    """A function with further arguments, and their values."""

    function: FunctionType
    values: tuple[float, ...]


def lifted(function: Any, given: int) -> Lifted | None:
    """The `Lifted` of a function that is called with so many arguments; None if nothing can be
    lifted."""
    if not isinstance(function, FunctionType):
        return None
    code, closure = function.__code__, function.__closure__ or ()
    cells: dict[str, CellType] = dict(zip(code.co_freevars, closure, strict=True))
    left_out = code.co_argcount - given
    defaults = (function.__defaults__ or ())[-left_out:] if left_out > 0 else ()
    names = tuple(name for name, cell in cells.items() if isinstance(contents(cell), float))
    if len(defaults) != left_out or not all(isinstance(value, float) for value in defaults):
        return None
    if not (names or defaults) or code.co_kwonlyargcount or code.co_flags & (VARARGS | VARKEYWORDS):
        return None
    changed = _with_arguments(code, names) if names else code
    if changed is None:
        return None
    free = tuple(cells[name] for name in changed.co_freevars)
    return Lifted(
        copied(function, changed, function.__globals__, None, free),
        (*map(float, defaults), *(float(contents(cells[name])) for name in names)),
    )


VARARGS, VARKEYWORDS = 0x04, 0x08  # flags of a code object


@lru_cache(256)
def _with_arguments(code: CodeType, names: tuple[str, ...]) -> CodeType | None:
    """The code with these free variables as its last arguments; None if its source is not found."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
        if code not in _codes(compile(tree, code.co_filename, "exec", dont_inherit=True)):
            return None
        node: Any
        (node,) = (node for node in ast.walk(tree) if is_of(node, code))
        node.args.args += [ast.copy_location(ast.arg(name), node) for name in names]
        node.args.defaults = []
        (found,) = (
            one
            for one in _codes(compile(tree, code.co_filename, "exec", dont_inherit=True))
            if (one.co_qualname, one.co_firstlineno) == (code.co_qualname, code.co_firstlineno)
            and one.co_varnames[: one.co_argcount] == code.co_varnames[: code.co_argcount] + names
        )
    except (SyntaxError, ValueError, RecursionError):  # ValueError: none, or more than one
        return None
    return found if set(found.co_freevars) == set(code.co_freevars) - set(names) else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and all those in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def is_of(node: ast.AST, code: CodeType) -> bool:
    """Whether a node of a syntax tree defines the function with this code: by its name, line and
    arguments."""
    if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return False
    line = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    arguments = tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
    name = getattr(node, "name", "<lambda>")
    return (name, line, arguments) == (
        code.co_name,
        code.co_firstlineno,
        code.co_varnames[: code.co_argcount],
    )
