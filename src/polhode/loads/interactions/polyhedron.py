"""Gravity of uniform bodies with flat faces: the exact field of one at nodes of the other.

The field of one body has no sources in the other, so that its integral over the other is known from
those of the harmonic polynomials up to a degree.  Nodes with these integrals are found among
the points of a product rule, with positive masses (Tchakaloff), and there are at most (degree + 1)^2
of them, however many faces the body has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.bodies.cubature import surface, tetrahedra
from polhode.errors import number, whole
from polhode.loads.interaction import Interaction
from polhode.loads.count import check_count
import polhode.loads.interactions.polyhedron_kernels as kernels
from polhode.loads.interactions._named import named, not_negative
from polhode.loads.interactions.multipole import NEWTON, bodies_of
from polhode.loads.named import Source

CHUNK = 4  # times as many points as conditions are thinned out at once


class Polyhedra(Interaction):
    """The interaction of `polyhedra`: what acts on one body acts back on the other."""

    @property
    def balanced(self) -> bool:
        return True

    def check_for(self, n: int) -> None:
        check_count(self.name, n, "take fewer bodies, or interactions that have a cutoff")


@named("polyhedra", bodies=Source.BODIES)
def polyhedra(bodies: Any, G: float = NEWTON, degree: int = 6) -> Polyhedra:
    """Gravity of uniform bodies with flat faces on each other, as they are: no series in their distance.

    The field of the larger body of each pair is the closed one of Werner & Scheeres; it acts on at
    most (degree + 1)^2 nodes of the smaller one, whose masses have the moments of the body up to
    that degree.  Forces and torques are derivatives of one energy, and action is reaction, to
    rounding and for every degree.  What is left out is of the order of (a / s)^(degree + 1), with the
    radius a of the smaller body and the distance s of its centre from the surface of the other.  The
    cost is that of the nodes of the smaller body times the faces of the larger one.

    Parameters
    ----------
    bodies : System, or sequence of RigidBody
        Made by `RigidBody.polyhedron` or `RigidBody.from_mesh`; their faces do not overlap.
    G : float
        The constant of gravitation; 6.6743e-11 by default, in SI units.
    degree : int
        Of the moments of the nodes: 25 nodes for degree 4, 49 for 6, 81 for 8.

    Examples
    --------
    >>> from polhode import RigidBody
    >>> tips = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    >>> faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    >>> body = RigidBody.polyhedron(tips, faces, mass=1.0)
    >>> forces, torques = polyhedra([body, body], G=1.0)(0.0, [[0, 0, 0], [3, 0, 0]])
    >>> forces[0].round(4).tolist()   # more than 1/9: the tips face each other
    [0.1115, 0.0, -0.0]
    """
    those = bodies_of(bodies)
    strength = not_negative("G", number("G", G))
    degree = whole("degree", degree, 2)
    kinds: dict[int, int] = {}
    made: list[dict[str, np.ndarray]] = []
    for i, one in enumerate(those):
        if id(one) not in kinds:
            kinds[id(one)] = len(made)
            made.append(_prepared(one, degree, strength, f"bodies[{i}]"))
    params: dict[str, Any] = {"kind": np.array([kinds[id(one)] for one in those])}
    for name, of in (
        ("edge", "edges"),
        ("face", "normals"),
        ("vertex", "vertices"),
        ("node", "nodes"),
    ):
        params[name] = np.cumsum([0, *(len(one[of]) for one in made)])
    for name in made[0]:
        params[name] = np.concatenate([one[name] for one in made])
    found = Polyhedra(kernels.attraction, params=params, potential=kernels.energy, name="polyhedra")
    found.count, found.made_for = len(those), those
    return found


def _prepared(body: RigidBody, degree: int, G: float, name: str) -> dict[str, np.ndarray]:
    """The numbers of one kind of body."""
    vertices, faces = surface(body, name)
    corners = vertices[faces]
    points, volumes = tetrahedra(corners, degree)
    density = body.mass / volumes.sum()
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(across, axis=1)
    faces, across, area = faces[area > 0.0], across[area > 0.0], area[area > 0.0]
    normals = across / area[:, None]
    ends, edges = _edges(vertices, faces, normals)
    return {
        "ends": ends,
        "edges": edges,
        "corners": faces,
        "normals": normals,
        "vertices": vertices,
        "nodes": nodes(points, density * volumes, degree),
        "strength": np.array([G * density]),
        "radius": np.array([np.linalg.norm(vertices, axis=1).max()]),
    }


def _edges(
    vertices: np.ndarray, faces: np.ndarray, normals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ends, and for each edge its length and E = sum of n m^T over its faces: xx xy xz yy yz zz."""
    ends = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    along = vertices[ends[:, 1]] - vertices[ends[:, 0]]
    long = np.linalg.norm(along, axis=1)
    n = np.repeat(normals, 3, axis=0)
    m = np.cross(along / long[:, None], n)  # away from the face
    dyads = n[:, :, None] * m[:, None, :]
    which, place = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    E = np.zeros((len(which), 3, 3))
    np.add.at(E, place.reshape(-1), dyads)
    length = np.linalg.norm(vertices[which[:, 1]] - vertices[which[:, 0]], axis=1)
    E = 0.5 * (E + np.swapaxes(E, 1, 2))  # of two faces it is symmetric, up to rounding
    upper = E[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    return which, np.column_stack([length, upper])


# --- nodes ----------------------------------------------------------------------------------------


def nodes(points: np.ndarray, masses: np.ndarray, degree: int) -> np.ndarray:
    """Few points with masses, (k, 4), that have the harmonic moments of these points up to a degree.

    Points with negative masses, of a body that is not star-shaped, are thinned out by themselves.
    """
    size = np.linalg.norm(points, axis=1).max()
    found = []
    for sign in (1.0, -1.0):
        some = sign * masses > 0.0
        x, m = points[some], np.abs(masses[some])
        while len(x):
            before = len(x)
            x, m = _thinned(x, m, size, degree)
            if len(x) == before or len(x) <= (degree + 1) ** 2:
                break
        found.append(np.column_stack([x, sign * m]))
    return np.concatenate(found)


def _thinned(
    x: np.ndarray, m: np.ndarray, size: float, degree: int
) -> tuple[np.ndarray, np.ndarray]:
    """A subset of the points with the same moments, of each chunk of points."""
    from scipy.optimize import nnls

    count = (degree + 1) ** 2
    kept, weights = [], []
    for first in range(0, len(x), CHUNK * count):
        here = slice(first, first + CHUNK * count)
        moments = harmonics(x[here] / size, degree)
        total = moments @ (m[here] / m.sum())
        w, _ = nnls(moments, total, maxiter=100 * count)
        # once more without the others: to rounding
        some = w > 0.0
        w = (
            w[some]
            + np.linalg.lstsq(moments[:, some], total - moments[:, some] @ w[some], rcond=None)[0]
        )
        kept.append(x[here][some])
        weights.append(w * m.sum())
    return np.concatenate(kept), np.concatenate(weights)


def harmonics(x: np.ndarray, degree: int) -> np.ndarray:
    """The real solid harmonics up to a degree, ((degree + 1)^2, k), of size about 1 in the unit ball."""
    X, Y, Z = x.T
    square = X * X + Y * Y + Z * Z
    rows: list[np.ndarray] = []
    c, s, head = np.ones_like(X), np.zeros_like(X), 1.0
    for m in range(degree + 1):
        before, now = np.zeros_like(X), np.full_like(X, head)
        for k in range(m, degree + 1):  # r^k P_k^m / (x^2 + y^2)^(m/2), upwards in k
            norm = 1.0 / np.abs(now).max() if np.abs(now).max() else 1.0
            rows += [norm * now * c] + ([norm * now * s] if m else [])
            before, now = now, ((2 * k + 1) * Z * now - (k + m) * square * before) / (k - m + 1)
        c, s, head = X * c - Y * s, X * s + Y * c, head * (2 * m + 1)
    return np.array(rows)
