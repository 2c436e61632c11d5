"""Names in a file: of types, constants and functions."""

from __future__ import annotations

import re
from typing import Any

from polhode.exports.ir import REAL, USER, Array, Record, Scalar, Type, has_numbers

from polhode.exports.outside import Outside


class Names(Outside):
    """Gives names; `Printer` adds the rest."""

    names: dict[Any, str]  # that are given
    taken: set[str]  # that nothing else may have
    reserved: frozenset[str]
    macros: re.Pattern[str] | None = None  # further names that are reserved
    capitals = False  # whether names of types begin with one

    def is_reserved(self, name: str) -> bool:
        """Whether the language has another meaning for the name."""
        return name in self.reserved or bool(self.macros and self.macros.fullmatch(name))

    def unused(self, name: str) -> str:
        """The name, or one like it that nothing has yet."""
        found, n = f"{name}_" if self.is_reserved(name) else name, 1
        while found in self.taken:
            n += 1
            found = f"{name}_{n}"
        self.taken.add(found)
        return found

    def type_name(self, kind: Type) -> str:
        """The name of a type; in some languages it begins with a capital."""
        name = self.plain_name(kind)
        return name[0].upper() + name[1:] if self.capitals else name

    def plain_name(self, kind: Type) -> str:
        """The name of an array or a record, or of what the user's functions are called through."""
        if kind in self.names:
            return self.names[kind]
        if kind == self.module.state:
            return self.public_name("state")
        if kind == self.module.body:
            return self.public_name("body")
        if kind == USER:
            return self.acting
        if isinstance(kind, Array):
            if kind.item == REAL:
                return f"vec{kind.count}" if kind.count <= 4 else f"real{kind.count}"
            square = kind == Array(Array(REAL, 3), 3)
            return "mat3" if square else f"{self.plain_name(kind.item)}_{kind.count}"
        assert isinstance(kind, Record)
        if kind.kind is not None:
            asked, name = self.module.asked, kind.kind.__name__
            return self.public_name(name.lower()) if asked and kind == asked.result else name
        return "_".join(self._short_name(one) for one in kind.items if has_numbers(one))

    def _short_name(self, kind: Type) -> str:
        return kind.name if isinstance(kind, Scalar) else self.plain_name(kind)

    def public_name(self, name: str) -> str:
        """The name of something that the user of the file sees."""
        return f"{self.module.prefix}_{name}"

    def constant_name(self, name: str) -> str:
        """The name of a constant."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper().lstrip("_") or "CONSTANT"

    def function_name(self, name: str) -> str:
        """The name of a function."""
        return name
