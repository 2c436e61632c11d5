"""Constants of closures as arguments, so that a function that differs in them alone is not compiled
anew.

    def spring(k):
        def torque(t, R):
            return np.array([0.0, 0.0, -k * R[1, 0]])
        return torque

`lifted(torque, 2)` gives the same function with k as a third argument, and the value of k.  It is
compiled from the source that stands in the file, and only where compiling that source unchanged
gives the very code of the function.  Floats among the defaults of arguments that callers leave out
are handed over in the same way.
"""

import ast
import linecache
from functools import lru_cache
from types import CodeType, FunctionType
from typing import NamedTuple


class Lifted(NamedTuple):
    """A function with further arguments, and what they are."""

    function: FunctionType
    values: tuple


def lifted(function, given):
    """The `Lifted` of a function that callers give so many arguments; None where there is nothing
    to lift, or no way."""
    if not isinstance(function, FunctionType):
        return None
    code, cells = (
        function.__code__,
        dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)),
    )
    defaults = (
        (function.__defaults__ or ())[-(code.co_argcount - given) :]
        if code.co_argcount > given
        else ()
    )
    names = tuple(name for name, cell in cells.items() if _is_float(cell))
    if len(defaults) != code.co_argcount - given or not all(
        isinstance(value, float) for value in defaults
    ):
        return None
    if not (names or defaults) or code.co_kwonlyargcount or code.co_flags & (VARARGS | VARKEYWORDS):
        return None
    if names:
        code = _with_arguments(code, names)
        if code is None:
            return None
    clone = FunctionType(
        code,
        function.__globals__,
        function.__name__,
        None,
        tuple(cells[name] for name in code.co_freevars),
    )
    clone.__qualname__, clone.__module__ = function.__qualname__, function.__module__
    clone.__dict__.update(function.__dict__)  # its marks
    return Lifted(
        clone, (*map(float, defaults), *(float(cells[name].cell_contents) for name in names))
    )


VARARGS, VARKEYWORDS = 0x04, 0x08  # flags of a code object


def _is_float(cell):
    try:
        return isinstance(cell.cell_contents, float)
    except ValueError:  # nothing is in it yet
        return False


@lru_cache(256)
def _with_arguments(code, names):
    """The code with these free variables as its last arguments; None where its source cannot be
    found."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
        if code not in _codes(compile(tree, code.co_filename, "exec", dont_inherit=True)):
            return None
        (node,) = (node for node in ast.walk(tree) if _is_of(node, code))
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


def _codes(code):
    """A code object and all those in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_of(node, code):
    """Whether a node of a syntax tree defines a function with this name, line and arguments."""
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
