"""Interactions of a few bodies as functions for loops, on tuples: see `polhode.core.few`.

A term of an interaction is `act(t, s, F, N, q) -> (F, N)`, which adds its forces and torques to those that
are there, in the same order as the loops over arrays do; q are its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.rotors import each
from polhode.core.systems import NOTHING
from polhode.core.vec import add, apply, sub
from polhode.loads.interaction import Interaction
from polhode.loads.interaction_kernels import everywhere, pair_form, pair_numbers
from polhode.loads.kernels import nested, parameter_text, scope_of
from polhode.loads.pair import Pair

MOST_PAIRS = 64  # of all terms: each is written out
MOST_NUMBERS = 128  # parameters of a function of all bodies


@jit
def entry(vectors, i):
    return vectors[i]


@jit
def rate(places, i):
    """The angular velocity of a body in space."""
    return apply(places.R[i], places.omega[i])


@jit
def if_near(near, found):
    """Force and torques, none where the bodies are not near."""
    F, TA, TB = found
    return F if near else NOTHING, TA if near else NOTHING, TB if near else NOTHING


@jit
def row_of(a, i):
    return float(a[i, 0]), float(a[i, 1]), float(a[i, 2])


def pairs_of(pair: Pair, n: int) -> list[tuple[int, int]]:
    """The pairs of n bodies that act, in the order in which they are added."""
    if pair.links is None:
        return [*combinations(range(n), 2)]
    return [(int(i), int(j)) for i, j in pair.links]


def fits(interaction: Interaction, n: int) -> bool:
    """Whether what acts between n bodies can be written out, and is little enough."""
    if any(one.in_c or type(one) not in (Pair, Interaction) for one in interaction.terms):
        return False
    pairs, numbers = 0, 0
    for one in interaction.terms:
        if isinstance(one, Pair):
            pairs += len(pairs_of(one, n))
        else:
            numbers += sum(map(np.size, one.params or ()))
    return pairs <= MOST_PAIRS and numbers <= MOST_NUMBERS


# --- numbers --------------------------------------------------------------------------------------


def numbers(interaction: Interaction, n: int) -> tuple[Any, ...]:
    """The numbers of all terms, as nested tuples."""
    return tuple(_numbers_of(one, n) for one in interaction.terms)


def _numbers_of(one: Interaction, n: int) -> Any:
    if not isinstance(one, Pair):
        return () if one.params is None else type(one.params)(*map(nested, one.params))
    links = 0 if one.links is None else len(one.links)
    return (
        pair_numbers(one),
        tuple(one.each.at(i) for i in range(n)),
        tuple(one.own.at(i) for i in range(links)),
    )


# --- forces ---------------------------------------------------------------------------------------


def forces_of(interaction: Interaction, n: int) -> Callable[..., Any]:
    """`forces(t, s, p) -> (F, N)` of all terms, with p their `numbers`."""
    terms = [
        _pair(one, n) if isinstance(one, Pair) else _whole(one, n) for one in interaction.terms
    ]
    zero = each("nothing", n)
    lines = [f"F, N = {zero}, {zero}"]
    lines += [f"F, N = act{k}(t, s, F, N, p[{k}])" for k in range(len(terms))]
    scope = {f"act{k}": act for k, act in enumerate(terms)}
    return generated(__name__, "forces", "t, s, p", lines, "F, N", nothing=NOTHING, **scope)


def _aspects(n: int) -> list[str]:
    return [f"A{i} = aspect(s.R[{i}], q[1][{i}], q[0])" for i in range(n)]


def _pair(pair: Pair, n: int) -> Callable[..., Any]:
    """A pair interaction, with all pairs written out."""
    form = pair_form(pair, entry, rate)
    lines = [*_aspects(n), f"{each('F#', n)} = F", f"{each('N#', n)} = N"]
    near = form.within is not everywhere

    def found(i: int, j: int, own: str = "") -> list[str]:
        call = f"pair({i}, {j}, r, A{i}, A{j}{own}, s, q[0])"
        return [
            f"r = nearest(sub(s.x[{j}], s.x[{i}]), q[0])",
            f"f, a, b = {f'if_near(within(r, q[0]), {call})' if near else call}",
        ]

    if pair.links is None:
        for i in range(n - 1):
            lines.append("force, moment = nothing, nothing")
            for j in range(i + 1, n):
                lines += [
                    *found(i, j),
                    "force, moment = add(force, f), add(moment, a)",
                    f"F{j}, N{j} = sub(F{j}, f), add(N{j}, b)",
                ]
            lines.append(f"F{i}, N{i} = add(F{i}, force), add(N{i}, moment)")
    else:
        for k, (i, j) in enumerate(pairs_of(pair, n)):
            lines += [
                *found(i, j, f", q[2][{k}]"),
                f"F{i}, F{j} = add(F{i}, f), sub(F{j}, f)",
                f"N{i}, N{j} = add(N{i}, a), add(N{j}, b)",
            ]
    scope: dict[str, Any] = {
        "pair": form.pair,
        "aspect": form.aspect,
        "nearest": form.nearest,
        "within": form.within,
    }
    scope |= {"add": add, "sub": sub, "if_near": if_near, "nothing": NOTHING}
    result = f"{each('F#', n)}, {each('N#', n)}"
    return generated(__name__, "act", "t, s, F, N, q", lines, result, **scope)


def _seen(one: Interaction, f: Any, velocities: bool) -> tuple[str, dict[str, Any]]:
    """The call of a function of all bodies, which gets arrays, and what the text names."""
    motion = ["x", "R", *["v", "omega"] * velocities]
    given = [
        "t",
        *(f"matrix(s.{name})" for name in motion),
        *parameter_text(one.params, "array", p="q"),
    ]
    return f"f({', '.join(given)})", {"f": f, **scope_of(one.params, "array")}


def _whole(one: Interaction, n: int) -> Callable[..., Any]:
    """A function of all bodies."""
    call, scope = _seen(one, one.function, one.uses_velocity)
    lines = [
        f"F_given, N_given = {call}",
        "forces, torques = asarray(F_given), asarray(N_given)",
        f"if forces.shape != ({n}, 3) or torques.shape != ({n}, 3):",
        "    raise ValueError('it must return forces and torques, three numbers for each body')",
    ]
    names = {"add": add, "row": row_of, "asarray": np.asarray}
    result = ", ".join(
        each(f"add({total}[#], row({found}, #))", n)
        for total, found in (("F", "forces"), ("N", "torques"))
    )
    return generated(__name__, "act", "t, s, F, N, q", lines, result, **names, **scope)


# --- energy ---------------------------------------------------------------------------------------


def energy_of(interaction: Interaction, n: int) -> Callable[..., Any] | None:
    """`energy(t, s, p)`, the potential energy of all terms; None where it is not known."""
    if not interaction.has_potential:
        return None
    terms = [
        _pair_energy(one, n) if isinstance(one, Pair) else _whole_energy(one)
        for one in interaction.terms
    ]
    scope = {f"energy{k}": term for k, term in enumerate(terms)}
    total = " + ".join(f"{name}(t, s, p[{k}])" for k, name in enumerate(scope))
    return generated(__name__, "energy", "t, s, p", (), total or "0.0", **scope)


def _whole_energy(one: Interaction) -> Callable[..., Any]:
    call, scope = _seen(one, one.potential, False)
    return generated(__name__, "energy", "t, s, q", (), f"float({call})", **scope)


def _pair_energy(pair: Pair, n: int) -> Callable[..., Any]:
    form = pair_form(pair, entry, rate)
    near = form.within is not everywhere
    lines, terms = _aspects(n), []
    for k, (i, j) in enumerate(pairs_of(pair, n)):
        own = "" if pair.links is None else f", q[2][{k}]"
        call = f"pair(r{k}, A{i}, A{j}{own}, q[0])"
        lines.append(f"r{k} = nearest(sub(s.x[{j}], s.x[{i}]), q[0])")
        terms.append(f"({call} if within(r{k}, q[0]) else 0.0)" if near else call)
    scope = {"pair": form.energy, "aspect": form.aspect, "nearest": form.nearest}
    scope |= {"within": form.within, "sub": sub}
    return generated(__name__, "energy", "t, s, q", lines, " + ".join(terms) or "0.0", **scope)


@jit
def unknown(t, s, p):
    return math.nan
