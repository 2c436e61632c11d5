"""What the printers of all languages share: the walk through types, constants, functions and statements.

A language is a subclass, `Language` in polhode/exports/languages/NAME.py, that says what differs.  The
methods here write the syntax of C and its relatives; those without a body are what each language says.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from polhode.exports.comments import comment
from polhode.exports.header import header
from polhode.exports.ir import (
    INT,
    Break,
    Call,
    Const,
    Declare,
    Expr,
    For,
    Function,
    If,
    Record,
    Return,
    Scalar,
    Set,
    Statement,
    Type,
    Unpack,
    Var,
    While,
    has_numbers,
    parts,
)
from polhode.exports.naming import Names
from polhode.exports.phrases import Phrases, constant_key, is_named
from polhode.exports.sample import PARTS
from polhode.exports.text import WIDTH, closed, folded, grouped
from polhode.exports.trees import is_plain, item, statements, values, walk


class Printer(Names, Phrases):
    """Writes one module in one language; `module` is what `polhode.exports.module` makes."""

    suffix = ""  # of the file
    binary = False  # whether it is no text
    target: str | None = None  # of machine code
    precisions: tuple[str, ...] = (
        "double",
        "float",
    )  # that it can be written in, the usual one first
    reserved: frozenset[str] = frozenset()  # words that cannot be names
    public_names: frozenset[str] = frozenset()  # of functions, which variables may have too
    keywords: frozenset[str] = frozenset()  # those that fields cannot be called either
    prefixed = False  # whether names of public functions begin with that of the method
    joined = False  # whether declarations of one type share a line
    line_end = ";"
    changing = ""  # the word before a variable that changes, in a pattern
    repeat = "while"  # the word that begins a loop with a condition

    def __init__(self, module: Any, precision: str = "double", fma: bool = True) -> None:
        self.module, self.precision, self.fma = module, precision, fma
        self.functions = self.needed()
        self.taken: set[str] = set(self.reserved | self.public_names)
        if self.prefixed:
            self.taken |= {self.public_name(one.name) for one in self.public_functions()}
        self.names, self.local = {}, {}
        self.alike: dict[Type, Type] = {}  # types that have the same declaration as an earlier one
        self.types = list(self._types())
        self.constants = list(self._constants())
        for kind in self.types:
            self.names[kind] = self.unused(self.type_name(kind))
        for kind, like in self.alike.items():
            self.names[kind] = self.names[like]
        for one in self.constants:
            self.names[constant_key(one)] = self.unused(self.constant_name(one.name))
        for function in self.functions:
            self.names[function] = self.unused(self.function_name(function.name))

    def needed(self) -> list[Function]:
        """The functions of the file."""
        return self.module.functions

    # --- what there is ----------------------------------------------------------------------------

    def inside(self, function: Function) -> Iterator[Expr]:
        """All expressions of a function."""
        for one in statements(function.body):
            for value in values(one):
                yield from walk(value)

    def everything(self) -> Iterator[Expr]:
        """All expressions of the file."""
        for root in self.module.roots:
            yield from walk(root.value)
        for function in self.functions:
            yield from self.inside(function)

    def _types(self) -> Iterable[Type]:
        """The arrays and records that are used, each after those it is made of; and USER, if the user
        gives the torque."""
        found: dict[Type, None] = {}
        contents: dict[Any, Type] = {}

        def add(kind: Type) -> None:
            if kind in found or isinstance(kind, Scalar) or not has_numbers(kind):
                return
            for part in parts(kind) or ():
                add(part)
            if isinstance(kind, Record):
                pairs = zip(kind.fields, kind.items, strict=True)
                left = kind.kind, tuple(pair for pair in pairs if has_numbers(pair[1]))
                if contents.setdefault(left, kind) != kind:
                    self.alike[kind] = contents[left]
                    return
            found[kind] = None

        for kind in self.module.public_types():
            add(kind)
        for function in self.functions:
            for kind in (*(kind for _, kind in function.params), function.result):
                add(kind)
            for one in self.inside(function):
                add(one.type)
        return found

    def _constants(self) -> Iterable[Const]:
        found: dict[Any, Const] = {}
        for function in self.functions:
            for one in self.inside(function):
                if isinstance(one, Const) and is_named(one):
                    found.setdefault(constant_key(one), one)
        return found.values()

    # --- the file ---------------------------------------------------------------------------------

    def content(self) -> str | bytes:
        """What is in the file."""
        return self.text()

    def text(self) -> str:
        """The whole file."""
        before = [self.comment(header(self.module, self)), self.preamble()]
        before += [self.types_text(), self.constants_text()]
        functions = grouped(map(self.function, self.functions), 8)
        blocks = (block.strip("\n") for block in [*before, functions, self.public()])
        return "\n\n".join(filter(None, blocks)) + "\n"

    def types_text(self) -> str:
        """The declarations of types."""
        return "\n".join(filter(None, map(self.declared, self.types)))

    def constants_text(self) -> str:
        """The declarations of constants."""
        return "\n".join(map(self.constant, self.constants))

    def function(self, function: Function) -> str:
        """A function with its docstring."""
        self.local = {}
        inside = list(self.inside(function))
        used = {self.names[one.function] for one in inside if isinstance(one, Call)}
        used |= {self.atom(one) for one in inside if isinstance(one, Const)}
        used |= {
            text for kind in self.types for text in (self.names[kind], self.names[kind].lower())
        }
        for name in dict.fromkeys([*(name for name, _ in function.params), *function.types]):
            self.local[name] = self.unlike(name, used)
        text = comment(function, self.precision)
        doc = [self.comment(text)] if text else []
        lines = [*self.opened(function), *self.block(function.body, 1), "}"]
        return "\n".join([*doc, *closed(lines)])

    def unlike(self, name: str, used: set[str]) -> str:
        """The name of a variable of the function, unlike those that are used and other variables."""
        found = name.lstrip("_") or "unnamed"
        if found in used or self.is_reserved(found):
            found = f"{found}_"
        while found in used or found in self.local.values():
            found = f"{found}_"
        return found

    # --- statements -------------------------------------------------------------------------------

    def block(self, lines: list[Statement], depth: int) -> list[str]:
        """The lines of a block; in some languages short declarations of one type share a line."""
        made: list[str] = []
        group: list[Set] = []
        for one in [*(part for line in lines for part in self._parted(line)), None]:
            if group and (one is None or not self._fits([*group, one], depth)):
                made += self._together(group, depth)
                group = []
            if self.joined and isinstance(one, Set) and one.fixed:
                group.append(one)
            elif one is not None:
                made += self.statement(one, depth)
        return made

    def _parted(self, one: Statement) -> list[Statement]:
        """Several declarations in place of one that takes a variable apart."""
        if not (self.joined and isinstance(one, Unpack) and is_plain(one.value)):
            return [one]
        if not all(name in one.fixed for name in one.names if name):
            return [one]
        pairs = [(name, item(one.value, i)) for i, name in enumerate(one.names) if name]
        return [Set(name, value, True, True) for name, value in pairs]

    def _fits(self, group: list[Any], depth: int) -> bool:
        """Whether these statements are declarations of one type that fit on one line."""
        if not all(isinstance(one, Set) and one.fixed for one in group):
            return False
        kinds = {one.value.type for one in group}
        return len(kinds) == 1 and len(self._together(group, depth)) == 1

    def _together(self, group: list[Set], depth: int) -> list[str]:
        pairs = [(self.called_here(one.name), self.expression(one.value)) for one in group]
        return self.together(pairs, group[0].value.type, depth)

    def field_names(self, kind: Type) -> tuple[str, ...] | None:
        names = super().field_names(kind)
        return names and tuple(f"{name}_" if name in self.keywords else name for name in names)

    def called_here(self, name: str) -> str:
        """The name of a variable."""
        return self.local.get(name, name)

    def statement(self, one: Statement, depth: int) -> list[str]:
        """The lines of a statement."""
        if isinstance(one, Set):
            return self.line(self.set(one.name, one.value, one.declares, one.fixed), depth)
        if isinstance(one, Unpack):
            return self.unpacked(one, depth)
        if isinstance(one, Declare):
            return self.line(self.declare(self.called_here(one.name), one.type), depth)
        if isinstance(one, Return):
            return self.line(f"return {self.expression(one.value)}", depth)
        if isinstance(one, Break):
            return self.line("break", depth)
        lines = [*self.line(self.beginning(one), depth, ""), *self.block(one.body, depth + 1)]
        if isinstance(one, If) and one.orelse:
            lines += [*self.line("} else {", depth, ""), *self.block(one.orelse, depth + 1)]
        return [*lines, *self.line("}", depth, "")]

    def beginning(self, one: If | While | For) -> str:
        """The line before a block."""
        if isinstance(one, For):
            return self.loop(self.called_here(one.name), one.count)
        return f"{'if' if isinstance(one, If) else self.repeat} {self.condition(one.test)} {{"

    def condition(self, test: Expr) -> str:
        """The condition of a branch or a loop."""
        return f"({self.expression(test)})"

    def loop(self, i: str, count: int) -> str:
        """The beginning of a loop over 0, 1, ..., count - 1."""
        return f"for ({self.of_type(INT)} {i} = 0; {i} < {count}; {i}++) {{"

    def line(self, text: str, depth: int, end: str | None = None) -> list[str]:
        """A statement on lines that are not too long."""
        return folded(text + (self.line_end if end is None else end), "    " * depth)

    def set(self, name: str, value: Expr, declares: bool, fixed: bool) -> str:
        """A variable gets a value."""
        name, text = self.called_here(name), self.expression(value)
        return self.declared_as(name, text, value.type, fixed) if declares else f"{name} = {text}"

    def unpacked(self, one: Unpack, depth: int) -> list[str]:
        """Several variables from one value: by way of a variable that has all of them."""
        value = one.value
        if not is_plain(value):
            whole = self.fresh("_".join(self.called_here(name) for name in one.names if name))
            before = self.line(self.set(whole, value, True, True), depth)
            after = self._items(one, Var(whole, value.type), depth)
            both = [f"{before[0]} {after[0].lstrip()}"] if len(before) == len(after) == 1 else []
            return both if self.joined and both and len(both[0]) <= WIDTH else [*before, *after]
        return self._items(one, value, depth)

    def _items(self, one: Unpack, value: Expr, depth: int) -> list[str]:
        """Several variables from the items of a variable."""
        wanted = [(name, item(value, i)) for i, name in enumerate(one.names) if name]
        if (
            all(name in one.fixed for name, _ in wanted)
            and len({part.type for _, part in wanted}) == 1
        ):
            group = [Set(name, part) for name, part in wanted]
            return self._together(group, depth)
        texts = [
            self.set(name, part, name in one.declares, name in one.fixed) for name, part in wanted
        ]
        short = f"{self.line_end} ".join(texts)
        if self.joined and len(self.line(short, depth)) == 1:
            texts = [short]
        return [line for text in texts for line in self.line(text, depth)]

    def apart(
        self, one: Unpack, declare: Callable[[str, Type], str], depth: int
    ) -> tuple[bool, list[str], list[str]]:
        """A pattern of variables: whether it declares them, the lines that do so before it, its items."""
        names = [name for name in one.names if name]
        new, before, shown = one.declares >= set(names), [], []
        for name, kind in zip(one.names, parts(one.value.type) or (), strict=True):
            if name:
                word = "" if name in one.fixed else self.changing
                shown.append(f"{word if new else ''}{self.called_here(name)}")
                if name in one.declares and not new:
                    before += self.line(declare(f"{word}{self.called_here(name)}", kind), depth)
            elif has_numbers(kind):
                shown.append("_")
        return new, before, shown

    def fresh(self, name: str) -> str:
        """A variable of the function that is new."""
        found, n = name, 1
        while found in self.local.values():
            n += 1
            found = f"{name}{n}"
        self.local[found] = found
        return found

    def together(self, pairs: list[tuple[str, str]], kind: Type, depth: int) -> list[str]:
        """Declarations of variables of one type that do not change, with their values."""
        texts = [self.declared_as(name, value, kind, True) for name, value in pairs]
        return [line for text in texts for line in self.line(text, depth)]

    def first_arguments(self) -> tuple[str, str]:
        """The body and the motion of the example, as arguments."""
        made, start, sample = self.module.make_body, self.module.start, self.module.sample
        body = ", ".join(self.nested(sample[one], kind) for one, kind in made.params)
        moving = [(one, kind) for one, kind in start.params if one in PARTS]
        return body, ", ".join(self.nested(sample[one], kind) for one, kind in moving)

    # --- what a language says ---------------------------------------------------------------------

    @abstractmethod
    def of_type(self, kind: Type) -> str:
        """The type of a variable, parameter or result."""

    @abstractmethod
    def comment(self, text: str) -> str:
        """A comment."""

    def preamble(self) -> str:
        """What comes after the comment at the top."""
        return ""

    @abstractmethod
    def declared(self, kind: Type) -> str:
        """The declaration of an array or a record, or of USER: what the user's function is called
        through; "" where it needs none."""

    @abstractmethod
    def constant(self, one: Const) -> str:
        """The declaration of a constant."""

    @abstractmethod
    def opened(self, function: Function) -> list[str]:
        """The lines before the body of a function; `function.mutated` are parameters that change."""

    @abstractmethod
    def declared_as(self, name: str, value: str, kind: Type, fixed: bool) -> str:
        """The declaration of a variable with its value, which is `fixed` if it never changes."""

    @abstractmethod
    def declare(self, name: str, kind: Type) -> str:
        """The declaration of a variable that gets its value later."""

    @abstractmethod
    def public(self) -> str:
        """What the user of the file calls: `module.roots` have parameters and values."""

    @abstractmethod
    def example(self) -> str:
        """How it is used, for the comment at the top."""
