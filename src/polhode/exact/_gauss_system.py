"""The equation of motion of a system of bodies, as arrays of 13 n numbers with momenta in place of angular
velocities, for the collocation of `_gauss`:

    q_i' = q_i Om_i/2,  Pi_i' = Pi_i x Om_i + T_i,  x_i' = v_i,  v_i' = a_i
"""

from polhode.core.jit import jit
from polhode.core.loops.system_motion import WIDTH, body_of, parameters_of
from polhode.core.motions import FLIGHT

OMEGA = FLIGHT.slices["omega"].start  # where it is in the numbers of a body


@jit
def motions_at(motions, j):
    """A row of an array."""
    return motions[j]


@jit
def put_motions(y, motions, j):
    motions[j] = y


@jit
def slope(t, y, body, torque, p):
    """y', in another array.  The angular acceleration over I^-1 is the torque to the last digits, in which
    1/I would otherwise err in the same way in every step."""
    moving = y.copy()
    for i in range(len(body)):
        for m in range(3):
            moving[WIDTH * i + OMEGA + m] /= body[i, m]
    f = y.copy()
    torque.slopes(t, moving, f, body, p)
    for i in range(len(body)):
        for m in range(3):
            f[WIDTH * i + OMEGA + m] /= body[i, 3 + m]
    return f


# what a loop of `_gauss` is bound to
FUNCTIONS = {
    "slope": slope,
    "load_motion": motions_at,
    "store_motion": put_motions,
    "load_body": body_of,
    "load_parameters": parameters_of,
}
