"""Magnets: dipoles fixed in their bodies.

    V = k (m_i . m_j - 3 (m_i . n)(m_j . n)) / r^3,  n = r / |r|,

with the moments m at the centres of mass and k = mu0 / 4 pi.
"""

import math

from numpy.typing import ArrayLike

from polhode.core.jit import jit
from polhode.core.vec import add, apply, axpy, cross, dot, neg, scale, sub
from polhode.errors import InputError, floats, number
from polhode.loads.interactions._named import named
from polhode.loads.pair import Pair

VACUUM = 1e-7  # mu0 / 4 pi in SI units, to nine digits


def moment(R, a, p):
    """What others see of a magnet: its moment in space."""
    return apply(R, a.moment)


@jit
def _seen(r, A, B):
    """n, 1/|r|, and the moments along n."""
    u = 1.0 / math.sqrt(dot(r, r))
    n = scale(u, r)
    return n, u, dot(A, n), dot(B, n)


def attraction(r, A, B, p):
    n, u, a, b = _seen(r, A, B)
    k = p.k * (u * u * u)
    # on i: 3 k / r^4 ((5 a b - A . B) n - a B - b A)
    sideways = axpy(a, B, scale(b, A))
    F = scale(3.0 * k * u, sub(scale(5.0 * a * b - dot(A, B), n), sideways))
    # B x A is the same for both, with either sign
    AB = cross(A, B)
    TA = add(scale(3.0 * k * b, cross(A, n)), scale(-k, AB))
    TB = add(scale(3.0 * k * a, cross(B, n)), neg(scale(-k, AB)))
    return F, TA, TB


def energy(r, A, B, p):
    _, u, a, b = _seen(r, A, B)
    return p.k * (u * u * u) * (dot(A, B) - 3.0 * a * b)


@named("dipoles")
def dipoles(moments: ArrayLike, strength: float = VACUUM, cutoff: float | None = None) -> Pair:
    """Magnets that act on each other: forces and torques between the dipoles of all bodies.

    Parameters
    ----------
    moments : (n, 3) array
        The magnetic moment of each body, body frame; zero for a body that is not magnetic.
    strength : float
        mu0 / 4 pi in your units; that of SI by default, for moments in A m^2.
    cutoff : float, optional
        The largest distance at which two magnets act on each other.

    Examples
    --------
    Like poles, one above the other, attract.

    >>> pull = dipoles([(0, 0, 1), (0, 0, 2)], strength=1.0)
    >>> forces, torques = pull(0.0, [[0, 0, 0], [0, 0, 1]])
    >>> forces.tolist(), pull.potential_energy(0.0, [[0, 0, 0], [0, 0, 1]])
    ([[0.0, 0.0, 12.0], [0.0, 0.0, -12.0]], -4.0)
    """
    given = floats("moments", moments)
    if given.ndim != 2 or given.shape[1] != 3:
        raise InputError(
            f"moments must have a row of three numbers for each body, got shape {given.shape}; write moments=[(0, 0, 1), "
            "(0, 0, 1)]"
        )
    return Pair(
        attraction,
        each={"moment": given},
        params={"k": number("strength", strength)},
        potential=energy,
        cutoff=cutoff,
        form="tuple",
        aspect=moment,
        name="dipoles",
    )
