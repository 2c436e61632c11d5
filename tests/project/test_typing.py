"""What a type checker knows of the package: it reads a user's script, and every result in it has a
type."""

import json
import os
import re
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

import polhode

pytest.importorskip("mypy")

ROOT = Path(polhode.__file__).parents[1]
ARRAY = r"numpy\.ndarray\[.*\]"
PARTS = {  # expressions of a script, and the types they must have
    "run": r"polhode\.results\._trajectory\.Trajectory",
    "run.t": ARRAY,
    "run.quaternion": ARRAY,
    "run.omega": ARRAY,
    "run.momentum_spatial": ARRAY,
    "run.kinetic_energy": ARRAY,
    "run.potential_energy": rf"{ARRAY} \| None",
    "run.position": rf"{ARRAY} \| None",
    "run.status": "str",
    "run.success": "bool",
    "run.steps": "int",
    "run.elapsed": "float",
    "run.body": r"polhode\.bodies\._body\.RigidBody",
    "run.torque": r"polhode\.loads\._torque\.Torque",
    "run.method": r"polhode\.methods\._method\.Method",
    "run.to_xarray()": r"xarray\..*Dataset",
    "run.plot()": r"matplotlib\.figure\.Figure",
    "run.view()": r"polhode\.show\.view\._page\.Page",
    "many": r"polhode\.results\._ensemble_result\.Ensemble",
    "many.n": "int",
    "many.omega": ARRAY,
    "many.status": ARRAY,
    "many.quaternions": rf"{ARRAY} \| None",
    "many.failures": r"list\[polhode\.results\._ensemble_result\.Failure\]",
    "many.seed": r"int \| None",
    "spring": r"polhode\.loads\._torque\.Torque",
    "drag": r"polhode\.loads\._torque\.Torque",
    "spring + drag": r"polhode\.loads\._torque\.Torque",
    "coast": r"def \(h: float, t: float, .*",
    "stepper.t": "float",
    "stepper.matrix": ARRAY,
    "stepper.omega": ARRAY,
    "stepper.state": r"polhode\.engine\.stepper_state\.StepperState",
    "polhode.compare('krysl/slow-top')": r"polhode\.studies\.compare\.comparison\.Comparison",
    "polhode.advise('krysl/slow-top').method": "str",
    "polhode.certify('NMB').ok": "bool",
    "polhode.sweep('sweep.toml').n": "int",
    "run.save('run.nc')": r"pathlib\.Path",
    "polhode.read('run.nc').omega": rf"{ARRAY} \| Any",
    "polhode.read('run.nc').plot()": r"matplotlib\.figure\.Figure \| Any",
    "polhode.read('run.nc', polhode.Trajectory)": r"polhode\.results\._trajectory\.Trajectory",
    "polhode.read('run.nc', polhode.Ensemble).energy": ARRAY,
    "polhode.problem('krysl/slow-top').integrate()": r"polhode\.results\._trajectory\.Trajectory",
    "polhode.exact.free_body([1.0, 2.0, 3.0], omega0=(0, 1, 0)).omega": ARRAY,
    "polhode.io.load('mine.toml')": r"polhode\.io\.scenario\._load\.Scenario",
    "polhode.plots.overview(run)": r"matplotlib\.figure\.Figure",
    "polhode.methods.get('NMB')": r"polhode\.methods\._method\.Method",
    "polhode.torques.heavy_top()": r"polhode\.loads\._torque\.Torque",
}
MORE = """
many = polhode.ensemble([1.0, 2.0, 3.0], t_span=(0, 1), step=0.1, n=3, rotation0="random", omega0=(0, 1, 0), rng=1)

@polhode.torque
def spring(t, R):
    return -R[:, 0]

@polhode.torque(frame="body", params={"k": 0.1}, uses_omega=True)
def drag(t, R, omega, p):
    return -p.k * omega

@polhode.method("coast", order=1, torques=0)
def coast(h: float, t: float, s, body, torque, p):
    return s

stepper = polhode.Stepper([5, 5, 1], "heavy_top", step=0.01, rotation0=(0.3, 0, 0), omega0=(0, 0, 50))
stepper.step(10)
"""
# of other packages as the linter sees them; of the script everything
SETTINGS = """
[mypy]
ignore_missing_imports = True
ignore_errors = True
error_summary = False
[mypy-script]
ignore_errors = False
"""
KNOWN = Path(__file__).parents[2] / ".mypy_cache"
MISSPELT = "polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 1), stepp=0.1, omega0=(0, 1, 0))"


def readme_example():
    """The example of the README in Python."""
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    return re.search(r"```python\n(import numpy.*?)```", text, re.DOTALL)[1]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the checker says: types and errors by the line of the script they belong to."""
    folder = tmp_path_factory.mktemp("typing")
    lines = [
        *readme_example().splitlines(),
        *MORE.splitlines(),
        *(f"reveal_type({part})" for part in PARTS),
        MISSPELT,
    ]
    (folder / "script.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    if KNOWN.is_dir():  # what the linter has read of other packages is not read again
        shutil.copytree(KNOWN, folder / "cache")
    installed = [Path(one) for one in (*site.getsitepackages(), site.getusersitepackages())]
    # mypy finds installed packages itself
    known = {} if ROOT in installed else {"MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", "mypy", "--config-file=mypy.ini", "--cache-dir=cache"]
    found = subprocess.run(
        [*command, "script.py"],
        cwd=folder,
        env={**os.environ, **known},
        capture_output=True,
        text=True,
    )
    assert found.stderr == "", found.stderr
    types, errors = {}, {}
    for number, kind, text in re.findall(
        r"^script\.py:(\d+): (note|error): (.*)$", found.stdout, re.MULTILINE
    ):
        revealed = re.fullmatch(r'Revealed type is "(.*)"', text)
        if revealed:
            types[lines[int(number) - 1]] = revealed[1]
        elif kind == "error":
            errors[lines[int(number) - 1]] = text
    return types, errors


@pytest.mark.parametrize("part", PARTS)
def test_checker_knows_type(told, part):
    types, _ = told
    assert re.fullmatch(PARTS[part], types[f"reveal_type({part})"])


def test_checker_finds_misspelt_option_and_nothing_else(told):
    _, errors = told
    assert list(errors) == [MISSPELT]
    assert "integrate" in errors[MISSPELT]


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_accepts_the_example_and_knows_its_results(tmp_path):
    """It reads packages in another way than mypy."""
    asked = ["run", "run.omega", "run.plot()", "polhode.read('run.nc', polhode.Ensemble)"]
    lines = [readme_example(), MORE, *(f"reveal_type({one})" for one in asked)]
    (tmp_path / "script.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["pyright", "--pythonpath", sys.executable, "--outputjson", "script.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    told = json.loads(found.stdout)["generalDiagnostics"]
    assert [one["message"] for one in told if one["severity"] == "error"] == []
    types = [one["message"] for one in told if one["severity"] == "information"]
    kinds = ("Trajectory", "ndarray", "Figure", "Ensemble")
    assert all(kind in text.split(" is ")[1] for kind, text in zip(kinds, types, strict=True))
