"""What a torque is, and how it becomes a kernel.

The simplest torque is a function `f(t, R)` that returns the three spatial components, R being the 3x3 attitude matrix.
`@torque(...)` adds the rest: another frame, parameters, potential energy, dependence on the angular velocity, and the tuple
form that vectorises and runs on a GPU.  `a + b` acts with both.

Inside, every torque is a kernel `f(t, R, Om, p)` on tuples, with R the attitude, Om the body angular velocity and p the
parameters, composed of small closures: array to tuple, user's axes to principal axes, spatial to body frame.
"""

import ctypes
import inspect
from collections import namedtuple
from functools import partial
from types import FunctionType, ModuleType
from typing import NamedTuple

import numpy as np

from polhode.core.jit import jit, visible
from polhode.core.vec import add, apply, apply_t, matmul, transpose
from polhode.errors import InputError, unknown


class Frames(NamedTuple):
    """A torque as methods see it: `torque.body(t, R, Om, p)` and `torque.spatial(t, R, Om, p)`."""

    body: object
    spatial: object


class Callback(NamedTuple):
    """Addresses of a torque outside compiled code and of its buffers; see core/callback.py."""

    function: float
    inputs: float
    outputs: float


class Torque:
    """A torque and what is known about it.  Made by `@torque`, by the functions below, or from a plain function.

    Attributes
    ----------
    function : callable
        `f(t, R[, omega][, p])`, R an array (form "array") or a nested tuple (form "tuple").
    frame : {"spatial", "body"}
        The frame of the result.
    params : namedtuple or None
        Numbers, vectors and matrices handed to the function as its last argument.
    potential : callable or None
        `V(t, R[, p])`: potential energy, so that the total energy can be followed.
    derivatives : callable or None
        `d(t, R, omega, alpha[, p])`: first and second time derivative of the torque along the motion, in its own frame,
        from the body angular velocity and acceleration; methods of Taylor type use them.
    uses_omega : bool
        The function wants the body angular velocity after R.
    """

    def __init__(self, function, *, frame="spatial", params=None, potential=None, derivatives=None, uses_omega=False,
                 form="array", name=None):
        if not callable(function):
            raise InputError(f"a torque must be a function f(t, R), got {function!r}")
        _choice("frame", frame, ("spatial", "body"))
        _choice("form", form, ("array", "tuple"))
        self.function, self.frame, self.form, self.uses_omega = function, frame, form, bool(uses_omega)
        self.potential, self.derivatives = potential, derivatives
        self.params = _params(params)
        self.name = name or getattr(function, "__name__", type(function).__name__)
        _check_arguments(function, 2 + self.uses_omega + (self.params is not None), self)

    def __call__(self, t, R, omega=(0.0, 0.0, 0.0)):
        """The torque in its own frame, as an array, from any attitude matrix: for looking at, not for loops."""
        R = np.asarray(R, dtype=float)
        omega = np.asarray(omega, dtype=float)
        if self.form == "tuple":
            R, omega = tuple(map(tuple, R.tolist())), tuple(omega.tolist())
        extra = (omega,) * self.uses_omega + ((self.params,) if self.params is not None else ())
        return np.asarray(self.function(t, R, *extra), dtype=float)

    def __add__(self, other):
        return Sum((*_terms(self), *_terms(as_torque(other))))

    __radd__ = __add__

    def with_params(self, **changes):
        """The same torque with some parameters changed."""
        if self.params is None:
            raise InputError(f"torque {self.name!r} has no parameters")
        for key in changes:
            if key not in self.params._fields:
                raise unknown(f"parameter of torque {self.name!r}", key, self.params._fields)
        fresh = Torque.__new__(type(self))
        fresh.__dict__.update(self.__dict__, params=self.params._replace(**{k: _number(v, k) for k, v in changes.items()}))
        return fresh

    def __repr__(self):
        inside = "" if self.params is None else ", ".join(f"{k}={v}" for k, v in self.params._asdict().items())
        return f"<torque {self.name}({inside}), {self.frame} frame>"

    # --- kernels: f(t, R, Om, p) on tuples -----------------------------------------------------------------------------

    def kernel(self):
        """The torque on tuples, in its own frame and the user's axes."""
        return _adapt(self.function, self.form, self.uses_omega, self.params is not None)

    def potential_kernel(self):
        """The potential on tuples, or None."""
        if self.potential is None:
            return None
        return _adapt_scalar(self.potential, self.form, self.params is not None)

    @property
    def has_potential(self):
        """Whether a potential energy is known."""
        return self.potential is not None

    @property
    def values(self):
        """The parameters as the kernel gets them."""
        return () if self.params is None else self.params

    def obstacle(self):
        """Why the function must not be compiled although numba might: what it refers to may change under it."""
        return _mutable_reference(self.function)


class Sum(Torque):
    """Several torques at once; in the spatial frame."""

    def __init__(self, terms):
        self.terms = tuple(terms)
        self.name = " + ".join(term.name for term in self.terms)
        self.frame, self.form, self.params, self.derivatives = "spatial", "tuple", None, None
        self.uses_omega = any(term.uses_omega for term in self.terms)
        self.potential = None

    def __call__(self, t, R, omega=(0.0, 0.0, 0.0)):
        return sum((term(t, R, omega) if term.frame == "spatial" else np.asarray(R) @ term(t, R, omega))
                   for term in self.terms)

    def kernel(self):
        total = in_frame(self.terms[0].kernel(), self.terms[0].frame).spatial
        for term in self.terms[1:]:
            total = _sum_kernel(total, in_frame(term.kernel(), term.frame).spatial)
        return total

    def potential_kernel(self):
        if not self.has_potential:
            return None
        total = self.terms[0].potential_kernel() or _no_potential
        for term in self.terms[1:]:
            total = _sum_potential(total, term.potential_kernel() or _no_potential)
        return total

    @property
    def has_potential(self):
        return any(term.has_potential for term in self.terms)

    @property
    def values(self):
        total = self.terms[0].values
        for term in self.terms[1:]:
            total = (total, term.values)
        return total

    def obstacle(self):
        return next(filter(None, (term.obstacle() for term in self.terms)), None)


class Foreign(Torque):
    """A torque behind a C function pointer: `void f(double t, const double state[12], double out[3])`, spatial frame.

    `state` holds R row by row and then the body angular velocity.  Takes a ctypes function or an integer address.
    """

    def __init__(self, pointer, *, frame="spatial", potential=None, name="foreign"):
        _choice("frame", frame, ("spatial", "body"))
        self.pointer = pointer   # kept: a ctypes function dies with its last reference
        address = pointer if isinstance(pointer, int) else ctypes.cast(pointer, ctypes.c_void_p).value
        if not address:
            raise InputError(f"a foreign torque needs a C function or its address, got {pointer!r}")
        self.inputs, self.outputs = np.zeros(12), np.zeros(3)
        self.frame, self.form, self.params, self.potential = frame, "tuple", None, potential
        self.uses_omega, self.derivatives, self.name = True, None, name
        self.values_ = Callback(float(address), float(self.inputs.ctypes.data), float(self.outputs.ctypes.data))
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(address)

    def __call__(self, t, R, omega=(0.0, 0.0, 0.0)):
        self.inputs[:9], self.inputs[9:] = np.ravel(R), omega
        self._call(t, self.inputs.ctypes.data, self.outputs.ctypes.data)
        return self.outputs.copy()

    function = __call__

    def kernel(self):
        from polhode.core.callback import kernel

        return kernel

    @property
    def values(self):
        return self.values_

    def obstacle(self):
        return None


# --- making torques ----------------------------------------------------------------------------------------------------

def torque(function=None, /, **options):
    """Turn a function into a Torque; use as `@torque` or `@torque(frame="body", params={"k": 2.0}, ...)`.

    The function is called as `f(t, R[, omega][, p])`: `omega` (body frame) when `uses_omega=True`, `p` when there are `params`.

    >>> @torque(frame="body", params={"k": 0.1}, uses_omega=True)
    ... def drag(t, R, omega, p):
    ...     return -p.k * omega
    >>> drag
    <torque drag(k=0.1), body frame>
    """
    valid = ("frame", "params", "potential", "derivatives", "uses_omega", "form", "name")
    for option in options:
        if option not in valid:
            raise unknown("torque option", option, valid)
    if function is None:
        return partial(torque, **options)
    return Torque(function, **options)


def as_torque(value):
    """None, a Torque, a function, the name of a built-in torque, or a C function pointer, as a Torque."""
    from polhode import torques

    if value is None:
        return torques.free()
    if isinstance(value, Torque):
        return value
    if isinstance(value, str):
        return torques.by_name(value)()
    if isinstance(value, ctypes._CFuncPtr):
        return Foreign(value)
    if callable(value):
        return Torque(value)
    raise InputError(f"torque must be a function f(t, R), a Torque, a name or None, got {value!r}")


def _terms(value):
    return value.terms if isinstance(value, Sum) else (value,)


def _choice(what, value, valid):
    if value not in valid:
        raise unknown(what, value, valid)


def _number(value, name):
    """A float, or nested tuples of floats, from what a user writes for a parameter."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"torque parameter {name!r} must be a number or an array of numbers, got {value!r}") from None
    if not np.all(np.isfinite(array)):
        raise InputError(f"torque parameter {name!r} must be finite, got {value!r}")

    def nested(item):
        return tuple(map(nested, item)) if isinstance(item, list) else item

    return nested(array.tolist())


def _params(params):
    if params is None:
        return None
    if hasattr(params, "_asdict"):
        params = params._asdict()
    if not isinstance(params, dict) or not params:
        raise InputError(f"torque params must be a dict of names and numbers, got {params!r}")
    return namedtuple("Params", params)(*(_number(value, name) for name, value in params.items()))


def _check_arguments(function, count, torque):
    """A wrong number of arguments is found before the run, with the call the function would get."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*range(count))
    except TypeError:
        call = "t, R" + (", omega" if torque.uses_omega else "") + (", p" if torque.params is not None else "")
        raise InputError(f"torque {torque.name!r} will be called as f({call}) but is defined as f{signature}; "
                         "see the options uses_omega and params of @polhode.torque") from None


def _mutable_reference(function, seen=None):
    """The first thing a function refers to that may change while it runs: compiled code would not notice."""
    seen = set() if seen is None else seen
    if not isinstance(function, FunctionType):
        return None if hasattr(function, "py_func") else f"{type(function).__name__} object"
    if id(function) in seen:
        return None
    seen.add(id(function))
    names, cells = visible(function)
    for value in [*names.values(), *cells]:
        if isinstance(value, FunctionType):
            inner = _mutable_reference(value, seen)
            if inner:
                return inner
        elif not (isinstance(value, (int, float, complex, str, tuple, type, ModuleType, type(None), np.generic))
                  or hasattr(value, "py_func") or callable(value)):
            return f"{type(value).__name__} that may change"
    return None


# --- adapters: each returns a kernel -----------------------------------------------------------------------------------

@jit
def _as_array(R):
    a = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            a[i, j] = R[i][j]
    return a


@jit
def _vector_array(v):
    a = np.empty(3)
    for i in range(3):
        a[i] = v[i]
    return a


@jit
def _same(x):
    return x


def _adapt(f, form, uses_omega, has_params):
    """A user's function as a kernel f(t, R, Om, p)."""
    attitude, vector = (_as_array, _vector_array) if form == "array" else (_same, _same)
    if uses_omega and has_params:
        @jit
        def kernel(t, R, Om, p):
            T = f(t, attitude(R), vector(Om), p)
            return (float(T[0]), float(T[1]), float(T[2]))
    elif uses_omega:
        @jit
        def kernel(t, R, Om, p):
            T = f(t, attitude(R), vector(Om))
            return (float(T[0]), float(T[1]), float(T[2]))
    elif has_params:
        @jit
        def kernel(t, R, Om, p):
            T = f(t, attitude(R), p)
            return (float(T[0]), float(T[1]), float(T[2]))
    else:
        @jit
        def kernel(t, R, Om, p):
            T = f(t, attitude(R))
            return (float(T[0]), float(T[1]), float(T[2]))
    return kernel


def _adapt_scalar(f, form, has_params):
    """A user's potential as a kernel V(t, R, p)."""
    attitude = _as_array if form == "array" else _same
    if has_params:
        @jit
        def kernel(t, R, p):
            return float(f(t, attitude(R), p))
    else:
        @jit
        def kernel(t, R, p):
            return float(f(t, attitude(R)))
    return kernel


def in_frame(f, frame):
    """Both frames of a kernel given in one of them: T = R^T t."""
    if frame == "body":
        @jit
        def spatial(t, R, Om, p):
            return apply(R, f(t, R, Om, p))
        return Frames(f, spatial)

    @jit
    def body(t, R, Om, p):
        return apply_t(R, f(t, R, Om, p))
    return Frames(body, f)


def in_axes(f, frame):
    """A kernel written for the user's body axes, for use in the principal ones; parameters become (axes, parameters)."""
    if frame == "body":
        @jit
        def kernel(t, R, Om, p):
            axes, inner = p
            return apply_t(axes, f(t, matmul(R, transpose(axes)), apply(axes, Om), inner))
    else:
        @jit
        def kernel(t, R, Om, p):
            axes, inner = p
            return f(t, matmul(R, transpose(axes)), apply(axes, Om), inner)
    return kernel


def potential_in_axes(f):
    """A potential written for the user's body axes, for use in the principal ones."""
    @jit
    def kernel(t, R, p):
        axes, inner = p
        return f(t, matmul(R, transpose(axes)), inner)
    return kernel


def _sum_kernel(f, g):
    @jit
    def kernel(t, R, Om, p):
        return add(f(t, R, Om, p[0]), g(t, R, Om, p[1]))
    return kernel


def _sum_potential(f, g):
    @jit
    def kernel(t, R, p):
        return f(t, R, p[0]) + g(t, R, p[1])
    return kernel


@jit
def _no_potential(t, R, p):
    return 0.0
