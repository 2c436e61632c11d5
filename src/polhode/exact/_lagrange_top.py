"""The symmetric heavy top, exactly.  The mathematics is in core/heavy_top.py, the constants in
exact/_top.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.bodies.rotor import refuse_rotors
from polhode.core.closed.heavy_top import Top, at
from polhode.core.jit import bind
from polhode.core.layout import flatten, layout
from polhode.errors import InputError, floats, number
from polhode.exact._free_body import check_far, free_body
from polhode.exact._motion import ExactMotion
from polhode.exact._top import prepare

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

unpack = layout(Top).unpack
OVER = np.array([1.0, 0.0, 0.0, 0.0])  # half a turn about x: exchanges up and down


@dataclass(frozen=True)
class TopMotion(ExactMotion):
    """A motion of the heavy top at the times t."""

    t: np.ndarray
    quaternion: np.ndarray  # body to space, scalar last; shape t.shape + (4,)
    omega: np.ndarray  # body frame
    heights: tuple  # lowest and highest value of R33, the cosine of the tilt
    # period of the tilt; inf on the homoclinic motion and where the tilt is constant
    nutation: float


def lagrange_top(
    moments: RigidBody | ArrayLike,
    moment: float,
    rotation0: Rotation | ArrayLike | None = None,
    omega0: ArrayLike | None = None,
    t: ArrayLike = 0.0,
) -> TopMotion:
    """The motion of a symmetric heavy top with its fixed point on the axis, as under
    `torques.heavy_top(moment)`.

    Any spin and any tilt: sleeping, unstable, homoclinic, hanging, a pendulum through the vertical,
    a regular precession.

    Parameters
    ----------
    moments : (I1, I1, I3) about the fixed point, or RigidBody
    moment : float
        M g l; negative for a centre of mass below the fixed point on the body's axis.
    rotation0 : as for `integrate`
    omega0 : three numbers
        Body angular velocity.
    t : float or array
        Times since the initial state.

    Examples
    --------
    >>> top = lagrange_top([5.0, 5.0, 1.0], 20.0, [0.3, 0.0, 0.0], [0.0, 0.0, 50.0], 10.0)
    >>> top.matrix[2].round(9)
    array([-0.11052279,  0.29543223,  0.94894916])
    """
    if isinstance(moments, RigidBody):
        refuse_rotors(moments, "lagrange_top")
    moments = (
        moments.moments
        if isinstance(moments, RigidBody) and moments.is_principal
        else floats("moments", moments)
    )
    if moments.shape != (3,) or moments[0] != moments[1] or not np.all(moments > 0.0):
        raise InputError(
            f"moments must be (I1, I1, I3), positive and about the axis of symmetry, got {moments.tolist()}; "
            "give them in this order"
        )
    moment, times = number("moment", moment), floats("t", t)
    omega0 = floats("omega0", (0.0, 0.0, 0.0) if omega0 is None else omega0)
    if omega0.shape != (3,):
        raise InputError(f"omega0 must be three numbers, got shape {omega0.shape}; give three")
    q0 = rotations.as_quaternion(rotation0)
    if _negligible(moment, moments.max(), np.abs(omega0).max()):
        free = free_body(moments, q0, omega0, times)
        return TopMotion(times, free.quaternion, free.omega, *_without_weight(moments, q0, omega0))
    top, heights, k, z_rate = prepare(
        moments[0], moments[2], abs(moment), q0 if moment > 0 else rotations.qmul(OVER, q0), omega0
    )
    q, omega = np.empty((times.size, 4)), np.empty((times.size, 3))
    bind(_evaluate)(times.flatten(), np.array(flatten(top)).reshape(-1, 1), q, omega)
    check_far(times, q)
    if moment < 0:
        q, heights = rotations.qmul(-OVER, q), (-heights[1], -heights[0])
    return TopMotion(
        times,
        q.reshape((*times.shape, 4)),
        omega.reshape((*times.shape, 3)),
        heights,
        np.pi / float(z_rate) if k and z_rate else np.inf,
    )


def _without_weight(moments, q0, omega0):
    """Heights and period of the tilt of a free top: its axis goes round the momentum evenly, at the
    rate |L| / I1."""
    size = np.abs(omega0).max()
    Pi = moments / moments[0] * (omega0 / (size or 1.0))  # L / I1, in units of `size`
    pi, L = rotations.rotate(q0, Pi), math.sqrt((Pi * Pi).sum())
    if L == 0.0:
        u = float(rotations.matrices(q0)[2, 2])
        return (u, u), np.inf
    along, across = (
        Pi[2] / L * (pi[2] / L),
        math.hypot(Pi[0], Pi[1]) / L * (math.hypot(pi[0], pi[1]) / L),
    )
    return (max(float(along - across), -1.0), min(float(along + across), 1.0)), (
        2.0 * math.pi / L / size if across else math.inf
    )


def _negligible(moment, inertia, rate):
    """Whether the weight changes nothing that a double shows, however long the top turns."""
    with np.errstate(over="ignore", under="ignore"):
        return moment == 0.0 or (rate > 0.0 and abs(moment) / inertia / rate / rate < 1e-50)


def _evaluate(t, constants, attitudes, velocities):
    c = unpack(constants, 0)
    for j in range(len(t)):
        q, omega = at(t[j], c)
        for i in range(4):
            attitudes[j, i] = q[i]
        for i in range(3):
            velocities[j, i] = omega[i]
