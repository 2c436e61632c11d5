"""Parameters of a torque, and in flight of a force, given by name for many bodies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.layout import flatten
from polhode.engine.ensemble.bodies import Bodies
from polhode.engine.ensemble.inputs import Counts
from polhode.engine.program import Program, build
from polhode.engine.rotors import motor_numbers
from polhode.errors import InputError, brief, choice, floats
from polhode.loads._torque import Torque
from polhode.loads.force import Force
from polhode.loads.foreign import Foreign
from polhode.loads.sum import Sum
from polhode.support.on_device import OnDevice

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.loads.agreement import Start
    from polhode.methods._method import Method


def terms_of(torque: Torque) -> tuple[Torque, ...]:
    return torque.terms if isinstance(torque, Sum) else (torque,)


def check_parameters(torque: Torque, given: Any, force: Force | None = None) -> dict[str, Any]:
    """The parameters as {name: value}; the names must be those of the torque or the force, perhaps
    as "term.name" where several act."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError(
            f"parameters must be a dict of names and values, one for each body, got {brief(given)}; write "
            f"parameters={{name: values}}"
        )
    valid = parameter_names(torque, force)
    acting = f"torque {torque.name!r}" + ("" if force is None else f" and force {force.name!r}")
    for name in given:
        choice(f"parameter of {acting}", name, valid)
    check_given_once(given)
    return dict(given)


def parameter_names(torque: Torque, force: Force | None) -> list[str]:
    """What the parameters may be called: by their name where it is the only one, and as term.name
    where several act."""
    pairs, pushing = (
        [(term.name, name) for term in terms for name in fields(term)]
        for terms in (terms_of(torque), () if force is None else force.terms)
    )
    # torque and force of one load have the same name, and the same parameters
    pairs += [pair for pair in pushing if pair not in pairs]
    names = [name for _, name in pairs]
    valid = [name for name in names if names.count(name) == 1]
    if len(terms_of(torque)) > 1 or force is not None:
        valid += [".".join(pair) for pair in pairs]
    return valid


def check_given_once(given: Mapping[str, Any]) -> None:
    """Refuse a parameter of a sum that is given both by its name and as "term.name"."""
    for name in given:
        short = name.rpartition(".")[2] if isinstance(name, str) else name
        if short != name and short in given:
            raise InputError(
                f"parameter {short!r} is given twice, as {short!r} and {name!r}; give it once"
            )


def own_filled(
    given: Mapping[str, Any], bodies: Bodies, torque: Torque | None, loads: Iterable[Torque]
) -> dict[str, Any]:
    """The values given and, of parameters that were not given, those that are the inertia of the body
    of a torque, or the mass of the body of loads in flight."""
    terms = () if torque is None else terms_of(torque)
    own = {
        name if len(terms) == 1 else f"{term.name}.{name}": bodies.inertia
        for term in terms
        for name in term.of_body
        if name == "inertia"
    } | {
        f"{term.name}.{name}": bodies.masses
        for load in loads
        for term in load.terms
        for name in term.of_body
        if name == "mass"
    }
    left = {name for name in own if name in given or name.rpartition(".")[2] in given}
    return {name: value for name, value in own.items() if name not in left} | {**given}


def fields(torque: Torque) -> tuple[str, ...]:
    return () if torque.params is None else torque.params._fields


def own_values(load: Torque, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values given that are for the parameters of a torque or force, by their names
    in it; not for a sum."""
    return {
        name: given[key]
        for name in fields(load)
        for key in (name, f"{load.name}.{name}")
        if key in given
    }


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


def check_agreement(
    method: Method,
    program: Program,
    values: Mapping[str, Any],
    start: Start | None,
    like: RigidBody | None,
) -> None:
    """Machine code and Python must agree for the least and the largest of each parameter too, not
    for one set alone."""
    torque, force = program.torque, program.force
    for term in (*torque.terms, *(force.terms if force else ())):
        own = {
            name: np.asarray(value, dtype=float) for name, value in own_values(term, values).items()
        }
        several = {
            name: value
            for name, value in own.items()
            if value.ndim > np.ndim(getattr(term.params, name))
        }
        if program.mode != "compiled" or term.is_ours or not several:
            continue
        ends = {
            int(find(value.reshape(len(value), -1).sum(axis=1)))
            for value in several.values()
            for find in (np.argmin, np.argmax)
        }
        for body in sorted(ends):
            one: Any = term.with_params(
                **{name: value[body] if name in several else value for name, value in own.items()}
            )
            loads = (torque, one) if term is force else (one, force)
            other = build(method, loads[0], program.body, force=loads[1], like=like, start=start)
            if other.mode != "compiled":
                raise InputError(
                    f"{term.kind} {term.name!r} with the parameters of body {body} must run as Python "
                    f"({other.note}) with one set of parameters; correct it, or integrate the bodies "
                    "one by one"
                )


def parameter_array(program: Program, bodies: Bodies, values: Mapping[str, Any], n: int) -> Any:
    """What the kernels get, (m, 1 or n): the axes where there are any, then the torque's values or
    the way to them; in flight the same for the force, and the mass.  A list of rows where some lie
    on a GPU."""
    axes = [] if bodies.axes is None else [*bodies.axes.reshape(-1, 9).T]
    rows: list[Any] = []
    for load, python in zip(program.loads, program.pythons, strict=False):  # then those of motors
        if python and any(own_values(term, values) for term in load.terms):
            raise InputError(
                f"{load.kind} {load.name!r} runs as Python ({program.note}), which knows one set of "
                "parameters; leave out parameters=..., or make it a function that numba can compile"
            )
        address = [np.array([part]) for part in python.values] if python else None
        rows += axes + (address or parameter_rows(load, values))
    if program.force is not None:
        rows.append(bodies.masses)
    if bodies.gyrostats:
        tilted = bodies.axes is not None
        motors = [flatten(motor_numbers(one, program.motors, tilted)) for one in bodies.gyrostats]
        rows += [*np.array(motors).T]
    several = any(len(row) > 1 for row in rows)
    if any(not isinstance(row, np.ndarray) for row in rows):
        return rows
    parameters = np.empty((len(rows), n if several else 1))
    for i, row in enumerate(rows):
        parameters[i] = row
    return parameters
