"""Declared facts as text: `order = 2, symmetric = yes, conserves = momentum energy`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from polhode.errors import InputError, brief, choice, flag, whole
from polhode.methods._method import Method

Kind = TypeVar("Kind", bound=Method)
WORDS = {"yes": True, "no": False, "true": True, "false": False, "exact": math.inf, "nothing": ()}
KEPT = ("momentum", "energy")
LINE = re.compile(r"^[\s/*]*polhode:(.*)$", re.MULTILINE)


def _order(key: str, value: Any) -> Any:
    return value if value == math.inf else whole(key, value, 0, "write order = 2")


def _orders(key: str, value: Any) -> tuple[Any, ...]:
    given = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(given) != 2:
        raise InputError(
            f"{key} must be two orders, of attitude and momentum, got {brief(value)}; write {key} = 2 exact"
        )
    return tuple(_order(key, one) for one in given)


def _symplectic(key: str, value: Any) -> Any:
    return value if value == "orbits" else flag(key, value)


def _kept(key: str, value: Any) -> tuple[str, ...]:
    given = tuple(value) if isinstance(value, (tuple, list, set)) else (value,)
    return tuple(choice(key, one, KEPT) for one in given)


CHECKS = {
    "order": _order,
    "free_order": _orders,
    "omega_order": _order,
    "torques": _order,
    "symmetric": flag,
    "symplectic": _symplectic,
    "conserves": _kept,
    "multistep": flag,
}


def read_facts(text: str) -> dict[str, Any]:
    """The facts in text such as "order = 2, symmetric = yes"."""
    found: dict[str, Any] = {}
    for part in filter(None, (one.strip() for one in re.split("[,;]", text))):
        key, equals, value = (one.strip() for one in part.partition("="))
        if not equals or not value:
            raise InputError(
                f"a declared fact is KEY=VALUE, got {part!r}; write order=2, symmetric=yes, for example"
            )
        words = [WORDS.get(word, word) for word in value.split()]
        words = [int(w) if isinstance(w, str) and w.isdigit() else w for w in words]
        found[key] = words[0] if len(words) == 1 else tuple(words)
    return found


def facts_in(source: str) -> dict[str, Any]:
    """The facts in the lines of a C file that begin, inside a comment, with `polhode:`."""
    found: dict[str, Any] = {}
    for line in LINE.findall(source):
        found |= read_facts(line.replace("*/", ""))
    return found


def with_facts(method: Kind, declared: Mapping[str, Any]) -> Kind:
    """The method with these facts declared in place of its own."""
    if not isinstance(declared, Mapping):
        raise InputError(
            f"declared must be a dict of facts, got {brief(declared)}; write declared={{'order': 2}}"
        )
    found: dict[str, Any] = {}
    for key, value in declared.items():
        choice("fact", key, CHECKS)
        found[key] = CHECKS[key](key, value)
    return replace(method, **found) if found else method
