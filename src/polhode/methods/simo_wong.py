"""Simo & Wong's explicit momentum-conserving algorithm (SW).  Krysl & Endres 2004, appendix A;
gamma = 1 in Buss 2001.

    R' = R exp(h Om + h^2/2 A)
    pi' = pi + h/2 (t + t'),   Om' = I^-1 R'^T pi'
    A' = (Om' - Om)/(gamma h) + (1 - 1/gamma) A

The acceleration is part of the state and is not evaluated.  The first one comes from the equation
of motion, so a restart from attitude and velocity alone is a new start.  With gamma = 1 the
acceleration is the mean of the last step, half a step old: the method is still of second order, but
no longer symmetric, and the energy drifts.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import (
    add,
    axpy,
    cross,
    matrix,
    qexp,
    qmul,
    qrotate,
    qrotate_t,
    renormalise,
    scale,
    sub,
    times,
)
from polhode.methods._registry import method
from polhode.methods._system_newmark import with_newmark


class SimoWongState(NamedTuple):
    q: Quaternion
    pi: Vector  # spatial momentum: exactly constant without torque
    Om: Vector
    A: Vector
    f: Vector  # spatial torque at the end of the last step


@jit
def start(h, t, q, Om, body, torque, p):
    Pi = times(body.I, Om)
    f = torque.spatial(t, matrix(q), Om, p)
    return SimoWongState(
        q, qrotate(q, Pi), Om, times(body.Iinv, sub(qrotate_t(q, f), cross(Om, Pi))), f
    )


@jit
def simo_wong(gamma, h, t, s, body, torque, p):
    q = renormalise(qmul(s.q, qexp(scale(h, axpy(0.5 * h, s.A, s.Om)))))
    f = torque.spatial(t + h, matrix(q), axpy(h, s.A, s.Om), p)
    pi = axpy(0.5 * h, add(s.f, f), s.pi)
    Om = times(body.Iinv, qrotate_t(q, pi))
    A = axpy(1.0 / (gamma * h), sub(Om, s.Om), scale(1.0 - 1.0 / gamma, s.A))
    return SimoWongState(q, pi, Om, A, f)


@method(
    "SW",
    state=SimoWongState,
    start=start,
    order=2,
    torques=1,
    symmetric=True,
    symplectic=False,
    conserves=("momentum",),
    multistep=True,
    family="newmark",
    aliases=("Simo-Wong",),
    cite="simo1991unconditionally",
    best_for="the cheapest step: millions of bodies, graphics processors, games",
    system=with_newmark,
)
@jit
def step(h, t, s, body, torque, p):
    """Simo-Wong, gamma = 1/2: explicit, momentum conserving, remembers its acceleration."""
    return simo_wong(0.5, h, t, s, body, torque, p)


@method(
    "SW1",
    state=SimoWongState,
    start=start,
    order=2,
    torques=1,
    symmetric=False,
    symplectic=False,
    conserves=("momentum",),
    multistep=True,
    family="newmark",
    cite="buss2001accurate",
    system=with_newmark,
)
@jit
def step_one(h, t, s, body, torque, p):
    """Simo-Wong, gamma = 1: explicit, momentum conserving, with an acceleration half a step old."""
    return simo_wong(1.0, h, t, s, body, torque, p)
