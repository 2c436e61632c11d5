"""The walk over everything that can be reached from a function; see `digest`."""

import copyreg
import ctypes
import functools
import hashlib
import importlib
import sys
import types
from enum import Enum
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import NamedTuple

from polhode.core.constant import Constant
from polhode.core.reads import (
    KNOWN,
    MISSING,
    code_text,
    contents,
    flags,
    home,
    installed,
    known_to_numba,
    ours,
    package,
    python_function,
    reads,
    version,
)

# modules with a state, or that look at the clock
CHANGING = ("random", "numpy.random", "secrets", "time")
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
)  # builtin functions that look around, or reach outside

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
MOST = 20_000  # objects that are looked at: beyond that a function reaches everything there is
_HEAP = 1 << 9  # the flag of classes that a class statement made


class Reach(NamedTuple):
    """What a walk found."""

    digest: str
    obstacle: str | None
    opaque: str | None


class Walk:
    """Feeds everything that can be reached from some objects into one hash."""

    def __init__(self, identity, objects, watch):
        self.hash, self.watch, self.seen, self.held = hashlib.sha256(), watch, {}, []
        self.handed = set()  # modules that were handed on
        self.inside = set()  # functions on the way to what is looked at
        self.identity, self.objects = identity, objects
        self.home = {package(module) for module in _modules(objects)} - {
            "polhode",
            *sys.stdlib_module_names,
        }
        self.obstacle = self.opaque = None
        self.lasting = True  # whether what was read tells when the result is out of date
        # whether it is the package's own code, or numba's, that refers to what is looked at
        self.trusted = True
        self.text(sys.version_info[:3])

    def result(self):
        for obj in self.objects:
            try:
                self.add(obj)
            except RecursionError:
                self.unnamed("what it reaches", obj)
        return Reach(self.hash.hexdigest()[:32], self.obstacle, self.opaque)

    def text(self, *parts):
        for part in parts:
            self.hash.update(repr(part).encode("utf-8", "backslashreplace") + b"\0")

    def refuse(self, why):
        """Note a reason not to compile."""
        if not self.trusted:
            self.obstacle = self.obstacle or why

    def may_change(self, where, obj):
        """Note something whose contents may change where nobody sees it."""
        self.lasting = False
        self.refuse(
            f"it uses {where!r}, a {type(obj).__name__} that may change; numbers and arrays can be passed as params"
        )

    def unnamed(self, where, obj):
        """Note something that has no name: machine code knows it by its address."""
        self.lasting = False
        self.opaque = self.opaque or f"{where!r}, a {type(obj).__name__}"
        self.text(
            "unknown", type(obj).__module__, type(obj).__qualname__, 0 if self.identity else id(obj)
        )
        self.refuse(f"it uses {where!r}, a {type(obj).__name__} that may change")

    def add(self, obj, where=""):
        """Anything at all; `where` it was found."""
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
        elif kind.__module__ == "numpy" and hasattr(
            obj, "tobytes"
        ):  # an array or a number of numpy's
            self.add_array(obj, where)
        elif obj is sys.modules or len(self.seen) > MOST:
            self.unnamed(where, obj)
        elif id(obj) in self.seen:
            self.text("again", self.seen[id(obj)])
            # numba compiles it where it knows the types, and not always well
            if id(obj) in self.inside:
                self.refuse("it calls itself")
        else:
            self.seen[id(obj)] = len(self.seen)
            self.held.append(obj)
            self.add_object(obj, where)

    def all(self, items, where):
        for item in items:
            self.add(item, where)

    def add_object(self, obj, where):
        """Something that has an identity."""
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
        elif isinstance(obj, MethodType):
            self.text("method")
            self.all((obj.__func__, obj.__self__), where)
        elif isinstance(obj, functools.partial):
            self.text("partial")
            self.all((obj.func, obj.args, *sorted(obj.keywords.items())), where)
        elif isinstance(obj, (staticmethod, classmethod)):
            self.text(type(obj).__name__)
            self.add(obj.__func__, where)
        elif isinstance(obj, property):
            self.text("property")
            self.all((obj.fget, obj.fset, obj.fdel), where)
        elif isinstance(obj, Enum):
            self.text("member", obj.name)
            self.all((type(obj), obj.value), where)
        elif package(type(obj).__module__) == "numba":
            self.add_of_numba(obj, where)
        elif (
            type(obj).__name__ in ("ufunc", "_ArrayFunctionDispatcher")
            and type(obj).__module__ == "numpy"
        ):
            self.add_of_numpy(obj, where)
        elif isinstance(obj, ctypes._CFuncPtr) and not self.identity:
            self.text(
                "C", ctypes.cast(obj, ctypes.c_void_p).value, str(obj.argtypes), str(obj.restype)
            )
        else:
            self.add_state(obj, where)

    # --- functions --------------------------------------------------------------------------------

    def elsewhere(self, module):
        """Whether what belongs to a module is known by its name: numba knows it or, in an identity,
        it is not the user's."""
        top = package(module)
        return top in KNOWN or (
            self.identity and top not in self.home and (top == "polhode" or installed(top))
        )

    def add_function(self, obj, function):
        self.text("function", function.__module__, function.__qualname__)
        marked = hasattr(function, "__jit__")
        if self.elsewhere(home(function)) and not marked:
            self.text(version(home(function)))
            if not known_to_numba(home(function)):
                self.hash.update(code_text(function.__code__))
            return
        if hasattr(function, "__machine__"):  # its Python is for Python alone
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
        keywords = sorted((function.__kwdefaults__ or {}).items())
        names = function.__code__.co_varnames
        for name, value in [
            *zip(
                reversed(names[: function.__code__.co_argcount]),
                reversed(function.__defaults__ or ()),
                strict=False,
            ),
            *keywords,
        ]:
            self.text(name)
            self.add(value, name)
        self.text("reads")
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for path in sorted(found.paths):
            self.add_path(path, function.__globals__, cells, found.words)
        for name in cells:  # those handed on to functions inside
            self.add(contents(cells[name]), name)
            self.watch.cells.append((cells[name], contents(cells[name])))
        for level, name in () if self.trusted else found.imports:
            self.add_import(level, name, function.__globals__, found.words)
        # attributes matter to those who read them, and these have been looked at
        self.trusted = True
        self.text("attributes")
        for name, value in sorted(function.__dict__.items()):
            self.text(name)
            self.add(value, name)
        self.trusted = outer
        self.inside.discard(id(obj))

    def add_flags(self, dispatcher):
        """The options of numba's under which a user's own dispatcher is compiled."""
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

    def add_path(self, path, scope, cells, words):
        """A dotted name: every part that is looked up in a scope, a module or a function."""
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
                # a module that makes its attributes when they are asked for
                self.unnamed(where, value)
            value, where = self.look_up(vars(value), attribute), f"{where}.{attribute}"
            self.text(attribute)
            if not library or isinstance(value, (ModuleType, FunctionType, type, *_NAMED, *PLAIN)):
                self.add(value, where)
            elif type(value).__name__ == "_ObjModeContextType":
                self.refuse("it leaves machine code for a while (objmode)")
        if isinstance(value, ModuleType):
            self.hand_on(value, where, words)

    def hand_on(self, module, where, words):
        """A module that gets another name, or goes to another function: any attribute that the code
        speaks of may be read."""
        if not known_to_numba(module.__name__):
            self.refuse(f"it hands on the module {where!r}")
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

    def add_import(self, level, name, scope, words):
        """A module that is imported where the function runs; `import a.b` gives a."""
        try:
            module = importlib.import_module(
                "." * level + name, scope.get("__package__") if level else None
            )
        except Exception:  # the function will say so itself
            return self.text("no module", level, name)
        for one in (module, sys.modules[package(module.__name__)]):
            self.add(one, name)
            self.hand_on(one, one.__name__, words)

    def look_up(self, scope, name):
        value = scope.get(name, MISSING)
        self.watch.items.append((scope, name, value))
        return value

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
            inner = Walk(self.identity, (item,), self.watch)
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


def _modules(objects):
    """The modules of functions, of what partials call, or of the classes of objects."""
    for obj in objects:
        if isinstance(obj, (tuple, functools.partial)):
            yield from _modules(obj if isinstance(obj, tuple) else (obj.func,))
        else:
            function = python_function(getattr(obj, "__func__", obj))
            yield home(function) if function else type(obj).__module__


def _changing(module):
    return any(
        (module or "").startswith(name) and (module + ".").startswith(name + ".")
        for name in CHANGING
    )
