"""Energy preservation for any method: NAME+ep.  Buss 2001, section 4.

After a step of the method the body is turned a little about an axis across its momentum, so that the momentum stays where it
is in space and the energy becomes what it should be.  In body coordinates the momentum m moves over the sphere |m| = L from
one polhode to another, along the hyperboloid that meets the polhodes at right angles.  With y_i = m_i^2, k_i = 1/J_i,
g = k - mean(k) and d = (k2 - k3, k3 - k1, k1 - k2):

    y* = y0 + 2 (E - Ec) g / g.g                                            right momentum and energy,
    y = y* + s d                                                            still so, for every s;
    s = - sum a_i (y*_i - y0_i E/Ec) / sum a_i d_i,  a_i = d_i y0_j y0_k k_i^2     on the hyperboloid,

s cut to where y >= 0.  The paper's 3x3 system is singular when the momentum lies on a principal axis, and may want a negative
square; its rho is printed with an inconsistent scale (it is nu / sqrt(nu.J nu), and E = (rho.L)^2 / 2).  This form fails only
where success is impossible: when E is outside [L^2/2Jmax, L^2/2Jmin], or the body is a sphere.  Then the body is left as it is
and the state counts it.  Where the energy is right to round-off nothing is done.

With torque E changes by the torque's work.  The Taylor methods sum it up as accurately as their momentum.  For other methods
it is Simpson's rule over the Hermite interpolant of the step, three more torque evaluations and fourth order: with a
trapezoid, orders 3 and 4 are lost.

Without torque an odd-order method drifts like one of the next order, 1+ep like 2, 3+ep like 4, 5+ep like 6: the free motion is
reversible, and the leading error of an odd-order method can grow with time only in energy.  What stays of the order itself is
an oscillation with the period of the polhode, small beside the drift until the steps are very short.
"""

import math
from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.vec import (
    add, axpy, cross, dot, matrix, nonzero, normalise, qexp, qmul, renormalise, scale, sub, times,
)
from polhode.methods._registry import Method, suffix
from polhode.methods._states import TURNED, constructor, extended, velocity_of

INF = math.inf
ROUND_OFF = 1e-15   # of the energy: nothing to correct
REACH = 4e-15       # of the energy: an end of the feasible range counts as reached
NOTHING = 1e-290    # of the momentum, squared: below it squares lose their digits, and there is nothing to correct
SPREAD = 1e-29      # of k, squared: below it the energy does not depend on the direction of momentum


class Infeasible(NamedTuple):
    """How often the wanted energy was out of reach, and the last time: what was wanted, and the range of what is possible."""

    count: float
    E: float
    low: float
    high: float


def infeasible_energy(state):
    """What to tell about steps after which the energy could not be what it should be; empty when there were none."""
    found = getattr(state, "infeasible", None)
    if found is None or not found.count:
        return ""
    times = "once" if found.count == 1 else f"{found.count:.0f} times"
    return (f"; the energy could not be restored {times}: the last time {found.E:.12g} was wanted, and the momentum allows "
            f"{found.low:.12g} to {found.high:.12g}")


# --- the correction -----------------------------------------------------------------------------------------------------

@jit
def smaller(a, b):
    return a if a < b else b


@jit
def larger(a, b):
    return a if a > b else b


@jit
def at_least(u, d):
    """The least s with u + s d >= 0, for d > 0; no bound otherwise."""
    return -u / d if d > 0.0 else -INF


@jit
def onto_polhode(u, k, e):
    """Squares of the direction of momentum with energy sum k u = e, from u; k is scaled to a mean of 1."""
    d = (k[1] - k[2], k[2] - k[0], k[0] - k[1])
    g = scale(1.0 / 3.0, (d[2] - d[1], d[0] - d[2], d[1] - d[0]))
    now = dot(k, u)
    star = axpy((e - now) / nonzero(dot(g, g)), g, u)
    a = times(d, (u[1] * u[2] * k[0] * k[0], u[2] * u[0] * k[1] * k[1], u[0] * u[1] * k[2] * k[2]))
    ad = dot(a, d)
    s = -dot(a, axpy(-e / nonzero(now), u, star)) / nonzero(ad) if ad > 0.0 else 0.0
    low = larger(at_least(star[0], d[0]), larger(at_least(star[1], d[1]), at_least(star[2], d[2])))
    high = -larger(at_least(star[0], -d[0]), larger(at_least(star[1], -d[1]), at_least(star[2], -d[2])))
    u = positive(axpy(smaller(larger(s, low), high), d, star))
    return polished(polished(u, k, e), k, e)


@jit
def positive(u):
    """u with nothing below zero and the sum 1."""
    u = (larger(u[0], 0.0), larger(u[1], 0.0), larger(u[2], 0.0))
    return scale(1.0 / nonzero(u[0] + u[1] + u[2]), u)


@jit
def polished(u, k, e):
    """Take away what rounding left of the energy error, in proportion to u: near an axis, k_i u_i may be more than round-off."""
    now = dot(k, u)
    f = (k[0] - now, k[1] - now, k[2] - now)
    spread = dot(u, times(f, f))
    c = (e - now) / spread if spread > SPREAD * now * now else 0.0
    return positive(axpy(c, times(u, f), u))


@jit
def signed_root(y, m):
    return -math.sqrt(y) if m < 0.0 else math.sqrt(y)


@jit
def restore(m, E, k):
    """Body momentum with kinetic energy E, next to m on its sphere; whether it is possible, and between which energies."""
    L2 = dot(m, m)
    low = 0.5 * L2 * smaller(k[0], smaller(k[1], k[2]))
    high = 0.5 * L2 * larger(k[0], larger(k[1], k[2]))
    now = 0.5 * dot(k, times(m, m))
    right = abs(E - now) <= ROUND_OFF * E or L2 < NOTHING
    inside = low - REACH * E <= E <= high + REACH * E and high > low
    unit = (k[0] + k[1] + k[2]) / 3.0
    u = onto_polhode(scale(1.0 / nonzero(L2), times(m, m)), scale(1.0 / unit, k),
                     2.0 * smaller(larger(E, low), high) / nonzero(L2 * unit))
    new = (signed_root(L2 * u[0], m[0]), signed_root(L2 * u[1], m[1]), signed_root(L2 * u[2], m[2]))
    return new if inside and not right else m, right or inside, low, high


@jit
def turn(q, old, new):
    """The attitude q after the shortest rotation that brings the body momentum from old to new and leaves it alone in space."""
    x, y, z = cross(new, old)
    return renormalise(qmul(q, normalise((x, y, z, dot(new, new) + dot(new, old)))))


# --- work of the torque over a step -------------------------------------------------------------------------------------

@jit
def acceleration(T, Om, body):
    return times(body.Iinv, sub(T, cross(Om, times(body.I, Om))))


@jit
def simpson(h, t, q0, Om0, q1, Om1, body, torque, p):
    """h/6 (P0 + 4 Pm + P1): power at both ends, and half way between a step forward and a step back."""
    T0, T1 = torque.body(t, matrix(q0), Om0, p), torque.body(t + h, matrix(q1), Om1, p)
    A0, A1 = acceleration(T0, Om0, body), acceleration(T1, Om1, body)
    a = qmul(q0, qexp(scale(0.5 * h, axpy(0.25 * h, A0, Om0))))
    b = qmul(q1, qexp(scale(-0.5 * h, axpy(-0.25 * h, A1, Om1))))
    sign = 1.0 if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] > 0.0 else -1.0
    q = normalise((a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2], a[3] + sign * b[3]))
    Om = axpy(0.125 * h, sub(A0, A1), scale(0.5, add(Om0, Om1)))
    return h / 6.0 * (dot(Om0, T0) + 4.0 * dot(Om, torque.body(t + 0.5 * h, matrix(q), Om, p)) + dot(Om1, T1))


# --- the method ---------------------------------------------------------------------------------------------------------

@suffix("ep")
def energy_preserving(base, acting=True):
    """The method with its energy kept, or brought up to the work of the torque, after every step."""
    base = base.worked() if base.worked else base
    has_work = "work" in base.state._fields
    asks = acting and not has_work
    more = 3 if asks else 0
    velocity = velocity_of(base.state)
    state = extended(base.state, E=float, infeasible=Infeasible)
    base_step, base_start = base.step, base.start
    inner = constructor(base.state, "n")
    begin = constructor(state, "n, E, infeasible", E="E", infeasible="infeasible")
    finish = constructor(state, "n, q, m, E, infeasible, body", **TURNED, E="E", infeasible="infeasible",
                         **({"calls": f"n.calls + {more}.0"} if more else {}))

    @jit
    def start(h, t, q, Om, body, torque, p):
        n = base_start(h, t, q, Om, body, torque, p)
        return begin(n, 0.5 * dot(Om, times(body.I, Om)), Infeasible(0.0, 0.0, 0.0, 0.0))

    if asks:
        @jit
        def energy(h, t, s, n, Om, body, torque, p):
            return s.E + simpson(h, t, s.q, velocity(s, body), n.q, Om, body, torque, p)
    elif acting:
        @jit
        def energy(h, t, s, n, Om, body, torque, p):
            return s.E + n.work
    else:
        @jit
        def energy(h, t, s, n, Om, body, torque, p):
            return s.E

    @jit
    def step(h, t, s, body, torque, p):
        n = base_step(h, t, inner(s), body, torque, p)
        Om = velocity(n, body)
        E = energy(h, t, s, n, Om, body, torque, p)
        m = times(body.I, Om)
        new, possible, low, high = restore(m, E, body.Iinv)
        q = turn(n.q, m, new) if new != m else n.q
        infeasible = s.infeasible if possible else Infeasible(s.infeasible.count + 1.0, E, low, high)
        return finish(n, q, new, E, infeasible, body)

    return Method(
        f"{base.name}+ep", step, start, state, base.order if has_work else min(base.order, 4),
        None if base.torques is None else base.torques + more, False, False, tuple(dict.fromkeys((*base.conserves, "energy"))),
        base.free_order, base.solves, base.multistep, base.family,
        cite="buss2001accurate", summary=f"{base.summary}; energy preserving", omega_order=base.omega_order,
        adapt=lambda torque, body: energy_preserving(base.suited(torque, body), torque.acts))
