"""Mass, centre of mass and inertia of the solid that a closed mesh encloses.

The solid is the sum of the tetrahedra between a point and each face, with the sign of their volume v = a . (b x c) / 6.  For one
of them, with s = a + b + c,

    integral of x       = v s / 4
    integral of x x^T   = v (a a^T + b b^T + c c^T + s s^T) / 20

The sums mean something if the surface is closed: each edge of a face must be met by the same edge
the other way round.
"""

from dataclasses import dataclass
from itertools import pairwise
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from polhode.bodies.mesh_file import triangles
from polhode.bodies.overlap import boxes, overlapping
from polhode.errors import InputError, brief, floats, number, unknown, warn
from polhode.support.file_names import readable

# metres
UNITS = {
    "m": 1.0,
    "cm": 1e-2,
    "mm": 1e-3,
    "um": 1e-6,
    "nm": 1e-9,
    "km": 1e3,
    "in": 0.0254,
    "ft": 0.3048,
}
ROUNDING = 64 * np.finfo(float).eps  # of a sum, relative to the sum of the sizes of its terms
DRAWN = 5000  # faces that a body may keep for drawing


@dataclass(frozen=True)
class Solid:
    """The solid inside a closed mesh, in metres; `inertia` is about the centre of mass, for density
    1, in the axes of the mesh."""

    path: str
    volume: float
    centre: np.ndarray
    inertia: np.ndarray
    vertices: np.ndarray
    faces: np.ndarray
    parts: int

    def shape(self) -> dict[str, Any]:
        """The `shape` of a `RigidBody`: the file, and the surface about the centre of mass unless it
        has too many faces."""
        about = {
            "kind": "mesh",
            **({"file": readable(Path(self.path).name)} if self.path else {}),
            "volume": self.volume,
            "centre_of_mass": self.centre,
        }
        if len(self.faces) > DRAWN:
            return about
        return about | {"vertices": self.vertices - self.centre, "faces": self.faces}


def solid(path: str | PathLike[str], units: str | float = "m") -> Solid:
    """The Solid of a mesh file.

    Parameters
    ----------
    path : str or Path
        An .stl, .obj, .ply or .glb file.
    units : str or float
        The unit of its coordinates: "m", "cm", "mm", "um", "nm", "km", "in", "ft", or metres as a
        number.

    Raises
    ------
    InputError
        When the file cannot be read, or its surface does not enclose a solid; the message says
        where and what to do.
    """
    metres = _metres(units)
    vertices, faces, owner, names = triangles(path)
    return enclosed(path, vertices, faces, owner, names, metres, units)


def enclosed(
    path: Any,
    vertices: np.ndarray,
    faces: np.ndarray,
    owner: Any,
    names: Any,
    metres: float = 1.0,
    units: Any = "m",
    from_file: bool = True,
) -> Solid:
    """The Solid inside triangles; `owner` has the number of the object that each is part of, and
    `names` the names of objects."""
    _check_closed(path, faces)
    middle = 0.5 * vertices.min(axis=0) + 0.5 * vertices.max(axis=0)
    e = int(np.frexp(np.abs(vertices - middle).max())[1])
    near = np.ldexp(vertices - middle, -e)  # about 1: nothing below can overflow
    corners = near[faces]
    volumes = _volumes(corners)
    part = _check_parts(path, near, faces, volumes)
    _warn_of_overlaps(path, near, faces, part, owner, names, lambda box: middle + np.ldexp(box, e))
    volume, centre, inertia = _sums(corners, volumes)
    with np.errstate(all="ignore"):  # what leaves the range is refused below
        scale = np.ldexp(metres, e)
        made = Solid(
            str(path) if from_file else "",
            float(volume * scale**3),
            (middle + np.ldexp(centre, e)) * metres,
            inertia * scale**5,
            vertices * metres,
            faces,
            int(part.max()) + 1,
        )
    finite = np.isfinite([made.volume, *made.inertia.flat, *made.centre]).all()
    if not (finite and min(made.volume, *np.diag(made.inertia)) > 0.0):
        raise InputError(
            f"{path}: its volume {made.volume:.6g} or its moments are beyond the range of float64 in metres; the "
            f"unit of the file is {units!r}: choose another"
        )
    return made


def body(cls, path, density=None, mass=None, units="m", name=None):
    """The body of class `cls` that a mesh file encloses; `RigidBody.from_mesh` is this."""
    if (density is None) == (mass is None):
        raise InputError(
            f"give density or mass of the mesh {str(path)!r}, got {'neither' if mass is None else 'both'}; give "
            "one of the two"
        )
    for what, value in (("density", density), ("mass", mass)):
        if value is not None:
            number(what, value, positive=True)  # before any work
    return weighed(cls, solid(path, units), density, mass, name)


def polyhedron(cls, vertices, faces, mass=None, density=None, name=None):
    """The body of class `cls` with these vertices and faces; `RigidBody.polyhedron` is this."""
    if (density is None) == (mass is None):
        raise InputError(
            f"give density or mass of the polyhedron, got {'neither' if mass is None else 'both'}; give one of the two"
        )
    points = floats("vertices", vertices)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
        raise InputError(
            f"vertices must have a row of three numbers for each of at least four points, got shape {points.shape}; give these"
        )
    triangles = _triangles(faces, len(points))
    owner = np.zeros(len(triangles), dtype=int)
    found = enclosed("the polyhedron", points, triangles, owner, ["it"], from_file=False)
    return weighed(cls, found, density, mass, name)


def _triangles(faces: Any, count: int) -> np.ndarray:
    """Faces of three or more vertices as triangles; each is cut from its first vertex."""
    found: list[tuple[int, int, int]] = []
    try:
        for face in faces:
            first, *rest = (index(i) for i in face)
            found += [(first, i, j) for i, j in pairwise(rest)]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"faces must be lists of numbers of vertices, got {brief(faces)}; write faces=[(0, 2, 1), (0, 1, 3), ...]"
        ) from error
    triangles = np.array(found, dtype=int).reshape(-1, 3)
    if not len(triangles) or triangles.min() < 0 or triangles.max() >= count:
        raise InputError(
            f"faces must refer to the {count} vertices by numbers from 0 to {count - 1}, got {brief(faces)}; correct them"
        )
    return triangles


def weighed(cls, found, density=None, mass=None, name=None):
    """The body of class `cls` that a Solid of this density or mass is."""
    density = (
        number("density", density, positive=True)
        if mass is None
        else number("mass", mass, positive=True) / found.volume
    )
    return cls._uniform(
        found.inertia * density,
        found.volume * density if mass is None else mass,
        name,
        found.shape(),
    )


def _metres(units: str | float) -> float:
    if not isinstance(units, str):
        return number("units, in metres,", units, positive=True)
    if units not in UNITS:
        raise unknown("unit", units, UNITS)
    return UNITS[units]


def _volumes(corners: np.ndarray) -> np.ndarray:
    """Of the tetrahedra from the origin to each face, with their signs."""
    return np.sum(corners[:, 0] * np.cross(corners[:, 1], corners[:, 2]), axis=1) / 6.0


def _sums(corners: np.ndarray, volumes: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre of mass and inertia about it; products that cancel to rounding are zero, so
    that axes of symmetry stay."""
    total = volumes.sum()
    centre = np.array([(volumes * column).sum() for column in corners.sum(axis=1).T]) / (
        4.0 * total
    )
    corners = corners - centre  # the tetrahedra now begin there
    points = np.concatenate([corners, corners.sum(axis=1, keepdims=True)], axis=1)
    shifted, axes = _volumes(points)[:, None], np.ascontiguousarray(np.moveaxis(points, -1, 0))
    second, size = np.empty((3, 3)), np.empty((3, 3))
    # NumPy's sums of whole arrays are made in a fixed order, unlike those of BLAS
    for k, l in np.ndindex(3, 3):
        terms = shifted * axes[k] * axes[l]
        second[k, l], size[k, l] = terms.sum() / 20.0, np.abs(terms).sum() / 20.0
    second[(np.abs(second) <= ROUNDING * size) & ~np.eye(3, dtype=bool)] = 0.0
    return total, centre, np.trace(second) * np.eye(3) - second


# --- checks of the surface ------------------------------------------------------------------------


def _check_closed(path: str | PathLike[str], faces: np.ndarray) -> None:
    """Each edge must be met by as many faces one way round as the other."""
    if not len(faces):
        raise InputError(f"{path}: every face is without area; export the surface again")
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    forward = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    ends, index, met = np.unique(
        np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    index = index.reshape(-1)
    balance = np.bincount(index, forward)
    odd = met % 2 == 1
    if odd.any():
        raise InputError(
            f"{path}: not watertight: {odd.sum()} of {len(ends)} edges have a face on one side only; close the "
            "holes and join vertices that should be one (in Blender: Merge by Distance, then Fill Holes)"
        )
    if balance.any():
        raise InputError(
            f"{path}: faces are not oriented consistently: along {np.count_nonzero(balance)} of {len(ends)} edges "
            "neighbouring faces have opposite orientations; make normals consistent (in Blender: Recalculate Outside)"
        )


def _check_parts(path, vertices, faces, volumes):
    """The number of the separate surface that each face is on; one that is inside out must be a
    cavity's wall in another."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = faces[:, [0, 1, 1, 2]].reshape(-1, 2).T
    n = len(vertices)
    _, label = connected_components(
        coo_array((np.ones(pairs.shape[1], bool), pairs), (n, n)), directed=False
    )
    _, part = np.unique(label[faces[:, 0]], return_inverse=True)
    count = int(part.max()) + 1
    signed, size = np.bincount(part, volumes), np.bincount(part, np.abs(volumes))
    flat = np.abs(signed) <= ROUNDING * size
    total = volumes.sum()
    if flat.all() or abs(total) <= ROUNDING * size.sum():
        raise InputError(
            f"{path}: encloses no volume ({len(faces)} faces that lie on each other); a flat body has no density: "
            "give its inertia instead"
        )
    if total < 0.0:
        raise InputError(
            f"{path}: inside out: its faces point inwards and the volume is negative; flip the normals (in Blender: "
            "Recalculate Outside)"
        )
    low, high = boxes(vertices[faces], part)
    for k in np.flatnonzero((signed < 0.0) & ~flat):
        if not np.any((signed > 0.0) & np.all((low <= low[k]) & (high[k] <= high), axis=1)):
            raise InputError(
                f"{path}: one of its {count} parts is inside out and is not a cavity of another; flip its normals "
                "(in Blender: Recalculate Outside)"
            )
    return part


def _warn_of_overlaps(path, vertices, faces, part, owner, names, unscaled):
    """Warn of parts that share a piece of space, by their names and boxes in the units of the
    file."""
    # a part, or what an object has of it
    which, each = np.unique(part * len(names) + owner, return_inverse=True)
    low, high = (unscaled(corner) for corner in boxes(vertices[faces], each))

    def named(k):
        number, object_number = divmod(int(which[k]), len(names))
        name = repr(names[object_number]) if len(names) > 1 else f"part {number + 1}"
        box = " to ".join("({:.6g}, {:.6g}, {:.6g})".format(*corner[k]) for corner in (low, high))
        return f"{name} in the box {box}"

    for those in overlapping(vertices, faces, each):
        if len(those) > 1:
            what = " and ".join(map(named, those)) + " overlap"
        else:
            what = named(*those) + " overlaps itself, or hollows out what is not solid"
        warn(
            f"{path}: {what}: that is counted twice in mass and inertia; join the parts into one surface (in Blender: "
            "Boolean, Union)",
        )
