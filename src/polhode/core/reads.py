"""What a function is, and what its code reads and changes, according to its bytecode."""

from __future__ import annotations

import dis
import inspect
import sys
import sysconfig
from collections.abc import Container
from functools import cache, lru_cache
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

# packages whose functions numba implements itself
KNOWN = ("numpy", "math", "cmath", "builtins", "numba")
MISSING: Any = type("missing", (), {})()  # the value of a name that is not defined

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_FREE = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_SILENT = ("EXTENDED_ARG", "NOP", "PUSH_NULL", "PRECALL")


def python_function(obj: Any) -> FunctionType | None:
    """The Python function of a function or of one of numba's dispatchers; None for anything else."""
    if isinstance(obj, FunctionType):
        return obj
    function = getattr(obj, "py_func", None) if type(obj).__module__.startswith("numba") else None
    return function if isinstance(function, FunctionType) else None


def is_lasting(obj: Any) -> bool:
    """Whether a function or class is found in its module under its name, and so lives as long as the
    process; builtins do."""
    found = getattr(sys.modules.get(obj.__module__), obj.__qualname__, None)
    return found is obj or (
        isinstance(obj, FunctionType)
        and obj.__closure__ is None
        and python_function(found) is not None
    )


def home(function: FunctionType) -> str | None:
    """The module in which a function was defined, None for `exec`; its `__module__` may be that of a
    function it wraps."""
    return function.__globals__.get("__name__")


def ours(function: Any) -> bool:
    """Whether a function is the package's own."""
    return (home(function) or "").startswith("polhode.")


def known_to_numba(module: str | None) -> bool:
    """Whether numba implements the functions of a module itself."""
    return package(module) in KNOWN


def package(module: str | None) -> str:
    """The package to which a module belongs."""
    return (module or "").partition(".")[0]


def version(module: str | None) -> str | None:
    """The version of the package to which a module belongs."""
    return getattr(sys.modules.get(package(module)), "__version__", None)


@cache
def installed(top: str) -> bool:
    """Whether a package came with Python or was installed, and is not the user's own."""
    if top in sys.stdlib_module_names:
        return True
    module = sys.modules.get(top)
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    folders = [
        Path(sysconfig.get_path(name)).resolve()
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
    ]
    return any(
        folder in Path(place).resolve().parents for place in places if place for folder in folders
    )


class Flags(NamedTuple):
    """The options of a user's dispatcher, and its signatures if only these are allowed."""

    given: dict[str, Any]
    signatures: list[Any]


def flags(dispatcher: Any) -> Flags:
    """The `Flags` of a dispatcher."""
    return Flags(
        dispatcher.targetoptions, [] if dispatcher._can_compile else dispatcher.nopython_signatures
    )


def contents(cell: CellType) -> Any:
    """The contents of a cell of a closure; MISSING if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def copied(
    function: FunctionType,
    code: CodeType,
    scope: dict[str, Any],
    defaults: tuple[Any, ...] | None,
    cells: tuple[CellType, ...] | None,
) -> FunctionType:
    """A copy of a function with other code, globals, defaults and closure."""
    copy = FunctionType(code, scope, function.__name__, defaults, cells)
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__dict__.update(function.__dict__)  # marks such as that of `jit`
    return copy


# --- bytecode -------------------------------------------------------------------------------------


class Reads(NamedTuple):
    """What a code object and those nested in it refer to."""

    names: tuple[str, ...]  # of globals
    # dotted names whose first part is a global or a free variable: ("np", "linalg", "norm")
    paths: tuple[tuple[str, ...], ...]
    imports: tuple[tuple[int, str], ...]  # (level, name) of the modules it imports
    words: tuple[str, ...]  # all names and strings in it: the attributes that it may read
    trouble: str | None  # why its machine code would not do the same, as text


@lru_cache(10_000)
def reads(code: CodeType) -> Reads:
    """The `Reads` of a code object; variables of enclosing functions count, its own do not."""
    return _reads(code, code.co_freevars)


def _reads(code: CodeType, free: Container[str]) -> Reads:
    found: tuple[list[Any], ...] = [], [], [], list(code.co_names)
    (names, paths, imports, words), trouble = found, None
    if code.co_kwonlyargcount:
        trouble = "it has keyword-only arguments, which numba does not handle correctly"
    steps = [step for step in dis.get_instructions(code) if step.opname not in _SILENT]
    for i, step in enumerate(steps):
        if step.opname in _GLOBAL or (step.opname in _FREE and step.argval in free):
            path = [step.argval]
            while steps[i + len(path)].opname in _ATTRIBUTE:  # a load is never the last instruction
                path.append(steps[i + len(path)].argval)
            paths.append(tuple(path))
            names += path[:1] * (step.opname in _GLOBAL)
        elif step.opname == "IMPORT_NAME":
            imports.append((steps[i - 2].argval, step.argval))
        trouble = trouble or _change(step, free)
    for constant in code.co_consts:
        if isinstance(constant, str):
            words.append(constant)
        elif isinstance(constant, CodeType):
            inner = _reads(constant, free)
            for mine, theirs in zip(found, inner[:4], strict=True):
                mine += theirs
            trouble = trouble or inner.trouble
    return Reads._make((*(tuple(dict.fromkeys(one)) for one in found), trouble))


def uses_variable(code: CodeType, name: str) -> bool:
    """Whether code uses one of its own variables, or hands it to a function inside it."""
    return name in code.co_cellvars or any(
        name in (step.argval if isinstance(step.argval, tuple) else (step.argval,))
        for step in dis.get_instructions(code)
        if "FAST" in step.opname
    )


def uses_argument(function: Any, i: int) -> bool:
    """Whether a function, or an object that is called as one, uses its argument number i, as far as
    its code is accessible."""
    called: Any = python_function(function)
    if called is None:  # a method, or an object of a class with one; both count `self`
        called, i = getattr(function, "__func__", type(function).__call__), i + 1
    code = getattr(called, "__code__", None)
    if code is None:
        return False
    starred = bool(code.co_flags & inspect.CO_VARARGS)
    last = code.co_argcount - 1
    place = i if i <= last or not starred else last + 1 + code.co_kwonlyargcount
    return uses_variable(code, code.co_varnames[place])


def _change(step: dis.Instruction, free: Container[str]) -> str | None:
    """The change that an instruction makes to something outside, as text; None if it makes none."""
    if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
        return f"it assigns to the global variable {step.argval!r}"
    if step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in free:
        return f"it assigns to {step.argval!r}, a variable of an enclosing function"
    if step.opname in ("STORE_ATTR", "DELETE_ATTR"):
        return f"it assigns to an attribute {step.argval!r}"
    if step.opname == "IMPORT_NAME":
        return f"it imports {step.argval!r}"
    return None


@lru_cache(10_000)
def code_text(code: CodeType) -> bytes:
    """What a code object does, without file and line; the order of a set does not count."""
    parts: list[Any] = [
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_exceptiontable,
    ]
    parts += map(_constant, code.co_consts)
    return repr(parts).encode("utf-8", "backslashreplace")


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return code_text(value)
    if isinstance(value, frozenset):
        return "set", sorted(map(repr, map(_constant, value)))
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    return hex(value) if type(value) is int else value
