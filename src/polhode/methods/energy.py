"""Energy preservation for any method: NAME+ep.  Buss 2001, section 4, for the free body, and the
nearest state under a torque.

A correction needs an energy that is known better than the step knows it.  There are three cases.

Free body.  Energy and |m| are those of the start.  After a step of the method the body is turned a little about an axis across
its momentum, so that the momentum stays where it is in space and the energy becomes what it should be.  In body coordinates the
momentum m moves over the sphere |m| = L from one polhode to another, along the hyperboloid that meets the polhodes at right
angles.  With y_i = m_i^2, k_i = 1/J_i, g = k - mean(k) and d = (k2 - k3, k3 - k1, k1 - k2):

    y* = y0 + 2 (E - Ec) g / g.g                                            right momentum and energy,
    y = y* + s d                                                            still so, for every s;
    s = - sum a_i (y*_i - y0_i E/Ec) / sum a_i d_i,  a_i = d_i y0_j y0_k k_i^2     on the hyperboloid,

s cut to where y >= 0.  The paper's 3x3 system is singular when the momentum lies on a principal axis, and may want a negative
square; its rho is printed with an inconsistent scale (it is nu / sqrt(nu.J nu), and E = (rho.L)^2 / 2).  This form fails only
where success is impossible: when E is outside [L^2/2Jmax, L^2/2Jmin].  An error of the energy is 1/(spread of the moments) times
as large as an angle.  Hence |m| is restored first, which a method may have wrong, and a body that is a sphere to almost all
digits is left as it is.  Where energy and |m| are right to round-off nothing is done.

A torque with a potential that does not change with time.  Kinetic plus potential energy is that of
the start.  Now the momentum has an error as well as the attitude, and to blame the attitude alone
would amplify it by 1/(spread of the moments).  The state is moved to the nearest one of the right
energy, in radians of attitude and relative to |m|.  That is along the gradient: with G = nu x m -
T, the energy changes by G.theta when the body turns by theta, and by nu.dm when its momentum
changes,

    theta = a G,   dm = a |m|^2 nu,   a = (H - energy) / (G.G + |m|^2 nu.nu)                       to first order;

two more rounds, with the slope that the first one shows, leave the sixth power of the error.  The
nearest state is no further from the one computed than the true one is, so that the correction is
never larger than the error of the step, and the method keeps its order.

A system of bodies whose interaction has a potential: see `_system_energy.py`.

Any other torque.  The energy is known only from the work of the torque, which has errors of its
own, as large as those that are to be corrected.  Steps stay as they are, and the run says so.

Without torque an odd-order method drifts like one of the next order, 1+ep like 2, 3+ep like 4, 5+ep
like 6: the free motion is reversible, and the leading error of an odd-order method can grow with
time only in energy.  What stays of the order itself is an oscillation with the period of the
polhode, small beside the drift until the steps are very short.
"""

import math

from polhode.core.constant import Constant
from polhode.core.jit import jit
from polhode.core.scalars import nonzero
from polhode.core.vec import (
    axpy,
    cross,
    dot,
    matrix,
    normalise,
    qmul,
    qrotate_t,
    renormalise,
    scale,
    sub,
    times,
)
from polhode.methods._method import Method, variant
from polhode.methods._registry import suffix
from polhode.methods._system_energy import keeping_energy_of_all
from polhode.methods.compose import larger
from polhode.methods._states import MOVED, TURNED, constructor, extended, velocity_of

INF = math.inf
# of the energy: nothing to correct
ROUND_OFF = Constant(1e-15, single=5e-7)
# of the energy: an end of the feasible range counts as reached
REACH = Constant(4e-15, single=2e-6)
# of the momentum, squared: below it squares lose their digits, and there is nothing to correct
NOTHING = 1e-290
# of k, squared: below it the energy does not depend on the direction of momentum
SPREAD = Constant(1e-29, single=1e-12)
# of the energy: a range of possible energies less wide does not tell the direction of momentum
SPHERE = Constant(1e-6, single=1e-2)
FARTHEST = 0.01  # square of radians: a step with a larger error is beyond repair


def not_restored(count):
    """That energies were not restored, in words; "" where they all were."""
    steps = "1 step" if count == 1 else f"{count:.0f} steps"
    return count and (
        f"the energy was not restored after {steps}: the correction would have been ill-conditioned or more than "
        "0.1 rad"
    )


UNRESTORED = (("unrestored", not_restored),)


# --- the correction of a free body ----------------------------------------------------------------


@jit
def smaller(a, b):
    return a if a < b else b


@jit
def at_least(u, d):
    """The least s with u + s d >= 0, for d > 0; no bound otherwise."""
    return -u / d if d > 0.0 else -INF


@jit
def onto_polhode(u, k, e):
    """Squares of the direction of momentum with energy sum k u = e, from u; k is scaled to a mean
    of 1."""
    d = (k[1] - k[2], k[2] - k[0], k[0] - k[1])
    g = scale(1.0 / 3.0, (d[2] - d[1], d[0] - d[2], d[1] - d[0]))
    now = dot(k, u)
    star = axpy((e - now) / nonzero(dot(g, g)), g, u)
    a = times(d, (u[1] * u[2] * k[0] * k[0], u[2] * u[0] * k[1] * k[1], u[0] * u[1] * k[2] * k[2]))
    ad = dot(a, d)
    s = -dot(a, axpy(-e / nonzero(now), u, star)) / nonzero(ad) if ad > 0.0 else 0.0
    low = larger(at_least(star[0], d[0]), larger(at_least(star[1], d[1]), at_least(star[2], d[2])))
    high = -larger(
        at_least(star[0], -d[0]), larger(at_least(star[1], -d[1]), at_least(star[2], -d[2]))
    )
    u = positive(axpy(smaller(larger(s, low), high), d, star))
    return polished(polished(u, k, e), k, e)


@jit
def positive(u):
    """u with nothing below zero and the sum 1."""
    u = (larger(u[0], 0.0), larger(u[1], 0.0), larger(u[2], 0.0))
    return scale(1.0 / nonzero(u[0] + u[1] + u[2]), u)


@jit
def polished(u, k, e):
    """Take away what rounding left of the energy error, in proportion to u: near an axis, k_i u_i
    may be more than round-off."""
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
    """Body momentum with kinetic energy E, next to m on its sphere; whether it is possible, and
    between which energies."""
    L2 = dot(m, m)
    low = 0.5 * L2 * smaller(k[0], smaller(k[1], k[2]))
    high = 0.5 * L2 * larger(k[0], larger(k[1], k[2]))
    now = 0.5 * dot(k, times(m, m))
    right = abs(E - now) <= ROUND_OFF * E or L2 < NOTHING
    inside = low - REACH * E <= E <= high + REACH * E and high > low
    unit = (k[0] + k[1] + k[2]) / 3.0
    u = onto_polhode(
        scale(1.0 / nonzero(L2), times(m, m)),
        scale(1.0 / unit, k),
        2.0 * smaller(larger(E, low), high) / nonzero(L2 * unit),
    )
    new = (signed_root(L2 * u[0], m[0]), signed_root(L2 * u[1], m[1]), signed_root(L2 * u[2], m[2]))
    return new if inside and not right else m, right or inside, low, high


@jit
def turn(q, old, new):
    """The attitude q after the shortest rotation that brings the body momentum from old to new and
    leaves it alone in space."""
    x, y, z = cross(new, old)
    return renormalise(qmul(q, normalise((x, y, z, dot(new, new) + dot(new, old)))))


@jit
def resized(m, L2):
    """m with the square L2, unless it is that to round-off."""
    now = dot(m, m)
    return (
        m
        if abs(now - L2) <= ROUND_OFF * L2 or now < NOTHING
        else scale(math.sqrt(L2 / nonzero(now)), m)
    )


# --- the correction under a torque with a potential -----------------------------------------------


@jit
def moved(q, m, a, G, P):
    """Attitude and body momentum after a turn by a G and, in space, a change of the momentum by a
    P."""
    d = normalise((0.5 * a * G[0], 0.5 * a * G[1], 0.5 * a * G[2], 1.0))
    return renormalise(qmul(q, d)), qrotate_t(d, axpy(a, P, m))


@jit
def nearest_state(t, q, m, H, body, torque, p):
    """Attitude and body momentum with the energy H, next to q and m; whether they are others, and
    whether they were found."""
    nu = times(body.Iinv, m)
    kinetic, V = 0.5 * dot(nu, m), torque.potential(t, matrix(q), p)
    G = sub(cross(nu, m), torque.body(t, matrix(q), nu, p))
    L2 = dot(m, m)
    P = scale(L2, nu)
    slope = nonzero(dot(G, G) + L2 * dot(nu, nu))
    noise = ROUND_OFF * (kinetic + abs(V))
    miss = H - (kinetic + V)
    a = miss / slope
    far = a * miss
    near_q, near_m = moved(q, m, a, G, P)
    left = missing(t, near_q, near_m, H, body, torque, p)
    bend = smaller(larger(left / nonzero(miss), -0.2), 0.2)
    # the slope where the energy is right, from what the first round left
    steep = slope * (1.0 - 2.0 * bend)
    a = a + left / steep
    near_q, near_m = moved(q, m, a, G, P)
    left = missing(t, near_q, near_m, H, body, torque, p)
    right = abs(miss) <= noise
    found = far <= FARTHEST and abs(left) <= 0.0625 * abs(miss) + noise
    new_q, new_m = moved(q, m, a + left / steep, G, P)
    change = found and not right
    return new_q if change else q, new_m if change else m, change, right or found


@jit
def missing(t, q, m, H, body, torque, p):
    return H - (0.5 * dot(m, times(body.Iinv, m)) + torque.potential(t, matrix(q), p))


# --- the method -----------------------------------------------------------------------------------


@suffix("ep")
def energy_preserving(base):
    """The method with the energy kept after every step, where it is known."""

    def adapt(torque, body):
        if torque is None:  # not known, as for systems
            return named
        suited = base.suited(torque, body)
        if not torque.acts:
            return variant(named, **keeping_energy(suited))
        unknown = torque.energy_unknown()
        if not unknown:
            return variant(named, **keeping_total_energy(suited))
        return variant(
            named,
            step=suited.step,
            start=suited.start,
            state=suited.state,
            torques=suited.torques,
            remark=f"no energy was restored: {unknown}",
        )

    def in_system(entry, bodies):
        suited = base.suited(None, bodies)
        inner, unknown = suited.system(suited, bodies), bodies.interaction.energy_unknown()
        if unknown:
            return variant(inner, name=entry.name, remark=f"no energy was restored: {unknown}")
        lost = {"symmetric": entry.symmetric, "symplectic": entry.symplectic}
        return variant(inner, name=entry.name, **lost, **keeping_energy_of_all(inner, bodies))

    named = Method(
        f"{base.name}+ep",
        base.step,
        base.start,
        base.state,
        base.order,
        base.torques,
        base.symmetric and None,
        base.symplectic and None,
        tuple(dict.fromkeys((*base.conserves, "energy"))),
        base.free_order,
        base.solves,
        # symmetric and symplectic: lost where energy is restored, kept where it is not
        base.multistep,
        base.family,
        cite="buss2001accurate",
        builds_on=base.references,
        flaw=base.flaw,
        summary=f"{base.summary}; energy preserving",
        omega_order=base.omega_order,
        adapt=adapt,
        system=base.system and in_system,
        restores_energy=True,
    )
    return named


def keeping_energy(base):
    """Step, start and state of a method for free bodies with its energy kept."""
    velocity, inner = velocity_of(base.state), constructor(base.state, "n")
    state = extended(base.state, E=float, L2=float, unrestored=float)
    base_step, base_start = base.step, base.start
    begin = constructor(state, "n, E, L2", E="E", L2="L2", unrestored="0.0")
    finish = constructor(
        state,
        "n, q, m, s, failed, body",
        **TURNED,
        E="s.E",
        L2="s.L2",
        unrestored="s.unrestored + failed",
    )

    @jit
    def start(h, t, q, Om, body, torque, p):
        m = times(body.I, Om)
        return begin(base_start(h, t, q, Om, body, torque, p), 0.5 * dot(Om, m), dot(m, m))

    @jit
    def step(h, t, s, body, torque, p):
        n = base_step(h, t, inner(s), body, torque, p)
        m = resized(times(body.I, velocity(n, body)), s.L2)
        new, possible, low, high = restore(m, s.E, body.Iinv)
        sphere = new != m and high - low < SPHERE * s.E
        new = m if sphere else new
        q = turn(n.q, m, new) if new != m else n.q
        return finish(n, q, new, s, 0.0 if possible and not sphere else 1.0, body)

    return {
        "step": step,
        "start": start,
        "state": state,
        "torques": base.torques,
        "counted": UNRESTORED,
    }


def keeping_total_energy(base):
    """Step, start and state of a method with kinetic plus potential energy kept."""
    velocity, inner = velocity_of(base.state), constructor(base.state, "n")
    state = extended(base.state, H=float, unrestored=float)
    base_step, base_start = base.step, base.start
    begin = constructor(state, "n, H", H="H", unrestored="0.0")
    finish = constructor(
        state,
        "n, q, m, change, s, failed, body",
        **MOVED,
        H="s.H",
        unrestored="s.unrestored + failed",
        **({"calls": "n.calls + 1.0"} if base.torques is None else {}),
    )

    @jit
    def start(h, t, q, Om, body, torque, p):
        H = 0.5 * dot(Om, times(body.I, Om)) + torque.potential(t, matrix(q), p)
        return begin(base_start(h, t, q, Om, body, torque, p), H)

    @jit
    def step(h, t, s, body, torque, p):
        n = base_step(h, t, inner(s), body, torque, p)
        q, m, change, found = nearest_state(
            t + h, n.q, times(body.I, velocity(n, body)), s.H, body, torque, p
        )
        return finish(n, q, m, change, s, 0.0 if found else 1.0, body)

    return {
        "step": step,
        "start": start,
        "state": state,
        "potential": True,
        "counted": UNRESTORED,
        "torques": None if base.torques is None else base.torques + 1,
    }
