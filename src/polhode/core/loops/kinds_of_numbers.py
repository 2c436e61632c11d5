"""The functions of `polhode.core.loops.adaptive_motion` for motions in flight and with rotors."""

import math
from collections import namedtuple
from functools import cache

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.loops.adaptive_motion import (
    FLIGHT,
    MOTION_AT,
    ROTATION,
    SLOWEST,
    Numbers,
    extremes_flight,
    first_step_by,
    longer,
    speed,
)
from polhode.core.rotors import rotors
from polhode.core.vec import add, attitude, cross, sub, times


@cache
def numbers(flying: bool = False, n: int = 0) -> Numbers:
    """Those of a body on the ground or in flight, with n rotors."""
    width = 7 + 6 * flying + n
    extremes = MOTION_AT + 2 * width
    if width == 7:
        return Numbers(7, extremes, ROTATION)
    own = {**ROTATION, **FLIGHT, **extremes_flight(extremes)} if flying else ROTATION
    if n:
        own = {**own, **with_rotors(own, width - n, n, extremes + 2 * flying)}
    made = {**own, **longer(width)}
    made["first_step"] = first_step_by(*(made[name] for name in ("slope", "spread", "axpy", "sub")))
    return Numbers(width, extremes + 2 * flying + bool(n), made)


def with_rotors(base, m, n, at):
    """The functions that differ with n rotors, from those of the other m numbers; the largest speed
    of rotors is kept at this place of z.  The speeds W relative to the body are the last numbers."""
    names = (*FLIGHT, "recorded", "noted")
    own, of = rotors(n), namedtuple("Base", names)(*(base[name] for name in names))

    @jit
    def slope_rotors(t, y, body, torque, p):
        """y', with Pi' = T - Om x Pi and l' = u."""
        q, Om, W = (y[0], y[1], y[2], y[3]), (y[4], y[5], y[6]), y[m:]
        f = of.slope(t, y[:m], body, torque, p.inner)
        u = torque.motors(t, attitude(q), Om, W, p.motors)
        recoil = add(own.total(u, body), cross(Om, own.total(own.momenta(W, Om, body), body)))
        A = sub((f[4], f[5], f[6]), times(body.Iinv, recoil))
        return (*f[:4], *A, *f[7:], *own.speeds(u, A, body))

    @jit
    def whirl(y):
        """The largest speed of rotors, or of the body if that is more."""
        return max(speed(y), math.sqrt(own.squared(y[m:])))

    @jit
    def spread_rotors(e, weights):
        return fma(weights[1], own.squared(e[m:]), of.spread(e[:m], weights[0]))

    @jit
    def projected_rotors(y):
        return (*of.projected(y[:m]), *y[m:])

    @jit
    def recorded_rotors(z):
        return of.recorded(z), z[at]

    @jit
    def noted_rotors(record, z):
        of.noted(record[0], z)
        z[at] = record[1]

    @jit
    def begun_rotors(record, y, f, span):
        fast = max(record[1], max(whirl(y), math.sqrt(whirl(f))))
        return of.begun(record[0], y[:m], f[:m], span), fast

    @jit
    def grown_rotors(record, y):
        return of.grown(record[0], y[:m]), max(record[1], whirl(y))

    @jit
    def slope_at_rotors(y, ahead):
        return (*of.slope_at(y[:m], ahead[:m]), *ahead[m:])

    @jit
    def weights_rotors(rtol, atol, record):
        fast = rtol * record[1] + atol + SLOWEST
        return of.weights(rtol, atol, record[0]), 0.5 / (fast * fast)

    return {
        "slope": slope_rotors,
        "spread": spread_rotors,
        "projected": projected_rotors,
        "recorded": recorded_rotors,
        "noted": noted_rotors,
        "begun": begun_rotors,
        "grown": grown_rotors,
        "slope_at": slope_at_rotors,
        "weights": weights_rotors,
        "load_body": own.load_body,
    }
