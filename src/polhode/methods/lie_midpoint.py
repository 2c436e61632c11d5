"""The midpoint Lie algorithm and its explicit relatives (LIEMID).  Krysl 2005.

The momentum-conserving free flow F_h, with the velocity W half way:

    I W = exp(-h W/2) Pi,   R' = R exp(h W),   Pi' = exp(-h W) Pi

LIEMID[I] includes the torque half way; the paper omits exp(-h W/2) before the momentum half way,
which reduces the order by one:

    I W = exp(-h W/2) Pi + h/2 Tm,   Tm = T(R exp(h W/2))
    Pi' = exp(-h W/2) (exp(-h W/2) Pi + h Tm)

With the kick K_h: Pi' = Pi + h T(R),

    LIEMID[E1] = K_h F_h                              kick last
    LIEMID[E2] = F_h K_h                              kick first
    LIEMID[EA] = K_{h/2} F_{h/2} F_{h/2} K_{h/2}      E2, then E1, each with half the step

E1 and E2 are adjoints of each other.  The paper prints exp(-h W) (Pi + h T) in the adjoint, which
also reduces the order by one.  Its claim that LIEMID[EA] is symplectic does not hold, even for the
free body.
"""

import math

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.kicks import KickedState, start
from polhode.core.newton import newton_near, size
from polhode.core.scalars import dexp_second, half_angle, poly6
from polhode.core.vec import (
    add,
    axpy,
    cross,
    dot,
    outer,
    qexp,
    qmul,
    qrotate_t,
    renormalise,
    scale,
    sub,
    times,
)
from polhode.methods import _implicit
from polhode.methods._implicit import ImplicitState, guess, implicit, torque_halfway
from polhode.methods._kicked import in_flight, in_system, kicked
from polhode.core.length import of_length, square
from polhode.methods._registry import method

# (1 - cos th)/th^2 and (th - sin th)/th^3 as series in th^2
FIRST = tuple((-1.0) ** k / math.factorial(2 * k + 2) for k in range(6))
SECOND = tuple((-1.0) ** k / math.factorial(2 * k + 3) for k in range(6))
NEAR = 0.1


@jit
def balance(sine, first, second, W, data):
    """I W - v with v = exp(-u) Pi, u = h W/2, its tangent I - h/2 v^ S, and the size of its terms.

    exp(-u) = 1 - sine u^ + first u^^2 and S = dexp_{-u} = 1 - first u^ + second u^^2, so that with v^ u^ = u v^T - u.v
    v^ S = (v - second (u.v) u)^ + first (u.v) + u (second v x u - first v)^T.
    """
    h, I, Pi = data
    u = scale(0.5 * h, W)
    turn = cross(u, Pi)
    IW, v = times(I, W), axpy(first, cross(u, turn), axpy(-sine, turn, Pi))
    uv, hu = dot(u, v), scale(-0.5 * h, u)
    x, y, z = scale(0.5 * h, axpy(-second * uv, u, v))
    d = 0.5 * h * first * uv
    a, b, c = outer(hu, axpy(second, cross(v, u), scale(-first, v)))
    DF = (
        (I[0] - d + a[0], a[1] + z, a[2] - y),
        (b[0] - z, I[1] - d + b[1], b[2] + x),
        (c[0] + y, c[1] - x, I[2] - d + c[2]),
    )
    return sub(IW, v), DF, size(IW) + size(v)


@jit
def halfway(W, data):
    th2 = 0.25 * data[0] * data[0] * dot(W, W)
    th, s, c = half_angle(th2)
    a = s / th
    return balance(2.0 * a * c, 2.0 * a * a, dexp_second(th2), W, data)


@jit
def halfway_near(W, data):
    """The same by Taylor series, good to round-off for th^2 < NEAR."""
    th2 = 0.25 * data[0] * data[0] * dot(W, W)
    second = poly6(SECOND, th2)
    F, DF, terms = balance(1.0 - th2 * second, poly6(FIRST, th2), second, W, data)
    return F, DF, terms if th2 < NEAR else 0.0


@jit
def series(e, Pi, body):
    """W of I W = exp(-e W) Pi to third order in e, and the third-order coefficient."""
    W0 = times(body.Iinv, Pi)
    a0 = cross(Pi, W0)
    W1 = times(body.Iinv, a0)
    a1, b0 = cross(Pi, W1), cross(a0, W0)
    W2 = times(body.Iinv, axpy(0.5, b0, a1))
    b1 = add(cross(a0, W1), cross(a1, W0))
    W3 = times(body.Iinv, add(cross(Pi, W2), axpy(1.0 / 6.0, cross(b0, W0), scale(0.5, b1))))
    return axpy(e, axpy(e, axpy(e, W3, W2), W1), W0), W3


@jit
def flow(h, q, Pi, W, body):
    """F_h from a guess of W: (R', Pi', W, residual)."""
    W, residual = newton_near(halfway_near, halfway, W, (h, body.I, Pi))
    turn = qexp(scale(h, W))
    return qmul(q, turn), qrotate_t(turn, Pi), W, residual


@jit
def free(h, q, Pi, body):
    """F_h."""
    W, _ = series(0.5 * h, Pi, body)
    q, Pi, _, residual = flow(h, q, Pi, W, body)
    return renormalise(q), Pi, residual


@jit
def free_twice(h, q, Pi, body):
    """F_{h/2} F_{h/2}.  Seen from between them their W are one series at -e and at e, which gives
    the second from the first."""
    e = 0.25 * h
    W, W3 = series(e, Pi, body)
    q, Pi, W, first = flow(0.5 * h, q, Pi, W, body)
    W1 = times(body.Iinv, cross(Pi, times(body.Iinv, Pi)))
    q, Pi, _, second = flow(0.5 * h, q, Pi, axpy(2.0 * e, axpy(e * e, W3, W1), W), body)
    return renormalise(q), Pi, max(first, second)


@method(
    "LIEMID[EA]",
    state=KickedState,
    start=start,
    order=2,
    torques=1,
    solves=2,
    symmetric=True,
    symplectic=False,
    conserves=("momentum",),
    family="midpoint",
    cite="krysl2005newmark",
    flight=in_flight,
    system=in_system,
)
@jit
def step(h, t, s, body, torque, p):
    """Midpoint Lie algorithm, explicit in the torque, alternating: two free half steps between half kicks."""
    return kicked(free_twice, h, t, s, body, torque, p)


@method(
    "LIEMID[E1]",
    state=KickedState,
    start=start,
    order=1,
    torques=1,
    solves=1,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    free_order=(2, 2),
    family="midpoint",
    cite="krysl2005newmark",
    flight=in_flight,
    system=in_system,
)
@jit
def step_1(h, t, s, body, torque, p):
    """Midpoint Lie algorithm, the kick last: first order."""
    moves = torque.kicks
    s = moves.drift(free, h, h, moves.fresh(s), body)
    return moves.kick(h, moves.pull(t + h, h, s, body, torque, p))


@method(
    "LIEMID[E2]",
    state=KickedState,
    start=start,
    order=1,
    torques=1,
    solves=1,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    free_order=(2, 2),
    family="midpoint",
    cite="krysl2005newmark",
    flight=in_flight,
    system=in_system,
)
@jit
def step_2(h, t, s, body, torque, p):
    """Midpoint Lie algorithm, the kick first: first order."""
    moves = torque.kicks
    s = moves.drift(free, h, h, moves.kick(h, moves.fresh(s)), body)
    return moves.pull(t + h, 0.0, s, body, torque, p)


@method(
    "LIEMID[I]",
    state=ImplicitState,
    start=_implicit.start,
    order=2,
    torques=None,
    solves=1,
    symmetric=True,
    symplectic=False,
    conserves=("momentum",),
    family="midpoint",
    cite="krysl2005newmark",
)
@jit
def step_implicit(h, t, s, body, torque, p):
    """Midpoint Lie algorithm, implicit in the torque half way."""
    W, T, D, residual, calls = implicit(
        halfway,
        (h, body.I, s.Pi),
        torque_halfway,
        (h, t, s.q, torque, p),
        0.5 * h,
        guess(h, s, body),
        s.D,
    )
    half = qexp(scale(0.5 * h, W))
    q = renormalise(qmul(qmul(s.q, half), half))
    middle = qrotate_t(half, s.Pi)
    # |middle + h T|^2, |middle| = |Pi|
    pushed = fma(h, dot(T, axpy(h, T, scale(2.0, middle))), square(s.Pi))
    Pi, excess = of_length(pushed, qrotate_t(half, axpy(h, T, middle)), s.excess)
    return ImplicitState(q, Pi, T, D, residual, calls, excess)
