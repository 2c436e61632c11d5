"""Bodies from files: the solid inside a mesh against bodies whose inertia is known, robot links,
and files that lie."""

import json
import os
import struct
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from mesh_files import BOX, WRITERS, ascii_stl, box, glb, obj, ply
from typer.testing import CliRunner

from polhode import InputError, RigidBody, integrate
from polhode.cli import app
from polhode.io import load
from polhode.bodies.mesh import UNITS, solid
from polhode.io.store import save
from polhode.rotations import exp, matrices

trimesh = pytest.importorskip("trimesh")


def written(folder, data, name="a.stl"):
    path = folder / name
    path.write_bytes(data)
    return path


def close(a, b, tolerance):
    a, b = np.asarray(a), np.asarray(b)
    return np.abs(a - b).max() <= tolerance * np.abs(b).max()


# --- bodies whose inertia is known ----------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_box(name, tmp_path):
    path = written(tmp_path, WRITERS[name](*box(1, 2, 3, at=(0.5, -4.0, 2.0))), name)
    body = RigidBody.from_mesh(path, density=2.0)
    known = RigidBody.box(1, 2, 3, mass=12)
    assert close(body.inertia, known.inertia, 1e-15) and body.is_principal
    assert body.mass == 12.0
    assert body.shape["centre_of_mass"] == (0.5, -4.0, 2.0)
    assert RigidBody.from_mesh(path, mass=12.0) == body
    assert RigidBody.from_dict(json.loads(json.dumps(body.to_dict()))) == body


@pytest.mark.parametrize("units", UNITS)
def test_units_scale_volume_and_moments(units, tmp_path):
    path = written(tmp_path, ascii_stl(*box(1, 2, 3)))
    metres = UNITS[units]
    known = RigidBody.box(metres, 2 * metres, 3 * metres, density=7850)
    for given in (units, metres):
        body = RigidBody.from_mesh(path, 7850, units=given)
        assert close(body.moments, known.moments, 4e-16) and body.mass == pytest.approx(
            known.mass, rel=1e-15
        )


def test_a_box_turned_and_far_from_the_origin(tmp_path):
    vertices, faces = box(1, 2, 3)
    R = matrices(exp([0.3, -1.1, 0.7]))
    known = R @ RigidBody.box(1, 2, 3, density=5).inertia @ R.T
    # coordinates lose far/1e16 of their digits themselves
    for far, tolerance in ((0.0, 1e-14), (1e3, 1e-12), (1e6, 1e-9)):
        body = RigidBody.from_mesh(
            written(tmp_path, ascii_stl(vertices @ R.T + [far, -far, 2 * far], faces)), density=5
        )
        assert close(body.inertia, known, tolerance)
        assert close(np.sort(body.moments), [12.5, 25, 32.5], tolerance)
        assert close(body.shape["centre_of_mass"], [far, -far, 2 * far], 1e-15) or far == 0.0


def test_a_tetrahedron(tmp_path):
    """About the origin: int x^2 = 1/60, int x y = 1/120, volume 1/6, centre (1, 1, 1)/4."""
    vertices = np.vstack([np.zeros(3), np.eye(3)])
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    body = RigidBody.from_mesh(written(tmp_path, ascii_stl(vertices, faces)), density=1)
    assert body.mass == pytest.approx(1 / 6, rel=1e-15)
    assert close(body.shape["centre_of_mass"], [0.25] * 3, 1e-15)
    square, product = 1 / 60 - 1 / 96, 1 / 120 - 1 / 96
    assert close(
        body.inertia, np.full((3, 3), -product) + np.eye(3) * (2 * square + product), 1e-14
    )


def test_ellipsoids_converge_at_second_order(tmp_path):
    errors = []
    for n in (1, 2, 3, 4):
        ball = trimesh.creation.icosphere(subdivisions=n)
        path = written(tmp_path, ascii_stl(ball.vertices * [1.0, 2.0, 3.0], ball.faces))
        errors.append(
            np.abs(
                RigidBody.from_mesh(path, mass=5).moments
                / RigidBody.ellipsoid(1, 2, 3, mass=5).moments
                - 1
            ).max()
        )
    assert np.all(np.abs(np.log2(np.divide(errors[:-1], errors[1:])) - 2.0) < 0.2)
    assert errors[-1] < 2e-3


def prism(n, radius, height):
    angle = 2 * np.pi * np.arange(n) / n
    rim = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    ends = -height / 2, height / 2
    vertices = np.vstack(
        [*(np.column_stack([rim, np.full(n, z)]) for z in ends), *([[0, 0, z]] for z in ends)]
    )
    faces = []
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, n + j), (i, n + j, n + i), (2 * n, j, i), (2 * n + 1, n + i, n + j)]
    return vertices, np.array(faces)


def test_a_prism_exactly_and_a_cylinder_in_the_limit(tmp_path):
    for n in (6, 400):
        body = RigidBody.from_mesh(written(tmp_path, ascii_stl(*prism(n, 2.0, 6.0))), mass=2.0)
        # m r^2 (2 + cos(2 pi/n)) / 6 about the axis of an n-gon
        polar = 2.0 * (4.0 / 6.0) * (2.0 + np.cos(2 * np.pi / n))
        assert close(body.moments, [polar / 2 + 6.0, polar / 2 + 6.0, polar], 1e-13)
    assert close(body.moments, RigidBody.cylinder(2, 6, mass=2).moments, 1e-4)


def test_holes_cavities_and_several_parts(tmp_path):
    outer, inner = box(3, 3, 3), box(1, 1, 2, at=(0.5, 0, 0))
    hollow = np.vstack([outer[0], inner[0]]), np.vstack([outer[1], inner[1][:, ::-1] + 8])
    body = RigidBody.from_mesh(written(tmp_path, ascii_stl(*hollow)), density=1)
    centre = np.array([-0.5 * 2 / 25, 0, 0])

    def about(b, at):
        r = np.array(at) - centre
        return b.inertia + b.mass * (r @ r * np.eye(3) - np.outer(r, r))

    known = about(RigidBody.box(3, 3, 3, density=1), (0, 0, 0)) - about(
        RigidBody.box(1, 1, 2, density=1), (0.5, 0, 0)
    )
    assert body.mass == pytest.approx(25, rel=1e-14) and close(body.inertia, known, 1e-14)
    assert close(body.shape["centre_of_mass"], centre, 1e-14)
    assert solid(tmp_path / "a.stl").parts == 2
    # a tube has a hole through it: annulus of radii 1 and 2 with many sides
    ring = trimesh.creation.annulus(1.0, 2.0, 3.0, sections=720)
    tube = RigidBody.from_mesh(written(tmp_path, ascii_stl(ring.vertices, ring.faces)), mass=2.0)
    assert close(tube.moments, [2 / 12 * (3 * 5 + 9), 2 / 12 * (3 * 5 + 9), 2 / 2 * 5], 1e-4)
    apart = (
        np.vstack([box(1, 1, 1)[0], box(1, 1, 1, at=(4, 0, 0))[0]]),
        np.vstack([outer[1], outer[1] + 8]),
    )
    pair = RigidBody.from_mesh(written(tmp_path, ascii_stl(*apart)), density=1)
    assert close(pair.moments, [2 / 6, 2 / 6 + 8, 2 / 6 + 8], 1e-14)


def test_vertices_are_joined_by_equality_alone(tmp_path):
    """A nanometre is far below tolerances that suit metres."""
    body = RigidBody.from_mesh(written(tmp_path, ascii_stl(*box(1e-9, 2e-9, 3e-9))), mass=12)
    assert close(body.moments, [13e-18, 10e-18, 5e-18], 1e-14)
    _, faces = box(1, 2, 3)
    soup = box(1, 2, 3, at=(0.5, 1.0, 1.5))[0][faces].reshape(-1, 3)
    soup[::2] = np.where(soup[::2] == 0.0, -0.0, soup[::2])  # of two zeros too
    assert RigidBody.from_mesh(
        written(tmp_path, obj(soup, np.arange(36).reshape(-1, 3)), "a.obj"), mass=12
    ).is_principal


def test_nodes_of_a_scene_move_turn_and_mirror(tmp_path):
    vertices, faces = box(1, 2, 3, at=(0.25, 0, 0))
    half = np.sqrt(0.5)
    nodes = (
        {"mesh": 0, "translation": [5, 0, 0], "rotation": [0, 0, half, half]},
        {"mesh": 0, "scale": [-1, 1, 1], "children": [2]},
        {"mesh": 0, "translation": [0, 9, 0]},
    )
    path = written(tmp_path, glb(vertices, faces, nodes, scenes=[{"nodes": [0, 1]}]), "a.glb")
    found = solid(path)
    assert found.volume == pytest.approx(18, rel=1e-7) and found.parts == 3
    assert close(found.centre, np.mean([[5, 0.25, 0], [-0.25, 0, 0], [-0.25, 9, 0]], axis=0), 1e-6)


# --- parts that overlap are counted twice ---------------------------------------------------------


def several(*parts):
    """Boxes (sizes, place[, inside out]) as one surface."""
    vertices, faces = [], []
    for k, (size, at, *flip) in enumerate(parts):
        v, f = box(*size, at=at)
        vertices.append(v)
        faces.append((f[:, ::-1] if flip else f) + 8 * k)
    return np.concatenate(vertices), np.concatenate(faces)


OVERLAPS = {
    "a corner": [((1, 1, 1), (0, 0, 0)), ((1, 1, 1), (0.9, 0.9, 0.9))],
    "a cross of bars": [((10, 1, 1), (0, 0, 0)), ((1, 10, 1), (0, 0, 0))],
    "one in the other": [((3, 3, 3), (0, 0, 0)), ((1, 1, 1), (0.1, 0.2, 0.3))],
    "one twice": [((1, 2, 3), (0, 0, 0)), ((1, 2, 3), (0, 0, 0))],
    "a small one at the end of a long one": [
        ((100, 1, 1), (0, 0, 0)),
        ((0.2, 0.2, 0.2), (50.05, 0.3, -0.2)),
    ],
    "two cavities": [
        ((9, 9, 9), (0, 0, 0)),
        ((2, 2, 2), (0, 0, 0), True),
        ((2, 2, 2), (1, 1, 1), True),
    ],
}
APART = {
    "side by side": [((1, 1, 1), (0, 0, 0)), ((1, 1, 1), (1, 0, 0))],
    "side by side, shifted": [
        ((1, 1, 1), (0, 0, 0)),
        ((1, 1, 1), (1, 0.3, 0.1)),
        ((3, 3, 1), (0.2, 0.1, 1.1)),
    ],
    "a cavity": [((3, 3, 3), (0, 0, 0)), ((1, 1, 1), (0.1, 0.2, 0.3), True)],
    "one in a cavity": [
        ((3, 3, 3), (0, 0, 0)),
        ((2, 2, 2), (0, 0, 0), True),
        ((1, 1, 1), (0, 0.2, 0)),
    ],
    "filling its cavity": [
        ((3, 3, 3), (0, 0, 0)),
        ((2, 2, 2), (0, 0, 0), True),
        ((2, 2, 2), (0, 0, 0)),
    ],
}


@pytest.mark.parametrize("case", OVERLAPS)
def test_parts_that_overlap_are_warned_of(tmp_path, case):
    path = written(tmp_path, obj(*several(*OVERLAPS[case])), "a.obj")
    with pytest.warns(UserWarning, match="overlap.*counted twice") as warned:
        RigidBody.from_mesh(path, density=1.0)
    assert len(warned) == 1 and warned[0].filename == __file__, "once, where the user called"


@pytest.mark.parametrize("case", APART)
def test_parts_that_touch_or_lie_in_cavities_are_not_warned_of(tmp_path, case, recwarn):
    RigidBody.from_mesh(written(tmp_path, obj(*several(*APART[case])), "a.obj"), density=1.0)
    assert not recwarn.list


def test_turned_parts_side_by_side_are_not_warned_of(tmp_path, recwarn):
    """Rounding makes turned boxes that share a face overlap by a last bit, or leave a gap; a chain
    of nine, many attitudes."""
    vertices, faces = several(*(((1, 1, 1), (k, 0.1 * k, 0)) for k in range(9)))
    for R in matrices(exp(np.random.default_rng(2).normal(size=(20, 3)))):
        RigidBody.from_mesh(written(tmp_path, obj(vertices @ R.T, faces), "a.obj"), density=1.0)
    assert not recwarn.list


def test_the_warning_names_objects_and_boxes(tmp_path):
    nodes = [{"mesh": 0, "name": "wheel"}, {"mesh": 0, "name": "axle", "translation": [0.5, 0, 0]}]
    path = written(tmp_path, glb(*box(1, 2, 3), nodes), "a.glb")
    with pytest.warns(UserWarning) as warned:
        found = solid(path)
    message = str(warned[0].message)
    assert (
        found.parts == 2
        and "'wheel' in the box (-0.5, -1, -1.5) to (0.5, 1, 1.5) and 'axle' in the box (0, "
        in message
    )
    finished = subprocess.run(
        [sys.executable, "-m", "polhode", "mesh", str(path), "--json"],
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0 and json.loads(finished.stdout)["volume"] == 12.0
    assert " ".join(finished.stderr.split()) == f"polhode: {message}"


def test_a_mesh_moves_as_the_body_it_is(tmp_path):
    path = written(tmp_path, ascii_stl(*box(1, 2, 3)))
    motion = {"t_span": (0, 1), "step": 0.01, "omega0": (0.1, 1, 0.2)}
    a, b = (
        integrate(RigidBody.from_mesh(path, mass=12), **motion),
        integrate(RigidBody.box(1, 2, 3, mass=12), **motion),
    )
    assert np.array_equal(a.quaternion, b.quaternion)


def test_a_text_that_is_cut_off_is_told_so(tmp_path):
    """Cut anywhere, it is refused as what it is; two solids of which the second is cut are not
    taken for the first alone."""
    whole = ascii_stl(*box(1, 2, 3))
    assert solid(
        written(tmp_path, whole + ascii_stl(*box(1, 1, 1, at=(9, 0, 0))))
    ).volume == pytest.approx(7)
    assert solid(written(tmp_path, whole.replace(b"\n", b"\r\n"))).volume == pytest.approx(6)
    for size in range(6, len(whole) - len("endsolid test\n"), 97):
        for text in (whole[:size], whole + whole[:size]):
            triangles = text.count(b"endfacet")
            with pytest.raises(
                InputError,
                match=rf"cut off after {len(text)} bytes and {triangles} complete triangles",
            ):
                solid(written(tmp_path, text))


# --- surfaces that enclose nothing ----------------------------------------------------------------


def broken_surfaces():
    vertices, faces = box(1, 2, 3)
    yield "not watertight: 3 of 18 edges", (vertices, faces[1:])
    turned = faces.copy()
    turned[0] = turned[0, ::-1]
    yield "not oriented consistently: along 3 of 18 edges", (vertices, turned)
    yield "inside out", (vertices, faces[:, ::-1])
    two = np.vstack([vertices * 2, box(1, 2, 3, at=(9, 0, 0))[0]])
    yield "one of its 2 parts is inside out", (two, np.vstack([faces, faces[:, ::-1] + 8]))
    yield "encloses no volume", (vertices * [1, 1, 0], np.array([(0, 1, 3), (0, 3, 1)]))
    yield "encloses no volume", (vertices, np.array([(0, 1, 7), (0, 7, 1)]))
    yield "without area", (vertices, np.array([(0, 0, 1)]))
    nan = vertices.copy()
    nan[3, 1] = np.nan
    yield "must be finite", (nan, faces)


@pytest.mark.parametrize("rule, surface", list(broken_surfaces()))
def test_a_surface_that_encloses_nothing_is_refused(rule, surface, tmp_path):
    path = written(tmp_path, ascii_stl(*surface))
    with pytest.raises(InputError, match=rule) as error:
        RigidBody.from_mesh(path, 1.0)
    assert str(path) in str(error.value) and ";" in str(error.value)
    result = CliRunner().invoke(app, ["mesh", str(path)])
    assert result.exit_code == 2 and "Traceback" not in result.output


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda path: RigidBody.from_mesh(path), "give density or mass .* got neither"),
        (lambda path: RigidBody.from_mesh(path, 1.0, mass=2.0), "give density or mass .* got both"),
        (lambda path: RigidBody.from_mesh(path, -1.0), "density must be positive"),
        (lambda path: RigidBody.from_mesh(path, 1.0, units="mn"), "did you mean .nm."),
        (lambda path: RigidBody.from_mesh(path, 1.0, units=0.0), "must be positive"),
        (lambda path: RigidBody.from_mesh(path.with_suffix(".step"), 1.0), "unknown format"),
        (
            lambda path: RigidBody.from_mesh(path.with_name("b.stl"), 1.0),
            "cannot read the mesh .*: No such file",
        ),
        (
            lambda path: RigidBody.from_mesh(path.parent / "d.stl", 1.0),
            "cannot read the mesh .*: Is a directory",
        ),
        (lambda path: RigidBody.from_mesh(path, 1.0, units=1e90), "beyond the range of float64"),
        (lambda path: RigidBody.from_mesh(path, 1e-300, units=1e-9), "beyond the range of float64"),
    ],
)
def test_arguments_are_checked(call, words, tmp_path):
    path = written(tmp_path, ascii_stl(*box(1, 2, 3)))
    (tmp_path / "d.stl").mkdir()
    with pytest.raises(InputError, match=words):
        call(path)


@pytest.mark.parametrize("there", ["none", "older"])
def test_without_trimesh_the_message_says_what_to_install(there, tmp_path, monkeypatch):
    if there == "none":
        monkeypatch.setitem(sys.modules, "trimesh", None)
    else:
        monkeypatch.delattr(trimesh, "load_scene")
    with pytest.raises(InputError, match=r"pip install 'polhode\[mesh\]'"):
        RigidBody.from_mesh(written(tmp_path, ascii_stl(*box(1, 2, 3))), 1.0)


# --- files that lie -------------------------------------------------------------------------------

GOOD = glb(*box(1, 2, 3))


def with_accessors(*accessors, **more):
    return glb(*box(1, 2, 3), accessors=list(accessors), **more)


HUGE = {"componentType": 5126, "count": 10**12, "type": "VEC3"}
REAL = {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"}
LIES = {
    "claims 4294967295 triangles.stl": b"\0" * 80 + b"\xff" * 4 + b"\0" * 16,
    "too short.stl": b"\0" * 40,
    "empty.stl": b"",
    "solid.stl": b"solid\n",
    "empty.obj": b"",
    "empty.ply": b"",
    "empty.glb": b"",
    "claims 1000000000000 vertex.ply": ply(*box(1, 2, 3)).replace(
        b"element vertex 8", b"element vertex 1000000000000"
    ),
    "claims -8.ply": ply(*box(1, 2, 3)).replace(b"element vertex 8", b"element vertex -8"),
    "binary.ply": ply(*box(1, 2, 3)).replace(b"ascii", b"binary_little_endian"),
    "endless.ply": b"ply\nformat ascii 1.0\n" + b"comment x\n" * 1000,
    "claims 4294967295 bytes.glb": GOOD[:12] + b"\xff" * 4 + GOOD[16:],
    "cut short.glb": GOOD[:-40],
    "numbers.glb": with_accessors(HUGE, HUGE),
    "view.glb": with_accessors(REAL | {"count": 10**9}, HUGE | {"bufferView": 1}),
    "many.glb": with_accessors(*[REAL] * 5000),
    "copies.glb": glb(box(1, 2, 3)[0], np.tile(BOX, (1000, 1)), nodes=[{"mesh": 0}] * 600),
    "stride.glb": with_accessors(
        REAL,
        {"bufferView": 1, "componentType": 5125, "count": 36, "type": "SCALAR"},
        bufferViews=[
            {"buffer": 0, "byteLength": 96, "byteStride": 10**9},
            {"buffer": 0, "byteOffset": 96, "byteLength": 144},
        ],
    ),
    "outside.glb": with_accessors(
        REAL, {"bufferView": 7, "componentType": 5125, "count": 36, "type": "SCALAR"}
    ),
    "another file.glb": glb(
        *box(1, 2, 3), buffers=[{"byteLength": 240, "uri": "../../secret.bin"}]
    ),
    "not json.glb": GOOD[:20] + b"{" * (len(GOOD) - 20),
    "deep.glb": struct.pack("<4sII", b"glTF", 2, 100_020)
    + struct.pack("<I4s", 100_000, b"JSON")
    + b"[" * 100_000,
    "loop.glb": glb(
        *box(1, 2, 3), nodes=[{"mesh": 0, "children": [1]}, {"mesh": 0, "children": [0]}]
    ),
    "index.obj": b"v 0 0 0\nf 1 2 99999999\n",
    "words.obj": b"v a b c\nf x y z\n",
    "other.obj": b"mtllib /etc/passwd\n" + obj(*box(1, 2, 3))[:-9],
}


@pytest.mark.parametrize("name", LIES)
def test_files_that_lie_are_refused_in_bounded_memory(name, tmp_path):
    path = written(tmp_path, LIES[name], name.replace(" ", "-"))
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as error:
            RigidBody.from_mesh(path, 1.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(path) in str(error.value)
    assert peak < 30e6 + 60 * path.stat().st_size


def test_mutated_files_give_a_body_or_an_input_error(tmp_path):
    random = np.random.default_rng(20)
    for name, writer in WRITERS.items():
        whole = np.frombuffer(writer(*box(1, 2, 3)), np.uint8)
        for _ in range(60):
            data = whole.copy()
            data[random.integers(len(data), size=random.integers(1, 6))] = random.integers(
                256, size=1, dtype=np.uint8
            )
            data = data[: random.integers(len(data))] if random.random() < 0.3 else data
            try:
                body = RigidBody.from_mesh(written(tmp_path, data.tobytes(), name), 1.0)
            except InputError:
                continue
            assert np.isfinite(body.inertia).all() and body.mass > 0


# --- the command line, scenarios, pages -----------------------------------------------------------


def test_the_command_prints_mass_properties(tmp_path):
    deep = (
        tmp_path
        / "a name that takes more than half of the width of a terminal, and with it a line of its own"
    )
    deep.mkdir()
    path = written(deep, ascii_stl(*box(100, 200, 300, at=(1000, 0, 0))))
    data = json.loads(
        CliRunner()
        .invoke(app, ["mesh", str(path), "--density", "2000", "--units", "mm", "--json"])
        .stdout
    )
    assert (
        data["mass"] == pytest.approx(12)
        and data["volume"] == pytest.approx(0.006)
        and data["watertight"] is True
    )
    assert data["moments"] == pytest.approx([0.13, 0.10, 0.05]) and data[
        "centre_of_mass"
    ] == pytest.approx([1, 0, 0])
    text = CliRunner().invoke(app, ["mesh", str(path), "--mass", "12", "--units", "0.001"]).stdout
    assert "watertight" in text and "0.13" in text and "kg m^2" in text
    for wrong in (
        ["--density", "1", "--mass", "2"],
        ["--density", "0"],
        ["--units", "parsec"],
        ["--units", "nan"],
    ):
        result = CliRunner().invoke(app, ["mesh", str(path), *wrong])
        assert result.exit_code == 2 and "Traceback" not in result.output


SCENARIO = """
[body]
mesh = "parts/box.stl"
{}

[initial]
omega = [0.1, 1.0, 0.0]

[run]
step = 0.01
t_span = [0, 1]
"""


def test_a_scenario_names_a_mesh_beside_it(tmp_path, monkeypatch):
    (tmp_path / "parts").mkdir()
    written(tmp_path / "parts", ascii_stl(*box(1, 2, 3)), "box.stl")
    path = tmp_path / "a.toml"
    path.write_text(SCENARIO.format('density = 2000\nunits = "mm"\nname = "part"'))
    monkeypatch.chdir(os.sep)
    body = load(path).body
    assert body.mass == pytest.approx(12e-6) and body.name == "part"
    for lines, words in (
        ("", "got neither"),
        ('density = 1\nunits = "mn"', "did you mean .nm."),
        ("density = 1\nunits = -1", "positive"),
        ("density = 1\nsize = [1, 2, 3]", "unknown key"),
        ("density = 1\nmass = 1", "got both"),
    ):
        path.write_text(SCENARIO.format(lines))
        with pytest.raises(InputError, match=words):
            load(path)
    path.write_text(SCENARIO.format("density = 1").replace("box.stl", "none.stl"))
    with pytest.raises(InputError, match=r"body: cannot read the mesh .*none.stl"):
        load(path)


def test_a_page_draws_the_mesh(tmp_path):
    run, surface = tmp_path / "run.npz", written(tmp_path, ascii_stl(*box(1, 2, 3)))
    save(integrate([1.0, 2.0, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 1, 0)), run)
    result = CliRunner().invoke(
        app, ["view", str(run), "--mesh", str(surface), "-o", str(tmp_path / "page.html")]
    )
    assert result.exit_code == 0 and '"kind": "mesh"' in (tmp_path / "page.html").read_text("utf-8")
    body = RigidBody.from_mesh(surface, 1.0)
    page = integrate(body, t_span=(0, 1), step=0.1, omega0=(0, 1, 0)).view()
    assert '"kind": "mesh"' in page.html


def test_trimesh_is_imported_by_meshes_alone():
    code = "import sys, polhode, polhode.io; polhode.RigidBody([1, 2, 2.5]); print('trimesh' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "False"
    )


# --- robot links ----------------------------------------------------------------------------------

URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="forearm"><inertial>
    <origin xyz="0.1 0 0.2" rpy="{rpy}"/><mass value="3"/>
    <inertia ixx="1" ixy="{ixy}" ixz="0" iyy="2" iyz="0" izz="2.5"/>
  </inertial></link>
  <link name="hand"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="{izz}"/></inertial></link>
  <link name="tip"><inertial><mass value="0"/></inertial></link>
</robot>
"""


def urdf(folder, rpy="0 0 0", ixy="0", izz="1"):
    return written(folder, URDF.format(rpy=rpy, ixy=ixy, izz=izz).encode(), "arm.urdf")


def test_a_link_of_a_robot(tmp_path):
    body = RigidBody.from_urdf(urdf(tmp_path, ixy="0.1"), "forearm")
    assert np.array_equal(body.inertia, [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]])
    assert (
        body.mass == 3.0
        and body.name == "forearm"
        and body.shape["centre_of_mass"] == (0.1, 0.0, 0.2)
    )
    assert RigidBody.from_urdf(urdf(tmp_path), "hand").shape["centre_of_mass"] == (0, 0, 0)


def test_roll_pitch_and_yaw_turn_the_inertia(tmp_path):
    from scipy.spatial.transform import Rotation

    rpy = (0.3, -0.7, 1.9)
    R = Rotation.from_euler("xyz", rpy).as_matrix()  # about fixed axes, roll first
    body = RigidBody.from_urdf(urdf(tmp_path, rpy=" ".join(map(str, rpy))), "forearm")
    assert close(body.inertia, R @ np.diag([1, 2, 2.5]) @ R.T, 1e-15)
    assert RigidBody.from_urdf(
        urdf(tmp_path, rpy=f"{np.pi / 2!r} 0 0"), "forearm"
    ).moments == pytest.approx([1, 2.5, 2])


@pytest.mark.parametrize(
    "change, link, words",
    [
        ({}, "forarm", "did you mean 'forearm'"),
        ({}, "base", "no <inertial>"),
        ({}, None, "3 links have an <inertial>; name one"),
        ({}, "tip", "mass must be positive, got 0.0"),
        ({"izz": "9"}, "hand", "link 'hand': .*triangle inequality"),
        ({"izz": "nan"}, "hand", "izz of <inertia> must be a finite number, got 'nan'"),
        ({"izz": "one"}, "hand", "izz of <inertia> must be a finite number, got 'one'"),
        ({"rpy": "1 2"}, "forearm", "rpy of <origin> must be 3 finite numbers"),
    ],
)
def test_links_that_are_no_bodies(change, link, words, tmp_path):
    with pytest.raises(InputError, match=words):
        RigidBody.from_urdf(urdf(tmp_path, **change), link)


BOMB = (
    '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><robot name='&i;'/>"
)


@pytest.mark.parametrize(
    "text, words",
    [
        (BOMB, "document type"),
        ("<!DOCTYPE robot SYSTEM 'file:///etc/passwd'><robot/>", "document type"),
        ("<robot>", "not valid XML"),
        ("", "not valid XML"),
        ("<robot name='&undefined;'/>", "not valid XML"),
        ("<sdf/>", "a URDF is a <robot>"),
        ("<robot>" + "<link>" * 100_000, "not valid XML"),
        ("<?xml version='1.0' encoding='nonsense'?><robot/>", "not valid XML"),
        ("<robot><link name='a'><inertial/></link></robot>", "no <mass>"),
    ],
)
def test_xml_that_is_no_robot(text, words, tmp_path):
    path = written(tmp_path, text.encode(), "a.urdf")
    with pytest.raises(InputError, match=words):
        RigidBody.from_urdf(path, "a")
    with pytest.raises(InputError, match="cannot read the URDF"):
        RigidBody.from_urdf(tmp_path / "none.urdf", "a")
