"""Systems of bodies: the moves of all bodies, made of those of one, and the interactions between them.

Each body has a row of an array with the state that it has alone (`FlyingState`).  A move of the system
is the move of one body for every row:

    kick    Pi_i' = Pi_i + c T_i,  v_i' = v_i + c a_i
    drift   (q_i', Pi_i') by a free motion,  x_i' = x_i + c v_i
    pull    T, a = those of the interaction at the present places of all bodies

A method made of these moves (`polhode.core.kicks`) runs unchanged.  The array is written in place, and
the state is the same array: a method never looks back at a state that it has moved.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.core.jit import apart, jit
from polhode.core.kicks import IN_FLIGHT, FlyingState, Kicks, larger
from polhode.core.layout import layout
from polhode.core.loops.fixed import Body
from polhode.core.loops.adaptive_motion import acceleration, spin
from polhode.core.motions import FLIGHT, Flight
from polhode.core.vec import attitude, apply, apply_t, axpy, matmul, matrix, scale, times

NOTHING = (0.0, 0.0, 0.0)
INERTIA, INVERSE, LIGHTNESS, AXES, NUMBERS = 0, 3, 6, 7, 16  # where they are in the row of a body


class SystemState(NamedTuple):
    """The state of all bodies."""

    residual: float
    z: Any  # (n, numbers of a state)
    calls: float  # evaluations of the interaction in the last step, where they are counted


class Places(NamedTuple):
    """What an interaction sees of all bodies, and what it gives, in space and in the user's axes."""

    x: Any  # (n, 3)
    R: Any  # (n, 3, 3)
    v: Any  # (n, 3), and
    omega: Any  # (n, 3) in the body: written if an interaction depends on velocities
    F: Any  # (n, 3): forces
    N: Any  # (n, 3): torques about the centres of mass


class Term(NamedTuple):
    """The numbers of one interaction."""

    values: Any  # (1, k): its parameters
    each: Any  # (n, m): what each body has
    seen: Any  # (n, l): the aspects, written at each evaluation
    links: Any  # (m, 2): the pairs that act, of an interaction between listed bodies
    own: Any  # (m, k): what each link has
    address: Any  # (1,): of a function that is called back
    near: Any = ()  # the list of neighbours, of an interaction with a cut-off


class Acting(NamedTuple):
    """What a step hands on as parameters."""

    places: Places
    terms: Any  # a Term for each interaction
    work: Any  # (k, 13 n): for stages of a Runge-Kutta method


class SystemFrames(NamedTuple):
    """An interaction as methods see it."""

    kicks: Kicks
    interact: Callable[..., Any]  # (t, ahead, z, body, p): writes torques and accelerations into z
    slopes: Callable[..., Any]  # (t, y, f, body, p): writes the slopes f of all motions y
    asking: "OneOfAll"  # the torque of a method for one body: notes where it is asked for
    telling: "OneOfAll"  # the same: the torque that was found there
    evaluate: Callable[..., Any]  # (t, p): forces and torques at the places in p
    place: Callable[..., Any]  # (q, Om, x, v, body, i, places): puts a body there
    torque_on: Callable[..., Any]  # (body, i, places): the torque on a body, in principal axes
    potential: Any = None  # (t, p): the potential energy at the places in p
    show: Any = None  # (ahead, z, body, places): puts bodies in their places; `interact` begins so
    feel: Any = None  # (z, body, places): takes torques and accelerations from there; its end


class OneOfAll(NamedTuple):
    """What acts on one body of a system, as a method for one body asks for it; p is an `Asked`."""

    body: Callable[..., Any]
    spatial: Callable[..., Any]
    at: Callable[..., Any]


class Asked(NamedTuple):
    """Which body it is that asks."""

    places: Places
    bodies: Any
    i: Any


# --- rows -----------------------------------------------------------------------------------------


@jit
def vector(a, i):
    return (a[i, 0], a[i, 1], a[i, 2])


@jit
def put(a, i, x):
    a[i, 0], a[i, 1], a[i, 2] = x


@jit
def add_to(a, i, x):
    a[i, 0] += x[0]
    a[i, 1] += x[1]
    a[i, 2] += x[2]


@jit
def take_from(a, i, x):
    a[i, 0] -= x[0]
    a[i, 1] -= x[1]
    a[i, 2] -= x[2]


@jit
def rows_of(R, i):
    """A matrix as nested tuples."""
    return (
        (R[i, 0, 0], R[i, 0, 1], R[i, 0, 2]),
        (R[i, 1, 0], R[i, 1, 1], R[i, 1, 2]),
        (R[i, 2, 0], R[i, 2, 1], R[i, 2, 2]),
    )


@jit
def put_rows(R, i, M):
    R[i, 0, 0], R[i, 0, 1], R[i, 0, 2] = M[0]
    R[i, 1, 0], R[i, 1, 1], R[i, 1, 2] = M[1]
    R[i, 2, 0], R[i, 2, 1], R[i, 2, 2] = M[2]


@jit
def body_at(body, i):
    """The moments of a body and their reciprocals."""
    return Body(vector(body, i), (body[i, 3], body[i, 4], body[i, 5]))


@jit
def axes_at(body, i):
    """The principal axes of a body in the user's axes, as columns."""
    return (
        (body[i, 7], body[i, 8], body[i, 9]),
        (body[i, 10], body[i, 11], body[i, 12]),
        (body[i, 13], body[i, 14], body[i, 15]),
    )


@jit
def as_they_are(R, body, i):
    """The attitude where the user's axes are the principal ones."""
    return R


@jit
def in_users_axes(R, body, i):
    """R Q^T, from the attitude R of the principal axes Q."""
    Q = axes_at(body, i)
    return matmul(
        R, ((Q[0][0], Q[1][0], Q[2][0]), (Q[0][1], Q[1][1], Q[2][1]), (Q[0][2], Q[1][2], Q[2][2]))
    )


@jit
def unturned(Om, body, i):
    return Om


@jit
def turned(Om, body, i):
    """A vector of the body in the user's axes."""
    return apply(axes_at(body, i), Om)


@jit
def turned_back(T, body, i):
    """A vector of the body in principal axes."""
    return apply_t(axes_at(body, i), T)


# --- moves ----------------------------------------------------------------------------------------

STATE = layout(FlyingState, rows=True)
RESIDUAL = 10  # where it is in the row of a state
load, store = STATE.unpack, STATE.pack
MOTION = FLIGHT.names()
load_motion, store_motion = MOTION["load_motion"], MOTION["store_motion"]


@apart
def kick(c, s):
    z = s.z
    for i in range(len(z)):
        store(IN_FLIGHT.kick(c, load(z, i)), z, i)
    return s


@apart
def drift(move, steps, length, s, body):
    z, worst = s.z, s.residual
    for i in range(len(z)):
        new = IN_FLIGHT.drift(move, steps, length, load(z, i), body_at(body, i))
        store(new, z, i)
        worst = larger(worst, new.residual)
    return SystemState(worst, z, s.calls)


@jit
def pull(t, ahead, s, body, torque, p):
    torque.interact(t, ahead, s.z, body, p)
    return s


@apart
def fresh(s):
    z = s.z
    for i in range(len(z)):
        store(IN_FLIGHT.fresh(load(z, i)), z, i)
    return SystemState(0.0, z, 0.0)


@apart
def unit(s):
    z = s.z
    for i in range(len(z)):
        store(IN_FLIGHT.unit(load(z, i)), z, i)
    return s


MOVES = Kicks(kick, drift, pull, fresh, unit)


@apart
def launched(h, t, motions, z, body, torque, p):
    """The states of all bodies, from their motions."""
    for i in range(len(z)):
        m = load_motion(motions, i)
        Pi = times(body_at(body, i).I, m.omega)
        one = FlyingState(m.attitude, Pi, NOTHING, 0.0, 0.0, m.position, m.velocity, NOTHING)
        store(one, z, i)
    torque.interact(t, 0.0, z, body, p)


# --- one body of all, for methods that ask for the torque themselves ------------------------------


@jit
def spatial_torque(t, R, Om, p):
    return vector(p.places.N, p.i)


@jit
def body_torque(t, R, Om, p):
    return apply_t(R, vector(p.places.N, p.i))


@jit
def torque_at(t, q, Om, p):
    return body_torque(t, matrix(q), Om, p)


TELLING = OneOfAll(body_torque, spatial_torque, torque_at)


def interacting(act, axes, feels):
    """`SystemFrames` from `act(t, p)`, which adds forces and torques.  `axes`: some of the bodies
    have axes that are not principal; `feels`: the interaction depends on velocities, and gets those
    `ahead` of the present ones."""
    oriented, turn, back = (
        (in_users_axes, turned, turned_back) if axes else (as_they_are, unturned, unturned)
    )

    @jit
    def motion(ahead, s, body, i, places):
        Om = times(body_at(body, i).Iinv, axpy(ahead, s.T, s.Pi))
        put(places.v, i, axpy(ahead, s.a, s.v))
        put(places.omega, i, turn(Om, body, i))

    @jit
    def no_motion(ahead, s, body, i, places):
        pass

    look = motion if feels else no_motion

    @apart
    def show(ahead, z, body, places):
        for i in range(len(z)):
            s = load(z, i)
            put(places.x, i, s.x)
            put_rows(places.R, i, oriented(matrix(s.q), body, i))
            look(ahead, s, body, i, places)
            put(places.F, i, NOTHING)
            put(places.N, i, NOTHING)

    @apart
    def feel(z, body, places):
        for i in range(len(z)):
            s = load(z, i)
            T = apply_t(matrix(s.q), vector(places.N, i))
            a = scale(body[i, LIGHTNESS], vector(places.F, i))
            store(FlyingState(s.q, s.Pi, T, s.residual, s.excess, s.x, s.v, a), z, i)

    @apart
    def interact(t, ahead, z, body, p):
        show(ahead, z, body, p.places)
        act(t, p)
        feel(z, body, p.places)

    @apart
    def evaluate(t, p):
        places = p.places
        for i in range(len(places.x)):
            put(places.F, i, NOTHING)
            put(places.N, i, NOTHING)
        act(t, p)

    @jit
    def place(q, Om, x, v, body, i, places):
        put(places.x, i, x)
        put_rows(places.R, i, oriented(matrix(q), body, i))
        put(places.v, i, v)
        put(places.omega, i, turn(Om, body, i))

    @jit
    def torque_on(body, i, places):
        return back(apply_t(rows_of(places.R, i), vector(places.N, i)), body, i)

    @jit
    def asked(t, R, Om, p):
        put_rows(p.places.R, p.i, oriented(R, p.bodies, p.i))
        put(p.places.omega, p.i, turn(Om, p.bodies, p.i))
        return NOTHING

    @jit
    def asked_at(t, q, Om, p):
        return asked(t, matrix(q), Om, p)

    asking = OneOfAll(asked, asked, asked_at)

    @apart
    def slopes(t, y, f, body, p):
        places, motions, out = p.places, y.reshape(len(body), 13), f.reshape(len(body), 13)
        for i in range(len(body)):
            m = load_motion(motions, i)
            put(places.x, i, m.position)
            put_rows(places.R, i, oriented(attitude(m.attitude), body, i))
            put(places.v, i, m.velocity)
            put(places.omega, i, turn(m.omega, body, i))
            put(places.F, i, NOTHING)
            put(places.N, i, NOTHING)
        act(t, p)
        for i in range(len(body)):
            m = load_motion(motions, i)
            T = torque_on(body, i, places)
            a = scale(body[i, LIGHTNESS], vector(places.F, i))
            A = acceleration(T, m.omega, body_at(body, i))
            store_motion(Flight(spin(m.attitude, m.omega), A, m.velocity, a), out, i)

    return SystemFrames(
        *(MOVES, interact, slopes, asking, TELLING, evaluate, place, torque_on),
        show=show,
        feel=feel,
    )
