"""The structures in a file of `polhode export`, and the functions that give it the one form of step
that polhode calls."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from polhode.errors import InputError

STRUCT = re.compile(r"typedef struct \{([^{}]*)\}\s*(\w+);")
STEP = re.compile(r"^void (\w+)_step\(\1_state \*s,", re.MULTILINE)
TORQUE = r"typedef\s+(\w+)\s+\(\*{name}_torque_function\)\(double t,\s+(\w+) R,\s+(\w+) Om,\s+void \*context\);"
BODY_FRAME = "Your torque, in the body"
ORIGIN = re.compile(r"polhode\s+export\s+(\S+)\s+--language")

ADAPTER = """
#include <string.h>
typedef void (*polhode_answer)(double t, const double *R, const double *Om, double *torque, void *context);
typedef struct {{ polhode_answer answer; void *context; }} polhode_link;
typedef char polhode_size[sizeof({name}_state) == {count} * sizeof(double) ? 1 : -1];

static {vector} polhode_torque(double t, {matrix} R, {velocity} Om, void *context)
{{
    const polhode_link *link = (const polhode_link *)context;
    {vector} torque;
    link->answer(t, (const double *)&R, (const double *)&Om, (double *)&torque, link->context);
    return torque;
}}
"""
FUNCTION = """
void polhode_{what}(double h, double t, double *x, double *omega, const double *I, polhode_answer answer,
    void *context, double *memory)
{{
    polhode_link link = {{answer, context}};
    {name}_load load = {{polhode_torque, &link}};
    {vector} moments;
    {name}_body body;
    {name}_state s;
    memcpy(&moments, I, sizeof moments);
    body = {name}_make_body(moments);
{does}
    memcpy(x, &s, sizeof s);
}}
"""
STARTS = """    {quaternion} q;
    {velocity} Om;
    memcpy(&q, x, sizeof q);
    memcpy(&Om, omega, sizeof Om);
    {name}_start(&s, h, t, q, Om, &body, load);"""
STEPS = """    memcpy(&s, x, sizeof s);
    {name}_step(&s, h, t, &body, load);"""


def names_in(source: str) -> list[str]:
    """The names of the steps in an exported file; none in any other file."""
    return list(dict.fromkeys(STEP.findall(source)))


class Exported(NamedTuple):
    """A step of an exported file."""

    name: str  # of the functions
    kind: type  # of the state, a NamedTuple
    size: int  # how many numbers are in it
    frame: str  # of the torque
    adapter: str  # C that follows the file
    method: str  # that was exported, "" where the file does not say


def read(source: str, name: str, where: str) -> Exported:
    """A step of an exported file, from its text."""
    if f"{name}_load" not in source:
        raise InputError(
            f"{where} has its torque inside, and a certificate asks for many; export it without --torque"
        )
    torque = re.search(TORQUE.format(name=name), source)
    if torque is None:
        raise InputError(
            f"{where} is not a file of rotation alone, in doubles, as a certificate needs it; write it again, by "
            "`polhode export METHOD --language c --precision double`"
        )
    vector, matrix, velocity = torque.groups()
    fields = _state(source, f"{name}_state", where)
    kind: Any = NamedTuple("StateInC", list(fields.items()))  # type: ignore[misc]
    quaternion = _members(source, where)[f"{name}_state"]["q"]
    words = {
        "name": name,
        "count": sum(map(_size, fields.values())),
        "vector": vector,
        "matrix": matrix,
        "velocity": velocity,
        "quaternion": quaternion,
    }
    functions = [
        FUNCTION.format(what=what, does=does.format(**words), **words)
        for what, does in (("start", STARTS), ("step", STEPS))
    ]
    origin = ORIGIN.search(source)
    return Exported(
        name,
        kind,
        int(words["count"]),
        "body" if BODY_FRAME in source else "spatial",
        ADAPTER.format(**words) + "".join(functions),
        origin[1] if origin else "",
    )


def _members(source: str, where: str) -> dict[str, dict[str, Any]]:
    """{structure: {member: type, "double" or [type, count]}}."""
    found: dict[str, dict[str, Any]] = {}
    for inside, name in STRUCT.findall(source):
        members: dict[str, Any] = {}
        for line in filter(None, map(str.strip, inside.split(";"))):
            kind, _, listed = line.partition(" ")
            for one in (part.strip() for part in listed.split(",")):
                member, _, count = one.partition("[")
                members[member] = [kind, int(count.rstrip("]"))] if count else kind
        found[name] = members
    return found


def _state(source: str, state: str, where: str) -> dict[str, Any]:
    """The fields of a state and their types, tuples of floats."""
    known = _members(source, where)

    def of(kind: Any) -> Any:
        if isinstance(kind, list):
            return _tuple((of(kind[0]),) * kind[1])
        if kind == "double":
            return float
        if kind not in known:
            raise InputError(
                f"{where}: its state has a {kind}, and a certificate needs doubles; export it with --precision double"
            )
        return _tuple(tuple(map(of, known[kind].values())))

    return {member: of(kind) for member, kind in known[state].items()}


def _tuple(kinds: tuple[Any, ...]) -> Any:
    made: Any = tuple
    return made[kinds]


def _size(kind: Any) -> int:
    return 1 if kind is float else sum(map(_size, kind.__args__))
