"""C# 7 or later: a static class with structs; nothing is allocated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from polhode.exports.calls import UsersFunction
from polhode.exports.ir import (
    BOOL,
    INT,
    REAL,
    USER,
    Array,
    Ask,
    Const,
    Function,
    Record,
    Scalar,
    Type,
    Unpack,
    has_numbers,
    parts,
)
from polhode.exports.outside import MOTORS, Public
from polhode.exports.phrases import constant_key
from polhode.exports.printer import Printer
from polhode.exports.text import closed, folded, paragraphs

KEYWORDS = """
abstract as base bool break byte case catch char checked class const continue decimal default delegate do double else enum
event explicit extern false finally fixed float for foreach goto if implicit in int interface internal is lock long namespace
new null object operator out override params private protected public readonly ref return sbyte sealed short sizeof stackalloc
static string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using virtual void volatile while
"""
LIBRARY = {
    "abs": "Abs", "copysign": "CopySign", "sqrt": "Sqrt", "fma": "FusedMultiplyAdd", "sin": "Sin", "cos": "Cos", "tan": "Tan",
    "exp": "Exp", "log": "Log", "atan2": "Atan2", "pow": "Pow",
}  # fmt: skip


class Language(Printer):
    """C#."""

    suffix = ".cs"
    keywords = frozenset(KEYWORDS.split())
    reserved = keywords | {"Math", "MathF", "var"}
    joined = capitals = True

    def __init__(self, module: Any, precision: str = "double", fma: bool = True) -> None:
        # what is handed on is a structure: Mono's compiler does not know tuples as parameters
        self.given = {kind for one in module.functions for _, kind in one.params}
        super().__init__(module, precision, fma)

    # --- the file ---------------------------------------------------------------------------------

    def text(self) -> str:
        head, line, rest = super().text().partition("public static class ")
        first, _, inside = rest.partition("\n")
        lines = [f"    {one}".rstrip() for one in inside.strip("\n").splitlines()]
        return "\n".join([f"{head}{line}{first}", *lines, "}\n"])

    def preamble(self) -> str:
        return f"using System;\n\npublic static class {self.module.prefix} {{"

    def comment(self, text: str) -> str:
        return "\n".join(f"// {line}".rstrip() for line in paragraphs(text))

    # --- types and declarations -------------------------------------------------------------------

    def of_type(self, kind: Type) -> str:
        if isinstance(kind, Scalar):
            return {REAL: self.precision, INT: "int", BOOL: "bool"}[kind]
        if self._is_tuple(kind):
            inside = [self.of_type(one) for one in parts(kind) or () if has_numbers(one)]
            return f"({', '.join(inside)})"
        return self.names[kind]

    def _is_tuple(self, kind: Type) -> bool:
        plain = isinstance(kind, Record) and kind.kind is None and kind not in self.given
        return plain and sum(map(has_numbers, parts(kind) or ())) > 1

    def public_name(self, name: str) -> str:
        return name

    def field_names(self, kind: Type) -> tuple[str, ...] | None:
        names = super().field_names(kind)
        if names is None:
            return tuple(f"v{i}" for i in range(len(parts(kind) or ())))
        return names

    def access(self, kind: Type, place: int) -> str:
        if self._is_tuple(kind):
            return f".Item{1 + sum(map(has_numbers, (parts(kind) or ())[:place]))}"
        return super().access(kind, place)

    def declared(self, kind: Type) -> str:
        if kind == USER:
            return self._users()
        if self._is_tuple(kind):
            return ""
        pairs = [
            (self.of_type(part), one)
            for one, part in zip(self.field_names(kind) or (), parts(kind) or (), strict=True)
            if has_numbers(part)
        ]
        further = []
        if isinstance(kind, Array) and pairs[0][1] == "v0":  # by a number that is not known here
            chosen = "".join(f"i == {i} ? {one} : " for i, (_, one) in enumerate(pairs[:-1]))
            value = f"{chosen}{pairs[-1][1]}"
            further = folded(f"public {pairs[0][0]} this[int i] => {value};", "    ")
        return self.structure(self.names[kind], pairs, further)

    def structure(
        self, name: str, pairs: list[tuple[str, str]], further: Iterable[str] = ()
    ) -> str:
        """The declaration of a type with fields, pairs of type and name, and its constructor."""
        listed = ", ".join(one for _, one in pairs)
        fields = (
            f"public {pairs[0][0]} {listed};"
            if len({kind for kind, _ in pairs}) == 1
            else " ".join(f"public {a} {b};" for a, b in pairs)
        )
        given = ", ".join(f"{a} {b}" for a, b in pairs)
        sets = " ".join(f"this.{one} = {one};" for _, one in pairs)
        lines = [
            f"public struct {name} {{",
            f"    {fields}",
            *folded(f"public {name}({given}) {{ {sets} }}", "    "),
        ]
        return "\n".join([*lines, *further, "}"])

    def _users(self) -> str:
        lines = []
        for one, doc in zip(self.users, (self.users_doc(), MOTORS), strict=False):
            given = ", ".join(f"{self.of_type(kind)} {name}" for name, kind in one.params)
            head = f"public delegate {self.of_type(one.result)} {_type(one)}({given});"
            lines += [self.comment(doc), *folded(head)]
        if self.module.motors:
            fields = [(_type(one), one.name) for one in self.users]
            lines.append(self.structure(self.names[USER], fields))
        return "\n".join(lines)

    def constant(self, one: Const) -> str:
        text = self.nested(one.value, one.type)
        word = "const" if one.type == REAL else "static readonly"
        return "\n".join(
            folded(f"{word} {self.of_type(one.type)} {self.names[constant_key(one)]} = {text};")
        )

    def opened(self, function: Function) -> list[str]:
        given = ", ".join(
            f"{self.of_type(kind)} {self.local[name]}" for name, kind in function.params
        )
        head = f"static {self.of_type(function.result)} {self.names[function]}({given})"
        return folded(f"{head} {{")

    # --- statements -------------------------------------------------------------------------------

    def declared_as(self, name: str, value: str, kind: Type, fixed: bool) -> str:
        return f"{'var' if self._is_tuple(kind) else self.of_type(kind)} {name} = {value}"

    def together(self, pairs: list[tuple[str, str]], kind: Type, depth: int) -> list[str]:
        listed = ", ".join(f"{name} = {value}" for name, value in pairs)
        return self.line(f"{self.of_type(kind)} {listed}", depth)

    def declare(self, name: str, kind: Type) -> str:
        return f"{self.of_type(kind)} {name}"

    def unpacked(self, one: Unpack, depth: int) -> list[str]:
        if not self._is_tuple(one.value.type):
            return super().unpacked(one, depth)
        new, before, shown = self.apart(one, self.declare, depth)
        text = f"{'var ' if new else ''}({', '.join(shown)}) = {self.expression(one.value)}"
        return [*before, *self.line(text, depth)]

    # --- expressions ------------------------------------------------------------------------------

    def made(self, kind: Type, items: list[str]) -> str:
        inside = ", ".join(items)
        return f"({inside})" if self._is_tuple(kind) else f"new {self.of_type(kind)}({inside})"

    def special(self, value: float) -> str:
        name = (
            "NaN"
            if math.isnan(value)
            else "PositiveInfinity"
            if value > 0.0
            else "NegativeInfinity"
        )
        return f"{self.precision}.{name}"

    def literal(self, text: str) -> str:
        return f"{text}f" if self.precision == "float" else text

    def called(self, name: str, args: list[str]) -> str:
        return f"Math{'F' if self.precision == 'float' else ''}.{LIBRARY[name]}({', '.join(args)})"

    def converted(self, text: str) -> str:
        return f"({self.precision}){text}"

    def asked(self, expr: Ask) -> str:
        user = self.expression(expr.user) + f".{expr.name}" * bool(self.module.motors)
        return f"{user}({self.arguments(expr.args)})"

    # --- what the user calls ----------------------------------------------------------------------

    def public(self) -> str:
        self.local = {}
        return "\n\n".join(map(self._outer, self.public_functions()))

    def _outer(self, public: Public) -> str:
        root, name = public.root, "".join(map(str.capitalize, public.name.split("_")))
        steps = root is self.module.step
        params = sorted(root.params, key=lambda pair: pair[0] != "s")
        given: list[Any] = [
            f"{'ref ' if steps and one == 's' else ''}{self.of_type(kind)} {one}"
            for one, kind in params
        ]
        result = "void" if steps else self.of_type(root.value.type)
        head = folded(f"public static {result} {name}({', '.join(given)}) {{")
        line = f"{'s =' if steps else 'return'} {self.expression(root.value)};"
        return "\n".join([self.comment(public.doc), *closed([*head, *folded(line, "    "), "}"])])

    def example(self) -> str:
        module, name = self.module, self.module.prefix
        load = f", {self.acting}" if self.users else ""
        body, motion = (
            ", ".join(self._sample(one, kind) for one, kind in params if one in module.sample)
            for params in (module.make_body.params, module.start.params)
        )
        return "\n".join(
            [
                "Use (.NET Core 3.0 or later; written with --no-fma, any .NET):\n",
                *self._mine(),
                f"    const {self.precision} h = {self.number(0.01)};",
                *folded(f"var body = {name}.MakeBody({body});", "    "),
                *folded(f"var s = {name}.Start(h, 0, {motion}, body{load});", "    "),
                f"    for (int k = 0; k < 1000; k++) {{ {name}.Step(ref s, h, k * h, body{load}); }}",
            ]
        )

    def _sample(self, name: str, kind: Type) -> str:
        """A value for a parameter, outside the class."""
        text = self.nested(self.module.sample[name], kind)
        return text.replace("new ", f"new {self.module.prefix}.")

    def _mine(self) -> list[str]:
        """Functions of the user that do nothing."""
        name, made = self.module.prefix, []
        for one in self.users:
            given = ", ".join(name for name, _ in one.params)
            made.append((one, f"({given}) => new {name}.{self.of_type(one.result)}()"))
        if self.module.motors:
            inside = ",\n        ".join(text for _, text in made)
            return [f"    var {self.acting} = new {name}.Acting({inside});"]
        return [f"    {name}.{_type(one)} {one.name} = {text};" for one, text in made]


def _type(one: UsersFunction) -> str:
    """The type of a function of the user."""
    return one.name.capitalize()
