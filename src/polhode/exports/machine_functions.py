"""The body of a function in LLVM's language, from the statements and expressions of `polhode.exports.ir`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any, ClassVar

from llvmlite import ir

from polhode.exports.ir import (
    BOOL,
    REAL,
    USER,
    Break,
    Call,
    Cond,
    Const,
    Declare,
    Expr,
    For,
    If,
    Index,
    Intrinsic,
    Item,
    Make,
    Number,
    Op,
    Return,
    Set,
    Statement,
    Type,
    Unpack,
    Var,
    While,
    has_numbers,
    parts,
)
from polhode.exports.trees import is_plain

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
WHOLE = ir.IntType(32)
ADDRESS = ir.PointerType()


class Writer:
    """Writes the body of one function.  Variables are places in memory, which LLVM turns into
    registers."""

    def __init__(self, machine: Any, made: ir.Function, params: list[tuple[str, Type]]) -> None:
        self.machine = machine
        self.entry = ir.IRBuilder(made.append_basic_block("entry"))  # places of variables
        self.made = made
        start = made.append_basic_block("start")
        self.entry.branch(start)
        self.entry.position_before(self.entry.block.terminator)
        self.builder = ir.IRBuilder(start)
        self.places: dict[str, Any] = {}
        self.ends: list[Any] = []  # of the loops
        for value, (name, _) in zip(made.args, params, strict=False):
            self.let(name, value)

    def let(self, name: str, value: Any) -> None:
        """Give a variable a value."""
        if name not in self.places:
            self.places[name] = self.entry.alloca(value.type, name=name)
        self.builder.store(value, self.places[name])

    # --- statements -------------------------------------------------------------------------------

    def write(self, block: list[Statement]) -> None:
        """The statements of a block."""
        for one in block:
            handler: Any = getattr(self, f"_{type(one).__name__}")
            handler(one)

    def _Set(self, one: Set) -> None:
        self.let(one.name, self.value(one.value))

    def _Unpack(self, one: Unpack) -> None:
        whole = self.value(one.value)
        for place, name in enumerate(one.names):
            if name:
                self.let(name, self.builder.extract_value(whole, left(one.value.type, place)))

    def _Declare(self, one: Declare) -> None:
        self.places.setdefault(one.name, self.entry.alloca(self.machine.type(one.type)))

    def _Return(self, one: Return) -> None:
        self.builder.ret(self.value(one.value))

    def _Break(self, one: Break) -> None:
        self.builder.branch(self.ends[-1])

    def _If(self, one: If) -> None:
        yes, no, after = (self.made.append_basic_block(name) for name in ("yes", "no", "after"))
        self.builder.cbranch(self.value(one.test), yes, no)
        for block, body in ((yes, one.body), (no, one.orelse)):
            self.builder.position_at_end(block)
            self.write(body)
            if not self.builder.block.is_terminated:
                self.builder.branch(after)
        self.builder.position_at_end(after)
        if not after_is_reached(one):
            self.builder.unreachable()

    def _loop(
        self, test: Callable[[], Any], body: list[Statement], last: Callable[[], Any]
    ) -> None:
        again, inside, after = (
            self.made.append_basic_block(name) for name in ("again", "inside", "after")
        )
        self.builder.branch(again)
        self.builder.position_at_end(again)
        self.builder.cbranch(test(), inside, after)
        self.builder.position_at_end(inside)
        self.ends.append(after)
        self.write(body)
        self.ends.pop()
        if not self.builder.block.is_terminated:
            last()
            self.builder.branch(again)
        self.builder.position_at_end(after)

    def _While(self, one: While) -> None:
        self._loop(lambda: self.value(one.test), one.body, lambda: None)

    def _For(self, one: For) -> None:
        def value() -> Any:
            return self.builder.load(self.places[one.name], typ=WHOLE)

        self.let(one.name, WHOLE(0))
        self._loop(
            lambda: self.builder.icmp_signed("<", value(), WHOLE(one.count)),
            one.body,
            lambda: self.let(one.name, self.builder.add(value(), WHOLE(1))),
        )

    # --- expressions ------------------------------------------------------------------------------

    def value(self, expr: Expr) -> Any:
        """The value of an expression."""
        handler: Any = getattr(self, f"_{type(expr).__name__}")
        return handler(expr)

    def _Number(self, one: Number) -> Any:
        return self.machine.number(one.value, one.type)

    def _Const(self, one: Const) -> Any:
        return self.machine.number(one.value, one.type)

    def _Var(self, one: Var) -> Any:
        if one.type == USER:  # a function of the linker's, which needs no address here
            return ir.Constant(ADDRESS, None)
        return self.builder.load(self.places[one.name], typ=self.machine.type(one.type))

    def _Op(self, one: Op) -> Any:
        builder, args = self.builder, one.args
        if one.op in ("and", "or"):
            first, *others = args
            for other in others:
                first = (
                    Cond(first, other, Number(False, BOOL))
                    if one.op == "and"
                    else Cond(first, Number(True, BOOL), other)
                )
            return self.value(first)
        a, *rest = map(self.value, args)
        whole = args[0].type != REAL
        if one.op == "not":
            return builder.not_(a)
        if one.op == "neg":
            return builder.neg(a) if whole else builder.fneg(a)
        (b,) = rest
        if one.op in COMPARISONS:
            if whole:
                return builder.icmp_signed(one.op, a, b)
            return (
                builder.fcmp_unordered(one.op, a, b)
                if one.op == "!="
                else builder.fcmp_ordered(one.op, a, b)
            )
        names = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
        return getattr(builder, names[one.op] if whole else f"f{names[one.op]}")(a, b)

    def _Cond(self, one: Cond) -> Any:
        """Only one of the two is evaluated, unless they cost nothing."""
        test = self.value(one.test)
        if is_plain(one.a) and is_plain(one.b):
            return self.builder.select(test, self.value(one.a), self.value(one.b))
        place = self.entry.alloca(self.machine.type(one.type))
        with self.builder.if_else(test) as (yes, no):
            with yes:
                self.builder.store(self.value(one.a), place)
            with no:
                self.builder.store(self.value(one.b), place)
        return self.builder.load(place, typ=self.machine.type(one.type))

    def _Item(self, one: Item) -> Any:
        return self.builder.extract_value(self.value(one.of), left(one.of.type, one.place))

    def _Index(self, one: Index) -> Any:
        assert isinstance(one.of, Const)
        table, kind = self.machine.table(one.of), self.machine.type(one.of.type)
        place = self.builder.gep(table, [WHOLE(0), self.value(one.at)], source_etype=kind)
        return self.builder.load(place, typ=kind.element)

    def _Make(self, one: Make) -> Any:
        made = ir.Constant(self.machine.type(one.type), ir.Undefined)
        given = [item for item in one.items if has_numbers(item.type)]
        for place, item in enumerate(given):
            made = self.builder.insert_value(made, self.value(item), place)
        return made

    def _Call(self, one: Call) -> Any:
        given = list(map(self.value, one.args))
        return self.builder.call(self.machine.made[one.function], given)

    def _Ask(self, one: Any) -> Any:
        """By address, in places of their own."""
        given = []
        for arg in one.args:
            value = self.value(arg)
            if parts(arg.type):
                place = self.entry.alloca(value.type)
                self.builder.store(value, place)
                value = place
            given.append(value)
        out = self.entry.alloca(self.machine.type(one.type))
        self.builder.call(self.machine.users_function(one.name), [out, *given])
        return self.builder.load(out, typ=self.machine.type(one.type))

    NAMES: ClassVar[dict[str, str]] = {"abs": "fabs"}

    def _Intrinsic(self, one: Intrinsic) -> Any:
        machine, args = self.machine, list(map(self.value, one.args))
        if one.name == "real":
            return self.builder.sitofp(args[0], machine.real)
        if one.name == "fma" and not machine.fma:
            return self.builder.fadd(self.builder.fmul(args[0], args[1]), args[2])
        if one.name == "fma" and machine.by_sums:
            return self.builder.call(machine.made[machine.by_sums[0]], args)
        return self.builder.call(
            machine.intrinsic(self.NAMES.get(one.name, one.name), len(args)), args
        )


def left(kind: Type, place: int) -> int:
    """The place of an item among those that are left in the program."""
    return list(accumulate(map(has_numbers, parts(kind) or ())))[place] - 1


def after_is_reached(one: If) -> bool:
    """Whether the program may go on behind a branch."""
    ends = [block and isinstance(block[-1], (Return, Break)) for block in (one.body, one.orelse)]
    return not all(ends)
