"""Kernels: torques and forces as functions `f(t, R, Om, p)` on tuples, composed of small closures.

R is the attitude, Om the body angular velocity, p the parameters.  The closures turn tuples into
the arrays a user's function expects, the user's axes into principal axes, one frame into the other,
and several torques into their sum.  In flight p also says where the body is: a `Setting` holds the
functions that know the difference.
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
    """How kernels find the parameters in p, and put others in their place."""

    inner: object
    around: object


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
def inner(p):
    return p.inner


@jit
def around(rest, p):
    return Airborne(rest, p.x, p.v)


GROUND = Setting(same, first)
FLIGHT = Setting(inner, around)


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


SHAPES = {0: "{}", 1: "vector({})", 2: "matrix({})"}  # of a parameter, as text


def parameter_text(params, form, lifted=False, p="p"):
    """What a user's function gets after the motion, as source text: its parameters, if it has any,
    which are in `p`; then the lifted constants, where `p` is (parameters, these)."""
    own, constants = (f"{p}[0]", [f"*{p}[1]"]) if lifted else (p, [])
    if params is None:
        return constants
    if form == "array":
        fields = (SHAPES[np.ndim(value)].format(f"{own}[{i}]") for i, value in enumerate(params))
        own = f"make({', '.join(fields)})"
    return [own, *constants]


def scope_of(params, form):
    """The functions that such text names.  Arrays are made in the kernel itself: they do not outlive
    it."""
    array = form == "array"
    return {
        "matrix": matrix_here if array else same,
        "vector": vector_here if array else same,
        "make": type(params),
    }


def adapted(f, arguments, motion, result, params, form, lifted=False, p="p"):
    """A user's function as the kernel of these arguments that gives `result`; it gets a motion and its
    parameters."""
    called = f"f({', '.join([*motion, *parameter_text(params, form, lifted, p)])})"
    text = result.format(called)
    return generated(
        __name__, "kernel", arguments, (), text, f=f, three=three, **scope_of(params, form)
    )


def adapt(f, form, uses_omega, uses_position, params, setting, lifted=False):
    """A user's torque as a kernel f(t, R, Om, p)."""
    motion = ["t", "matrix(R)", *["vector(Om)"] * uses_omega]
    motion += ["vector(p.x)", "vector(p.v)"] * uses_position
    inside = "p" if setting is GROUND else "p.inner"
    return adapted(f, "t, R, Om, p", motion, "three({})", params, form, lifted, inside)


def adapt_quaternion(f, params):
    """A body torque f(t, q[, p]) as a kernel f(t, q, Om, p), on the ground."""
    return adapted(f, "t, q, Om, p", ["t", "q"], "{}", params, "tuple")


def adapt_force(f, form, uses_omega, params, lifted=False):
    """A user's force f(t, x, v, R[, omega][, p]) as a kernel in flight."""
    motion = ["t", "vector(p.x)", "vector(p.v)", "matrix(R)", *["vector(Om)"] * uses_omega]
    return adapted(f, "t, R, Om, p", motion, "three({})", params, form, lifted, "p.inner")


def adapt_derivative(d, form, params):
    """A user's torque derivative as a kernel d(t, R, W, p), W the angular velocity and its
    derivatives."""
    return adapted(d, "t, R, W, p", ["t", "matrix(R)", "matrix(W)"], "three({})", params, form)


def adapt_scalar(f, form, params, lifted=False):
    """A user's potential as a kernel V(t, R, p)."""
    return adapted(f, "t, R, p", ["t", "matrix(R)"], "float({})", params, form, lifted)


def adapt_flight_potential(f, form, params, lifted=False):
    """A user's potential V(t, x, R[, p]) as a kernel V(t, R, p) in flight."""
    motion = ["t", "vector(p.x)", "matrix(R)"]
    return adapted(f, "t, R, p", motion, "float({})", params, form, lifted, "p.inner")


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
