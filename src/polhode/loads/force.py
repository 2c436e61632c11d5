"""Free flight: any method's rotation together with the translation of the centre of mass by the explicit Newmark method.

    x' = x + h v + h^2/2 a                          Krysl 2005, eq. (5): velocity Verlet
    the rotation from t to t', by the method; a torque that looks at the position sees x'
    a' = f(t', x', v + h a, R') / m                 one force evaluation per step
    v' = v + h/2 (a + a')

A force that looks at the velocity gets the predicted one, v + h a, which keeps the second order.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from polhode.loads import kernels as _kernels
from polhode.loads.kernels import FLIGHT, Airborne
from polhode.loads._torque import ZERO, Torque
from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import add, axpy, matrix, scale
from polhode.errors import InputError, floats, number
from polhode.methods._registry import variant


class Actions(NamedTuple):
    """Torque and force as a flying method sees them."""

    body: object
    spatial: object
    at: object
    near: object
    derivatives: tuple
    potential: object
    force: object


class Parameters(NamedTuple):
    """The parameters of a flying method."""

    torque: object
    force: object
    mass: float


class Force(Torque):
    """A force on the centre of mass, in space: `f(t, x, v, R[, p])` of position, velocity and attitude matrix.

    `params` and `form` are those of a torque.

    >>> spring = Force(lambda t, x, v, R: -3.0 * x)
    >>> spring(0.0, np.eye(3), x=(1, 0, 0)).tolist()
    [-3.0, -0.0, -0.0]
    """

    kind = "force"

    def __init__(self, function, *, params=None, form="array", name=None):
        super().__init__(function, params=params, form=form, name=name, uses_position=True)

    def arguments(self):
        """The names of the arguments that the function gets."""
        return ["t", "x", "v", "R", *["p"] * (self.params is not None)]

    def kernel(self, setting=FLIGHT):
        """The force on tuples; only in flight."""
        return _kernels.adapt_force(self.function, self.form, self.params, bool(self.lifted))


def weight(mass, g=9.81):
    """Uniform gravity along -z.

    >>> weight(2.0)(0.0, np.eye(3)).tolist()
    [0.0, 0.0, -19.62]
    """
    return Force(_weight, form="tuple", params={"mass": number("mass", mass), "g": number("g", g)}, name="weight")


def _weight(t, x, v, R, p):
    return (0.0, 0.0, -p.mass * p.g)


def _nothing(t, x, v, R):
    return (0.0, 0.0, 0.0)


def as_force(value):
    """A Force from a function or a Force; None is no force."""
    if value is None:
        return Force(_nothing, form="tuple", name="none")
    return value if isinstance(value, Force) else Force(value)


def initial_place(position0, velocity0):
    """Position and velocity at the start as six numbers; zero where not given."""
    place = []
    for name, value in (("position0", position0), ("velocity0", velocity0)):
        vector = floats(name, ZERO if value is None else value)
        if vector.shape != (3,):
            raise InputError(f"{name} must be three numbers, got shape {vector.shape}; give three")
        place.append(vector)
    return np.concatenate(place)


def check(method, torque):
    """A torque that looks at the position is given the one at the end of the step: refuse methods that ask in between."""
    if torque.uses_position and not (method.order == 2 and method.torques == 1):
        raise InputError(f"torque {torque.name!r} looks at the position, which is known at the ends of steps; {method.name} asks "
                         "for it elsewhere.  Use a second-order method with one torque evaluation per step: NMB, LP2, VLV ...")


@lru_cache(256)
def flying(method, velocity, residual, calls):
    """The method with translation carried along; the three functions read the method's own state."""
    base_start, base_step = method.start, method.step

    class State(NamedTuple):
        q: Quaternion
        Om: Vector
        base: method.state
        x: Vector
        v: Vector
        a: Vector
        residual: float
        calls: float

    @jit
    def accelerated(t, base, x, v, body, torque, p):
        """Angular velocity, and acceleration of the centre of mass."""
        Om = velocity(base, body)
        return Om, scale(1.0 / p.mass, torque.force(t, matrix(base.q), Om, Airborne(p.force, x, v)))

    @jit
    def start(h, t, q, Om, x, v, body, torque, p):
        base = base_start(h, t, q, Om, body, torque, Airborne(p.torque, x, v))
        Om, a = accelerated(t, base, x, v, body, torque, p)
        return State(base.q, Om, base, x, v, a, 0.0, 0.0)

    @jit
    def step(h, t, s, body, torque, p):
        x, predicted = axpy(h, axpy(0.5 * h, s.a, s.v), s.x), axpy(h, s.a, s.v)
        base = base_step(h, t, s.base, body, torque, Airborne(p.torque, x, predicted))
        Om, a = accelerated(t + h, base, x, predicted, body, torque, p)
        return State(base.q, Om, base, x, axpy(0.5 * h, add(s.a, a), s.v), a, residual(base), calls(base))

    return variant(method, step=step, start=start, state=State)
