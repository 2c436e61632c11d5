"""What a file contains: a method for one torque, and the functions that are called from outside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from polhode.core.jit import jit
from polhode.core.motions import FLIGHT, ROTATION, with_rotors
from polhode.core.rotors import Gyrostat, rotors
from polhode.core.loops.fixed import body_of, no_calls, no_residual, residual_of_state
from polhode.engine.flight import flying
from polhode.engine.rotors import check_rotors
from polhode.errors import InputError
from polhode.exports.acting import (
    MATRIX,
    QUATERNION,
    VECTOR,
    Acting,
    of_load,
    of_torque,
    of_user,
    of_user_in_flight,
)
from polhode.exports.calls import UsersFunction, inlined
from polhode.exports.ir import (
    REAL,
    USER,
    Array,
    Call,
    Expr,
    Function,
    Record,
    Static,
    Type,
    Var,
    has_numbers,
)
from polhode.exports.long_steps import REPLACED
from polhode.exports.sample import sample
from polhode.exports.spinning import spinning
from polhode.exports.source import Untranslatable
from polhode.exports.symmetry import Symmetry, symmetry
from polhode.exports.translate import Translator
from polhode.exports.trees import called, item, walk
from polhode.loads._torque import Torque
from polhode.loads.load import Load
from polhode.methods._method import IN_C
from polhode.methods._states import velocity_of

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.methods._method import Method


NO_FLIGHT = "has no steps of its own for a body in flight"
# fields of states that are left out where they stay 0
ALWAYS_ZERO = frozenset({"residual", "calls"})
READINGS = {  # what can be read from a state beside the motion
    "residual": "What the equations of the last step are left with, relative to their terms; not <= {solved} if unsolved.",
    "calls": "How often the last step evaluated the torque.",
    "unrestored": "At how many steps so far the energy could not be restored.",
}


@dataclass
class Root:
    """A function that the user of the file calls: its parameters, and its value in terms of them."""

    params: list[tuple[str, Type]]
    value: Expr


@dataclass
class Module:
    """A method written out: a `Printer` makes a file of it."""

    method: Method
    prefix: str  # of the public names
    load: Torque | Load | None  # that is part of the file; None: the user's
    asked: UsersFunction | None  # what the user writes: then there is a parameter p, of type USER
    frame: str  # of the user's torque
    make_body: Root  # (I[, axes, J, free]) -> body, with its rotors
    start: Root  # (h, t, q, Om, [x, v,] [W,] body[, p]) -> state
    step: Root  # (h, t, s, body[, p]) -> state
    omega: Root  # (s, body) -> body velocity
    motors: UsersFunction | None = None  # what the user writes for motors of rotors, through p too
    speeds: Root | None = None  # (s, body) -> speeds of the rotors
    # what else can be read from a state, by name: what it is, and (s) -> number
    readings: dict[str, tuple[str, Root]] = field(default_factory=dict)
    sample: dict[str, Any] = field(default_factory=dict)  # numbers for the example
    symmetry: Symmetry | None = None  # that the bodies of the file must have
    mass: float | None = None  # that is part of the file
    facts: list[str] = field(default_factory=list)  # lines for the header
    command: list[str] = field(default_factory=list)  # that writes the file, in words

    @property
    def roots(self) -> list[Root]:
        """What is called from outside."""
        found = [self.make_body, self.start, self.step, self.omega]
        return [*found, self.speeds] if self.speeds else found

    @property
    def state(self) -> Type:
        """The type of the state, a `Record`; its field q is the attitude."""
        return self.start.value.type

    @property
    def body(self) -> Type:
        """The type of the body, a `Record`."""
        return self.make_body.value.type

    def public_types(self) -> list[Type]:
        """The types that the user of the file sees."""
        users: list[Type] = [one.result for one in (self.asked, self.motors) if one]
        users = [MATRIX, *users, USER] if users else []
        return [VECTOR, QUATERNION, *users, self.body, self.state]

    @cached_property
    def functions(self) -> list[Function]:
        """The functions of the file, each after those it calls."""
        return functions_of(self.roots)


def functions_of(roots: Iterable[Root]) -> list[Function]:
    """The functions that are called, each after those it calls."""
    found: dict[Function, None] = {}

    def add(function: Function) -> None:
        if function not in found:
            for inner in called(function):
                add(inner)
            found[function] = None

    for root in roots:
        for one in walk(root.value):
            if isinstance(one, Call):
                add(one.function)
    return list(found)


def root_of(
    translator: Translator, function: Callable[..., Any], *params: tuple[str, Type]
) -> Root:
    """A function of Python as one that is called from outside."""
    made = translator.function(function, tuple(kind for _, kind in params))
    args = [Var(name, kind) for name, kind in params]
    left = tuple(arg for arg, keep in zip(args, made.keep, strict=True) if keep)
    value = inlined(made, left)
    return Root([pair for pair in params if not isinstance(pair[1], Static)], value)


def identifier(name: str) -> str:
    """A method's name as part of the names in a file: LIEMID[EA] is LIEMID_EA."""
    return re.sub(r"\W+", "_", name).strip("_")


def module_of(
    method: Method,
    load: Torque | Load | None,
    body: RigidBody | None,
    frame: str,
    flight: bool,
    translator: Translator | None = None,
) -> Module:
    """The functions of a method for one body with a torque or a load, or with one that the user
    writes; modules with the same translator share functions."""
    obstacle = export_obstacle(method)
    if obstacle:
        raise InputError(f"{method.name} cannot be exported: {obstacle}")
    suited, acting = _acting(method, load, body, frame, flight)
    n = 0 if body is None else len(body.rotors)
    motors = None
    if body is not None and n:
        check_rotors(suited)
        suited = suited.rotors(suited, n)  # type: ignore[misc]
        acting, motors = spinning(acting, body, flight)
    fits = symmetry(method, acting.known, body)
    fresh = (Translator(REPLACED, zeros) for zeros in (ALWAYS_ZERO, frozenset[str]()))
    for one in fresh if translator is None else [translator]:
        try:
            made = _written(suited, acting, n, flight, one, fits)
        except Untranslatable:
            if not one.zeros:
                raise
            continue
        state = made["start"].value.type
        if made["step"].value.type == state and isinstance(state, Record):
            break
    else:
        raise InputError(
            f"{method.name} cannot be exported: its step gives another state than its start; give both the same fields"
        )
    further: dict[str, Any] = {
        "motors": motors,
        "sample": sample(body),
        "symmetry": fits,
        "mass": None,
    }
    if isinstance(load, Load):
        further["mass"] = 1.0 if body is None else body.mass
    return Module(suited, identifier(method.name), load, acting.asked, frame, **further, **made)


def _written(
    suited: Method,
    acting: Acting,
    n: int,
    flight: bool,
    translator: Translator,
    fits: Symmetry | None,
) -> dict[str, Any]:
    """The functions that are called from outside, for a body with n rotors."""
    kind: Type = USER if acting.asked else Static(acting.values)
    root = partial(root_of, translator)

    begin, advance, read, frames = (
        suited.start,
        suited.step,
        velocity_of(suited.state),
        acting.frames,
    )

    @jit
    def start(h, t, q, Om, body, p):
        return begin(h, t, q, Om, body, frames, p)

    @jit
    def start_flight(h, t, q, Om, x, v, body, p):
        return begin(h, t, q, Om, x, v, body, frames, p)

    @jit
    def step(h, t, s, body, p):
        return advance(h, t, s, body, frames, p)

    @jit
    def omega(s, body):
        return read(s, body)

    spun, W = with_rotors(FLIGHT if flight else ROTATION, n).parts, Array(REAL, n)
    speeds = rotors(n).speeds

    @jit
    def start_spun(h, t, q, Om, W, body, p):
        return begin(h, t, spun(q, Om, *W), body, frames, p)

    @jit
    def start_spun_flight(h, t, q, Om, x, v, W, body, p):
        return begin(h, t, spun(q, Om, x, v, *W), body, frames, p)

    @jit
    def speeds_of(s, body):
        return speeds(s.rotors, read(s, body), body)

    if n:
        given_rotors = ("axes", Array(VECTOR, n)), ("J", W), ("is_free", W)
        make_body = root(fits.body() if fits else gyrostat_of, ("I", VECTOR), *given_rotors)
    else:
        make_body = root(fits.body() if fits else body_of, ("I", VECTOR))
    own, times, given = ("body", make_body.value.type), (("h", REAL), ("t", REAL)), ("p", kind)
    motion = (
        ("q", QUATERNION),
        ("Om", VECTOR),
        *((("x", VECTOR), ("v", VECTOR)) if flight else ()),
        *((("W", W),) if n else ()),
    )
    starts = (start_spun, start_spun_flight) if n else (start, start_flight)
    started = root(starts[flight], *times, *motion, own, given)
    state = started.value.type
    stepped = root(step, *times, ("s", state), own, given)
    readings = {}
    for name, doc in READINGS.items():
        if isinstance(state, Record) and name in state.fields:
            value = item(Var("s", state), state.fields.index(name))
            if has_numbers(value.type):
                readings[name] = doc, Root([("s", state)], value)
    found = {"make_body": make_body, "start": started, "step": stepped, "readings": readings}
    found["omega"] = root(omega, ("s", state), own)
    return found | ({"speeds": root(speeds_of, ("s", state), own)} if n else {})


@jit
def gyrostat_of(I, axes, J, free):
    return Gyrostat(I, (1.0 / I[0], 1.0 / I[1], 1.0 / I[2]), axes, J, free)


def _acting(
    method: Method, load: Torque | Load | None, body: RigidBody | None, frame: str, flight: bool
) -> tuple[Method, Acting]:
    """The method as it is best run, and what acts."""
    if flight and load is None:
        if method.flight is None:
            raise InputError(
                f"{method.name} {NO_FLIGHT}; export one that has, such as LP2, EXACT or DOP853, or give a load of polhode's"
            )
        acting = of_user_in_flight(frame)
    elif isinstance(load, Load):
        acting = of_load(load, method, 1.0 if body is None else body.mass)
    else:
        acting = of_user(frame) if load is None else of_torque(load)
    suited = method.suited(acting.known, body)
    if suited.restores_energy and suited.step is method.step:
        raise InputError(
            f"{method.name} cannot be exported for this torque, whose energy is not known; bake in a torque with a "
            f"potential, or export {method.name.rpartition('+')[0]}"
        )
    if suited.potential:
        potential = acting.known.potential_kernel()
        acting = acting._replace(frames=acting.frames._replace(potential=potential))
    if flight:
        has_residual = "residual" in getattr(suited.state, "_fields", ())
        residual = residual_of_state if has_residual else no_residual
        suited = flying(suited, velocity_of(suited.state), residual, no_calls)
    return suited, acting


def export_obstacle(method: Method) -> str:
    """Why a method cannot be exported, in a few words; "" if it can."""
    if method.name == "taylor":
        return "its order is chosen by a tolerance; name one, as in taylor(8)"
    if method.arrays:
        return "it keeps the stages of a step in an array; use EXACT-RKN6 or MR2-BM6"
    if method.family == IN_C:
        return "it is machine code made from C; use the file of C"
    return ""


def obstacles(method: Method) -> dict[str, str | None]:
    """Why a method cannot be exported, for a body that turns, for one that flies with a load of the
    user's, and for one with rotors; None where it can."""
    why = export_obstacle(method)
    return {
        "export_obstacle": why or None,
        "export_flight_obstacle": why or (None if method.flight else NO_FLIGHT),
        "export_rotors_obstacle": why or (None if method.rotors else "takes no rotors"),
    }
