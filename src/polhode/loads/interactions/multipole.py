"""Gravity of extended bodies: their mutual potential to degree 0, 2 or 4 in the ratio of their size
to their distance."""

from __future__ import annotations

from collections.abc import Iterable
from math import factorial
from typing import Any

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.bodies.cubature import cubature
from polhode.bodies.extent import radius
from polhode.errors import InputError, brief, number
from polhode.loads._system import System, as_body
import polhode.loads.interactions.multipole_kernels as kernels
from polhode.loads.interactions._named import named, not_negative
from polhode.loads.named import Source
from polhode.loads.pair import Pair

NEWTON = 6.6743e-11  # m^3 / (kg s^2), CODATA 2018

FORMS = {
    0: (kernels.point_force, kernels.point_energy, kernels.mass_of),
    2: (kernels.second_force, kernels.second_energy, kernels.quadrupole_of),
    4: (kernels.fourth_force, kernels.fourth_energy, kernels.multipoles_of),
}
LEGENDRE = {3: (2.5, -1.5), 4: (4.375, -3.75, 0.375)}  # of P_k, from the highest power down


@named("gravity", bodies=Source.BODIES)
def gravity(bodies: Any, G: float = NEWTON, degree: int = 2) -> Pair:
    """Gravity of extended bodies on each other: forces, and torques on both.

    Degree 0 takes point masses.  Degree 2 is MacCullagh's formula for both bodies,

        V = -G m M / r - G / (2 r^3) (m (tr J - 3 n . J n) + M (tr I - 3 n . I n)),

    with masses m and M and inertias I and J.  Degree 4 has all terms up to 1 / r^5: third and
    fourth moments of both bodies, which follow from their shapes, and that of both quadrupoles.
    The series converges where the bodies are farther apart than the sum of their radii.  Bodies that
    come closer cause a warning: at the start of a run, and after it from the stored points.  Of a body
    without a shape the radius is the least that its inertia allows; degree 0 has no series.

    Parameters
    ----------
    bodies : System, or sequence of RigidBody
        The bodies of the system, in their order, with their masses.
    G : float
        The constant of gravitation; 6.6743e-11 by default, in SI units.
    degree : {0, 2, 4}
        Degree 4 needs bodies made by `RigidBody.ellipsoid`, `box`, ..., `polyhedron` or `from_mesh`.

    Examples
    --------
    >>> from polhode import RigidBody
    >>> bodies = [RigidBody.sphere(1, mass=2), RigidBody.box(1, 2, 3, mass=3)]
    >>> forces, torques = gravity(bodies, G=1.0)(0.0, [[0, 0, 0], [0, 0, 10]])
    >>> forces[0].round(6).tolist(), torques[1].tolist()   # more than 0.06: the box stands upright
    ([0.0, 0.0, 0.060975], [0.0, 0.0, 0.0])
    """
    if np.ndim(degree) or degree not in FORMS:
        raise InputError(f"degree must be 0, 2 or 4, got {brief(degree)}; choose one of them")
    those = bodies_of(bodies)
    each: dict[str, np.ndarray] = {"mass": np.array([one.mass for one in those])}
    if degree:
        each["S"] = np.array([quadrupole(one) for one in those])
    if degree == 4:
        known = {id(one): cubature(one, 4, f"bodies[{i}]") for i, one in enumerate(those)}
        each["T"] = np.array([multipole(*known[id(one)], 3) for one in those])
        each["U"] = np.array([multipole(*known[id(one)], 4) for one in those])
    force, energy, aspect = FORMS[degree]
    found = Pair(
        force,
        each=each,
        params={"G": not_negative("G", number("G", G))},
        potential=energy,
        form="tuple",
        aspect=aspect,
        name="gravity",
    )
    found.made_for = those
    found.radii = np.array([reach(one) for one in those]) if degree else None
    return found


def bodies_of(given: Any) -> tuple[RigidBody, ...]:
    """The bodies of a system, or those in a list."""
    if isinstance(given, System):
        return given.bodies
    if isinstance(given, (RigidBody, str)) or not isinstance(given, Iterable):
        raise InputError(
            f"bodies must be a system or a list of bodies, got {brief(given)}; write [body, body]"
        )
    found = tuple(as_body(i, one) for i, one in enumerate(given))
    if not found:
        raise InputError("gravity acts between bodies, got none; give the bodies of the system")
    return found


def reach(body: RigidBody) -> float:
    """The radius beyond which the series of a body converges; without a shape the least it can be, where the
    second term is as large as the first."""
    known = radius(body)
    if known is not None:
        return known
    return float(np.sqrt(np.abs(np.linalg.eigvalsh(quadrupole(body))).max() / body.mass))


def quadrupole(body: RigidBody) -> np.ndarray:
    """S = -3/2 (I - tr I / 3)."""
    return -1.5 * (body.inertia - np.trace(body.inertia) / 3.0 * np.eye(3))


def multipole(points: np.ndarray, masses: np.ndarray, degree: int) -> np.ndarray:
    """The components (i <= j <= ...) of the tensor of sum m |X|^k |y|^k P_k(cos), without traces."""
    size = degree + 1
    total = np.zeros((size, size, size))  # coefficients of x^a y^b z^c
    square = np.sum(points * points, axis=1)
    for k, c in enumerate(LEGENDRE[degree]):
        part = _power(points, masses * square**k, degree - 2 * k, size)
        for _ in range(k):  # times |X|^2
            part = np.sum([np.roll(part, 2, axis=axis) for axis in range(3)], axis=0)
        total += c * part
    return np.array([total[e] / _ways(e) for e in exponents(degree)])


def exponents(degree: int) -> list[tuple[int, int, int]]:
    """Of x, y and z, in the order 000, 001, 002, 011, ... of the indices."""
    return [
        (a, b, degree - a - b) for a in range(degree, -1, -1) for b in range(degree - a, -1, -1)
    ]


def _ways(e: tuple[int, int, int]) -> int:
    return factorial(sum(e)) // (factorial(e[0]) * factorial(e[1]) * factorial(e[2]))


def _power(points: np.ndarray, weights: np.ndarray, degree: int, size: int) -> np.ndarray:
    """The sum of w (X . y)^k as a polynomial of X."""
    found = np.zeros((size, size, size))
    for e in exponents(degree):
        found[e] = _ways(e) * np.sum(weights * np.prod(points ** np.array(e), axis=1))
    return found
