"""Copies of functions with other functions inside."""

import sys
from types import CellType, FunctionType, ModuleType

from polhode.core.constant import Constant
from polhode.core.digest import digest, obstacle
from polhode.core.reads import (
    MISSING,
    contents,
    flags,
    home,
    known_to_numba,
    ours,
    python_function,
    reads,
)

RECENT = 8  # functions about a user's torque that are kept: the loops of one run share them


class Rebinder:
    """Copies functions so that they see other functions: `make` turns each copy into what callers
    are to see.

    `replace` maps functions to what stands in for them.  With numba's njit for `make` the copies
    are machine code; with the identity and a `replace` for `sincos` they are the same methods in
    forty digits (certify/digits.py).  Copies of the package's own functions are also looked up, and
    left, in `shared`; a user's function is copied anew each time, since what it refers to may have
    changed.  Those of the package's that refer to a user's are left in `recent`, with their digest.
    """

    def __init__(self, make, replace=(), shared=None, recent=None):
        self.make = make
        self.done = dict(replace)
        self.shared = {} if shared is None else shared
        self.recent = recent
        self._alone = False  # whether what is being copied refers to something that is not shared

    def __call__(self, obj):
        function = python_function(obj)
        if function is not None:
            if function in self.done:
                self._alone = True
                return self.done[function]
            if function in self.shared:
                return self.shared[function]
            name, copy = (self.recent or {}).get(function, (None, None))
            if name is not None and name == digest(function):
                self.done[function], self._alone = copy, True
                return copy
            if known_to_numba(home(function)) or not self.wanted(obj):
                return obj
            return self._made(obj, function)
        if isinstance(obj, Constant):
            return self.number(obj)
        if isinstance(obj, tuple) and obj:
            items = [self(item) for item in obj]
            return type(obj)(*items) if hasattr(obj, "_fields") else tuple(items)
        return obj

    def _made(self, obj, function):
        before, self._alone = self._alone, not ours(function)
        options = None if obj is function or hasattr(function, "__jit__") else flags(obj)
        clone, fill = self._clone(self.twin(function), options)
        self.done[function] = made = self.make(clone)  # before it is filled: it may refer to itself
        fill({})
        if options and hasattr(made, "disable_compile"):
            for signature in options.signatures:
                made.compile(signature)
            made.disable_compile(bool(options.signatures))
        if not self._alone:
            self.shared[function] = self.done.pop(function)
        elif ours(function) and self.recent is not None:
            self.recent[function] = digest(function), made
            while len(self.recent) > RECENT:
                # of a list: other threads add to it
                self.recent.pop(next(iter([*self.recent])), None)
        self._alone = self._alone or before
        return made

    def number(self, constant):
        """What a Constant is in the copies."""
        return float(constant)

    def wanted(self, obj):
        """Whether a function that others refer to is to be copied."""
        return True

    def twin(self, function):
        """The function that is copied in place of another."""
        return function

    def copy(self, function, **names):
        """A copy of a function, with the given functions under the given names."""
        clone, fill = self._clone(self.twin(function))
        fill(names)
        return clone

    def _clone(self, function, options=None):
        """A copy that sees nothing yet, and the function that fills in what it sees; `options` are
        those of a dispatcher."""
        # numba imports it when it loads
        place = home(function) if home(function) in sys.modules else "builtins"
        scope = {"__builtins__": __builtins__, "__name__": place}
        cells = tuple(CellType() for _ in function.__closure__ or ())
        defaults = function.__defaults__ and tuple(map(self, function.__defaults__))
        clone = FunctionType(function.__code__, scope, function.__name__, defaults, cells or None)
        clone.__kwdefaults__ = function.__kwdefaults__ and {
            name: self(value) for name, value in function.__kwdefaults__.items()
        }
        clone.__qualname__, clone.__module__ = function.__qualname__, place
        clone.__dict__.update(function.__dict__)  # its marks
        if options:
            clone.__options__ = options

        def fill(names):
            found = reads(function.__code__)
            seen = {
                name: function.__globals__[name]
                for name in found.names
                if name in function.__globals__
            } | names
            paths = [path for path in found.paths if len(path) > 1]
            scope.update({name: self._seen(name, value, paths) for name, value in seen.items()})
            for name, cell, old in zip(
                function.__code__.co_freevars, cells, function.__closure__ or (), strict=True
            ):
                if contents(old) is not MISSING:
                    cell.cell_contents = self._seen(name, contents(old), paths)

        return clone, fill

    def _seen(self, name, value, paths):
        """What the copy sees under a name: of a user's module, one with copies of the functions
        that are read."""
        inside = [path[1:] for path in paths if path[0] == name]
        if not (isinstance(value, ModuleType) and inside) or known_to_numba(value.__name__):
            return self(value)
        stand_in = ModuleType(value.__name__)
        for first in dict.fromkeys(path[0] for path in inside):
            if hasattr(value, first):
                setattr(
                    stand_in,
                    first,
                    self._seen(
                        first, getattr(value, first), [path for path in inside if len(path) > 1]
                    ),
                )
        return stand_in


class Interpreted(Rebinder):
    """Copies that stay Python.  A function with a state of its own, or in a module with one, is
    left as it is."""

    def __init__(self):
        super().__init__(lambda copy: copy)

    def _made(self, obj, function):
        made = super()._made(obj, function)
        if obj is not function:
            made.py_func = made  # which a user may ask a dispatcher of numba's for
        return made

    def wanted(self, obj):
        return ours(python_function(obj)) or obstacle(obj) is None
