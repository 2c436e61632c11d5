"""Interactions as functions for loops: what a user's function of arrays or of tuples becomes in
`polhode.core.systems`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.layout import layout, shape
from polhode.core.reads import ours
from polhode.core.pairs import (
    PairForm,
    energy_of_all,
    energy_of_links,
    energy_of_near,
    pairs_of_all,
    pairs_of_links,
    pairs_of_near,
    spatial_rate,
)
from polhode.core.rows import Rows, in_turn
from polhode.core.systems import Acting, Places, add_to, vector
from polhode.core.vec import sub
from polhode.errors import InputError, brief, floats
from polhode.loads.arguments import parameters_class
from polhode.loads.kernels import SHAPES, nested, parameter_text, scope_of, three

NONE = np.empty((0, 2), dtype=np.int64)  # no links


# --- numbers --------------------------------------------------------------------------------------


def array_parameters(params: Mapping[str, Any] | None) -> Any:
    """The parameters of a function of all bodies: floats and arrays by name."""
    if params is None:
        return None
    if hasattr(params, "_asdict"):
        params = params._asdict()
    check_names("params", params)
    arrays = {name: floats(f"parameter {name!r}", value) for name, value in params.items()}
    return parameters_class(tuple(arrays))(
        *(float(one) if one.ndim == 0 else kept(one) for one in arrays.values())
    )


def kept(given: np.ndarray) -> np.ndarray:
    """A copy that stays as it is."""
    found = np.array(given, order="C")
    found.flags.writeable = False
    return found


def own_copies(params: Any) -> tuple[Any, ...]:
    """Parameters as the last argument of a user's function, which may write to them; none where
    there are none."""
    if params is None:
        return ()
    return (type(params)(*(one if type(one) is float else one.copy() for one in params)),)


def check_names(what: str, given: Any) -> None:
    if not isinstance(given, Mapping) or not given:
        raise InputError(
            f"{what} must be a dict of names and numbers, got {brief(given)}; write {what}={{'k': 1.0}}"
        )
    bad = next(
        (n for n in given if not (isinstance(n, str) and n.isidentifier() and n[0] != "_")), None
    )
    if bad is not None:
        raise InputError(
            f"a name in {what} must be that of a variable, got {brief(bad)}; write {what}={{'k': 1.0}}"
        )


@dataclass(frozen=True, eq=False)
class Columns:
    """Numbers, vectors and matrices of each body or link, by name."""

    what: str
    names: tuple[str, ...]
    arrays: tuple[np.ndarray, ...]

    @property
    def count(self) -> int | None:
        """How many bodies or links there are."""
        return len(self.arrays[0]) if self.arrays else None

    def some(self, which: np.ndarray) -> Columns:
        """Some of them."""
        return Columns(self.what, self.names, tuple(one[which] for one in self.arrays))

    @property
    def first(self) -> Any:
        """What one of them has."""
        return self.at(0)

    def at(self, i: int) -> Any:
        """What one of them has, as a NamedTuple of nested tuples; () where there is nothing."""
        if not self.names:
            return ()
        return parameters_class(self.names)(*(nested(one[i]) for one in self.arrays))

    def rows(self, n: int) -> np.ndarray:
        """All numbers, one row for each."""
        if not self.arrays:
            return np.empty((n, 0))
        return np.concatenate([one.reshape(n, -1) for one in self.arrays], axis=1)


def columns(what: str, given: Mapping[str, Any] | None) -> Columns:
    """The `Columns` of a dict of arrays with the same first axis."""
    if given is None:
        return Columns(what, (), ())
    check_names(what, given)
    arrays = {name: floats(f"{what}[{name!r}]", value) for name, value in given.items()}
    counts = {one.shape[0] if one.ndim else 0 for one in arrays.values()}
    if len(counts) != 1 or 0 in counts:
        shapes = ", ".join(f"{name} {one.shape}" for name, one in arrays.items())
        raise InputError(
            f"the arrays of {what} must have the same first axis, one entry for each, got {shapes}; correct them"
        )
    big = next((name for name, one in arrays.items() if one.ndim > 3), None)
    if big is not None:
        raise InputError(
            f"{what}[{big!r}] must have a number, a vector or a matrix for each, got shape {arrays[big].shape}; "
            "give one of these"
        )
    return Columns(what, tuple(arrays), tuple(map(kept, arrays.values())))


# --- functions of all bodies ----------------------------------------------------------------------


def _parameters_from_row(params: Any, copied: bool) -> str:
    """Parameters made of the row `values` again, as source text."""
    parts, first = [], 0
    for value in params:
        size = np.size(value)
        part = f"values[0, {first}:{first + size}]" + ".copy()" * copied
        parts.append(
            f"values[0, {first}]"
            if np.ndim(value) == 0
            else part
            if np.ndim(value) == 1
            else f"{part}.reshape({np.shape(value)!r})"
        )
        first += size
    return f"make({', '.join(parts)})"


@jit
def added(found, F, N):
    """Forces and torques that a user's function returned, to those that are there."""
    F_given, N_given = found
    forces, torques = np.asarray(F_given), np.asarray(N_given)
    if forces.shape != F.shape or torques.shape != N.shape:
        raise ValueError("it must return forces and torques, three numbers for each body")
    for i in range(len(F)):
        add_to(F, i, vector(forces, i))
        add_to(N, i, vector(torques, i))


def whole(f: Callable[..., Any], params: Any, uses_velocity: bool) -> Callable[..., Any]:
    """`act(t, p, term)` of a function of all bodies; it gets copies, and may write to them."""
    given = ["t", *(f"s.{name}.copy()" for name in ("x", "R", *["v", "omega"] * uses_velocity))]
    given += [] if params is None else [_parameters_from_row(params, not ours(f))]
    lines = ["s, values = p.places, term.values", f"added(f({', '.join(given)}), s.F, s.N)"]
    return generated(__name__, "act", "t, p, term", lines, f=f, added=added, make=type(params))


def whole_energy(V: Callable[..., Any], params: Any) -> Callable[..., Any]:
    """`energy(t, p, term)` of a user's potential."""
    given = ["t", "s.x.copy()", "s.R.copy()"]
    given += [] if params is None else [_parameters_from_row(params, not ours(V))]
    lines = ["s, values = p.places, term.values"]
    text = f"float(V({', '.join(given)}))"
    return generated(__name__, "energy", "t, p, term", lines, text, V=V, make=type(params))


@jit
def unknown_energy(t, p, term):
    return math.nan


# --- pairs ----------------------------------------------------------------------------------------


@jit
def turned_alone(R, a, p):
    """The aspect of a body of which nothing else is said: its attitude, and what it has."""
    return R, a


@jit
def answered(found):
    """A force and two torques as tuples."""
    F, TA, TB = found
    return three(F), three(TA), three(TB)


@jit
def the_same(r, q):
    return r


@jit
def shortest(r, q):
    """The shortest image of r in a periodic box."""
    L = q[1]
    return (
        r[0] - L[0] * math.floor(r[0] / L[0] + 0.5),
        r[1] - L[1] * math.floor(r[1] / L[1] + 0.5),
        r[2] - L[2] * math.floor(r[2] / L[2] + 0.5),
    )


@jit
def everywhere(r, q):
    return True


@jit
def near(r, q):
    """Whether the centres are within the cut-off."""
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] < q[2] * q[2]


def _argument(columns: Columns, source: str, form: str, scope: dict[str, Any]) -> str:
    """What a user's function gets of each body, or of a link, as source text."""
    make = f"make_{columns.what}"
    scope[make] = type(columns.first)
    if form == "tuple":
        return source
    parts = (SHAPES[one.ndim - 1].format(f"{source}[{i}]") for i, one in enumerate(columns.arrays))
    return f"{make}({', '.join(parts)})"


def _call(pair: Any, f: Any, velocities: bool, answer: str, scope: dict[str, Any]) -> str:
    """The call of a user's function, as source text with A, B, c and q in scope."""
    moving = pair.uses_velocity and velocities
    form, array = pair.form, pair.form == "array"
    vector_of = "vector({})" if array else "{}"
    rates = [vector_of.format(one) for one in ("wA", "wB")] * moving
    given = [vector_of.format("r"), *[vector_of.format("v")] * moving]
    if pair.aspect is not None:
        given += ["A", "B", *rates, *["c"] * (pair.links is not None), "q[0]"]
    else:
        given += [("matrix({})" if array else "{}").format(one) for one in ("A[0]", "B[0]")]
        given += rates
        if pair.each.names:
            given += [_argument(pair.each, f"{one}[1]", form, scope) for one in "AB"]
        if pair.own.names:
            given.append(_argument(pair.own, "c", form, scope))
        if pair.params is not None:
            given += parameter_text(pair.params, form, False, "q[0]")
    scope |= {"f": f, "answered": answered} | scope_of(pair.params, form)
    return answer.format(f"f({', '.join(given)})")


def pair_numbers(pair: Any) -> Any:
    """Parameters, box and cut-off as loops get them."""
    params = () if pair.params is None else pair.params
    return (params, pair.box or (), () if pair.cutoff is None else pair.cutoff)


def _aspect_of(pair: Any) -> Callable[..., Any]:
    if pair.aspect is None:
        return turned_alone
    return generated(__name__, "aspect", "R, a, q", (), "own(R, a, q[0])", own=pair.aspect)


def _aspect_shape(pair: Any) -> Any:
    """The shape of what others see of a body, found by looking at one."""
    identity = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    return shape(_aspect_of(pair)(identity, pair.each.first, pair_numbers(pair)))


def aspect_size(pair: Any) -> int:
    """How many numbers an aspect has."""
    return layout(_aspect_shape(pair), rows=True).size


def pair_form(
    pair: Any, place: Callable[..., Any] = vector, rate: Callable[..., Any] = spatial_rate
) -> PairForm:
    """The functions of a pair interaction for loops; `place` reads a vector of the places, `rate` the
    angular velocity of a body in space."""
    linked = pair.links is not None
    c = ", c" if linked else ""
    scope: dict[str, Any] = {"spatial_rate": rate, "sub": sub, "place": place}
    lines = []
    if pair.uses_velocity:
        lines = [
            "v = sub(place(places.v, j), place(places.v, i))",
            "wA, wB = spatial_rate(places, i), spatial_rate(places, j)",
        ]
    call = _call(pair, pair.function, True, "answered({})" if pair.form == "array" else "{}", scope)
    act = generated(__name__, "pair", f"i, j, r, A, B{c}, places, q", lines, call, **scope)
    energy = None
    if pair.potential is not None:
        scope = {}
        call = _call(pair, pair.potential, False, "float({})", scope)
        energy = generated(__name__, "energy", f"r, A, B{c}, q", (), call, **scope)
    seen = layout(_aspect_shape(pair), rows=True)
    return PairForm(
        _aspect_of(pair),
        act,
        energy,
        the_same if pair.box is None else shortest,
        everywhere if pair.cutoff is None else near,
        layout(shape(pair_numbers(pair)), rows=True).unpack,
        layout(shape(pair.each.first), rows=True).unpack,
        seen.unpack,
        seen.pack,
        layout(shape(pair.own.first), rows=True).unpack,
    )


def pair_rows(pair: Any) -> Rows | None:
    """A pair interaction as a sum over bodies; None where its pairs are listed."""
    if pair.links is not None:
        return None
    return (pairs_of_all if pair.cutoff is None else pairs_of_near)(pair_form(pair))


def pair_act(pair: Any) -> Callable[..., Any]:
    """`act(t, p, term)` of a pair interaction."""
    rows = pair_rows(pair)
    return pairs_of_links(pair_form(pair)) if rows is None else in_turn(rows)


def pair_energy(pair: Any) -> Callable[..., Any]:
    """`energy(t, p, term)` of a pair interaction."""
    if pair.links is not None:
        return energy_of_links(pair_form(pair))
    return (energy_of_all if pair.cutoff is None else energy_of_near)(pair_form(pair))


# --- all interactions of a system -----------------------------------------------------------------


def acting(acts: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """`act(t, p)` of several interactions, given as act(t, p, term), in turn."""
    named: dict[str, Any] = {f"act{i}": act for i, act in enumerate(acts)}
    lines = [f"{name}(t, p, p.terms[{i}])" for i, name in enumerate(named)] or ["pass"]
    return generated(__name__, "act", "t, p", lines, **named)


def energies(terms: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """`energy(t, p)`, the sum of several energy(t, p, term)."""
    named: dict[str, Any] = {f"energy{i}": energy for i, energy in enumerate(terms)}
    total = " + ".join(f"{name}(t, p, p.terms[{i}])" for i, name in enumerate(named))
    return generated(__name__, "energy", "t, p", (), total or "0.0", **named)


def evaluated(
    pair: Any, t: float, x: np.ndarray, R: np.ndarray, v: np.ndarray, omega: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Forces, torques and energy of a pair interaction, as Python."""
    F, N = np.zeros_like(x), np.zeros_like(x)
    p = Acting(Places(x, R, v, omega, F, N), (), np.empty((0, x.size)))
    term = pair.term(len(x))
    pair.act()(t, p, term)
    energy = pair.energy()(t, p, term) if pair.has_potential else math.nan
    return F, N, energy
