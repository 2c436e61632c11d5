"""Interactions: forces and torques between the bodies of a system, from one function of the places and
attitudes of all of them.  Interactions add; those of pairs are in `pair.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from polhode.core import callback
from polhode.core.digest import obstacle
from polhode.core.reads import ours, python_function
from polhode.core.rows import Rows
from polhode.core.systems import Term
from polhode.errors import (
    InputError,
    brief,
    called_as,
    check_options,
    flag,
    floats,
    label,
    shows_options,
)
from polhode.loads import interaction_kernels as kernels
from polhode.loads.arguments import check_call, check_function
from polhode.loads.interaction_parameters import HasParameters, with_params_of_terms
from polhode.loads.answer import forces_and_torques
from polhode.loads.count import check_number
from polhode.loads.interaction_in_c import InC, is_in_c
from polhode.loads.interaction_kernels import NONE
from polhode.loads.known_energy import looks_at_time

MOST_LINKS, MOST_VALUES = 5000, 64  # that a record lists
NO_ADDRESS = np.zeros(1, dtype=np.int64)


class Interaction(HasParameters):
    """Forces and torques on all bodies of a system, from one function.

    Parameters
    ----------
    function : callable
        `f(t, x, R[, v, omega][, p])`: positions (n, 3) and attitude matrices (n, 3, 3), body to space,
        give forces (n, 3) on the centres of mass and torques (n, 3) about them, both in space.  Or a
        ctypes function with the C signature ``void f(double t, int n, const double *x, const double *R,
        [const double *v, const double *omega,] double *F, double *N, void *p)``, where p points to the
        numbers of the parameters.
    params : dict, optional
        Numbers and arrays that the function gets as its last argument, with their names.
    potential : callable, optional
        `V(t, x, R[, p])`, the potential energy of all bodies.
    uses_velocity : bool
        The function also gets velocities (n, 3) and angular velocities (n, 3), body frame.
    external : bool
        It stands for something outside of the system, so that forces need not add up to zero.
    name : str, optional
        That of the function by default.

    Examples
    --------
    Two bodies at the ends of a spring.

    >>> def spring(t, x, R):
    ...     pull = 3.0 * (x[1] - x[0])
    ...     return np.stack((pull, -pull)), np.zeros((2, 3))
    >>> forces, torques = Interaction(spring)(0.0, [[0, 0, 0], [1, 0, 0]])
    >>> forces.tolist()
    [[3.0, 0.0, 0.0], [-3.0, -0.0, -0.0]]
    """

    kind = "interaction"
    function: Any = None  # of the user, where there is one
    acts = True
    external = False
    links: Any = None  # of a pair interaction: the bodies that it connects
    count: int | None = None  # of bodies it is made for, where that is known
    made_for: tuple[Any, ...] = ()  # these bodies, where it has their masses or inertias
    radii: Any = None  # of the bodies: it is not to act where they are closer than the sum of two
    # whether its forces have been compared with the slope of its potential, and are another one
    compared = misfit = False
    cutoff: float | None = None
    box: tuple[float, float, float] | None = None

    def __init__(
        self,
        function: Callable[..., Any],
        /,
        *,
        params: Mapping[str, Any] | None = None,
        potential: Callable[..., Any] | None = None,
        uses_velocity: bool = False,
        external: bool = False,
        name: str | None = None,
    ) -> None:
        given = InC(function, label("name", name)) if is_in_c(function) else function
        self.function = check_function("an interaction", given)
        self.uses_velocity = flag("uses_velocity", uses_velocity)
        self.external = flag("external", external)
        self._params = kernels.array_parameters(params)
        self.potential = potential
        self.name = label("name", name) or str(getattr(self.function, "__name__", "interaction"))
        motion = ["t", "x", "R", *["v", "omega"] * self.uses_velocity]
        last = ["p"] * (self.params is not None)
        check_call(self.kind, self.name, self.function, [*motion, *last])
        if potential is not None:
            called_as("potential", potential, f"V({', '.join(['t', 'x', 'R', *last])})")

    @property
    def terms(self) -> tuple[Interaction, ...]:
        """The interactions that act: one, or those of a sum."""
        return (self,)

    @property
    def has_potential(self) -> bool:
        """Whether the potential energy is known."""
        return self.potential is not None

    @property
    def conservative(self) -> bool:
        """Whether the energy is known and, as far as one can tell, constant."""
        return self.has_potential and not self.uses_velocity

    def energy_unknown(self) -> str:
        """Why kinetic plus potential energy may not be conserved, in a few words; "" if it is."""
        if not self.acts:
            return "the bodies do not interact, and each has its own"
        for term in self.terms:
            if not term.conservative:
                what = "depends on velocities" if term.has_potential else "has no potential"
                return f"the interaction {term.name!r} {what}"
            if term.misfit:
                return f"the interaction {term.name!r} is not minus the slope of its potential"
            if why := term.hints_at_time():
                return f"the interaction {term.name!r} may depend on time: {why}"
        return ""

    def hints_at_time(self) -> str:
        """Why it may depend on time, in a few words; "" if it does not."""
        return looks_at_time(self.function) or looks_at_time(self.potential)

    @property
    def is_ours(self) -> bool:
        """Whether all code in it is the package's own, or none that could be compiled."""
        if self.in_c:
            return True
        return all(ours(one) for one in map(python_function, self.source()) if one is not None)

    @property
    def balanced(self) -> bool:
        """Whether the forces add up to zero by construction."""
        return not self.acts

    @property
    def in_c(self) -> bool:
        """Whether it is a function in C."""
        return isinstance(getattr(self, "function", None), InC)

    def source(self) -> tuple[Any, ...]:
        """The user's functions in it; of one in C the name."""
        function = self.name if self.in_c else self.function
        return tuple(one for one in (function, self.potential) if one is not None)

    def obstacle(self) -> str | None:
        """Why it cannot be machine code, as far as its code tells; None where nothing is known."""
        functions = (one for one in self.source() if not isinstance(one, str))
        return next(filter(None, map(obstacle, functions)), None)

    # --- for loops --------------------------------------------------------------------------------

    def act(self) -> Callable[..., Any]:
        """`act(t, p, term)` for loops: adds forces and torques to those in p."""
        if self.in_c:
            return callback.act_in_c_feeling if self.uses_velocity else callback.act_in_c
        return kernels.whole(self.function, self.params, self.uses_velocity)

    def rows(self) -> Rows | None:
        """The same as a sum over bodies; None where it is not known as one."""
        return None

    def energy(self) -> Callable[..., Any]:
        """`energy(t, p, term)` for loops; NaN where no potential is known."""
        if self.potential is None:
            return kernels.unknown_energy
        return kernels.whole_energy(self.potential, self.params)

    def term(self, n: int) -> Term:
        """Its numbers for n bodies, as arrays."""
        values = [] if self.params is None else [np.ravel(one) for one in self.params]
        answer, address = np.empty((n, 0)), NO_ADDRESS
        if isinstance(self.function, InC):
            answer, address = np.zeros((2 * n, 3)), self.function.address
        return Term(row(values), np.empty((n, 0)), answer, NONE, np.empty((0, 0)), address)

    def check_for(self, n: int) -> None:
        """Refuse what cannot act on n bodies."""

    def sample(self, n: int) -> tuple[Interaction, np.ndarray]:
        """Something as good for a comparison of machine code with Python, and bodies that it needs."""
        return self, np.arange(n)

    # --- for people -------------------------------------------------------------------------------

    def __call__(
        self, t: float, x: Any, R: Any = None, v: Any = None, omega: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Forces and torques in space, as arrays (n, 3); without turns and velocities by default."""
        given, last = self._given(t, x, R, v, omega), kernels.own_copies(self.params)
        found = self.function(*(given if self.uses_velocity else given[:3]), *last)
        return forces_and_torques(self.name, found, len(given[1]))

    def potential_energy(self, t: float, x: Any, R: Any = None) -> float | None:
        """The potential energy, or None where it is not known."""
        if self.potential is None:
            return None
        return float(self.potential(*self._given(t, x, R)[:3], *kernels.own_copies(self.params)))

    def _given(self, t: Any, x: Any, R: Any, v: Any = None, omega: Any = None) -> tuple[Any, ...]:
        x = floats("x", x, last=3)
        check_number(self, len(x))
        R = np.broadcast_to(np.eye(3), (len(x), 3, 3)) if R is None else floats("R", R, last=3)
        v, omega = (np.zeros_like(x) if one is None else floats("v", one) for one in (v, omega))
        return float(t), x.copy(), np.array(R), v.copy(), omega.copy()

    def __add__(self, other: Any) -> Interaction:
        if type(other) is int and other == 0:  # where `sum` begins
            return self
        return InteractionSum((*self.terms, *as_interaction(other).terms))

    __radd__ = __add__

    def record(self) -> list[dict[str, Any]]:
        """What acts, as plain data: names, parameters, and what is known of it."""
        if not self.acts:
            return []
        links = None if self.links is None or len(self.links) > MOST_LINKS else self.links.tolist()
        box = None if self.box is None else list(self.box)
        also = {"links": links, "cutoff": self.cutoff, "box": box}
        return [
            {
                "name": self.name,
                "parameters": self.values(),
                "conservative": self.conservative,
                "balanced": self.balanced,
                **{name: value for name, value in also.items() if value is not None},
            }
        ]

    def values(self) -> dict[str, Any]:
        """Its parameters as plain data, by name, but long ones."""
        held = {} if self.params is None else self.params._asdict()
        return {k: np.asarray(v).tolist() for k, v in held.items() if np.size(v) <= MOST_VALUES}

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}>"


class InteractionSum(Interaction):
    """Several interactions at once."""

    def __init__(self, terms: Sequence[Interaction]) -> None:
        self._terms = tuple(one for one in terms if one.acts)
        counts = {one.count for one in self._terms} - {None}
        if len(counts) > 1:
            raise InputError(
                f"interactions for different numbers of bodies, {sorted(filter(None, counts))}, cannot be added; make "
                "them for the same bodies"
            )
        self.count = counts.pop() if counts else None
        self.uses_velocity = any(one.uses_velocity for one in self._terms)
        self.external = any(one.external for one in self._terms)
        self.name = " + ".join(one.name for one in self._terms)
        links = [one.links for one in self._terms if one.links is not None]
        self.links = np.concatenate(links) if links else None

    @property
    def terms(self) -> tuple[Interaction, ...]:
        return self._terms

    def check_for(self, n: int) -> None:
        for one in self._terms:
            one.check_for(n)

    def with_params(self, **changes: Any) -> InteractionSum:
        return InteractionSum(with_params_of_terms(self.name, self._terms, changes))

    @property
    def has_potential(self) -> bool:
        return all(one.has_potential for one in self._terms)

    @property
    def balanced(self) -> bool:
        return all(one.balanced for one in self._terms)

    def source(self) -> tuple[Any, ...]:
        return tuple(one for term in self._terms for one in term.source())

    def obstacle(self) -> str | None:
        return next(filter(None, (one.obstacle() for one in self._terms)), None)

    def __call__(
        self, t: float, x: Any, R: Any = None, v: Any = None, omega: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        found = [one(t, x, R, v, omega) for one in self._terms]
        return sum(F for F, _ in found), sum(N for _, N in found)  # type: ignore[return-value]

    def potential_energy(self, t: float, x: Any, R: Any = None) -> float | None:
        if not self.has_potential:
            return None
        return sum(one.potential_energy(t, x, R) or 0.0 for one in self._terms)

    def record(self) -> list[dict[str, Any]]:
        return [entry for one in self._terms for entry in one.record()]


def _nothing(t: Any, x: Any, R: Any) -> tuple[np.ndarray, np.ndarray]:
    """No forces."""
    return np.zeros_like(x), np.zeros_like(x)


def _no_energy(t: Any, x: Any, R: Any) -> float:
    return 0.0


# --- doors ----------------------------------------------------------------------------------------


@shows_options(Interaction)
def interaction(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Turn a function of all bodies into an Interaction; use as `@interaction` or
    `@interaction(...)`.

    Parameters
    ----------
    function : callable
        `f(t, x, R[, v, omega][, p])`, which returns forces (n, 3) and torques (n, 3) in space.
    params, potential, uses_velocity, external, name
        As for `Interaction`.

    Examples
    --------
    >>> @interaction(params={"k": 3.0})
    ... def springs(t, x, R, p):
    ...     pull = p.k * (x.mean(axis=0) - x)
    ...     return pull, np.zeros_like(x)
    >>> springs
    <interaction springs>
    """
    check_options(Interaction, options)
    return partial(interaction, **options) if function is None else Interaction(function, **options)


def as_interaction(value: Any) -> Interaction:
    """An Interaction from an Interaction, a function of all bodies, several of them, or None."""
    if isinstance(value, Interaction):
        return value
    if value is None:
        return _no_interaction()
    if isinstance(value, (list, tuple)):
        terms = [term for one in value for term in as_interaction(one).terms if term.acts]
        return InteractionSum(terms) if len(terms) > 1 else terms[0] if terms else _no_interaction()
    if callable(value):
        return Interaction(value)
    raise InputError(
        f"interaction must be a function f(t, x, R), an Interaction, a list of them or None, got {brief(value)}; write "
        "def f(t, x, R): ..."
    )


def _no_interaction() -> Interaction:
    none = Interaction(_nothing, potential=_no_energy, name="none")
    none.acts = False
    return none


def row(parts: Sequence[Any]) -> np.ndarray:
    """All numbers in one row."""
    return np.concatenate([np.asarray(one, dtype=float).ravel() for one in (*parts, [])])[None]


__all__ = [
    "Interaction",
    "InteractionSum",
    "as_interaction",
    "interaction",
    "row",
]
