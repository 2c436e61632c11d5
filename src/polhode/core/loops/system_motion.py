"""The motions of all bodies of a system as one array y of 13 n numbers, for the time loops that choose
their own steps: what `adaptive_motion` has for the numbers of one body.

The error of a step is that of the body for which it is largest; distances and speeds are measured
against the largest in the system so far.  Stages, slopes and estimates are rows of the array `p.work`.
"""

from functools import lru_cache

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.layout import layout
from polhode.core.loops.adaptive_motion import (
    FLIGHT,
    MOTION_AT,
    Numbers,
    begun_flight,
    extremes_flight,
    first_step_by,
    grown_flight,
    longer,
    spin,
    spread_flight,
    weights_flight,
)
from polhode.core.motions import Flight
from polhode.core.vec import normalise

WIDTH = layout(Flight).size
FAR = -2  # where the largest distance is in z, and after it the largest speed

loaded_one = longer(WIDTH)["loaded"]


@jit
def body_of(moments, k):
    """The numbers of all bodies."""
    return moments


@jit
def parameters_of(parameters, k):
    return parameters


@jit
def slope_from(z):
    return MOTION_AT + (len(z) - MOTION_AT + FAR) // 2


@jit
def loaded(z, i):
    """The motion of a system, or its slope, in the memory of a loop."""
    return z[i : i + slope_from(z) - MOTION_AT].copy()


@jit
def stored(y, row):
    row[: len(y)] = y


@jit
def axpy(c, x, y):
    """c x + y, in another array."""
    out = y.copy()
    for m in range(len(y)):
        out[m] = fma(c, x[m], y[m])
    return out


@jit
def sub(x, y):
    out = x.copy()
    for m in range(len(x)):
        out[m] = x[m] - y[m]
    return out


@jit
def slope(t, y, body, torque, p):
    """y', in another array."""
    f = y.copy()
    torque.slopes(t, y, f, body, p)
    return f


@jit
def with_unit_quaternions(y):
    for i in range(0, len(y), WIDTH):
        y[i], y[i + 1], y[i + 2], y[i + 3] = normalise((y[i], y[i + 1], y[i + 2], y[i + 3]))
    return y


@jit
def slope_at(y, ahead):
    for i in range(0, len(y), WIDTH):
        m = loaded_one(y, i)
        a, b, c, d = spin((m[0], m[1], m[2], m[3]), (m[4], m[5], m[6]))
        ahead[i], ahead[i + 1], ahead[i + 2], ahead[i + 3] = a, b, c, d
    return ahead


@jit
def begun(record, y, f, span):
    for i in range(0, len(y), WIDTH):
        record = begun_flight(record, loaded_one(y, i), loaded_one(f, i), span)
    return record


@jit
def grown(record, y):
    for i in range(0, len(y), WIDTH):
        record = grown_flight(record, loaded_one(y, i))
    return record


@jit
def spread(e, weights):
    """The largest of the mean square errors of bodies, over what is allowed; NaN if one is."""
    worst = 0.0
    for i in range(0, len(e), WIDTH):
        one = spread_flight(loaded_one(e, i), weights)
        worst = worst if one <= worst else one
    return worst


FUNCTIONS = {
    **FLIGHT,
    **extremes_flight(FAR),
    "load_body": body_of,
    "load_parameters": parameters_of,
    "axpy": axpy,
    "sub": sub,
    "loaded": loaded,
    "stored": stored,
    "slope_from": slope_from,
    "slope": slope,
    "projected": with_unit_quaternions,
    "begun": begun,
    "grown": grown,
    "slope_at": slope_at,
    "weights": weights_flight,
    "spread": spread,
    "first_step": first_step_by(slope, spread, axpy, sub),
}


class SystemNumbers(Numbers):
    """Those of a system of any number of bodies."""

    def of(self, width):
        return of_width(width)


@lru_cache(64)
def of_width(width):
    """Those of a system whose motion is so long."""
    return SystemNumbers(width, MOTION_AT + 2 * width - FAR, FUNCTIONS)
