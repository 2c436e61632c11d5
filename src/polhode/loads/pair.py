"""Interactions of two bodies, which the library adds up over all pairs or over listed ones (links)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from polhode.core.jit import jit
from polhode.core.layout import flatten
from polhode.core.reads import python_function
from polhode.core.rows import Rows
from polhode.core.systems import Term
from polhode.errors import (
    InputError,
    brief,
    called_as,
    check_options,
    choice,
    flag,
    floats,
    label,
    number,
    shows_options,
)
from polhode.loads import interaction_kernels as kernels
from polhode.loads.answer import check_pair
from polhode.loads.arguments import check_call, check_function, parameters
from polhode.loads.interaction import MOST_VALUES, NO_ADDRESS, Interaction, row
from polhode.loads.count import check_count
from polhode.loads.interaction_kernels import NONE
from polhode.loads.neighbours import near

FEW = 8  # bodies with which machine code and Python are compared


class Pair(Interaction):
    """An interaction of two bodies, added up over pairs.

    Parameters
    ----------
    function : callable
        `f(r, Ri, Rj[, a, b][, c][, p])` from r = x_j - x_i and the attitude matrices of both: the force
        on body i, the torque on i and the torque on j, each about its centre of mass, in space.
        The force on j is the opposite one.  With `uses_velocity` it is
        `f(r, v, Ri, Rj, wi, wj, ...)`, v = v_j - v_i, with the angular velocities in space.
    each : dict, optional
        What each body has, arrays with a first axis of n bodies: `a` and `b` are those of i and j.
    links : sequence of pairs (i, j), optional
        The bodies that are connected; all pairs by default.
    own : dict, optional
        What each link has: `c`.
    params : dict, optional
        What all have in common: `p`.
    potential : callable, optional
        The potential energy of a pair, with the same arguments but the velocities.
    external : bool
        Something outside of the system takes up angular momentum: the torques on both bodies, with
        that of the forces, need not add up to zero.
    cutoff : float, optional
        The largest distance of centres at which a pair acts, linked or not.  Where all pairs act they
        are then found by lists of neighbours, in a time proportional to the number of bodies.
    box : three lengths, optional
        Edges of a periodic box: r is the shortest of its images.
    form : {"array", "tuple"}
        Whether the function gets and gives arrays, or tuples of floats, which is faster and runs on
        SIMD lanes and GPUs.
    aspect : callable, optional
        `aspect(R, a, p)`, in tuple form: what others see of a body, computed once for each body.
        The function is then `f(r, A, B[, c], p)`, with velocities
        `f(r, v, A, B, wi, wj[, c], p)`.
    name : str, optional

    Examples
    --------
    >>> def attraction(r, Ri, Rj):
    ...     return r / np.linalg.norm(r) ** 3, np.zeros(3), np.zeros(3)
    >>> forces, torques = Pair(attraction)(0.0, [[0, 0, 0], [2, 0, 0]])
    >>> forces.tolist()
    [[0.25, 0.0, 0.0], [-0.25, 0.0, 0.0]]
    """

    kind = "pair interaction"

    def __init__(
        self,
        function: Callable[..., Any],
        /,
        *,
        each: Mapping[str, Any] | None = None,
        links: Sequence[tuple[int, int]] | None = None,
        own: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        potential: Callable[..., Any] | None = None,
        uses_velocity: bool = False,
        external: bool = False,
        cutoff: float | None = None,
        box: Any = None,
        form: str = "array",
        aspect: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        self.function = check_function("a pair interaction", function)
        self.form = choice("form", form, ("array", "tuple"))
        self.aspect, self.potential = aspect, potential
        self.uses_velocity = flag("uses_velocity", uses_velocity)
        self.external = flag("external", external)
        self.name = label("name", name) or str(getattr(function, "__name__", "pair"))
        self._params = parameters(params)
        self.each = kernels.columns("each", each)
        self.links = None if links is None else check_links(links)
        self.own = kernels.columns("own", own)
        self.cutoff = None if cutoff is None else number("cutoff", cutoff, positive=True)
        self.box = None if box is None else check_box(box, self.cutoff)
        self.count = self.each.count
        if self.own.names and self.links is None:
            raise InputError("own gives the numbers of links, and there are none; give links too")
        if self.links is not None and self.own.count not in (None, len(self.links)):
            raise InputError(
                f"own must have a row for each of the {len(self.links)} links, got {self.own.count}; give as many"
            )
        check_call(self.kind, self.name, function, self.arguments())
        if potential is not None:
            form_of_it = ", ".join(self.arguments(velocities=False))
            called_as("potential", potential, f"V({form_of_it})")
        if self.form == "tuple":
            for one in (python_function(one) for one in (function, potential, aspect)):
                if one is not None:
                    jit(one)

    def arguments(self, velocities: bool = True) -> list[str]:
        """The names of the arguments that the function gets."""
        moving = self.uses_velocity and velocities
        own = ["c"] * (self.links is not None and (self.aspect is not None or bool(self.own.names)))
        if self.aspect is not None:
            rates = ["wi", "wj"] * moving
            return ["r", *["v"] * moving, "A", "B", *rates, *own, "p"]
        rates = ["wi", "wj"] * moving
        each, p = ["a", "b"] * bool(self.each.names), ["p"] * (self.params is not None)
        return ["r", *["v"] * moving, "Ri", "Rj", *rates, *each, *own, *p]

    @property
    def balanced(self) -> bool:
        return True

    def hints_at_time(self) -> str:
        return ""

    def source(self) -> tuple[Any, ...]:
        found = (self.function, self.potential, self.aspect)
        return tuple(one for one in found if one is not None)

    def rows(self) -> Rows | None:
        return kernels.pair_rows(self)

    def form_of_pairs(self) -> Any:
        """The functions of the pair for loops."""
        return kernels.pair_form(self)

    def act(self) -> Callable[..., Any]:
        return kernels.pair_act(self)

    def energy(self) -> Callable[..., Any]:
        if self.potential is None:
            return kernels.unknown_energy
        return kernels.pair_energy(self)

    def term(self, n: int) -> Term:
        links = NONE if self.links is None else self.links
        values = [flatten(() if self.params is None else tuple(self.params)), self.limits()]
        return Term(
            row(values),
            self.each.rows(n),
            np.zeros((n, kernels.aspect_size(self))),
            links,
            self.own.rows(len(links)),
            NO_ADDRESS,
            near(n, self.cutoff, self.box) if self.cutoff and self.links is None else (),
        )

    def check_for(self, n: int) -> None:
        if self.links is not None and self.links.max() >= n:
            raise InputError(
                f"{self.name!r} has a link to body {self.links.max()}, and there are {n}, counted from 0; correct "
                "the links"
            )
        if self.links is None and self.cutoff is None:
            check_count(
                self.name,
                n,
                "give it a cutoff, the largest distance at which two bodies act on each other",
            )

    def sample(self, n: int) -> tuple[Interaction, np.ndarray]:
        if n <= FEW:
            return self, np.arange(n)
        few = copy(self)
        if self.links is None:
            which = np.arange(FEW)
        else:
            links = self.links[: FEW // 2]
            which = np.unique(links)
            few.links, few.own = np.searchsorted(which, links), self.own.some(np.arange(len(links)))
        few.each, few.count = self.each.some(which), None
        return few, which

    def values(self) -> dict[str, Any]:
        found = super().values()
        for one in (self.each, self.own):  # what each body or link has
            held = zip(one.names, one.arrays, strict=True)
            found |= {k: v.tolist() for k, v in held if v.size <= MOST_VALUES}
        return found

    def limits(self) -> list[float]:
        """Box and cut-off as numbers, after the parameters."""
        return [*(self.box or ()), *([] if self.cutoff is None else [self.cutoff])]

    def __call__(
        self, t: float, x: Any, R: Any = None, v: Any = None, omega: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        given = self._given(t, x, R, v, omega)
        try:
            return kernels.evaluated(self, *given)[:2]
        except (TypeError, ValueError, IndexError):
            self._look(given)
            raise

    def _look(self, given: tuple[Any, ...]) -> None:
        """Say what is wrong with what the function returns, if that is why it failed."""
        seen: list[Any] = []

        def kept(*arguments: Any) -> Any:
            seen.append(self.function(*arguments))
            return seen[-1]

        other = copy(self)
        other.function = kept
        with suppress(TypeError, ValueError, IndexError):
            kernels.evaluated(other, *given)
        if seen:
            check_pair(self.name, seen[-1])

    def potential_energy(self, t: float, x: Any, R: Any = None) -> float | None:
        if self.potential is None:
            return None
        return float(kernels.evaluated(self, *self._given(t, x, R))[2])


@shows_options(Pair)
def pair(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Turn a function of two bodies into an interaction of all pairs; use as `@pair` or
    `@pair(...)`.

    Parameters
    ----------
    function : callable
        `f(r, Ri, Rj, ...)`, which returns the force on i, the torque on i and the torque on j, in space.
    each, links, own, params, potential, uses_velocity, external, cutoff, box, form, aspect, name
        As for `Pair`.

    Examples
    --------
    >>> @pair(each={"mass": [2.0, 3.0]}, potential=lambda r, Ri, Rj, a, b: -a.mass * b.mass / np.sqrt(r @ r))
    ... def gravity(r, Ri, Rj, a, b):
    ...     return a.mass * b.mass / np.sqrt(r @ r) ** 3 * r, np.zeros(3), np.zeros(3)
    >>> gravity.potential_energy(0.0, [[0, 0, 0], [2, 0, 0]])
    -3.0
    """
    check_options(Pair, options)
    return partial(pair, **options) if function is None else Pair(function, **options)


# --- checks ---------------------------------------------------------------------------------------


def check_links(links: Any) -> np.ndarray:
    """Pairs of numbers of bodies as an array (m, 2)."""
    try:
        found = np.array(links)
    except ValueError:
        found = np.empty(0)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu" or not len(found):
        raise InputError(
            f"links must be pairs of numbers of bodies, got {brief(links)}; write links=[(0, 1), (1, 2)]"
        )
    bad = next((pair for pair in found.tolist() if pair[0] == pair[1] or min(pair) < 0), None)
    if bad is not None:
        raise InputError(
            f"a link connects two different bodies, counted from 0, got {tuple(bad)}; correct it"
        )
    return np.ascontiguousarray(found, dtype=np.int64)


def check_box(box: Any, cutoff: float | None) -> tuple[float, float, float]:
    """The edges of a periodic box."""
    edges = floats("box", box)
    if edges.ndim == 0:
        edges = np.full(3, float(edges))
    if edges.shape != (3,) or not (edges > 0.0).all():
        raise InputError(
            f"box must be the edges of a periodic box, three positive lengths, got {brief(box)}; correct it"
        )
    if cutoff is None:
        raise InputError(
            "a periodic box in which a pair acts on all of its images, for there is no cutoff; give one, of half an edge at most"
        )
    if cutoff > 0.5 * edges.min():
        raise InputError(
            f"cutoff {cutoff!r} is more than half of the shortest edge of the box, {float(edges.min())!r}, so that a "
            "body would meet two images of another; use a smaller cutoff or a larger box"
        )
    return tuple(edges.tolist())


__all__ = ["Pair", "pair"]
