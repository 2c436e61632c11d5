"""The torque-free motion of a gyrostat.  The mathematics is in core/closed/gyrostat_motion.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.core.closed.gyrostat_motion import MOST, Marching, onward, parts
from polhode.core.jit import bind
from polhode.core.rotors import Carrier
from polhode.engine.one_body import as_body, initial_rotation
from polhode.errors import InputError, brief, floats
from polhode.exact._free_body import check_far
from polhode.exact._motion import ExactMotion
from polhode.results.motion import ATTITUDE, OMEGA, in_user_axes
from polhode.support.frames import rows_times

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

LONG = 2.0**1000  # a part of a motion in which nothing changes but the angle about one axis


@dataclass(frozen=True)
class GyrostatMotion(ExactMotion):
    """A free motion of a gyrostat at the times t.  Shapes are t.shape + (component,)."""

    t: np.ndarray
    quaternion: np.ndarray  # body to space, scalar last
    omega: np.ndarray  # body frame, the user's own axes
    momentum: np.ndarray  # body frame, of body and rotors
    rotor_speeds: np.ndarray  # relative to the body


def gyrostat(
    body: RigidBody,
    rotation0: Rotation | ArrayLike | None = None,
    omega0: ArrayLike | None = None,
    t: ArrayLike = 0.0,
    *,
    momentum0: ArrayLike | None = None,
) -> GyrostatMotion:
    """The torque-free motion of a body whose rotors turn freely or are held at constant speed, from
    attitude `rotation0` and body angular velocity `omega0`, at the times `t`.

    By Weierstrass's elliptic functions, in parts of up to 0.4 radian, with what rounding does to
    energy and momentum taken back: the attitude is good to about 1e-15 of the angle through which
    the body has turned, and to less where rotations of the body are unstable.

    Parameters
    ----------
    body : RigidBody
        Its rotors start with their own speeds or momenta.  `free_body` follows one without rotors,
        in one part.
    rotation0 : as for `integrate`
    omega0, momentum0 : three numbers
        Angular velocity or angular momentum (of body and rotors), body frame; one of the two.
    t : float or array
        Times since the initial state.

    Examples
    --------
    >>> from polhode import RigidBody, Rotor
    >>> body = RigidBody([1.0, 2.0, 3.0], rotors=[Rotor((0, 1, 0), 0.05, speed=30.0)])
    >>> gyrostat(body, None, [0.01, 1.0, 0.0], [0.0, 20.0, 40.0]).omega[:, 1].round(3)
    array([1., 1., 1.])
    """
    if not isinstance(body, RigidBody):
        raise InputError(
            f"gyrostat follows a RigidBody with rotors, got {brief(body)}; make one, or use exact.free_body"
        )
    for i, one in enumerate(body.rotors):
        if not (one.is_free or one.is_held):
            raise InputError(
                f"gyrostat follows rotors that turn freely or are held at constant speed, and rotor {i + 1} of this "
                f"body is {'driven by a torque' if one.torque else 'slowed by its damping'}; use polhode.integrate"
            )
    times, axes = floats("t", t), body.axes
    start = initial_rotation(as_body(body), rotation0, omega0, momentum0)
    omega = in_user_axes(body, start)[OMEGA]
    # what each rotor keeps, and what they keep together
    directions = np.array([one.axis for one in body.rotors]).reshape(-1, 3)
    inertia, free = np.array([(one.inertia, one.is_free) for one in body.rotors]).reshape(-1, 2).T
    kept = inertia * (body.rotor_speeds(omega) + free * _along(directions, omega))
    G = rows_times((kept[:, None] * directions).sum(axis=0), axes)
    momentum = body.moments * start[OMEGA] + G
    q, momenta = _followed(times, start[ATTITUDE], momentum, G, body.moments)
    check_far(times, q)
    omega = (momenta - G) / body.moments
    if not body.is_principal:
        back = rotations.as_quaternion(axes.T)
        q, omega, momenta = (
            rotations.qmul(q, back),
            rows_times(omega, axes.T),
            rows_times(momenta, axes.T),
        )
    speeds = kept / inertia - free * _along(directions, omega[..., None, :])
    return GyrostatMotion(times, q, omega, momenta, speeds)


def _along(directions, omega):
    return np.sum(directions * omega, axis=-1)


def _followed(times, q, momentum, G, moments):
    """Attitudes and momenta at the times, in principal axes."""
    carrier = Carrier(*(tuple(x.tolist()) for x in (moments, 1.0 / moments, G)))
    # a power of two: its multiples are exact
    rate = parts(1.0, tuple(momentum.tolist()), carrier)
    step = math.ldexp(1.0, -math.frexp(rate)[1]) if rate > 0.0 else LONG
    flat = times.ravel()
    if flat.size and np.abs(flat).max() / step > MOST:
        raise InputError(
            f"t = {float(flat[np.argmax(np.abs(flat))])!r} is too far away: the motion is computed in parts of {step:g}, "
            f"of which there may be {MOST:g}; give times within {MOST * step:g}"
        )
    attitudes, momenta = np.empty((flat.size, 4)), np.empty((flat.size, 3))
    constants = np.array([*q, *momentum, *G, *moments])
    for sign in (1.0, -1.0):
        order = np.argsort(sign * flat, kind="stable")
        order = order[sign * flat[order] >= 0.0]
        found = np.empty((len(order), 4)), np.empty((len(order), 3))
        bind(_follow)(flat[order], sign * step, constants, *found)
        attitudes[order], momenta[order] = found
    return attitudes.reshape((*times.shape, 4)), momenta.reshape((*times.shape, 3))


def _follow(t, step, constants, attitudes, momenta):
    """The motion at the times t, which grow in size from 0, from parts of one size and one that is shorter:
    it does not depend on the other times."""
    G, I = constants[7:10], constants[10:]
    body = Carrier((I[0], I[1], I[2]), (1.0 / I[0], 1.0 / I[1], 1.0 / I[2]), (G[0], G[1], G[2]))
    q, Pi = constants[:4], constants[4:7]
    s, k = Marching((q[0], q[1], q[2], q[3]), (Pi[0], Pi[1], Pi[2]), 0.0, 0.0), 0
    for j in range(len(t)):
        last = int(t[j] / step)
        for _ in range(k, last):
            s = onward(step, s, body)
        k = last
        found = onward(t[j] - k * step, s, body)
        for i in range(4):
            attitudes[j, i] = found.q[i]
        for i in range(3):
            momenta[j, i] = found.Pi[i]
