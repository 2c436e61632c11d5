"""numba's compiler with fewer passes.  Importing this module imports numba.

Each function that numba compiles goes through some thirty passes in Python, most of them for
constructs that kernels never use.  `KernelCompiler` leaves those out.  It also leaves out the addresses
of functions, which are known by their types: machine code with an address of this process could not
be stored.  A user's function goes through all, and through one more, which replaces NumPy functions
by versions that compile faster: numba's `np.cross`, which builds messages from strings, takes a
second and a half.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import compiler, ir, lowering, typed_passes, untyped_passes
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import get_definition, guard
from numba.extending import overload
from numba.np import linalg

# numba imports SciPy's BLAS, a tenth of a second, to check that it is there; code that uses it imports
# it later
_ensure_blas, linalg.ensure_blas = linalg.ensure_blas, lambda: None
from numba.np import arraymath  # noqa: E402

linalg.ensure_blas = _ensure_blas

np = arraymath.np  # as numba sees it

# Closures, generators, `with`, literal_unroll, inlining on numba's own level, array expressions.
LEFT_OUT = (
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.DumpParforDiagnostics,
)


def has_functions(kind: Any) -> bool:
    """Whether values of a type are functions or contain some."""
    return isinstance(kind, types.Dispatcher) or (
        isinstance(kind, types.BaseTuple) and any(map(has_functions, kind.types))  # type: ignore[attr-defined]
    )


class KernelLower(lowering.Lower):
    """Lowering in which functions have no address.  A call finds its function by the type, and
    addresses given to what is not inlined would stay in the machine code."""

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        constant = isinstance(inst.value, (ir.Global, ir.FreeVar)) and has_functions(ty)
        if not constant:
            return super().lower_assign(ty, inst)
        found = self._constant(ty, inst.value.value)
        self.incref(ty, found)
        return found

    def _constant(self, kind: Any, value: Any) -> Any:
        if isinstance(kind, types.Dispatcher):
            return self.context.get_constant_null(kind)
        if not has_functions(kind):
            return self.context.get_constant_generic(self.builder, kind, value)
        parts = [self._constant(*one) for one in zip(kind.types, value, strict=True)]
        return self.context.make_tuple(self.builder, kind, parts)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(typed_passes.NativeLowering):
    """The pass that uses it."""

    _name = "kernel_lowering"
    lowering_class = KernelLower


class KernelCompiler(compiler.CompilerBase):
    """For the package's own functions of numbers and tuples."""

    def define_pipelines(self) -> list[Any]:
        manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (KernelLowering if one is typed_passes.NativeLowering else one, why)
            for one, why in manager.passes
            if one not in LEFT_OUT
        ]
        manager.finalize()
        return [manager]


# --- a user's functions ---------------------------------------------------------------------------


def cross(a: Any, b: Any) -> Any:
    """`np.cross`."""
    return np.cross(a, b)


@overload(cross)
def _cross(a, b):
    def is_vector(kind: Any) -> bool:
        return isinstance(kind, types.Array) and kind.ndim == 1 and kind.dtype == types.float64

    if not (is_vector(a) and is_vector(b)):
        return lambda a, b: np.cross(a, b)

    def of_vectors(a, b):
        if len(a) != 3 or len(b) != 3:
            raise ValueError("np.cross: both vectors must have three components")
        out = np.empty(3)
        out[0] = a[1] * b[2] - a[2] * b[1]
        out[1] = a[2] * b[0] - a[0] * b[2]
        out[2] = a[0] * b[1] - a[1] * b[0]
        return out

    return of_vectors


SHORT = {"cross": cross}  # by name in NumPy


@register_pass(mutates_CFG=False, analysis_only=False)
class ShortForms(FunctionPass):
    """Replaces functions of NumPy by those of `SHORT`."""

    _name = "short_forms"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        found = False
        for block in state.func_ir.blocks.values():
            for assignment in block.find_insts(ir.Assign):
                name = self._of_numpy(state.func_ir, assignment.value)
                if name is not None:
                    assignment.value = ir.Global(name, SHORT[name], assignment.value.loc)
                    found = True
        return found

    def _of_numpy(self, func_ir: Any, value: Any) -> str | None:
        """The name of the function of NumPy in an expression, if it has a short form."""
        if isinstance(value, (ir.Global, ir.FreeVar)):
            return next((name for name in SHORT if value.value is getattr(np, name)), None)
        if isinstance(value, ir.Expr) and value.op == "getattr" and value.attr in SHORT:
            owner = guard(get_definition, func_ir, value.value)
            if isinstance(owner, (ir.Global, ir.FreeVar)) and owner.value is np:
                return value.attr
        return None


class UsersCompiler(compiler.CompilerBase):
    """For a user's functions."""

    def define_pipelines(self) -> list[Any]:
        manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.add_pass_after(ShortForms, untyped_passes.IRProcessing)
        manager.finalize()
        return [manager]
