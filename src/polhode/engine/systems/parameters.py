"""Parameters of the interaction of a system, given by name for many systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.core.layout import flatten
from polhode.engine.ensemble.inputs import law_of
from polhode.engine.ensemble.parameters import check_given_once
from polhode.errors import InputError, brief, choice, floats
from polhode.loads import few_kernels
from polhode.loads._system import System
from polhode.loads.kernels import column


def places(system: System) -> dict[str, tuple[slice, tuple[int, ...]]]:
    """Where the numbers of each parameter are among those of all terms, and its shape; a parameter is
    called by its name where it is the only one, and as term.name."""
    found, names, first = {}, [], 0
    terms = system.interaction.terms
    for one, own in zip(terms, few_kernels.numbers(system.interaction, len(system)), strict=True):
        at = first
        for name in () if one.params is None else one.params._fields:
            form = np.shape(getattr(one.params, name))
            size = int(np.prod(form, dtype=int))
            found[f"{one.name}.{name}"] = slice(at, at + size), form
            names.append(name)
            at += size
        first += len(flatten(own))
    alone = {
        key.rpartition(".")[2]: place
        for key, place in found.items()
        if names.count(key.rpartition(".")[2]) == 1
    }
    return {**alone, **found} if len(terms) > 1 else alone


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
        place, form = known[name]
        several = value.ndim > len(form)
        if several and rows.shape[1] == 1:
            rows = np.repeat(rows, n, axis=1)
        rows[place] = value.reshape(len(value) if several else 1, -1).T
    return rows
