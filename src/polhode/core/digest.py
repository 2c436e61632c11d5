"""Everything that the behaviour of a function depends on: its name (a digest), and why it should
not be frozen into machine code.

A walk starts at a function and follows all that it can see: bytecode and constants, globals,
closure, defaults, attributes of modules, nested functions, partials, methods and the state of their
objects, numba's dispatchers with their flags.  It gives

    digest      a name that differs wherever the behaviour may differ, and is the same in every process and for every hash seed
    obstacle    the first thing that machine code would get wrong: something that may change, or be changed, while it runs
    opaque      the first thing that has no name of its own, such as an open file

The walk takes a while.  What it has read is therefore noted, and as long as every name still means
the same object the result is that of the last time: see `reach`.
"""

import threading
from collections import OrderedDict
from types import FunctionType

from polhode.core.reads import MISSING, contents, python_function
from polhode.core.walk import PLAIN, Walk

KEPT = 300  # results that are remembered


def digest(*objects, identity=False):
    """A name for everything the objects' behaviour depends on.

    Machine code may hold addresses of what it reaches, and so may its name.  As an `identity`, for
    those who compare runs, it is the same in every process, and other packages are known by their
    names and versions.
    """
    return reach(*objects, identity=identity).digest


def obstacle(function):
    """Why a function must not be compiled although numba might: what it refers to may change, or it
    changes that itself."""
    if python_function(function) is None:
        return f"it is a {type(function).__name__}, not a plain function"
    return reach(function).obstacle


# --- finding a result again -----------------------------------------------------------------------


class _Watch:
    """What a walk has read, and whether all of it is still the same objects.  It holds them: an id
    is not used twice."""

    def __init__(self):
        self.functions, self.items, self.cells, self.dicts = [], [], [], []

    def function(self, function):
        self.functions.append(
            (function, function.__code__, function.__defaults__, function.__kwdefaults__)
        )
        self.dicts += [
            (own, dict(own))
            for own in (function.__kwdefaults__, function.__dict__)
            if own is not None
        ]

    def unchanged(self):
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


_results, _lock = OrderedDict(), threading.Lock()


def watch(*objects):
    """A watch on all that the objects read: its `unchanged()` is the cheapest way to know that they
    still mean the same.

    None where something is read that may change where nobody sees it.
    """
    seen = _Watch()
    walk = Walk(False, objects, seen)
    walk.result()
    return seen if walk.lasting else None


def reach(*objects, identity=False):
    """The `Reach` of the objects; walked anew only where something that was read the last time has
    changed."""
    held = []
    key = (identity, *(_key(obj, held, ()) for obj in objects))
    with _lock:
        found = _results.get(key)
    if found is not None and found[1].unchanged():
        return found[0]
    watch = _Watch()
    walk = Walk(identity, objects, watch)
    result = walk.result()
    with _lock:
        _results.pop(key, None)
        if walk.lasting:
            _results[key] = result, watch, held
        while len(_results) > KEPT:
            _results.popitem(last=False)
    return result


def _key(obj, held, inside):
    """What two objects have in common for which a walk reads the same: closures made anew of the
    same parts are equal."""
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
