"""What a walk adds for objects other than functions: classes, instances, sets, arrays, builtins.
Their parts go back to `Walk.add`."""

from __future__ import annotations

import copyreg
import functools
import hashlib
import sys
import types
from enum import Enum
from collections.abc import Collection, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from polhode.core.reads import KNOWN, home, installed, package, python_function, version

# modules with a state, or that read the clock
CHANGING = ("random", "numpy.random", "secrets", "time")
_IN_CLASSES = (FunctionType, staticmethod, classmethod, property, functools.cached_property)
_IN_EVERY_CLASS = {
    "__dict__",
    "__weakref__",
    "__doc__",
    "__module__",
    "__annotations__",
    "__annotate_func__",
    "__annotate__",
    "__annotations_cache__",
    "__firstlineno__",
    "__static_attributes__",
    "__parameters__",
    "__orig_bases__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "__abstractmethods__",
    "_abc_impl",
}
_IN_EVERY_NAMEDTUPLE = {
    "__new__",
    "_make",
    "_replace",
    "__replace__",
    "__repr__",
    "_asdict",
    "__getnewargs__",
    "_fields",
    "_field_defaults",
    "__match_args__",
    "__slots__",
}
_HEAP = 1 << 9  # the flag of classes that a class statement made


class Reach(NamedTuple):
    """The result of a walk."""

    digest: str
    obstacle: str | None
    opaque: str | None


class ObjectWalk:
    """What a walk has found so far, and the parts of objects other than functions."""

    def __init__(self, identity: bool, objects: tuple[Any, ...], watch: Any) -> None:
        self.hash, self.watch = hashlib.sha256(), watch
        self.seen: dict[int, int] = {}
        self.held: list[Any] = []
        self.handed: set[Any] = set()  # modules that were passed on
        self.inside: set[int] = set()  # functions that are being walked
        self.identity, self.objects = identity, objects
        self.home = {package(module) for module in _modules(objects)} - {
            "polhode",
            *sys.stdlib_module_names,
        }
        self.obstacle: str | None = None
        self.opaque: str | None = None
        self.lasting = True  # whether a watch notices when the result is out of date
        self.trusted = True  # whether the package's own code, or numba's, is being walked
        self.text(sys.version_info[:3])

    def result(self) -> Reach:
        """Walk."""
        for obj in self.objects:
            try:
                self.add(obj)
            except RecursionError:
                self.unnamed("what it reaches", obj)
        return Reach(self.hash.hexdigest()[:32], self.obstacle, self.opaque)

    def text(self, *parts: Any) -> None:
        """Add values that have a `repr`."""
        for part in parts:
            self.hash.update(repr(part).encode("utf-8", "backslashreplace") + b"\0")

    def refuse(self, why: str) -> None:
        """Note a reason not to compile."""
        if not self.trusted:
            self.obstacle = self.obstacle or why

    def may_change(self, where: str, obj: Any) -> None:
        """Note something whose contents may change unnoticed."""
        self.lasting = False
        self.refuse(
            f"it uses {where!r}, a {type(obj).__name__} that may change; numbers and arrays can be passed as params"
        )

    def unnamed(self, where: str, obj: Any) -> None:
        """Note something that only its address identifies."""
        self.lasting = False
        self.opaque = self.opaque or f"{where!r}, a {type(obj).__name__}"
        self.text(
            "unknown", type(obj).__module__, type(obj).__qualname__, 0 if self.identity else id(obj)
        )
        self.refuse(f"it uses {where!r}, a {type(obj).__name__} that may change")

    def add(self, obj: Any, where: str = "") -> None:
        """Add any object; `where` says how it is reached."""
        raise NotImplementedError

    def all(self, items: Iterable[Any], where: str) -> None:
        """Add several objects."""
        for item in items:
            self.add(item, where)

    def add_named(self, items: Iterable[tuple[Any, Any]], prefix: str = "") -> None:
        """Add pairs of names and values."""
        for name, value in items:
            self.text(name)
            self.add(value, f"{prefix}{name}")

    def elsewhere(self, module: str | None) -> bool:
        """Whether the name identifies what belongs to a module: numba knows it or, in an identity, it
        is not the user's."""
        top = package(module)
        return top in KNOWN or (
            self.identity and top not in self.home and (top == "polhode" or installed(top))
        )

    def add_builtin(self, obj: Any, where: str) -> None:
        """Add what is written in C, by its name; a method together with its object."""
        owner = getattr(obj, "__self__", None)
        self.text("builtin", getattr(obj, "__module__", None), getattr(obj, "__qualname__", None))
        if isinstance(owner, type) or owner is None:
            owner = owner or getattr(obj, "__objclass__", None)
            self.text(owner and (owner.__module__, owner.__qualname__))
        elif not isinstance(owner, ModuleType):
            if _changing(type(owner).__module__):
                self.refuse(f"it uses the module {type(owner).__module__!r}")
            self.add(owner, where)
        if _changing(obj.__module__ if hasattr(obj, "__module__") else None):
            self.refuse(f"it uses the module {obj.__module__!r}")

    def add_of_numba(self, obj: Any, where: str) -> None:
        """Add types, intrinsics and ufuncs of numba's."""
        inside = getattr(obj, "_defn", None) or getattr(
            getattr(obj, "_dispatcher", None), "py_func", None
        )
        self.text(type(obj).__qualname__)
        if inside is not None:
            if not hasattr(obj, "_defn"):
                self.refuse(
                    f"it uses {where!r}, a {type(obj).__name__} with machine code of its own"
                )
            self.add(inside, where)
        elif hasattr(obj, "mangling_args"):  # a type
            self.text(str(obj))
        else:
            self.unnamed(where, obj)

    def add_of_numpy(self, function: Any, where: str) -> None:
        """Add a function of NumPy's or SciPy's by its name; others of the same type may call
        anything."""
        top = package(getattr(function, "__module__", None))
        homes = [
            vars(sys.modules[name]) for name in ("numpy", "scipy.special") if name in sys.modules
        ]
        if top != "numpy" and not any(names.get(function.__name__) is function for names in homes):
            self.unnamed(where, function)
        self.text("numpy", top, function.__name__)

    # --- data -------------------------------------------------------------------------------------

    def add_set(self, items: Collection[Any], where: str) -> None:
        """Add a set, in an order that does not depend on hashes."""
        names = []
        for item in items:
            inner = type(self)(self.identity, (item,), self.watch)
            names.append(inner.result().digest)
            self.opaque = self.opaque or inner.opaque
        self.text("set", sorted(names))

    def add_array(self, array: Any, where: str) -> None:
        """Add an array or a number of NumPy's."""
        self.text("array", type(array).__name__, array.shape, str(array.dtype))
        if array.dtype.hasobject:
            self.add(array.tolist(), where)
        else:
            self.text(array.tobytes())
        if array.shape or array.dtype.hasobject:
            self.may_change(where, array)

    def add_class(self, cls: Any, where: str) -> None:
        """Add a class; one of the user's with what is in it."""
        self.text("class", cls.__module__, cls.__qualname__)
        # made by `exec` without a module name
        by_hand = cls.__module__ == "builtins" and cls.__flags__ & _HEAP
        # no kernel uses what is in it
        ours = package(cls.__module__) == "polhode" and not hasattr(cls, "_fields")
        if not by_hand and (
            ours or self.elsewhere(cls.__module__) or installed(package(cls.__module__))
        ):
            self.text(version(cls.__module__))
            if type(cls).__name__ == "JitClassType":
                self.unnamed(where, cls)
            return
        skipped = _IN_EVERY_CLASS
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            self.text(cls._fields)
            self.all(cls._field_defaults.values(), where)
            skipped = skipped | _IN_EVERY_NAMEDTUPLE
        elif issubclass(cls, Enum):
            self.all(((name, member.value) for name, member in cls.__members__.items()), where)
            skipped = (
                skipped
                | {name for name in vars(cls) if name.startswith("_")}
                | set(cls.__members__)
            )
        else:
            self.lasting = False
        self.all(cls.__bases__, where)
        inside = [
            (name, value)
            for name, value in sorted(vars(cls).items())
            if name not in skipped
            and (isinstance(value, _IN_CLASSES) or not hasattr(type(value), "__get__"))
        ]
        self.add_named(inside, f"{cls.__name__}.")

    def add_state(self, obj: Any, where: str) -> None:
        """Add an object by its state, as for a copy of it."""
        kind = type(obj)
        if kind is types.MappingProxyType:
            obj, kind = dict(obj), dict
        if kind in (list, dict, set, bytearray):
            self.text(kind.__name__, len(obj))
            self.may_change(where, obj)
            if kind is set:
                self.add_set(obj, where)
            else:
                self.all(list(obj.items() if kind is dict else obj), where)
            return
        if kind is object:
            return self.text("object")
        if package(kind.__module__) == "polhode" and hasattr(obj, "__wrapped__"):
            return self.add(obj.__wrapped__, where)  # a function in the state of a torque
        try:
            made = (
                copyreg.dispatch_table[kind](obj)
                if kind in copyreg.dispatch_table
                else obj.__reduce_ex__(4)
            )
        except Exception:  # what cannot be copied has no state to compare
            return self.unnamed(where, obj)
        self.text("object")
        self.held.append(made)
        if isinstance(made, str):
            return self.text(made)
        self.may_change(where, obj)
        make, arguments, *rest = made
        state, items, pairs = (*rest, None, None, None)[:3]
        for part in (make, arguments, list(items or ()), list(pairs or ())):
            self.add(part, where)
        own = state if isinstance(state, tuple) else (state,)
        for part in (*own, getattr(obj, "__dict__", None)):
            if isinstance(part, dict):
                self.add_named(sorted(part.items(), key=str), f"{where}.")
            else:
                self.add(part, where)


def _changing(module: str | None) -> bool:
    return f"{module}.".startswith(tuple(f"{name}." for name in CHANGING))


def _modules(objects: Iterable[Any]) -> Iterator[str | None]:
    """The modules of functions, of what partials call, or of the classes of objects."""
    for obj in objects:
        if isinstance(obj, (tuple, functools.partial)):
            yield from _modules(obj if isinstance(obj, tuple) else (obj.func,))
        else:
            function = python_function(getattr(obj, "__func__", obj))
            yield home(function) if function else type(obj).__module__
