"""Bodies as points: positions and masses whose sums are the integrals over the body of all polynomials
up to a degree.

Shapes have product rules of Gauss; a solid inside a mesh is the sum of the tetrahedra between the
origin and each face, with the sign of their volume (`mesh.py`).
"""

from __future__ import annotations

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.bodies.inertia import show
from polhode.errors import InputError

AGREEMENT = 1e-9  # of the inertia of a body with that of its shape: more than this is another body


def cubature(body: RigidBody, degree: int, name: str = "the body") -> tuple[np.ndarray, np.ndarray]:
    """Points (k, 3) from the centre of mass, in the axes of the body, and their masses (k,), which add
    up to its mass: exact for polynomials of this degree."""
    shape = body.shape or {}
    kind = shape.get("kind")
    if kind == "box":
        points, masses = _box(np.array(shape["size"]), degree)
    elif kind == "ellipsoid":
        points, masses = _ball(degree)
        points = points * np.array(shape["semi_axes"])
    elif kind == "sphere":
        points, masses = _sphere(degree) if shape["hollow"] else _ball(degree)
        points = points * shape["radius"]
    elif kind == "cylinder":
        points, masses = _cylinder(shape["radius"], shape["height"], degree)
    elif kind == "points":
        points, masses = (np.array(shape[key], dtype=float) for key in ("positions", "masses"))
    elif kind == "mesh":
        vertices, faces = surface(body, name)
        points, masses = tetrahedra(vertices[faces], degree)
    else:
        raise InputError(
            f"{name} has no shape, so that only its mass and inertia are known; make it by RigidBody.ellipsoid, box, "
            "cylinder, sphere, point_masses or from_mesh"
        )
    masses = masses * (body.mass / masses.sum())
    _check_inertia(body, points, masses, name)
    return points, masses


def surface(body: RigidBody, name: str = "the body") -> tuple[np.ndarray, np.ndarray]:
    """Vertices from the centre of mass, and faces, of a body that has a mesh."""
    shape = body.shape or {}
    if shape.get("kind") != "mesh" or "vertices" not in shape:
        what = "a mesh of too many faces to be kept" if shape.get("kind") == "mesh" else "no mesh"
        raise InputError(
            f"{name} has {what}; give a body made by RigidBody.from_mesh, from a file of up to 5000 faces, or by "
            "RigidBody.polyhedron"
        )
    return np.array(shape["vertices"], dtype=float), np.array(shape["faces"], dtype=int)


def _check_inertia(body: RigidBody, points: np.ndarray, masses: np.ndarray, name: str) -> None:
    second = np.einsum("k,ki,kj->ij", masses, points, points)
    found = np.trace(second) * np.eye(3) - second
    if np.abs(found - body.inertia).max() > AGREEMENT * np.abs(body.inertia).max():
        raise InputError(
            f"{name} has the moments {show(body.moments, 6)}, but its shape, as a uniform body, has the inertia "
            f"{show(np.diag(found), 6)} about the axes; give a uniform body, or degree=2, which needs the inertia alone"
        )


# --- rules ----------------------------------------------------------------------------------------


def _gauss(count: int, a: float = 0.0, b: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights in [0, 1] for the weight (1 - x)^a x^b, adding up to one."""
    from scipy.special import roots_jacobi

    x, w = roots_jacobi(count, a, b)
    return 0.5 * (1.0 + x), w / w.sum()


def _product(*rules: tuple[np.ndarray, np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    grids = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    weights = rules[0][1]
    for _, w in rules[1:]:
        weights = np.multiply.outer(weights, w)
    return [one.ravel() for one in grids], weights.ravel()


def _turn(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles all around."""
    count = degree + 1
    return 2.0 * np.pi * np.arange(count) / count, np.full(count, 1.0 / count)


def _box(size: np.ndarray, degree: int) -> tuple[np.ndarray, np.ndarray]:
    x, w = _product(*[_gauss(degree // 2 + 1)] * 3)
    return (np.stack(x, axis=1) - 0.5) * size, w


def _sphere(degree: int) -> tuple[np.ndarray, np.ndarray]:
    (z, angle), w = _product(_gauss(degree // 2 + 1), _turn(degree))
    z = 2.0 * z - 1.0
    across = np.sqrt(1.0 - z * z)
    return np.stack([across * np.cos(angle), across * np.sin(angle), z], axis=1), w


def _ball(degree: int) -> tuple[np.ndarray, np.ndarray]:
    radii, weights = _gauss(degree // 2 + 1, 0.0, 2.0)
    directions, w = _sphere(degree)
    return (radii[:, None, None] * directions).reshape(-1, 3), np.outer(weights, w).ravel()


def _cylinder(radius: float, height: float, degree: int) -> tuple[np.ndarray, np.ndarray]:
    count = degree // 2 + 1
    (r, angle, z), w = _product(_gauss(count, 0.0, 1.0), _turn(degree), _gauss(count))
    return (
        np.stack([radius * r * np.cos(angle), radius * r * np.sin(angle), height * (z - 0.5)], 1),
        w,
    )


def tetrahedra(corners: np.ndarray, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and volumes, with signs, of the tetrahedra between the origin and faces (m, 3, 3)."""
    count = degree // 2 + 1
    (r, s, t), w = _product(_gauss(count, 0.0, 2.0), _gauss(count, 1.0, 0.0), _gauss(count))
    weights = np.stack([r * (1.0 - s) * (1.0 - t), r * s, r * (1.0 - s) * t], axis=1)
    points = np.einsum("qc,mci->mqi", weights, corners)
    volumes = np.sum(corners[:, 0] * np.cross(corners[:, 1], corners[:, 2]), axis=1) / 6.0
    return points.reshape(-1, 3), np.outer(volumes, w).ravel()
