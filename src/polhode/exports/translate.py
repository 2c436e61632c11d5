"""Functions of floats and tuples, as `polhode.core.jit` marks them, translated to `polhode.exports.ir`.

A function is read from its source, with the globals and the closure that it really has, once for each
combination of types of its arguments.  What is known at translation (functions, records of them, whole
numbers) is used and leaves nothing behind; every operation on floats is written out in the order that
Python has.
"""

from __future__ import annotations

from typing import Any

from polhode.core.reads import python_function
from polhode.exports.ir import Function, Type
from polhode.exports.source import Untranslatable
from polhode.exports.statements import Body


class Translator:
    """Translates functions, each once for the same types; `replace` maps functions to others that
    take their place, and fields named in `zeros` are left out where they get 0."""

    def __init__(
        self, replace: dict[Any, Any] | None = None, zeros: frozenset[str] = frozenset()
    ) -> None:
        self.replace = replace or {}
        self.zeros = zeros
        self.done: dict[Any, Function] = {}
        self.under_way: list[Any] = []
        self.kept: list[Any] = []  # objects whose ids are in types

    def function(self, given: Any, types: tuple[Type, ...]) -> Function:
        """The function for arguments of these types."""
        python = python_function(given) or given
        python = self.replace.get(python, python)
        key = python, types
        if key not in self.done:
            if key in self.under_way:
                raise Untranslatable(
                    f"{python.__qualname__!r} calls itself, which exported code must not; write a loop"
                )
            self.under_way.append(key)
            self.kept.append(types)
            try:
                self.done[key] = self._known(Body(self, python, types).translated())
            finally:
                self.under_way.pop()
        return self.done[key]

    def _known(self, made: Function) -> Function:
        """An earlier function that does the same under the same name, or this one."""

        def contents(one: Function) -> Any:
            return one.name, one.params, one.keep, one.result, one.body

        mine = contents(made)
        return next((one for one in self.done.values() if contents(one) == mine), made)
