"""Whole runs in one call of machine code, for `Flow`: from Python, from many threads, and from the
user's own compiled functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import chain
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode import rotations
from polhode.core.closed.double_double import two_product, two_sum
from polhode.core.generated import generated
from polhode.core.jit import Build, compiled as dispatcher, jit
from polhode.core.layout import filler, layout, shape
from polhode.core.loops import fixed, tolerance
from polhode.core.loops.fixed import DONE, REFUSED
from polhode.core.motions import SPEEDS, Flight, Kind, Rotation
from polhode.engine.carriers.threads import default_threads
from polhode.engine.schedule import LARGEST_COUNT
from polhode.loads.kernels import nested
from polhode.loads.sum import Sum
from polhode.rotations.convert import OFF_GROUP as OFF_UNIT, ROUNDING as UNIT
from polhode.support.limits import LARGEST_RATE, LARGEST_TIME

if TYPE_CHECKING:
    from polhode.engine.program import Program

# steps of one call: more of them go through `integrate`, in chunks, between which Ctrl-C is heard
MOST = 100_000
TASK = 8  # states that a thread takes at a time
FAST = 6  # the kinetic energy has grown more than it may without a look at the potential

# bound: the loop, `turned` or `unturned`, and what knows the kind of motion
one_run = turn = motion_of = is_finite = keep_rest = None
# of a few bodies
axes_at = load_one = store_one = load_all = store_all = BODIES = None


# --- the loops ------------------------------------------------------------------------------------


def run_loop(program: Program, rtol: float | None) -> Callable[..., Any]:
    """The loop that carries a motion from one time to another in one call, by steps of one size or
    by tolerance."""
    return _kept(program, rtol, "run", lambda loop, names: program.bound(loop, **names))


def carry_loop(program: Program, rtol: float | None) -> Callable[..., Any]:
    """The same in the user's axes, with the checks of a call from Python."""
    turn = unturned if program.body.is_principal else turned
    names: dict[str, Any] = beside(program.motion_kind)
    return _kept(
        program,
        rtol,
        "carry",
        lambda *run: program.bound(carry, one_run=_seeing(*run), turn=turn, **names),
    )


def carry_system_loop(program: Any) -> Callable[..., Any]:
    """The same for a few bodies, by steps of one size."""
    n, own = program.motion_kind.bodies, not program.body.is_principal
    one, all_of_them = layout(Flight, rows=True), program.names
    names = {
        "turn": turned if own else unturned,
        "axes_at": entry if own else no_axes,
        "load_one": one.unpack,
        "store_one": one.pack,
        "load_all": all_of_them["load_motion"],
        "store_all": all_of_them["store_motion"],
        "BODIES": n,
    }
    return _kept(
        program,
        None,
        "carry",
        lambda *run: program.bound(carry_system, one_run=_seeing(*run), **names),
    )


def runs_loop(program: Program, rtol: float) -> Callable[..., Any]:
    """The same for many motions, by tolerance, for several threads at once."""
    return _kept(
        program,
        rtol,
        "runs",
        lambda *run: program.bound(tolerance.runs, Build(threaded=True), one_run=_seeing(*run)),
    )


def _kept(program, rtol, which, make):
    """What make(loop, the names that it sees) gave the first time."""
    control = None if rtol is None else program.control.suited(program, rtol)
    return program.kept((which, control), lambda: make(*_run(program, control)))


def _run(program, control):
    """(the loop of a whole run, the functions that it sees by name)."""
    names = {**program.names, "load_parameters": layout(program.shape, flat=True).unpack}
    if control is None:
        return fixed.run, {**names, "multistep": program.method.multistep}
    flat_body = names.get("flat_body", fixed.flat_body)
    inside = {**names, **control.names, "load_body": flat_body}
    place = layout(program.motion_kind.parts, lanes=1, first=tolerance.MOTION_AT)
    return tolerance.run, {
        "load_motion": place.unpack,
        "store_motion": place.pack,
        "follow_on": _seeing(control.loop, inside),
        "memory_of_run": _memory(tuple(control.blank())),
    }


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


# --- a call from Python ---------------------------------------------------------------------------


def components(kind: Kind) -> dict[str, list[str]]:
    """What a motion has besides a rotation, `rest`: its parts, and the fields with their numbers."""
    found = {
        name: [f"{name}[{i}]" for i in range(place.stop - place.start)]
        for name, place in kind.groups.items()
        if name not in Rotation._fields
    }
    return found | ({SPEEDS: [*kind.slices][-kind.spinning :]} if kind.spinning else {})


@lru_cache(64)
def beside(kind: Kind) -> dict[str, Callable[..., Any]]:
    """What puts a motion together, from attitude, angular velocity and the rest, given as arrays or
    tuples, whether the rest is finite, and what keeps the rest of a motion in these arrays."""
    parts = components(kind)
    places = [
        [f"rest[{k}][{i}]" for i in range(len(fields))] for k, fields in enumerate(parts.values())
    ]
    given = [
        ", ".join(those) if name == SPEEDS else f"({', '.join(those)})"
        for name, those in zip(parts, places, strict=True)
    ]
    fields, numbers = [*chain(*parts.values())], [*chain(*places)]
    size = " + ".join(f"abs({number})" for number in numbers)
    kept = [f"{number} = m.{field}" for number, field in zip(numbers, fields, strict=True)]

    def made(name, arguments, lines=(), result=None):
        scope = {"make": kind.parts, "inf": math.inf}
        return generated(__name__, name, arguments, lines, result, **scope)

    return {
        "motion_of": made("motion_of", "q, Om, rest", (), f"make({', '.join(['q, Om', *given])})"),
        "is_finite": made("is_finite", "rest", (), f"{size} < inf" if size else "True"),
        "keep_rest": made("keep_rest", "m, rest", kept or ["pass"]),
    }


@jit
def fits(number, largest):
    return -largest <= number and number <= largest


def carry(q, Om, rest, t0, t1, control, most, growth, I, parameters, inward, outward):
    """Carry a motion in arrays from t0 to t1, in the user's axes: why it ended.

    They keep what they had unless that is DONE.  FAST: the kinetic energy has grown more than
    `growth` times.
    """
    attitude, is_unit = unit((q[0], q[1], q[2], q[3]))
    spin = (Om[0], Om[1], Om[2])
    slow = (
        fits(spin[0], LARGEST_RATE) and fits(spin[1], LARGEST_RATE) and fits(spin[2], LARGEST_RATE)
    )
    in_time = fits(t0, LARGEST_TIME) and fits(t1, LARGEST_TIME)
    if not (is_unit and slow and in_time and is_finite(rest)):
        return REFUSED
    attitude, spin = turn(attitude, spin, inward)
    before = I[0] * spin[0] * spin[0] + I[1] * spin[1] * spin[1] + I[2] * spin[2] * spin[2]
    motion, why = one_run(motion_of(attitude, spin, rest), t0, t1, control, most, I, parameters)
    if why != DONE:
        return why
    spin = motion.omega
    after = I[0] * spin[0] * spin[0] + I[1] * spin[1] * spin[1] + I[2] * spin[2] * spin[2]
    if after / (before + 1e-300) > growth:
        return FAST
    attitude, spin = turn(motion.attitude, spin, outward)
    for i in range(4):
        q[i] = attitude[i]
    for i in range(3):
        Om[i] = spin[i]
    keep_rest(motion, rest)
    return DONE


@jit
def entry(axes, i):
    return axes[i]


@jit
def no_axes(axes, i):
    return axes


def carry_system(q, Om, x, v, y, t0, t1, control, most, I, parameters, inward, outward):
    """Carry the motions of a few bodies, in arrays with a row for each, from t0 to t1: why it ended.  They
    keep what they had unless that is DONE.  y (1, 13 n) is memory."""
    rows = y.reshape(BODIES, y.shape[1] // BODIES)
    if not (fits(t0, LARGEST_TIME) and fits(t1, LARGEST_TIME)):
        return REFUSED
    for i in range(BODIES):
        attitude, is_unit = unit((q[i, 0], q[i, 1], q[i, 2], q[i, 3]))
        spin = (Om[i, 0], Om[i, 1], Om[i, 2])
        slow = fits(spin[0], LARGEST_RATE) and fits(spin[1], LARGEST_RATE)
        place, speed = (x[i, 0], x[i, 1], x[i, 2]), (v[i, 0], v[i, 1], v[i, 2])
        size = abs(place[0]) + abs(place[1]) + abs(place[2])
        size += abs(speed[0]) + abs(speed[1]) + abs(speed[2])
        if not (is_unit and slow and fits(spin[2], LARGEST_RATE) and size < math.inf):
            return REFUSED
        attitude, spin = turn(attitude, spin, axes_at(inward, i))
        store_one(Flight(attitude, spin, place, speed), rows, i)
    motion, why = one_run(load_all(y, 0), t0, t1, control, most, I, parameters)
    if why != DONE:
        return why
    store_all(motion, y, 0)
    for i in range(BODIES):
        m = load_one(rows, i)
        attitude, spin = turn(m.attitude, m.omega, axes_at(outward, i))
        for k in range(4):
            q[i, k] = attitude[k]
        for k in range(3):
            Om[i, k], x[i, k], v[i, k] = spin[k], m.position[k], m.velocity[k]
    return DONE


# --- a call from machine code --------------------------------------------------------------------


def advance_of(ready, loop, torque, force, control, axes):
    """`Flow.compiled`."""
    import numba

    places = [i for place, _ in ready.own for i in range(place.start, place.stop)]
    given = [_parameters(load) for load in (torque, force) if load is not None]
    fill = dispatcher(
        filler(shape(given[0] if force is None else tuple(given)), ready.parameters, places)
    )
    kind, (inward, outward) = ready.bound.program.motion_kind, axes
    whole, unitary = dispatcher(unturned if inward is None else turned), dispatcher(unit)
    motion_of = dispatcher(beside(kind)["motion_of"])
    usual, moments, most = ready.parameters, ready.moments, int(LARGEST_COUNT)

    @numba.njit(error_model="numpy")
    def moved(attitude, spin, rest, t0, t1, parameters):
        p = usual if parameters is None else fill(parameters)
        attitude, fits = unitary(attitude)
        if not fits:
            return motion_of(attitude, spin, rest), REFUSED
        start = motion_of(*whole(attitude, spin, inward), rest)
        end, why = loop(start, t0, t1, control, most, moments, p)
        return motion_of(*whole(end.attitude, end.omega, outward), rest_of(end)), why

    # every part is a tuple, before the call and after it
    parts = components(kind)
    sizes = {"q": 4, "omega": 3, **{name: len(fields) for name, fields in parts.items()}}

    def whole_tuple(entries):
        return f"({''.join(f'{one}, ' for one in entries)})"

    def doubles(name):
        return whole_tuple(f"double({name}[{i}])" for i in range(sizes[name]))

    rest = [whole_tuple(f"m.{field}" for field in fields) for fields in parts.values()]
    rest_of = numba.njit(generated(__name__, "rest_of", "m", (), whole_tuple(rest)))
    scope = {"moved": moved, "double": np.float64}  # numba's float() leaves a float32 what it is
    given = [doubles("q"), doubles("omega"), whole_tuple(map(doubles, parts))]
    advance = generated(
        __name__,
        "advance",
        f"{', '.join(sizes)}, t0, t1, parameters=None",
        [f"m, why = moved({', '.join(given)}, double(t0), double(t1), parameters)"],
        whole_tuple(["m.attitude", "m.omega", *rest, "why"]),
        **scope,
    )
    return numba.njit(error_model="numpy")(advance)


def _parameters(load):
    """Those of a torque or force as machine code gives them: in a sum a tuple for each term."""
    values = [term.params or () for term in load.terms]
    return tuple(values) if isinstance(load, Sum) else values[0]
