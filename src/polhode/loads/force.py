"""Forces on the centre of mass of a body in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any

import polhode
from polhode.errors import InputError, number
from polhode.loads import kernels as _kernels
from polhode.loads._torque import Torque
from polhode.loads.conversion import of_function
from polhode.loads.kernels import FLIGHT
from polhode.loads.sum import Sum


class Force(Torque):
    """A force on the centre of mass, in space: `f(t, x, v, R[, omega][, p])` of position, velocity,
    attitude matrix and, with `uses_omega=True`, body angular velocity.

    `potential` is the potential energy `V(t, x, R[, p])`, of the force and of a torque that belongs
    to it.  `params` and `form` are those of a torque.

    >>> import numpy as np
    >>> spring = Force(lambda t, x, v, R: -3.0 * x, potential=lambda t, x, R: 1.5 * (x @ x))
    >>> spring(0.0, np.eye(3), x=(1, 0, 0)).tolist()
    [-3.0, -0.0, -0.0]
    """

    kind = "force"
    in_flight, setting = True, FLIGHT

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        params: Mapping[str, Any] | None = None,
        potential: Callable[..., Any] | None = None,
        uses_omega: bool = False,
        form: str = "array",
        name: str | None = None,
    ) -> None:
        super().__init__(
            function,
            params=params,
            potential=potential,
            uses_omega=uses_omega,
            uses_position=True,
            form=form,
            name=name,
        )

    def arguments(self) -> list[str]:
        """The names of the arguments that the function gets."""
        return [
            "t",
            "x",
            "v",
            "R",
            *["omega"] * self.uses_omega,
            *["p"] * (self.params is not None),
        ]

    def kernel(self, setting: Any = FLIGHT) -> Callable[..., Any]:
        """The force on tuples; only in flight."""
        return _kernels.adapt_force(
            self.function, self.form, self.uses_omega, self.params, bool(self.lifted)
        )

    def potential_kernel(self) -> Callable[..., Any] | None:
        """The potential on tuples, or None."""
        if self.potential is None:
            return None
        given = bool(self.lifted) and self.lifts_potential
        kernel = _kernels.adapt_flight_potential(self.potential, self.form, self.params, given)
        return _kernels.potential_beside(kernel, FLIGHT) if self.lifted and not given else kernel

    def __add__(self, other: Any) -> Any:
        if isinstance(other, polhode.Load):
            return NotImplemented
        terms = [term for term in (*self.terms, *as_force(other).terms) if term.acts]
        return ForceSum(terms) if len(terms) > 1 else (terms or [self])[0]

    __radd__ = __add__


class ForceSum(Sum, Force):
    """Several forces at once."""

    def __init__(self, terms: Iterable[Torque]) -> None:
        super().__init__(terms)
        self.uses_position = True


def weight(mass: float, g: float = 9.81) -> Force:
    """Uniform gravity along -z.

    >>> import numpy as np
    >>> weight(2.0)(0.0, np.eye(3)).tolist()
    [0.0, 0.0, -19.62]
    """
    force = Force(
        _weight,
        form="tuple",
        params={"mass": number("mass", mass), "g": number("g", g)},
        potential=_height,
        name="weight",
    )
    force.of_body = ("mass",)
    return force


def _weight(t, x, v, R, p):
    return (0.0, 0.0, -p.mass * p.g)


def _height(t, x, R, p):
    return p.mass * p.g * x[2]


def _nothing(t, x, v, R):
    return (0.0, 0.0, 0.0)


def _zero(t, x, R):
    return 0.0


def as_force(value: Any) -> Force:
    """A Force from a function or a Force; None is no force."""
    if value is None:
        return _no_force()
    if isinstance(value, FunctionType):
        return of_function(value, Force)
    if isinstance(value, polhode.Load):
        raise InputError(
            f"force must be a force, got {value!r}, which is a force and a torque; give it in place of the torque"
        )
    return value if isinstance(value, Force) else Force(value)


@lru_cache(1)
def _no_force():
    none = Force(_nothing, form="tuple", potential=_zero, name="none")
    none.acts = False
    return none
