"""The time loops of one body.  `bind` compiles them with the step of a method and a torque, under the
names that are None here.

State and parameters are arrays (component, lane), and tuples in registers while a loop runs.  Python
calls the loops for chunks of steps; progress, interrupts, checkpoints and output to disk come between
chunks.  Time is t0 + k h with the number k of the step, so that the results do not depend on the
chunks.
"""

import math
from typing import NamedTuple

from polhode.core.constant import Constant
from polhode.core.jit import jit
from polhode.core.layout import Vector
from polhode.core.motions import Airborne
from polhode.core.newton import ROUND_OFF
from polhode.core.vec import matrix, qrotate_t, times

DONE, DIVERGED, UNSOLVED, REFUSED = 0, 1, 2, 5  # 3 and 4 are those of tolerance.py
# radians per step; a larger angle has lost all digits of the attitude
LARGEST_ANGLE = Constant(1e8, single=2.0**18)

COMMENSURATE = 1e-9  # a remainder below this fraction of a step is rounding

# bound per method:   step, start, multistep, clock, load_state, store_state, velocity, residual, calls
# bound per motion:   launch, observe, flaw, load_motion, store_motion; with rotors load_body and flat_body; see
#                     `polhode.core.motions`
# bound per torque:   torque, load_parameters, potential, derivative and load_rates
step = start = multistep = clock = load_state = store_state = velocity = residual = calls = None
launch = observe = flaw = load_motion = store_motion = None
torque = load_parameters = potential = derivative = load_rates = None


class Body(NamedTuple):
    """The body as kernels see it: principal moments of inertia and their reciprocals."""

    I: Vector
    Iinv: Vector


@jit
def body_of(I):
    return Body(I, (1.0 / I[0], 1.0 / I[1], 1.0 / I[2]))


@jit
def flat_body(I, k):
    return body_of(I)


@jit
def load_body(moments, k):
    return body_of((moments[0, k], moments[1, k], moments[2, k]))


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


@jit
def even_steps(a, b, h):
    """(how many steps of h there are from a to b, whether the last of them ends at b)."""
    ratio = abs(b - a) / h
    whole = abs(ratio - round(ratio)) < COMMENSURATE * max(1.0, ratio)
    return (round(ratio) if whole else math.floor(ratio)), whole


# --- the loops ------------------------------------------------------------------------------------


@jit
def outcome(h, Om, flaw, residual):
    """How a step of h to this velocity came out: DONE, DIVERGED or UNSOLVED."""
    angle = abs(h) * (abs(Om[0]) + abs(Om[1]) + abs(Om[2])) + flaw
    if angle < LARGEST_ANGLE and residual <= ROUND_OFF:
        return DONE
    return UNSOLVED if residual > ROUND_OFF else DIVERGED


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
            r = residual(new)
            why = outcome(h, velocity(new, body), flaw(new), r)
            if why != DONE:
                store_state(s, z, 0)
                store_state(new, z, 1)
                return why, k, evaluations
            worst = max(worst, r)
            s = new
            k += 1
        store_motion(observe(s, velocity(s, body), body), points, j)
        residuals[j] = worst
    store_state(s, z, 0)
    return DONE, k, evaluations


def run(motion, t0, t1, control, most, I, parameters):
    """The motion at t1 from that at t0, in at most so many steps of one size, `control`, the last one cut to
    end at t1: (motion, why it ended).

    Nothing but numbers comes in and goes out: moments and parameters as flat tuples.  Where a step
    fails the motion is that before it.  REFUSED: the size does not go with the times, or there are
    too many steps.
    """
    (size,), length = control, abs(t1 - t0)
    fits = size <= length * (1.0 + COMMENSURATE) and length <= most * size
    if not (fits and abs(t0) + size > abs(t0) and abs(t1) + size > abs(t1)):
        return motion, REFUSED
    body = flat_body(I, 0)
    p = load_parameters(parameters, 0)
    count, whole = even_steps(t0, t1, size)
    h = math.copysign(size, t1 - t0)
    s = launch(start, h, t0, motion, body, torque, p)
    for k in range(count if whole else count + 1):
        t = t0 + k * h
        if k == count:
            h = t1 - t
            if multistep:
                s = launch(start, h, t, observe(s, velocity(s, body), body), body, torque, p)
        new = step(h, t, s, body, torque, p)
        why = outcome(h, velocity(new, body), flaw(new), residual(new))
        if why != DONE:
            return observe(s, velocity(s, body), body), why
        s = new
    return observe(s, velocity(s, body), body), DONE


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


def flight_potential_along(t, attitudes, positions, parameters, out):
    """The same in flight, also of the position."""
    inner, still = load_parameters(parameters, 0), (0.0, 0.0, 0.0)
    for j in range(len(t)):
        q = (attitudes[j, 0], attitudes[j, 1], attitudes[j, 2], attitudes[j, 3])
        x = (positions[j, 0], positions[j, 1], positions[j, 2])
        out[j] = potential(t[j], matrix(q), Airborne(inner, x, still))
