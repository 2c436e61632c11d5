"""Rust, with or without std: no unsafe code, no allocation, no crate but libm where there is no std."""

from __future__ import annotations

import math
from typing import Any

from polhode.exports.calls import UsersFunction
from polhode.exports.header import header
from polhode.exports.ir import (
    BOOL,
    INT,
    REAL,
    USER,
    Array,
    Ask,
    Cond,
    Const,
    Expr,
    Function,
    Index,
    Intrinsic,
    Item,
    Record,
    Return,
    Scalar,
    Statement,
    Type,
    Unpack,
    Var,
    has_numbers,
    parts,
)
from polhode.exports.outside import MOTORS, Public
from polhode.exports.phrases import ATOM, constant_key
from polhode.exports.printer import Printer
from polhode.exports.text import closed, folded, paragraphs

KEYWORDS = """
abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in let
loop macro match mod move mut override priv pub ref return self Self static struct super trait true try type typeof union
unsafe unsized use virtual where while yield
"""
# functions: their methods of numbers, and parameters
FUNCTIONS = {
    "abs": ("abs", "a"), "copysign": ("copysign", "ab"), "sqrt": ("sqrt", "a"), "fma": ("mul_add", "abc"),
    "sin": ("sin", "a"), "cos": ("cos", "a"), "tan": ("tan", "a"), "exp": ("exp", "a"), "log": ("ln", "a"),
    "atan2": ("atan2", "ab"), "pow": ("powf", "ab"),
}  # fmt: skip
IN_CORE = ("abs", "copysign")  # since Rust 1.85; the others are in std alone, and in libm
ALLOWED = """\
#![allow(non_snake_case, unexpected_cfgs, unused_variables, unused_assignments, unused_mut, dead_code, clippy::all)]
#![allow(unknown_lints, unused_parens, invalid_nan_comparisons)]"""


class Language(Printer):
    """Rust."""

    suffix = ".rs"
    keywords = frozenset(KEYWORDS.split())
    reserved = keywords | frozenset(FUNCTIONS) | {"f32", "f64", "i32", "usize", "bool"}
    attitude = "self.q"
    capitals = True
    changing = "mut "
    outside = False  # whether a public function is written, which gets state and body by reference

    def __init__(self, module: Any, precision: str = "double", fma: bool = True) -> None:
        self.real = {"double": "f64", "float": "f32"}[precision]
        super().__init__(module, precision, fma)
        # a constant's name cannot be that of a variable: it would be a pattern
        self.reserved = self.reserved | {self.names[constant_key(one)] for one in self.constants}

    # --- types and declarations -------------------------------------------------------------------

    def of_type(self, kind: Type) -> str:
        if isinstance(kind, Scalar):
            return {REAL: self.real, INT: "i32", BOOL: "bool"}[kind]
        if kind == USER:
            return f"&impl {self.names[USER]}"
        if isinstance(kind, Array) and not self.field_names(kind):
            return f"[{self.of_type(kind.item)}; {kind.count}]"
        if isinstance(kind, Record) and kind.kind is None:
            inside = [self.of_type(one) for one in kind.items if has_numbers(one)]
            return f"({', '.join(inside)}{',' * (len(inside) == 1)})"
        return self.names[kind]

    def public_name(self, name: str) -> str:
        return name  # a file is a module

    def function_name(self, name: str) -> str:
        makes = {self.names[kind].lower() for kind in self.types if isinstance(kind, Array)}
        return f"{name}_" if name in makes else name

    def comment(self, text: str) -> str:
        return "\n".join(f"/// {line}".rstrip() for line in paragraphs(text))

    def text(self) -> str:
        return super().text().replace("///", "//!", self._lines_of_header())

    def _lines_of_header(self) -> int:
        return len(paragraphs(header(self.module, self)))

    def preamble(self) -> str:
        return "\n".join([ALLOWED, *self._library()])

    def _library(self) -> list[str]:
        """Square roots and the like, as functions: of std, or of libm where there is no std."""
        found = {one.name for one in self.everything() if isinstance(one, Intrinsic)}
        lines = [""]
        for name, (method, args) in FUNCTIONS.items():
            if name not in found or (name == "fma" and not self.fma):
                continue
            if name not in IN_CORE:
                own = name if self.precision == "double" else f"{name}f as {name}"
                lines += [
                    '#[cfg(feature = "libm")]',
                    f"use libm::{own};",
                    '#[cfg(not(feature = "libm"))]',
                ]
            given = ", ".join(f"{one}: {self.real}" for one in args)
            lines.append(
                f"fn {name}({given}) -> {self.real} {{ a.{method}({', '.join(args[1:])}) }}"
            )
        return lines

    def declared(self, kind: Type) -> str:
        if kind == USER:
            return self._users()
        name = self.of_type(kind)
        if not name[0].isalpha():
            return ""
        names = self.field_names(kind) or ()
        pairs = [
            pair for pair in zip(names, parts(kind) or (), strict=True) if has_numbers(pair[1])
        ]
        fields = ", ".join(f"pub {one}: {self.of_type(part)}" for one, part in pairs)
        lines = [
            "#[derive(Clone, Copy, Debug, PartialEq)]",
            *folded(f"pub struct {name} {{ {fields} }}"),
        ]
        if isinstance(kind, Array):
            given = ", ".join(f"{one}: {self.of_type(part)}" for one, part in pairs)
            lines += folded(
                f"pub const fn {name.lower()}({given}) -> {name} {{ {name} {{ {', '.join(names)} }} }}"
            )
        return "\n".join(lines)

    def field_names(self, kind: Type) -> tuple[str, ...] | None:
        names = super().field_names(kind)
        if isinstance(kind, Record) and kind.kind is None:
            return None
        return names

    def atom(self, expr: Expr) -> str:
        if isinstance(expr, Index):
            return f"{self.expression(expr.of, ATOM)}[{self.expression(expr.at, ATOM)} as usize]"
        return super().atom(expr)

    def access(self, kind: Type, place: int) -> str:
        if isinstance(kind, Record) and kind.kind is None:
            return f".{sum(map(has_numbers, kind.items[:place]))}"
        return super().access(kind, place)

    def _users(self) -> str:
        """What the user's function is called through."""
        trait, heads, kinds, calls = self.names[USER], [], [], []
        for one, letter in zip(self.users, "FG", strict=False):
            given = ", ".join(f"{name}: {self.of_type(kind)}" for name, kind in one.params)
            result = self.of_type(one.result)
            heads.append(f"fn {one.name}(&self, {given}) -> {result}")
            of = ", ".join(self.of_type(kind) for _, kind in one.params)
            kinds.append(f"{letter}: Fn({of}) -> {result}")
            calls.append(", ".join(name for name, _ in one.params))
        doc, callee, own = ": any function or closure of these", ["self"], "F"
        if self.module.motors:
            doc, callee, own = (
                "; and of motors: a pair of functions or closures",
                ["(self.0)", "(self.1)"],
                "(F, G)",
            )
        text = f"{self.users_doc(doc)}  {MOTORS}" if self.module.motors else self.users_doc(doc)
        inside = [
            f"{head} {{ {self_}({given}) }}"
            for head, self_, given in zip(heads, callee, calls, strict=True)
        ]
        return "\n".join(
            [
                self.comment(text),
                *folded(f"pub trait {trait} {{ {' '.join(f'{head};' for head in heads)} }}"),
                *folded(f"impl<{', '.join(kinds)}> {trait} for {own} {{"),
                *(line for one in inside for line in folded(one, "    ")),
                "}",
            ]
        )

    def constant(self, one: Const) -> str:
        text = self.nested(one.value, one.type)
        return "\n".join(
            folded(f"const {self.names[constant_key(one)]}: {self.of_type(one.type)} = {text};")
        )

    def opened(self, function: Function) -> list[str]:
        given = [
            f"{'mut ' if name in function.mutated else ''}{self.local[name]}: {self.of_type(kind)}"
            for name, kind in function.params
        ]
        head = f"fn {self.names[function]}({', '.join(given)}) -> {self.of_type(function.result)}"
        return folded(f"{head} {{")

    # --- statements -------------------------------------------------------------------------------

    def block(self, lines: list[Statement], depth: int) -> list[str]:
        last = lines[-1] if lines else None
        if depth > 1 or not isinstance(last, Return):
            return super().block(lines, depth)
        return [
            *super().block(lines[:-1], depth),
            *self.line(self.expression(last.value), depth, ""),
        ]

    def condition(self, test: Expr) -> str:
        return self.expression(test)

    def loop(self, i: str, count: int) -> str:
        return f"for {i} in 0..{count} {{"

    def declared_as(self, name: str, value: str, kind: Type, fixed: bool) -> str:
        return f"let {'' if fixed else 'mut '}{name} = {value}"

    def declare(self, name: str, kind: Type) -> str:
        return f"let mut {name}: {self.of_type(kind)}"

    def unpacked(self, one: Unpack, depth: int) -> list[str]:
        new, before, shown = self.apart(one, lambda name, _: f"let {name}", depth)
        pattern = f"{'let ' if new else ''}{self._pattern(one.value.type, shown)}"
        return [*before, *self.line(f"{pattern} = {self.expression(one.value)}", depth)]

    def _pattern(self, kind: Type, shown: list[str]) -> str:
        names = self.field_names(kind)
        if not names:
            left, right = "[]" if isinstance(kind, Array) else "()"
            return f"{left}{', '.join(shown)}{right}"
        pairs = [pair for pair in zip(names, shown, strict=True) if pair[1] != "_"]
        inside = [one if one == own else f"{own}: {one}" for own, one in pairs]
        inside += [".."] * (len(pairs) < len(names))
        return f"{self.of_type(kind)} {{ {', '.join(inside)} }}"

    # --- expressions ------------------------------------------------------------------------------

    def chosen(self, expr: Cond) -> str:
        test, a, b = map(self.expression, (expr.test, expr.a, expr.b))
        return f"if {test} {{ {a} }} else {{ {b} }}"

    def made(self, kind: Type, items: list[str]) -> str:
        inside, names = ", ".join(items), self.field_names(kind)
        if isinstance(kind, Array):
            return f"{self.of_type(kind).lower()}({inside})" if names else f"[{inside}]"
        if names is None:
            return f"({inside}{',' * (len(items) == 1)})"
        own = [name for name, one in zip(names, parts(kind) or (), strict=True) if has_numbers(one)]
        pairs = [a if a == b else f"{a}: {b}" for a, b in zip(own, items, strict=True)]
        return f"{self.of_type(kind)} {{ {', '.join(pairs)} }}"

    def special(self, value: float) -> str:
        name = "NAN" if math.isnan(value) else "INFINITY" if value > 0.0 else "NEG_INFINITY"
        return f"{self.real}::{name}"

    def called(self, name: str, args: list[str]) -> str:
        return f"{name}({', '.join(args)})"

    def converted(self, text: str) -> str:
        return f"({text} as {self.real})"

    def asked(self, expr: Ask) -> str:
        return f"{self.expression(expr.user)}.{expr.name}({self.arguments(expr.args)})"

    # --- what the user calls ----------------------------------------------------------------------

    def variable(self, expr: Var) -> str:
        if self.outside and expr.name == "s":
            return "*self"
        name = super().variable(expr)
        return f"*{name}" if self.outside and name == "body" else name

    def item(self, expr: Item) -> str:
        return super().item(expr).removeprefix("*")

    def public(self) -> str:
        self.outside, self.local = True, {}
        first, *others = self.public_functions()
        lines = [f"impl {self.of_type(self.module.body)} {{", *self._outer(first), "}", ""]
        lines += [f"impl {self.of_type(self.module.state)} {{"]
        for one in others:
            lines += [*self._outer(one), ""]
        return "\n".join([*lines[:-1], "}"])

    def _outer(self, public: Public) -> list[str]:
        root, name = public.root, "new" if public.name == "make_body" else public.name
        inside = any(one == "s" for one, _ in root.params)
        steps = inside and root.value.type == self.module.state
        given = ["&mut self" if steps else "&self"] * inside
        given += [
            f"{one}: {'&' if one == 'body' else ''}{self.of_type(kind)}"
            for one, kind in root.params
            if one != "s"
        ]
        result = "" if steps else f" -> {self.of_type(root.value.type)}"
        value = self.expression(root.value)
        line = f"*self = {value};" if steps else value
        head = folded(f"pub fn {name}({', '.join(given)}){result} {{")
        whole = closed([*head, *folded(line, "    "), "}"])
        return [f"    {one}" for one in [*self.comment(public.doc).splitlines(), *whole]]

    def example(self) -> str:
        module, name = self.module, self.module.prefix.lower()
        load = f", &{self.acting}" if self.users else ""
        mine = [f"let {one.name} = {self._mine(one)};" for one in self.users]
        if module.motors:
            mine.append(f"let {self.acting} = ({', '.join(one.name for one in self.users)});")
        body, motion = self.first_arguments()
        return "\n".join(
            [
                f"Use (this file is {name}.rs; -C target-cpu=native makes mul_add one instruction):\n",
                f"    mod {name};",
                f"    use {name}::*;\n",
                "    fn main() {",
                *(f"        {line}" for line in mine),
                *folded(f"let (h, body) = (0.01, Body::new({body}));", "        "),
                *folded(f"let mut s = State::start(h, 0.0, {motion}, &body{load});", "        "),
                f"        for k in 0..1000 {{ s.step(h, k as {self.real} * h, &body{load}); }}",
                "    }\n",
                "In a crate without std, add the crate libm as an optional dependency and switch its feature on: core has",
                "neither a square root nor a fused multiplication and addition.",
            ]
        )

    def _mine(self, one: UsersFunction) -> str:
        """A function of the user that does nothing."""
        zero = "vec3(0.0, 0.0, 0.0)"
        value = f"Push {{ torque: {zero}, acceleration: {zero} }}"
        if isinstance(one.result, Array):
            value = self.nested((0.0,) * one.result.count, one.result)
        given = ", ".join(f"_{name}: {self.of_type(kind)}" for name, kind in one.params)
        return f"|{given}| {value}"
