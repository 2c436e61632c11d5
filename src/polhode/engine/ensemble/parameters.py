"""Parameters of a torque, given by name for many bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.engine.ensemble.inputs import Counts
from polhode.errors import InputError, brief, choice, floats
from polhode.loads._torque import Torque
from polhode.loads.foreign import Foreign
from polhode.loads.sum import Sum
from polhode.support.on_device import OnDevice


def terms_of(torque: Torque) -> tuple[Torque, ...]:
    return torque.terms if isinstance(torque, Sum) else (torque,)


def check_parameters(torque: Torque, given: Any) -> dict[str, Any]:
    """The parameters as {name: value}; the names must be those of the torque, in a sum perhaps as
    "term.name"."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError(
            f"parameters must be a dict of names and values, one for each body, got {brief(given)}; write "
            f"parameters={{name: values}}"
        )
    terms = terms_of(torque)
    names = [name for term in terms for name in fields(term)]
    valid = [name for name in names if names.count(name) == 1]
    if len(terms) > 1:
        valid += [f"{term.name}.{name}" for term in terms for name in fields(term)]
    for name in given:
        choice(f"parameter of torque {torque.name!r}", name, valid)
    check_given_once(given)
    return dict(given)


def check_given_once(given: Mapping[str, Any]) -> None:
    """Refuse a parameter of a sum that is given both by its name and as "term.name"."""
    for name in given:
        short = name.rpartition(".")[2] if isinstance(name, str) else name
        if short != name and short in given:
            raise InputError(
                f"parameter {short!r} is given twice, as {short!r} and {name!r}; give it once"
            )


def own_inertia(torque: Torque, inertia: np.ndarray) -> dict[str, np.ndarray]:
    """The parameters of a torque that contain the inertia of its body, for bodies with moments (n, 3)
    or tensors (n, 3, 3)."""
    tensors = inertia if inertia.ndim == 3 else inertia[:, None, :] * np.eye(3)
    terms = terms_of(torque)
    return {
        name if len(terms) == 1 else f"{term.name}.{name}": tensors
        for term in terms
        for name in term.of_body
    }


def fields(torque: Torque) -> tuple[str, ...]:
    return () if torque.params is None else torque.params._fields


def parameter_rows(torque: Torque, given: Any, counts: Counts | None = None) -> list[Any]:
    """The torque's values as rows, each (1,) or (n,), in the order in which kernels expect them."""
    rows: list[Any] = []
    for term in terms_of(torque):
        if isinstance(term, Foreign):
            rows += [np.array([number]) for number in term.values]
        for name in fields(term):
            key = name if name in given else f"{term.name}.{name}"
            default = getattr(term.params, name)
            value = _parameter(key, given.get(key, default), np.shape(default))
            if counts is not None:
                counts.add(f"parameter {key!r}", len(value))
            if isinstance(value, OnDevice):
                rows += value.columns()
            else:
                rows += list(value.reshape(len(value), -1).T)
        rows += [*np.array(term.lifted, dtype=float).reshape(-1, 1)]
    return rows


def _parameter(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    """A parameter as (1 or n, *shape)."""
    if not (isinstance(value, OnDevice) and value.shape[1:] == shape):
        value = floats(f"parameter {name!r}", value)
    if value.shape == shape:
        return value[None]
    if value.shape[1:] == shape and len(value):
        return value
    raise InputError(
        f"parameter {name!r} must have shape {shape}, or one for each body {('n', *shape)}, got {value.shape}; "
        "give one of these"
    )
