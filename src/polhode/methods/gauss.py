"""Gauss collocation of order 16 (GAUSS16), with the eight stages in the lanes of a processor.  Kuntzmann 1961
and Butcher 1964; Hairer, Lubich & Wanner 2006, II.1.

    Q_i = e_i P_i,  P_i = q + h sum a_ij e_j^-1 (Q_j Om_j - W Q_j) / 2,  Om_j = I^-1 R(Q_j)^T pi_j
    pi_i = pi + h sum a_ij t_j,       t_j = R(Q_j) T(t + c_j h, Q_j, Om_j)
    V_i = v + h sum a_ij A_j,         X_i = x + h sum a_ij V_j           in flight

and with b_j in place of a_ij at the end of the step.  R(Q) is the rotation of Q / |Q|, momenta are those
in space, and e_i = exp(c_i h W) is a steady rotation with W, the mean of the angular velocities in space.
So a sphere, and a body that spins about one axis, is followed exactly, and what is near to that with
large steps.  |q| and the angular momentum of any number of bodies are quadratic in what is collocated,
and the scheme keeps them.

The equations are solved by iteration, newest values first: loads, then momenta and velocities, then
positions and attitudes, and attitudes again if that pays.  The second iteration chooses W.  A step can
turn a free body by ten radians.  In a system each body has its own stages, and one evaluation of the
interaction serves eight stages at once: on a processor with vectors of 512 bits it takes little more
time than a single one.

The stages of a body are in `_gauss_stages.py`, those of a system in `_system_gauss.py`.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.newton import solver
from polhode.core.scratch import scratch
from polhode.core.vec import apply, qrotate, qrotate_t, scale, times
from polhode.methods._gauss_stages import (
    AIMED,
    B,
    BODIES,
    C,
    EACH,
    P,
    SLOPE,
    STAGES,
    V,
    X,
    aim,
    all_rates,
    clear,
    fill,
    guess_rotation,
    guess_translation,
    largest,
    move,
    place,
    put,
    rates,
    reached_rotation,
    sum_all,
    sum_momenta,
    total3,
    turn,
    unsolved,
    vector,
    worth,
)
from polhode.methods._method import variant
from polhode.methods._registry import method
from polhode.methods._system_gauss import in_system

# --- a step ---------------------------------------------------------------------------------------


class GaussState(NamedTuple):
    q: Quaternion
    pi: Vector  # spatial momentum
    T: Vector  # body torque
    residual: float  # the change in the last iteration
    calls: float  # torque evaluations


class FlyingGaussState(NamedTuple):
    """The same in flight."""

    q: Quaternion
    pi: Vector
    T: Vector
    residual: float
    calls: float
    x: Vector
    v: Vector
    a: Vector


@jit
def spatial(q, Om, body):
    return qrotate(q, times(body.I, Om))


@jit
def start(h, t, q, Om, body, torque, p):
    return GaussState(q, spatial(q, Om, body), torque.at(t, q, Om, p), 0.0, 0.0)


@jit
def start_flight(h, t, q, Om, x, v, body, load, p):
    T, a = load.both(t, q, Om, x, v, p)
    return FlyingGaussState(q, spatial(q, Om, body), T, 0.0, 0.0, x, v, a)


@jit
def put_torque(w, at, c, R, T):
    put(w, at + P + SLOPE, scale(c, apply(R, T)))


@jit
def loads(w, h, t, body, torque, p):
    """The torque at all stages."""
    for i in range(STAGES):
        R, q, Pi = place(w, BODIES + i)
        T = torque.at(t + h * w[C + i], q, times(body.Iinv, Pi), p)
        put_torque(w, BODIES + i, h * w[B + i], R, T)


@jit
def loads_in_flight(w, h, t, body, load, p):
    """Torque and acceleration at all stages."""
    for i in range(STAGES):
        R, q, Pi = place(w, BODIES + i)
        x, v = vector(w, BODIES + X + i), vector(w, BODIES + V + i)
        T, a = load.both(t + h * w[C + i], q, times(body.Iinv, Pi), x, v, p)
        c = h * w[B + i]
        put_torque(w, BODIES + i, c, R, T)
        put(w, BODIES + V + SLOPE + i, scale(c, a))


@jit
def again(w, h, s, body):
    """The attitudes once more: their change."""
    clear(w)
    rates(w, BODIES, h, body)
    turn(w, BODIES, s)
    return largest(w)


@solver
@jit
def solved(w, h, t, s, body, torque, p):
    """The stages, solved for: (the change in the last iteration, how many there were)."""
    change, before, second, count = 1.0, 2.0, 0.0, 0
    while unsolved(change, before, count):
        loads(w, h, t, body, torque, p)
        clear(w)
        sum_momenta(w, BODIES, s)
        if count == AIMED:
            aim(w, BODIES, h, body)
        rates(w, BODIES, h, body)
        turn(w, BODIES, s)
        change, before = largest(w), change
        second = again(w, h, s, body) if worth(change, second, count) else 0.0
        count += 1
    return change, count


@solver
@jit
def solved_in_flight(w, h, t, s, body, load, p):
    change, before, second, count = 1.0, 2.0, 0.0, 0
    while unsolved(change, before, count):
        loads_in_flight(w, h, t, body, load, p)
        clear(w)
        sum_all(w, BODIES, s)
        if count == AIMED:
            aim(w, BODIES, h, body)
        all_rates(w, BODIES, h, body)
        move(w, BODIES, h, s)
        change, before = largest(w), change
        second = again(w, h, s, body) if worth(change, second, count) else 0.0
        count += 1
    return change, count


@jit
def step_in_flight(h, t, s, body, load, p):
    w = scratch(BODIES + EACH)
    fill(w)
    guess_rotation(w, BODIES, h, s, body)
    guess_translation(w, BODIES, h, s)
    change, count = solved_in_flight(w, h, t, s, body, load, p)
    q, pi = reached_rotation(w, BODIES, h, s)
    x, v = total3(w, BODIES + X, s.x), total3(w, BODIES + V, s.v)
    T, a = load.both(t + h, q, times(body.Iinv, qrotate_t(q, pi)), x, v, p)
    return FlyingGaussState(q, pi, T, change, STAGES * count + 1.0, x, v, a)


def in_flight(entry):
    return variant(entry, step=step_in_flight, start=start_flight, state=FlyingGaussState)


@method(
    "GAUSS16",
    state=GaussState,
    start=start,
    order=16,
    torques=None,
    solves=1,
    symmetric=True,
    symplectic=False,
    conserves=("momentum",),
    family="runge-kutta",
    synonyms=("GL16", "IRKGL16", "Gauss-Legendre", "collocation"),
    cite="butcher1964implicit",
    builds_on=("antonana2017reducing",),
    limit="about 10 rad in a step, less where loads are strong",
    best_for="a few interacting bodies to many digits",
    arrays=True,
    flight=in_flight,
    system=in_system,
    summary="Gauss collocation with eight stages; evaluates them together in the lanes of a processor",
)
@jit
def step(h, t, s, body, torque, p):
    w = scratch(BODIES + EACH)
    fill(w)
    guess_rotation(w, BODIES, h, s, body)
    change, count = solved(w, h, t, s, body, torque, p)
    q, pi = reached_rotation(w, BODIES, h, s)
    T = torque.at(t + h, q, times(body.Iinv, qrotate_t(q, pi)), p)
    return GaussState(q, pi, T, change, STAGES * count + 1.0)
