"""Parameters of the interaction of a system, given by name for many systems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np

from polhode.core.layout import flatten
from polhode.engine.ensemble.inputs import law_of
from polhode.engine.ensemble.parameters import check_given_once
from polhode.errors import InputError, brief, choice, floats
from polhode.loads import few_kernels
from polhode.loads._system import System
from polhode.loads.interaction_parameters import parameter_owners
from polhode.loads.kernels import column


Places = dict[str, tuple[list[slice], tuple[int, ...]]]


def places(system: System) -> Places:
    """Where the numbers of each parameter are among those of all terms, in each that has it, and its
    shape; a parameter is called by its name where it is the only one, and as term.name."""
    terms, found, first = system.interaction.terms, {}, 0
    for k, own in enumerate(few_kernels.numbers(system.interaction, len(system))):
        at = first
        for name in getattr(terms[k].params, "_fields", ()):
            form = np.shape(getattr(terms[k].params, name))
            found[k, name] = slice(at, at + math.prod(form)), form
            at += math.prod(form)
        first += len(flatten(own))
    return {
        key: ([found[one][0] for one in owners], found[owners[0]][1])
        for key, owners in parameter_owners(terms).items()
    }


def check_system_parameters(system: System, given: Any) -> dict[str, Any]:
    """The parameters as {name: array or distribution}."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            f"parameters must be a dict of names and values, one for each system, got {brief(given)}; write "
            "parameters={name: values}"
        )
    known = places(system)
    for name in given:
        choice(f"parameter of the interaction {system.interaction.name!r}", name, list(known))
    check_given_once(given)
    return {name: _value(name, one, known[name][1]) for name, one in given.items()}


def _value(name: str, given: Any, form: tuple[int, ...]) -> Any:
    if law_of(given) is not None:
        return given
    value = floats(f"parameter {name!r}", given)
    if value.shape == form or (value.shape[1:] == form and value.ndim and len(value)):
        return value
    raise InputError(
        f"parameter {name!r} must have shape {form}, or one for each system {('n', *form)}, got {value.shape}; "
        "give one of these"
    )


def parameter_array(system: System, values: Mapping[str, Any], n: int) -> np.ndarray:
    """What kernels get, (m, 1 or n)."""
    rows = column(few_kernels.numbers(system.interaction, len(system)))
    known = places(system)
    for name, value in values.items():
        where, form = known[name]
        several = value.ndim > len(form)
        if several and rows.shape[1] == 1:
            rows = np.repeat(rows, n, axis=1)
        for place in where:
            rows[place] = value.reshape(len(value) if several else 1, -1).T
    return rows


# --- one system -----------------------------------------------------------------------------------


def with_parameters(system: System, given: Any) -> System:
    """The system with some parameters of its interaction changed."""
    if not isinstance(given, Mapping):
        raise InputError(
            f"parameters must be a dict of names and values, got {brief(given)}; write parameters={{name: value}}"
        )
    other = copy(system)
    other.interaction = system.interaction.with_params(**given)
    return other


def numbers_with(known: Places, numbers: tuple[float, ...], given: Any) -> tuple[float, ...] | None:
    """The numbers of the parameters with some changed; None where they are not plain."""
    found = list(numbers)
    if not isinstance(given, Mapping):
        return None
    changed: set[int] = set()
    for name, value in given.items():
        where, form = known.get(name, ((), None))
        number = isinstance(value, float) or type(value) is int
        plain = number or (isinstance(value, np.ndarray) and value.dtype == float)
        if not plain or np.shape(value) != form or not np.isfinite(value).all():
            return None
        for place in where:
            found[place] = np.asarray(value, dtype=float).ravel().tolist()
            if place.start in changed:  # it is given twice
                return None
            changed.add(place.start)
    return tuple(found)
