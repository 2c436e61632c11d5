"""A few bodies in registers: what `polhode.core.systems` does on the rows of an array, on a tuple of states.

The state is a `SystemState` whose z is a tuple of `FlyingState`.  The functions are generated for each
number of bodies and do everything in the same order, so that the numbers are the same.  To the loops
of `polhode.core.loops` such a system is one more kind of motion: what they are bound to is in
`Few.names`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from polhode.core.generated import generated
from polhode.core.jit import apart, jit
from polhode.core.kicks import IN_FLIGHT, FlyingState, Kicks, larger
from polhode.core.layout import layout, shape
from polhode.core.loops.fixed import Body, velocity_from_Pi
from polhode.core.motions import Flight, flaw_in_flight
from polhode.core.rotors import each
from polhode.core.systems import NOTHING, Places, SystemState
from polhode.core.vec import apply, apply_t, axpy, matmul, matrix, scale, times, transpose

MOST = 8  # bodies


class FewBodies(NamedTuple):
    """The bodies as kernels see them."""

    each: Any  # a Body for each
    lightness: Any  # the reciprocals of their masses, 0 where a body is fixed
    axes: Any  # the principal axes in the user's, as columns; () where they are the same


class FewFrames(NamedTuple):
    """An interaction as methods see it."""

    kicks: Kicks
    begin: Callable[..., Any]  # (t, motion, body, p) -> the first state
    interact: Callable[..., Any]  # (t, ahead, z, body, p) -> z with other torques and accelerations


class Few(NamedTuple):
    """What a number of bodies needs."""

    kicks: Kicks
    state: Any  # the shape of the state
    look: Callable[..., Any]  # motion in the user's axes -> what an interaction sees of it
    names: dict[str, Any]  # what loops are bound to


@jit
def start_system(h, t, motion, body, torque, p):
    """The first state of a system, for methods made of moves alone."""
    return torque.begin(t, motion, body, p)


@jit
def launch(start, h, t, motion, body, torque, p):
    return start(h, t, motion, body, torque, p)


@jit
def pull(t, ahead, s, body, torque, p):
    return SystemState(s.residual, acted_on_apart(torque.interact, t, ahead, s.z, body, p), s.calls)


@apart
def drifted(move, steps, length, s, body):
    """The drift of one body: a loop has it once."""
    return IN_FLIGHT.drift(move, steps, length, s, body)


@jit
def acted_on(interact, t, ahead, z, body, p):
    return interact(t, ahead, z, body, p)


@apart
def acted_on_apart(interact, t, ahead, z, body, p):
    """The interaction: a loop has it once."""
    return interact(t, ahead, z, body, p)


# where a loop over lanes has to have everything in one function
IN_PLACE = ((drifted, IN_FLIGHT.drift), (acted_on_apart, acted_on))


@jit
def size_of(Om):
    return abs(Om[0]), abs(Om[1]), abs(Om[2])


@jit
def at_rest(m, body):
    """The state of one body before any load is known."""
    Pi = times(body.I, m.omega)
    return FlyingState(m.attitude, Pi, NOTHING, 0.0, 0.0, m.position, m.velocity, NOTHING)


@jit
def loaded(s, lightness, F, N):
    """A state with the torque and the acceleration of a force F and a torque N in space."""
    T, a = apply_t(matrix(s.q), N), scale(lightness, F)
    return FlyingState(s.q, s.Pi, T, s.residual, s.excess, s.x, s.v, a)


@jit
def velocity_ahead(ahead, s):
    return axpy(ahead, s.a, s.v)


@jit
def rate_ahead(ahead, s, body):
    return times(body.Iinv, axpy(ahead, s.T, s.Pi))


@lru_cache(2 * MOST)
def few(
    n: int, row: Any = FlyingState, velocity_of_one: Callable[..., Any] = velocity_from_Pi
) -> Few:
    """State, moves and names for n bodies, each of which has such a row for its state."""

    @jit
    def seen_motion(s, body):
        return Flight(s.q, velocity_of_one(s, body), s.x, s.v)

    def made(name, arguments, lines, result, **scope):
        return generated(__name__, name, arguments, lines, result, State=SystemState, **scope)

    def of_each(name, arguments, given, residual="s.residual"):
        """A move of each body by itself."""
        text = f"State({residual}, {each(f'move({given})', n)}, s.calls)"
        return made(name, arguments, (), text, move=getattr(IN_FLIGHT, name))

    lines = ["worst = s.residual"]
    for i in range(n):
        lines += [
            f"s{i} = one(move, steps, length, s.z[{i}], body.each[{i}])",
            f"worst = larger(worst, s{i}.residual)",
        ]
    arguments, result = "move, steps, length, s, body", f"State(worst, {each('s#', n)}, s.calls)"
    kicks = Kicks(
        of_each("kick", "c, s", "c, s.z[#]"),
        made("drift", arguments, lines, result, one=drifted, larger=larger),
        pull,
        of_each("fresh", "s", "s.z[#]", "0.0"),
        of_each("unit", "s", "s.z[#]"),
    )
    # of all bodies together: too large if one of them is, NaN if one of them is
    total = [f"a{i} = size_of(velocity_of_one(s.z[{i}], body.each[{i}]))" for i in range(n)]
    sums = (" + ".join(f"a{i}[{k}]" for i in range(n)) for k in range(3))
    velocity = made(
        "velocity",
        "s, body",
        total,
        f"({', '.join(sums)})",
        size_of=size_of,
        velocity_of_one=velocity_of_one,
    )
    flaw = " + ".join(f"flaw_of(s.z[{i}])" for i in range(n))
    motions = layout((Flight,) * n, rows=True)
    state = shape_of_state(n, row)
    places = ("m[#].position", "matrix(m[#].attitude)", "m[#].velocity", "m[#].omega")
    seen = ", ".join(each(one, n) for one in places)
    return Few(
        kicks,
        state,
        made("look", "m", (), f"Places({seen}, (), ())", Places=Places, matrix=matrix),
        {
            "launch": launch,
            "velocity": velocity,
            "observe": made(
                "observe",
                "s, Om, body",
                (),
                each("seen(s.z[#], body.each[#])", n),
                seen=seen_motion,
            ),
            "flaw": made("flaw", "s", (), flaw, flaw_of=flaw_in_flight),
            "load_motion": motions.unpack,
            "store_motion": motions.pack,
        },
    )


def shape_of_state(n: int, row: Any) -> Any:
    zero, q = NOTHING, (*NOTHING, 1.0)
    one = row(q, zero, zero, 0.0, 0.0, zero, zero, zero)
    return shape(SystemState(0.0, (one,) * n, 0.0))


def shape_of_bodies(n: int, axes: bool) -> Any:
    one, matrix = Body(NOTHING, NOTHING), (NOTHING,) * 3
    return shape(FewBodies((one,) * n, (0.0,) * n, (matrix,) * n if axes else ()))


def interacting(n: int, forces: Callable[..., Any], axes: bool, feels: bool) -> FewFrames:
    """`FewFrames` from `forces(t, s, p) -> (F, N)` of what an interaction sees, `Places` of tuples, in
    space and in the user's axes.  `axes`, `feels`: as in `polhode.core.systems.interacting`."""
    turned = "matmul({}, transpose(body.axes[#]))" if axes else "{}"
    own = "apply(body.axes[#], {})" if axes else "{}"
    scope = {
        **{"matrix": matrix, "matmul": matmul, "transpose": transpose, "apply": apply},
        **{"Places": Places, "ahead_v": velocity_ahead, "ahead_Om": rate_ahead},
    }

    every = [
        "z[#].x",
        turned.format("matrix(z[#].q)"),
        "ahead_v(ahead, z[#])",
        own.format("ahead_Om(ahead, z[#], body.each[#])"),
    ]
    parts = [each(one, n) for one in (every if feels else every[:2])]
    seen = ", ".join([*parts, *["()"] * (6 - len(parts))])
    interact = generated(
        __name__,
        "interact",
        "t, ahead, z, body, p",
        [f"F, N = forces(t, Places({seen}), p)"],
        each("loaded(z[#], body.lightness[#], F[#], N[#])", n),
        forces=forces,
        loaded=loaded,
        **scope,
    )
    begin = generated(
        __name__,
        "begin",
        "t, m, body, p",
        [f"z = {each('at_rest(m[#], body.each[#])', n)}"],
        "State(0.0, acted_on(interact, t, 0.0, z, body, p), 0.0)",
        interact=interact,
        acted_on=acted_on_apart,
        at_rest=at_rest,
        State=SystemState,
    )
    return FewFrames(few(n).kicks, begin, interact)
