"""What code reads and what it changes, found in its bytecode."""

import dis
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_FREE = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_SILENT = ("EXTENDED_ARG", "NOP", "PUSH_NULL", "PRECALL")


class Reads(NamedTuple):
    """What a code object and those nested in it refer to."""

    names: tuple      # of globals
    paths: tuple      # dotted names whose first part is a global or a free variable: ("np", "linalg", "norm")
    imports: tuple    # (level, name) of the modules it imports
    words: tuple      # all names and all strings in it: the attributes it may ask for
    trouble: str | None   # why machine code of it would not do the same, in words: it changes something outside


@lru_cache(10_000)
def reads(code):
    """The `Reads` of a code object; a name of an enclosing function is outside, a variable of its own is not."""
    return _reads(code, code.co_freevars)


def _reads(code, free):
    names, paths, imports, words, trouble = [], [], [], list(code.co_names), None
    if code.co_kwonlyargcount:
        trouble = "it has keyword-only arguments, which numba mixes up"
    steps = [step for step in dis.get_instructions(code) if step.opname not in _SILENT]
    for i, step in enumerate(steps):
        if step.opname in _GLOBAL or (step.opname in _FREE and step.argval in free):
            path = [step.argval]
            while steps[i + len(path)].opname in _ATTRIBUTE:   # a load is never the last instruction
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
    return Reads(*(tuple(dict.fromkeys(found)) for found in (names, paths, imports, words)), trouble)


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
