"""Motions as rows of numbers y, for the time loops that choose their own steps: the equation of
motion, the size of errors, and what computes with so many numbers.

    q' = q Om / 2,   Om' = I^-1 (T(t, R, Om) - Om x I Om),   R = R(q / |q|)
    x' = v,          v' = a(t, x, v, R, Om)                  in flight
    Pi' = T - Om x Pi,   l' = u                              with rotors: see `polhode.core.rotors`

These are seven numbers, (q, Om), thirteen in flight, and one more for each rotor, its speed relative
to the body.  The functions for seven are those that the loops see; `kinds_of_numbers` has the others.

The error of a step is an angle, measured against rtol + atol, and a velocity, measured against rtol
times the largest velocity before it + atol: a body that comes to rest for a moment does not ask for
more digits than one that turns.  In flight it is also a distance and a speed, measured in the same
way against the largest before it, and with rotors a speed of theirs, measured against the largest of
body and rotors.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from polhode.core.fma import fma
from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.lanes import axpy7
from polhode.core.newton import differences
from polhode.core.vec import normalise, qtimes, times

SLOWEST = 1e-150  # an angular velocity whose square can still be divided by
# what is where in z, and how long it is
TIME, STEP, FASTEST, BEFORE, MOTION_AT = 0, 1, 2, 3, 4


# --- motions as seven numbers ---------------------------------------------------------------------


@jit
def scale7(c, x):
    """c x."""
    return (c * x[0], c * x[1], c * x[2], c * x[3], c * x[4], c * x[5], c * x[6])


@jit
def sub7(x, y):
    """x - y."""
    return (
        x[0] - y[0],
        x[1] - y[1],
        x[2] - y[2],
        x[3] - y[3],
        x[4] - y[4],
        x[5] - y[5],
        x[6] - y[6],
    )


@jit
def projected(y):
    """The same motion with a unit quaternion."""
    a, b, c, d = normalise((y[0], y[1], y[2], y[3]))
    return (a, b, c, d, y[4], y[5], y[6])


@jit
def spin(q, Om):
    """q Om / 2."""
    return qtimes(q, (0.5 * Om[0], 0.5 * Om[1], 0.5 * Om[2]))


@jit
def acceleration(T, Om, body):
    """I^-1 (T - Om x I Om)."""
    k, g = body.Iinv, times(body.Iinv, differences(body.I))
    return (
        fma(k[0], T[0], -g[0] * (Om[1] * Om[2])),
        fma(k[1], T[1], -g[1] * (Om[2] * Om[0])),
        fma(k[2], T[2], -g[2] * (Om[0] * Om[1])),
    )


@jit
def slope(t, y, body, torque, p):
    """y'."""
    q, Om = (y[0], y[1], y[2], y[3]), (y[4], y[5], y[6])
    return (*spin(q, Om), *acceleration(torque.near(t, q, Om, p), Om, body))


@jit
def speed(y):
    return math.sqrt(y[4] * y[4] + y[5] * y[5] + y[6] * y[6])


@jit
def recorded(z):
    """The largest angular velocity so far."""
    return z[FASTEST]


@jit
def noted(fastest, z):
    z[FASTEST] = fastest


@jit
def begun(fastest, y, f, span):
    """The same at a start: at least what the torque alone would reach within a radian or so."""
    return max(fastest, max(speed(y), math.sqrt(speed(f))))


@jit
def grown(fastest, y):
    return max(fastest, speed(y))


@jit
def slope_at(y, ahead):
    """The slope at a motion whose quaternion was set to unit length, from that before."""
    a, b, c, d = spin((y[0], y[1], y[2], y[3]), (y[4], y[5], y[6]))
    return (a, b, c, d, ahead[4], ahead[5], ahead[6])


@jit
def weights(rtol, atol, fastest):
    """What squares are multiplied by: rtol + atol is allowed in angle, which is 2 |dq|, and rtol fastest + atol in velocity."""
    angle, velocity = rtol + atol, rtol * fastest + atol + SLOWEST
    return 2.0 / (angle * angle), 0.5 / (velocity * velocity)


@jit
def spread(e, weights):
    """The mean square of the two parts of an error, over what is allowed."""
    turn = fma(e[0], e[0], e[1] * e[1]) + fma(e[2], e[2], e[3] * e[3])
    return fma(weights[0], turn, weights[1] * fma(e[4], e[4], fma(e[5], e[5], e[6] * e[6])))


# --- motions in flight, as thirteen numbers -------------------------------------------------------


@jit
def projected_flight(y):
    """The same motion with a unit quaternion."""
    return (*projected(y[:7]), *y[7:])


@jit
def slope_flight(t, y, body, load, p):
    """y'."""
    q, Om = (y[0], y[1], y[2], y[3]), (y[4], y[5], y[6])
    x, v = (y[7], y[8], y[9]), (y[10], y[11], y[12])
    T, a = load.both_near(t, q, Om, x, v, p)
    return (*spin(q, Om), *acceleration(T, Om, body), *v, *a)


@jit
def norm(x, y, z):
    return math.sqrt(fma(x, x, fma(y, y, z * z)))


def extremes_flight(at):
    """What reads and keeps the largest angular velocity, distance from the origin and speed so far;
    the last two at this place of z and the next."""

    @jit
    def recorded_flight(z):
        return z[FASTEST], z[at], z[at + 1]

    @jit
    def noted_flight(record, z):
        z[FASTEST], z[at], z[at + 1] = record

    return {"recorded": recorded_flight, "noted": noted_flight}


@jit
def begun_flight(record, y, f, span):
    """The same at a start: at least what velocity and force alone would reach within the time of a
    radian."""
    fastest = begun(record[0], y, f, span)
    tau = min(1.0 / fastest, abs(span)) if fastest > 0.0 else abs(span)
    swiftest = max(record[2], max(norm(y[10], y[11], y[12]), tau * norm(f[10], f[11], f[12])))
    return fastest, max(record[1], max(norm(y[7], y[8], y[9]), tau * swiftest)), swiftest


@jit
def grown_flight(record, y):
    return (
        grown(record[0], y),
        max(record[1], norm(y[7], y[8], y[9])),
        max(record[2], norm(y[10], y[11], y[12])),
    )


@jit
def slope_at_flight(y, ahead):
    return (*slope_at(y[:7], ahead), *ahead[7:])


@jit
def weights_flight(rtol, atol, record):
    """`weights`, and likewise rtol times the largest distance or speed + atol."""
    far, swift = rtol * record[1] + atol + SLOWEST, rtol * record[2] + atol + SLOWEST
    return (*weights(rtol, atol, record[0]), 0.5 / (far * far), 0.5 / (swift * swift))


@jit
def spread_flight(e, weights):
    """The mean square errors of rotation and translation, over what is allowed."""
    far = fma(e[7], e[7], fma(e[8], e[8], e[9] * e[9]))
    swift = fma(e[10], e[10], fma(e[11], e[11], e[12] * e[12]))
    return spread(e, weights) + fma(weights[2], far, weights[3] * swift)


def first_step_by(slope, spread, axpy, sub):
    """Hairer, Norsett & Wanner 1993, section II.4: from the slope and, by a small step of Euler's,
    its own slope."""

    @jit
    def first_step(t, y, f, span, weights, exponent, body, torque, p):
        d0, d1 = math.sqrt(spread(y, weights)), math.sqrt(spread(f, weights))
        small = 0.01 * d0 / d1 if d1 > 0.0 else 0.01 * abs(span)
        small = math.copysign(min(small, abs(span)), span)
        ahead = slope(t + small, axpy(small, f, y), body, torque, p)
        d2 = math.sqrt(spread(sub(ahead, f), weights)) / abs(small)
        steepest = max(d1, d2)
        h = (0.01 / steepest) ** exponent if steepest > 0.0 else abs(span)
        return math.copysign(min(min(h, 100.0 * abs(small)), abs(span)), span)

    return first_step


first_step = first_step_by(slope, spread, axpy7, sub7)


@jit
def loaded(z, i):
    return (z[i], z[i + 1], z[i + 2], z[i + 3], z[i + 4], z[i + 5], z[i + 6])


@jit
def stored(y, row):
    for i in range(7):
        row[i] = y[i]


@jit
def slope_from(z):
    """Where the slope is in z: after the motion."""
    return MOTION_AT + 7


# --- any kind of motion ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Numbers:
    """A kind of motion as so many numbers, and the functions that know the difference, by the names
    under which loops and methods see them."""

    width: int
    size: int  # of z
    functions: dict[str, Callable]

    @property
    def names(self):
        """What a loop sees."""
        return self.functions

    def of(self, width):
        """The numbers of a motion that is so long: these."""
        return self


ROTATION = {
    "axpy": axpy7,
    "scale": scale7,
    "sub": sub7,
    "loaded": loaded,
    "stored": stored,
    "slope_from": slope_from,
    "slope": slope,
    "projected": projected,
    "recorded": recorded,
    "noted": noted,
    "begun": begun,
    "grown": grown,
    "slope_at": slope_at,
    "weights": weights,
    "spread": spread,
    "first_step": first_step,
}
FLIGHT = {
    "slope": slope_flight,
    "projected": projected_flight,
    "begun": begun_flight,
    "grown": grown_flight,
    "slope_at": slope_at_flight,
    "weights": weights_flight,
    "spread": spread_flight,
}


def longer(width):
    """What computes with more than seven numbers."""

    def written(name, arguments, first, entry):
        rest = ", ".join(entry.replace("#", str(i)) for i in range(7, width))
        scope = {"axpy7": axpy7, "scale7": scale7, "sub7": sub7, "loaded7": loaded, "fma": fma}
        return generated(__name__, name, arguments, (), f"(*{first}, {rest})", **scope)

    @jit
    def stored_longer(y, row):
        for i in range(width):
            row[i] = y[i]

    @jit
    def slope_from_longer(z):
        return MOTION_AT + width

    return {
        "axpy": written("axpy", "c, x, y", "axpy7(c, x[:7], y[:7])", "fma(c, x[#], y[#])"),
        "scale": written("scale", "c, x", "scale7(c, x[:7])", "c * x[#]"),
        "sub": written("sub", "x, y", "sub7(x[:7], y[:7])", "x[#] - y[#]"),
        "loaded": written("loaded", "z, i", "loaded7(z, i)", "z[i + #]"),
        "stored": stored_longer,
        "slope_from": slope_from_longer,
    }
