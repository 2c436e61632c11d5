"""Expressions in the languages: brackets where the order of operations asks for them, and nowhere else.

The methods here write what C, C++, C#, JavaScript, Rust and WGSL have in common.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from polhode.exports.ir import (
    BOOL,
    INT,
    REAL,
    Array,
    Ask,
    Call,
    Cond,
    Const,
    Expr,
    Index,
    Intrinsic,
    Item,
    Make,
    Number,
    Op,
    Record,
    Type,
    Var,
    has_numbers,
)
from polhode.exports.text import shortest, single

# how tightly operators bind, the same in all languages
LEVELS = {
    "or": 2, "and": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "+": 6, "-": 6, "*": 7, "/": 7, "neg": 8, "not": 8,
}  # fmt: skip
CHOICE, UNARY, ATOM = 1, 8, 9


class Phrases(ABC):
    """Writes expressions; `Printer` adds the rest."""

    fused = True  # whether the language has fma
    words: ClassVar[dict[str, str]] = {
        "and": "&&", "or": "||", "not": "!", "true": "true", "false": "false",
    }  # fmt: skip
    names: dict[Any, str]  # of types, constants and functions
    local: dict[str, str]  # of the variables of the function being written
    precision: str
    fma: bool

    def expression(self, expr: Expr, level: int = 0) -> str:
        """An expression, in brackets if it binds less than `level`."""
        text, own = self.written(expr)
        return f"({text})" if own < level else text

    def written(self, expr: Expr) -> tuple[str, int]:
        """An expression and how tightly it binds."""
        if isinstance(expr, Number):
            text = self.number(expr.value, expr.type)
            return text, UNARY if text.startswith("-") else ATOM
        if isinstance(expr, Op):
            return self.operation(expr)
        if isinstance(expr, Cond):
            return self.chosen(expr), CHOICE
        if isinstance(expr, Intrinsic):
            return self.intrinsic(expr)
        return self.atom(expr), ATOM

    def atom(self, expr: Expr) -> str:
        """An expression that needs no brackets."""
        if isinstance(expr, Var):
            return self.variable(expr)
        if isinstance(expr, Const):
            return self.names[constant_key(expr)] if is_named(expr) else self.number(expr.value)
        if isinstance(expr, Item):
            return self.item(expr)
        if isinstance(expr, Index):
            return f"{self.expression(expr.of, ATOM)}{self.rows}[{self.expression(expr.at)}]"
        if isinstance(expr, Make):
            given = [one for one in expr.items if has_numbers(one.type)]
            return self.made(expr.type, list(map(self.expression, given)))
        if isinstance(expr, Call):
            return f"{self.names[expr.function]}({self.arguments(expr.args)})"
        assert isinstance(expr, Ask)
        return self.asked(expr)

    def arguments(self, args: Iterable[Expr]) -> str:
        """Expressions with commas between them."""
        return ", ".join(map(self.expression, args))

    def variable(self, expr: Var) -> str:
        """A variable or parameter."""
        return self.local.get(expr.name, expr.name)

    def operation(self, expr: Op) -> tuple[str, int]:
        """An operation; what Python computes first is computed first."""
        level = LEVELS[expr.op]
        if len(expr.args) == 1:
            sign = "-" if expr.op == "neg" else self.words["not"]
            return f"{sign}{self.expression(expr.args[0], ATOM)}", level
        if expr.op in ("and", "or"):
            word = f" {self.words[expr.op]} "
            return word.join(self.expression(one, LEVELS["=="]) for one in expr.args), level
        left, right = expr.args
        text = self.expression(right, level + 1)
        if text.startswith("-") and expr.op in "+-":
            text = f"({text})"
        word = self.words.get(expr.op, expr.op)
        return f"{self.expression(left, level)} {word} {text}", level

    def chosen(self, expr: Cond) -> str:
        """a if test else b."""
        test, a = (self.expression(one, CHOICE + 1) for one in (expr.test, expr.a))
        return f"{test} ? {a} : {self.expression(expr.b, CHOICE)}"

    # --- arrays and records -----------------------------------------------------------------------

    rows = ""  # what comes between an array and its [0]

    def item(self, expr: Item) -> str:
        """An item in a place that is known."""
        return self.expression(expr.of, ATOM) + self.access(expr.of.type, expr.place)

    def access(self, kind: Type, place: int) -> str:
        """.x, .name or [0]"""
        names = self.field_names(kind)
        return f".{names[place]}" if names else f"{self.rows}[{place}]"

    def field_names(self, kind: Type) -> tuple[str, ...] | None:
        """The names of the items of a small array or of a record; None for other arrays."""
        if isinstance(kind, Record):
            return kind.fields
        assert isinstance(kind, Array)
        square = kind == Array(Array(REAL, 3), 3)
        small = kind.item == REAL and 2 <= kind.count <= 4
        return tuple("xyzw"[: kind.count]) if small or square else None

    # --- numbers ----------------------------------------------------------------------------------

    def intrinsic(self, expr: Intrinsic) -> tuple[str, int]:
        """What languages have functions for."""
        if expr.name == "fma" and not (self.fma and self.fused):
            a, b, c = expr.args
            return self.operation(Op("+", (Op("*", (a, b), REAL), c), REAL))
        args = list(map(self.expression, expr.args))
        if expr.name == "real":
            return self.converted(self.expression(expr.args[0], ATOM)), UNARY
        return self.called(expr.name, args), ATOM

    def number(self, value: Any, kind: Type = REAL) -> str:
        """A literal."""
        if kind == BOOL:
            return self.words["true" if value else "false"]
        if kind == INT:
            return str(int(value))
        value = single(value) if self.precision == "float" else float(value)
        if not math.isfinite(value):
            return self.special(value)
        return self.literal(shortest(value) if self.precision == "float" else repr(value))

    def nested(self, value: Any, kind: Type) -> str:
        """The value of a constant, a number or nested tuples of numbers."""
        if isinstance(kind, Array):
            return self.made(kind, [self.nested(one, kind.item) for one in value])
        return self.number(value, kind)

    # --- what a language says ---------------------------------------------------------------------

    def literal(self, text: str) -> str:
        """A real number that has a point or an exponent."""
        return text

    @abstractmethod
    def special(self, value: float) -> str:
        """NaN, infinity or minus infinity."""

    @abstractmethod
    def made(self, kind: Type, items: list[str]) -> str:
        """An array or a record of these items."""

    @abstractmethod
    def called(self, name: str, args: list[str]) -> str:
        """sqrt, fma, abs, copysign, and of users' torques sin, cos, tan, exp, log, atan2, pow."""

    @abstractmethod
    def converted(self, text: str) -> str:
        """A whole number as a real one."""

    @abstractmethod
    def asked(self, expr: Ask) -> str:
        """A call of the user's function, through `expr.user`."""


def constant_key(one: Const) -> tuple[str, str]:
    """What tells constants apart."""
    return one.name, repr(one.value)


def is_named(one: Const) -> bool:
    """Whether a constant is declared: NaN and infinity are written where they are used."""
    return one.type != REAL or math.isfinite(one.value)
