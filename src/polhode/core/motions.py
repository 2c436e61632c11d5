"""The kinds of motion: the names of the numbers that are integrated, how a method's state begins from
them, and how they are read from it.

A motion is stored as a row of numbers, in the order of the fields.  Loops, records and files know a
motion only by its `Kind`; what the parts mean outside of kernels is in `polhode.results.motion`.  A kind
that is added to `KINDS` is that of every method whose state has the fields it needs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, get_type_hints

from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector, layout
from polhode.core.rotors import count, rotors


SPEEDS = "rotor_speeds"  # of all rotors


class Rotation(NamedTuple):
    """Attitude (body to space) and body angular velocity."""

    attitude: Quaternion
    omega: Vector


class Flight(NamedTuple):
    """The same, with position and velocity of the centre of mass in space."""

    attitude: Quaternion
    omega: Vector
    position: Vector
    velocity: Vector


class Airborne(NamedTuple):
    """Parameters in flight: those of a load, and where the body is."""

    inner: object
    x: Vector
    v: Vector


@jit
def launch_rotation(start, h, t, motion, body, torque, p):
    return start(h, t, motion.attitude, motion.omega, body, torque, p)


@jit
def launch_flight(start, h, t, motion, body, torque, p):
    return start(
        h, t, motion.attitude, motion.omega, motion.position, motion.velocity, body, torque, p
    )


@jit
def observe_rotation(s, Om, body):
    return Rotation(s.q, Om)


@jit
def observe_flight(s, Om, body):
    return Flight(s.q, Om, s.x, s.v)


@jit
def flaw_in_rotation(s):
    """0, or NaN when the attitude is not finite, which the velocity need not notice: it shows in
    the scalar part of a product."""
    return 0.0 * s.q[3]


@jit
def flaw_in_flight(s):
    """The same with the translation."""
    return flaw_in_rotation(s) + 0.0 * (s.v[0] + s.v[1] + s.v[2])


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of motion: its parts, and what the loops need to begin, observe and check it.  The
    first parts are those of a rotation.

    `needs` are the fields of a method's state, besides those of a rotation, that it is observed in.
    `spinning` is how many rotors the body has, whose speeds are the last parts.  `bodies` is how many
    bodies a system has, whose motions follow each other; 0 stands for a body alone.
    """

    name: str
    parts: type
    launch: Callable[..., Any]
    observe: Callable[..., Any]
    flaw: Callable[..., Any]
    needs: tuple[str, ...] = ()
    spinning: int = 0
    bodies: int = 0

    @property
    def acting(self) -> str:
        """What acts, for messages."""
        return "interaction" if self.bodies else "torque"

    @cached_property
    def width(self) -> int:
        """How many numbers a motion has."""
        return layout(self.parts).size * max(self.bodies, 1)

    @cached_property
    def slices(self) -> dict[str, Any]:
        """Where each part is in a row of numbers, by name: a slice, or a place if the part is one
        number."""
        slices: dict[str, Any] = {}
        first = 0
        for name, part in get_type_hints(self.parts).items():
            size = layout(part).size
            slices[name] = first if part is float else slice(first, first + size)
            first += size
        return slices

    @cached_property
    def groups(self) -> dict[str, slice]:
        """The same with the speeds of all rotors together, which are those of `SPEEDS`."""
        alone = self.width - self.spinning
        found = {name: at for name, at in self.slices.items() if isinstance(at, slice)}
        return found | ({SPEEDS: slice(alone, self.width)} if self.spinning else {})

    def names(self) -> dict[str, Any]:
        """What the loops are bound to."""
        rows = layout(self.parts, rows=True)
        own = rotors(self.spinning) if self.spinning else None
        return {
            "launch": self.launch,
            "observe": self.observe,
            "flaw": self.flaw,
            "load_motion": rows.unpack,
            "store_motion": rows.pack,
            **({"load_body": own.load_body, "flat_body": own.flat_body} if own else {}),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds it by its name."""
        return _kind_named, (self.name, self.spinning, self.bodies)


def _kind_named(name: str, spinning: int, bodies: int = 0) -> Kind:
    return of_bodies(bodies) if bodies else with_rotors(KINDS[name], spinning)


ROTATION = Kind("rotation", Rotation, launch_rotation, observe_rotation, flaw_in_rotation)
FLIGHT = Kind("flight", Flight, launch_flight, observe_flight, flaw_in_flight, needs=("x", "v"))
KINDS = {kind.name: kind for kind in (ROTATION, FLIGHT)}


@lru_cache(64)
def of_bodies(n: int) -> Kind:
    """The motion of a system of n bodies in flight."""
    return replace(FLIGHT, bodies=n)


@lru_cache(64)
def with_rotors(base: Kind, n: int) -> Kind:
    """The kind with the speeds of n rotors, relative to the body, as parts rotor_1, rotor_2, ..."""
    if n == 0:
        return base
    names = get_type_hints(base.parts)
    fields = [*names.items(), *((f"rotor_{i}", float) for i in range(1, n + 1))]
    parts: Any = NamedTuple("Spinning", fields)  # type: ignore[misc]
    whole = generated(
        __name__,
        "whole",
        "m, W",
        (),
        f"make({', '.join(f'm.{name}' for name in names)}, *W)",
        make=parts,
    )
    speeds, observe_base, flaw_in_base = rotors(n).speeds, base.observe, base.flaw

    @jit
    def launch(start, h, t, motion, body, torque, p):
        return start(h, t, motion, body, torque, p)

    @jit
    def observe(s, Om, body):
        return whole(observe_base(s, Om, body), speeds(s.rotors, Om, body))

    flaw = generated(
        __name__,
        "flaw",
        "s",
        (),
        f"flaw_in_base(s) + 0.0 * ({' + '.join(f's.rotors[{i}]' for i in range(n))})",
        flaw_in_base=flaw_in_base,
    )
    return Kind(base.name, parts, launch, observe, flaw, base.needs, n)


@lru_cache(256)
def kind_of(state: Any) -> Kind:
    """The kind of motion that a method's state contains: the one that needs most of its fields."""
    able = (kind for kind in KINDS.values() if set(kind.needs) <= set(state._fields))
    return with_rotors(max(able, key=lambda kind: len(kind.needs)), count(state))
