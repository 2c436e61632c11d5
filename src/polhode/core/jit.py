"""How plain Python functions become machine code, with all numba flags of the project.

A function marked `@jit` stays an ordinary Python function: it can be called, traced and covered, and
numba is not imported for it.  `bind(loop, step=..., torque=...)` makes machine code: it copies the
loop, gives the copy the functions it uses under those names, and compiles the copy together with
everything it refers to.  No function is passed to the loop as an argument, so that the result can be
stored on disk; see cache.py.

It is stored under a digest of *all* the code and constants in it.  Editing any function that a loop
uses, in whatever file, changes the digest: machine code is never out of date, and a second process
that runs the same method and torque compiles nothing.  (numba's own cache checks only the file of the
loop.)
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import threading
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from traceback import walk_tb
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from polhode.core import cache as disk
from polhode.core import notice
from polhode.core.digest import digest
from polhode.core.reads import code_text, is_lasting, ours
from polhode.core.rebind import Interpreted, Rebinder
from polhode.errors import PolhodeError

Function = TypeVar("Function", bound=Callable[..., Any])
Loop = Callable[..., Any]

# forceinline: one function per loop, without which LLVM does not vectorise tuple code over the lanes
# of a tile.  numpy error model: a division by zero gives inf, as on a GPU, instead of a branch.
# fastmath is off, for equal bits.  no wrappers: what is inlined is never called from Python or C, and
# wrappers cost a quarter of the compile time.
INLINE = {
    "forceinline": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
PLAIN = {"error_model": "numpy", "no_cfunc_wrapper": True}
INNER = {**PLAIN, "no_cpython_wrapper": True}  # what a loop calls
# numba would inline it too where the function that calls it is inlined
APART = {**INNER, "forceinline": False}
# a user's function raises as in Python
USERS = {"error_model": "python", "boundscheck": True, "no_cpython_wrapper": True}
THREADED = {**PLAIN, "nogil": True}  # loops that several Python threads run at once

BOUND_LIMIT = 256  # loops kept in the process; the least recently used are dropped


def jit(function: Function) -> Function:
    """Mark a function of floats and tuples as part of a kernel: it is inlined into loops."""
    function.__jit__ = True  # type: ignore[attr-defined]
    return function


def apart(function: Function) -> Function:
    """Mark a large function that kernels use in many places: a loop has it once, and calls it."""
    function.__apart__ = True  # type: ignore[attr-defined]
    return function


def with_numba(module: str) -> ModuleType:
    """A module of the core that imports numba, imported when something is compiled."""
    return importlib.import_module(f"polhode.core.{module}")


def machine(instruction: Callable[[], Any]) -> Callable[[Function], Function]:
    """Mark a function for which processors have an instruction: machine code uses what
    `instruction()` makes instead."""

    def mark(function: Function) -> Function:
        function.__machine__ = instruction  # type: ignore[attr-defined]
        return jit(function)

    return mark


def _njit(function: Any) -> Any:
    import numba

    if hasattr(function, "__machine__") and compiling():
        return function.__machine__()
    pipelines = with_numba("pipelines")
    if hasattr(function, "__options__"):  # of a user's own dispatcher
        return numba.jit(**function.__options__.given, pipeline_class=pipelines.UsersCompiler)(
            function
        )
    flags: Any = APART if hasattr(function, "__apart__") else INNER if ours(function) else USERS
    flags = INLINE if hasattr(function, "__jit__") else flags
    pipeline = pipelines.KernelCompiler if ours(function) else pipelines.UsersCompiler
    dispatcher = numba.njit(function, **flags, pipeline_class=pipeline)
    if not (ours(function) and is_lasting(function) and compiling()):
        return dispatcher
    return with_numba("code_memory").share_code(dispatcher)


class Build(NamedTuple):
    """How `bind` copies functions, by which Rebinder and with which replacements, and how it compiles
    the loop itself."""

    rebinder: type[Rebinder] = Rebinder
    replace: tuple[tuple[Any, Any], ...] = ()  # pairs (function, replacement)
    threaded: bool = False
    packed: bool = False  # a loop over lanes, see packed.py

    def make(self) -> Rebinder:
        """A Rebinder that compiles; different builds share no machine code."""
        shared, recent = _machine_code.setdefault(self[:2], (WeakKeyDictionary(), {}))
        rebind = self.rebinder(_njit, shared=shared, recent=recent)
        for function, stand_in in self.replace:  # in this order: one may use another
            rebind.shared[function] = rebind(stand_in)
        return rebind

    def bound(self, loop: Loop, names: dict[str, Any]) -> Any:
        """The loop with these names as a numba dispatcher."""
        import numba

        flags: dict[str, Any] = THREADED if self.threaded else PLAIN
        if self.packed:
            flags = {**flags, "pipeline_class": with_numba("packed").PackedCompiler}
        elif ours(loop):
            flags = {**flags, "pipeline_class": with_numba("pipelines").KernelCompiler}
        rebind = self.make()
        dispatcher = numba.njit(rebind.copy(loop, **names), **flags)
        if not compiling():
            return dispatcher
        return with_numba("code_memory").compile_separately(
            dispatcher, rebind.shared, lambda: self.make().copy(loop, **names).__globals__
        )

    def digested(self) -> tuple[Any, ...]:
        """What a digest of the machine code depends on."""
        files = [Path(inspect.getfile(self.rebinder))] * (self.rebinder is not Rebinder)
        files += [Path(__file__).with_name("packed.py")] * self.packed
        sources = [file.read_bytes() for file in files]
        return (
            self.rebinder.__qualname__,
            *sources,
            *(item for pair in self.replace for item in pair),
            self.threaded,
        )


# for each build: the copies that a Rebinder shares, and the last few that it made for one torque
_machine_code: dict[tuple[Any, ...], tuple[Any, dict[Any, Any]]] = {}


def compiling() -> bool:
    """Whether numba compiles; with NUMBA_DISABLE_JIT=1 all loops run as Python."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def compiled(function: Loop) -> Any:
    """The function itself as a numba dispatcher, for use outside a loop."""
    import numba

    flags: Any = PLAIN
    return numba.njit(Build().make().copy(function), **flags)


def interpreted(function: Loop, **names: Any) -> Loop:
    """The function as plain Python, with the given functions under the given names."""
    return Interpreted().copy(function, **names)


# --- bound loops ----------------------------------------------------------------------------------

_alone: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # loops without names
_bound: dict[str, Any] = {}  # loops by digest
_binding = threading.Lock()


def compile_now(loop: Loop, *arguments: Any) -> Any:
    """Call a bound loop so that it is compiled or loaded, without numba's performance warnings."""
    from numba.core.errors import NumbaPerformanceWarning

    with notice.compiling(getattr(loop, "subject", "")), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaPerformanceWarning)
        return loop(*arguments)


def direct(loop: Any, *arguments: Any) -> Loop:
    """A bound loop for arguments of these types, compiled or loaded now, without numba's check of the
    types.

    That check takes almost a third of a call, as much as several steps.  The caller must pass floats
    and contiguous arrays.
    """
    if not loop.signatures:
        compile_now(loop, *arguments)
    (machine,) = loop.overloads.values()
    return machine.entry_point


@cache
def _versions() -> tuple[Any, ...]:
    """What else machine code depends on."""
    import llvmlite
    import numba

    makers = [one for one in (*vars(Rebinder).values(), _njit) if isinstance(one, FunctionType)]
    return (
        numba.__version__,
        llvmlite.__version__,
        repr((INLINE, APART, PLAIN, USERS)),
        Path(__file__).with_name("pipelines.py").read_bytes(),
        *(code_text(one.__code__) for one in makers),
    )


def bind(loop: Loop, build: Build | None = None, **names: Any) -> Any:
    """Machine code of `loop` with the given functions under the given names; the same code is
    compiled, or loaded, once.

    The last BOUND_LIMIT loops are kept; one that was dropped is loaded from disk again.
    """
    # only the package's code
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
    if hasattr(machine, "py_func"):  # else the JIT is disabled
        disk.attach(machine, name)
    with _binding:
        while len(_bound) >= BOUND_LIMIT:
            del _bound[next(iter(_bound))]
        machine = _bound.setdefault(name, machine)
        if alone:
            _alone[loop] = machine
        return machine


# --- what cannot be compiled ----------------------------------------------------------------------

# what numba raises, besides its own errors, for code that it does not expect
AT_A_LOSS: list[type[Exception]] = [
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError),
    *(RuntimeError, SyntaxError, SystemError, TypeError, ValueError),
]


def compile_obstacle(attempt: Callable[[], Any]) -> str | None:
    """Why numba cannot compile what `attempt()` calls, in one line; None if it can."""
    from numba.core import errors

    of_numba: list[type[Exception]] = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    try:
        with warnings.catch_warnings():  # numba warns of code that it then refuses
            warnings.simplefilter("ignore", errors.NumbaTypeSafetyWarning)
            compile_now(attempt)
    except PolhodeError:
        raise
    except tuple(of_numba + AT_A_LOSS) as error:
        if _mixed(error):
            return "it has a list of whole numbers beside one of floats: write 1.0 for 1"
        text = re.sub("\x1b\\[[0-9;]*m", "", str(error))  # numba writes in colours
        lines = [
            line.strip()
            for line in text.splitlines()
            if line.strip() and not line.startswith("Failed in")
        ]
        return (lines[0] if lines else type(error).__name__)[:200]
    return None


def _mixed(error: BaseException) -> bool:
    """Whether numba gave up at nested lists of different numbers, of which it says nothing."""
    names = {frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__)}
    return isinstance(error, AssertionError) and "list_to_list" in names


def compiles(attempt: Callable[[], Any]) -> bool:
    """Whether numba can compile what `attempt()` calls."""
    return compile_obstacle(attempt) is None
