"""Methods with one torque evaluation per step, at its end, for systems of bodies.

    x_i' = x_i + h v_i + h^2/2 a_i                    for every body: velocity Verlet, which is the
    the rotation of body i, which asks for T_i'       explicit Newmark method for translation
    a_i', T_i' of all bodies at x', R'                one evaluation of the interaction
    v_i' = v_i + h/2 (a_i + a_i')

The step of a body asks for the torque at an attitude that does not depend on the answer.  So each body
takes its step twice: first only to say where it asks, then, when the interaction has been evaluated
with all bodies in their places, with the torque.  The methods stay as they are, and so do their bits.
Velocities that the interaction may depend on are those predicted, v + h a and the method's own.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, get_type_hints

from polhode.core.jit import apart, jit
from polhode.core.kicks import FlyingState, larger
from polhode.core.layout import layout
from polhode.core.loops.fixed import no_residual, residual_of_state
from polhode.core.systems import (
    LIGHTNESS,
    NOTHING,
    Asked,
    SystemState,
    body_at,
    load_motion,
    put,
    vector,
)
from polhode.core.vec import add, axpy, scale
from polhode.methods._method import Method, variant
from polhode.methods._states import velocity_of


def row_with(momentum: str, **more: Any) -> Any:
    """The state of one body: that of `FlyingState` with a velocity or momentum under another name,
    and further fields."""
    fields = {
        momentum if name == "Pi" else name: kind
        for name, kind in get_type_hints(FlyingState).items()
    }
    return NamedTuple("Row", [*fields.items(), *more.items()])  # type: ignore[misc]


def with_newmark(method: Method, bodies: Any) -> Method:
    """`Method.system` of a method with one torque evaluation, at the end of the step."""
    return variant(method, **beside_newmark(method.state, method.start, method.step))


@cache
def beside_newmark(state: Any, base_start: Callable, base_step: Callable) -> dict[str, Any]:
    """State, start and step for a system, from those for one body."""
    row = row_with("Om", base=state)
    load, store = layout(row, rows=True).unpack, layout(row, rows=True).pack
    velocity = velocity_of(state)
    residual = residual_of_state if "residual" in get_type_hints(state) else no_residual

    @jit
    def keep(base, x, v, a, body, z, i):
        Om = velocity(base, body_at(body, i))
        store(row(base.q, Om, NOTHING, residual(base), 0.0, x, v, a, base), z, i)

    @apart
    def start(h, t, motions, z, body, torque, p):
        places = p.places
        for i in range(len(z)):
            m = load_motion(motions, i)
            torque.place(m.attitude, m.omega, m.position, m.velocity, body, i, places)
        torque.evaluate(t, p)
        for i in range(len(z)):
            m = load_motion(motions, i)
            one = Asked(places, body, i)
            base = base_start(h, t, m.attitude, m.omega, body_at(body, i), torque.telling, one)
            a = scale(body[i, LIGHTNESS], vector(places.F, i))
            keep(base, m.position, m.velocity, a, body, z, i)

    @apart
    def ask(h, t, z, body, torque, places):
        for i in range(len(z)):
            s = load(z, i)
            put(places.x, i, axpy(h, axpy(0.5 * h, s.a, s.v), s.x))
            put(places.v, i, axpy(h, s.a, s.v))
            base_step(h, t, s.base, body_at(body, i), torque.asking, Asked(places, body, i))

    @apart
    def finish(h, t, z, body, torque, places):
        worst = 0.0
        for i in range(len(z)):
            s = load(z, i)
            one = Asked(places, body, i)
            base = base_step(h, t, s.base, body_at(body, i), torque.telling, one)
            a = scale(body[i, LIGHTNESS], vector(places.F, i))
            v = axpy(0.5 * h, add(s.a, a), s.v)
            keep(base, vector(places.x, i), v, a, body, z, i)
            worst = larger(worst, residual(base))
        return worst

    @jit
    def step(h, t, s, body, torque, p):
        ask(h, t, s.z, body, torque, p.places)
        torque.evaluate(t + h, p)
        return SystemState(finish(h, t, s.z, body, torque, p.places), s.z, 0.0)

    return {"state": SystemState, "row": row, "start": start, "step": step}
