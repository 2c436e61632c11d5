"""Copies of functions that use other functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

from polhode.core.constant import Constant
from polhode.core.digest import digest, obstacle
from polhode.core.reads import (
    MISSING,
    Flags,
    contents,
    copied,
    flags,
    home,
    known_to_numba,
    ours,
    python_function,
    reads,
)

RECENT = 8  # copies that refer to a user's function and are kept: the loops of a run share them


class Rebinder:
    """Copies functions so that they refer to copies of other functions; `make` turns each copy into
    what the others use.

    `replace` maps functions to their replacements.  With numba's njit for `make` the copies are
    machine code; with the identity and a replacement of `sincos` they are the same methods in forty
    digits (studies/facts/digits.py).  Copies of the package's own functions are kept in `shared`; a
    user's function is copied each time, since what it refers to may have changed.  Copies of the
    package's functions that refer to a user's are kept in `recent`, with their digest.
    """

    def __init__(
        self,
        make: Callable[[Any], Any],
        replace: Any = (),
        shared: Any = None,
        recent: dict[Any, Any] | None = None,
    ) -> None:
        self.make = make
        self.done: dict[Any, Any] = dict(replace)
        self.shared: Any = {} if shared is None else shared
        self.recent = recent
        self._alone = False  # whether the function being copied refers to something not shared

    def __call__(self, obj: Any) -> Any:
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

    def _made(self, obj: Any, function: FunctionType) -> Any:
        before, self._alone = self._alone, not ours(function)
        options = None if obj is function or hasattr(function, "__jit__") else flags(obj)
        clone, fill = self._clone(self.twin(function), options)
        self.done[function] = made = self.make(clone)  # first, since it may refer to itself
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
                # of a list, since other threads add to it
                self.recent.pop(next(iter([*self.recent])), None)
        self._alone = self._alone or before
        return made

    def number(self, constant: Constant) -> Any:
        """The value of a Constant in the copies."""
        return float(constant)

    def wanted(self, obj: Any) -> bool:
        """Whether a function that others refer to is copied."""
        return True

    def twin(self, function: Any) -> Any:
        """The function that is copied in place of this one."""
        return function

    def copy(self, function: Any, **names: Any) -> Any:
        """A copy of a function, with the given functions under the given names."""
        clone, fill = self._clone(self.twin(function))
        fill(names)
        return clone

    def _clone(
        self, function: FunctionType, options: Flags | None = None
    ) -> tuple[FunctionType, Callable[[dict[str, Any]], None]]:
        """A copy without globals, and the function that fills in what it refers to; `options` are
        those of a dispatcher."""
        module = home(function)
        place = module if module in sys.modules else "builtins"  # numba imports it
        scope = {"__builtins__": __builtins__, "__name__": place}
        cells = tuple(CellType() for _ in function.__closure__ or ())
        defaults = function.__defaults__ and tuple(map(self, function.__defaults__))
        clone: Any = copied(function, function.__code__, scope, defaults, cells or None)
        clone.__module__, keywords = place, function.__kwdefaults__
        clone.__kwdefaults__ = keywords and {name: self(one) for name, one in keywords.items()}
        if options:
            clone.__options__ = options

        def fill(names: dict[str, Any]) -> None:
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

    def _seen(self, name: str, value: Any, paths: list[tuple[str, ...]]) -> Any:
        """What a name means in the copy: for a user's module, one with copies of the functions that
        are read."""
        inside = [path[1:] for path in paths if path[0] == name]
        if not (isinstance(value, ModuleType) and inside) or known_to_numba(value.__name__):
            return self(value)
        stand_in = ModuleType(value.__name__)
        for first in dict.fromkeys(path[0] for path in inside):
            if hasattr(value, first):
                deeper = [path for path in inside if len(path) > 1]
                setattr(stand_in, first, self._seen(first, getattr(value, first), deeper))
        return stand_in


class Interpreted(Rebinder):
    """Copies that stay Python.  A function with a state of its own, or in a module with one, is not
    copied."""

    def __init__(self) -> None:
        super().__init__(lambda copy: copy)

    def _made(self, obj: Any, function: FunctionType) -> Any:
        made = super()._made(obj, function)
        if obj is not function:
            made.py_func = made  # an attribute of numba's dispatchers
        return made

    def wanted(self, obj: Any) -> bool:
        return ours(python_function(obj)) or obstacle(obj) is None
