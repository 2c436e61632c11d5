"""How plain Python functions become machine code: the only numba flags in the project, and the compile cache.

A function marked `@jit` stays an ordinary Python function: it can be called, traced, covered and read as it is, and numba is
not imported for it.  `bind(loop, step=..., torque=...)` then makes machine code: it copies the loop, gives the copy the
functions it is to use under those names, and compiles the copy together with everything it can reach through its globals and
closures.  Nothing is passed to the loop as a function argument, so numba can keep the result on disk.

The name under which it is kept is a digest of *all* the code and constants that went into it.  Editing any function that a
loop uses, in whatever file, therefore gives another name: stale machine code cannot be served, and a second process that
runs the same method and torque compiles nothing.  (numba's own cache looks at the loop's file alone.)
"""

import dis
import hashlib
import inspect
import os
import re
import sys
import warnings
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import NamedTuple

# inline: one flat function per loop, without which LLVM does not vectorise tuple code over the lanes of a tile.
# numpy error model: a division by zero gives inf, as on a GPU, instead of a branch.  fastmath stays off: bits stay equal.
# no wrappers: what is inlined is never called from Python or C, and wrappers cost a quarter of the compile time.
INLINE = {"forceinline": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
PLAIN = {"error_model": "numpy", "no_cfunc_wrapper": True}
USERS = {"error_model": "python", "boundscheck": True}   # a user's function raises where Python would
THREADED = {**PLAIN, "nogil": True}   # loops that several Python threads run at once

CACHE_LIMIT = 4000   # files kept on disk; the least recently written go first


def jit(function):
    """Mark a function of floats and tuples as part of a kernel: inlined wherever a bound loop uses it."""
    function.__jit__ = True
    return function


def machine(instruction):
    """Mark a function that processors have an instruction for: machine code gets what `instruction()` makes instead."""
    def mark(function):
        function.__machine__ = instruction
        return jit(function)

    return mark


# --- what a function can see ------------------------------------------------------------------------------------------

@cache
def _names(code):
    """The global names a code object loads, nested functions and comprehensions included."""
    names = [step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names += _names(constant)
    return tuple(dict.fromkeys(names))


def visible(function):
    """What a function can reach: its globals by name, and the contents of its closure."""
    names = {name: function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return names, cells


def _python(obj):
    """The Python function behind a function or a numba dispatcher; None for anything else."""
    function = getattr(obj, "py_func", obj)
    return function if isinstance(function, FunctionType) else None


def _ours(function):
    return (function.__module__ or "").startswith("polhode.")   # what `exec` defines may have no module


def _known_to_numba(function):
    return (getattr(function, "__module__", None) or "").split(".")[0] in ("numpy", "math", "cmath", "builtins", "numba")


@cache
def _code_text(code):
    """What a code object does, without where it stands."""
    parts = [code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_argcount]
    parts += [_code_text(item) if isinstance(item, CodeType) else item for item in code.co_consts]
    return repr(parts).encode()


class _Digest:
    """Feeds everything that code depends on into one hash."""

    def __init__(self, addresses=True):
        self.hash, self.addresses = hashlib.sha256(), addresses
        self.seen = set()

    def text(self, *parts):
        for part in parts:
            self.hash.update(repr(part).encode())

    def add(self, obj):
        function = _python(obj)
        if function is not None:
            self.text(function.__module__, function.__qualname__, hasattr(function, "__jit__"))
            if id(function) in self.seen or _known_to_numba(function):
                return
            self.seen.add(id(function))
            if hasattr(function, "__machine__"):   # its Python is for Python alone
                return self.add(function.__machine__.__wrapped__)
            self.hash.update(_code_text(function.__code__))
            names, cells = visible(function)
            for name in sorted(names):
                self.text(name)
                self.add(names[name])
            for content in cells:
                self.add(content)
        elif isinstance(obj, ModuleType):
            self.text(obj.__name__, getattr(obj, "__version__", None))
        elif isinstance(obj, type):
            self.text(obj.__module__, obj.__qualname__, getattr(obj, "_fields", None))
        elif isinstance(obj, tuple):
            self.text(type(obj).__qualname__, len(obj))
            for item in obj:
                self.add(item)
        elif isinstance(obj, BuiltinFunctionType):
            self.text(obj.__module__, obj.__name__)
        elif hasattr(obj, "tobytes"):
            self.text(obj.shape, str(obj.dtype), obj.tobytes())
        else:
            self.text(repr(obj) if self.addresses else re.sub(r" at 0x[0-9a-fA-F]+", "", repr(obj)))


def digest(*objects, addresses=True):
    """A name for everything the objects' code depends on: bytecode, constants, and all they reach.

    Machine code may hold the addresses of what it reaches; without them the name is the same in every process.
    """
    import llvmlite
    import numba

    one = _Digest(addresses)
    one.text(sys.version_info[:2], numba.__version__, llvmlite.__version__, INLINE, PLAIN, USERS)
    for obj in objects:
        one.add(obj)
    return one.hash.hexdigest()[:32]


# --- copies of functions with other functions inside ------------------------------------------------------------------

class Rebinder:
    """Copies functions so that they see other functions: `make` turns each copy into what callers are to see.

    `replace` maps functions to what stands in for them.  With numba's njit for `make` the copies are machine code; with the
    identity and a `replace` that maps `sincos` to mpmath's, they are the same methods in fifty digits.  Copies of the
    package's own functions are also looked up, and left, in `shared`; a user's function is copied anew each time, since what
    it refers to may have changed.
    """

    def __init__(self, make, replace=(), shared=None):
        self.make = make
        self.done = dict(replace)
        self.shared = {} if shared is None else shared

    def __call__(self, obj):
        function = _python(obj)
        if function is not None:
            done = self.shared if _ours(function) else self.done
            for known in (self.done, done):
                if function in known:
                    return known[function]
            if _known_to_numba(function):
                return obj
            if obj is not function and not hasattr(function, "__jit__"):
                return obj   # the user's own dispatcher, with the user's own flags
            done[function] = self.make(self.copy(function))
            return done[function]
        if isinstance(obj, tuple) and obj and not isinstance(obj, type):
            items = [self(item) for item in obj]
            return type(obj)(*items) if hasattr(obj, "_fields") else tuple(items)
        return obj

    def copy(self, function, **names):
        seen, cells = visible(function)
        scope = {name: self(names.get(name, value)) for name, value in seen.items()}
        scope.update({name: self(value) for name, value in names.items() if name not in scope})
        home = function.__module__ if function.__module__ in sys.modules else "builtins"   # numba imports it when it loads
        scope["__builtins__"] = __builtins__
        scope["__name__"] = home
        closure = tuple(CellType(self(content)) for content in cells) or None
        clone = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, closure)
        clone.__qualname__ = function.__qualname__
        clone.__module__ = home
        clone.__dict__.update(function.__dict__)   # its marks
        return clone


def _njit(function):
    import numba

    if hasattr(function, "__machine__") and compiling():
        return function.__machine__()
    return numba.njit(function, **(INLINE if hasattr(function, "__jit__") else PLAIN if _ours(function) else USERS))


class Build(NamedTuple):
    """How `bind` makes copies: by which kind of Rebinder, with what in place of what, and how it compiles the loop itself."""

    rebinder: type = Rebinder
    replace: tuple = ()   # pairs (function, what stands in for it)
    threaded: bool = False
    packed: bool = False   # a loop over lanes, see packed.py

    def make(self):
        """A Rebinder that compiles; builds that differ share no machine code."""
        rebind = self.rebinder(_njit, shared=_machine_code.setdefault(self[:2], {}))
        for function, stand_in in self.replace:   # in turn: one may use another
            rebind.done[function] = rebind(stand_in)
        return rebind

    def compile(self, loop):
        """The loop as a numba dispatcher."""
        import numba

        flags = THREADED if self.threaded else PLAIN
        if self.packed:
            from polhode.core.packed import PackedCompiler

            flags = {**flags, "pipeline_class": PackedCompiler}
        return numba.njit(loop, **flags)

    def digested(self):
        """What a digest needs to know."""
        files = [inspect.getfile(self.rebinder)] + [str(Path(__file__).with_name("packed.py"))] * self.packed
        sources = [Path(file).read_bytes() for file in files if file != __file__]
        return (self.rebinder.__qualname__, *sources, *(item for pair in self.replace for item in pair), self.threaded)


_machine_code = {}   # by build, of the package's functions: what loops share is compiled once in a process


def compiling():
    """Whether numba compiles: NUMBA_DISABLE_JIT=1 tells it not to, and all loops run as the Python they are written in."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def compiled(function):
    """The function itself as a numba dispatcher, for tests and for use outside a loop."""
    import numba

    return numba.njit(Build().make().copy(function), **PLAIN)


def interpreted(function, **names):
    """The function as plain Python, with the given functions under the given names."""
    return Rebinder(lambda copy: copy).copy(function, **names)


# --- the cache --------------------------------------------------------------------------------------------------------

def cache_directory():
    """Where machine code is kept: $POLHODE_CACHE_DIR, else the user's cache folder."""
    chosen = os.environ.get("POLHODE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "polhode"


def _prune(folder):
    files = sorted(folder.glob("*.nb?"), key=lambda path: path.stat().st_mtime)
    for path in files[:max(0, len(files) - CACHE_LIMIT)]:
        path.unlink(missing_ok=True)


def _use_disk(dispatcher, name):
    """Let the dispatcher keep its machine code on disk under a digest; without a writable folder it just compiles."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

    folder = cache_directory()

    class Locator(_CacheLocator):
        def get_cache_path(self):
            return str(folder)

        def get_source_stamp(self):
            return name

        def get_disambiguator(self):
            return name

        @classmethod
        def from_function(cls, py_func, py_file):
            return cls()

    class Impl(CompileResultCacheImpl):
        _locator_classes = (Locator,)

    class Cache(FunctionCache):
        _impl_class = Impl

    try:
        folder.mkdir(parents=True, exist_ok=True)
        _prune(folder)
        dispatcher._cache = Cache(dispatcher.py_func)
    except (OSError, RuntimeError):
        pass


_bound = {}


def compile_now(loop, *arguments):
    """Call a bound loop so that it is compiled, or loaded; hints about a user's array code are not for this audience."""
    from numba.core.errors import NumbaPerformanceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaPerformanceWarning)
        return loop(*arguments)


def direct(loop, *arguments):
    """A bound loop for arguments of these kinds, compiled or loaded now, that is called without numba's look at their kinds.

    That look takes almost a third of a call, as much as several steps.  The caller answers for floats in contiguous arrays.
    """
    if not loop.signatures:
        compile_now(loop, *arguments)
    (machine,) = loop.overloads.values()
    return machine.entry_point


def bind(loop, build=None, **names):
    """Machine code of `loop` with the given functions under the given names; the same code is made, or loaded, once."""
    name = digest(loop, *(build.digested() if build else ()), *(item for pair in sorted(names.items()) for item in pair))
    if name not in _bound:
        build = build or Build()
        dispatcher = build.compile(build.make().copy(loop, **names))
        if hasattr(dispatcher, "py_func"):   # else numba has been told not to compile: the loop is Python
            _use_disk(dispatcher, name)
        _bound[name] = dispatcher
    return _bound[name]


def cache_statistics():
    """How many bound loops were loaded from disk and how many were compiled in this process."""
    machines = [loop for loop in _bound.values() if hasattr(loop, "stats")]
    hits = sum(sum(loop.stats.cache_hits.values()) for loop in machines)
    misses = sum(sum(loop.stats.cache_misses.values()) for loop in machines)
    return {"loaded": hits, "compiled": misses, "folder": str(cache_directory())}
