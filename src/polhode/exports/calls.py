"""Calls: of functions that are translated in their turn, of NamedTuples, and of what every language has."""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

from polhode.core.fma import fma
from polhode.core.reads import python_function
from polhode.exports.expressions import Expressions
from polhode.exports.ir import (
    BOOL,
    USER,
    Ask,
    Call,
    Cond,
    Expr,
    Function,
    Intrinsic,
    Known,
    Make,
    Number,
    Op,
    Record,
    Return,
    Set,
    Type,
    Var,
    has_numbers,
)
from polhode.exports.trees import is_plain, known, make, mapped, walk

ZERO = Number(0.0)
INTRINSICS: dict[Any, str] = {
    math.sqrt: "sqrt",
    math.fabs: "abs",
    abs: "abs",
    math.copysign: "copysign",
    fma: "fma",
    # in torques of users alone: no method uses them
    math.sin: "sin",
    math.cos: "cos",
    math.tan: "tan",
    math.exp: "exp",
    math.log: "log",
    math.atan2: "atan2",
    math.pow: "pow",
}


ARGUMENTS = {"copysign": 2, "fma": 3, "atan2": 2, "pow": 2}  # of those that have several


class UsersFunction:
    """Stands for a function that the user of the file writes; its last argument in Python is what it
    is called through."""

    def __init__(self, name: str, params: tuple[tuple[str, Type], ...], result: Type) -> None:
        self.name, self.params, self.result = name, params, result


class Calls(Expressions):
    """Translates calls."""

    def _Call(self, node: Any) -> Expr:
        of = self.value(node.func)
        if not isinstance(of, Known):
            self.fail(node, f"`{ast.unparse(node.func)}` is no function known at translation")
        assert isinstance(of, Known)
        args, function = self.listed(node.args), of.value
        if isinstance(function, type) and hasattr(function, "_fields"):
            return self._record(function, args, node)
        if node.keywords:
            self.fail(node, "arguments are given by name; give them in their order")
        if isinstance(function, UsersFunction):
            *given, user = args
            assert user.type == USER
            return Ask(user, function.name, tuple(given), function.result)
        try:
            name = INTRINSICS.get(function)
        except TypeError:  # not hashable
            name = None
        if name is not None:
            if len(args) != ARGUMENTS.get(name, 1):
                self.fail(node, f"`{ast.unparse(node)}` has too many arguments or too few")
            return Intrinsic(name, tuple(self.real(one, node) for one in args))
        own = getattr(function, "__name__", "")
        special: Any = getattr(self, f"_{own}_of", None)
        if special is not None and getattr(builtins, own, None) is function and args:
            return special(args, node)
        if python_function(function) is None:
            self.fail(
                node,
                f"it calls {ast.unparse(node.func)}, which cannot be exported; use + - * /, sqrt and "
                "functions made of these",
            )
        return self._function(function, args)

    def _function(self, function: Any, args: tuple[Expr, ...]) -> Expr:
        made = self.translator.function(function, tuple(one.type for one in args))
        if not has_numbers(made.result):
            return known(made.result)
        given = tuple(one for one, keep in zip(args, made.keep, strict=True) if keep)
        return in_place(made, given) or Call(made, given)

    def _record(self, kind: Any, args: tuple[Expr, ...], node: Any) -> Expr:
        """A NamedTuple."""
        named = {one.arg: self.value(one.value) for one in node.keywords}
        args += tuple(named[name] for name in kind._fields[len(args) :] if name in named)
        if len(args) != len(kind._fields):
            self.fail(node, f"{kind.__name__} has {len(kind._fields)} fields; give all of them")
        zeros = self.translator.zeros
        pairs = zip(kind._fields, args, strict=True)
        args = tuple(Known(0.0) if name in zeros and one == ZERO else one for name, one in pairs)
        return make(Record(kind, tuple(one.type for one in args)), args)

    # --- what Python has itself -------------------------------------------------------------------

    def _len_of(self, args: tuple[Expr, ...], node: Any) -> Expr:
        return Known(len(self.items(args[0], node)))

    def _range_of(self, args: tuple[Expr, ...], node: Any) -> Expr:
        ends = [one.value for one in args if isinstance(one, Known)]
        if len(ends) < len(args):
            self.fail(
                node, "a loop needs a number of rounds that is known, or `while` with a bound"
            )
        return Known(range(*ends))

    def _float_of(self, args: tuple[Expr, ...], node: Any) -> Expr:
        return self.real(args[0], node)

    def _max_of(self, args: tuple[Expr, ...], node: Any) -> Expr:
        return self._extreme(">", args, node)

    def _min_of(self, args: tuple[Expr, ...], node: Any) -> Expr:
        return self._extreme("<", args, node)

    def _extreme(self, op: str, args: tuple[Expr, ...], node: Any) -> Expr:
        args = self.items(args[0], node) if len(args) == 1 else args
        best, *others = (one if is_plain(one) else self.held(one, "number") for one in args)
        for one in others:
            a, b = self.alike(best, one, node)
            if not is_plain(a):
                a = self.held(a, "number")
            best = Cond(Op(op, (b, a), BOOL), b, a)
        return best


# --- functions that only hand over what they are given --------------------------------------------


def in_place(function: Function, args: tuple[Expr, ...]) -> Expr | None:
    """The result of a function that only hands over what it is given, in place of a call."""
    result = forwarded(function)
    if result is None:
        return None
    given = {name: arg for (name, _), arg in zip(function.params, args, strict=True)}
    uses = [one.name for one in walk(result) if isinstance(one, Var)]
    if any(uses.count(name) > 1 and not is_plain(arg) for name, arg in given.items()):
        return None
    return substituted(result, given)


def inlined(function: Function, args: tuple[Expr, ...]) -> Expr:
    """What a function returns for these arguments, each a variable: its only statement, or a call."""
    only = function.body[0]
    if len(function.body) == 1 and isinstance(only, Return):
        names = [name for name, _ in function.params]
        return substituted(only.value, dict(zip(names, args, strict=True)))
    return in_place(function, args) or Call(function, args)


def substituted(expr: Expr, given: dict[str, Expr]) -> Expr:
    """An expression with other expressions in place of variables."""
    if isinstance(expr, Var):
        return given[expr.name]
    return mapped(expr, lambda one: substituted(one, given))


def forwarded(function: Function) -> Expr | None:
    """What a function returns, where it does nothing but hand it over: a parameter, an item of one,
    or what another function makes of these."""
    *before, last = function.body
    if not isinstance(last, Return) or len(before) > 1:
        return None
    result = last.value
    if before:
        only = before[0]
        if not isinstance(only, Set) or result != Var(only.name, only.value.type):
            return None
        result = only.value
    if isinstance(result, (Call, Ask)):
        given: tuple[Expr, ...] = result.args
    else:
        given = result.items if isinstance(result, Make) and len(result.items) == 1 else (result,)
    return result if all(is_plain(one) for one in given) else None


__all__ = ["Calls", "UsersFunction", "inlined"]
