"""Rotations about the principal axes in turn: McLachlan 1993, Reich 1994; LP2 in Krysl & Endres,
MR2 and MR4 in Buss 2001.

The kinetic energy is a sum of three terms Pi_i^2 / (2 I_i).  The flow of each is a rotation about
body axis i by the constant angle h Pi_i / I_i.  Their symmetric composition a b c b a, with half
steps except for c, is a free motion that is symplectic and explicit and conserves the spatial
momentum.  The torque acts as kicks before and after.  With rotors inside the body, which
have the part G of the momentum, the angles are h (Pi_i - G_i) / I_i.

MR2-abc takes the axes in any of the six orders; LP2 is MR2-123.  The order matters: on Buss's thin
body 2-1-3 and 2-3-1 need a fourteenth of the steps of 1-2-3.  MR2-abc-cay rotates by 2
atan(angle/2) instead of the angle, which Buss recommends for speed; on a thin body it needs
eighteen times as many steps.  MR4-abc is Yoshida's composition of MR2-abc.  A few orders are
registered; the others are made when they are requested by name.
"""

import math
from functools import cache
from itertools import permutations

from polhode.core.jit import jit
from polhode.core.kicks import KickedState, start
from polhode.core.scalars import sincos
from polhode.core.vec import renormalise
from polhode.methods._kicked import in_flight, in_system, kicked, with_rotors
from polhode.methods._families import family
from polhode.methods._method import Method, variant
from polhode.methods._registry import register
from polhode.methods.compose import compose


@jit
def exact(angle):
    """Sine and cosine of half the angle."""
    return sincos(0.5 * angle)


@jit
def cayley(angle):
    """The same for the angle 2 atan(angle/2)."""
    n = math.sqrt(4.0 + angle * angle)
    return angle / n, 2.0 / n


@jit
def whole(i, Pi, body):
    return Pi[i]


@jit
def beside_rotors(i, Pi, body):
    return Pi[i] - body.G[i]


def turns(half, own=whole):
    """The axis rotations, with `half(angle)` for sine and cosine of half the angle, and `own(i, Pi,
    body)` for the body's own part of the momentum.  Space sees the momentum stand still."""

    @jit
    def turn1(h, q, Pi, body):
        s, c = half(h * own(0, Pi, body) * body.Iinv[0])
        sine, cosine = 2.0 * s * c, (c - s) * (c + s)
        x, y, z, w = q
        return (
            (c * x + s * w, c * y + s * z, c * z - s * y, c * w - s * x),
            (Pi[0], cosine * Pi[1] + sine * Pi[2], cosine * Pi[2] - sine * Pi[1]),
        )

    @jit
    def turn2(h, q, Pi, body):
        s, c = half(h * own(1, Pi, body) * body.Iinv[1])
        sine, cosine = 2.0 * s * c, (c - s) * (c + s)
        x, y, z, w = q
        return (
            (c * x - s * z, c * y + s * w, c * z + s * x, c * w - s * y),
            (cosine * Pi[0] - sine * Pi[2], Pi[1], cosine * Pi[2] + sine * Pi[0]),
        )

    @jit
    def turn3(h, q, Pi, body):
        s, c = half(h * own(2, Pi, body) * body.Iinv[2])
        sine, cosine = 2.0 * s * c, (c - s) * (c + s)
        x, y, z, w = q
        return (
            (c * x + s * y, c * y - s * x, c * z + s * w, c * w - s * z),
            (cosine * Pi[0] + sine * Pi[1], cosine * Pi[1] - sine * Pi[0], Pi[2]),
        )

    return turn1, turn2, turn3


def split_drift(first, second, third):
    """The free motion made of three axis rotations."""

    @jit
    def drift(h, q, Pi, body):
        q, Pi = first(0.5 * h, q, Pi, body)
        q, Pi = second(0.5 * h, q, Pi, body)
        q, Pi = third(h, q, Pi, body)
        q, Pi = second(0.5 * h, q, Pi, body)
        q, Pi = first(0.5 * h, q, Pi, body)
        return renormalise(q), Pi, 0.0

    return drift


def split(*turns):
    """The step made of three axis rotations."""
    drift = split_drift(*turns)

    @jit
    def step(h, t, s, body, torque, p):
        return kicked(drift, h, t, s, body, torque, p)

    return step


def splitting(name, half, axes, summary, best_for=""):
    """The Method of a second-order splitting: rotations about the axes, by angles like `half`."""
    return Method(
        name,
        split(*ordered(TURNS[half], axes)),
        start,
        KickedState,
        order=2,
        torques=1,
        symmetric=True,
        symplectic=True,
        conserves=("momentum",),
        free_order=(2, 2),
        family="splitting",
        cite="mclachlan1993explicit",
        summary=summary,
        best_for=best_for,
        flight=in_flight,
        system=in_system,
        rotors=with_rotors(cache(lambda: split(*ordered(TURNS_BESIDE_ROTORS[half], axes)))),
    )


def ordered(turns, axes):
    return (turns[int(axis) - 1] for axis in axes)


TURNS = {half: turns(half) for half in (exact, cayley)}
TURNS_BESIDE_ROTORS = {half: turns(half, beside_rotors) for half in TURNS}
ROTATIONS, ROTATIONS_BESIDE_ROTORS = TURNS[exact], TURNS_BESIDE_ROTORS[exact]
AXES = f"({'|'.join(map(''.join, permutations('123')))})(-cay)?"


@family("MR2-abc", f"mr2-{AXES}", standard="MR2-123")
def mr2(axes, ending):
    """McLachlan-Reich splitting into rotations about the axes in any order, or Cayley rotations
    (-cay)."""
    a, b, c = axes
    kind = "Cayley rotations" if ending else "rotations"
    return splitting(
        f"MR2-{axes}{ending or ''}",
        cayley if ending else exact,
        axes,
        f"McLachlan-Reich splitting into {kind} about the axes {a}, {b}, {c}, {b}, {a}",
    )


@family("MR4-abc", f"mr4-{AXES}", standard="MR4-123")
def mr4(axes, ending):
    """Yoshida's fourth-order composition of MR2-abc."""
    second = mr2(axes, ending)
    fourth = compose(second, "yoshida4")
    return variant(
        fourth,
        name=f"MR4-{axes}{ending or ''}",
        cite="buss2001accurate",
        builds_on=fourth.references,
        summary=f"Yoshida's fourth-order composition of {second.name}",
    )


register(
    splitting(
        "LP2",
        exact,
        "123",
        "Lie-Poisson splitting into rotations about the axes 1, 2, 3, 2, 1",
        best_for="a first run with a fixed step (the default): explicit, one torque evaluation per step, no energy drift",
    )
)
# the order of LP2, and the better one on Buss's bodies, in both forms
for standard in (("123", ""), ("231", ""), ("231", "-cay")):
    register(mr2(*standard))
    register(mr4(*standard))
