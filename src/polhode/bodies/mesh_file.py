"""Vertices and faces from STL, OBJ, PLY and GLB files, read by trimesh after checks.

A file states how many numbers follow.  This is compared with the length of the file first, so that
reading takes memory in proportion to the file; textures, materials and other files that it refers
to are never opened.
"""

import io
import json
import logging
import math
import re
import struct

import numpy as np

from polhode.core.vec import det
from polhode.errors import InputError, unknown
from polhode.support.frames import rows_times
from polhode.support.regular import file_path, check_regular
from polhode.rotations import matrices

FORMATS = ("stl", "obj", "ply", "glb")
LARGEST_FILE = 512 * 2**20  # bytes
LARGEST_MESH = 20_000_000  # corners of all faces, of all copies of a part
REPAIR = "export it again from the program that made it"
_QUIET = logging.NullHandler()  # messages of trimesh about a broken file are in the error
# the keys kept of a GLB: none of them refers to another file, needs decoding or is a texture
_GEOMETRY = {
    "nodes": ("name", "children", "matrix", "translation", "rotation", "scale", "mesh"),
    "meshes": ("primitives",),
    "accessors": ("bufferView", "byteOffset", "componentType", "count", "type"),
    "bufferViews": ("buffer", "byteOffset", "byteLength", "byteStride"),
    "scenes": ("nodes",),
}


def triangles(path):
    """Vertices (n, 3) and faces (m, 3) of a mesh file in its own units, equal vertices made one;
    and the names of its objects, with the number (m,) of the object that each face belongs to."""
    path = file_path(path)
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise unknown(f"format of the mesh {str(path)!r}:", kind, FORMATS)
    trimesh, data = _trimesh(), _content(path)
    try:
        with np.errstate(all="ignore"):
            vertices, faces, names, owner = _read(trimesh, data, kind)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except Exception as error:  # trimesh raises all kinds of errors for a broken file
        why = " ".join(str(error).split())[:160] or type(error).__name__
        raise InputError(
            f"{path}: not a {kind.upper()} mesh that can be read: {why}; {REPAIR}"
        ) from None
    if not len(faces):
        raise InputError(
            f"{path}: has no faces, so it encloses nothing; export the surface as triangles"
        )
    if not np.isfinite(vertices).all():
        where = int(np.argwhere(~np.isfinite(vertices))[0, 0])
        raise InputError(
            f"{path}: vertices must be finite, got vertex {where} = {vertices[where].tolist()}; {REPAIR}"
        )
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise InputError(
            f"{path}: faces must name vertices 0 to {len(vertices) - 1}, got {faces.min()} to {faces.max()}; "
            f"{REPAIR}"
        )
    return *_joined(vertices, faces, owner), names


def _trimesh():
    try:
        import trimesh
        from trimesh import load_scene  # noqa: F401 - older versions have none
    except ImportError:
        raise InputError(
            "reading a mesh needs trimesh 4.6.1 or newer, which is not installed; install it: pip install "
            "'polhode[mesh]'"
        ) from None
    logging.getLogger("trimesh").addHandler(_QUIET)
    return trimesh


def _content(path):
    try:
        return check_regular(path, "a mesh", LARGEST_FILE).read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read the mesh {str(path)!r}: {error.strerror or error}; give the path of a mesh"
        ) from None


def _read(trimesh, data, kind):
    data = _CHECKS[kind](data)
    scene = trimesh.load_scene(io.BytesIO(data), file_type=kind, process=False, skip_materials=True)
    parts, names = [], list(scene.graph.nodes_geometry)
    for name in names:
        transform, geometry = scene.graph[name]
        part = scene.geometry[geometry]
        part = part if isinstance(part, trimesh.Trimesh) else trimesh.Trimesh()
        parts.append(
            _placed(
                np.array(part.vertices, float),
                np.array(part.faces, np.int64),
                np.asarray(transform),
            )
        )
    if not parts:
        return np.empty((0, 3)), np.empty((0, 3), np.int64), names, np.empty(0, np.int64)
    if any(array.ndim != 2 or array.shape[1] != 3 for part in parts for array in part):
        raise InputError(
            f"a vertex has three coordinates and a face three corners, which is not so here; {REPAIR}"
        )
    first = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    return (
        np.concatenate([vertices for vertices, _ in parts]),
        np.concatenate([faces + k for (_, faces), k in zip(parts, first, strict=False)]),
        names,
        np.repeat(np.arange(len(parts)), [len(faces) for _, faces in parts]),
    )


def _placed(vertices, faces, transform):
    """A part where its node puts it; a mirror image has its faces turned round, as glTF says."""
    if np.array_equal(transform, np.eye(4)):
        return vertices, faces
    mirrored = det(transform[:3, :3].tolist()) < 0.0
    return rows_times(vertices, transform[:3, :3].T) + transform[:3, 3], faces[
        :, ::-1
    ] if mirrored else faces


def _joined(vertices, faces, owner):
    """Vertices of equal coordinates made one (an STL repeats them for each face); faces that are
    lines then, dropped."""
    # + 0: there is one zero
    vertices, index = np.unique(vertices[faces.ravel()] + 0.0, axis=0, return_inverse=True)
    faces = index.reshape(-1, 3)
    a, b, c = faces.T
    whole = (a != b) & (b != c) & (c != a)
    return vertices, faces[whole], owner[whole]


# --- sizes stated in a file, compared with the size of the file -----------------------------------


def _check_stl(data):
    """84 bytes and 50 for each triangle, or text."""
    claimed = struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else None
    if claimed is not None and len(data) == 84 + 50 * claimed:
        return data
    if data.lstrip()[:5].lower() != b"solid" or b"\0" in data:
        says = (
            "too short for the 84 bytes of its header"
            if claimed is None
            else (f"its header claims {claimed} triangles, {84 + 50 * claimed} bytes in all")
        )
        raise InputError(f"not an STL file of {len(data)} bytes: {says}; {REPAIR}")
    begun, ended = (
        len(re.findall(rb"(?:^|[\r\n])[ \t]*%b\b" % word, data, re.IGNORECASE))
        for word in (b"solid", b"endsolid")
    )
    if ended < begun:  # trimesh would silently drop the last one
        whole = len(re.findall(rb"\bendfacet\b", data, re.IGNORECASE))
        raise InputError(
            f"cut off after {len(data)} bytes and {whole} complete triangles: a text STL ends with 'endsolid', and "
            f"this one has {ended} for {begun} 'solid'; copy the whole file again, or {REPAIR}"
        )
    return data


def _check_ply(data):
    """Each element that the header counts takes a byte at least."""
    header, end, _ = data.partition(b"end_header")
    if not (data.startswith(b"ply") and end):
        raise InputError(f"not a PLY file: it has no header from 'ply' to 'end_header'; {REPAIR}")
    for line in header.splitlines():
        words = line.split()
        if words[:1] == [b"element"]:
            _at_most(len(data), f"{words[1].decode()} elements", int(words[2]))
    return data


def _check_glb(data):
    """The same GLB with its geometry alone."""
    if len(data) < 20 or data[:4] != b"glTF":
        raise InputError(f"not a GLB file: it does not begin with glTF and a header; {REPAIR}")
    chunks = list(_chunks(data))
    if not chunks or chunks[0][0] != b"JSON":
        raise InputError(f"not a GLB file: its first chunk must be JSON; {REPAIR}")
    scene = json.loads(chunks[0][1])
    if any("uri" in buffer for buffer in scene.get("buffers", [])):
        raise InputError(
            "its numbers are in another file or in text, and a GLB is read alone; export it with everything in it"
        )
    _check_scene(scene, len(data))
    clean = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": len(binary)} for _, binary in chunks[1:2]],
    }
    if "scene" in scene:
        clean["scene"] = scene["scene"]
    for key, kept in _GEOMETRY.items():
        if key in scene:
            clean[key] = [
                {name: item[name] for name in kept if name in item} for item in scene[key]
            ]
    if clean.get("scenes"):
        chosen = clean["scenes"][clean.pop("scene", 0)]
        clean["nodes"] = list(_placed_nodes(clean.get("nodes", []), chosen.get("nodes", [])))
        clean["scenes"] = [{"nodes": list(range(len(clean["nodes"])))}]
    for mesh in clean.get("meshes", []):
        mesh["primitives"] = [_bare(primitive) for primitive in mesh["primitives"]]
    text = json.dumps(clean).encode()
    text += b" " * (-len(text) % 4)
    body = b"".join(
        struct.pack("<I4s", len(part), kind) + part
        for kind, part in [(b"JSON", text), *chunks[1:2]]
    )
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def _chunks(data):
    place = 12
    while place + 8 <= len(data):
        length, kind = struct.unpack_from("<I4s", data, place)
        _at_most(len(data) - place - 8, "bytes in a chunk", length)
        yield kind, data[place + 8 : place + 8 + length]
        place += 8 + length


def _check_scene(scene, size):
    """No more numbers than the file has bytes, each counted once, and copies of parts within
    bounds."""
    accessors = scene.get("accessors", [])
    _at_most(size, "numbers", sum(abs(int(one["count"])) for one in accessors))
    if any("sparse" in one or "bufferView" not in one for one in accessors):
        raise InputError(
            "its coordinates are compressed or sparse, which cannot be read; export it without compression"
        )
    corners = [
        sum(
            accessors[one[key]]["count"]
            for primitive in mesh["primitives"]
            for one, key in ((primitive, "indices"), (primitive["attributes"], "POSITION"))
            if key in one
        )
        for mesh in scene.get("meshes", [])
    ]
    placed = [k for each in scene.get("nodes", []) for k in each.get("children", [])]
    if scene.get("scenes"):
        placed += scene["scenes"][scene.get("scene", 0)].get("nodes", [])
    if len(set(placed)) < len(placed):
        raise InputError(
            f"has a node with two parents or inside itself, and nodes must form a tree; {REPAIR}"
        )
    copies = [corners[node["mesh"]] for node in scene.get("nodes", []) if "mesh" in node]
    if sum(corners) + sum(copies) > LARGEST_MESH:
        raise InputError(
            f"has {sum(corners) + sum(copies)} corners with all copies of its parts, and {LARGEST_MESH} are read; "
            "simplify it first"
        )


def _placed_nodes(nodes, roots):
    """The nodes of a scene without their tree: each has the product of all transforms above it,
    formed in a fixed order."""
    waiting = [(root, np.eye(4)) for root in reversed(roots)]
    while waiting:
        k, above = waiting.pop()
        node = nodes[k]
        here = _product(above, _transform(node))
        waiting += [(child, here) for child in reversed(node.get("children", []))]
        yield {key: node[key] for key in ("name", "mesh") if key in node} | {
            "matrix": here.T.ravel().tolist()
        }


def _transform(node):
    """M T R S of a node: a matrix, column by column, a translation, a quaternion and three scales;
    each may be left out."""
    made = np.reshape(node.get("matrix", np.eye(4)), (4, 4)).astype(float).T
    if "translation" in node:
        made = _product(made, np.vstack([np.eye(3), node["translation"]]).T)
    if "rotation" in node:
        q = np.reshape(node["rotation"], 4).astype(float)
        made = _product(made, matrices(q / (math.sqrt((q * q).sum()) or 1.0)))
    if "scale" in node:
        made = made * np.append(node["scale"], 1.0)
    return made


def _product(A, B):
    """A B for transforms (4, 4); of B a 3x3 or 3x4 corner may be given."""
    full = np.eye(4)
    full[: B.shape[0], : B.shape[1]] = B
    return sum(A[:, k, None] * full[k] for k in range(4))


def _bare(primitive):
    """A primitive without normals, colours and textures."""
    if primitive.get("mode", 4) != 4:
        raise InputError(
            f"has a primitive of mode {primitive['mode']!r}, and triangles (4) alone are read; export triangles"
        )
    kept = {"attributes": {"POSITION": primitive["attributes"]["POSITION"]}}
    return kept | {key: primitive[key] for key in ("indices",) if key in primitive}


def _at_most(held, what, claimed):
    if not 0 <= claimed <= held:
        raise InputError(
            f"claims {claimed} {what}, and there are {held} bytes to hold them; {REPAIR}"
        )


_CHECKS = {"stl": _check_stl, "ply": _check_ply, "glb": _check_glb, "obj": lambda data: data}
