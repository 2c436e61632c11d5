"""What a walk adds for an object that is no function: classes, instances, sets, arrays, builtins.
Part of `walk`; each part of an object goes back to `Walk.add`."""

import copyreg
import functools
import sys
import types
from enum import Enum
from types import FunctionType, ModuleType

from polhode.core.reads import (
    installed,
    package,
    version,
)


# modules with a state, or that look at the clock
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


class ObjectWalk:
    """The parts of objects; `Walk` has `add`, `text`, `refuse` and the rest."""

    def add_builtin(self, obj, where):
        """What is written in C: by its name; a method of an object with that object."""
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

    def add_of_numba(self, obj, where):
        """Types, intrinsics and ufuncs of numba's."""
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

    def add_of_numpy(self, function, where):
        """A function of numpy's or scipy's by its name; others that look the same may call
        anything."""
        top = package(getattr(function, "__module__", None))
        homes = [
            vars(sys.modules[name]) for name in ("numpy", "scipy.special") if name in sys.modules
        ]
        if top != "numpy" and not any(names.get(function.__name__) is function for names in homes):
            self.unnamed(where, function)
        self.text("numpy", top, function.__name__)

    # --- data -------------------------------------------------------------------------------------

    def add_set(self, items, where):
        """In an order that does not depend on the hashes."""
        names = []
        for item in items:
            inner = type(self)(self.identity, (item,), self.watch)
            names.append(inner.result().digest)
            self.opaque = self.opaque or inner.opaque
        self.text("set", sorted(names))

    def add_array(self, array, where):
        self.text("array", type(array).__name__, array.shape, str(array.dtype))
        if array.dtype.hasobject:
            self.add(array.tolist(), where)
        else:
            self.text(array.tobytes())
        if array.shape or array.dtype.hasobject:
            self.may_change(where, array)

    def add_class(self, cls, where):
        self.text("class", cls.__module__, cls.__qualname__)
        # of an `exec` without a name
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
        for name, value in sorted(vars(cls).items()):
            if name not in skipped and (
                isinstance(value, _IN_CLASSES) or not hasattr(type(value), "__get__")
            ):
                self.text(name)
                self.add(value, f"{cls.__name__}.{name}")

    def add_state(self, obj, where):
        """An object by what it is made of, as for a copy of it."""
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
        if isinstance(obj, functools._lru_cache_wrapper):
            self.text("cached")
            return self.add(obj.__wrapped__, where)
        if kind is object:
            return self.text("object")
        if isinstance(obj, (functools.cached_property, slice)):
            return self.all(
                (obj.func,) if hasattr(obj, "func") else (obj.start, obj.stop, obj.step), where
            )
        try:
            made = (
                copyreg.dispatch_table[kind](obj)
                if kind in copyreg.dispatch_table
                else obj.__reduce_ex__(4)
            )
        except Exception:  # what cannot be copied has no state that could be named
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
                for name, value in sorted(part.items(), key=str):
                    self.text(name)
                    self.add(value, f"{where}.{name}")
            else:
                self.add(part, where)


def _changing(module):
    return any(
        (module or "").startswith(name) and (module + ".").startswith(name + ".")
        for name in CHANGING
    )
