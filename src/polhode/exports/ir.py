"""A small typed language between Python and the languages in which a step is written out.

A `Function` has parameters, statements and a result, all of known types; expressions are trees.  A type
is a number, an `Array` of equal items, a `Record` of different ones, or `Static`: a Python object that is
known when a step is translated, such as a function, and of which nothing is left in the result.
Printers see only what `has_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# --- types ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scalar:
    """A number, a count or a truth value."""

    name: str


REAL, INT, BOOL = Scalar("real"), Scalar("int"), Scalar("bool")


@dataclass(frozen=True)
class Array:
    """So many items of one type."""

    item: Type
    count: int


@dataclass(frozen=True)
class Record:
    """Items of different types: those of a NamedTuple class, or of a plain tuple."""

    kind: type | None
    items: tuple[Type, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the items."""
        return getattr(self.kind, "_fields", None) or tuple(
            f"item{i + 1}" for i in range(len(self.items))
        )


@dataclass(frozen=True)
class User:
    """What calls the user's function: its pointer or closure, with its context."""


USER = User()


class Static:
    """The type of an object that is known at translation; numbers are compared by value."""

    def __init__(self, value: Any) -> None:
        self.value = value
        plain = value is None or isinstance(value, (bool, int, str, float))
        self.key = (type(value), repr(value)) if plain else id(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Static({self.value!r})"


Type = Scalar | Array | Record | User | Static


def has_numbers(kind: Type) -> bool:
    """Whether anything of the type is left when the program runs."""
    return not isinstance(kind, Static) and (
        not isinstance(kind, Record) or any(map(has_numbers, kind.items))
    )


def has_user(kind: Type) -> bool:
    """Whether what calls the user's function is in a value of the type."""
    return kind == USER or any(map(has_user, parts(kind) or ()))


def parts(kind: Type) -> tuple[Type, ...] | None:
    """The types of the items; None for what has none."""
    if isinstance(kind, Array):
        return (kind.item,) * kind.count
    return kind.items if isinstance(kind, Record) else None


def tuple_of(items: tuple[Type, ...]) -> Type:
    """The type of a plain tuple."""
    alike = len(set(items)) == 1 and has_numbers(items[0])
    return Array(items[0], len(items)) if alike else Record(None, items)


# --- expressions ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A literal."""

    value: Any
    type: Type = REAL


@dataclass(frozen=True)
class Const:
    """A constant of the whole file, a number or nested tuples of numbers, with the name it has in
    Python."""

    name: str
    value: Any
    type: Type


@dataclass(frozen=True)
class Known:
    """An object that is known at translation, with the name it has in Python."""

    value: Any = field(compare=False)
    name: str = field(default="", compare=False)
    type: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", Static(self.value))


@dataclass(frozen=True)
class Var:
    """A local variable or a parameter."""

    name: str
    type: Type


@dataclass(frozen=True)
class Op:
    """An operation: + - * / of two numbers, neg; < <= > >= == !=; and, or, not."""

    op: str
    args: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True)
class Cond:
    """`a` if `test` else `b`: only one of them is evaluated."""

    test: Expr
    a: Expr
    b: Expr

    @property
    def type(self) -> Type:
        return self.a.type


@dataclass(frozen=True)
class Item:
    """The item of an array or record in a place that is known."""

    of: Expr
    place: int

    @property
    def type(self) -> Type:
        return parts(self.of.type)[self.place]  # type: ignore[index]


@dataclass(frozen=True)
class Index:
    """The item of an array in a place that is not."""

    of: Expr
    at: Expr

    @property
    def type(self) -> Type:
        return self.of.type.item  # type: ignore[union-attr]


@dataclass(frozen=True)
class Make:
    """An array or record of these items."""

    type: Type
    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Call:
    """A call of a function, with the parameters that it has left."""

    function: Function
    args: tuple[Expr, ...]

    @property
    def type(self) -> Type:
        return self.function.result


@dataclass(frozen=True)
class Intrinsic:
    """What languages have functions for: sqrt, fma, abs, copysign; real, of a whole number; and for
    torques of users sin, cos, ..."""

    name: str
    args: tuple[Expr, ...]
    type: Type = REAL


@dataclass(frozen=True)
class Ask:
    """A call of the user's function."""

    user: Expr
    name: str
    args: tuple[Expr, ...]
    type: Type


Expr = Number | Const | Known | Var | Op | Cond | Item | Index | Make | Call | Intrinsic | Ask


# --- statements -----------------------------------------------------------------------------------


@dataclass
class Set:
    """name = value; `declares` where this is the declaration, `fixed` where it never changes."""

    name: str
    value: Expr
    declares: bool = False
    fixed: bool = False


@dataclass
class Unpack:
    """names = items of value; None for an item that is not wanted."""

    names: tuple[str | None, ...]
    value: Expr
    declares: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()

    def declare(self, name: str, fixed: bool) -> None:
        """Make this the declaration of a variable."""
        self.declares |= {name}
        self.fixed |= {name} if fixed else set()


@dataclass
class Declare:
    """A variable that gets its value in a block further in."""

    name: str
    type: Type


@dataclass
class If:
    test: Expr
    body: list[Statement]
    orelse: list[Statement]


@dataclass
class While:
    test: Expr
    body: list[Statement]


@dataclass
class For:
    """name = 0, 1, ..., count - 1."""

    name: str
    count: int
    body: list[Statement]


@dataclass
class Break:
    pass


@dataclass
class Return:
    value: Expr


Statement = Set | Unpack | Declare | If | While | For | Break | Return


@dataclass(eq=False)
class Function:
    """A function in the language; `keep` says which of the parameters in Python are left."""

    name: str
    params: list[tuple[str, Type]]
    result: Type
    body: list[Statement]
    doc: str
    python: Callable[..., Any]
    keep: tuple[bool, ...] = ()
    types: dict[str, Type] = field(default_factory=dict)  # of locals
    mutated: set[str] = field(default_factory=set)  # parameters that are assigned to
