"""Loads by name: what scenario files, sweeps and the documentation find."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from polhode.errors import unknown

F = TypeVar("F", bound=Callable[..., Any])
Table = dict[str, Callable[..., Any]]


class Source(Enum):
    """Where a scenario takes a parameter of a load from, if not from the load's own section."""

    BODY = "the body"
    MASS = "the mass of the body"
    STEP = "the step of the run"
    BODIES = "the bodies of the system"


_SUPPLIED: dict[Callable[..., Any], dict[str, Source]] = {}


def register(table: Table, name: str, **supplied: Source) -> Callable[[F], F]:
    """Enter a function that makes a load into a table under a name.  `supplied` says which of its
    parameters a scenario fills in."""

    def enter(make: F) -> F:
        table[name], _SUPPLIED[make] = make, supplied
        return make

    return enter


def supplied_parameters(make: Callable[..., Any]) -> dict[str, Source]:
    """The parameters of a named load that a scenario fills in, and from where."""
    return _SUPPLIED.get(make, {})


def find(kind: str, name: str, table: Table) -> Callable[..., Any]:
    """The function that makes a load; `heavy-top` and `heavy_top` are the same."""
    key = name.strip().lower().replace("-", "_") if isinstance(name, str) else ""
    if key not in table:
        raise unknown(kind, name, list(table))
    return table[key]
