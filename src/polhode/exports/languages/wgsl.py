"""WGSL, the language of shaders in WebGPU: single precision; the user's torque is a function in the same shader."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from polhode.core.scalars import nearest
from polhode.exports.ir import (
    BOOL,
    INT,
    REAL,
    USER,
    Array,
    Ask,
    Call,
    Cond,
    Const,
    Expr,
    Function,
    Make,
    Number,
    Scalar,
    Set,
    Statement,
    Type,
    Unpack,
    has_numbers,
    parts,
)
from polhode.exports.outside import Public
from polhode.exports.phrases import constant_key
from polhode.exports.printer import Printer
from polhode.exports.text import closed, folded, paragraphs

KEYWORDS = """
alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let loop
override requires return struct switch true var while
NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class co_await
co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval constexpr constinit
crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends extern external
fallthrough filter final finally friend from fxgroup get goto groupshared highp impl implements import inline instanceof
interface layout lowp macro macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline
nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset partition pass patch
pixelfragment precise precision premerge priv protected pub public readonly ref regardless register reinterpret_cast require
resource restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super target template
this thread_local throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use using varying
virtual volatile wgsl where with writeonly yield
"""
BUILT_IN = """
abs acos all any array asin atan atan2 atomic bitcast bool ceil clamp cos cosh countOneBits cross degrees determinant distance
dot exp exp2 f16 f32 faceForward firstLeadingBit floor fma fract frexp i32 inverseSqrt ldexp length log log2 max min mix modf
normalize outer pow ptr radians reflect refract reverseBits round sampler saturate select sign sin sinh smoothstep sqrt step
tan tanh texture transpose trunc u32 vec2f vec3f vec4f nan infinity torque load motors
"""
# which cannot be written as constants
SPECIAL = {
    "nan()": "fn nan() -> f32 { var bits = 0x7fc00000u; return bitcast<f32>(bits); }",
    "infinity()": "fn infinity() -> f32 { var bits = 0x7f800000u; return bitcast<f32>(bits); }",
}


class Language(Printer):
    """WGSL."""

    suffix = ".wgsl"
    prefixed = True
    precisions = ("float",)
    keywords = frozenset(KEYWORDS.split())
    reserved = keywords | frozenset(BUILT_IN.split())

    def inside(self, function: Function) -> Iterator[Expr]:
        return iter(()) if function.python is nearest else super().inside(function)

    # --- types and declarations -------------------------------------------------------------------

    def of_type(self, kind: Type) -> str:
        if isinstance(kind, Scalar):
            return {REAL: "f32", INT: "i32", BOOL: "bool"}[kind]
        if isinstance(kind, Array) and kind.item == REAL and self.field_names(kind):
            return f"vec{kind.count}f"
        if isinstance(kind, Array) and not self.field_names(kind):
            return f"array<{self.of_type(kind.item)}, {kind.count}>"
        return self.names[kind]

    def comment(self, text: str) -> str:
        return "\n".join(f"// {line}".rstrip() for line in paragraphs(text))

    def preamble(self) -> str:
        found = {
            self.special(one.value)
            for one in self.everything()
            if isinstance(one, (Const, Number))
            and one.type == REAL
            and not math.isfinite(one.value)
        }
        return "\n".join(SPECIAL[one.lstrip("-")] for one in sorted(found))

    def declared(self, kind: Type) -> str:
        name = self.of_type(kind) if kind != USER else ""
        if name != self.names[kind]:
            return ""
        pairs = zip(self.field_names(kind) or (), parts(kind) or (), strict=True)
        fields = ", ".join(f"{one}: {self.of_type(part)}" for one, part in pairs if is_kept(part))
        return "\n".join(folded(f"struct {name} {{ {fields} }}"))

    def constant(self, one: Const) -> str:
        text, name = self.nested(one.value, one.type), self.names[constant_key(one)]
        return "\n".join(folded(f"const {name}: {self.of_type(one.type)} = {text};"))

    def function(self, function: Function) -> str:
        if function.python is not nearest:
            return super().function(function)
        head = f"fn {self.names[function]}(x: f32) -> f32"
        return f"{self.comment('x rounded to the nearest integer, ties to even.')}\n{head} {{ return round(x); }}"

    def opened(self, function: Function) -> list[str]:
        """Parameters cannot be set: those that change are copied."""
        given, copies = [], []
        for one, kind in function.params:
            name = self.local[one]
            if one in function.mutated:
                copies.append(f"    var {name} = {name}_given;")
                name = f"{name}_given"
            if kind != USER:
                given.append(f"{name}: {self.of_type(kind)}")
        head = (
            f"fn {self.names[function]}({', '.join(given)}) -> {self.of_type(function.result)} {{"
        )
        return [*folded(head), *copies]

    def declared_as(self, name: str, value: str, kind: Type, fixed: bool) -> str:
        return f"{'let' if fixed else 'var'} {name} = {value}"

    def declare(self, name: str, kind: Type) -> str:
        return f"var {name}: {self.of_type(kind)}"

    def statement(self, one: Statement, depth: int) -> list[str]:
        """What the user writes has a name of its own, and is in no variable."""
        if isinstance(one, Set) and one.value.type == USER:
            return []
        if isinstance(one, Unpack):
            pairs = zip(one.names, parts(one.value.type) or (), strict=True)
            one = replace(one, names=tuple(name if is_kept(kind) else None for name, kind in pairs))
        return super().statement(one, depth)

    def loop(self, i: str, count: int) -> str:
        return f"for (var {i} = 0; {i} < {count}; {i}++) {{"

    # --- expressions ------------------------------------------------------------------------------

    def atom(self, expr: Expr) -> str:
        if isinstance(expr, Call):
            given = [one for one in expr.args if one.type != USER]
            return f"{self.names[expr.function]}({self.arguments(given)})"
        if isinstance(expr, Make):
            kept = [one for one in expr.items if is_kept(one.type)]
            return self.made(expr.type, list(map(self.expression, kept)))
        return super().atom(expr)

    def chosen(self, expr: Cond) -> str:
        return f"select({self.arguments((expr.b, expr.a, expr.test))})"

    def made(self, kind: Type, items: list[str]) -> str:
        return f"{self.of_type(kind)}({', '.join(items)})"

    def special(self, value: float) -> str:
        return "nan()" if math.isnan(value) else "infinity()" if value > 0.0 else "-infinity()"

    def called(self, name: str, args: list[str]) -> str:
        if name == "copysign":
            return f"select(-abs({args[0]}), abs({args[0]}), {args[1]} >= 0.0)"
        return f"{name}({', '.join(args)})"

    def converted(self, text: str) -> str:
        return f"f32({text})"

    def asked(self, expr: Ask) -> str:
        return f"{expr.name}({self.arguments(expr.args)})"

    # --- what the user calls ----------------------------------------------------------------------

    def public(self) -> str:
        self.local = {}
        return "\n\n".join(map(self._outer, self.public_functions()))

    def _outer(self, public: Public) -> str:
        root, name = public.root, public.name
        params = sorted(root.params, key=lambda pair: pair[0] != "s")
        given = [f"{one}: {self.of_type(kind)}" for one, kind in params if kind != USER]
        head = (
            f"fn {self.public_name(name)}({', '.join(given)}) -> {self.of_type(root.value.type)} {{"
        )
        lines = folded(f"return {self.expression(root.value)};", "    ")
        return "\n".join([self.comment(public.doc), *closed([*folded(head), *lines, "}"])])

    def example(self) -> str:
        name, mine = self.module.prefix, []
        for asked in self.users:
            given = ", ".join(f"{one}: {self.of_type(kind)}" for one, kind in asked.params)
            result = self.of_type(asked.result)
            mine.append(
                f"    fn {asked.name}({given}) -> {result} {{ return {result}(); }}    // yours, beside this file"
            )
        body, motion = self.first_arguments()
        return "\n".join(
            [
                "Use, in one shader with this file:\n",
                *mine,
                "    @compute @workgroup_size(1) fn main() {",
                *folded(f"const h = 0.01; let body = {name}_make_body({body});", "        "),
                *folded(f"var s = {name}_start(h, 0.0, {motion}, body);", "        "),
                f"        for (var k = 0; k < 1000; k++) {{ s = {name}_step(s, h, f32(k) * h, body); }}",
                "    }\n",
                "Shaders may reorder sums and need not know NaN: results differ by rounding from one GPU to another, and a step",
                "that fails is to be seen by its residual.",
            ]
        )


def is_kept(kind: Type) -> bool:
    """Whether anything of the type is in a shader."""
    return has_numbers(kind) and kind != USER
