"""Free flight: the rotation of a body together with the translation of its centre of mass.

Methods made of kicks and drifts carry both by the same moves (`Method.flight`).  Beside the others
goes the explicit Newmark method:

    x' = x + h v + h^2/2 a                          Krysl 2005, eq. (5): velocity Verlet
    the rotation from t to t', by the method; a torque that looks at the position sees x'
    a' = f(t', x', v + h a, R') / m                 one force evaluation per step
    v' = v + h/2 (a + a')

A force that looks at the velocity gets the predicted one, v + h a, which keeps the second order.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from polhode.core.jit import jit
from polhode.core.kicks import IN_FLIGHT, Kicks
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import add, attitude, axpy, matrix, scale
from polhode.errors import InputError
from polhode.core.motions import Airborne
from polhode.loads.kernels import Frames
from polhode.loads._torque import Torque
from polhode.methods._method import Method, variant


class Actions(NamedTuple):
    """Torque and force as a flying method sees them."""

    body: object
    spatial: object
    at: object
    near: object
    derivatives: tuple
    potential: object
    kicks: Kicks
    motors: object
    force: object
    both: object  # (t, q, Om, x, v, p) -> body torque, acceleration
    both_near: object  # the same at q / |q|


class Parameters(NamedTuple):
    """The parameters of a flying method."""

    torque: object
    force: object
    mass: float


def actions(method: Method, torque: Frames, force: Callable[..., Any]) -> Actions:
    """Torque and force, which get their parameters by `Parameters`, as a method sees them."""

    def together(torque_at, rotation):
        @jit
        def both(t, q, Om, x, v, p):
            T = torque_at(t, q, Om, Airborne(p.torque, x, v))
            f = force(t, rotation(q), Om, Airborne(p.force, x, v))
            return T, scale(1.0 / p.mass, f)

        return both

    own = torque if method.flight is None else torque._replace(kicks=IN_FLIGHT)
    both, near = together(torque.at, matrix), together(torque.near, attitude)
    return Actions._make((*own, force, both, near))


def check_flight(method: Method, torque: Torque, by_tolerance: bool = False) -> None:
    """Beside Newmark's translation a torque that looks at the position is given the one at the end
    of the step: refuse methods that ask in between."""
    able = by_tolerance or method.flight is not None or (method.order, method.torques) == (2, 1)
    if torque.uses_position and not able:
        raise InputError(
            f"torque {torque.name!r} depends on the position, which is known only at the ends of steps; {method.name} asks "
            "for it elsewhere.  Use a method that carries the translation in its own steps, such as LP2, EXACT-RKN4 or "
            "DOP853, or one with one torque evaluation per step, such as NMB"
        )


def check_place(force: Torque, position0: Any) -> None:
    """Refuse the origin, where a body starts that is given no position, for loads that are infinite
    there."""
    central = [term.name for term in force.terms if term.central]
    if central and position0 is None:
        raise InputError(
            f"load {central[0]!r} has its centre at the origin, and that is where the body would start; give position0"
        )


@lru_cache(256)
def flying(
    method: Method,
    velocity: Callable[..., Any],
    residual: Callable[..., Any],
    calls: Callable[..., Any],
) -> Method:
    """The method with translation carried along; the three functions read the method's own
    state."""
    if method.flight is not None:
        return method.flight(method)
    base_start, base_step = method.start, method.step

    class FlyingState(NamedTuple):
        q: Quaternion
        Om: Vector
        base: method.state  # type: ignore[name-defined]
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

    control: Any = method.control
    control = None if control is None else control._replace(flight=True)
    return variant(method, step=step, start=start, state=FlyingState, control=control)
