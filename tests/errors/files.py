"""The files that the cases of errors are about, made in the current folder."""

import json
import shutil
import struct
from pathlib import Path

import numpy as np

import polhode
from polhode.cli.run_task import new_run
from polhode.io import store

GOOD = {"body": "inertia = [1.0, 2.0, 2.5]", "initial": "omega = [0.1, 1.0, 0.2]",
        "run": 'method = "NMB"\nstep = 0.1\nt_span = [0.0, 1.0]'}
TOP = GOOD | {"torque": 'name = "heavy_top"\nmoment = 2.0'}


def scenario(changes, base=GOOD):
    """The text of a scenario.  Changes, with | between their lines, replace the section they begin with, [name], or are put at
    the top of the file; -name drops one."""
    sections, top = dict(base), ""
    lines = changes.replace("|", "\n")
    if lines.startswith("["):
        name, _, rest = lines[1:].partition("]")
        sections[name] = rest.strip()
    elif lines.startswith("-"):
        del sections[lines[1:]]
    else:
        top = lines + "\n"
    return top + "".join(f"[{name}]\n{text}\n" for name, text in sections.items())


TORQUES = """
import numpy as np
import polhode

def push(t, R):
    return np.array([0.0, 0.0, 1.0])

def two(t, R):
    return np.array([0.0, 1.0])

def wrong(t):
    return t

def endless(t, R):
    return np.array([np.inf, 0.0, 0.0])

def strict(t, R):
    if t > 0.55:
        raise ValueError("too late")
    return np.array([0.0, 0.0, 1.0])

def fades(t, R):
    return np.array([0.0, 0.0, np.nan if t > 0.55 else 1.0])

@polhode.torque(uses_omega=True)
def drag(t, R, omega):
    return -0.1 * omega
"""

METHODS = """
from polhode.methods import Motion

def good(h, t, s, body, torque, p):
    return Motion(s.q, s.Om)

def number(h, t, s, body, torque, p):
    return 3.0

def text(h, t, s, body, torque, p):
    return Motion(s.q, "fast")

def short(h, t, s, body, torque, p):
    return Motion(s.q, (1.0, 2.0))

def endless(h, t, s, body, torque, p):
    return Motion(s.q, (1.0, 2.0, float("inf")))

def long(h, t, s, body, torque, p):
    return Motion((0.0, 0.0, 0.0, 2.0), s.Om)

def failing(h, t, s, body, torque, p):
    raise RuntimeError("no")
"""

TWO = """
import polhode

@polhode.method("first-of-two")
def first(h, t, s, body, torque, p):
    return s

@polhode.method("second-of-two")
def second(h, t, s, body, torque, p):
    return s
"""

SWEEPS = {"text": 'sweep = 3', "empty": "", "unknown": "run.stepp = [0.1]", "key": "sampels = 3",
          "no torque": "torque.moment = [1.0]", "no load": "load.mu = [1.0]", "no place": "initial.position.0 = [1.0]",
          "rotation": 'initial.rotation = "upright"', "scalar": "run.step = 3.0", "grid": "run.step = { from = 0.1, count = 3 }",
          "drawn": "run.step = { normal = [0.0, 1.0] }", "none": "run.step = []", "mixed": 'run.step = [0.1, "a"]',
          "twice": "run.step = [0.1, 0.1]", "same": "run.step = { from = 0.1, to = 0.1, count = 3 }",
          "log": 'initial.omega.0 = { from = -1.0, to = 1.0, count = 3, scale = "log" }',
          "laws": "initial.omega.0 = { normal = [0.0, 1.0], uniform = [0.0, 1.0] }\nsamples = 3",
          "normal": "initial.omega.0 = { normal = [0.0, -1.0] }\nsamples = 3",
          "uniform": "initial.omega.0 = { uniform = [1.0, 0.0] }\nsamples = 3",
          "samples": "initial.omega.0 = { normal = [0.0, 1.0] }", "no law": "run.step = [0.1]\nsamples = 3",
          "component": "initial.momentum.0 = [1.0, 2.0]",
          "huge": "initial.omega.0 = { normal = [0.0, 1.0] }\nsamples = 1000000000000000", "fine": "run.step = [0.1, 0.05]"}


def glb(scene, binary=b"", kind=b"JSON"):
    """A GLB file of a scene as JSON, true to its sizes."""
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), kind) + text + (struct.pack("<I4s", len(binary), b"BIN\0") + binary if binary else b"")
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
CUT = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nfacet nor"
VIEW = {"bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}]}
MESHES = {
    "hole.obj": OBJ + "f 1 3 2\nf 1 2 4\nf 2 3 4\n", "good.obj": OBJ + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
    "inside.obj": OBJ + "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n", "mixed.obj": OBJ + "f 1 2 3\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
    "flat.obj": OBJ + "f 1 2 3\nf 1 3 2\n", "line.obj": "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\nf 1 3 2\n", "none.obj": OBJ,
    "plane.obj": "v 0 0\nv 1 0\nv 0 1\nf 1 3 2\n",
    "nan.obj": OBJ.replace("1", "nan", 1) + "f 1 2 3\nf 1 3 2\n", **dict.fromkeys(("no.stl", "no.ply", "no.glb"), "nonsense"),
    "cut.stl": CUT,
    "many.ply": "ply\nformat ascii 1.0\nelement vertex 999999999\nproperty float x\nend_header\n",
    "broken.ply": "ply\nformat nonsense 1.0\nelement vertex 1\nend_header\n0", "a.xyz": "",
    "huge.obj": OBJ.replace("1", "1e150") + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
    "two.obj": OBJ + "v 9 0 0\nv 10 0 0\nv 9 1 0\nv 9 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
                     "f 5 6 7\nf 5 8 6\nf 6 8 7\nf 5 7 8\n",
    "first.glb": glb({}, kind=b"TEXT"), "uri.glb": glb({"buffers": [{"uri": "a.bin"}]}),
    "sparse.glb": glb({"accessors": [{"count": 1, "sparse": {}}]}),
    "tree.glb": glb({"nodes": [{"children": [1]}, {"children": [1]}]}),
    "copies.glb": glb({**VIEW, "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}] * 40}],
                       "nodes": [{"mesh": 0}] * 400_000}, bytes(36)),
    "lines.glb": glb({**VIEW, "meshes": [{"primitives": [{"mode": 1, "attributes": {"POSITION": 0}}]}]}, bytes(36)),
    "out.glb": glb({"asset": {"version": "2.0"}, "bufferViews": [{"buffer": 0, "byteLength": 36},
                                                                {"buffer": 0, "byteOffset": 36, "byteLength": 12}],
                    "buffers": [{"byteLength": 48}],
                    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
                                  {"bufferView": 1, "componentType": 5125, "count": 3, "type": "SCALAR"}],
                    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}], "nodes": [{"mesh": 0}],
                    "scenes": [{"nodes": [0]}], "scene": 0}, bytes(36) + struct.pack("<III", 0, 1, 77)),
}


def make():
    """All of them."""
    good = scenario("")
    flight = scenario('[load]|name = "weight"')
    wheel = "[body]|inertia = [1.0, 2.0, 2.5]|rotors = [{axis = [0.0, 0.0, 1.0], inertia = 0.1, speed = 3.0}]"
    texts = {"good.toml": good, "wheels.toml": scenario(wheel), "flight.toml": flight,
             "tolerance.toml": scenario("[run]|rtol = 1e-6|t_span = [0.0, 1.0]"),
             "sweep-flight.toml": flight + "[sweep]\nload.mass = [0.1, 0.2]\n",
             "sweep-wheels.toml": scenario(wheel) + '[sweep]\nrun.method = ["LP2", "NMB"]\n',
             "sweep-heavy.toml": scenario(wheel) + "[sweep]\nbody.rotors.0.inertia = [0.1, 3.0]\n",
             "top.toml": scenario("", TOP), "torques.py": TORQUES, "methods.py": METHODS, "methods2.py": TWO,
             "empty.py": "", "broken.py": "1 / 0", "loads.py": "import polhode\npush = polhode.flight.thrust((0, 0, 1))\n",
             "bad.toml": "= 3", "text.txt": "", "store.zarr": "",
             "copy.py": TORQUES.replace("1.0", "2.0"), "named.py": TWO.replace("first-of-two", "NMB")}
    texts |= {f"sweep-{name.replace(' ', '-')}.toml": f"{text}\n{good}" if name == "text" else f"{good}[sweep]\n{text}\n"
              for name, text in SWEEPS.items()}
    texts |= {"sweep-output.toml": texts["sweep-fine.toml"] + '[output]\nfile = "a.nc"\n',
              "sweep-every.toml": scenario("[run]|step = 0.1|t_span = [0.0, 1.0]|every = 2") + "[sweep]\nrun.step = [0.1]\n",
              "sweep-run.toml": "run = 3\n" + scenario("-run") + "[sweep]\nrun.step = [0.1]\n"}
    lp2 = polhode.export("LP2")
    texts |= {"empty.c": "", "mine.c": "void step(void) {}\n", "rates.c": "void step(void) {}\n", "text.so": "",
              "single.c": polhode.export("LP2", precision="float"), "baked.c": polhode.export("LP2", torque="free"),
              "flags.c": lp2.replace("double excess; } LP2", "bool excess; } LP2")}
    for name, text in (texts | MESHES).items():
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    Path("latin.toml").write_bytes(b'title = "\xe9"')
    Path("folder.nc").mkdir()
    Path("playground").mkdir()
    Path("playground", "index.html").touch()
    run = polhode.integrate([1.0, 2.0, 2.5], "heavy_top", (0, 1), 0.1, "NMB", omega0=(0.1, 1, 0.2), compiled=False)
    rest = polhode.integrate([1.0, 2.0, 2.5], None, (0, 1), 0.5, "NMB", omega0=(0, 0, 0), compiled=False)
    point = polhode.integrate([1.0, 2.0, 2.5], None, (0, 1), 0.5, "NMB", omega0=(0, 1, 0), compiled=False, t_eval=[0.0])
    for name, one in (("run.nc", run), ("run.npz", run), ("rest.nc", rest), ("point.nc", point)):
        store.save(one, name)
    store.save(polhode.ensemble([1.0, 2.0, 2.5], None, (0, 1), 0.5, "NMB", omega0=(0, 1, 0), n=3), "many.npz")
    held = dict(np.load("run.npz"))
    np.savez("lacks.npz", t=held["t"])
    np.savez("shape.npz", **held | {"omega": held["omega"][:-1]})
    np.savez("time.npz", **held | {"t": held["t"].reshape(1, -1)})
    np.savez("body.npz", **held | {"provenance": json.dumps(run.provenance() | {"body": {"inertia": [1.0, 2.0, -1.0]}})})
    np.savez("lost.npz", end_time=held["t"])
    np.savez("objects.npz", t=np.array([{"a": 1}], dtype=object))
    Path("bare.csv").write_text("t,omega_x\n0.0,1.0\n")
    Path("damaged.nc").write_bytes(b"CDF\x01 nonsense")
    rest.status, rest.message = "interrupted", "interrupted after 1 of 2 steps"
    store.save(rest, "early.nc")
    rest.status, rest.message = "blow-up", "LP2 blew up"
    store.save(rest, "failed.nc")
    unfinished()


def unfinished():
    """Folders of runs that were cut short, and what may have become of them."""
    for name, torque_file in (("cut", None), ("code", "torques.py:push")):
        task = new_run("good.toml", Path(f"{name}.nc"), torque_file, "5", False, [])
        task.job.integrate(None, task.checkpoint)
    polhode.integrate([1, 2, 3], t_span=(0, 1), step=0.5, omega0=(0, 0, 1), checkpoint="python.nc.part")
    for name in ("hurt", "lost", "both"):
        shutil.copytree("cut.nc.part", f"{name}.nc.part")
    for state in Path("hurt.nc.part").glob("state-?"):
        state.write_bytes(state.read_bytes()[:50])
    Path("lost.nc.part", "run").unlink()
    shutil.copy("run.nc", "both.nc")
    Path("blocked.nc.part").write_text("")
    Path("foreign.nc.part").mkdir()
    Path("foreign.nc.part", "precious.txt").write_text("")
