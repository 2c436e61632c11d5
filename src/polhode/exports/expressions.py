"""Expressions of Python, with the objects that they really refer to, as those of `polhode.exports.ir`."""

from __future__ import annotations

import ast
import builtins
import math
import operator
import sys
from collections.abc import Callable
from typing import Any

from polhode.core.constant import Constant
from polhode.core.reads import MISSING, contents
from polhode.exports.ir import (
    BOOL,
    INT,
    REAL,
    USER,
    Array,
    Cond,
    Const,
    Expr,
    Index,
    Intrinsic,
    Known,
    Make,
    Number,
    Op,
    Record,
    Type,
    has_numbers,
    parts,
    tuple_of,
)
from polhode.exports.trees import is_plain, item, make


LARGEST = 2**31 - 1  # whole number of a program


class Needed(Exception):
    """Something must be known at translation that a loop changes."""


OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
WHOLE: dict[type, Any] = {  # of numbers that are known
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
COMPARISONS: dict[type, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
PYTHONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


class Expressions:
    """Translates the expressions of one function; `Calls` and `Body` add the rest."""

    env: dict[str, Expr]  # what the variables of the function stand for
    lost: set[str]  # those that have a value only in a loop

    def __init__(self, translator: Any, python: Callable[..., Any]) -> None:
        self.translator, self.python = translator, python
        self.out: list[Any] = []  # the statements of the block under way
        code, cells = python.__code__, python.__closure__ or ()  # type: ignore[attr-defined]
        self.closure = dict(zip(code.co_freevars, map(contents, cells), strict=True))

    def fail(self, node: Any, what: str) -> Any:
        """Refuse a part of the function."""
        raise NotImplementedError

    def held(self, value: Expr, name: str) -> Expr:
        """A value in a variable of its own."""
        raise NotImplementedError

    def value(self, node: Any) -> Expr:
        """The value of an expression."""
        handler: Any = getattr(self, f"_{type(node).__name__}", None)
        if handler is None or isinstance(node, ast.stmt):
            self.fail(
                node,
                f"`{ast.unparse(node)}` has no counterpart in other languages; use numbers and tuples",
            )
        return handler(node)

    # --- objects of Python ------------------------------------------------------------------------

    def wrapped(self, value: Any, name: str) -> Expr:
        """An object that a name or an attribute refers to."""
        if isinstance(value, float):
            return Const(name, value if isinstance(value, Constant) else float(value), REAL)
        if value is None or not (isinstance(value, tuple) and len(value) == 0):
            kind = constant_type(value)
            if kind is not None:
                return Const(name, value, kind)
            self.translator.kept.append(value)
            return Known(value, name)
        return Make(Record(None, ()), ())

    def _Constant(self, node: Any) -> Expr:
        return Number(node.value) if isinstance(node.value, float) else Known(node.value)

    def _Name(self, node: Any) -> Expr:
        name = node.id
        if name in self.env:
            return self.env[name]
        for scope in (self.closure, self.python.__globals__, vars(builtins)):  # type: ignore[attr-defined]
            if name in scope and scope[name] is not MISSING:
                return self.wrapped(scope[name], name)
        if name in self.lost:
            self.fail(node, f"{name!r} gets its value in a loop; give it one before the loop too")
        return self.fail(node, f"{name!r} has no value here")

    def _Attribute(self, node: Any) -> Expr:
        of = self.value(node.value)
        if of.type == USER:  # all that the user writes is called through the same
            return of
        if isinstance(of, Known):
            if not hasattr(of.value, node.attr):
                self.fail(node, f"`{ast.unparse(node)}` does not exist")
            return self.wrapped(getattr(of.value, node.attr), node.attr)
        if isinstance(of.type, Record) and of.type.kind is not None and node.attr in of.type.fields:
            return item(of, of.type.fields.index(node.attr))
        return self.fail(node, f"`{ast.unparse(node)}`: no such field; use a NamedTuple")

    # --- tuples -----------------------------------------------------------------------------------

    def items(self, value: Expr, node: Any) -> tuple[Expr, ...]:
        """The items of a tuple, each of which may be used more than once."""
        if isinstance(value, Make):
            return value.items
        if isinstance(value, Known) and isinstance(value.value, tuple):
            return tuple(self.wrapped(one, value.name) for one in value.value)
        kinds = parts(value.type)
        if kinds is None:
            self.fail(node, "a number or a function is used as a tuple")
        if not is_plain(value):
            value = self.held(value, "parts")
        return tuple(item(value, i) for i in range(len(kinds or ())))

    def row(self, items: tuple[Expr, ...]) -> Expr:
        """A plain tuple."""
        if any(one.type == REAL for one in items):  # (0, 0, x)
            items = tuple(self.real(one) if is_count(one) else one for one in items)
        return make(tuple_of(tuple(one.type for one in items)), items)

    def _Tuple(self, node: Any) -> Expr:
        return self.row(self.listed(node.elts))

    _List = _Tuple

    def listed(self, nodes: list[Any]) -> tuple[Expr, ...]:
        """The values of expressions, with those of *starred tuples."""
        found: list[Expr] = []
        for one in nodes:
            if isinstance(one, ast.Starred):
                found += self.items(self.value(one.value), one)
            else:
                found.append(self.value(one))
        return tuple(found)

    def _Subscript(self, node: Any) -> Expr:
        of = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            return self.row(self.items(of, node)[self._slice(node)])
        at = self.value(node.slice)
        if isinstance(of, Known) and isinstance(at, Known):
            fields = getattr(of.value, "_fields", None)
            try:
                return self.wrapped(of.value[at.value], fields[at.value] if fields else of.name)
            except (LookupError, TypeError):
                self.fail(node, f"`{ast.unparse(node)}`: there is no such item")
        count = len(parts(of.type) or ())
        if isinstance(at, Known) and isinstance(at.value, int):
            if not -count <= at.value < count:
                self.fail(node, f"`{ast.unparse(node)}` is out of range")
            return item(of, at.value % count)
        if at.type != INT:
            self.fail(node, f"`{ast.unparse(node)}`: the place must be a whole number")
        if isinstance(of, Const) and isinstance(of.type, Array) and count > 4:
            return Index(of, at)
        raise Needed("an item in a place that changes")

    def _slice(self, node: Any) -> slice:
        given = (node.slice.lower, node.slice.upper, node.slice.step)
        ends = [Known(None) if one is None else self.value(one) for one in given]
        if not all(isinstance(one, Known) for one in ends):
            self.fail(node, "a slice needs ends that are known")
        return slice(*(one.value for one in ends if isinstance(one, Known)))

    # --- numbers ----------------------------------------------------------------------------------

    def real(self, value: Expr, node: Any = None) -> Expr:
        """The value as a float."""
        if value.type == REAL:
            return value
        if isinstance(value, Known) and isinstance(value.value, (int, float)):
            if abs(value.value) > sys.float_info.max and value.value not in (math.inf, -math.inf):
                self.fail(node, "a whole number is too large for a float")
            return Number(float(value.value))
        if value.type == INT:
            return Intrinsic("real", (value,))
        return self.fail(
            node, "a number is expected here, not a truth value, a tuple or a function"
        )

    def counted(self, value: Expr) -> Expr:
        """A number or a truth value that is known as one of the program."""
        if isinstance(value, Known) and isinstance(value.value, float):
            return Number(value.value)
        if isinstance(value, Known) and isinstance(value.value, int):
            kind = BOOL if isinstance(value.value, bool) else INT
            if abs(value.value) > LARGEST:
                self.fail(
                    None, f"{value.value} is too large for a whole number; write {value.value}.0"
                )
            named = value.name.isupper()
            return Const(value.name, value.value, kind) if named else Number(value.value, kind)
        return value

    def truth(self, value: Expr, node: Any) -> Expr:
        """The value as a condition."""
        if isinstance(value, Known):
            return Known(bool(value.value))
        return value if value.type == BOOL else self.fail(node, "a condition must be a comparison")

    def alike(self, a: Expr, b: Expr, node: Any) -> tuple[Expr, Expr]:
        """Two values brought to one type."""
        if a.type == b.type:
            return a, b
        if isinstance(a, Make) and isinstance(b, Make) and len(a.items) == len(b.items):
            pairs = [self.alike(x, y, node) for x, y in zip(a.items, b.items, strict=True)]
            one, other = (
                _like(made, tuple(items))
                for made, items in zip((a, b), zip(*pairs, strict=True), strict=True)
            )
            if one.type == other.type:
                return one, other
        if REAL in (a.type, b.type):
            return self.real(a, node), self.real(b, node)
        a, b = self.counted(a), self.counted(b)
        if a.type != b.type:
            self.fail(node, "it is one thing or another of different types; make them the same")
        return a, b

    def _BinOp(self, node: Any) -> Expr:
        a, b, kind = self.value(node.left), self.value(node.right), type(node.op)
        if kind is ast.Add and parts(a.type) is not None and parts(b.type) is not None:
            return self.row(self.items(a, node) + self.items(b, node))
        if isinstance(a, Known) and isinstance(b, Known) and kind is not ast.Div:
            return self._counts(node, a, b)
        if kind is ast.Pow and isinstance(b, (Known, Number)) and b.value in (2, 3) and is_plain(a):
            x = self.real(a, node)
            square = Op("*", (x, x), REAL)
            return square if b.value == 2 else Op("*", (square, x), REAL)
        if kind in WHOLE and kind not in OPERATORS and INT in (a.type, b.type):
            raise Needed(f"a number of `{ast.unparse(node)}` changes")
        if kind not in OPERATORS:
            self.fail(node, f"`{ast.unparse(node)}`: only + - * / of numbers can be exported")
        op, kinds = OPERATORS[kind], (a.type, b.type)
        if op != "/" and INT in kinds and REAL not in kinds:
            return Op(op, (self.counted(a), self.counted(b)), INT)
        return Op(op, (self.real(a, node), self.real(b, node)), REAL)

    def _counts(self, node: Any, a: Known, b: Known) -> Expr:
        """An operation on whole numbers that are known."""
        try:
            return Known(WHOLE[type(node.op)](a.value, b.value))
        except (KeyError, TypeError, ValueError, ArithmeticError):
            return self.fail(node, f"`{ast.unparse(node)}` cannot be computed")

    def _UnaryOp(self, node: Any) -> Expr:
        of = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            of = self.truth(of, node)
            return Known(not of.value) if isinstance(of, Known) else Op("not", (of,), BOOL)
        if isinstance(node.op, ast.UAdd):
            return of
        if isinstance(of, Known) and isinstance(of.value, int):
            return Known(-of.value)
        if isinstance(of, Number):
            return Number(-of.value, of.type)
        return Op("neg", (of if of.type == INT else self.real(of, node),), of.type)

    def _Compare(self, node: Any) -> Expr:
        values = [self.value(node.left), *map(self.value, node.comparators)]
        for i, one in enumerate(values[1:-1], 1):
            values[i] = one if is_plain(one) else self.held(one, "middle")
        tests = [
            self.compared(COMPARISONS.get(type(op), ""), a, b, node)
            for op, a, b in zip(node.ops, values, values[1:], strict=False)
        ]
        return self.joined("and", tests, node)

    def compared(self, op: str, a: Expr, b: Expr, node: Any) -> Expr:
        """A comparison; of tuples, item by item."""
        if not op:
            self.fail(node, f"`{ast.unparse(node)}`: numbers are compared by < <= > >= == != alone")
        if isinstance(a, Known) and isinstance(b, Known):
            return Known(PYTHONS[op](a.value, b.value))
        if parts(a.type) is not None and op in ("==", "!="):
            pairs = zip(self.items(a, node), self.items(b, node), strict=True)
            tests = [self.compared(op, x, y, node) for x, y in pairs]
            return self.joined("and" if op == "==" else "or", tests, node)
        return Op(op, self.alike(a, b, node), BOOL)

    def joined(self, op: str, tests: list[Expr], node: Any) -> Expr:
        """Conditions joined by `and` or `or`, those that are known left out."""
        left: list[Expr] = []
        for one in tests:
            one = self.truth(one, node)
            if not isinstance(one, Known):
                left.append(one)
            elif bool(one.value) == (op == "or"):
                return Op(op, (*left, Number(one.value, BOOL)), BOOL) if left else one
        if len(left) < 2:
            return left[0] if left else Known(op == "and")
        return Op(op, tuple(left), BOOL)

    def _BoolOp(self, node: Any) -> Expr:
        op = "and" if isinstance(node.op, ast.And) else "or"
        return self.joined(op, list(map(self.value, node.values)), node)

    def _IfExp(self, node: Any) -> Expr:
        test = self.truth(self.value(node.test), node)
        if isinstance(test, Known):
            return self.value(node.body if test.value else node.orelse)
        return self.chosen(test, self.value(node.body), self.value(node.orelse), node)

    def chosen(self, test: Expr, a: Expr, b: Expr, node: Any) -> Expr:
        """a if test else b."""
        a, b = self.alike(a, b, node)
        return a if a == b or not has_numbers(a.type) else Cond(test, a, b)


def _like(made: Make, items: tuple[Expr, ...]) -> Make:
    """Other items in a tuple or NamedTuple."""
    kinds = tuple(one.type for one in items)
    kind = made.type.kind if isinstance(made.type, Record) else None
    return Make(Record(kind, kinds) if kind else tuple_of(kinds), items)


def is_count(value: Expr) -> bool:
    """Whether a value is a whole number that is known."""
    return isinstance(value, Known) and type(value.value) is int


def constant_type(value: Any) -> Type | None:
    """The type of nested tuples of floats; None for anything else."""
    if isinstance(value, float):
        return REAL
    if type(value) is not tuple or not value:
        return None
    kinds = [constant_type(one) for one in value]
    return None if None in kinds else tuple_of(tuple(kinds))  # type: ignore[arg-type]
