"""Machine code and WebAssembly, by the LLVM that numba brings: no compiler of the user's is needed.

A method has the functions NAME_make_body, NAME_start, NAME_step and NAME_omega, which take numbers, and
rows of numbers by address, results first; structures are those of the exported C.  The functions that the
user writes are NAME_torque, or NAME_load for bodies in flight, and NAME_motors for those with rotors.
"""

from __future__ import annotations

from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir

from polhode.errors import InputError
from polhode.exports import fused
from polhode.exports.header import about
from polhode.exports.ir import (
    BOOL,
    INT,
    REAL,
    USER,
    Array,
    Const,
    Function,
    Type,
    Var,
    has_numbers,
    parts,
)
from polhode.exports.machine_functions import ADDRESS, WHOLE, Writer
from polhode.exports.module import Module, Root
from polhode.exports.outside import Outside, Public
from polhode.exports.text import single
from polhode.exports.trees import item

OLDEST = 0, 45  # version of llvmlite: those before write addresses in two ways
# what processors of a kind have, beyond the least; and how they hand over numbers
FEATURES = {
    "riscv64": ("+m,+a,+f,+d,+c", "lp64d"),
    "thumbv7em": ("+vfp4d16sp", ""),
    "wasm32": ("+bulk-memory,+bulk-memory-opt", ""),
}


class Machine(Outside):
    """A method as machine code; languages/ has what differs."""

    suffix = ".o"
    binary = True
    target: str | None = None  # such as aarch64-linux-gnu; this machine's by default
    precisions: tuple[str, ...] = ("double", "float")
    instruction = (
        True  # whether a b + c with one rounding is an instruction, or a function of the linker's
    )

    def __init__(self, module: Module, precision: str = "double", fma: bool = True) -> None:
        if tuple(map(int, llvmlite.__version__.split(".")[:2])) < OLDEST:
            raise InputError(
                f"machine code needs llvmlite 0.45 or newer, and here is {llvmlite.__version__}; pip install --upgrade numba"
            )
        self.module, self.precision, self.fma = module, precision, fma
        self.real = ir.DoubleType() if precision == "double" else ir.FloatType()
        self.code = ir.Module(name=module.prefix)
        self.made: dict[Function, ir.Function] = {}
        self.intrinsics: dict[str, ir.Function] = {}
        self.constants: dict[Any, ir.GlobalVariable] = {}

    def public_functions(self) -> list[Public]:
        """Those of all languages, and what a body in flight has: names of fields are lost here."""
        module, found = self.module, super().public_functions()
        if self.flies:
            for name, field in (("position", "x"), ("velocity", "v")):
                value = item(Var("s", module.state), module.state.fields.index(field))
                found.append(Public(name, "", Root([("s", module.state)], value)))
        return found

    # --- what comes out ---------------------------------------------------------------------------

    def content(self) -> bytes:
        """The object file."""
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        triple = self.target or llvm.get_process_triple()
        features, interface = FEATURES.get(triple.partition("-")[0], ("", ""))
        if self.target is None:
            features = llvm.get_host_cpu_features().flatten()
        try:
            machine = llvm.Target.from_triple(triple).create_target_machine(
                features=features, opt=2, reloc="pic", codemodel="default", abiname=interface
            )
        except RuntimeError as error:
            raise InputError(
                f"target {triple!r} is unknown to LLVM ({error}); give a triple such as aarch64-linux-gnu, "
                "thumbv7em-none-eabihf, riscv64-unknown-elf or wasm32-unknown-unknown"
            ) from error
        self.code.triple = triple
        self._tell(machine.target_data)
        parsed = llvm.parse_assembly(self.assembly())
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(2))
        builder.getModulePassManager().run(parsed, builder)
        return machine.emit_object(parsed)

    def size(self, kind: Type) -> int:
        """How many bytes a value takes."""
        return self.type(kind).get_abi_size(self.layout)

    def _tell(self, layout: Any) -> None:
        """The sizes of body and state, and whose the file is, as constants of the file."""
        self.layout, module = layout, self.module
        for name, kind in (("body", module.body), ("state", module.state)):
            self._constant(f"{name}_size", ir.Constant(WHOLE, self.size(kind)))
        text = bytearray(self.about().encode() + b"\0")
        self._constant("about", ir.Constant(ir.ArrayType(ir.IntType(8), len(text)), text))

    def _constant(self, name: str, value: ir.Constant) -> None:
        name = f"{self.module.prefix}_{name}"
        if name not in self.code.globals:
            made = ir.GlobalVariable(self.code, value.type, name)
            made.global_constant, made.initializer = True, value

    def about(self) -> str:
        """What the file is, how it was made, and whose it is."""
        return about(self.module)

    def assembly(self) -> str:
        """LLVM's own language."""
        if not self.made:
            for function in self._functions():
                self._function(function)
            for name, _, root in self.public_functions():
                self._public(f"{self.module.prefix}_{name}", root)
        return str(self.code)

    def _functions(self) -> list[Function]:
        """The functions of the method, after those for a b + c if they are needed."""
        before = fused.functions() if self.fma and not self.instruction else []
        self.by_sums = before[-1:]
        return [*before, *self.module.functions]

    # --- types ------------------------------------------------------------------------------------

    def type(self, kind: Type) -> Any:
        """The type of values."""
        if kind == USER:
            return ADDRESS
        if parts(kind) is None:
            return {REAL: self.real, INT: WHOLE, BOOL: ir.IntType(1)}[kind]  # type: ignore[index]
        if isinstance(kind, Array):
            return ir.ArrayType(self.type(kind.item), kind.count)
        return ir.LiteralStructType(
            [self.type(one) for one in parts(kind) or () if has_numbers(one)]
        )

    # --- functions --------------------------------------------------------------------------------

    def _function(self, function: Function) -> None:
        kinds = [self.type(kind) for _, kind in function.params]
        head = ir.FunctionType(self.type(function.result), kinds)
        made = ir.Function(
            self.code, head, self.code.get_unique_name(f"{self.module.prefix}.{function.name}")
        )
        made.linkage = "internal"
        self.made[function] = made
        Writer(self, made, function.params).write(function.body)

    def _public(self, name: str, root: Root) -> None:
        """A function that is called from outside: what is more than a number is given by address, the
        result first."""
        params = [pair for pair in root.params if pair[1] != USER]
        rows = [parts(kind) is not None for _, kind in params]
        kinds = [
            ADDRESS if row else self.type(kind) for row, (_, kind) in zip(rows, params, strict=True)
        ]
        places = [one for one, _ in params]
        updates = "s" in places and root.value.type == self.module.state  # in its own place
        head = ir.FunctionType(ir.VoidType(), kinds if updates else [ADDRESS, *kinds])
        made = ir.Function(self.code, head, name)
        writer = Writer(self, made, [])
        given = list(made.args)
        out = given[places.index("s")] if updates else given.pop(0)
        for value, row, (one, kind) in zip(given, rows, params, strict=True):
            value.name = one
            writer.let(one, writer.builder.load(value, typ=self.type(kind)) if row else value)
        writer.builder.store(writer.value(root.value), out)
        writer.builder.ret_void()

    def intrinsic(self, name: str, count: int) -> ir.Function:
        """A function of LLVM's."""
        if name not in self.intrinsics:
            head = ir.FunctionType(self.real, [self.real] * count)
            bits = "f64" if self.precision == "double" else "f32"
            self.intrinsics[name] = ir.Function(self.code, head, f"llvm.{name}.{bits}")
        return self.intrinsics[name]

    def users_function(self, called: str) -> ir.Function:
        """A function of the user: its result by address, then what it is given."""
        (asked,) = (one for one in self.users if one.name == called)
        name = f"{self.module.prefix}_{called}"
        if name not in self.intrinsics:
            rows = [ADDRESS if parts(kind) else self.type(kind) for _, kind in asked.params]
            head = ir.FunctionType(ir.VoidType(), [ADDRESS, *rows])
            self.intrinsics[name] = ir.Function(self.code, head, name)
        return self.intrinsics[name]

    def number(self, value: Any, kind: Type) -> ir.Constant:
        """A constant, a number or nested tuples of numbers."""
        inside = parts(kind)
        if inside is not None:
            pairs = zip(value, inside, strict=True)
            return ir.Constant(self.type(kind), [self.number(*pair) for pair in pairs])
        if kind != REAL:
            return ir.Constant(self.type(kind), int(value))
        return ir.Constant(self.real, single(value) if self.precision == "float" else float(value))

    def table(self, one: Const) -> ir.GlobalVariable:
        """A constant in memory."""
        key = one.name, repr(one.value)
        if key not in self.constants:
            made = ir.GlobalVariable(
                self.code, self.type(one.type), self.code.get_unique_name(one.name)
            )
            made.linkage, made.global_constant = "internal", True
            made.initializer = self.number(one.value, one.type)
            self.constants[key] = made
        return self.constants[key]
