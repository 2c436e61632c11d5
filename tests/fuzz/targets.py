"""What reads input from outside: each target takes bytes, and either gives a result or raises one
of polhode's own errors.

`TARGETS` holds them by name; each has seeds, inputs that are nearly right, made of the examples.
"""

import contextlib
import functools
import io
import struct
import tempfile
import tomllib
import warnings
import zipfile
from pathlib import Path

import numpy as np

import polhode
from mutate import Choices, altered, damaged
from polhode import problems, rotations, torques
from polhode.studies.advise.cost import seconds
from polhode.cli.commands.compare import parse_errors
from polhode.studies.compare import entries
from polhode.studies.compare._compare import check_errors
from polhode.errors import PolhodeError
from polhode.io import store
from polhode.io.scenario._load import make_scenario
from polhode.io.scenario.toml import parse
from polhode.io.read import read
from polhode.methods import everything, get
from polhode.show.play.work import check_request
from polhode.studies.sweep.plan import Plan

EXAMPLES = Path(__file__).parents[2] / "examples"
_folder = tempfile.TemporaryDirectory(prefix="polhode-fuzz-")  # goes with the process
FOLDER = Path(_folder.name)

SCENARIOS = [tomllib.loads(path.read_text("utf-8")) for path in sorted(EXAMPLES.glob("*.toml"))] + [
    {"problem": "krysl/slow-top"},
    {
        "body": {
            "shape": "point_masses",
            "masses": [1.0, 2.0, 3.0],
            "positions": [[0.0, 0, 1], [1, 0, 0], [0, 1, 0]],
        },
        "initial": {"momentum": [1.0, 2.0, 3.0], "quaternion": [0.0, 0.0, 0.0, 1.0]},
        "torque": [
            {"name": "heavy_top", "moment": 2.0},
            {"name": "damping", "coefficient": [0.1, 0.2, 0.3]},
        ],
        "run": {"rtol": 1e-9, "t_span": [0, 1], "t_eval": [0.0, 0.5], "max_step": 0.5},
    },
    {
        "body": {"shape": "cylinder", "radius": 1.0, "height": 2.0, "density": 3.0},
        "initial": {
            "omega": [1.0, 2.0, 3.0],
            "matrix": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        },
        "run": {"method": "NMB+ep", "step": [0.0, 0.1, 0.3], "every": 2},
        "output": {"file": "a.nc", "format": "nc"},
    },
]
SWEEPS = [one for one in SCENARIOS if "sweep" in one] + [
    {
        "problem": "krysl/slow-top",
        "sweep": {"samples": 10, "initial": {"rotation": "random"}, "run": {"step": [0.1, 0.05]}},
    },
    {
        "problem": "krysl/fast-top",
        "sweep": {
            "initial": {"omega": {"2": {"from": 1.0, "to": 100.0, "count": 5, "scale": "log"}}},
            "samples": 4,
            "body": {"inertia": {"0": {"uniform": [4.0, 5.0]}}},
        },
    },
]
ASKED = [
    {
        "problem": "free",
        "body": {"kind": "box", "values": [1.0, 2.0, 3.0]},
        "omega0": [0.1, 1.0, 0.2],
        "method": "NMB",
        "compare": "LP2",
        "step": 0.01,
        "span": 10.0,
    }
]


def allowed(function):
    """Polhode's own errors are answers; warnings about numbers are not the matter here."""

    @functools.wraps(function)
    def call(data):
        with contextlib.suppress(PolhodeError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(data)

    return call


def at_path(name, data):
    path = FOLDER / name
    path.write_bytes(data)
    return path


# --- scenarios and sweeps -------------------------------------------------------------------------


@allowed
def toml(data):
    path = at_path("input.toml", data)
    found = parse(path)
    Plan(found, path) if "sweep" in found else make_scenario(found, path)


@allowed
def scenario(data):
    make_scenario(altered(SCENARIOS, Choices(data)), "input.toml")


@allowed
def sweep(data):
    Plan(altered(SWEEPS, Choices(data)), "input.toml")


# --- text and numbers -----------------------------------------------------------------------------

READERS = (
    get,
    problems.get,
    torques.by_name,
    lambda text: entries.select(text.split(",")),
    lambda text: seconds("cost", text),
    lambda text: check_errors(parse_errors(text)),
    polhode.loads.conversion.as_torque,
    lambda text: entries.select(None, text),
)


@allowed
def words(data):
    READERS[data[0] % len(READERS) if data else 0](data[1:].decode("utf-8", "replace"))


@allowed
def rotation(data):
    choices = Choices(data)
    if choices.below(4):
        shape = choices.one(((3,), (4,), (3, 3), (1, 4), (2, 2), (0,), ()))
        values = np.array(
            [choices.real() for _ in range(int(np.prod(shape)))], dtype=object
        ).reshape(shape)
        found = rotations.as_quaternion(values.tolist())
    else:
        found = rotations.as_quaternion(choices.value())
    assert abs(np.linalg.norm(found) - 1.0) < 1e-12


@allowed
def body(data):
    original = polhode.RigidBody.box(1.0, 2.0, 3.0, mass=2.0, name="box").to_dict()
    polhode.RigidBody.from_dict(altered([original], Choices(data)))


@allowed
def playground(data):
    check_request(altered(ASKED, Choices(data)))


# --- files ----------------------------------------------------------------------------------------


@functools.cache
def stored(suffix):
    """A short run as `polhode run -o` stores it."""
    run = polhode.integrate(
        [1.0, 2.0, 3.0], "heavy_top", (0, 0.1), 0.05, "NMB", omega0=(1, 2, 3), compiled=False
    )
    path = FOLDER / f"seed.{suffix}"
    store.save(run, path, force=True)
    if path.is_dir():
        return {place: place.read_bytes() for place in sorted(path.rglob("*")) if place.is_file()}
    return path.read_bytes()


@allowed
def zarr(data):
    """A store with one of its files damaged, and put right again."""
    choices, files = Choices(data), stored("zarr")
    place = choices.one([one for one in files if choices.below(3) == 0 or one.name == "zarr.json"])
    place.write_bytes(damaged(files[place], choices))
    try:
        read(FOLDER / "seed.zarr")
    finally:
        place.write_bytes(files[place])


def of_file(suffix):
    """A target that reads a stored run of this kind with some of its bytes changed, those of an
    archive before it is zipped."""

    @allowed
    def target(data):
        original = stored(suffix)
        if suffix == "npz" and len(data) > 2 and data[0] % 2:
            changed = inside(original, data[1:])
        else:
            changed = damaged(original, Choices(data))
        read(at_path(f"input.{suffix}", changed))

    return target


def inside(archive, data):
    choices, out = Choices(data), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        hit = choices.below(len(old.namelist()))
        for number, name in enumerate(old.namelist()):
            new.writestr(
                name, damaged(old.read(name), choices) if number == hit else old.read(name)
            )
    return out.getvalue()


def raw(suffix):
    """A target that reads the bytes as they are."""

    @allowed
    def target(data):
        read(at_path(f"raw.{suffix}", data))

    return target


TETRAHEDRON = (
    np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]),
)


@functools.cache
def mesh_file(kind):
    import trimesh

    made = trimesh.Trimesh(*TETRAHEDRON, process=False).export(file_type=kind)
    return made.encode() if isinstance(made, str) else made


def of_mesh(kind):
    @allowed
    def target(data):
        changed = damaged(mesh_file(kind), Choices(data[1:])) if data and data[0] % 4 else data[1:]
        polhode.RigidBody.from_mesh(at_path(f"input.{kind}", changed), density=1.0)

    return target


URDF = b"""<?xml version="1.0"?><robot name="r"><link name="a"><inertial><origin xyz="0 0 1" rpy="0.1 0 0"/><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0.1" izz="2.5"/></inertial></link><link name="b"/></robot>"""


@allowed
def urdf(data):
    changed = damaged(URDF, Choices(data[1:])) if data and data[0] % 4 else data[1:]
    polhode.RigidBody.from_urdf(at_path("input.urdf", changed), "a")


# --- all of it ------------------------------------------------------------------------------------


def noise(count=20, size=64):
    """Bytes without a meaning, always the same."""
    random = np.random.default_rng(0)
    return [random.bytes(size) for _ in range(count)]


def texts():
    """Names that are right, or nearly."""
    names = [method.name for method in everything()] + list(problems.ALL) + list(torques.BUILT_IN)
    names += [
        "NMB+yoshida4",
        "taylor(12)",
        "newmark(0.6)",
        "DOP853@rtol",
        "2ms",
        "500us",
        "1.5s",
        "1e-3,1e-6",
    ]
    return [bytes([number % 256]) + name.encode() for number, name in enumerate(names)]


TARGETS = {  # name: (target, its seeds, its share of all inputs: more where a target is quick)
    "toml": (toml, lambda: [path.read_bytes() for path in sorted(EXAMPLES.glob("*.toml"))], 50),
    "scenario": (scenario, noise, 50),
    "sweep": (sweep, noise, 8),
    "words": (words, texts, 150),
    "rotation": (rotation, noise, 300),
    "body": (body, noise, 90),
    "playground": (playground, noise, 60),
    "netcdf": (of_file("nc"), noise, 5),
    "npz": (of_file("npz"), noise, 15),
    "csv": (of_file("csv"), noise, 60),
    "zarr": (zarr, noise, 1),
    "netcdf-raw": (raw("nc"), lambda: [stored("nc")], 10),
    "npz-raw": (raw("npz"), lambda: [stored("npz"), struct.pack("<I", 0x04034B50)], 40),
    **{
        kind: (of_mesh(kind), lambda kind=kind: [b"\0" + mesh_file(kind), *noise()], share)
        for kind, share in (("stl", 30), ("obj", 5), ("ply", 30), ("glb", 40))
    },
    "urdf": (urdf, lambda: [b"\0" + URDF, *noise()], 60),
}
