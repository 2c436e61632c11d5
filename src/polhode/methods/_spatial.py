"""Attitude and spatial momentum as the state of a method, pi' = t, and the classical weights of
Runge-Kutta and Adams methods."""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import add, axpy, qrotate, scale, times


class SpatialState(NamedTuple):
    q: Quaternion
    pi: Vector


@jit
def start(h, t, q, Om, body, torque, p):
    return SpatialState(q, qrotate(q, times(body.I, Om)))


@jit
def simpson(k1, k2, k3, k4):
    """(k1 + 2 k2 + 2 k3 + k4)/6."""
    return scale(1.0 / 6.0, add(add(k1, k4), scale(2.0, add(k2, k3))))


@jit
def bashforth(x0, x1, x2, x3):
    """(55 x0 - 59 x1 + 37 x2 - 9 x3)/24."""
    return scale(1.0 / 24.0, axpy(55.0, x0, axpy(-59.0, x1, axpy(37.0, x2, scale(-9.0, x3)))))


@jit
def moulton(new, x0, x1, x2):
    """(9 new + 19 x0 - 5 x1 + x2)/24."""
    return scale(1.0 / 24.0, axpy(9.0, new, axpy(19.0, x0, axpy(-5.0, x1, x2))))
