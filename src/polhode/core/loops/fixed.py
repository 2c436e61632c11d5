"""The time loops.  `bind` compiles them around one method's step and one torque; the names set to
None here are theirs.

State and parameters arrive as arrays (component, lane) and live in registers as tuples while a loop
runs.  The loops are called for chunks of steps, from Python: progress, interruption, checkpoints
and streaming happen between chunks.  Time is t0 + k h with the number k of the step, so that chunks
leave no trace in the results.
"""

from typing import NamedTuple

from polhode.core.constant import Constant
from polhode.core.jit import jit
from polhode.core.layout import Vector
from polhode.core.newton import ROUND_OFF
from polhode.core.vec import matrix, qrotate_t, times

DONE, DIVERGED, UNSOLVED = 0, 1, 2
# radians per step; beyond it a number no longer says which way the body points
LARGEST_ANGLE = Constant(1e8, single=2.0**18)

# bound per method:   step, start, clock, load_state, store_state, velocity, residual, calls
# bound per motion:   launch, observe, flaw, load_motion, store_motion; see `polhode.core.motions`
# bound per torque:   torque, load_parameters, potential, derivative and load_rates
step = start = clock = load_state = store_state = velocity = residual = calls = None
launch = observe = flaw = load_motion = store_motion = None
torque = load_parameters = potential = derivative = load_rates = None


class Body(NamedTuple):
    """The body as kernels see it: principal moments of inertia and their reciprocals."""

    I: Vector
    Iinv: Vector


@jit
def load_body(moments, k):
    I = (moments[0, k], moments[1, k], moments[2, k])
    return Body(I, (1.0 / I[0], 1.0 / I[1], 1.0 / I[2]))


# --- reading a state: every method's state has q, and one of Om, om, Pi, pi -----------------------


@jit
def velocity_from_Om(s, body):
    return s.Om


@jit
def velocity_from_om(s, body):
    return qrotate_t(s.q, s.om)


@jit
def velocity_from_Pi(s, body):
    return times(body.Iinv, s.Pi)


@jit
def velocity_from_pi(s, body):
    return times(body.Iinv, qrotate_t(s.q, s.pi))


@jit
def residual_of_state(s):
    return s.residual


@jit
def no_residual(s):
    return 0.0


@jit
def calls_of_state(s):
    return s.calls


@jit
def no_calls(s):
    return 0.0


# --- the grid of times ----------------------------------------------------------------------------


@jit
def even_clock(grid, k):
    """(t, h) of step k on a grid given as (t0, h)."""
    return grid[0] + k * grid[1], grid[1]


@jit
def listed_clock(grid, k):
    """(t, h) of step k on a grid given time by time."""
    return grid[k], grid[k + 1] - grid[k]


# --- the loops ------------------------------------------------------------------------------------


def begin(h, t, motion, z, moments, parameters):
    """The method's own state, in lane 0 of z, from a motion in a row of its own."""
    body = load_body(moments, 0)
    p = load_parameters(parameters, 0)
    store_state(launch(start, h, t, load_motion(motion, 0), body, torque, p), z, 0)


def march(count, every, k, grid, z, moments, parameters, points, residuals):
    """Take `count` groups of `every` steps from step k on; after each, store the motion and the
    largest residual.

    Lane 0 of z holds the state; when a step fails it keeps the last good one and lane 1 takes the
    failed one.  Returns (why it ended, the number of the next step, torque evaluations counted by
    the state).
    """
    body = load_body(moments, 0)
    p = load_parameters(parameters, 0)
    s = load_state(z, 0)
    evaluations = 0.0
    for j in range(count):
        worst = 0.0
        for _ in range(every):
            t, h = clock(grid, k)
            new = step(h, t, s, body, torque, p)
            evaluations += calls(new)
            Om = velocity(new, body)
            angle = abs(h) * (abs(Om[0]) + abs(Om[1]) + abs(Om[2])) + flaw(new)
            r = residual(new)
            if not (angle < LARGEST_ANGLE and r <= ROUND_OFF):
                store_state(s, z, 0)
                store_state(new, z, 1)
                return (UNSOLVED if r > ROUND_OFF else DIVERGED), k, evaluations
            worst = max(worst, r)
            s = new
            k += 1
        store_motion(observe(s, velocity(s, body)), points, j)
        residuals[j] = worst
    store_state(s, z, 0)
    return DONE, k, evaluations


def torque_along(t, attitudes, velocities, parameters, out):
    """The body-frame torque at each of the given times, attitudes and body angular velocities."""
    p = load_parameters(parameters, 0)
    for j in range(len(t)):
        q = (attitudes[j, 0], attitudes[j, 1], attitudes[j, 2], attitudes[j, 3])
        T = torque.body(t[j], matrix(q), (velocities[j, 0], velocities[j, 1], velocities[j, 2]), p)
        for i in range(3):
            out[j, i] = T[i]


def derivative_along(t, attitudes, rates, parameters, out):
    """A time derivative of the torque; `rates` holds the angular velocity and its derivatives in
    the columns of an array."""
    p = load_parameters(parameters, 0)
    for j in range(len(t)):
        q = (attitudes[j, 0], attitudes[j, 1], attitudes[j, 2], attitudes[j, 3])
        T = derivative(t[j], matrix(q), load_rates(rates, j), p)
        for i in range(3):
            out[j, i] = T[i]


def potential_along(t, attitudes, parameters, out):
    """The potential energy at each of the given times and attitudes."""
    p = load_parameters(parameters, 0)
    for j in range(len(t)):
        q = (attitudes[j, 0], attitudes[j, 1], attitudes[j, 2], attitudes[j, 3])
        out[j] = potential(t[j], matrix(q), p)
