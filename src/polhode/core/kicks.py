"""Kicks and drifts: the two kinds of moves that splittings of H = T + V are made of.

    kick    Pi' = Pi + c T               in flight also v' = v + c a
    drift   (q', Pi') by a free motion   in flight also x' = x + c v
    pull    T = T(t, q), the load at the present place, for the kicks that follow

A method written with these three moves, which it finds in `torque.kicks`, runs unchanged for a body
about a fixed point (`ON_GROUND`) and for one that flies (`IN_FLIGHT`), where force and torque are
evaluated together, or with rotors inside it (`spun`; see `polhode.core.rotors`).  A load that
depends on velocities gets those `ahead` of the present ones by so much time under the previous load.

A free motion rotates the body momentum Pi and does not change its length; `of_length` corrects what
rounding does to it.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.length import of_length, square
from polhode.core.motions import launch_flight, launch_rotation
from polhode.core.rotors import Carrier, extended, rotors
from polhode.core.vec import add, axpy, matrix, renormalise, sub, times


class Kicks(NamedTuple):
    """The moves for one kind of motion."""

    kick: object  # (c, s) -> s'
    # (move, steps, length, s, body) -> s', by move(steps, q, Pi, body) -> (q', Pi', residual), which
    # takes the time `length`
    drift: object
    pull: object  # (t, ahead, s, body, torque, p) -> s'
    fresh: object  # s -> the same without a residual
    unit: object  # s -> the same with a quaternion of unit length


class KickedState(NamedTuple):
    q: Quaternion
    Pi: Vector  # body momentum
    T: Vector  # body torque
    residual: float
    excess: float  # of |Pi|^2, relative: see of_length


class FlyingState(NamedTuple):
    """The same in flight."""

    q: Quaternion
    Pi: Vector
    T: Vector
    residual: float
    excess: float
    x: Vector  # position and velocity of the centre of mass
    v: Vector
    a: Vector  # its acceleration


@jit
def larger(a, b):
    return a if a > b else b


# --- about a fixed point --------------------------------------------------------------------------


@jit
def start(h, t, q, Om, body, torque, p):
    return KickedState(q, times(body.I, Om), torque.at(t, q, Om, p), 0.0, 0.0)


@jit
def fresh(s):
    return KickedState(s.q, s.Pi, s.T, 0.0, s.excess)


@jit
def unit(s):
    return KickedState(renormalise(s.q), s.Pi, s.T, s.residual, s.excess)


@jit
def kick(c, s):
    return KickedState(s.q, axpy(c, s.T, s.Pi), s.T, s.residual, s.excess)


@jit
def drift(move, steps, length, s, body):
    q, Pi, residual = move(steps, s.q, s.Pi, body)
    Pi, excess = of_length(square(s.Pi), Pi, s.excess)
    return KickedState(q, Pi, s.T, larger(s.residual, residual), excess)


@jit
def pull(t, ahead, s, body, torque, p):
    T = torque.at(t, s.q, times(body.Iinv, axpy(ahead, s.T, s.Pi)), p)
    return KickedState(s.q, s.Pi, T, s.residual, s.excess)


# --- in flight ------------------------------------------------------------------------------------


@jit
def start_flight(h, t, q, Om, x, v, body, load, p):
    T, a = load.both(t, q, Om, x, v, p)
    return FlyingState(q, times(body.I, Om), T, 0.0, 0.0, x, v, a)


@jit
def fresh_flight(s):
    return FlyingState(s.q, s.Pi, s.T, 0.0, s.excess, s.x, s.v, s.a)


@jit
def unit_flight(s):
    return FlyingState(renormalise(s.q), s.Pi, s.T, s.residual, s.excess, s.x, s.v, s.a)


@jit
def kick_flight(c, s):
    Pi, v = axpy(c, s.T, s.Pi), axpy(c, s.a, s.v)
    return FlyingState(s.q, Pi, s.T, s.residual, s.excess, s.x, v, s.a)


@jit
def drift_flight(move, steps, length, s, body):
    q, Pi, residual = move(steps, s.q, s.Pi, body)
    Pi, excess = of_length(square(s.Pi), Pi, s.excess)
    x = axpy(length, s.v, s.x)
    return FlyingState(q, Pi, s.T, larger(s.residual, residual), excess, x, s.v, s.a)


@jit
def pull_flight(t, ahead, s, body, load, p):
    Om, v = times(body.Iinv, axpy(ahead, s.T, s.Pi)), axpy(ahead, s.a, s.v)
    T, a = load.both(t, s.q, Om, s.x, v, p)
    return FlyingState(s.q, s.Pi, T, s.residual, s.excess, s.x, s.v, a)


ON_GROUND = Kicks(kick, drift, pull, fresh, unit)
IN_FLIGHT = Kicks(kick_flight, drift_flight, pull_flight, fresh_flight, unit_flight)


# --- with rotors ----------------------------------------------------------------------------------


class Spun(NamedTuple):
    """What a method made of kicks and drifts needs for a body with rotors."""

    state: type
    start: Callable
    kicks: Kicks


@lru_cache(64)
def spun(flying: bool, n: int) -> Spun:
    """State, start and moves with n rotors, from those without."""
    state, begin, launch, base = (
        (FlyingState, start_flight, launch_flight, IN_FLIGHT)
        if flying
        else (KickedState, start, launch_rotation, ON_GROUND)
    )
    made, of = extended(state, n, "motors"), rotors(n)
    fields = ", ".join("Pi" if name == "Pi" else f"s.{name}" for name in state._fields)
    # the state without rotors, or with them, and with another momentum
    bare = generated(__name__, "bare", "s, Pi", (), f"make({fields})", make=state)
    geared = generated(__name__, "geared", "s, Pi, l, u", (), f"make({fields}, l, u)", make=made)

    @jit
    def start_spun(h, t, motion, body, torque, p):
        s, W = launch(begin, h, t, motion, body, torque, p.inner), of.spins(motion)
        l = of.momenta(W, motion.omega, body)
        u = torque.motors(t, matrix(motion.attitude), motion.omega, W, p.motors)
        return geared(s, add(s.Pi, of.total(l, body)), l, u)

    @jit
    def kick(c, s):
        k = base.kick(c, bare(s, s.Pi))
        return geared(k, k.Pi, of.axpy(c, s.motors, s.rotors), s.motors)

    @jit
    def drift(move, steps, length, s, body):
        carrier = Carrier(body.I, body.Iinv, of.total(s.rotors, body))
        d = base.drift(move, steps, length, bare(s, s.Pi), carrier)
        return geared(d, d.Pi, s.rotors, s.motors)

    @jit
    def pull(t, ahead, s, body, torque, p):
        l = of.axpy(ahead, s.motors, s.rotors)
        own = sub(s.Pi, of.total(l, body))
        Om = times(body.Iinv, axpy(ahead, s.T, own))
        u = torque.motors(t, matrix(s.q), Om, of.speeds(l, Om, body), p.motors)
        return geared(base.pull(t, ahead, bare(s, own), body, torque, p.inner), s.Pi, s.rotors, u)

    @jit
    def fresh(s):
        return geared(base.fresh(bare(s, s.Pi)), s.Pi, s.rotors, s.motors)

    @jit
    def unit(s):
        return geared(base.unit(bare(s, s.Pi)), s.Pi, s.rotors, s.motors)

    return Spun(made, start_spun, Kicks(kick, drift, pull, fresh, unit))
