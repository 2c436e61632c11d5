"""What is left of a translated function: no value that is not used, no parameter that is not read, and
each variable declared where it gets its first value."""

from __future__ import annotations

from polhode.exports.ir import Declare, For, Function, If, Set, Statement, Unpack, While
from polhode.exports.trees import blocks, names_set, reads, statements, values


def tidy(function: Function, given: list[str]) -> Function:
    """The function without what is not used; `given` are its arguments in Python."""
    while _without_unused(function.body, _read(function.body)):
        pass
    changed = {name for one in statements(function.body) for name in names_set(one)}
    used = _read(function.body) | changed
    function.params = [pair for pair in function.params if pair[0] in used]
    names = {name for name, _ in function.params}
    function.keep = tuple(name in names for name in given)
    function.mutated = changed & names
    for name in sorted(changed - names):
        _declare(function.body, name, function)
    return function


def _read(block: list[Statement]) -> set[str]:
    return set().union(*(reads(value) for one in statements(block) for value in values(one)))


def _without_unused(block: list[Statement], used: set[str]) -> bool:
    """Drop what sets variables that nothing reads; whether there was any."""
    changed = False
    for one in list(block):
        for inner in blocks(one):
            changed |= _without_unused(inner, used)
        if isinstance(one, Unpack) and not {name for name in one.names if name} <= used:
            one.names = tuple(name if name in used else None for name in one.names)
            changed = True
        idle = (
            (isinstance(one, Set) and one.name not in used)
            or (isinstance(one, Unpack) and not any(one.names))
            or (isinstance(one, (If, For, While)) and not any(blocks(one)))
        )
        if idle:
            block[:] = [other for other in block if other is not one]
            changed = True
    return changed


def _mentions(one: Statement, name: str) -> bool:
    """Whether a statement itself reads or sets a variable, not in its blocks."""
    return name in names_set(one) or any(name in reads(value) for value in values(one))


def _declare(block: list[Statement], name: str, function: Function) -> None:
    """Declare a variable in the innermost block that has all that reads and sets it."""
    inside = [one for one in block if any(_mentions(inner, name) for inner in statements([one]))]
    first = inside[0]
    if len(inside) == 1 and not _mentions(first, name):
        for inner in blocks(first):
            if any(_mentions(one, name) for one in statements(inner)):
                _declare(inner, name, function)
        return
    once = sum(name in names_set(one) for one in statements(inside)) == 1
    if name in names_set(first) and not any(name in reads(value) for value in values(first)):
        if isinstance(first, Set):
            first.declares, first.fixed = True, once
        elif isinstance(first, Unpack):
            first.declare(name, once)
        return
    at = next(i for i, one in enumerate(block) if one is first)
    block.insert(at, Declare(name, function.types[name]))
