"""The time loop of a system of bodies; `bind` gives it the names that are None here.

The state has a row for each body, which the step writes in place (`polhode.core.systems`).  z has
three of them: the state, one that failed, and the one before a step.
"""

from polhode.core.jit import jit
from polhode.core.loops.fixed import DONE, outcome
from polhode.core.motions import Flight
from polhode.core.systems import (
    NOTHING,
    RESIDUAL,
    SystemState,
    body_at,
    load_motion,
    put,
    put_rows,
    store_motion,
)
from polhode.core.vec import matrix

STATE, FAILED, BEFORE = 0, 1, 2

# bound per method:       step, start, clock, load_state and velocity of one body
# bound per interaction:  torque, act, energy
step = start = clock = load_state = velocity = torque = act = energy = None


def begin(h, t, motions, z, body, p):
    """The states of all bodies, from their motions."""
    start(h, t, motions, z[STATE], body, torque, p)


@jit
def outcome_of_all(h, s, body, load_state, velocity):
    """How a step came out: DONE, or how it did for the first body for which it did not."""
    for i in range(len(s.z)):
        one = load_state(s.z, i)
        Om = velocity(one, body_at(body, i))
        flaw = 0.0 * (one.q[3] + one.v[0] + one.v[1] + one.v[2])
        why = outcome(h, Om, flaw, s.residual)
        if why != DONE:
            return why
    return DONE


@jit
def observed(z, body, motions, load_state, velocity):
    """The motions of all bodies, in rows of 13 numbers one after the other."""
    rows = motions.reshape(len(z), 13)
    for i in range(len(z)):
        s = load_state(z, i)
        store_motion(Flight(s.q, velocity(s, body_at(body, i)), s.x, s.v), rows, i)


def look(z, body, motions):
    """The motions of these states."""
    observed(z, body, motions, load_state, velocity)


def march(count, every, k, grid, z, body, p, points, residuals):
    """Take `count` groups of `every` steps from step k on; after each, store the motion and the
    largest residual.

    When a step fails the state is the last good one, and the failed one is kept too.  Returns (why it
    ended, the number of the next step, evaluations counted by the state).
    """
    state, before = z[STATE], z[BEFORE]
    s = SystemState(0.0, state, 0.0)
    evaluations = 0.0
    for j in range(count):
        worst = 0.0
        for _ in range(every):
            t, h = clock(grid, k)
            before[:] = state
            s = step(h, t, s, body, torque, p)
            evaluations += s.calls
            why = outcome_of_all(h, s, body, load_state, velocity)
            if why != DONE:
                z[FAILED][:] = state
                z[FAILED, :, RESIDUAL] = s.residual
                state[:] = before
                return why, k, evaluations
            worst = max(worst, s.residual)
            k += 1
        observed(state, body, points[j], load_state, velocity)
        residuals[j] = worst
    return DONE, k, evaluations


@jit
def placed(motions, places):
    """Put all bodies where their motions, in the user's axes, say; no forces yet."""
    rows = motions.reshape(len(places.x), 13)
    for i in range(len(rows)):
        m = load_motion(rows, i)
        put(places.x, i, m.position)
        put(places.v, i, m.velocity)
        put(places.omega, i, m.omega)
        put_rows(places.R, i, matrix(m.attitude))
        put(places.F, i, NOTHING)
        put(places.N, i, NOTHING)


def forces_at(t, motions, p):
    """Forces and torques in space, in the places of p."""
    placed(motions, p.places)
    act(t, p)


def energy_along(t, motions, p, out):
    """The potential energy at each of these times."""
    for j in range(len(t)):
        placed(motions[j], p.places)
        out[j] = energy(t[j], p)
