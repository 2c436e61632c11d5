"""Walks through the trees of `polhode.exports.ir`, and what builds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from polhode.exports.ir import (
    Ask,
    Call,
    Cond,
    Const,
    Expr,
    For,
    Function,
    If,
    Index,
    Intrinsic,
    Item,
    Known,
    Make,
    Number,
    Op,
    Record,
    Return,
    Set,
    Statement,
    Static,
    Type,
    Unpack,
    Var,
    While,
    has_numbers,
    parts,
)

# --- walking --------------------------------------------------------------------------------------


_PARTS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Op: lambda one: one.args,
    Cond: lambda one: (one.test, one.a, one.b),
    Item: lambda one: (one.of,),
    Index: lambda one: (one.of, one.at),
    Make: lambda one: one.items,
    Call: lambda one: one.args,
    Intrinsic: lambda one: one.args,
    Ask: lambda one: (*one.args, one.user),
}


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside one."""
    found = _PARTS.get(type(expr))
    return found(expr) if found else ()


def walk(expr: Expr) -> Iterator[Expr]:
    """An expression and all inside it."""
    yield expr
    for one in children(expr):
        yield from walk(one)


def mapped(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with its direct parts changed."""
    if isinstance(expr, Op):
        return Op(expr.op, tuple(map(change, expr.args)), expr.type)
    if isinstance(expr, Cond):
        return Cond(change(expr.test), change(expr.a), change(expr.b))
    if isinstance(expr, Item):
        return item(change(expr.of), expr.place)
    if isinstance(expr, Index):
        return Index(change(expr.of), change(expr.at))
    if isinstance(expr, Make):
        return make(expr.type, tuple(map(change, expr.items)))
    if isinstance(expr, Call):
        return Call(expr.function, tuple(map(change, expr.args)))
    if isinstance(expr, Intrinsic):
        return Intrinsic(expr.name, tuple(map(change, expr.args)), expr.type)
    if isinstance(expr, Ask):
        return Ask(change(expr.user), expr.name, tuple(map(change, expr.args)), expr.type)
    return expr


def values(statement: Statement) -> tuple[Expr, ...]:
    """The expressions of a statement, without those of its blocks."""
    if isinstance(statement, (Set, Unpack, Return)):
        return (statement.value,)
    return (statement.test,) if isinstance(statement, (If, While)) else ()


def blocks(statement: Statement) -> tuple[list[Statement], ...]:
    """The blocks of a statement."""
    if isinstance(statement, If):
        return statement.body, statement.orelse
    return (statement.body,) if isinstance(statement, (While, For)) else ()


def names_set(statement: Statement) -> list[str]:
    """The variables that a statement sets, without those of its blocks."""
    if isinstance(statement, Set):
        return [statement.name]
    return [name for name in statement.names if name] if isinstance(statement, Unpack) else []


def statements(block: list[Statement]) -> Iterator[Statement]:
    """The statements of a block and of all blocks in it."""
    for one in block:
        yield one
        for inner in blocks(one):
            yield from statements(inner)


def reads(expr: Expr) -> set[str]:
    """The variables that an expression reads."""
    return {one.name for one in walk(expr) if isinstance(one, Var)}


def called(function: Function) -> Iterator[Function]:
    """The functions that one calls, in the order of their first calls."""
    for one in statements(function.body):
        for value in values(one):
            yield from (part.function for part in walk(value) if isinstance(part, Call))


# --- building -------------------------------------------------------------------------------------


def is_plain(expr: Expr) -> bool:
    """Whether an expression costs nothing, so that it may be written twice."""
    if isinstance(expr, Item):
        return is_plain(expr.of)
    return isinstance(expr, (Var, Const, Known, Number))


def item(of: Expr, place: int) -> Expr:
    """An item of an expression, which may be known."""
    if isinstance(of, Make):
        return of.items[place]
    kind = parts(of.type)[place]  # type: ignore[index]
    return Item(of, place) if has_numbers(kind) else known(kind)


def known(kind: Type) -> Expr:
    """The value of a type without numbers."""
    if isinstance(kind, Static):
        return Known(kind.value)
    assert isinstance(kind, Record)
    return Make(kind, tuple(map(known, kind.items)))


def make(kind: Type, items: tuple[Expr, ...]) -> Expr:
    """A tuple of items, or what they are all the items of."""
    first = items[0] if items else None
    if not (isinstance(first, Item) and is_plain(first.of) and first.of.type == kind):
        return Make(kind, items)
    whole = tuple(item(first.of, i) for i in range(len(items)))
    return first.of if items == whole else Make(kind, items)
