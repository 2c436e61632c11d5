"""How plain Python functions become machine code: the only numba flags in the project.

A function marked `@jit` stays an ordinary Python function: it can be called, traced, covered and
read as it is, and numba is not imported for it.  `bind(loop, step=..., torque=...)` then makes
machine code: it copies the loop, gives the copy the functions it is to use under those names, and
compiles the copy together with everything it can reach through its globals and closures.  Nothing
is passed to the loop as a function argument, so the result can be kept on disk; see cache.py.

The name under which it is kept is a digest of *all* the code and constants that went into it.
Editing any function that a loop uses, in whatever file, therefore gives another name: stale machine
code cannot be served, and a second process that runs the same method and torque compiles nothing.
(numba's own cache looks at the loop's file alone.)
"""

import importlib
import inspect
import os
import re
import threading
import warnings
from collections import Counter
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import NamedTuple
from weakref import WeakKeyDictionary

from polhode.core import cache as disk
from polhode.core import notice
from polhode.core.digest import digest
from polhode.core.reads import code_text, is_lasting, ours
from polhode.core.rebind import Interpreted, Rebinder
from polhode.errors import PolhodeError

# inline: one flat function per loop, without which LLVM does not vectorise tuple code over the
# lanes of a tile.  numpy error model: a division by zero gives inf, as on a GPU, instead of a
# branch.  fastmath stays off: bits stay equal.  no wrappers: what is inlined is never called from
# Python or C, and wrappers cost a quarter of the compile time.
INLINE = {
    "forceinline": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
PLAIN = {"error_model": "numpy", "no_cfunc_wrapper": True}
# a user's function raises where Python would
USERS = {"error_model": "python", "boundscheck": True, "no_cpython_wrapper": True}
THREADED = {**PLAIN, "nogil": True}  # loops that several Python threads run at once

BOUND_LIMIT = 256  # loops kept in the process; the least recently used go first


def jit(function):
    """Mark a function of floats and tuples as part of a kernel: inlined wherever a bound loop uses
    it."""
    function.__jit__ = True
    return function


def with_numba(module):
    """A module of the core that imports numba when it is imported itself: not before something is
    compiled."""
    return importlib.import_module(f"polhode.core.{module}")


def machine(instruction):
    """Mark a function that processors have an instruction for: machine code gets what
    `instruction()` makes instead."""

    def mark(function):
        function.__machine__ = instruction
        return jit(function)

    return mark


def _njit(function):
    import numba

    if hasattr(function, "__machine__") and compiling():
        return function.__machine__()
    pipelines = with_numba("pipelines")
    # of a user's own dispatcher, whose machine code may have been made in another world
    if hasattr(function, "__options__"):
        return numba.jit(**function.__options__.given, pipeline_class=pipelines.UsersCompiler)(
            function
        )
    flags = INLINE if hasattr(function, "__jit__") else PLAIN if ours(function) else USERS
    pipeline = pipelines.KernelCompiler if ours(function) else pipelines.UsersCompiler
    dispatcher = numba.njit(function, **flags, pipeline_class=pipeline)
    if not (ours(function) and is_lasting(function) and compiling()):
        return dispatcher
    return with_numba("code_memory").common(dispatcher)


class Build(NamedTuple):
    """How `bind` makes copies: by which kind of Rebinder, with what in place of what, and how it
    compiles the loop itself."""

    rebinder: type = Rebinder
    replace: tuple = ()  # pairs (function, what stands in for it)
    threaded: bool = False
    packed: bool = False  # a loop over lanes, see packed.py

    def make(self):
        """A Rebinder that compiles; builds that differ share no machine code."""
        shared, recent = _machine_code.setdefault(self[:2], (WeakKeyDictionary(), {}))
        rebind = self.rebinder(_njit, shared=shared, recent=recent)
        for function, stand_in in self.replace:  # in turn: one may use another
            rebind.shared[function] = rebind(stand_in)
        return rebind

    def bound(self, loop, names):
        """The loop with these names as a numba dispatcher."""
        import numba

        flags = THREADED if self.threaded else PLAIN
        if self.packed:
            flags = {**flags, "pipeline_class": with_numba("packed").PackedCompiler}
        elif ours(loop):
            flags = {**flags, "pipeline_class": with_numba("pipelines").KernelCompiler}
        rebind = self.make()
        dispatcher = numba.njit(rebind.copy(loop, **names), **flags)
        if not compiling():
            return dispatcher
        return with_numba("code_memory").apart(
            dispatcher, rebind.shared, lambda: self.make().copy(loop, **names).__globals__
        )

    def digested(self):
        """What a digest needs to know."""
        files = [inspect.getfile(self.rebinder)] * (self.rebinder is not Rebinder)
        files += [Path(__file__).with_name("packed.py")] * self.packed
        sources = [Path(file).read_bytes() for file in files]
        return (
            self.rebinder.__qualname__,
            *sources,
            *(item for pair in self.replace for item in pair),
            self.threaded,
        )


# by build: what a Rebinder shares, as long as the function lives, and the last few it made for one
# torque
_machine_code = {}


def compiling():
    """Whether numba compiles: NUMBA_DISABLE_JIT=1 tells it not to, and all loops run as the Python
    they are written in."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def compiled(function):
    """The function itself as a numba dispatcher, for tests and for use outside a loop."""
    import numba

    return numba.njit(Build().make().copy(function), **PLAIN)


def interpreted(function, **names):
    """The function as plain Python, with the given functions under the given names."""
    return Interpreted().copy(function, **names)


# --- bound loops ----------------------------------------------------------------------------------

_alone = WeakKeyDictionary()  # loops of the package that are given no functions
# loops by digest; how often those that were dropped were made
_bound, _binding, _dropped = {}, threading.Lock(), Counter()


def compile_now(loop, *arguments):
    """Call a bound loop so that it is compiled, or loaded; hints about a user's array code are not
    for this audience."""
    from numba.core.errors import NumbaPerformanceWarning

    with notice.compiling(getattr(loop, "subject", "")), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaPerformanceWarning)
        return loop(*arguments)


def direct(loop, *arguments):
    """A bound loop for arguments of these kinds, compiled or loaded now, that is called without
    numba's look at their kinds.

    That look takes almost a third of a call, as much as several steps.  The caller answers for
    floats in contiguous arrays.
    """
    if not loop.signatures:
        compile_now(loop, *arguments)
    (machine,) = loop.overloads.values()
    return machine.entry_point


@cache
def _versions():
    """What else decides on machine code."""
    import llvmlite
    import numba

    makers = [one for one in (*vars(Rebinder).values(), _njit) if isinstance(one, FunctionType)]
    return (
        numba.__version__,
        llvmlite.__version__,
        repr((INLINE, PLAIN, USERS)),
        Path(__file__).with_name("pipelines.py").read_bytes(),
        *(code_text(one.__code__) for one in makers),
    )


def bind(loop, build=None, **names):
    """Machine code of `loop` with the given functions under the given names; the same code is made,
    or loaded, once.

    The last BOUND_LIMIT loops are kept; one that was dropped is loaded from the disk when it is
    wanted again.
    """
    # nothing but the package's code
    alone = build is None and not names and ours(loop) and is_lasting(loop) and compiling()
    if alone and loop in _alone:
        return _alone[loop]
    parts = (
        loop,
        *(build.digested() if build else ()),
        *(item for pair in sorted(names.items()) for item in pair),
    )
    name = digest(_versions(), *parts)
    with _binding:
        if name in _bound:
            _bound[name] = _bound.pop(name)  # the latest is last
            return _bound[name]
    machine = (build or Build()).bound(loop, names)
    if hasattr(machine, "py_func"):  # else numba has been told not to compile: the loop is Python
        disk.attach(machine, name)
    with _binding:
        while len(_bound) >= BOUND_LIMIT:
            _count(_bound.pop(next(iter(_bound))), _dropped)
        machine = _bound.setdefault(name, machine)
        if alone:
            _alone[loop] = machine
        return machine


def _count(machine, counts):
    """Add to the counts how often a bound loop was loaded and compiled."""
    if hasattr(machine, "stats"):
        counts["loaded"] += sum(machine.stats.cache_hits.values())
        counts["compiled"] += sum(machine.stats.cache_misses.values())


def cache_statistics():
    """How many bound loops were loaded from disk and how many were compiled in this process."""
    counts = Counter(_dropped)
    for machine in list(_bound.values()):
        _count(machine, counts)
    return {
        "loaded": counts["loaded"],
        "compiled": counts["compiled"],
        "folder": str(disk.cache_directory()),
    }


# --- what cannot be compiled ----------------------------------------------------------------------

# what numba raises, besides errors of its own, where it meets code that it does not expect
AT_A_LOSS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    RuntimeError,
    SyntaxError,
    SystemError,
    TypeError,
    ValueError,
)


def compile_obstacle(attempt):
    """Why numba cannot compile what `attempt()` calls, in a line of its own; None when it can."""
    from numba.core import errors

    of_numba = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    try:
        compile_now(attempt)
    except PolhodeError:
        raise
    except (*of_numba, *AT_A_LOSS) as error:
        text = re.sub("\x1b\\[[0-9;]*m", "", str(error))  # numba writes in colours
        lines = [
            line.strip()
            for line in text.splitlines()
            if line.strip() and not line.startswith("Failed in")
        ]
        return (lines[0] if lines else type(error).__name__)[:200]
    return None


def compiles(attempt):
    """Whether numba can compile what `attempt()` calls."""
    return compile_obstacle(attempt) is None
