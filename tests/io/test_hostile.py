"""Nothing that is read is executed, and nothing that is read takes more memory than there is."""

import ast
import json
import os
import pickle
import shutil
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import polhode
from polhode.cli import app, exit_codes
from polhode.errors import InputError
from polhode.io import load, store
from polhode.io.scenario import ensembles
from polhode.io.scenario._load import make_scenario
from polhode.io.read import read

SOURCE = Path(polhode.__file__).parent


class Bomb:
    """Pickled, it makes a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (Path(self.path),))


def calls():
    """(file, name) of every call in the source."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield path.relative_to(SOURCE).as_posix(), ast.unparse(node.func), node


def test_only_text_that_polhode_wrote_is_executed_and_only_one_file_runs_those_of_others():
    found = {
        "eval": set(),
        "exec": set(),
        "spec.loader.exec_module": set(),
        "__import__": set(),
        "runpy.run_path": set(),
    }
    for file, name, _ in calls():
        if name in found:
            found[name].add(file)
    assert found == {
        "eval": set(),
        "exec": {"core/generated.py"},
        "spec.loader.exec_module": {"loads/user_file.py"},
        "__import__": set(),
        "runpy.run_path": set(),
    }


def test_no_reader_knows_of_pickle():
    loads = [node for _, name, node in calls() if name in ("np.load", "numpy.load")]
    assert loads and not any(
        ast.unparse(word.value) == "True" for node in loads for word in node.keywords
    )
    # unpickles what only this user can have written, and pickles functions for other processes
    machine_code, sent = SOURCE / "core" / "cache.py", SOURCE / "support" / "portable.py"
    imported = {
        alias.name
        for path in SOURCE.rglob("*.py")
        if path not in (machine_code, sent)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert not imported & {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}


GOOD = "[body]\ninertia = [1.0, 2.0, 2.5]\n[initial]\nomega = [0.1, 1.0, 0.2]\n[run]\nstep = 0.1\nt_span = [0.0, 1.0]\n"


@pytest.mark.parametrize(
    "torque",
    [
        'name = "evil.py"',
        'name = "evil.py:torque"',
        'name = "evil:torque"',
        "name = \"__import__('evil')\"",
        'name = "evil"',
        'torque_file = "evil.py"',
        'name = "constant"\nvalue = "__import__(\'evil\')"',
        'file = "evil.py"\nname = "free"',
    ],
)
def test_a_scenario_never_runs_code(tmp_path, monkeypatch, torque):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("evil.py").write_text(
        "from pathlib import Path\nPath('ran').touch()\ndef torque(t, R):\n    return R[0]\n"
    )
    Path("evil.toml").write_text(GOOD + f"[torque]\n{torque}\n")
    with pytest.raises(InputError):
        load("evil.toml")
    Path("evil.toml").write_text(
        GOOD.replace("step = 0.1", 'step = 0.1\nmethod = "evil.py:torque"')
    )
    with pytest.raises(InputError):
        load("evil.toml")
    assert not Path("ran").exists()


def test_a_torque_file_is_run_when_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("good.toml").write_text(GOOD)
    Path("own.py").write_text(
        "def torque(t, R):\n    return [0.0, 0.0, t]\n\ndef other(t, R):\n    return [0.0, 1.0, 0.0]\n"
    )
    assert load("good.toml", "own.py").torque(2.0, np.eye(3)).tolist() == [0.0, 0.0, 2.0]
    assert load("good.toml", "own.py:other").torque(2.0, np.eye(3)).tolist() == [0.0, 1.0, 0.0]
    assert load("good.toml").torque.name == "free"


@pytest.fixture
def run():
    return polhode.integrate(
        [1.0, 2.0, 2.5], None, (0, 1), 0.1, "NMB", omega0=(0.1, 1, 0.2), compiled=False
    )


def test_a_pickle_inside_an_archive_is_refused_and_not_loaded(tmp_path, run):
    place, mark = store.save(run, tmp_path / "run.npz"), tmp_path / "ran"
    held = dict(np.load(place))
    for name in ("t", "provenance", "extra"):
        np.savez(tmp_path / "evil.npz", **held | {name: np.array([Bomb(mark)], dtype=object)})
        with pytest.raises(InputError, match="is not a run that polhode stored, or it is damaged"):
            read(tmp_path / "evil.npz")
    (tmp_path / "bare.npz").write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(InputError):
        read(tmp_path / "bare.npz")
    assert not mark.exists()


def test_a_pickle_inside_a_zarr_store_or_a_netcdf_file_is_refused_and_not_loaded(tmp_path, run):
    place, mark = store.save(run, tmp_path / "run.zarr"), tmp_path / "ran"
    about = json.loads((place / "omega" / "zarr.json").read_text("utf-8"))
    about["codecs"] = [{"name": "numcodecs.pickle", "configuration": {"protocol": 5}}]
    (place / "omega" / "zarr.json").write_text(json.dumps(about))
    for chunk in (place / "omega" / "c").rglob("*"):
        if chunk.is_file():
            chunk.write_bytes(pickle.dumps(Bomb(mark)))
    (place / "zarr.json").write_text(
        json.dumps(
            {
                "zarr_format": 3,
                "node_type": "group",
                "attributes": json.loads((place / "zarr.json").read_text("utf-8"))["attributes"],
            }
        )
    )
    with pytest.raises(InputError):
        read(place)
    (tmp_path / "evil.nc").write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(InputError):
        read(tmp_path / "evil.nc")
    assert not mark.exists()


# --- memory ---------------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused_with_the_bytes_it_needs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("huge.toml").write_text(
        GOOD.replace("[0.0, 1.0]", "[0.0, 1e15]").replace("step = 0.1", "step = 1.0")
    )
    for line, words in (
        (["run", "huge.toml"], "72000000000000072 bytes"),
        (["run", "huge.toml", "-o", "huge.nc"], "72000000000000072 bytes"),
        (
            ["run", "huge.toml", "-o", "huge.nc", "--checkpoint", "30s"],
            "bytes (2.8e+08 GB) on the disk of",
        ),
        (["ensemble", "huge.toml", "--n", "1000000000000000"], "256000000000000000 bytes"),
    ):
        result = CliRunner().invoke(app, line)
        assert result.exit_code == exit_codes.BAD_INPUT and words in " ".join(
            result.stderr.split()
        ), result.stderr
    assert not list(Path().glob("huge.nc*"))


def test_an_archive_that_claims_more_than_there_is_memory_is_not_opened(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.npy", bytes(10**6))
    monkeypatch.setattr("polhode.support.memory.total", lambda: 10**5)
    with pytest.raises(InputError, match=r"need 1000000 bytes .* this machine has"):
        read(tmp_path / "bomb.npz")


def test_the_title_of_a_scenario_is_only_text():
    found = make_scenario({"title": "[red]{0.__class__}%s", "problem": "krysl/slow-top"}, "a.toml")
    assert found.title == "[red]{0.__class__}%s"


def test_devices_and_pipes_are_not_waited_for(tmp_path):
    """Neither ends; both were read for ever once."""
    os.mkfifo(tmp_path / "pipe.toml")
    for suffix in ("toml", "npz", "nc", "csv", "stl", "urdf"):
        (tmp_path / f"zero.{suffix}").symlink_to("/dev/zero")
    for use in (
        lambda: load(tmp_path / "pipe.toml"),
        lambda: load(tmp_path / "zero.toml"),
        *(partial(read, tmp_path / f"zero.{suffix}") for suffix in ("npz", "nc", "csv")),
        lambda: polhode.RigidBody.from_mesh(tmp_path / "zero.stl", 1.0),
        lambda: polhode.RigidBody.from_urdf(tmp_path / "zero.urdf"),
    ):
        with pytest.raises(InputError, match="a device or a pipe"):
            use()
    with open(tmp_path / "huge.toml", "wb") as file:
        file.truncate(2**30)  # a hole, not a thousand million bytes
    with pytest.raises(InputError, match="has 1073741824 bytes, and a scenario may have 67108864"):
        load(tmp_path / "huge.toml")


def test_more_bodies_than_memory_are_refused_before_any_is_drawn():
    scenario = load(Path(__file__).parents[2] / "examples" / "ensemble.toml")
    with pytest.raises(InputError, match="10000000000000 bodies need 2560000000000000 bytes"):
        ensembles.arguments(scenario, 10**13)


def test_a_store_with_a_piece_missing_is_damaged(tmp_path):
    run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 1), step=0.1, omega0=(0.1, 1.0, 0.0))
    store.save(run, tmp_path / "run.zarr")
    shutil.rmtree(tmp_path / "run.zarr" / "omega" / "c")
    with pytest.raises(InputError, match="omega is not finite everywhere"):
        read(tmp_path / "run.zarr")
