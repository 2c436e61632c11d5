"""Torques, and how they become kernels.

The simplest torque is a function `f(t, R)` that returns the three spatial components, R being the
3x3 attitude matrix.  `@torque(...)` adds the rest: another frame, parameters, potential energy,
dependence on the angular velocity, and the tuple form that vectorises and runs on a GPU.  `a + b`
acts with both.

Inside, every torque is a kernel `f(t, R, Om, p)` on tuples: see kernels.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import polhode
from polhode.loads import kernels as _kernels
from polhode.loads.arguments import (
    check_arguments,
    derivative_functions,
    parameter_value,
    parameters,
    potential_function,
)
from polhode.loads.kernels import GROUND
from polhode.loads.known_energy import energy_unknown, looks_at_time
from polhode.core.digest import obstacle
from polhode.core.jit import jit
from polhode.core.lift import lifted
from polhode.core.reads import ours, python_function, uses_argument
from polhode.errors import (
    InputError,
    brief,
    choice,
    flag,
    floats,
    label,
    number,
    unknown,
)
from polhode.support.portable import portable


ZERO = (0.0, 0.0, 0.0)
_HANDED = ("R", "omega", "x", "v", "p")  # the arguments of a torque after the time


class Torque:
    """A torque and what is known about it.  Made by `@torque`, by the functions below, or from a
    plain function.

    Attributes
    ----------
    function : callable
        `f(t, R[, omega][, x, v][, p])`, R an array (form "array") or a nested tuple (form "tuple").
    frame : {"spatial", "body"}
        The frame of the result.
    params : namedtuple or None
        Numbers, vectors and matrices handed to the function as its last argument; arrays in form
        "array".
    potential : callable or None
        `V(t, R[, p])`: potential energy, so that the total energy can be followed.
    derivatives : tuple of callables
        Time derivatives of the torque along the motion, as many as are known: the k-th function is
        `d_k(t, R, w[, p])` with w[0], ..., w[k-1] the body angular velocity and its first k - 1
        derivatives.  They have the torque's frame (those of a body torque are the derivatives of
        its body components) and form.  A Taylor method of order n uses them when there are n - 1 or
        more.
    uses_omega, uses_position : bool
        The function wants the body angular velocity after R; in flight, then position and velocity.
    """

    acts = True  # False for the torque that is always zero
    of_body: tuple[str, ...] = ()  # the parameters that are the body's own inertia or mass
    arm = None  # of a weight: from the fixed point to the centre of mass, in the body
    up = None  # a direction in space about which the torque never acts: the momentum about it stays
    unit = None  # the step that the torque is made for, where its jumps fall on ends of steps
    jumps = ()  # when the torque jumps, where that is known
    hidden = ""  # why the potential is not to be used
    shares_potential = False  # whether it comes from the potential of the force of the same load
    compared = False  # whether the torque has been compared with the slope of its potential
    # of the named torques: the body torque as a function of a quaternion of nearly unit length
    quaternion = None

    kind = "torque"
    in_flight, setting = False, GROUND  # whether it asks for the position
    central = False  # whether it is infinite at the origin
    wrapped: Callable[..., Any] | None = None  # the user's function inside one of the package's
    lifted = ()  # constants of closures that are handed over like parameters: see `with_lifted`
    lifts_potential = False  # whether they are the potential's, not the function's

    def __init__(
        self,
        function: Callable[..., Any],
        /,
        *,
        frame: str = "spatial",
        params: Mapping[str, Any] | None = None,
        potential: Callable[..., Any] | None = None,
        derivatives: Sequence[Callable[..., Any]] = (),
        uses_omega: bool = False,
        uses_position: bool = False,
        form: str = "array",
        name: str | None = None,
    ) -> None:
        if not callable(function):
            raise InputError(
                f"a {self.kind} must be a function, got {brief(function)}; write def f(t, R): ..."
            )
        self.frame, self.form = (
            choice("frame", frame, ("spatial", "body")),
            choice("form", form, ("array", "tuple")),
        )
        self.function, self.derivatives = function, derivative_functions(derivatives)
        self.uses_omega, self.uses_position = (
            flag("uses_omega", uses_omega),
            flag("uses_position", uses_position),
        )
        self.params = parameters(params)
        self.potential = potential_function(potential, self.params, self.in_flight)
        own = getattr(function, "__name__", type(function).__name__)
        self.name: str = label("name", name) or str(own)
        check_arguments(function, self)
        if form == "tuple" and isinstance(function, FunctionType):
            jit(function)  # part of the kernel: inlined, and fit for SIMD and GPU
        self._order = tuple(_HANDED.index(name) for name in self.arguments() if name != "t")

    @property
    def terms(self) -> tuple[Torque, ...]:
        """The torques that act: one, or those of a sum."""
        return (self,)

    @property
    def feels_omega(self) -> bool:
        """Whether it depends on the angular velocity, as far as is known."""
        return self.uses_omega

    @property
    def feels_velocity(self) -> bool:
        """Whether it depends on the velocity, as far as is known from its code."""
        names = self.arguments()
        return "v" in names and uses_argument(self.function, names.index("v"))

    def arguments(self) -> list[str]:
        """The names of the arguments that the function gets."""
        return [
            "t",
            "R",
            *["omega"] * self.uses_omega,
            *["x", "v"] * self.uses_position,
            *["p"] * (self.params is not None),
        ]

    def __call__(
        self,
        t: float,
        R: ArrayLike,
        omega: ArrayLike = ZERO,
        x: ArrayLike = ZERO,
        v: ArrayLike = ZERO,
    ) -> np.ndarray:
        """The torque in its own frame, as an array, at any attitude matrix; too slow for loops.

        The function gets copies, so that it may write to its arguments.
        """
        given = (R, omega, x, v)
        params = (
            self.params
            if self.form == "tuple" or self.params is None
            else _kernels.with_arrays(self.params)
        )
        arguments = [
            params if i == 4 else self._handed(_HANDED[i], given[i], (3,) if i else (3, 3))
            for i in self._order
        ]
        return np.asarray(
            self.function(t if type(t) is float else number("t", t), *arguments), dtype=float
        )

    def _handed(self, what, value, shape):
        """A copy of an argument, in the torque's form."""
        array = (
            value
            if type(value) is np.ndarray and value.dtype == float
            else floats(what, value, finite=False)
        )
        if array.shape != shape:
            raise InputError(
                f"{what} must have shape {shape}, got {array.shape}; give one attitude or vector"
            )
        return array.copy() if self.form == "array" else _kernels.nested(array)

    def __add__(self, other: Torque | Callable[..., Any] | str | None) -> Torque:
        if isinstance(other, polhode.Load):
            return NotImplemented
        return polhode.torques.combined(self, other)

    __radd__ = __add__

    def with_params(self, **changes: Any) -> Torque:
        """The same torque with some parameters changed."""
        if self.params is None:
            raise InputError(
                f"torque {self.name!r} has no parameters; drop them, or give it some: params={{...}}"
            )
        for key in changes:
            if key not in self.params._fields:
                raise unknown(f"parameter of torque {self.name!r}", key, self.params._fields)
        values = self.params._replace(
            **{name: parameter_value(name, value) for name, value in changes.items()}
        )
        return self._with(params=values, compared=False)

    def _with(self, **changes: Any) -> Torque:
        """A copy with other attributes."""
        other = Torque.__new__(type(self))
        other.__dict__.update(self.__dict__, **changes)
        return other

    def __copy__(self) -> Torque:
        return self._with()

    def __getstate__(self) -> dict[str, Any]:
        """For another process, and for deep copies."""
        return {name: portable(value) for name, value in self.__dict__.items()}

    def __repr__(self) -> str:
        inside = (
            ""
            if self.params is None
            else ", ".join(f"{k}={v}" for k, v in self.params._asdict().items())
        )
        return f"<{self.kind} {self.name}({inside}), {self.frame} frame>"

    # --- kernels: f(t, R, Om, p) on tuples --------------------------------------------------------

    def kernel(self, setting: Any = GROUND) -> Callable[..., Any]:
        """The torque on tuples, in its own frame and the user's axes."""
        if self.uses_position and setting is GROUND:
            raise InputError(
                f"torque {self.name!r} depends on the position; give position0, velocity0 or force too"
            )
        return _kernels.adapt(
            self.function,
            self.form,
            self.uses_omega,
            self.uses_position,
            self.params,
            setting,
            bool(self.lifted),
        )

    def quaternion_kernel(self) -> Callable[..., Any] | None:
        """The body torque f(t, q, Om, p) at a quaternion of nearly unit length, or None."""
        return (
            None
            if self.quaternion is None
            else _kernels.adapt_quaternion(self.quaternion, self.params)
        )

    def potential_kernel(self) -> Callable[..., Any] | None:
        """The potential on tuples, or None."""
        if self.potential is None:
            return None
        if self.lifted and not self.lifts_potential:
            return _kernels.potential_beside(
                _kernels.adapt_scalar(self.potential, self.form, self.params)
            )
        return _kernels.adapt_scalar(self.potential, self.form, self.params, bool(self.lifted))

    def derivative_kernels(self) -> tuple[Callable[..., Any], ...]:
        """The time derivatives on tuples, d_k(t, R, W, p), in the torque's own frame and the user's
        axes."""
        return tuple(_kernels.adapt_derivative(d, self.form, self.params) for d in self.derivatives)

    def with_lifted(self, what: str = "function") -> Torque:
        """The same torque with the floats that its function (or potential) finds in its closure as
        parameters, where possible."""
        of_potential = 2 + self.in_flight + (self.params is not None)
        arguments = len(self.arguments()) if what == "function" else of_potential
        found = None if self.derivatives else lifted(getattr(self, what), arguments)
        if found is None:
            return self
        changes = {what: found.function, "lifts_potential": what == "potential"}
        return self._with(**changes, lifted=found.values)

    def in_python(self) -> Torque:
        """The same torque for loops in Python: its functions get Python's floats, as they do
        everywhere else."""
        if self.is_ours:
            return self
        return self._with(
            function=_kernels.given_plain(self.function),
            derivatives=tuple(map(_kernels.given_plain, self.derivatives)),
            potential=self.potential and _kernels.given_plain(self.potential),
        )

    def without_derivatives(self) -> Torque:
        """The same torque, with nothing known about its derivatives."""
        return self._with(derivatives=())

    def without_potential(self, why: str) -> Torque:
        """The same torque, with an energy that is not known; `why` in a few words."""
        return self._with(hidden=why)

    def for_step(self, step: float) -> Torque:
        """The torque for runs with steps of one size: the same, unless it is made for such."""
        return self

    def energy_unknown(self) -> str:
        """Why kinetic plus potential energy may not be conserved, in a few words; "" if it is."""
        return self.hidden or energy_unknown(self)

    @property
    def has_potential(self) -> bool:
        """Whether a potential energy is known."""
        return self.potential is not None

    @property
    def conservative(self) -> bool:
        """Whether all of the torque comes from its potential."""
        return self.has_potential

    @property
    def steady(self) -> bool:
        """Whether there is a potential, which does not depend on time."""
        return self.has_potential and not looks_at_time(self.potential)

    def record(self) -> list[dict[str, Any]]:
        """What is known of each torque that acts, as plain data: stored runs contain it, and pages
        and figures use it."""
        return [
            {
                "name": term.name,
                "parameters": {
                    name: np.asarray(getattr(term.params, name)).tolist()
                    for name in getattr(term.params, "_fields", ())
                },
                "acts": term.acts,
                "conservative": term.conservative or term.shares_potential,
                "steady": term.steady or term.shares_potential,
                "up": None if term.up is None else list(term.up),
                "arm": None if term.arm is None else list(term.arm),
            }
            for term in self.terms
        ]

    @property
    def values(self) -> Any:
        """The parameters as the kernel gets them."""
        own = () if self.params is None else self.params
        return (own, self.lifted) if self.lifted else own

    @property
    def is_ours(self) -> bool:
        """Whether all of its code is the package's own."""
        given = (self.function, self.potential, *self.derivatives, self.wrapped)
        functions = [python_function(one) for one in given if one is not None]
        return all(function is not None and ours(function) for function in functions)

    def source(self) -> tuple[Any, ...]:
        """All functions behind the torque, for provenance."""
        return self.function, self.potential, self.derivatives, self.wrapped

    def obstacle(self) -> str | None:
        """Why the function must not be compiled although numba could: what it refers to may change."""
        given = (self.function, *self.derivatives, self.wrapped)
        return next(filter(None, (obstacle(one) for one in given if one is not None)), None)

    def potential_obstacle(self) -> str | None:
        """Why the potential must not be compiled."""
        return None if self.potential is None else obstacle(self.potential)
