"""What kick-drift-kick methods share: H = T + V, half a kick by the torque, a free motion, half a kick.

    Pi-  = Pi + h/2 T(t, R)          kick
    (R', Pi-') = drift_h(R, Pi-)     torque-free motion, by the method
    Pi'  = Pi-' + h/2 T(t', R')      kick

The torque of the last kick is also that of the first kick of the next step.  The moves are those of
`polhode.core.kicks`: in flight they also carry the translation.
"""

from collections.abc import Callable
from typing import Any

from polhode.core.jit import jit
from polhode.core.kicks import FlyingState, spun, start_flight
from polhode.core.systems import SystemState, launched
from polhode.methods._method import Method, variant


@jit
def kicked(drift, h, t, s, body, torque, p):
    """Kick, drift, kick.  `drift(h, q, Pi, body) -> (q', Pi', residual)`."""
    moves = torque.kicks
    s = moves.kick(0.5 * h, moves.fresh(s))
    s = moves.drift(drift, h, h, s, body)
    # a torque that looks at the velocity gets the one half a kick ahead, which is second-order
    # accurate
    s = moves.pull(t + h, 0.5 * h, s, body, torque, p)
    return moves.kick(0.5 * h, s)


def in_flight(method: Method) -> Method:
    """The method for a body that flies: the same step, on a state with position and velocity."""
    return variant(method, state=FlyingState, start=start_flight)


def in_system(method: Method, system: Any) -> Method:
    """The method for a system of bodies: the same step, whose moves are those of all bodies."""
    return variant(method, state=SystemState, start=launched, row=FlyingState)


def with_rotors(step: Callable[[], Callable]) -> Callable[[Method, int], Method]:
    """`Method.rotors` of a method made of kicks and drifts; `step()` is its step with a free motion
    of the body that carries the rotors."""

    def spinning(method, n):
        found = spun(method.state is FlyingState, n)
        return variant(method, step=step(), state=found.state, start=found.start)

    return spinning
