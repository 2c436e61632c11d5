"""JavaScript: an ES module for browsers, node and other engines, without dependencies."""

from __future__ import annotations

import math
from typing import Any

from polhode.exports.ir import (
    BOOL,
    INT,
    REAL,
    USER,
    Array,
    Ask,
    Const,
    Function,
    Intrinsic,
    Op,
    Record,
    Type,
    Unpack,
    has_numbers,
    parts,
)
from polhode.exports import fused
from polhode.exports.calls import UsersFunction
from polhode.exports.outside import MOTORS, Public
from polhode.exports.phrases import ATOM, constant_key
from polhode.exports.printer import Printer
from polhode.exports.text import closed, folded, paragraphs, single
from polhode.exports.trees import is_plain

KEYWORDS = """
abstract arguments await boolean break byte case catch char class const continue debugger default delete do double else enum
eval export extends false final finally float for function goto if implements import in instanceof int interface let long
native new null of package private protected public return short static super switch synchronized this throw throws transient
true try typeof undefined var void volatile while with yield
"""
LIBRARY = """
Math Object Number BigInt NaN Infinity Float64Array sqrt abs sin cos tan exp log atan2 pow fround copysign
makeBody start step omega rounded
"""
FROM_MATH = ("sqrt", "abs", "sin", "cos", "tan", "exp", "log", "atan2", "pow")

SINGLE = ("q", "Om", "I", "x", "v", "W", "J", "is_free")  # what is given, and rounded

COPYSIGN = """\
/** a with the sign of b. */
function copysign(a, b) { return b < 0 || Object.is(b, -0) ? -abs(a) : abs(a); }
"""
ROUNDED = """\
/** A load in single precision. */
function rounded({ torque, acceleration }) {
    return { torque: torque.map(fround), acceleration: acceleration.map(fround) };
}
"""
# products of numbers in single precision are exact, and only the sum is rounded twice
FMA_SINGLE = """\
/** a b + c with one rounding to single precision: where the sum lies half way, what it left decides. */
function fma(a, b, c) {
    const p = a * b, s = p + c, r = fround(s), f = s - p, e = p - (s - f) + (c - f), d = s - r, next = r + 2 * d;
    return e !== 0 && d > 0 === e > 0 && d !== 0 && fround(next) === next ? next : r;
}
"""


class Language(Printer):
    """JavaScript."""

    suffix = ".mjs"
    reserved = frozenset(KEYWORDS.split()) | frozenset(LIBRARY.split())
    public_names = frozenset(["residual", "calls", "unrestored", "speeds"])
    joined = True
    words = Printer.words | {"==": "===", "!=": "!=="}

    def needed(self) -> list[Function]:
        """Those of the method, after those for a b + c, which JavaScript has no instruction for."""
        has_fma = (
            self.fma and self.precision == "double" and "fma" in self._intrinsics(super().needed())
        )
        return [*(fused.functions() if has_fma else []), *super().needed()]

    def _intrinsics(self, functions: list[Function]) -> set[str]:
        inside = (one for function in functions for one in self.inside(function))
        return {one.name for one in inside if isinstance(one, Intrinsic)}

    # --- types and declarations -------------------------------------------------------------------

    def public_name(self, name: str) -> str:
        return name.capitalize()

    def plain_name(self, kind: Type) -> str:
        return self.acting.capitalize() if kind == USER else super().plain_name(kind)

    def of_type(self, kind: Type) -> str:
        if kind in (REAL, INT):
            return "number"
        return "boolean" if kind == BOOL else self.names[kind]

    def comment(self, text: str) -> str:
        lines = paragraphs(text.replace("*/", "* /"))
        if len(lines) == 1:
            return f"/** {lines[0]} */"
        return "\n".join(["/**", *(f" * {line}".rstrip() for line in lines), " */"])

    def preamble(self) -> str:
        used, is_single = self._intrinsics(self.functions), self.precision == "float"
        used |= {"abs"} if "copysign" in used else set()
        taken = [name for name in FROM_MATH if name in used] + ["fround"] * is_single
        blocks = [f"const {{ {', '.join(taken)} }} = Math;\n"] if taken else []
        blocks += [ROUNDED] if is_single and self.flies else []
        blocks += [COPYSIGN] if "copysign" in used else []
        blocks += [FMA_SINGLE] if is_single and self.fma and "fma" in used else []
        return "\n".join(blocks)

    def declared(self, kind: Type) -> str:
        if kind not in self.module.public_types():
            return ""
        if kind == USER:
            return self._users()
        inside = [self.of_type(one) for one in parts(kind) or () if has_numbers(one)]
        if names := self.field_names(kind):
            pairs = zip(names, inside, strict=True)
            text = f"{{{{ {', '.join(f'{name}: {one}' for name, one in pairs)} }}}}"
        else:
            text = f"{{[{', '.join(inside)}]}}"
        return f"/** @typedef {text} {self.names[kind]} */"

    def _users(self) -> str:
        """What the user's function is given and returns."""
        lines = []
        for one, doc in zip(self.users, (self.users_doc(), MOTORS), strict=False):
            tags = [f"@param {{{self.of_type(kind)}}} {name}" for name, kind in one.params]
            head, result = f"@callback {_type(one)}", f"@returns {{{self.names[one.result]}}}"
            lines.append(self.comment("\n".join([doc, head, *tags, result])))
        if self.module.motors:
            inside = ", ".join(f"{one.name}: {_type(one)}" for one in self.users)
            lines.append(f"/** @typedef {{{{ {inside} }}}} {self.names[USER]} */")
        return "\n".join(lines)

    def field_names(self, kind: Type) -> tuple[str, ...] | None:
        if not isinstance(kind, Record) or kind.kind is None:
            return None
        pairs = zip(kind.fields, kind.items, strict=True)
        return tuple(name for name, one in pairs if has_numbers(one))

    def access(self, kind: Type, place: int) -> str:
        place = sum(map(has_numbers, (parts(kind) or ())[:place]))  # among those that are left
        names = self.field_names(kind)
        return f".{names[place]}" if names else f"[{place}]"

    def constants_text(self) -> str:
        numbers = [one for one in self.constants if one.type == REAL]
        pairs = [(self.atom(one), self.number(one.value)) for one in numbers]
        lines = self.together(pairs, REAL, 0) if pairs else []
        return "\n".join(
            [*lines, *(self.constant(one) for one in self.constants if one.type != REAL)]
        )

    def constant(self, one: Const) -> str:
        name, text = self.names[constant_key(one)], self.nested(one.value, one.type)
        return "\n".join(folded(f"const {name} = {text};"))

    def opened(self, function: Function) -> list[str]:
        given = ", ".join(self.local[name] for name, _ in function.params)
        return folded(f"function {self.names[function]}({given}) {{")

    def declared_as(self, name: str, value: str, kind: Type, fixed: bool) -> str:
        return f"{'const' if fixed else 'let'} {name} = {value}"

    def together(self, pairs: list[tuple[str, str]], kind: Type, depth: int) -> list[str]:
        return self.line(f"const {', '.join(f'{a} = {b}' for a, b in pairs)}", depth)

    def declare(self, name: str, kind: Type) -> str:
        return f"let {name}"

    def loop(self, i: str, count: int) -> str:
        return f"for (let {i} = 0; {i} < {count}; {i}++) {{"

    def unpacked(self, one: Unpack, depth: int) -> list[str]:
        """By destructuring, where all or none of the variables are declared here."""
        names = [name for name in one.names if name]
        kind = one.value.type
        apart = one.declares and not one.declares.issuperset(names)
        if is_plain(one.value) or self.field_names(kind) or apart:
            return super().unpacked(one, depth)
        left = [
            self.called_here(name) if name else ""
            for name, part in zip(one.names, parts(kind) or (), strict=True)
            if has_numbers(part)
        ]
        while not left[-1]:
            left.pop()
        word = "const " if one.fixed.issuperset(names) else "let " if one.declares else ""
        return self.line(f"{word}[{', '.join(left)}] = {self.expression(one.value)}", depth)

    # --- expressions ------------------------------------------------------------------------------

    def operation(self, expr: Op) -> tuple[str, int]:
        text, level = super().operation(expr)
        rounds = self.precision == "float" and expr.op in ("+", "-", "*", "/") and expr.type == REAL
        return (f"fround({text})", ATOM) if rounds else (text, level)

    def made(self, kind: Type, items: list[str]) -> str:
        names = self.field_names(kind)
        if not names:
            return f"[{', '.join(items)}]"
        pairs = zip(names, items, strict=True)
        return f"{{ {', '.join(a if a == b else f'{a}: {b}' for a, b in pairs)} }}"

    def number(self, value: Any, kind: Type = REAL) -> str:
        if kind == REAL and self.precision == "float":
            value = single(value)
            text = repr(value) if math.isfinite(value) else self.special(value)
        else:
            text = super().number(value, kind)
        return text.removesuffix(".0")

    def special(self, value: float) -> str:
        return "NaN" if math.isnan(value) else "Infinity" if value > 0.0 else "-Infinity"

    def called(self, name: str, args: list[str]) -> str:
        text = f"{name}({', '.join(args)})"
        exact = name in ("abs", "copysign", "fma")
        return text if self.precision == "double" or exact else f"fround({text})"

    def converted(self, text: str) -> str:
        return text

    def asked(self, expr: Ask) -> str:
        user = self.expression(expr.user) + f".{expr.name}" * bool(self.module.motors)
        text = f"{user}({self.arguments(expr.args)})"
        if self.precision == "double":
            return text
        return f"{text}.map(fround)" if isinstance(expr.type, Array) else f"rounded({text})"

    # --- what the user calls ----------------------------------------------------------------------

    def public(self) -> str:
        self.local = {"p": self.acting} if self.users else {}
        if self.precision == "float":
            self.local |= {name: f"fround({name})" for name in "ht"}
            self.local |= {name: f"{name}.map(fround)" for name in SINGLE}
            self.local["axes"] = "axes.map((e) => e.map(fround))"
        return "\n\n".join(map(self._outer, self.public_functions()))

    def _outer(self, one: Public) -> str:
        root, name = one.root, "makeBody" if one.name == "make_body" else one.name
        params = [(self.acting if one == "p" else one, kind) for one, kind in root.params]
        tags = [f"@param {{{self.of_type(kind)}}} {one}" for one, kind in params]
        result = f"@returns {{{self.of_type(root.value.type)}}}"
        text = self.comment("\n".join([one.doc, *tags, result]))
        head = f"export function {name}({', '.join(one for one, _ in params)}) {{"
        lines = folded(f"return {self.expression(root.value)};", "    ")
        return "\n".join([text, *closed([*folded(head), *lines, "}"])])

    def example(self) -> str:
        module = self.module
        given = f", {self.acting}" if self.users else ""
        mine = [f"{one.name} = {self._mine(one)}" for one in self.users]
        yours = [f"    const {', '.join(mine)};"] * bool(mine)
        if module.motors:
            yours.append(
                f"    const {self.acting} = {{ {', '.join(one.name for one in self.users)} }};"
            )
        body, motion = self.first_arguments()
        return "\n".join(
            [
                "Use:\n",
                f'    import {{ makeBody, omega, start, step }} from "./{module.prefix}.mjs";',
                *yours,
                f"    const body = makeBody({body}), h = 0.01;",
                f"    let s = start(h, 0, {motion}, body{given});",
                f"    for (let k = 0; k < 1000; k++) s = step(h, k * h, s, body{given});",
                "    console.log(s.q, omega(s, body));",
            ]
        )

    def _mine(self, one: UsersFunction) -> str:
        """A function of the user that does nothing."""
        count = len(parts(one.result) or ())
        result = "({ torque: [0, 0, 0], acceleration: [0, 0, 0] })"
        result = f"[{', '.join('0' * count)}]" if isinstance(one.result, Array) else result
        return f"({', '.join(name for name, _ in one.params)}) => {result}"


def _type(one: UsersFunction) -> str:
    """The type of a function of the user."""
    return one.name.capitalize()
