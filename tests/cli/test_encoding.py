"""Locales and file names: a terminal without the letters has them spelt, and a file name may hold
any bytes."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from polhode.cli.encoding import write_any_character
from polhode.io.read import read

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
UTF8 = {"LC_ALL": "C.UTF-8"}
SCENARIO = """
[body]
shape = "box"
size = [0.2, 0.13, 0.03]
name = "Würfel, 2 µm"

[initial]
omega = [0.01, 6.0, 0.0]

[run]
step = 0.01
t_span = [0, 0.1]
method = "LP2"
"""


def polhode(folder, environment, *arguments):
    """What a command prints, in bytes, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "polhode", *arguments],
        cwd=folder,
        capture_output=True,
        env={**os.environ, "MPLBACKEND": "Agg", **environment},
    )
    return done.stdout + done.stderr, done.returncode


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
@pytest.mark.parametrize(
    ("environment", "name", "shown"),
    [(ASCII, "flïp".encode(), "flïp"), (UTF8, "flïp".encode("latin-1"), r"fl\xefp")],
    ids=["ascii", "latin-1 in utf-8"],
)
def test_names_that_the_locale_cannot_show(environment, name, shown, tmp_path):
    (tmp_path / os.fsdecode(name + b".toml")).write_text(SCENARIO, "utf-8")
    said, code = polhode(tmp_path, environment, b"run", name + b".toml", b"-o", name + b".nc")
    assert code == 0, said
    (stored,) = tmp_path.glob("*.nc")
    assert os.fsencode(stored.name) == name + b".nc"
    assert read(stored).provenance()["command"] == f"polhode run '{shown}.toml'"
    said, code = polhode(tmp_path, environment, b"info", name + b".nc")
    assert code == 0 and rb"fl\xefp" in said, said
    assert ("Würfel, 2 µm" if environment is UTF8 else r"W\xfcrfel, 2 um").encode() in said
    said, code = polhode(tmp_path, environment, b"info", b"--json", name + b".nc")
    assert code == 0 and json.loads(said)["body"]["name"] == "Würfel, 2 µm"
    said, code = polhode(tmp_path, environment, b"view", name + b".nc", b"--title", name)
    assert code == 0 and shown in next(tmp_path.glob("*.html")).read_text("utf-8"), said
    said, code = polhode(tmp_path, environment, b"run", name + b"2.toml")
    assert code == 2 and b"cannot read the scenario" in said
    said, code = polhode(tmp_path, environment, b"run", name)
    assert code == 2 and b"unknown problem" in said and b"Traceback" not in said


def test_a_mesh_named_in_a_scenario_is_found_in_any_locale(tmp_path):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [
        f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces
    ]
    (tmp_path / os.fsdecode("spitze ☂.obj".encode())).write_text("\n".join(lines) + "\n", "utf-8")
    scenario = SCENARIO.replace(
        'shape = "box"\nsize = [0.2, 0.13, 0.03]', 'mesh = "spitze ☂.obj"\nmass = 1.0'
    )
    (tmp_path / "mine.toml").write_text(scenario, "utf-8")
    said, code = polhode(tmp_path, ASCII, "run", "mine.toml", "-o", "mine.nc")
    assert code == 0, said
    assert read(tmp_path / "mine.nc").body.shape["file"] == "spitze ☂.obj"


def test_symbols_are_spelt_where_a_stream_lacks_them():
    text = "10⁻⁶ φ²/12 E₀ 3 µs 60° ü "
    for encoding, expected in (
        ("ascii", rb"10^-6 phi^2/12 E0 3 us 60 deg \xfc "),
        ("utf-8", text.encode()),
    ):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        write_any_character(stream)
        stream.write(text + "\udcff")
        stream.flush()
        assert stream.buffer.getvalue() == expected + b"\xff"
