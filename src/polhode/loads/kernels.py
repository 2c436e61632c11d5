"""Kernels: torques and forces as functions `f(t, R, Om, p)` on tuples, composed of small closures.

R is the attitude, Om the body angular velocity, p the parameters.  The closures turn tuples into
the arrays a user's function expects, the user's axes into principal axes, one frame into the other,
and several torques into their sum.  In flight p also says where the body is: a `Setting` holds the
three functions that know the difference.
"""

from typing import NamedTuple

import numpy as np

from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.kicks import ON_GROUND, Kicks
from polhode.core.layout import flatten
from polhode.core.motions import Airborne
from polhode.loads.stack import matrix_here, vector_here
from polhode.core.vec import add, apply, apply_t, attitude, matrix


class Frames(NamedTuple):
    """A torque as methods see it: `torque.body(t, R, Om, p)` and `torque.spatial(t, R, Om, p)`.

    `torque.at(t, q, Om, p)` is the body torque at the attitude of a unit quaternion q,
    `torque.near(t, q, Om, p)` at q / |q|; torques that have a form of their own for quaternions
    take q for what it is, on the understanding that its length is nearly 1.
    """

    body: object
    spatial: object
    at: object
    near: object
    # ((((), d_3), d_2), d_1) in the torque's own frame: d_k(t, R, (Om, Om', ..., Om^(k-1)), p)
    derivatives: tuple = ()
    potential: object = ()  # V(t, R, p), for a method that asks for it
    kicks: Kicks = ON_GROUND  # the moves of a method made of kicks and drifts
    motors: object = ()  # (t, R, Om, W, p) -> the torques on the rotors of the body


class Setting(NamedTuple):
    """How kernels find the parameters in p, put others in their place, and find position and
    velocity."""

    inner: object
    around: object
    place: object


@jit
def same(x):
    return x


@jit
def first(rest, p):
    return rest


@jit
def second(axes, T):
    return T


@jit
def alone(x):
    return (x,)


@jit
def nothing(*unused):
    return ()


@jit
def inner(p):
    return p.inner


@jit
def around(rest, p):
    return Airborne(rest, p.x, p.v)


@jit
def place(vector, p):
    return (vector(p.x), vector(p.v))


GROUND = Setting(same, first, nothing)
FLIGHT = Setting(inner, around, place)


def nested(array, dtype=float):
    """Nested tuples of floats, or a float, from an array."""

    def tuples(item):
        return tuple(map(tuples, item)) if isinstance(item, list) else item

    return tuples(np.asarray(array, dtype=dtype).tolist())


def column(values):
    """The numbers of nested tuples as loops get them, (n, 1)."""
    return np.array(flatten(values), dtype=float).reshape(-1, 1)


def plain(value):
    """Python's floats in place of NumPy's, in nested tuples too: with them 1 / 0 raises an error
    and gives no infinity."""
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, tuple):
        items = map(plain, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def given_plain(f):
    """A user's function for loops in Python, in which numbers read from arrays are NumPy's."""

    def handed_plain(*arguments):
        return f(*plain(arguments))

    return handed_plain


# --- adapters: each returns a kernel --------------------------------------------------------------


@jit
def as_array(R):
    a = np.empty((len(R), len(R[0])))
    for i in range(len(R)):
        for j in range(len(R[0])):
            a[i, j] = R[i][j]
    return a


@jit
def vector_array(v):
    a = np.empty(len(v))
    for i in range(len(v)):
        a[i] = v[i]
    return a


@jit
def three(T):
    """What a user's function returned, as a tuple; the length of a tuple is known when it is
    compiled."""
    if len(T) != 3:
        raise ValueError("it must return three numbers, and returned more or fewer")
    return (float(T[0]), float(T[1]), float(T[2]))


def with_arrays(params):
    """Parameters with arrays for vectors and matrices, as a function in array form gets them."""
    return type(params)(
        *(np.array(value) if isinstance(value, tuple) else value for value in params)
    )


def arrays_of(params):
    """The same as a kernel, for parameters like these."""
    shapes = {0: "{}", 1: "vector_array({})", 2: "as_array({})"}
    fields = ", ".join(shapes[np.ndim(value)].format(f"p[{i}]") for i, value in enumerate(params))
    return generated(
        __name__,
        "arrays",
        "p",
        (),
        f"(make({fields}),)",
        make=type(params),
        vector_array=vector_array,
        as_array=as_array,
    )


def forms(form):
    """The functions that make the attitude, a vector, and a vector that may be returned, in the form
    that a user's function expects."""
    return (matrix_here, vector_here, vector_array) if form == "array" else (same, same, same)


def adapt(f, form, uses_omega, uses_position, params, setting, lifted=False):
    """A user's function as a kernel f(t, R, Om, p)."""
    attitude, here, vector = forms(form)
    inner, place = setting.inner, setting.place if uses_position else nothing
    omega = alone if uses_omega else nothing
    given = handed(params, form, lifted)

    @jit
    def kernel(t, R, Om, p):
        T = f(t, attitude(R), *(omega(here(Om)) + place(vector, p) + given(inner(p))))
        return three(T)

    return kernel


def adapt_quaternion(f, params):
    """A body torque f(t, q[, p]) as a kernel f(t, q, Om, p), on the ground."""
    given = handed(params, "tuple")

    @jit
    def kernel(t, q, Om, p):
        return f(t, q, *given(p))

    return kernel


def handed(params, form, lifted=False):
    """The kernel that gives (parameters,), or () when there are none; then the lifted constants,
    where p is (p, these)."""
    given = nothing if params is None else arrays_of(params) if form == "array" else alone
    if not lifted:
        return given

    @jit
    def both(p):
        return given(p[0]) + p[1]

    return both


def adapt_force(f, form, uses_omega, params, lifted=False):
    """A user's force f(t, x, v, R[, omega][, p]) as a kernel in flight."""
    attitude, vector, _ = forms(form)
    omega, given = alone if uses_omega else nothing, handed(params, form, lifted)

    @jit
    def kernel(t, R, Om, p):
        F = f(t, vector(p.x), vector(p.v), attitude(R), *(omega(vector(Om)) + given(p.inner)))
        return three(F)

    return kernel


def adapt_derivative(d, form, params):
    """A user's torque derivative as a kernel d(t, R, W, p), W the angular velocity and its
    derivatives."""
    attitude, vectors = (matrix_here, as_array) if form == "array" else (same, same)
    given = handed(params, form)

    @jit
    def kernel(t, R, W, p):
        T = d(t, attitude(R), vectors(W), *given(p))
        return three(T)

    return kernel


def adapt_scalar(f, form, params, lifted=False):
    """A user's potential as a kernel V(t, R, p)."""
    attitude, *_ = forms(form)
    given = handed(params, form, lifted)

    @jit
    def kernel(t, R, p):
        return float(f(t, attitude(R), *given(p)))

    return kernel


def adapt_flight_potential(f, form, params, lifted=False):
    """A user's potential V(t, x, R[, p]) as a kernel V(t, R, p) in flight."""
    attitude, vector, _ = forms(form)
    given = handed(params, form, lifted)

    @jit
    def kernel(t, R, p):
        return float(f(t, vector(p.x), attitude(R), *given(p.inner)))

    return kernel


def in_frame(f, frame, derivatives=(), at=None):
    """Both frames of a kernel given in one of them: T = R^T t; `at` is its form for quaternions, if
    it has one."""
    nested = ()  # a flat tuple of functions would make numba call them through pointers
    for derivative in reversed(derivatives):
        nested = (nested, derivative)
    if frame == "body":

        @jit
        def spatial(t, R, Om, p):
            return apply(R, f(t, R, Om, p))

        return Frames(f, spatial, *at_quaternions(f, at), nested)

    @jit
    def body(t, R, Om, p):
        return apply_t(R, f(t, R, Om, p))

    return Frames(body, f, *at_quaternions(body, at), nested)


def at_quaternions(body, own):
    """A body torque at quaternions of unit length, and of any; its own form for quaternions, if it
    has one, does for both."""

    @jit
    def at(t, q, Om, p):
        return body(t, matrix(q), Om, p)

    @jit
    def near(t, q, Om, p):
        return body(t, attitude(q), Om, p)

    return (own, own) if own else (at, near)


def potential_beside(f, setting=GROUND):
    """A potential beside a load out of which constants were lifted: its parameters are (p,
    these)."""
    inner, around = setting.inner, setting.around

    @jit
    def kernel(t, R, p):
        return f(t, R, around(inner(p)[0], p))

    return kernel


def added(f, g, setting):
    """The sum of two kernels; parameters become a pair."""
    inner, around = setting.inner, setting.around

    @jit
    def kernel(t, R, Om, p):
        return add(f(t, R, Om, around(inner(p)[0], p)), g(t, R, Om, around(inner(p)[1], p)))

    return kernel


def on_ground(f):
    """A kernel that knows nothing of flight, called in flight."""

    @jit
    def kernel(t, R, Om, p):
        return f(t, R, Om, p.inner)

    return kernel


def potential_on_ground(f):
    """A potential, called in flight."""

    @jit
    def kernel(t, R, p):
        return f(t, R, p.inner)

    return kernel


def added_potential(f, g, setting=GROUND):
    inner, around = setting.inner, setting.around

    @jit
    def kernel(t, R, p):
        return f(t, R, around(inner(p)[0], p)) + g(t, R, around(inner(p)[1], p))

    return kernel


@jit
def no_potential(t, R, p):
    return 0.0
