"""The stages of Gauss collocation, in rows of eight numbers: see `gauss.py`.

The loops over stages have no branches, and all that a step needs is in one array, so that LLVM makes
vector instructions of them.  The coefficients are used as L_j = h b_j f_j and mu_ij = a_ij / b_j, where
mu_ij + mu_ji = 1 holds in doubles: then their rounding does not make quadratic invariants drift
(Antonana, Makazaga & Murua 2017).
"""

import math

from polhode.core.constant import Constant, with_digits
from polhode.core.fma import fma
from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.kicks import larger
from polhode.core.length import square
from polhode.core.loops.adaptive_motion import spin
from polhode.core.scalars import TINY, sincos
from polhode.core.vec import (
    apply,
    apply_t,
    axpy,
    cross,
    dot,
    matrix,
    normalise,
    qmul,
    qrotate,
    qrotate_t,
    scale,
    times,
)

STAGES = 8
# the change of attitude and position, relative, in the last iteration
SOLVED = Constant(1.2e-16, single=1e-6)
CALM = Constant(1e-12, single=1e-4)  # below it rounding may stop the fall
WILD = 1e3  # it has run away
AIMED = 1  # the iteration that chooses the steady rotation
PROBED = 2  # iterations that compute attitudes twice
ITERATIONS = 60

# --- coefficients ---------------------------------------------------------------------------------

# zeros of the Legendre polynomial P_8, and Gauss's weights
GAUSS = (
    ("0.1834346424956498049394761423601839806668", "0.3626837833783619829651504492771956121941"),
    ("0.5255324099163289858177390491892463490420", "0.3137066458778872873379622019866013132603"),
    ("0.7966664774136267395915539364758304368372", "0.2223810344533744705443559944262408844301"),
    ("0.9602898564975362316835608685694729904282", "0.1012285362903762591525313543099621901154"),
)


def legendre(x):
    """P_0(x), ..., P_8(x)."""
    P = [x * 0 + 1, x]
    for k in range(1, STAGES):
        P.append(((2 * k + 1) * x * P[k] - k * P[k - 1]) / (k + 1))
    return P


def coefficients(number):
    """mu, b and c: a_ij = b_j mu_ij, where mu_ij = c_i + 1/2 sum_k P_k(x_j) (P_(k+1) - P_(k-1))(x_i),
    k = 1, ..., 7, c_i = (1 + x_i) / 2."""
    zeros = [number(zero) for zero, _ in GAUSS]
    x = [-one for one in reversed(zeros)] + zeros
    c = [(1 + one) / 2 for one in x]
    P = [legendre(one) for one in x]
    mu = [[number(0.5)] * STAGES for _ in range(STAGES)]
    for i in range(STAGES):
        for j in range(i):  # mu_ij + mu_ji = 1 without rounding: mu_ij is not between 0 and 1/2
            both = [P[j][k] * (P[i][k + 1] - P[i][k - 1]) for k in range(1, STAGES)]
            mu[j][i] = 1 - (c[i] + sum(both[1:], both[0]) / 2)
            mu[i][j] = 1 - mu[j][i]
    half = [number(weight) / 2 for _, weight in GAUSS]
    return mu, [*reversed(half), *half], c


# --- memory of a step -----------------------------------------------------------------------------

# rows of eight numbers, one for each stage: columns of mu, b, c and the change in an iteration
B, C, CHANGE, BODIES = (STAGES * row for row in (8, 9, 10, 11))
# then for each body attitude, momentum, position and velocity, and h b times their slopes
Q, P, X, V = (STAGES * row for row in (0, 4, 7, 10))
SLOPE = 13 * STAGES
# the steady rotation by h c_i, its rate
STEADY, RATE = 26 * STAGES, 30 * STAGES
EACH = 31 * STAGES


def tables(number):
    """`fill(w)` writes the coefficients, as such numbers."""
    mu, b, c = coefficients(number)
    numbers = [one for row in (*zip(*mu, strict=True), b, c) for one in row]
    lines = [f"w[{i}] = {one!r}" for i, one in enumerate(numbers)]
    return generated(__name__, "fill", "w", lines, **{number.__name__: number})


fill = with_digits(tables)


@jit
def vector(w, at):
    return w[at], w[at + STAGES], w[at + 2 * STAGES]


@jit
def quaternion(w, at):
    return w[at], w[at + STAGES], w[at + 2 * STAGES], w[at + 3 * STAGES]


@jit
def put(w, at, x):
    w[at], w[at + STAGES], w[at + 2 * STAGES] = x


@jit
def put_quaternion(w, at, q):
    w[at], w[at + STAGES], w[at + 2 * STAGES], w[at + 3 * STAGES] = q


# --- sums over stages -----------------------------------------------------------------------------


@jit
def slopes(w, at):
    """L_1, ..., L_8, in the row that comes 13 after that of the component."""
    L = at + SLOPE
    return w[L], w[L + 1], w[L + 2], w[L + 3], w[L + 4], w[L + 5], w[L + 6], w[L + 7]


@jit
def weighted(w, i, L):
    """sum_j mu_ij L_j."""
    one = fma(w[i], L[0], fma(w[i + 8], L[1], fma(w[i + 16], L[2], w[i + 24] * L[3])))
    two = fma(w[i + 32], L[4], fma(w[i + 40], L[5], fma(w[i + 48], L[6], w[i + 56] * L[7])))
    return one + two


@jit
def sum3(w, at, y):
    """y + sum_j mu_ij L_j at all stages i, for the three components of a vector."""
    a, b, c = slopes(w, at), slopes(w, at + STAGES), slopes(w, at + 2 * STAGES)
    for i in range(STAGES):
        w[at + i] = y[0] + weighted(w, i, a)
        w[at + STAGES + i] = y[1] + weighted(w, i, b)
        w[at + 2 * STAGES + i] = y[2] + weighted(w, i, c)


@jit
def changed(w, i, at, new, size, change):
    """Replace a number: the largest change so far, times `size`."""
    change = larger(size * abs(new - w[at + i]), change)
    w[at + i] = new
    return change


@jit
def noted3(w, at, y, size):
    """`sum3`; changes are noted."""
    a, b, c = slopes(w, at), slopes(w, at + STAGES), slopes(w, at + 2 * STAGES)
    for i in range(STAGES):
        change = w[CHANGE + i]
        change = changed(w, i, at, y[0] + weighted(w, i, a), size, change)
        change = changed(w, i, at + STAGES, y[1] + weighted(w, i, b), size, change)
        change = changed(w, i, at + 2 * STAGES, y[2] + weighted(w, i, c), size, change)
        w[CHANGE + i] = change


@jit
def noted4(w, at, y):
    """The same for a quaternion, in the frame of the steady rotation."""
    a, b, c = slopes(w, at), slopes(w, at + STAGES), slopes(w, at + 2 * STAGES)
    d = slopes(w, at + 3 * STAGES)
    for i in range(STAGES):
        p = (
            y[0] + weighted(w, i, a),
            y[1] + weighted(w, i, b),
            y[2] + weighted(w, i, c),
            y[3] + weighted(w, i, d),
        )
        q = qmul(quaternion(w, at - Q + STEADY + i), p)
        change = w[CHANGE + i]
        change = changed(w, i, at, q[0], 1.0, change)
        change = changed(w, i, at + STAGES, q[1], 1.0, change)
        change = changed(w, i, at + 2 * STAGES, q[2], 1.0, change)
        change = changed(w, i, at + 3 * STAGES, q[3], 1.0, change)
        w[CHANGE + i] = change


@jit
def total(w, at, y):
    """y + sum_j L_j."""
    L = at + SLOPE
    inner = (w[L] + w[L + 7]) + (w[L + 1] + w[L + 6])
    return y + (inner + ((w[L + 2] + w[L + 5]) + (w[L + 3] + w[L + 4])))


@jit
def total3(w, at, y):
    return (
        total(w, at, y[0]),
        total(w, at + STAGES, y[1]),
        total(w, at + 2 * STAGES, y[2]),
    )


@jit
def largest(w):
    """The change in an iteration."""
    found = w[CHANGE]
    for i in range(1, STAGES):
        found = larger(found, w[CHANGE + i])
    return found


# --- rotation -------------------------------------------------------------------------------------


@jit
def speed(Om):
    return math.sqrt(square(Om) + TINY)


@jit
def rotation(t, axis, rate):
    """The rotation about an axis in the time t."""
    n, c = sincos(0.5 * t * rate)
    return n * axis[0], n * axis[1], n * axis[2], c


@jit
def steady(w, at, h, Om):
    """The rotation by h c_i Om at all stages."""
    rate = speed(Om)
    axis = scale(1.0 / rate, Om)
    w[at + RATE], w[at + RATE + 1], w[at + RATE + 2] = Om
    for i in range(STAGES):
        put_quaternion(w, at + STEADY + i, rotation(h * w[C + i], axis, rate))


@jit
def guess_rotation(w, at, h, s, body):
    """A steady rotation, and momenta under the torque at the beginning."""
    Om, t = times(body.Iinv, qrotate_t(s.q, s.pi)), qrotate(s.q, s.T)
    steady(w, at, h, qrotate(s.q, Om))
    for i in range(STAGES):
        put_quaternion(w, at + Q + i, qmul(quaternion(w, at + STEADY + i), s.q))
        put(w, at + P + i, axpy(h * w[C + i], t, s.pi))


@jit
def place(w, at):
    """(rotation, unit quaternion, body momentum) at a stage."""
    a, b, c, d = quaternion(w, at + Q)
    n = 1.0 / math.sqrt(a * a + b * b + (c * c + d * d))
    q = n * a, n * b, n * c, n * d
    R = matrix(q)
    return R, q, apply_t(R, vector(w, at + P))


@jit
def turned_back(q, x):
    """R^T x, for a quaternion of any length."""
    u, d = q[:3], q[3]
    y = cross(u, x)
    n = -2.0 / (dot(u, u) + d * d)
    return axpy(n * d, y, axpy(-n, cross(u, y), x))


@jit
def sum_momenta(w, at, s):
    """Momenta, from the torques."""
    sum3(w, at + P, s.pi)


@jit
def aim(w, at, h, body):
    """The steady rotation, with the mean of the angular velocities in space."""
    for i in range(STAGES):
        R, _, Pi = place(w, at + i)
        put(w, at + Q + SLOPE + i, scale(w[B + i], apply(R, times(body.Iinv, Pi))))
    steady(w, at, h, total3(w, at + Q, (0.0, 0.0, 0.0)))


@jit
def rates(w, at, h, body):
    """The slopes of the attitudes, in the frame of the steady rotation: e^-1 (q Om - W q) / 2."""
    x, y, z = 0.5 * w[at + RATE], 0.5 * w[at + RATE + 1], 0.5 * w[at + RATE + 2]
    for i in range(STAGES):
        q, (a, b, c, d) = quaternion(w, at + Q + i), quaternion(w, at + STEADY + i)
        f = spin(q, times(body.Iinv, turned_back(q, vector(w, at + P + i))))
        away = (
            f[0] - (x * q[3] + y * q[2] - z * q[1]),
            f[1] - (y * q[3] + z * q[0] - x * q[2]),
            f[2] - (z * q[3] + x * q[1] - y * q[0]),
            f[3] + (x * q[0] + y * q[1] + z * q[2]),
        )
        slope = qmul((-a, -b, -c, d), away)
        k = h * w[B + i]
        put_quaternion(
            w, at + Q + SLOPE + i, (k * slope[0], k * slope[1], k * slope[2], k * slope[3])
        )


@jit
def turn(w, at, s):
    """Attitudes, from their slopes."""
    noted4(w, at + Q, s.q)


@jit
def reached_rotation(w, at, h, s):
    """(attitude, momentum) at the end."""
    at_Q = at + Q
    p = (
        total(w, at_Q, s.q[0]),
        total(w, at_Q + STAGES, s.q[1]),
        total(w, at_Q + 2 * STAGES, s.q[2]),
        total(w, at_Q + 3 * STAGES, s.q[3]),
    )
    Om = w[at + RATE], w[at + RATE + 1], w[at + RATE + 2]
    e = rotation(h, scale(1.0 / speed(Om), Om), speed(Om))
    return normalise(qmul(e, p)), total3(w, at + P, s.pi)


# --- translation ----------------------------------------------------------------------------------


@jit
def guess_translation(w, at, h, s):
    """A parabola."""
    for i in range(STAGES):
        d = h * w[C + i]
        put(w, at + X + i, axpy(d, axpy(0.5 * d, s.a, s.v), s.x))
        put(w, at + V + i, axpy(d, s.a, s.v))


@jit
def sum_all(w, at, m):
    """Momenta and velocities, from the loads."""
    sum3(w, at + P, m.pi)
    sum3(w, at + V, m.v)


@jit
def all_rates(w, at, h, body):
    """The slopes of positions and attitudes."""
    for i in range(STAGES):
        put(w, at + X + SLOPE + i, scale(h * w[B + i], vector(w, at + V + i)))
    rates(w, at, h, body)


@jit
def move(w, at, h, m):
    """Positions and attitudes, from their slopes."""
    far = abs(m.x[0]) + abs(m.x[1]) + abs(m.x[2])
    size = 1.0 / (far + abs(h) * (abs(m.v[0]) + abs(m.v[1]) + abs(m.v[2])) + TINY)
    noted3(w, at + X, m.x, size)
    turn(w, at, m)


# --- an iteration ---------------------------------------------------------------------------------


@jit
def unsolved(change, before, count):
    """Whether to go on: until the change is round-off, or was small and no longer falls, or grows
    beyond all bounds."""
    falls = change < before or CALM < change < WILD
    return change > SOLVED and falls and count < ITERATIONS


@jit
def clear(w):
    for i in range(STAGES):
        w[CHANGE + i] = 0.0


@jit
def worth(change, second, count):
    """Whether attitudes are computed twice in an iteration: if that changed them more before than
    anything else does now."""
    return count < PROBED or second > 0.1 * change
