"""Simo & Wong's method as Buss prints it (gamma = 1), with his first-order first step.

Buss's method is not self-starting, and he begins with a step of his first-order method: no
acceleration is known before the first step.  The library's SW1 starts from the equation of motion
instead and needs fewer steps.
"""

from polhode.core.jit import jit
from polhode.core.vec import matrix, qrotate, times
from polhode.methods import get
from polhode.methods._method import variant
from polhode.methods.simo_wong import SimoWongState


@jit
def start(h, t, q, Om, body, torque, p):
    return SimoWongState(
        q, qrotate(q, times(body.I, Om)), Om, (0.0, 0.0, 0.0), torque.spatial(t, matrix(q), Om, p)
    )


SW_AS_PRINTED = variant(get("SW1"), name="SW1, first-order start", start=start)
