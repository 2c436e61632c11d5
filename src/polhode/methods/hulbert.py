"""Hulbert's staggered momentum-conserving algorithm (HSTAGM).  Krysl & Endres 2004, appendix A,
after Hulbert 1992.

Two copies of the motion, half a step apart, each driven by the velocity and the torque of the
other:

    R'   = R exp(h Om+),     pi'   = pi + h t(R+)            whole steps, with values half a step ahead (+)
    R'+  = R+ exp(h Om'),    pi'+  = pi+ + h t(R')           half steps

It starts with R+ = R exp(Th), Th = h/2 Om + h^2/8 A, and pi+ = pi + h/2 t(R exp(Th/2)), where A
contains the body torque R^T t; the paper prints t.  Nothing keeps the two copies together.  On the
slow top with h = 0.1 they are 5e-3 rad apart after 1.5 s, 0.1 after 7.5 s and 2 after 12 s, where
the run diverges.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import (
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


class HulbertState(NamedTuple):
    q: Quaternion
    pi: Vector
    q_ahead: Quaternion  # half a step ahead
    pi_ahead: Vector


@jit
def start(h, t, q, Om, body, torque, p):
    Pi = times(body.I, Om)
    pi = qrotate(q, Pi)
    f = torque.spatial(t, matrix(q), Om, p)
    A = times(body.Iinv, sub(qrotate_t(q, f), cross(Om, Pi)))
    Th = axpy(0.125 * h * h, A, scale(0.5 * h, Om))
    quarter = qmul(q, qexp(scale(0.5, Th)))
    f = torque.spatial(t + 0.25 * h, matrix(quarter), axpy(0.25 * h, A, Om), p)
    return HulbertState(q, pi, qmul(q, qexp(Th)), axpy(0.5 * h, f, pi))


@method(
    "HSTAGM",
    state=HulbertState,
    start=start,
    order=2,
    torques=2,
    symmetric=True,
    symplectic=False,
    conserves=("momentum",),
    multistep=True,
    family="newmark",
    cite="hulbert1992explicit",
)
@jit
def step(h, t, s, body, torque, p):
    """Hulbert's staggered explicit algorithm: two copies half a step apart."""
    Om_ahead = times(body.Iinv, qrotate_t(s.q_ahead, s.pi_ahead))
    q = renormalise(qmul(s.q, qexp(scale(h, Om_ahead))))
    pi = axpy(h, torque.spatial(t + 0.5 * h, matrix(s.q_ahead), Om_ahead, p), s.pi)
    Om = times(body.Iinv, qrotate_t(q, pi))
    q_ahead = renormalise(qmul(s.q_ahead, qexp(scale(h, Om))))
    pi_ahead = axpy(h, torque.spatial(t + h, matrix(q), Om, p), s.pi_ahead)
    return HulbertState(q, pi, q_ahead, pi_ahead)
