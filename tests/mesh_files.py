"""Files with a mesh in them, in every format that is read."""

import json
import struct

import numpy as np

BOX = (
    (0, 3, 1),
    (0, 2, 3),
    (4, 5, 7),
    (4, 7, 6),
    (0, 1, 5),
    (0, 5, 4),
    (2, 7, 3),
    (2, 6, 7),
    (0, 6, 2),
    (0, 4, 6),
    (1, 3, 7),
    (1, 7, 5),
)


def box(a, b, c, at=(0.0, 0.0, 0.0)):
    corners = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
    return corners * [a, b, c] + at, np.array(BOX)


def ascii_stl(vertices, faces):
    lines = ["solid test"]
    for face in faces:
        lines += [
            "facet normal 0 0 0",
            "outer loop",
            *("vertex " + " ".join(map(repr, v.tolist())) for v in vertices[face]),
            "endloop",
            "endfacet",
        ]
    return "\n".join([*lines, "endsolid test\n"]).encode()


def binary_stl(vertices, faces):
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *vertices[face].ravel(), 0) for face in faces)
    return b"\0" * 80 + struct.pack("<I", len(faces)) + rows


def obj(vertices, faces):
    return "".join(
        [
            *(f"v {x!r} {y!r} {z!r}\n" for x, y, z in vertices.tolist()),
            *(f"f {a} {b} {c}\n" for a, b, c in (faces + 1).tolist()),
        ]
    ).encode()


def ply(vertices, faces):
    head = (
        f"ply\nformat ascii 1.0\nelement vertex {len(vertices)}\nproperty double x\nproperty double y\nproperty double z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    return (
        head
        + "".join(" ".join(map(repr, v)) + "\n" for v in vertices.tolist())
        + "".join("3 " + " ".join(map(str, f)) + "\n" for f in faces.tolist())
    ).encode()


def glb(vertices, faces, nodes=({"mesh": 0},), **more):
    binary = np.asarray(vertices, "<f4").tobytes() + np.asarray(faces, "<u4").tobytes()
    scene = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": list(nodes),
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(vertices), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3 * len(faces), "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 12 * len(vertices)},
            {"buffer": 0, "byteOffset": 12 * len(vertices), "byteLength": 12 * len(faces)},
        ],
        "buffers": [{"byteLength": len(binary)}],
    } | more
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    chunks = (
        struct.pack("<I4s", len(text), b"JSON")
        + text
        + struct.pack("<I4s", len(binary), b"BIN\0")
        + binary
    )
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


WRITERS = {
    "ascii.stl": ascii_stl,
    "binary.stl": binary_stl,
    "a.obj": obj,
    "a.ply": ply,
    "a.glb": glb,
}
