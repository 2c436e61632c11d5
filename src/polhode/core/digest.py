"""Digests of functions: of everything that their behaviour depends on, and why a function should not
be compiled.

A walk starts at a function and follows everything it refers to: bytecode and constants, globals,
closure, defaults, attributes of modules, nested functions, partials, methods and the state of their
objects, numba's dispatchers with their flags.  It gives

    digest      differs if the behaviour may differ; the same in every process and for every hash seed
    obstacle    the first thing that machine code would get wrong: something that may change, or that the function changes
    opaque      the first thing that cannot be compared between processes, such as an open file

The walk takes a while.  What it has read is therefore noted, and the last result is used again as
long as every name still means the same object: see `reach`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from types import CellType, FunctionType
from typing import Any

from polhode.core.reads import MISSING, contents, python_function
from polhode.core.walk import PLAIN, Walk
from polhode.core.walk_objects import Reach

KEPT = 300  # results that are remembered


def digest(*objects: Any, identity: bool = False) -> str:
    """A digest of everything that the objects' behaviour depends on.

    The digest of machine code may contain addresses, as machine code does.  An `identity`, to compare
    runs, is the same in every process, and of other packages it contains names and versions.
    """
    return reach(*objects, identity=identity).digest


def obstacle(function: Any) -> str | None:
    """Why a function must not be compiled even if numba can: it refers to something that may change,
    or that it changes itself."""
    if python_function(function) is None:
        return f"it is a {type(function).__name__}, not a plain function"
    return reach(function).obstacle


# --- finding a result again -----------------------------------------------------------------------


class Watch:
    """What a walk has read, and whether all of it is still the same objects.  They are held, so that
    no id is used twice."""

    def __init__(self) -> None:
        self.functions: list[tuple[FunctionType, Any, Any, Any]] = []
        self.items: list[tuple[dict[str, Any], str, Any]] = []
        self.cells: list[tuple[CellType, Any]] = []
        self.dicts: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def function(self, function: FunctionType) -> None:
        """Watch a function."""
        self.functions.append(
            (function, function.__code__, function.__defaults__, function.__kwdefaults__)
        )
        self.dicts += [
            (own, dict(own))
            for own in (function.__kwdefaults__, function.__dict__)
            if own is not None
        ]

    def unchanged(self) -> bool:
        """Whether every name still means the same object."""
        for function, code, defaults, keywords in self.functions:
            if (
                function.__code__ is not code
                or function.__defaults__ is not defaults
                or function.__kwdefaults__ is not keywords
            ):
                return False
        for scope, name, value in self.items:
            if scope.get(name, MISSING) is not value:
                return False
        for cell, value in self.cells:
            if contents(cell) is not value:
                return False
        return all(
            len(now) == len(then)
            and all(now.get(key, MISSING) is value for key, value in then.items())
            for now, then in self.dicts
        )


_results: OrderedDict[tuple[Any, ...], tuple[Reach, Watch, list[Any]]] = OrderedDict()
_lock = threading.Lock()


def watch(*objects: Any) -> Watch | None:
    """A watch on all that the objects read, whose `unchanged()` is the fastest check.

    None if something is read that may change unnoticed.
    """
    seen = Watch()
    walk = Walk(False, objects, seen)
    walk.result()
    return seen if walk.lasting else None


def reach(*objects: Any, identity: bool = False) -> Reach:
    """The `Reach` of the objects; the walk is repeated if something that was read has changed."""
    held: list[Any] = []
    key = (identity, *(_key(obj, held, ()) for obj in objects))
    with _lock:
        found = _results.get(key)
    if found is not None and found[1].unchanged():
        return found[0]
    watch = Watch()
    walk = Walk(identity, objects, watch)
    result = walk.result()
    with _lock:
        _results.pop(key, None)
        if walk.lasting:
            _results[key] = result, watch, held
        while len(_results) > KEPT:
            _results.popitem(last=False)
    return result


def _key(obj: Any, held: list[Any], inside: tuple[int, ...]) -> Any:
    """A key that is equal for objects for which a walk reads the same, such as closures made twice of
    the same parts."""
    kind = type(obj)
    if kind in PLAIN:
        return kind, hex(obj) if kind is int else repr(obj)
    if kind is tuple or (isinstance(obj, tuple) and hasattr(kind, "_fields")):
        held.append(kind)
        return (id(kind), *(_key(item, held, inside) for item in obj))
    held.append(obj)
    if kind is FunctionType and obj.__closure__ and id(obj) not in inside:
        held.append(obj.__globals__)
        inside = (*inside, id(obj))
        rest = (
            obj.__defaults__ or (),
            *(part for own in (obj.__kwdefaults__, obj.__dict__) for part in (own or {}).items()),
        )
        cells = tuple(_key(contents(cell), held, inside) for cell in obj.__closure__)
        return (
            obj.__code__,
            obj.__module__,
            obj.__qualname__,
            id(obj.__globals__),
            cells,
            _key(rest, held, inside),
        )
    return id(obj)
