"""What a torque is, and how it becomes a kernel.

The simplest torque is a function `f(t, R)` that returns the three spatial components, R being the
3x3 attitude matrix.  `@torque(...)` adds the rest: another frame, parameters, potential energy,
dependence on the angular velocity, and the tuple form that vectorises and runs on a GPU.  `a + b`
acts with both.

Inside, every torque is a kernel `f(t, R, Om, p)` on tuples: see _kernels.py.
"""

from __future__ import annotations

import ctypes
import importlib
import inspect
import keyword
import operator
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from polhode.loads import kernels as _kernels
from polhode.loads.kernels import GROUND
from polhode.loads.known_energy import energy_unknown
from polhode.core import callback
from polhode.core.digest import obstacle
from polhode.core.jit import jit
from polhode.core.lift import lifted
from polhode.core.reads import ours, python_function
from polhode.errors import (
    InputError,
    brief,
    called_as,
    choice,
    flag,
    floats,
    label,
    number,
    unknown,
)
from polhode.support.frames import rows_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


ZERO = (0.0, 0.0, 0.0)
_HANDED = ("R", "omega", "x", "v", "p")  # the arguments of a torque after the time


class Callback(NamedTuple):
    """The address of a torque outside compiled code, in parts that single precision holds too; see
    core/callback.py."""

    high: float
    middle: float
    low: float

    @classmethod
    def to(cls, address: int) -> Callback:
        """Of a function at an address."""
        return cls(float(address >> 40), float(address >> 20 & 0xFFFFF), float(address & 0xFFFFF))


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
    arm = None  # of a weight: from the fixed point to the centre of mass, in the body
    up = None  # a direction in space about which the torque never acts: the momentum about it stays
    unit = None  # the step that the torque is made for, where its jumps fall on ends of steps
    jumps = ()  # when the torque jumps, where that is known
    hidden = ""  # why the potential is not to be used
    compared = False  # whether the torque has been compared with the slope of its potential
    # of the named torques: the body torque as a function of a quaternion of nearly unit length
    quaternion = None

    kind = "torque"
    lifted = ()  # constants of closures that are handed over like parameters: see `with_lifted`
    lifts_potential = False  # whether they are the potential's, not the function's

    def __init__(
        self,
        function: Callable[..., Any],
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
        self.function, self.derivatives = function, _functions(derivatives)
        self.uses_omega, self.uses_position = (
            flag("uses_omega", uses_omega),
            flag("uses_position", uses_position),
        )
        self.params = _params(params)
        self.potential = _potential(potential, self.params)
        self.name = label("name", name) or getattr(function, "__name__", type(function).__name__)
        _check_arguments(function, self)
        if form == "tuple" and isinstance(function, FunctionType):
            jit(function)  # part of the kernel: inlined, and fit for SIMD and GPU
        self._order = tuple(_HANDED.index(name) for name in self.arguments() if name != "t")

    @property
    def feels_omega(self) -> bool:
        """Whether it looks at the angular velocity, as far as is known."""
        return self.uses_omega

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
        """The torque in its own frame, as an array, from any attitude matrix: for looking at, not
        for loops.

        The function gets copies, so that one that writes to its arguments changes nothing but
        these.
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
        return Sum((*_terms(self), *_terms(as_torque(other))))

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
        fresh = Torque.__new__(type(self))
        values = self.params._replace(
            **{name: _number(value, name) for name, value in changes.items()}
        )
        fresh.__dict__.update(self.__dict__, params=values, compared=False)
        return fresh

    def __repr__(self) -> str:
        inside = (
            ""
            if self.params is None
            else ", ".join(f"{k}={v}" for k, v in self.params._asdict().items())
        )
        return f"<torque {self.name}({inside}), {self.frame} frame>"

    # --- kernels: f(t, R, Om, p) on tuples --------------------------------------------------------

    def kernel(self, setting: Any = GROUND) -> Callable[..., Any]:
        """The torque on tuples, in its own frame and the user's axes."""
        if self.uses_position and setting is GROUND:
            raise InputError(
                f"torque {self.name!r} looks at the position; give position0, velocity0 or force too"
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
        arguments = len(self.arguments()) if what == "function" else 2 + (self.params is not None)
        found = None if self.derivatives else lifted(getattr(self, what), arguments)
        if found is None:
            return self
        other = copy(self)
        other.__dict__.update(
            {what: found.function, "lifted": found.values, "lifts_potential": what == "potential"}
        )
        return other

    def in_python(self) -> Torque:
        """The same torque for loops in Python: its functions get Python's floats, as they do
        everywhere else."""
        if self.is_ours:
            return self
        other = copy(self)
        other.function = _kernels.given_plain(self.function)
        other.derivatives = tuple(map(_kernels.given_plain, self.derivatives))
        other.potential = self.potential and _kernels.given_plain(self.potential)
        return other

    def without_derivatives(self) -> Torque:
        """The same torque, with nothing known about its derivatives."""
        bare = copy(self)
        bare.derivatives = ()
        return bare

    def without_potential(self, why: str) -> Torque:
        """The same torque, with an energy that is not known; `why` in a few words."""
        bare = copy(self)
        bare.hidden = why
        return bare

    def energy_unknown(self) -> str:
        """Why kinetic plus potential energy is not known to stay as it is, in a few words; "" when
        it is known."""
        return self.hidden or energy_unknown(self)

    @property
    def has_potential(self) -> bool:
        """Whether a potential energy is known."""
        return self.potential is not None

    @property
    def conservative(self) -> bool:
        """Whether all of the torque comes from its potential."""
        return self.has_potential

    def record(self) -> list[dict[str, Any]]:
        """What is known of each torque that acts, as plain data: stored runs carry it, and pages
        and figures decide from it."""
        return [
            {
                "name": term.name,
                "parameters": {
                    name: np.asarray(getattr(term.params, name)).tolist()
                    for name in getattr(term.params, "_fields", ())
                },
                "acts": term.acts,
                "conservative": term.conservative,
                "up": None if term.up is None else list(term.up),
                "arm": None if term.arm is None else list(term.arm),
            }
            for term in _terms(self)
        ]

    @property
    def values(self) -> Any:
        """The parameters as the kernel gets them."""
        own = () if self.params is None else self.params
        return (own, self.lifted) if self.lifted else own

    @property
    def is_ours(self) -> bool:
        """Whether all of its code is the package's own."""
        functions = map(
            python_function, filter(None, (self.function, self.potential, *self.derivatives))
        )
        return all(function is not None and ours(function) for function in functions)

    def source(self) -> tuple[Any, ...]:
        """All functions behind the torque, for provenance."""
        return self.function, self.potential, self.derivatives

    def obstacle(self) -> str | None:
        """Why the function must not be compiled although numba might: what it refers to may change
        under it."""
        return next(filter(None, map(obstacle, (self.function, *self.derivatives))), None)

    def potential_obstacle(self) -> str | None:
        """Why the potential must not be compiled."""
        return None if self.potential is None else obstacle(self.potential)


class Sum(Torque):
    """Several torques at once; in the spatial frame."""

    def __init__(self, terms: Iterable[Torque]) -> None:
        self.terms = tuple(terms)
        self.name = " + ".join(term.name for term in self.terms)
        self.frame, self.form, self.params, self.derivatives = "spatial", "tuple", None, ()
        self.uses_omega = any(term.uses_omega for term in self.terms)
        self.uses_position = any(term.uses_position for term in self.terms)
        self.potential = None

    @property
    def feels_omega(self) -> bool:
        return any(term.feels_omega for term in self.terms)

    def __call__(self, t: float, R: ArrayLike, *rest: Any) -> np.ndarray:
        R = floats("R", R, finite=False)
        return sum(
            (
                term(t, R, *rest)
                if term.frame == "spatial"
                else rows_times(term(t, R, *rest), np.transpose(R))
            )
            for term in self.terms
        )

    def __repr__(self) -> str:
        inside = [
            f"{term.name}.{k}={v}"
            for term in self.terms
            if term.params
            for k, v in term.params._asdict().items()
        ]
        return f"<torque {self.name}({', '.join(inside)}), {self.frame} frame>"

    def with_lifted(self, what: str = "function") -> Torque:
        return Sum([term.with_lifted(what) for term in self.terms])

    def in_python(self) -> Torque:
        return Sum([term.in_python() for term in self.terms])

    def kernel(self, setting: Any = GROUND) -> Callable[..., Any]:
        total, *others = [
            _kernels.in_frame(term.kernel(setting), term.frame).spatial for term in self.terms
        ]
        for other in others:
            total = _kernels.added(total, other, setting)
        return total

    def potential_kernel(self) -> Callable[..., Any] | None:
        if not self.has_potential:
            return None
        total, *others = [term.potential_kernel() or _kernels.no_potential for term in self.terms]
        for other in others:
            total = _kernels.added_potential(total, other)
        return total

    @property
    def is_ours(self) -> bool:
        return all(term.is_ours for term in self.terms)

    @property
    def has_potential(self) -> bool:
        return any(term.has_potential for term in self.terms)

    @property
    def conservative(self) -> bool:
        return all(term.conservative for term in self.terms)

    @property
    def values(self) -> Any:
        total = self.terms[0].values
        for term in self.terms[1:]:
            total = (total, term.values)
        return total

    def source(self) -> tuple[Any, ...]:
        return tuple(term.source() for term in self.terms)

    def obstacle(self) -> str | None:
        return next(filter(None, (term.obstacle() for term in self.terms)), None)

    def potential_obstacle(self) -> str | None:
        return next(filter(None, (term.potential_obstacle() for term in self.terms)), None)


class Foreign(Torque):
    """A torque behind a C function pointer: `void f(double t, const double state[12], double
    out[3])`, spatial frame.

    `state` holds R row by row and then the body angular velocity.  Takes a ctypes function or an
    integer address.
    """

    feels_omega = False  # it gets the angular velocity; what it does with it is not known

    def __init__(
        self,
        pointer: Any,
        *,
        frame: str = "spatial",
        potential: Callable[..., Any] | None = None,
        name: str = "foreign",
    ) -> None:
        self.pointer = pointer  # kept: a ctypes function dies with its last reference
        address = _address(pointer)
        if address is None or not 0 < address < 2**64:
            raise InputError(
                f"a foreign torque needs a C function or its address, got {brief(pointer)}; give one of ctypes, "
                "cffi or numba.cfunc"
            )
        self.frame, self.form, self.params = (
            choice("frame", frame, ("spatial", "body")),
            "tuple",
            None,
        )
        self.potential = _potential(potential, None)
        self.uses_omega, self.uses_position, self.derivatives, self.name = True, False, (), name
        self.values_ = Callback.to(address)
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(
            address
        )

    def __call__(
        self,
        t: float,
        R: ArrayLike,
        omega: ArrayLike = ZERO,
        x: ArrayLike = ZERO,
        v: ArrayLike = ZERO,
    ) -> np.ndarray:
        state, out = np.concatenate([np.ravel(R), omega], dtype=float), np.zeros(3)
        self._call(t, state.ctypes.data, out.ctypes.data)
        return out

    function = __call__

    def with_lifted(self, what: str = "function") -> Torque:
        return self

    def kernel(self, setting: Any = GROUND) -> Callable[..., Any]:
        return callback.kernel if setting is GROUND else _kernels.on_ground(callback.kernel)

    @property
    def values(self) -> Any:
        return self.values_

    def source(self) -> tuple[Any, ...]:
        return self.name, self.potential

    def obstacle(self) -> None:
        return None


# --- making torques -------------------------------------------------------------------------------


@overload
def torque(function: Callable[..., Any], /, **options: Any) -> Torque: ...


@overload
def torque(function: None = None, /, **options: Any) -> Callable[[Callable[..., Any]], Torque]: ...


def torque(
    function: Callable[..., Any] | None = None, /, **options: Any
) -> Torque | Callable[[Callable[..., Any]], Torque]:
    """Turn a function into a Torque; use as `@torque` or `@torque(frame="body", params={"k": 2.0},
    ...)`.

    The function is called as `f(t, R[, omega][, x, v][, p])`: `omega` (body frame) when
    `uses_omega=True`, position and velocity when `uses_position=True`, `p` when there are `params`.

    >>> @torque(frame="body", params={"k": 0.1}, uses_omega=True)
    ... def drag(t, R, omega, p):
    ...     return -p.k * omega
    >>> drag
    <torque drag(k=0.1), body frame>
    """
    valid = (
        "frame",
        "params",
        "potential",
        "derivatives",
        "uses_omega",
        "uses_position",
        "form",
        "name",
    )
    for option in options:
        if option not in valid:
            raise unknown("torque option", option, valid)
    if function is None:
        return partial(torque, **options)
    return Torque(function, **options)


def as_torque(value: Torque | Callable[..., Any] | str | None) -> Torque:
    """None, a Torque, a function, the name of a built-in torque, or a C function pointer, as a
    Torque.

    Examples
    --------
    >>> as_torque("heavy_top"), as_torque(None)
    (<torque heavy_top(moment=20.0), body frame>, <torque free(), body frame>)
    """
    if isinstance(value, Torque):
        return value
    if isinstance(value, FunctionType):
        return _of_function(value)
    # they are made of what stands here, and found by name
    torques = importlib.import_module("polhode.loads.torques")
    if value is None:
        return _nothing(torques.free)
    if isinstance(value, str):
        make = torques.by_name(value)
        try:
            inspect.signature(make).bind()
        except TypeError:
            bare = [
                one.replace(annotation=one.empty)
                for one in inspect.signature(make).parameters.values()
            ]
            call = f"polhode.torques.{make.__name__}({', '.join(map(str, bare))})"
            raise InputError(
                f"torque {make.__name__!r} has parameters without defaults; write {call}"
            ) from None
        return make()
    if isinstance(value, ctypes._CFuncPtr):
        return Foreign(value)
    if callable(value):
        return Torque(value)
    raise InputError(
        f"torque must be a function f(t, R), a Torque, a name or None, got {brief(value)}; write def f(t, R): ..."
    )


_nothing = lru_cache(1)(lambda free: free())  # what acts where nothing is given
# torques of plain functions, by id: the same function is the same torque
_wrapped: OrderedDict[int, Any] = OrderedDict()
KEPT = 64


def _of_function(function):
    # what a look at its arguments and its name sees
    made_of = function.__code__, function.__defaults__, function.__kwdefaults__, function.__name__
    found, known = _wrapped.get(id(function), (None, ()))
    if (
        found is None
        or found.function is not function
        or not all(map(operator.is_, known, made_of))
    ):
        found = Torque(function)
        _wrapped[id(function)] = found, made_of
        while len(_wrapped) > KEPT:
            _wrapped.popitem(last=False)
    return found


def _terms(value):
    return value.terms if isinstance(value, Sum) else (value,)


def _address(pointer):
    """Of a C function, or None."""
    if isinstance(pointer, int):
        return None if isinstance(pointer, bool) else pointer
    try:
        return ctypes.cast(pointer, ctypes.c_void_p).value
    except ctypes.ArgumentError:
        return None


def _number(value, name):
    """A float, or nested tuples of floats, from what a user writes for a parameter."""
    array = floats(f"torque parameter {name!r}", value)
    if array.ndim > 2 or not array.size:
        raise InputError(
            f"torque parameter {name!r} must be a number, a vector or a matrix, got shape {array.shape}; give one "
            "of these"
        )
    return _kernels.nested(array)


def _params(params):
    if params is None:
        return None
    if hasattr(params, "_asdict"):
        params = params._asdict()
    if not isinstance(params, dict) or not params:
        raise InputError(
            f"torque params must be a dict of names and numbers, got {brief(params)}; write params={{'k': 1.0}}"
        )
    for name in params:
        if (
            not (isinstance(name, str) and name.isidentifier())
            or name.startswith("_")
            or keyword.iskeyword(name)
        ):
            raise InputError(
                f"the name of a torque parameter must be that of a variable, got {brief(name)}; write "
                "params={'k': 1.0}"
            )
    return _params_class(tuple(params))(*(_number(value, name) for name, value in params.items()))


@lru_cache(256)
def _params_class(names):
    return namedtuple("Params", names)


def _functions(derivatives):
    """A tuple of functions, from what a user gives for derivatives: one function, several, or
    nothing."""
    several = isinstance(derivatives, (list, tuple))
    given = () if derivatives is None else tuple(derivatives) if several else (derivatives,)
    if not all(map(callable, given)):
        raise InputError(
            f"torque derivatives must be functions d_k(t, R, w), first, second, ..., got {brief(derivatives)}; give "
            "a tuple of them"
        )
    return given


def _potential(potential, params):
    """A function, or None."""
    form = "V(t, R)" if params is None else "V(t, R, p)"
    return None if potential is None else called_as("potential", potential, form)


def _check_arguments(function, torque):
    """A wrong number of arguments is found before the run, with the call the function would get."""
    names = torque.arguments()
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*names)
    except TypeError:
        raise InputError(
            f"{torque.kind} {torque.name!r} will be called as f({', '.join(names)}) but is defined as f{signature}; "
            "see the options uses_omega, uses_position and params of @polhode.torque"
        ) from None
