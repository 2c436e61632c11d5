"""How the memory of machine code is released.  Importing this module imports numba.

numba keeps everything it compiles in one LLVM engine until the process ends: machine code, and the
intermediate code of every function in it.  Here each bound loop is compiled in an engine of its own.
Then only the object code is moved to a second engine, which lives as long as the loop, and the first
is dropped with everything that was needed to compile it.  Functions of the package that take only
numbers are compiled once, in numba's engine, and shared by the loops.

A function object of numba's holds its library, and the library its engine: code that can still be
called is never dropped.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from llvmlite.binding import Linkage, ffi, llvm_version_info, newpassmanagers, set_option
from numba.core import sigutils, types
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime.context import NRTContext

from polhode.core.pipelines import has_functions
from polhode.core.reads import is_lasting

for manager in (newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager):
    # llvmlite 0.50 never frees them: 30 kB for each function it optimises
    if manager._dispose is ffi.ObjectRef._dispose:
        manager._dispose = newpassmanagers.NewPassManager._dispose

# in the versions known to have it: LLVM ends the process if an option is unknown
if llvm_version_info[0] <= 22:
    # Attributes of the arguments of inlined functions are not converted to metadata, which would
    # stay in LLVM's context until the process ends: 70 kB for each loop.  numba has such attributes
    # only for pointers to results, which inlining removes.
    set_option("polhode", "-enable-noalias-to-md-conversion=false")

BARE = {"__builtins__", "__name__"}  # globals that every function has

_context, _typing = cpu_target.target_context, cpu_target.typing_context
_references: Any = NRTContext


class _Library(JITCodeLibrary):
    """The code of one function: a part of loops, and machine code by itself only if its address is
    needed.

    numba optimises and compiles each function with all that it calls before it is inlined into the
    next one.  Here that is done once, for the whole loop.
    """

    _emitted = False
    _own_module: Any = None

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def _own(self) -> Any:
        """A copy of what was added, whose functions are dropped if all their calls are inlined."""
        if self._own_module is None:
            self._own_module = self._final_module.clone()
            for function in self._own_module.functions:
                if not function.is_declaration and function.linkage == Linkage.external:
                    function.linkage = "linkonce_odr"
        return self._own_module

    def _below(self, found: dict[Any, None]) -> dict[Any, None]:
        """Add the libraries that this one needs to {library: None}, each after those that it
        needs."""
        for library in dict.fromkeys(self._linking_libraries):
            if library not in found:
                if isinstance(library, _Library):
                    library._below(found)
                found[library] = None
        return found

    def _link(self, module: Any) -> None:
        # callers first: LLVM links from a module only what has been called so far
        for library in reversed(self._below({})):
            if hasattr(self, "_reload_init"):  # from numba 0.62 on
                self._reload_init.update(library._reload_init)
            inside = isinstance(library, _Library)
            part = library._own() if inside else library._get_module_for_linking()
            module.link_in(part, preserve=True)

    def _get_module_for_linking(self) -> Any:
        """For libraries of numba's, which link only what they call."""
        if self._emitted:
            return super()._get_module_for_linking()
        if self._shared_module is None:
            module = self._own().clone()
            self._link(module)
            self._shared_module = module
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if not self._emitted:
            if all(one.name != name or one.is_declaration for one in self._final_module.functions):
                return 0
            self._emit()
        return super().get_pointer_to_function(name)

    def _emit(self) -> None:
        self._codegen._check_llvm_bugs()
        self._own()
        self._link(self._final_module)
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()

    def _finalize_final_module(self) -> None:
        self._emitted = True
        super()._finalize_final_module()

    @property
    def symbols(self) -> list[str]:
        """The external names to which the machine code refers."""
        module = self._final_module
        return [
            one.name
            for one in (*module.functions, *module.global_variables)
            if one.is_declaration and not one.name.startswith("llvm.")
        ]


class _Engine(JITCPUCodegen):
    """An LLVM engine with its machine code."""

    _library_class = _Library

    def set_env(self, env_name: str, env: Any) -> None:
        if self._engine.get_global_value_address(env_name):  # else it is not machine code yet
            super().set_env(env_name, env)


_shared = _Engine("shared")


@contextmanager
def _engine(codegen: _Engine) -> Iterator[None]:
    """A context that compiles into this engine."""
    with global_compiler_lock:
        before, _context._internal_codegen = _context._internal_codegen, codegen
        collecting = gc.isenabled()
        gc.disable()  # the compiler makes many objects, and few cycles
        try:
            with _shortcuts():
                yield
        finally:
            _context._internal_codegen = before
            if collecting:
                gc.enable()


@contextmanager
def _shortcuts() -> Iterator[None]:
    """A context in which numba leaves out what is not needed; the outermost one counts."""
    if _references._call_incref_decref is _counted:
        yield
        return
    for name in WRAPPERS:
        setattr(_context, name, partial(_wrapped, getattr(type(_context), name)))
    _typing.resolve_function_type = _resolved
    _references._call_incref_decref = _counted
    try:
        yield
    finally:
        _references._call_incref_decref = _count
        del _typing.resolve_function_type
        for name in WRAPPERS:
            delattr(_context, name)


WRAPPERS = "create_cpython_wrapper", "create_cfunc_wrapper"


def _wrapped(
    make: Callable[..., None], library: Any, fndesc: Any, *arguments: Any, **options: Any
) -> None:
    """Make the entry points of a function for Python and C, except for functions that numba defines
    for compiled code."""
    if not (fndesc.modname.startswith("numba.") and "<locals>" in fndesc.qualname):
        make(_context, library, fndesc, *arguments, **options)


_count = _references._call_incref_decref


def _counted(self: Any, builder: Any, kind: Any, value: Any, function: str) -> None:
    """Count a reference to the arrays in a value.  For each variable numba takes apart tuples of
    numbers too, in a third of all its instructions, and finds nothing to count."""
    if self._context.data_model_manager[kind].contains_nrt_meminfo():
        _count(self, builder, kind, value, function)


NUMBERS = {types.Float, types.Integer, types.Boolean}
_signatures: dict[Any, Any] = {}  # of functions of numbers: (function, kinds) -> signature


def _resolved(function: Any, kinds: Any, keywords: Any) -> Any:
    """The signature of a call.  numba searches all its definitions of a product whenever it meets
    one; here it does so once for numbers of each type."""
    resolve = type(_typing).resolve_function_type
    if keywords or type(function) is not types.Function or not NUMBERS.issuperset(map(type, kinds)):
        return resolve(_typing, function, kinds, keywords)
    key = function, tuple(kinds)
    if key not in _signatures:
        found = resolve(_typing, function, kinds, keywords)
        if found is None:
            return None
        _signatures[key] = found
    return _signatures[key]


def _lasting(kind: Any) -> bool:
    """Whether arguments of this type may occur again: not functions, nor the named tuples of one
    torque."""
    if isinstance(kind, types.BaseTuple):
        parts = kind.types  # type: ignore[attr-defined]
        return is_lasting(getattr(kind, "instance_class", tuple)) and all(map(_lasting, parts))
    return not isinstance(kind, types.Dispatcher)


def share_code(dispatcher: Any) -> Any:
    """The dispatcher of a function that loops share: its code for arguments that may occur again
    stays in numba's engine."""
    compile = dispatcher.compile

    def compile_for_all(signature: Any) -> Any:
        kinds, _ = sigutils.normalize_signature(signature)
        if not all(map(_lasting, kinds)):
            return compile(signature)
        with _engine(_shared):
            return compile(signature)

    dispatcher.compile = compile_for_all
    return dispatcher


def _keep(dispatcher: Any, results: Iterable[Any]) -> None:
    """Let the dispatcher have only these compile results."""
    dispatcher._make_finalizer()()  # as numba's `recompile` does
    dispatcher._reset_overloads()
    for one in results:
        _context.insert_user_function(one.entry_point, one.fndesc, [one.library])
        dispatcher.add_overload(one)


def _forget_passing(shared: dict[Any, Any]) -> None:
    """Drop what was made for arguments that do not occur again, in {function: dispatcher} and among
    numba's data models."""
    models = _context.data_model_manager._cache  # weak, but a model holds its own key
    for kind in list(models):
        if not _lasting(kind):
            models.pop(kind, None)
    for function, dispatcher in list(shared.items()):
        # other functions do not live long
        passing = (lambda kind: not _lasting(kind)) if is_lasting(function) else has_functions
        overloads = getattr(dispatcher, "overloads", {})
        kept = [one for kinds, one in overloads.items() if not any(map(passing, kinds))]
        if len(kept) < len(overloads):
            _keep(dispatcher, kept)


def compile_separately(
    dispatcher: Any, shared: dict[Any, Any], scope: Callable[[], dict[str, Any]]
) -> Any:
    """The dispatcher of a loop that keeps only its machine code.

    Once compiled it drops its globals, and what was compiled for it among shared functions; `scope()`
    makes the globals again if it is called with other types of arguments.
    """
    compile, own = dispatcher.compile, dispatcher.py_func.__globals__

    def compile_apart(signature: Any) -> Any:
        kinds, _ = sigutils.normalize_signature(signature)
        with _engine(_Engine("loop")):
            own.update(scope() if len(own) == len(BARE) else ())
            entry = compile(signature)
            for name in own.keys() - BARE:
                del own[name]
            _forget_passing(shared)
            result = dispatcher.overloads[kinds]
            if result.metadata is None:  # loaded from disk: only object code
                return entry
            parts = result._reduce()
        with _engine(_Engine("loop")):
            lean = result._rebuild(_context, *parts)
            _keep(
                dispatcher,
                [one for one in dispatcher.overloads.values() if one is not result] + [lean],
            )
        return lean.entry_point

    dispatcher.compile = compile_apart
    return dispatcher
