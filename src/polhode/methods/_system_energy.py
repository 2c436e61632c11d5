"""Energy preservation for systems of bodies: NAME+ep.

Buss restores the energy of a body where its momentum is, by a turn.  In a system the total momenta P
and L are known as well as the total energy H, and they are what is to stay.  Of all motions from the
same places with these momenta the one of least kinetic energy is that of a rigid body,

    v_i = V + w x r_i,  omega_i = w,     M V = P,  J w = L,  J the inertia of all bodies together,

about the centre of mass, and what a motion has beside it has no momentum and adds its energy K.  So

    v_i' = v_i + (c - 1)(v_i - V - w x r_i),   Om_i' = Om_i + (c - 1)(Om_i - R_i^T w),   c^2 = 1 + (H - energy)/K

gives the total energy H, and changes neither momentum.  Positions, attitudes and forces stay, so that
nothing is evaluated but the potential energy.  The error that is corrected is that of a step, divided
by K: the method keeps its order unless the bodies move like a rigid one.  Where a body is fixed, or
something outside acts, the momenta are not kept, and V and w are zero.
"""

import math
from functools import cache
from typing import Any, NamedTuple, get_type_hints

from polhode.core.jit import apart, jit
from polhode.core.layout import layout
from polhode.core.scalars import nonzero
from polhode.core.systems import LIGHTNESS, NOTHING, SystemState, body_at
from polhode.core.vec import (
    add,
    apply,
    apply_t,
    axpy,
    cross,
    dot,
    madd,
    matrix,
    mscale,
    outer,
    qrotate,
    scale,
    solve,
    sub,
    times,
)
from polhode.methods._states import TURNED, constructor, extended, velocity_of

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ROUND_OFF = 1e-15  # of the energy: nothing to correct
FURTHEST = 0.2  # change of K, relative: a step with a larger error is beyond repair
SPREAD = 1e-12  # of the kinetic energy: a smaller K is rounding
TURNED_BACK = {**TURNED, "q": "n.q", "R": "n.R", "pi": "qrotate(n.q, m)"}


def not_restored(count):
    """That energies were not restored, in words; "" where they all were."""
    steps = "1 step" if count == 1 else f"{count:.0f} steps"
    return count and (
        f"the energy was not restored after {steps}: what is missing is more than a fifth of the energy that the bodies have "
        "beside their common motion"
    )


class Common(NamedTuple):
    """The motion of all bodies as one rigid body."""

    centre: Any
    v: Any
    w: Any


@jit
def inertia(R, I):
    """R I R^T."""
    a, b, c = (R[0][0], R[1][0], R[2][0]), (R[0][1], R[1][1], R[2][1]), (R[0][2], R[1][2], R[2][2])
    return madd(
        mscale(I[0], outer(a, a)), madd(mscale(I[1], outer(b, b)), mscale(I[2], outer(c, c)))
    )


@jit
def no_common_motion(z, body, load, velocity):
    return Common(NOTHING, NOTHING, NOTHING)


@jit
def common_motion(z, body, load, velocity):
    """The rigid motion that has the momenta of all bodies."""
    mass, centre, v = 0.0, NOTHING, NOTHING
    for i in range(len(z)):
        s, m = load(z, i), 1.0 / body[i, LIGHTNESS]
        mass, centre, v = mass + m, axpy(m, s.x, centre), axpy(m, s.v, v)
    centre, v = scale(1.0 / mass, centre), scale(1.0 / mass, v)
    J, L = mscale(0.0, IDENTITY), NOTHING
    for i in range(len(z)):
        s, m, b = load(z, i), 1.0 / body[i, LIGHTNESS], body_at(body, i)
        R, r = matrix(s.q), sub(s.x, centre)
        L = add(axpy(m, cross(r, sub(s.v, v)), L), apply(R, times(b.I, velocity(s, b))))
        around = madd(mscale(dot(r, r), IDENTITY), mscale(-1.0, outer(r, r)))
        J = madd(J, madd(inertia(R, b.I), mscale(m, around)))
    return Common(centre, v, solve(J, L))


@jit
def beside(c, s, R, Om):
    """Velocity and body angular velocity that a body has beside the common motion."""
    return sub(sub(s.v, c.v), cross(c.w, sub(s.x, c.centre))), sub(Om, apply_t(R, c.w))


@jit
def mass_of(body, i):
    """The mass of a body; 0 where it is fixed, and does not move."""
    w = body[i, LIGHTNESS]
    return 1.0 / w if w > 0.0 else 0.0


def keeping_energy_of_all(base, bodies):
    """What becomes of a method as it runs with these bodies: the total energy is kept after each
    step."""
    free = not (bodies.interaction.external or bodies.fixed.any() or len(bodies) == 1)
    common = common_motion if free else no_common_motion
    return restoring(base.row, base.start, base.step, common)


@cache
def restoring(base_row, base_start, base_step, common):
    """Row, start and step that keep the energy."""
    fields = get_type_hints(base_row)
    # what the correction reads and writes: the first eight fields, and the state of a method's own
    some = list(fields)[:8] + ["base"] * ("base" in fields)
    own: Any = NamedTuple("Own", [(name, fields[name]) for name in some])  # type: ignore[misc]
    row = extended(base_row, H=float, unrestored=float)
    at = layout(base_row).size  # where H is
    load, store = layout(own, rows=True).unpack, layout(own, rows=True).pack
    velocity = velocity_of(own)
    scope = {"times": times, "qrotate": qrotate, "matrix": matrix}
    known = {name: text for name, text in TURNED_BACK.items() if name in some}
    if "base" in some:
        inside = {k: v for k, v in TURNED_BACK.items() if k in fields["base"]._fields}
        scope["rebased"] = constructor(fields["base"], "n, m, body", **inside)
        known["base"] = "rebased(n.base, m, body)"
    moved = constructor(own, "n, v, m, body", scope, v="v", **known)

    @apart
    def energies(t, z, body, torque, p):
        """Kinetic and potential energy of all bodies."""
        total = 0.0
        for i in range(len(z)):
            s, b = load(z, i), body_at(body, i)
            Om = velocity(s, b)
            torque.place(s.q, Om, s.x, s.v, body, i, p.places)
            total += 0.5 * (mass_of(body, i) * dot(s.v, s.v) + dot(Om, times(b.I, Om)))
        return total, torque.potential(t, p)

    @apart
    def start(h, t, motions, z, body, torque, p):
        base_start(h, t, motions, z, body, torque, p)
        kinetic, V = energies(t, z, body, torque, p)
        z[0, at] = kinetic + V

    @apart
    def restore(t, z, body, torque, p):
        kinetic, V = energies(t, z, body, torque, p)
        miss = z[0, at] - (kinetic + V)
        if abs(miss) <= ROUND_OFF * (kinetic + abs(V)):
            return
        c, K = common(z, body, load, velocity), 0.0
        for i in range(len(z)):
            s, b = load(z, i), body_at(body, i)
            v, Om = beside(c, s, matrix(s.q), velocity(s, b))
            K += 0.5 * (mass_of(body, i) * dot(v, v) + dot(Om, times(b.I, Om)))
        if SPREAD * kinetic >= K or not abs(miss) <= FURTHEST * K:
            z[0, at + 1] += 1.0
            return
        more = miss / nonzero(K)
        more = more / (1.0 + math.sqrt(1.0 + more))  # c - 1
        for i in range(len(z)):
            s, b = load(z, i), body_at(body, i)
            Om = velocity(s, b)
            dv, dOm = beside(c, s, matrix(s.q), Om)
            v, m = axpy(more, dv, s.v), times(b.I, axpy(more, dOm, Om))
            store(moved(s, v, m, b), z, i)

    @jit
    def step(h, t, s, body, torque, p):
        s = base_step(h, t, s, body, torque, p)
        restore(t + h, s.z, body, torque, p)
        return SystemState(s.residual, s.z, 0.0)

    return {
        "row": row,
        "start": start,
        "step": step,
        "potential": True,
        "counted": (("unrestored", not_restored),),
        "restores_energy": True,
    }
