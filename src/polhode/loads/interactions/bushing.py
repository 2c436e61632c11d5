"""Elastic bushings with six degrees of freedom.

The frame P of a bushing on body i has the origin Ri a and the axes Ri A, its frame on body j the
origin Rj b and the axes Rj B.  Seen from the first, the second is displaced by d and turned by the
rotation vector e:

    P = Ri A,  d = P^T (r + Rj b - Ri a),  exp(e) = P^T Rj B,
    V = 1/2 d . K d + 1/2 e . C e,

with a stiffness along and about each axis, K = diag(k1, k2, k3) and C = diag(k4, k5, k6).  V is what it
says at all angles below pi: a turn by any angle about one axis meets a moment that is proportional to
the angle.  At pi the way back changes, and the moment jumps.

    f = K d,  m = D^-T C e,

with D the tangent of exp at e, dP^T Rj B = (D de)^ P^T Rj B, are force and moment on body i at the
origin of the second frame, in the axes P.  Dampers add diag(c1, c2, c3) d' to f and diag(c4, c5, c6) w
to m, w the angular velocity of the second frame seen from the first.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import rotations
from polhode.core.jit import jit
from polhode.core.vec import add, apply, apply_t, cross, dexpinv_body, dot, log, matmul, neg, sub
from polhode.core.vec import times, transpose
from polhode.loads.interactions._named import link_ends, named, rows_for, not_negative
from polhode.loads.pair import Pair


@jit
def _strained(r, Ri, Rj, c):
    """The frame P, the arms from both centres to the origin of the second frame, d and e."""
    P, b = matmul(Ri, c.A), apply(Rj, c.b)
    arm = add(r, b)
    d = apply_t(P, sub(arm, apply(Ri, c.a)))
    return P, arm, b, d, log(matmul(transpose(P), matmul(Rj, c.B)))


@jit
def _moment(c, e):
    """m = D^-T C e."""
    return dexpinv_body(e, times(c.turning, e))


@jit
def _exerted(P, arm, b, f, m):
    """The force on i and the torques of f and m, both in the axes P."""
    F, M = apply(P, f), apply(P, m)
    return F, add(cross(arm, F), M), neg(add(cross(b, F), M))


def elastic(r, Ri, Rj, c):
    P, arm, b, d, e = _strained(r, Ri, Rj, c)
    return _exerted(P, arm, b, times(c.stiffness, d), _moment(c, e))


def damped(r, v, Ri, Rj, wi, wj, c):
    P, arm, b, d, e = _strained(r, Ri, Rj, c)
    rate = apply_t(P, sub(add(v, cross(wj, b)), cross(wi, arm)))
    w = apply_t(P, sub(wj, wi))
    f = add(times(c.stiffness, d), times(c.damping, rate))
    return _exerted(P, arm, b, f, add(_moment(c, e), times(c.slowing, w)))


def energy(r, Ri, Rj, c):
    _, _, _, d, e = _strained(r, Ri, Rj, c)
    return 0.5 * (dot(d, times(c.stiffness, d)) + dot(e, times(c.turning, e)))


@named("bushings")
def bushings(
    links: ArrayLike,
    stiffness: ArrayLike,
    points: ArrayLike | None = None,
    axes: ArrayLike | None = None,
    damping: ArrayLike = (0.0,) * 6,
) -> Pair:
    """Elastic bushings: each holds a frame on one body to a frame on another, with a stiffness along
    and about three axes.

    Rods are chains of bodies with bushings between them.  At rest, both frames of a bushing have the
    same origin and axes.  The energy is 1/2 sum k d^2 + 1/2 sum k e^2, with the displacement d of the
    second frame and its rotation vector e, both along the axes of the first frame: exact for
    turns by any angle below half a turn.

    Parameters
    ----------
    links : pairs of numbers of bodies
        Which bodies are connected.
    stiffness : six numbers, or six for each link
        Force per length along the axes, and torque per radian about them.
    points : a pair of vectors, or one for each link
        Where the origins are, from the centres of mass of the first and the second body, body
        frames; at the centres of mass by default.
    axes : a pair of rotation vectors, or one for each link
        How the frames are turned on the first and on the second body; along the body axes by default.
    damping : six numbers, or six for each link
        Force per speed along, and torque per angular velocity about the axes.

    Examples
    --------
    Two boxes of length 2, end to end; the second is bent up by 0.1 about y.

    >>> import numpy as np
    >>> joint = bushings([(0, 1)], (100, 100, 100, 5, 5, 5), points=((1, 0, 0), (-1, 0, 0)))
    >>> c, s = np.cos(0.1), np.sin(0.1)
    >>> R = np.array([np.eye(3), [[c, 0, s], [0, 1, 0], [-s, 0, c]]])
    >>> forces, torques = joint(0.0, [[0, 0, 0], [1 + c, 0, -s]], R)
    >>> float(torques[0, 1].round(12)), float(torques[1, 1].round(12))
    (0.5, -0.5)
    """
    which, a, b = link_ends(links, points)
    _, on_first, on_second = link_ends(which, axes, name="axes")
    six, slow = (
        not_negative(name, rows_for(name, value, len(which), (6,)))
        for name, value in (("stiffness", stiffness), ("damping", damping))
    )
    own: dict[str, Any] = {
        "stiffness": six[:, :3],
        "turning": six[:, 3:],
        "a": a,
        "b": b,
        "A": rotations.matrices(rotations.exp(on_first)),
        "B": rotations.matrices(rotations.exp(on_second)),
        "damping": slow[:, :3],
        "slowing": slow[:, 3:],
    }
    moving = bool(np.any(slow))
    return Pair(
        damped if moving else elastic,
        links=which,  # type: ignore[arg-type]
        own=own,
        potential=energy,
        uses_velocity=moving,
        form="tuple",
        name="bushings",
    )
