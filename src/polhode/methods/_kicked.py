"""What kick-drift-kick methods share: H = T + V, half a kick by the torque, a free motion, half a kick.

    Pi-  = Pi + h/2 T(t, R)          kick
    (R', Pi-') = drift_h(R, Pi-)     torque-free motion, by the method
    Pi'  = Pi-' + h/2 T(t', R')      kick

The torque of the last kick is also that of the first kick of the next step.  The free motion
rotates Pi and does not change its length; `of_length` corrects the rounding error of the length.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import axpy, times
from polhode.methods._length import of_length, square


class KickedState(NamedTuple):
    q: Quaternion
    Pi: Vector  # body momentum
    T: Vector  # body torque at the end of the last step
    residual: float
    excess: float  # of |Pi|^2, relative: see of_length


@jit
def start(h, t, q, Om, body, torque, p):
    return KickedState(q, times(body.I, Om), torque.at(t, q, Om, p), 0.0, 0.0)


@jit
def kicked(drift, h, t, s, body, torque, p):
    """Kick, drift, kick.  `drift(h, q, Pi, body) -> (q', Pi', residual)`."""
    before = axpy(0.5 * h, s.T, s.Pi)
    q, after, residual = drift(h, s.q, before, body)
    Pi, excess = of_length(square(before), after, s.excess)
    # a torque that looks at the velocity gets the one half a kick ahead, which is second-order
    # accurate
    T = torque.at(t + h, q, times(body.Iinv, axpy(0.5 * h, s.T, Pi)), p)
    return KickedState(q, axpy(0.5 * h, T, Pi), T, residual, excess)
