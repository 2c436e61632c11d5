"""A torque that is written for NumPy arrays, as a function of tuples: the operations that it does, one by
one, found by running it on symbols."""

from __future__ import annotations

import math
import traceback
from typing import Any

import numpy as np

from polhode.core.fma import fma, product_and_sum
from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.reads import python_function
from polhode.core.scalars import sincos
from polhode.bodies.rotor import check_motor
from polhode.engine.rotors import Motor
from polhode.errors import InputError
from polhode.loads._torque import Torque
from polhode.loads.kernels import with_arrays
from polhode.loads.sum import Sum
from polhode.methods._trace import (
    SIGNS,
    Graph,
    Symbol,
    Tracer,
    Untraceable,
    traced_math,
    traced_sincos,
)


def check_returned(torque: Torque) -> None:
    """Refuse a torque or a force that does not return three numbers."""
    for term in torque.terms:
        try:
            found = np.asarray(term(0.0, np.eye(3), np.ones(3), np.ones(3), np.ones(3)))
        except Exception:  # what is wrong with it is said where it is read
            continue
        if found.shape != (3,):
            count = f"{found.size} numbers" if found.ndim == 1 else f"shape {found.shape}"
            raise InputError(f"{term.kind} {term.name!r} returned {count}; return three")


class ArrayGraph(Graph):
    """The operations of a function that computes with arrays."""

    kind = Symbol


def in_tuples(torque: Torque) -> Torque:
    """The torque with functions that can be exported: those of arrays as the operations they do."""
    if isinstance(torque, Sum):
        return type(torque)([in_tuples(term) for term in torque.terms])
    if torque.form == "tuple":
        return torque
    if torque.in_flight or torque.uses_position:
        raise InputError(
            f"{torque.kind} {torque.name!r} is written for NumPy arrays and cannot be exported; write it with tuples, "
            'form="tuple", or leave it out and write it in the other language'
        )
    given = ("t", "R", "omega") if torque.uses_omega else ("t", "R")
    potential = torque.potential and _traced(torque, torque.potential, ("t", "R"))
    made = Torque(
        _traced(torque, torque.function, given),
        frame=torque.frame,
        form="tuple",
        uses_omega=torque.uses_omega,
        potential=potential,
        name=torque.name,
    )
    return made


def motor_in_tuples(motor: Motor) -> Any:
    """The torque of a motor that is a function, as (t, R, Om, speed) -> number."""
    function: Any = motor.wrapped
    timed = check_motor(function) == 1
    try:
        traced = _traced(motor, function, ("t",) if timed else ("t", "R", "omega", "speed"))
    except InputError:  # with branches: the translator says what else is wrong
        traced = function

    @jit
    def of_time(t, R, Om, speed):
        return traced(t)

    return of_time if timed else traced


def _traced(torque: Torque, function: Any, given: tuple[str, ...]) -> Any:
    """A function of tuples that does what another one does with arrays."""
    found, again = (_operations(torque, function, given) for _ in range(2))
    if found != again:
        raise InputError(
            f"torque {torque.name!r} cannot be exported: it does something else each time it is called; let it depend "
            "on its arguments alone"
        )
    name = getattr(function, "__name__", "torque").replace("<lambda>", "torque")
    return generated(__name__, name, ", ".join(given), *found, math=math)


def _operations(torque: Torque, function: Any, given: tuple[str, ...]) -> tuple[list[str], str]:
    """The operations of a function in lines, and what it returns."""
    graph = ArrayGraph()
    shapes = {"t": (), "R": (3, 3), "omega": (3,), "speed": ()}
    arguments = [_symbols(graph, name, shapes[name]) for name in given]
    if torque.params is not None:
        arguments.append(with_arrays(torque.params))
    tracer = Tracer(lambda copy: copy, [(sincos, traced_sincos), (fma, product_and_sum)])
    try:
        value = np.asarray(tracer(function)(*arguments), dtype=object)
        texts = [_text(graph.symbol(one)) for one in value.ravel()]
    except Exception as error:  # the user's function raises what it likes
        raise InputError(
            f"torque {torque.name!r} is written for NumPy arrays and cannot be exported: "
            f"{_why(error, function)}; write it with tuples, "
            '@polhode.torque(form="tuple"), or leave it out and write it in the other language'
        ) from error
    lines = [f"{_name(i)} = {_operation(*node)}" for i, node in enumerate(graph.nodes) if node[1]]
    result = texts[0] if value.shape == () else f"({', '.join(texts)})"
    return lines, result


def _why(error: Exception, function: Any) -> str:
    """What is wrong with a function, and in which of its lines."""
    code = getattr(python_function(function), "__code__", None)
    lines = [
        one.lineno
        for one in traceback.extract_tb(error.__traceback__)
        if code and one.filename == code.co_filename
    ]
    where = f", line {lines[-1]} of {code.co_filename}" if lines and code else ""
    if isinstance(error, AttributeError) and error.obj is traced_math:
        return f"it calls math.{error.name}{where}"
    return (
        f"{error if isinstance(error, Untraceable) else f'{type(error).__name__}: {error}'}{where}"
    )


def _symbols(graph: Any, name: str, shape: tuple[int, ...]) -> Any:
    """A symbol, or an array of them, for an argument."""
    found = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        found[place] = graph.node(name + "".join(f"[{i}]" for i in place))
    return found.item() if shape == () else found


def _name(i: int) -> str:
    return f"v{i}"


def _text(symbol: Any) -> str:
    """A symbol in a line of source."""
    if symbol.index is None:
        return symbol.text
    operation, arguments = symbol.graph.nodes[symbol.index]
    return _name(symbol.index) if arguments else operation


def _operation(operation: str, arguments: tuple[Symbol, ...]) -> str:
    parts = [_text(one) for one in arguments]
    if operation in SIGNS:
        return f" {SIGNS[operation]} ".join(parts)
    return f"math.{operation}({parts[0]})"
