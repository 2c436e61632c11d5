"""Springs and dampers between points of two bodies.

    V = 1/2 k (|d| - l)^2,  d = r + Rj b - Ri a,

with the points a and b in the frames of the bodies i and j.  A damper pulls along d by c times the
rate of |d|.
"""

import math
from typing import Any

from numpy.typing import ArrayLike

from polhode.core.jit import jit
from polhode.core.vec import add, apply, cross, dot, neg, scale, sub
from polhode.loads.interactions._named import link_ends, named, rows_for, not_negative
from polhode.loads.pair import Pair

NOTHING = 1e-300  # so that a spring without a length has a direction


@jit
def _between(r, Ri, Rj, c):
    """The arms in space, and the way d from one point to the other, with its length."""
    a, b = apply(Ri, c.a), apply(Rj, c.b)
    d = sub(add(r, b), a)
    return a, b, d, math.sqrt(dot(d, d))


@jit
def _pulled(a, b, F):
    """The force on i and the torques, of a force at the ends of two arms."""
    return F, cross(a, F), neg(cross(b, F))


def elastic(r, Ri, Rj, c):
    a, b, d, long = _between(r, Ri, Rj, c)
    return _pulled(a, b, scale(c.k * (long - c.length) / (long + NOTHING), d))


def damped(r, v, Ri, Rj, wi, wj, c):
    a, b, d, long = _between(r, Ri, Rj, c)
    n = scale(1.0 / (long + NOTHING), d)
    rate = dot(n, sub(add(v, cross(wj, b)), cross(wi, a)))
    return _pulled(a, b, scale(c.k * (long - c.length) + c.damping * rate, n))


def energy(r, Ri, Rj, c):
    long = _between(r, Ri, Rj, c)[3] - c.length
    return 0.5 * c.k * long * long


@named("springs")
def springs(
    links: ArrayLike,
    stiffness: ArrayLike,
    length: ArrayLike = 0.0,
    points: ArrayLike | None = None,
    damping: ArrayLike = 0.0,
) -> Pair:
    """Springs between points of two bodies, with dampers beside them.

    Parameters
    ----------
    links : pairs of numbers of bodies
        Which bodies are connected; two may be connected more than once.
    stiffness : float, or one for each link
        Force per length.
    length : float, or one for each link
        At which a spring does not pull.
    points : a pair of vectors, or one for each link
        Where it is fixed to the first and to the second body, from their centres of mass, body
        frames; at the centres of mass by default.
    damping : float, or one for each link
        Force per speed at which the length grows.

    Examples
    --------
    >>> pull = springs([(0, 1)], 3.0, length=0.5, points=((0.5, 0, 0), (0, 0, 0)))
    >>> forces, torques = pull(0.0, [[0, 0, 0], [2, 0, 0]])
    >>> forces.tolist(), pull.potential_energy(0.0, [[0, 0, 0], [2, 0, 0]])
    ([[3.0, 0.0, 0.0], [-3.0, 0.0, 0.0]], 1.5)
    """
    which, a, b = link_ends(links, points)
    own: dict[str, Any] = {
        "k": not_negative("stiffness", rows_for("stiffness", stiffness, len(which))),
        "length": not_negative("length", rows_for("length", length, len(which))),
        "a": a,
        "b": b,
        "damping": not_negative("damping", rows_for("damping", damping, len(which))),
    }
    moving = bool(own["damping"].any())
    return Pair(
        damped if moving else elastic,
        links=which,  # type: ignore[arg-type]
        own=own,
        potential=energy,
        uses_velocity=moving,
        form="tuple",
        name="springs",
    )
