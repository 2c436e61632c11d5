"""Gyrostats: rotors inside a body, as kernels see them.

The total momentum is Pi = I Om + G, with G the sum of l_i a_i over the rotors, and I the inertia of
all that turns with the body.  The axes a_i and I are in principal axes of I.

    free or driven rotor    l = J (W + a . Om)    l' = u, the torque of its motor
    held at constant speed  l = J W               constant; its moment J about the axis is part of I

W is the speed of a rotor relative to the body.  A drift keeps l, and a kick adds c u to it.  So the
moves of `polhode.core.kicks` are those of a body without rotors, but for the free motion, which
gets G with the body (`Carrier`), and the angular velocity, which is I^-1 (Pi - G).
"""

from collections.abc import Callable
from functools import lru_cache
from types import GenericAlias
from typing import Any, NamedTuple, get_type_hints

from polhode.core.generated import generated
from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.layout import Vector, layout, shape
from polhode.core.vec import dot

FIELD = "rotors"  # of a state: the momenta l


class Gyrostat(NamedTuple):
    """A body with rotors, each with its axis, moment, and 1 where it is free, 0 where it is held."""

    I: Vector
    Iinv: Vector
    axes: tuple
    J: tuple
    free: tuple


class Carrier(NamedTuple):
    """A body with rotors during a free motion, which keeps their part of the momentum."""

    I: Vector
    Iinv: Vector
    G: Vector


class WithMotors(NamedTuple):
    """Parameters of a load, and those of the motors."""

    inner: object
    motors: tuple


class Rotors(NamedTuple):
    """What computes with the numbers of n rotors."""

    load_body: Callable  # (moments, k) -> Gyrostat
    flat_body: Callable  # the same from a flat tuple
    spins: Callable  # motion -> W
    total: Callable  # (l, body) -> G
    speeds: Callable  # (l, Om, body) -> W
    momenta: Callable  # (W, Om, body) -> l
    axpy: Callable  # (c, x, y) -> c x + y
    squared: Callable  # x -> x . x
    energy: Callable  # (W, Om, body) -> what the rotors add to Om . I Om / 2


@jit
def turning(W, along, free):
    """The energy of a rotor of moment 1, but for what is part of I: that of a held one."""
    return 0.5 * W * W + along * W + 0.5 * free * along * along


def each(text: str, n: int, first: int = 0) -> str:
    """A tuple as source text, with an entry for each rotor: # stands for its number."""
    return "(" + "".join(text.replace("#", str(first + i)) + ", " for i in range(n)) + ")"


@lru_cache(32)
def rotors(n: int) -> Rotors:
    """The functions for n rotors."""
    numbers = GenericAlias(tuple, (float,) * n)
    parts = (Vector, GenericAlias(tuple, (Vector,) * n), numbers, numbers)

    def from_numbers(flat):
        unpack = layout(parts, flat=flat).unpack

        @jit
        def load(moments, k):
            I, axes, J, free = unpack(moments, k)
            return Gyrostat(I, (1.0 / I[0], 1.0 / I[1], 1.0 / I[2]), axes, J, free)

        return load

    def written(name, arguments, entry):
        return generated(__name__, name, arguments, (), each(entry, n), fma=fma, dot=dot)

    def summed(term):
        text = "0.0"
        for i in range(n):
            text = f"fma({term.replace('#', str(i))}, {text})"
        return text

    along = ", ".join(summed(f"l[#], body.axes[#][{axis}]") for axis in range(3))
    return Rotors(
        from_numbers(flat=False),
        from_numbers(flat=True),
        generated(__name__, "spins", "motion", (), each("motion.rotor_#", n, 1)),
        generated(__name__, "total", "l, body", (), f"({along})", fma=fma),
        written("speeds", "l, Om, body", "l[#] / body.J[#] - body.free[#] * dot(body.axes[#], Om)"),
        written(
            "momenta", "W, Om, body", "body.J[#] * (W[#] + body.free[#] * dot(body.axes[#], Om))"
        ),
        written("axpy", "c, x, y", "fma(c, x[#], y[#])"),
        generated(__name__, "squared", "x", (), summed("x[#], x[#]"), fma=fma),
        generated(
            __name__,
            "energy",
            "W, Om, body",
            (),
            summed("body.J[#], turning(W[#], dot(body.axes[#], Om), body.free[#])"),
            fma=fma,
            dot=dot,
            turning=turning,
        ),
    )


def gyrostat(n: int) -> Any:
    """The shape of a body with n rotors, for its layout."""
    zero = (0.0, 0.0, 0.0)
    return shape(Gyrostat(zero, zero, (zero,) * n, (0.0,) * n, (0.0,) * n))


def count(state: type) -> int:
    """How many rotors a state has."""
    kind = get_type_hints(state).get(FIELD)
    return 0 if kind is None else layout(kind).size


def extended(state: type, n: int, *further: str) -> type:
    """A state class with the momenta of n rotors, and further fields with a number for each."""
    numbers = GenericAlias(tuple, (float,) * n)
    fields = [*get_type_hints(state).items(), *((name, numbers) for name in (FIELD, *further))]
    made: Any = NamedTuple("SpunState", fields)  # type: ignore[misc]
    return made
