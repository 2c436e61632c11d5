"""The walk over everything that can be reached from a function; see `digest`."""

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
MOST = 20_000  # objects that are looked at: beyond that a function reaches everything there is


class Reach(NamedTuple):
    """What a walk found."""

    digest: str
    obstacle: str | None
    opaque: str | None


class Walk(ObjectWalk):
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
                self.refuse("it contains a block in object mode (objmode)")
        if isinstance(value, ModuleType):
            self.hand_on(value, where, words)

    def hand_on(self, module, where, words):
        """A module that gets another name, or goes to another function: any attribute that the code
        speaks of may be read."""
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


def _modules(objects):
    """The modules of functions, of what partials call, or of the classes of objects."""
    for obj in objects:
        if isinstance(obj, (tuple, functools.partial)):
            yield from _modules(obj if isinstance(obj, tuple) else (obj.func,))
        else:
            function = python_function(getattr(obj, "__func__", obj))
            yield home(function) if function else type(obj).__module__
