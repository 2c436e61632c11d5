"""What a function is, and what its code reads and changes: the second is found in its bytecode."""

import dis
import sys
import sysconfig
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

# packages whose functions numba has forms of its own for
KNOWN = ("numpy", "math", "cmath", "builtins", "numba")
MISSING = type("missing", (), {})()  # what is found under a name that means nothing

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_FREE = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_SILENT = ("EXTENDED_ARG", "NOP", "PUSH_NULL", "PRECALL")


def python_function(obj):
    """The Python function behind a function or one of numba's dispatchers; None for anything
    else."""
    if isinstance(obj, FunctionType):
        return obj
    function = getattr(obj, "py_func", None) if type(obj).__module__.startswith("numba") else None
    return function if isinstance(function, FunctionType) else None


def is_lasting(obj):
    """Whether a function or class stands in its module under its name, and so lives as long as the
    process; builtins do."""
    found = getattr(sys.modules.get(obj.__module__), obj.__qualname__, None)
    return found is obj or (
        isinstance(obj, FunctionType)
        and obj.__closure__ is None
        and python_function(found) is not None
    )


def home(function):
    """The module in which a function was defined, None for that of an `exec`; its `__module__` may
    be that of what it wraps."""
    return function.__globals__.get("__name__")


def ours(function):
    """Whether a function is the package's own."""
    return (home(function) or "").startswith("polhode.")


def known_to_numba(module):
    """Whether numba has forms of its own for the functions of a module."""
    return package(module) in KNOWN


def package(module):
    """The package that a module belongs to."""
    return (module or "").partition(".")[0]


def version(module):
    """The version of the package that a module belongs to."""
    return getattr(sys.modules.get(package(module)), "__version__", None)


@cache
def installed(top):
    """Whether a package came with Python or was installed, rather than written by the user."""
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
    """What a user told numba about a dispatcher: options, and the signatures where only these are
    allowed."""

    given: dict
    signatures: list


def flags(dispatcher):
    """The `Flags` of a dispatcher."""
    return Flags(
        dispatcher.targetoptions, [] if dispatcher._can_compile else dispatcher.nopython_signatures
    )


def contents(cell):
    """What is in a cell of a closure; MISSING before anything has been put there."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


# --- bytecode -------------------------------------------------------------------------------------


class Reads(NamedTuple):
    """What a code object and those nested in it refer to."""

    names: tuple  # of globals
    # dotted names whose first part is a global or a free variable: ("np", "linalg", "norm")
    paths: tuple
    imports: tuple  # (level, name) of the modules it imports
    words: tuple  # all names and all strings in it: the attributes it may ask for
    # why machine code of it would not do the same, in words: it changes something outside
    trouble: str | None


@lru_cache(10_000)
def reads(code):
    """The `Reads` of a code object; a name of an enclosing function is outside, a variable of its
    own is not."""
    return _reads(code, code.co_freevars)


def _reads(code, free):
    names, paths, imports, words, trouble = [], [], [], list(code.co_names), None
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
            for mine, found in zip((names, paths, imports, words), inner, strict=False):
                mine += found
            trouble = trouble or inner.trouble
    return Reads(
        *(tuple(dict.fromkeys(found)) for found in (names, paths, imports, words)), trouble
    )


def _change(step, free):
    """The change an instruction makes to something outside, in words; None where it makes none."""
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
def code_text(code):
    """What a code object does, without where it stands; the order of a set does not count."""
    parts = [
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


def _constant(value):
    if isinstance(value, CodeType):
        return code_text(value)
    if isinstance(value, frozenset):
        return "set", sorted(map(repr, map(_constant, value)))
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    return hex(value) if type(value) is int else value
