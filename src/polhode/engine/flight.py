"""Free flight: any method's rotation together with the translation of the centre of mass by the
explicit Newmark method.

    x' = x + h v + h^2/2 a                          Krysl 2005, eq. (5): velocity Verlet
    the rotation from t to t', by the method; a torque that looks at the position sees x'
    a' = f(t', x', v + h a, R') / m                 one force evaluation per step
    v' = v + h/2 (a + a')

A force that looks at the velocity gets the predicted one, v + h a, which keeps the second order.
"""

from functools import lru_cache
from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import add, axpy, matrix, scale
from polhode.errors import InputError
from polhode.loads.kernels import Airborne
from polhode.methods._method import variant


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


def check_flight(method, torque):
    """A torque that looks at the position is given the one at the end of the step: refuse methods
    that ask in between."""
    if torque.uses_position and not (method.order == 2 and method.torques == 1):
        raise InputError(
            f"torque {torque.name!r} depends on the position, which is known only at the ends of steps; {method.name} asks "
            "for it elsewhere.  Use a second-order method with one torque evaluation per step: NMB, LP2, VLV ..."
        )


@lru_cache(256)
def flying(method, velocity, residual, calls):
    """The method with translation carried along; the three functions read the method's own
    state."""
    base_start, base_step = method.start, method.step

    class FlyingState(NamedTuple):
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
        return FlyingState(base.q, Om, base, x, v, a, 0.0, 0.0)

    @jit
    def step(h, t, s, body, torque, p):
        x, predicted = axpy(h, axpy(0.5 * h, s.a, s.v), s.x), axpy(h, s.a, s.v)
        base = base_step(h, t, s.base, body, torque, Airborne(p.torque, x, predicted))
        Om, a = accelerated(t + h, base, x, predicted, body, torque, p)
        return FlyingState(
            base.q, Om, base, x, axpy(0.5 * h, add(s.a, a), s.v), a, residual(base), calls(base)
        )

    return variant(method, step=step, start=start, state=FlyingState)
