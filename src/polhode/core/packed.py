"""Hints to LLVM for loops over lanes.  Importing this module imports numba.

A step is a long chain of dependent operations.  With two vectors of bodies in one iteration (an
interleave count of two) the processor works on one chain while the other waits: a third faster if
latency is the limit.  Processors with vectors of 512 bits use them, which LLVM does not do by
default: half as fast again.  Neither changes a bit.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba.core import compiler, ir
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from polhode.core.pipelines import KernelLower

INTERLEAVE = 2
WIDEST = '"prefer-vector-width"="512"'


class PackedLower(KernelLower):
    """Lowering that marks the loops of a function."""

    def lower_function_body(self) -> Any:
        set.add(self.function.attributes, WIDEST)  # llvmlite's own `add` checks names
        result = super().lower_function_body()
        for label, block in self.blocks.items():
            if isinstance(block.terminator, ir.Jump) and block.terminator.target <= label:
                self._mark(f"B{block.terminator.target}", f"B{label}")
        return result

    def _mark(self, *places: str) -> None:
        node = self._interleaved()
        for block in self.function.blocks:
            if block.name.split(".")[0] in places and block.terminator is not None:
                block.terminator.set_metadata("llvm.loop", node)

    def _interleaved(self) -> Any:
        """A metadata node whose first operand is itself, as LLVM requires."""
        count = self.module.add_metadata(
            ["llvm.loop.interleave.count", llvm.Constant(llvm.IntType(32), INTERLEAVE)]
        )
        # every loop has a node of its own
        node = self.module.add_metadata([f"loop {len(self.module.metadata)}"])
        node.operands = (node, count)
        return node


@register_pass(mutates_CFG=True, analysis_only=False)
class PackedLowering(NativeLowering):
    """The pass that uses it."""

    _name = "packed_lowering"
    lowering_class = PackedLower


class PackedCompiler(compiler.CompilerBase):
    """numba's compiler with that pass in place of its own."""

    def define_pipelines(self) -> list[Any]:
        manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (PackedLowering, name) if one is NativeLowering else (one, name)
            for one, name in manager.passes
        ]
        manager.finalize()
        return [manager]
