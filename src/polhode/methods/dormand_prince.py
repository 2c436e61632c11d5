"""The Runge-Kutta pairs of Dormand and Prince on the rotation group: DP5, order 5(4), and DOP853,
order 8(5,3).

    q' = q Om / 2,   I Om' = T(t, R, Om) - Om x I Om,   R = R(q / |q|)

A stage is a quaternion of any length; only its direction matters.  The map q -> q / |q| takes the
group of non-zero quaternions to the unit quaternions, and the equation with it.  So the torque is
evaluated at a rotation, every step ends at one, and the order is that of the tableau.  (The named
torques are extended smoothly to lengths near 1 instead, which saves a division in every stage.)
Munthe-Kaas's approach, a rotation vector u with u' = dexp_{-u}^-1 Om, needs an exponential and a
dexp^-1 in every stage and takes about twice the time for the same error.

Both have error estimates and continuous extensions, of order 4 and 7 (Hairer, Norsett & Wanner
1993, II.6 and II.10):

    y(t + s h) = y + s (F0 + (1 - s) (F1 + s (F2 + (1 - s) (F3 + ...))))
    F0 = y' - y,   F1 = h f(y) - F0,   F2 = F0 - h f(y') - F1

F3 and the following are h times sums of slopes.  `polhode.core.loops.adaptive_motion` has the equation,
`polhode.core.loops.tolerance` the loop that chooses the steps.
"""

from functools import cache
from typing import NamedTuple

from polhode.core.fma import fma
from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector, layout
from polhode.core.loops.kinds_of_numbers import numbers
from polhode.core.loops.tolerance import Pair
from polhode.core.motions import launch_flight, launch_rotation
from polhode.core.rotors import extended, rotors
from polhode.methods import _tableaux
from polhode.methods._method import Motion, start_motion, variant
from polhode.methods._registry import method
from polhode.methods._system_pairs import for_systems


class FlyingMotion(NamedTuple):
    """Attitude, body angular velocity, position and velocity."""

    q: Quaternion
    Om: Vector
    x: Vector
    v: Vector


@jit
def start_flight(h, t, q, Om, x, v, body, load, p):
    return FlyingMotion(q, Om, x, v)


# --- straight code from a tableau -----------------------------------------------------------------


def advanced(row):
    """y + h sum_j a_j k_j as source text; the newest slope comes last, so that the rest of the sum
    need not wait for it."""
    text = "y"
    for j, a in enumerate(row):
        text = f"axpy({a!r} * h, k{j}, {text})" if a else text
    return text


def combined(row):
    """sum_j a_j k_j as source text."""
    (first, a), *rest = [(j, a) for j, a in enumerate(row) if a]
    text = f"scale({a!r}, k{first})"
    for j, a in rest:
        text = f"axpy({a!r}, k{j}, {text})"
    return text


def stage_names(count):
    return "".join(f"k{i}, " for i in range(count))


def stage_lines(tableau, which):
    return [
        f"k{i} = slope(t + {tableau.c[i]!r} * h, {advanced(tableau.a[i])}, body, torque, p)"
        for i in which
    ]


def stages_of(tableau, scope):
    """`stages(h, t, y, k0, ...) -> (y', (k0, ..., k_(s-1)))`."""
    s = tableau.stages
    return generated(
        __name__,
        "stages",
        "h, t, y, k0, body, torque, p",
        stage_lines(tableau, range(1, s)),
        f"{advanced(tableau.a[s])}, ({stage_names(s)})",
        **scope,
    )


def extension_of(tableau, scope):
    """`extension(h, t, y, y', slopes, ...) -> (F0, F1, ...)`; slopes have that of y' for their
    last."""
    s = tableau.stages
    lines = [
        f"{stage_names(s + 1)} = k",
        *stage_lines(tableau, range(s + 1, len(tableau.a))),
        "F0 = sub(end, y)",
        "F1 = sub(scale(h, k0), F0)",
        f"F2 = sub(F0, axpy(h, k{s}, F1))",
    ]
    higher = "".join(f"scale(h, {combined(row)}), " for row in tableau.extension)
    return generated(
        __name__,
        "extension",
        "h, t, y, end, k, body, torque, p",
        lines,
        f"(F0, F1, F2, {higher})",
        **scope,
    )


def estimates_of(tableau, scope):
    """`estimates(slopes)`: one estimate of the error, over h, for each row of the table."""
    lines = [f"{stage_names(tableau.stages + 1)} = k"]
    return generated(
        __name__,
        "estimates",
        "k",
        lines,
        "(" + "".join(f"{combined(row)}, " for row in tableau.errors) + ")",
        **scope,
    )


def pair(tableau, error, order, kind):
    """The functions of a tableau for the loop of `polhode.core.loops.tolerance`, for a kind of
    motion given as `Numbers`."""
    scope = {name: kind.functions[name] for name in ("axpy", "scale", "sub", "slope")}
    extra = len(tableau.a) - tableau.stages - 1
    return Pair(
        stages_of(tableau, scope),
        error(estimates_of(tableau, scope), kind.functions["spread"]),
        extension_of(tableau, scope),
        1.0 / order,
        0.04,
        (tableau.stages, extra),
        3 + len(tableau.extension),
        kind,
    )


# --- the methods ----------------------------------------------------------------------------------


def dp5_error(estimates, spread):
    """The difference of the solutions of order 5 and 4."""

    @jit
    def error(h, slopes, weights):
        (e,) = estimates(slopes)
        return h * h * spread(e, weights)

    return error


def dop853_error(estimates, spread):
    """Estimates of order 5 and 3 combined so that the result goes as h^8: Hairer, Norsett & Wanner
    1993, (II.10.17)."""

    @jit
    def error(h, slopes, weights):
        fifth, third = estimates(slopes)
        e, coarse = spread(fifth, weights), spread(third, weights)
        both = fma(0.01, coarse, e)
        return h * h * e * (e / both) if both > 0.0 else both

    return error


def step_of(control, state):
    """The fixed step of a pair, for a state whose fields are the parts of a motion."""
    slope, projected = control.numbers.functions["slope"], control.numbers.functions["projected"]
    rows, stages = layout(state, flat=True), control.stages
    listed = ", ".join(f"*s.{name}" for name in state._fields)
    flat = generated(__name__, "flat", "s", (), f"({listed})")
    unpack = rows.unpack

    @jit
    def step(h, t, s, body, torque, p):
        y = flat(s)
        end, _ = stages(h, t, y, slope(t, y, body, torque, p), body, torque, p)
        return unpack(projected(end), 0)

    return step


def for_flight(*tableau):
    """`Method.flight` of a tableau: a body that flies."""

    @cache
    def made():
        control = pair(*tableau, numbers(flying=True))
        return {"step": step_of(control, FlyingMotion), "control": control}

    return lambda entry: variant(entry, start=start_flight, state=FlyingMotion, **made())


def for_rotors(*tableau):
    """`Method.rotors` of a tableau: a body with n rotors, whose state has their momenta."""

    @cache
    def made(base, n):
        flying = base is FlyingMotion
        launch, begin = (launch_flight, start_flight) if flying else (launch_rotation, start_motion)
        control, state, of = pair(*tableau, numbers(flying, n)), extended(base, n), rotors(n)
        step_by_speeds = step_of(control, state)
        fields = ", ".join(f"s.{name}" for name in base._fields)
        geared = generated(__name__, "geared", "s, l", (), f"make({fields}, l)", make=state)

        @jit
        def start(h, t, motion, body, torque, p):
            s = launch(begin, h, t, motion, body, torque, p)
            return geared(s, of.momenta(of.spins(motion), s.Om, body))

        @jit
        def step(h, t, s, body, torque, p):
            s = geared(s, of.speeds(s.rotors, s.Om, body))
            s = step_by_speeds(h, t, s, body, torque, p)
            return geared(s, of.momenta(s.rotors, s.Om, body))

        return {"step": step, "start": start, "state": state, "control": control}

    return lambda entry, n: variant(entry, **made(entry.state, n))


DP5 = _tableaux.DP5, dp5_error, 5
DOP853 = _tableaux.DOP853, dop853_error, 8
DP5_PAIR, DOP853_PAIR = pair(*DP5, numbers()), pair(*DOP853, numbers())

method(
    "DP5",
    order=5,
    torques=6,
    symmetric=False,
    symplectic=False,
    family="runge-kutta",
    cite="dormand1980family",
    synonyms=("RK45", "dopri5", "ode45", "RKF45", "Tsit5"),
    control=DP5_PAIR,
    flight=for_flight(*DP5),
    rotors=for_rotors(*DP5),
    system=for_systems(*DP5),
    summary="Dormand-Prince 5(4); chooses its steps if a tolerance is given",
)(step_of(DP5_PAIR, Motion))
method(
    "DOP853",
    order=8,
    torques=12,
    symmetric=False,
    symplectic=False,
    family="runge-kutta",
    cite="hairer1993solving",
    best_for="a tolerance (the default with rtol), torques that depend on the angular velocity, errors down to 1e-12",
    synonyms=("dopri8", "ode89", "Vern8", "Radau", "LSODA", "BDF", "odeint"),
    control=DOP853_PAIR,
    flight=for_flight(*DOP853),
    rotors=for_rotors(*DOP853),
    system=for_systems(*DOP853),
    summary="Dormand-Prince 8(5,3); chooses its steps if a tolerance is given",
)(step_of(DOP853_PAIR, Motion))
