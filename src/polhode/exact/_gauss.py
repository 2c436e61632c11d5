"""Gauss-Legendre collocation, 8 stages, order 16.  Hairer, Lubich & Wanner 2006, II.1; Hairer,
McLachlan & Razakarivony 2008.

    k_i = f(t + c_i h, y + h sum_j a_ij k_j),   y' = y + h sum_i b_i k_i

for y = (q, Pi), q' = q Om/2, Pi' = Pi x Om + T, Pi = I Om; in flight also x' = v, v' = a.  With rotors
(see `polhode.core.rotors`) Pi is still I Om, which the rounding of G would drown:
Pi' = (Pi + G) x Om + T - sum u_i a_i, l' = u.  So y is a motion with momenta in place of angular
velocity and speeds, and has its parts in the same places.  The stages are iterated until their change
is round-off.  State and weights are kept as sums of two doubles, so that what remains is the rounding
of each step's increment: a random walk of steps far smaller than the round-off of the state.
"""

from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import cache, lru_cache
from typing import Any

import numpy as np

from polhode.core.closed.double_double import two_sum
from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.motions import FLIGHT, ROTATION, Flight, Kind, Rotation
from polhode.core.rotors import rotors
from polhode.core.scalars import TINY
from polhode.core.vec import add, cross, matrix, sub

STAGES = 8
SWEEPS = 60
torque = load_parameters = load_body = None  # bound per torque and body
slope = load_motion = store_motion = None  # bound per kind of motion

CONVERGED, UNSOLVED = 0, 1


@cache
def coefficients():
    """a (8, 8), b as high and low parts (2, 8), c (8,), from 60 digits."""
    with localcontext() as context:
        context.prec = 60
        c = [(1 + _node(Decimal(float(x)))) / 2 for x in np.polynomial.legendre.leggauss(STAGES)[0]]
        integrals = [_integrated(c, j) for j in range(STAGES)]
        a = np.array([[float(_value(p, x)) for p in integrals] for x in c])
        b = [_value(p, Decimal(1)) for p in integrals]
        high = [float(x) for x in b]
        low = [float(x - Decimal(h)) for x, h in zip(b, high, strict=True)]
    return a, np.array([high, low]), np.array([float(x) for x in c])


def _node(x):
    """A zero of the Legendre polynomial, by Newton's method."""
    for _ in range(4):
        before, p = Decimal(1), x
        for n in range(1, STAGES):
            before, p = p, ((2 * n + 1) * x * p - n * before) / (n + 1)
        x -= p * (x * x - 1) / (STAGES * (x * p - before))
    return x


def _integrated(c, j):
    """Coefficients of the integral from 0 of the Lagrange polynomial that is 1 at c_j."""
    p = [Decimal(1)]
    for m, other in enumerate(c):
        if m != j:
            scale = c[j] - other
            p = [
                ((p[i - 1] if i else 0) - (other * p[i] if i < len(p) else 0)) / scale
                for i in range(len(p) + 1)
            ]
    return [Decimal(0)] + [x / (i + 1) for i, x in enumerate(p)]


def _value(p, x):
    return sum(coefficient * x**i for i, coefficient in enumerate(p))


# --- the equation of motion -----------------------------------------------------------------------


@jit
def over(Pi, I):
    """I^-1 Pi; not times 1/I, whose rounding would be the same in every step."""
    return Pi[0] / I[0], Pi[1] / I[1], Pi[2] / I[2]


@jit
def spin(q, Om):
    """q Om / 2."""
    return (
        0.5 * (q[3] * Om[0] + q[1] * Om[2] - q[2] * Om[1]),
        0.5 * (q[3] * Om[1] + q[2] * Om[0] - q[0] * Om[2]),
        0.5 * (q[3] * Om[2] + q[0] * Om[1] - q[1] * Om[0]),
        -0.5 * (q[0] * Om[0] + q[1] * Om[1] + q[2] * Om[2]),
    )


@jit
def slope_rotation(t, y, body, torque, p):
    """y' of a body on the ground."""
    q, Om = y.attitude, over(y.omega, body.I)
    T = torque.body(t, matrix(q), Om, p)
    return Rotation(spin(q, Om), add(cross(y.omega, Om), T))


@jit
def slope_flight(t, y, body, load, p):
    """y' in flight."""
    q, Om = y.attitude, over(y.omega, body.I)
    T, a = load.both(t, q, Om, y.position, y.velocity, p)
    return Flight(spin(q, Om), add(cross(y.omega, Om), T), y.velocity, a)


@lru_cache(64)
def slope_of(kind: Kind) -> Callable[..., Any]:
    """`slope(t, y, body, load, p) -> y'` for a kind of motion."""
    base = {ROTATION.name: slope_rotation, FLIGHT.name: slope_flight}[kind.name]
    if not kind.spinning:
        return base
    of = rotors(kind.spinning)
    own = [f"k.{name}" for name in list(kind.slices)[: -kind.spinning]]
    own[own.index("k.omega")] = "add(k.omega, recoil)"
    beside = generated(
        __name__,
        "beside",
        "k, recoil, u",
        (),
        f"make({', '.join(own)}, *u)",
        make=kind.parts,
        add=add,
    )

    @jit
    def slope_rotors(t, y, body, torque, p):
        l, Om = of.spins(y), over(y.omega, body.I)
        u = torque.motors(t, matrix(y.attitude), Om, of.speeds(l, Om, body), p.motors)
        recoil = sub(cross(of.total(l, body), Om), of.total(u, body))
        return beside(base(t, y, body, torque, p.inner), recoil, u)

    return slope_rotors


def slopes_along(t, motions, moments, parameters, out):
    """y' at each of the given times and y, the rows of an array."""
    body = load_body(moments, 0)
    p = load_parameters(parameters, 0)
    for j in range(len(t)):
        store_motion(slope(t[j], load_motion(motions, j), body, torque, p), out, j)


# --- steps ----------------------------------------------------------------------------------------


def gauss(
    t0,
    h,
    rest_of_h,
    first,
    count,
    y,
    low,
    moments,
    parameters,
    a,
    b,
    c,
    groups,
    of_slope,
    of_self,
    k,
    new,
):
    """`count` steps of size h + rest_of_h from y + low, (1, width), which are changed in place; `first`
    were taken from t0 before.  Work space k, new: (8, width).

    Returns (CONVERGED or UNSOLVED, evaluations).
    """
    body = load_body(moments, 0)
    p = load_parameters(parameters, 0)
    width = y.shape[1]
    at = y.copy()
    change, size = np.zeros(3), np.zeros(3)
    evaluations = 0
    for n in range(first, first + count):
        t = t0 + n * h
        store_motion(slope(t, load_motion(y, 0), body, torque, p), at, 0)
        for i in range(STAGES):
            k[i] = at[0]
        last = np.inf
        solved = False
        for _ in range(SWEEPS):
            change[:] = 0.0
            size[:] = TINY
            flaw = 0.0
            for i in range(STAGES):
                for d in range(width):
                    total = 0.0
                    for j in range(STAGES):
                        total += a[i, j] * k[j, d]
                    at[0, d] = y[0, d] + (low[0, d] + h * total)
                store_motion(slope(t + c[i] * h, load_motion(at, 0), body, torque, p), new, i)
            for d in range(width):
                g = groups[d]
                size[g] = max(size[g], of_self[d] * abs(y[0, d]))
                for i in range(STAGES):
                    change[g] = max(change[g], of_slope[d] * abs(new[i, d] - k[i, d]))
                    size[g] = max(size[g], of_slope[d] * abs(new[i, d]))
                    flaw += 0.0 * new[i, d]  # NaN if a number is not finite
                    k[i, d] = new[i, d]
            evaluations += STAGES
            if flaw != 0.0:
                return UNSOLVED, evaluations
            worst = max(change[0] / size[0], change[1] / size[1], change[2] / size[2])
            # at round-off the changes stop shrinking
            if worst <= 1e-16 or (worst >= last and worst <= 1e-13):
                solved = True
                break
            last = worst
        if not solved:
            return UNSOLVED, evaluations
        for d in range(width):
            main = 0.0
            rest = 0.0
            for i in range(STAGES):
                main += b[0, i] * k[i, d]
                rest += b[1, i] * k[i, d]
            s, e = two_sum(y[0, d], h * main)
            low[0, d] = low[0, d] + (e + (h * rest + rest_of_h * main))
            y[0, d], low[0, d] = two_sum(s, low[0, d])
    return CONVERGED, evaluations
