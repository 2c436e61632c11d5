"""What LLVM is told about loops over lanes.  Importing this module imports numba.

A step is a long chain of operations that wait for each other.  Two vectors of bodies in one pass
through the loop (an interleave count of two) let the processor work on one chain while the other
waits: a third faster where the chain is what takes the time.  Processors with vectors of 512 bits
use them, which LLVM does not do unasked: half as fast again.  Neither changes a bit.
"""

from llvmlite import ir as llvm
from numba.core import compiler, ir, lowering
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

INTERLEAVE = 2
WIDEST = '"prefer-vector-width"="512"'


class PackedLower(lowering.Lower):
    """Lowering that marks the loops of a function."""

    def lower_function_body(self):
        set.add(self.function.attributes, WIDEST)  # past a list of names that llvmlite knows
        result = super().lower_function_body()
        for label, block in self.blocks.items():
            if isinstance(block.terminator, ir.Jump) and block.terminator.target <= label:
                self._mark(f"B{block.terminator.target}", f"B{label}")
        return result

    def _mark(self, *places):
        node = self._interleaved()
        for block in self.function.blocks:
            if block.name.split(".")[0] in places and block.terminator is not None:
                block.terminator.set_metadata("llvm.loop", node)

    def _interleaved(self):
        """A node whose first operand is itself, as LLVM wants it."""
        count = self.module.add_metadata(
            ["llvm.loop.interleave.count", llvm.Constant(llvm.IntType(32), INTERLEAVE)]
        )
        # every loop has a node of its own
        node = self.module.add_metadata([f"loop {len(self.module.metadata)}"])
        node.operands = (node, count)
        return node


@register_pass(mutates_CFG=True, analysis_only=False)
class PackedLowering(NativeLowering):
    """The pass that lowers so."""

    _name = "packed_lowering"
    lowering_class = PackedLower


class PackedCompiler(compiler.CompilerBase):
    """numba's compiler with that pass in place of its own."""

    def define_pipelines(self):
        manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (PackedLowering, name) if one is NativeLowering else (one, name)
            for one, name in manager.passes
        ]
        manager.finalize()
        return [manager]
