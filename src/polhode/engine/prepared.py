"""What a `Flow` has prepared: a program with the loop that takes a whole run in one call, on numbers
alone."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode import rotations
from polhode.core.closed.double_double import two_product, two_sum
from polhode.core.jit import Build, compiled as dispatcher, jit
from polhode.core.layout import filler, flatten, layout, shape
from polhode.core.loops import fixed, tolerance
from polhode.engine.carriers.tiles import default_threads
from polhode.engine.ensemble import inputs
from polhode.engine.one_body import as_body
from polhode.engine.programs import Bound
from polhode.engine.schedule import LARGEST_COUNT
from polhode.errors import InputError, brief, floats, unknown
from polhode.loads.kernels import nested
from polhode.loads.sum import Sum
from polhode.rotations.convert import OFF_GROUP as OFF_UNIT, ROUNDING as UNIT
from polhode.support.limits import LARGEST_MOMENT, LEAST_MOMENT

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.engine.program import Program
    from polhode.loads._torque import Torque

# steps of one call: more of them go through `integrate`, in chunks, between which Ctrl-C is heard
MOST = 100_000
TASK = 8  # states that a thread takes at a time
_FLOATS = {count: (float,) * count for count in (3, 4)}


# --- the loops ------------------------------------------------------------------------------------


def run_loop(program: Program, rtol: float | None, many: bool = False) -> Callable[..., Any]:
    """The loop that carries a motion from one time to another in one call, by steps of one size or
    by tolerance; for `many` motions, by several threads at once."""
    control = None if rtol is None else program.method.control.suited(program, rtol)
    return program.kept(("run", control, many), lambda: _run_loop(program, control, many))


def _run_loop(program, control, many):
    flat = {"load_parameters": layout(program.shape, flat=True).unpack}
    if control is None:
        return program.bound(fixed.run, **flat, multistep=program.method.multistep)
    inside = {**program.names, **control.names, **flat, "load_body": fixed.flat_body}
    names = {
        "follow_on": _seeing(control.loop, inside),
        "memory_of_run": _memory(tuple(control.blank())),
    }
    if not many:
        return program.bound(tolerance.run, **names)
    one = _seeing(tolerance.run, names)
    return program.bound(tolerance.runs, Build(threaded=True), one_run=one)


def _seeing(loop, names):
    """A copy of a loop that sees the given functions under the given names, to be part of another
    loop."""
    copy = FunctionType(loop.__code__, {**loop.__globals__, **names}, loop.__name__)
    copy.__module__, copy.__qualname__ = loop.__module__, f"{loop.__name__} of a run"
    return copy


@lru_cache(64)
def _memory(numbers):
    """`memory()`: a fresh array of these numbers."""
    blank = np.array(numbers)

    @jit
    def memory():
        return blank.copy()

    return memory


def spread(loop, count, rest):
    """Call loop(first, last, *rest) for all of so many states, by threads."""
    tasks = iter(range(0, count, TASK))  # a thread takes the next when it has done one

    def work(_):
        for first in tasks:
            loop(first, min(first + TASK, count), *rest)

    threads = min(default_threads(), -(-count // TASK))
    if threads == 1:
        return work(None)
    pool = ThreadPoolExecutor(threads)
    try:
        list(pool.map(work, range(threads)))
    finally:
        for _ in tasks:  # after Ctrl-C none is left
            pass
        pool.shutdown()


# --- axes of the body -----------------------------------------------------------------------------


class Axes(NamedTuple):
    """A change of the axes of a body: as a quaternion, and as a matrix."""

    turn: tuple
    matrix: tuple


@jit
def turned(q, Om, axes):
    """A motion in other axes of the body, R -> R Q, Om -> Q^T Om: the arithmetic of
    `results.motion`."""
    (x, y, z, w), (a, b, c, d), M = q, axes.turn, axes.matrix
    attitude = (
        w * a + d * x + (y * c - z * b),
        w * b + d * y + (z * a - x * c),
        w * c + d * z + (x * b - y * a),
        w * d - (x * a + y * b + z * c),
    )
    return attitude, (
        Om[0] * M[0][0] + Om[1] * M[1][0] + Om[2] * M[2][0],
        Om[0] * M[0][1] + Om[1] * M[1][1] + Om[2] * M[2][1],
        Om[0] * M[0][2] + Om[1] * M[1][2] + Om[2] * M[2][2],
    )


@jit
def unturned(q, Om, axes):
    """The same where the axes stay."""
    return q, Om


def axes_of(matrix: np.ndarray) -> Axes:
    """The change to axes that are the columns of a matrix."""
    return Axes(tuple(rotations.as_quaternion(matrix).tolist()), nested(matrix))


# --- ready to be called ---------------------------------------------------------------------------


class Ready(NamedTuple):
    """A program and its loop, ready to be called."""

    bound: Bound
    loop: Callable[..., Any]  # for machine code
    run: Callable[..., Any]  # for Python
    moments: tuple[float, ...]
    parameters: tuple[float, ...]
    own: list[tuple[slice, tuple[int, ...]]]  # the places of the torque's parameters, their shapes
    places: dict[str, list[tuple[slice, tuple[int, ...]]]]  # the same by name
    span: tuple[float, float]  # over which machine code and Python were compared
    conservative: bool
    # the least and the largest of each parameter with which they were compared
    known: list[tuple[float, ...]]

    def serves(self, t0: float, t1: float) -> bool:
        """Whether it is still what it was, and good for a run between these times."""
        low, high = self.span
        return low <= t0 <= high and low <= t1 <= high and self.bound.unchanged()

    def knows(self, parameters: tuple[float, ...]) -> bool:
        """Whether machine code and Python were compared with parameters like these."""
        least, largest = self.known
        return all(map(operator.le, least, parameters)) and all(
            map(operator.le, parameters, largest)
        )

    def learn(self, parameters: tuple[float, ...]) -> None:
        """They have been compared with these."""
        least, largest = self.known
        self.known[:] = tuple(map(min, least, parameters)), tuple(map(max, largest, parameters))

    def filled(self, given: Mapping[str, Any]) -> tuple[float, ...]:
        """The parameters of the loop with some of the torque's changed."""
        numbers = list(self.parameters)
        for name, value in given.items():
            if name not in self.places:
                raise unknown("parameter", name, self.places)
            for place, form in self.places[name]:
                if type(value) is float and form == () and math.isfinite(value):
                    numbers[place.start] = value
                else:
                    numbers[place] = _fitting(name, value, form).ravel().tolist()
        return tuple(numbers)


def _fitting(name, value, form):
    """The value of a parameter as an array of the shape it has in the torque."""
    array = floats(f"parameter {name!r}", value)
    if array.shape != form:
        raise InputError(
            f"parameter {name!r} must have shape {form}, got {array.shape}; give as many numbers as the "
            "torque has"
        )
    return array


def places(torque, first):
    """Where each parameter of a torque is among the numbers that its kernel gets, and its shape: in
    their order, and by name."""
    names = [name for term in torque.terms for name in inputs.fields(term)]
    own, named = [], {}
    for term in torque.terms:
        for name in inputs.fields(term):
            form = np.shape(getattr(term.params, name))
            place = slice(first, first + math.prod(form)), form
            first = place[0].stop
            own.append(place)
            keys = [f"{term.name}.{name}"] if isinstance(torque, Sum) else []
            for key in keys + [name] * (names.count(name) == 1):
                named.setdefault(key, []).append(place)  # terms of one name change together
        first += len(flatten(term.values)) - len(flatten(term.params or ()))
    return own, named


class BodyMotion(NamedTuple):
    """Attitude, as quaternion (..., 4), body to space, scalar last, and angular velocity (..., 3),
    body frame."""

    attitude: np.ndarray
    omega: np.ndarray


def energy_ratio(I: tuple[float, ...], Om: tuple[float, ...], Om0: tuple[float, ...]) -> float:
    """Kinetic energy over that at the start."""
    (A, B, C), (a, b, c), (x, y, z) = I, Om, Om0
    return (A * a * a + B * b * b + C * c * c) / (A * x * x + B * y * y + C * z * z + 1e-300)


# --- what a call gives ----------------------------------------------------------------------------


def plain(value: Any, count: int) -> tuple[float, ...] | None:
    """So many floats in a tuple, where `value` is a tuple, list or array of just these."""
    kind = type(value)
    if kind is np.ndarray:
        if value.shape != (count,) or value.dtype.char != "d":
            return None
        return tuple(value.tolist())
    if kind is list:
        value = tuple(value)
    elif kind is not tuple:
        return None
    return value if tuple(map(type, value)) == _FLOATS[count] else None


def moments_of(body: RigidBody, inertia: Any) -> tuple[float, ...]:
    """Three principal moments in place of those of a body, checked."""
    if not body.is_principal:
        raise InputError(
            "inertia=... is for a body whose axes are the principal ones, got a Flow of a body with other axes; "
            "give Flow the principal moments, or make a new Flow"
        )
    I = plain(inertia, 3)
    if I is not None and min(I) >= LEAST_MOMENT and 2.0 * max(I) <= sum(I) <= LARGEST_MOMENT:
        return I
    other = as_body(inertia)
    if not other.is_principal:
        raise InputError(
            f"inertia must be three principal moments, got {brief(inertia)}; make a new Flow for a body with other axes"
        )
    return tuple(other.moments.tolist())


def named(torque: Torque, parameters: Any) -> Mapping[str, Any]:
    """The torque's parameters in a call, by name."""
    if isinstance(parameters, Mapping):
        return parameters
    names = inputs.fields(torque)
    if not isinstance(parameters, tuple) or len(parameters) != len(names):
        raise InputError(
            f"parameters must be a dict, or a tuple of the {len(names)} that torque {torque.name!r} has, got "
            f"{brief(parameters)}; write parameters={{name: value}}"
        )
    return dict(zip(names, parameters, strict=True))


def changed(torque: Torque, parameters: Any) -> Torque:
    """A torque with those of its parameters changed that are given."""
    given = inputs.check_parameters(torque, dict(named(torque, parameters)))
    terms = []
    for term in torque.terms:
        own = {
            name: given[key]
            for name in inputs.fields(term)
            for key in (name, f"{term.name}.{name}")
            if key in given
        }
        for name, value in own.items():
            _fitting(name, value, np.shape(getattr(term.params, name)))
        terms.append(term.with_params(**own) if own else term)
    if not given:
        return torque
    return Sum(terms) if isinstance(torque, Sum) else terms[0]


# --- for machine code -----------------------------------------------------------------------------


@jit
def length(q):
    """`math.hypot`, which rounds once: with the errors of the squares, of their sum and of its
    root."""
    total, lost = 0.0, 0.0
    for x in q:
        square, a = two_product(x, x)
        total, b = two_sum(total, square)
        lost += a + b
    norm = math.sqrt(total)
    square, a = two_product(norm, norm)
    return norm + ((total - square) - a + lost) / (2.0 * norm) if norm > 0.0 else norm


@jit
def unit(q):
    """(a quaternion at unit length, whether it was one): the rule of `rotations.as_quaternion`."""
    norm = length(q)
    fits = abs(norm - 1.0) <= OFF_UNIT
    if abs(norm - 1.0) <= UNIT:
        norm = 1.0
    return (q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm), fits


def advance_of(ready, torque, control, axes):
    """`Flow.compiled`."""
    import numba

    terms = torque.terms
    values = [term.params or () for term in terms]
    places = [i for place, _ in ready.own for i in range(place.start, place.stop)]
    kind = shape(tuple(values) if isinstance(torque, Sum) else values[0])
    fill = dispatcher(filler(kind, ready.parameters, places))
    whole, unitary = dispatcher(unturned if axes is None else turned), dispatcher(unit)
    inward, outward = axes or (None, None)
    refused, double = fixed.REFUSED, np.float64  # numba's float() leaves a float32 what it is
    run, usual, rest = ready.loop, ready.parameters, (*control, int(LARGEST_COUNT), ready.moments)

    @numba.njit(error_model="numpy")
    def advance(q, omega, t0, t1, parameters=None):
        p = usual if parameters is None else fill(parameters)
        attitude = (double(q[0]), double(q[1]), double(q[2]), double(q[3]))
        spin = (double(omega[0]), double(omega[1]), double(omega[2]))
        attitude, fits = unitary(attitude)
        if not fits:
            return attitude, spin, refused
        attitude, spin = whole(attitude, spin, inward)
        attitude, spin, why = run(attitude, spin, double(t0), double(t1), *(*rest, p))
        attitude, spin = whole(attitude, spin, outward)
        return attitude, spin, why

    return advance
