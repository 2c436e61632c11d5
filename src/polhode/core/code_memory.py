"""How the memory of machine code is given back.  Importing this module imports numba.

numba keeps everything it compiles in one LLVM engine until the process ends: machine code, and the
intermediate code of every function that went into it.  Here each bound loop is compiled in an
engine of its own.  When that is done the object code alone goes into a second engine, which lives
as long as the loop, and the first is dropped with all that was needed to compile it.  Functions of
the package that take numbers alone are compiled once, in numba's engine: loops share them.

A function object of numba's holds its library, and the library its engine: code that can still be
called is never dropped.
"""

from contextlib import contextmanager

from llvmlite.binding import ffi, llvm_version_info, newpassmanagers, set_option
from llvmlite.binding.module import ModuleRef
from numba.core import sigutils, types
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from polhode.core.reads import is_lasting

for manager in (newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager):
    # llvmlite 0.50 never frees them: 30 kB for each function it optimises
    if manager._dispose is ffi.ObjectRef._dispose:
        manager._dispose = newpassmanagers.NewPassManager._dispose

# those that are known to have it; LLVM ends the process where an option is unknown
if llvm_version_info[0] <= 22:
    # What is said of an argument of an inlined function is not kept as metadata, which stay in
    # LLVM's context until the process ends: 70 kB for each loop.  Such an argument of numba's is a
    # place for a result, which inlining replaces by the result.
    set_option("polhode", "-enable-noalias-to-md-conversion=false")

BARE = {"__builtins__", "__name__"}  # what every function has among its globals

_context = cpu_target.target_context
_numbas = _context.codegen()


class _Definitions(ModuleRef):
    """A module of LLVM's, seen without the functions that it declares and does not define."""

    _owned = True  # by the other reference to it

    @property
    def functions(self):
        return (function for function in super().functions if not function.is_declaration)


class _Library(JITCodeLibrary):
    """Makes one pass builder for each function that it optimises.

    llvmlite 0.50 never frees the callbacks of a pass builder, 1.5 kB, and numba makes one for each
    function that is declared too, eight of nine, where there is nothing to optimise.
    """

    def _optimize_functions(self, ll_module):
        super()._optimize_functions(_Definitions(ll_module._ptr, ll_module._context))


class _Engine(JITCPUCodegen):
    """An engine of LLVM's, with its machine code."""

    _library_class = _Library


@contextmanager
def _engine(codegen):
    """What is compiled inside goes into this engine."""
    with global_compiler_lock:
        before, _context._internal_codegen = _context._internal_codegen, codegen
        try:
            yield
        finally:
            _context._internal_codegen = before


def _has_functions(kind):
    return isinstance(kind, types.Dispatcher) or (
        isinstance(kind, types.BaseTuple) and any(map(_has_functions, kind.types))
    )


def _lasting(kind):
    """Whether arguments of this kind come again and again: not functions, nor the named tuples of
    one torque."""
    if isinstance(kind, types.BaseTuple):
        return is_lasting(getattr(kind, "instance_class", tuple)) and all(map(_lasting, kind.types))
    return not isinstance(kind, types.Dispatcher)


def common(dispatcher):
    """The dispatcher of a function that loops share: what it makes for arguments that come again
    stays in numba's engine."""
    compile = dispatcher.compile

    def compile_for_all(signature):
        kinds, _ = sigutils.normalize_signature(signature)
        if not all(map(_lasting, kinds)):
            return compile(signature)
        with _engine(_numbas):
            return compile(signature)

    dispatcher.compile = compile_for_all
    return dispatcher


def _keep(dispatcher, results):
    """Let the dispatcher know these compile results and no others."""
    dispatcher._make_finalizer()()  # as numba's `recompile` does
    dispatcher._reset_overloads()
    for one in results:
        _context.insert_user_function(one.entry_point, one.fndesc, [one.library])
        dispatcher.add_overload(one)


def _forget_passing(shared):
    """Drop what was made for arguments that do not come again: in {function: dispatcher}, and among
    numba's models of data."""
    models = _context.data_model_manager._cache  # weak, but a model holds what it is found by
    for kind in list(models):
        if not _lasting(kind):
            models.pop(kind, None)
    for function, dispatcher in list(shared.items()):
        # others do not live long
        passing = (lambda kind: not _lasting(kind)) if is_lasting(function) else _has_functions
        overloads = getattr(dispatcher, "overloads", {})
        kept = [one for kinds, one in overloads.items() if not any(map(passing, kinds))]
        if len(kept) < len(overloads):
            _keep(dispatcher, kept)


def apart(dispatcher, shared, scope):
    """The dispatcher of a loop that keeps nothing but its machine code.

    Once compiled it forgets its globals and what was compiled for it among the functions it shares
    with others; `scope()` makes the globals anew, should it be called with other kinds of
    arguments.
    """
    compile, own = dispatcher.compile, dispatcher.py_func.__globals__

    def compile_apart(signature):
        kinds, _ = sigutils.normalize_signature(signature)
        with _engine(_Engine("loop")):
            own.update(scope() if len(own) == len(BARE) else ())
            entry = compile(signature)
            for name in own.keys() - BARE:
                del own[name]
            _forget_passing(shared)
            result = dispatcher.overloads[kinds]
            if result.metadata is None:  # loaded: there is no more than the object code
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
