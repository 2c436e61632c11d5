"""The walk over everything that a function refers to; see `digest`."""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import types
from _ctypes import CFuncPtr
from collections.abc import Callable, Iterable
from enum import Enum
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from polhode.core.constant import Constant
from polhode.core.reads import (
    MISSING,
    code_text,
    contents,
    flags,
    home,
    known_to_numba,
    ours,
    package,
    python_function,
    reads,
    version,
)

from polhode.core.walk_objects import CHANGING, ObjectWalk

OUTSIDE = (
    "print",
    "input",
    "open",
    "eval",
    "exec",
    "compile",
    "globals",
    "locals",
    "vars",
    "setattr",
    "delattr",
    "__import__",
    "breakpoint",
    "id",
)  # builtin functions that depend on the surroundings, or change them

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))
_NAMED = (
    BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
# types of objects that are made of others
MADE_OF: dict[type, Callable[[Any], Iterable[Any]]] = {
    MethodType: lambda one: (one.__func__, one.__self__),
    functools.partial: lambda one: (one.func, one.args, *sorted(one.keywords.items())),
    staticmethod: lambda one: (one.__func__,),
    classmethod: lambda one: (one.__func__,),
    property: lambda one: (one.fget, one.fset, one.fdel),
    functools.cached_property: lambda one: (one.func,),
    functools._lru_cache_wrapper: lambda one: (one.__wrapped__,),
    slice: lambda one: (one.start, one.stop, one.step),
    Enum: lambda one: (type(one), one.name, one.value),
}
_OF_NUMPY = ("ufunc", "_ArrayFunctionDispatcher")
MOST = 20_000  # objects: a function that reaches more probably reaches everything


class Walk(ObjectWalk):
    """Adds everything that some objects refer to to one hash: objects of any kind, and functions."""

    def add(self, obj: Any, where: str = "") -> None:
        """Add any object; `where` says how it is reached."""
        kind = type(obj)
        if kind in PLAIN:
            self.text(kind.__name__, hex(obj) if kind is int else obj)
        elif kind is Constant:
            self.text("constant", float(obj), obj.single)
        elif obj is MISSING:
            self.text("missing")
        elif kind is tuple:
            self.text("tuple", len(obj))
            self.all(obj, where)
        elif kind is frozenset:
            self.add_set(obj, where)
        elif kind is CodeType:
            self.hash.update(code_text(obj))
        elif kind.__module__ == "numpy" and hasattr(obj, "tobytes"):  # an array or a number
            self.add_array(obj, where)
        elif obj is sys.modules or len(self.seen) > MOST:
            self.unnamed(where, obj)
        elif id(obj) in self.seen:
            self.text("again", self.seen[id(obj)])
            # numba does not compile every recursion, and not always correctly
            if id(obj) in self.inside:
                self.refuse("it calls itself")
        else:
            self.seen[id(obj)] = len(self.seen)
            self.held.append(obj)
            self.add_object(obj, where)

    def add_object(self, obj: Any, where: str) -> None:
        """Add an object that is reached for the first time."""
        function = python_function(obj)
        if function is not None:
            self.add_function(obj, function)
        elif isinstance(obj, ModuleType):
            self.text("module", obj.__name__, getattr(obj, "__version__", None))
            if obj.__name__ in CHANGING:
                self.refuse(f"it uses the module {obj.__name__!r}")
        elif isinstance(obj, type):
            self.add_class(obj, where)
        elif isinstance(obj, tuple) and hasattr(obj, "_fields"):
            self.add(type(obj), where)
            self.all(obj, where)
        elif isinstance(obj, _NAMED):
            self.add_builtin(obj, where)
        elif parts := next(
            (parts for kind, parts in MADE_OF.items() if isinstance(obj, kind)), None
        ):
            self.text(type(obj).__name__)
            self.all(parts(obj), where)
        elif package(type(obj).__module__) == "numba":
            self.add_of_numba(obj, where)
        elif type(obj).__module__ == "numpy" and type(obj).__name__ in _OF_NUMPY:
            self.add_of_numpy(obj, where)
        elif isinstance(obj, CFuncPtr) and not self.identity:
            self.text(
                "C", ctypes.cast(obj, ctypes.c_void_p).value, str(obj.argtypes), str(obj.restype)
            )
        else:
            self.add_state(obj, where)

    # --- functions --------------------------------------------------------------------------------

    def add_function(self, obj: Any, function: Any) -> None:
        """Add a function; `obj` may be a dispatcher of numba's."""
        self.text("function", function.__module__, function.__qualname__)
        marked = hasattr(function, "__jit__")
        if self.elsewhere(home(function)) and not marked:
            self.text(version(home(function)))
            if not known_to_numba(home(function)):
                self.hash.update(code_text(function.__code__))
            return
        if hasattr(function, "__machine__"):  # its Python is not compiled
            return self.add(function.__machine__.__wrapped__)
        self.watch.function(function)
        self.hash.update(code_text(function.__code__))
        outer, self.trusted = self.trusted, ours(function)
        self.inside.add(id(obj))
        found = reads(function.__code__)
        if found.trouble:
            self.refuse(found.trouble)
        if obj is not function:
            self.add_flags(obj)
        names = reversed(function.__code__.co_varnames[: function.__code__.co_argcount])
        self.add_named(zip(names, reversed(function.__defaults__ or ()), strict=False))
        self.add_named(sorted((function.__kwdefaults__ or {}).items()))
        self.text("reads")
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for path in sorted(found.paths):
            self.add_path(path, function.__globals__, cells, found.words)
        for name in cells:  # also those of nested functions
            self.add(contents(cells[name]), name)
            self.watch.cells.append((cells[name], contents(cells[name])))
        for level, name in () if self.trusted else found.imports:
            self.add_import(level, name, function.__globals__, found.words)
        # attributes matter only to code that reads them, which has been walked
        self.trusted = True
        self.text("attributes")
        self.add_named(sorted(function.__dict__.items()))
        self.trusted = outer
        self.inside.discard(id(obj))

    def add_flags(self, dispatcher: Any) -> None:
        """Add the options with which a user's own dispatcher is compiled."""
        given, signatures = flags(dispatcher)
        self.text(
            "flags",
            sorted(
                (name, str(sorted(value) if isinstance(value, set) else value))
                for name, value in given.items()
            ),
            list(map(str, signatures)),
        )
        if not given.get("nopython"):
            self.refuse("it is compiled by numba in object mode")

    def add_path(
        self,
        path: tuple[str, ...],
        scope: dict[str, Any],
        cells: dict[str, CellType],
        words: tuple[str, ...],
    ) -> None:
        """Add a dotted name: every part that is looked up in a scope, a module or a function."""
        name, *rest = path
        where, library = name, False
        if name in cells:
            value = contents(cells[name])
        else:
            value = self.look_up(scope, name)
            if value is MISSING:
                value = vars(sys.modules["builtins"]).get(name, MISSING)
                if name in OUTSIDE:
                    self.refuse(f"it calls {name}()")
        self.text(path)
        self.add(value, where)
        for attribute in rest:
            if not isinstance(value, (ModuleType, FunctionType)):
                return
            library = isinstance(value, ModuleType) and known_to_numba(value.__name__)
            if not library and attribute not in vars(value) and "__getattr__" in vars(value):
                # a module with dynamic attributes
                self.unnamed(where, value)
            value, where = self.look_up(vars(value), attribute), f"{where}.{attribute}"
            self.text(attribute)
            if not library or isinstance(value, (ModuleType, FunctionType, type, *_NAMED, *PLAIN)):
                self.add(value, where)
            elif type(value).__name__ == "_ObjModeContextType":
                self.refuse("it contains a block in object mode (objmode)")
        if isinstance(value, ModuleType):
            self.hand_on(value, where, words)

    def hand_on(self, module: ModuleType, where: str, words: tuple[str, ...]) -> None:
        """Add a module that is assigned or passed on: any attribute whose name is in the code may be
        read."""
        if not known_to_numba(module.__name__):
            self.refuse(f"it passes on the module {where!r}")
        if self.trusted or self.elsewhere(module.__name__) or (module, words) in self.handed:
            return
        self.handed.add((module, words))
        for word in sorted(words):
            value = self.look_up(vars(module), word)
            if value is not MISSING:
                self.text(word)
                self.add(value, f"{where}.{word}")
                if isinstance(value, ModuleType):
                    self.hand_on(value, f"{where}.{word}", words)

    def add_import(
        self, level: int, name: str, scope: dict[str, Any], words: tuple[str, ...]
    ) -> None:
        """Add a module that the function imports; `import a.b` gives a."""
        try:
            module = importlib.import_module(
                "." * level + name, scope.get("__package__") if level else None
            )
        except Exception:  # the function will raise it
            return self.text("no module", level, name)
        for one in (module, sys.modules[package(module.__name__)]):
            self.add(one, name)
            self.hand_on(one, one.__name__, words)

    def look_up(self, scope: dict[str, Any], name: str) -> Any:
        """The value of a name, watched."""
        value = scope.get(name, MISSING)
        self.watch.items.append((scope, name, value))
        return value
