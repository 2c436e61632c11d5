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
    apply_t,
    axpy,
    cross,
    dot,
    matrix,
    normalise,
    qrotate,
    qrotate_t,
    qtimes,
    scale,
    times,
)

STAGES = 8
SOLVED = Constant(
    4e-16, single=1e-6
)  # the change of attitude and position, relative, in the last iteration
CALM = Constant(1e-12, single=1e-4)  # below it rounding may stop the fall
WILD = 1e3
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
EACH = 2 * 13 * STAGES
SLOPE = 13 * STAGES


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
    """The same for a quaternion."""
    a, b, c = slopes(w, at), slopes(w, at + STAGES), slopes(w, at + 2 * STAGES)
    d = slopes(w, at + 3 * STAGES)
    for i in range(STAGES):
        change = w[CHANGE + i]
        change = changed(w, i, at, y[0] + weighted(w, i, a), 1.0, change)
        change = changed(w, i, at + STAGES, y[1] + weighted(w, i, b), 1.0, change)
        change = changed(w, i, at + 2 * STAGES, y[2] + weighted(w, i, c), 1.0, change)
        change = changed(w, i, at + 3 * STAGES, y[3] + weighted(w, i, d), 1.0, change)
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
def guess_rotation(w, at, h, s, body):
    """A steady rotation, and momenta under the torque at the beginning."""
    Om, t = times(body.Iinv, qrotate_t(s.q, s.pi)), qrotate(s.q, s.T)
    rate = math.sqrt(square(Om) + TINY)
    a, b = s.q, qtimes(s.q, scale(1.0 / rate, Om))
    for i in range(STAGES):
        d = h * w[C + i]
        n, c = sincos(0.5 * d * rate)
        turned = c * a[0] + n * b[0], c * a[1] + n * b[1], c * a[2] + n * b[2], c * a[3] + n * b[3]
        put_quaternion(w, at + Q + i, turned)
        put(w, at + P + i, axpy(d, t, s.pi))


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
def rates(w, at, h, body):
    """The slopes of the attitudes."""
    for i in range(STAGES):
        q = quaternion(w, at + Q + i)
        rate = spin(q, times(body.Iinv, turned_back(q, vector(w, at + P + i))))
        c = h * w[B + i]
        put_quaternion(w, at + Q + SLOPE + i, (c * rate[0], c * rate[1], c * rate[2], c * rate[3]))


@jit
def turn(w, at, s):
    """Attitudes, from their slopes."""
    noted4(w, at + Q, s.q)


@jit
def reached_rotation(w, at, s):
    """(attitude, momentum) at the end."""
    at_Q = at + Q
    q = normalise((
        total(w, at_Q, s.q[0]),
        total(w, at_Q + STAGES, s.q[1]),
        total(w, at_Q + 2 * STAGES, s.q[2]),
        total(w, at_Q + 3 * STAGES, s.q[3]),
    ))  # fmt: skip
    return q, total3(w, at + P, s.pi)


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
def relax(w, at, h, s, body):
    """Momenta and velocities, positions and attitudes, attitudes once more."""
    sum_all(w, at, s)
    all_rates(w, at, h, body)
    move(w, at, h, s)
    rates(w, at, h, body)
    turn(w, at, s)
