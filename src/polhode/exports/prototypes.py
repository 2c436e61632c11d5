"""Functions in machine code, as C sees them."""

from __future__ import annotations

from typing import Any

from polhode.exports.calls import UsersFunction
from polhode.exports.ir import REAL, USER, Type, parts
from polhode.exports.module import Root

RESULTS = {
    "make_body": "body",
    "start": "s",
    "omega": "Om",
    "speeds": "W",
    "position": "x",
    "velocity": "v",
}


def prototypes(machine: Any) -> list[str]:
    """The functions of a file, and those that the user writes."""
    lines = [_public(machine, one.name, one.root) for one in machine.public_functions()]
    lines += [f"{_users(machine, one)}  /* yours */" for one in machine.users]
    name = machine.module.prefix
    sizes = f"{machine.size(machine.module.body)} and {machine.size(machine.module.state)} bytes"
    return [*lines, f"extern const int {name}_body_size, {name}_state_size;  /* {sizes} */"]


def _public(machine: Any, name: str, root: Root) -> str:
    params = [pair for pair in root.params if pair[1] != USER]
    updates = root.value.type == machine.module.state and any(one == "s" for one, _ in params)
    given = [_row(machine, one, kind, fixed=not (updates and one == "s")) for one, kind in params]
    result = RESULTS.get(name, name)
    out = [] if updates else [_row(machine, result, root.value.type, fixed=False, result=True)]
    return f"void {machine.module.prefix}_{name}({', '.join([*out, *given])});"


def _users(machine: Any, one: UsersFunction) -> str:
    given = [_row(machine, name, kind) for name, kind in one.params]
    out = _row(
        machine, "T" if one.name == "torque" else "out", one.result, fixed=False, result=True
    )
    return f"void {machine.module.prefix}_{one.name}({', '.join([out, *given])});"


def _row(machine: Any, name: str, kind: Type, fixed: bool = True, result: bool = False) -> str:
    """A parameter: a number, or numbers by their address."""
    real = machine.precision
    if parts(kind) is None and not result:
        return f"{real} {name}"
    count = 1 if kind == REAL else -(-machine.size(kind) // machine.size(REAL))
    return f"{'const ' * fixed}{real} {name}[{count}]"
