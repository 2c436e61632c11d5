"""What is drawn for a body: its own shape, the reader's mesh, a top, or a box of the same
inertia."""

import contextlib

import numpy as np

from polhode import rotations
from polhode.bodies.shapes import SHAPES
from polhode.errors import InputError, floats
from polhode.show.view.packing import pack_array

NUMBERS = {"length": (), "lengths": (3,), "positions": (3,)}  # how many, where a page draws by them
SIZES = {  # what each shape has, and how many numbers that is
    shape.kind: {
        name: NUMBERS[key.holds] for name, key in shape.keys.items() if key.holds in NUMBERS
    }
    for shape in SHAPES.values()
}
FACES = 20_000  # more would make the page too large


def choose_shape(body, arm, mesh=None):
    """The shape as plain data, and a remark for the reader or ""."""
    if mesh is not None:
        return _mesh(*_check_mesh(mesh)), ""
    shape = body.shape or {}
    with contextlib.suppress(InputError):  # a stored body may have the shape of anyone
        if shape.get("kind") in SIZES:
            sizes = SIZES[shape["kind"]]
            if all(
                floats(name, shape.get(name)).shape[-1:] == size for name, size in sizes.items()
            ):
                return shape, ""
        if shape.get("kind") == "mesh":
            return _mesh(*_check_mesh((shape.get("vertices"), shape.get("faces")))), ""
    if arm:
        return {"kind": "top", "arm": arm}, ""
    return equivalent_box(body), "The body is drawn as a box of the same moments of inertia."


def equivalent_box(body):
    """The uniform box of the same inertia; a moment that no body has gives a thin one."""
    squares = body.moments.sum() / 2 - body.moments
    size = np.sqrt(np.maximum(squares, 1e-3 * body.moments.max()))
    return {
        "kind": "box",
        "size": size.tolist(),
        "turn": rotations.as_quaternion(body.axes).tolist(),
    }


def half_length(body):
    """About half the length of the body: exactly that of a box of the same mass and inertia."""
    squares = body.moments.sum() / 2 - body.moments
    return float(np.sqrt(3.0 * max(squares.max(), 1e-3 * body.moments.max()) / body.mass))


def _check_mesh(mesh):
    try:
        vertices, faces = mesh
    except (TypeError, ValueError):
        raise InputError(
            f"mesh must be a pair (vertices, faces), got {type(mesh).__name__}; give one"
        ) from None
    vertices, faces = (
        floats("vertices of the mesh", vertices, last=3),
        floats("faces of the mesh", faces, last=3),
    )
    if vertices.ndim != 2 or faces.ndim != 2 or not len(faces):
        raise InputError(
            f"mesh vertices must have shape (n, 3) and faces (m, 3), got {vertices.shape} and {faces.shape}; "
            "reshape them"
        )
    if np.any(faces != np.round(faces)) or faces.min() < 0 or faces.max() >= len(vertices):
        raise InputError(
            f"mesh faces must be indices of vertices, whole numbers from 0 to {len(vertices) - 1}; "
            f"got {faces.min():g} to {faces.max():g}"
        )
    if len(faces) > FACES:
        raise InputError(
            f"the mesh has {len(faces)} faces, and a page takes {FACES}; simplify it first"
        )
    return vertices, faces


def _mesh(vertices, faces):
    return {
        "kind": "mesh",
        "vertices": pack_array(vertices),
        "faces": pack_array(faces.astype(np.uint32), "u4"),
    }
