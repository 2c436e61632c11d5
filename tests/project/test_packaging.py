"""The wheel: what is in it, that it needs the light dependencies alone, and that it speaks of one
version."""

import os
import subprocess
import sys
import venv
import zipfile
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import polhode

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip(
        "hatchling", reason="building the wheel needs hatchling: pip install -e '.[dev]'"
    )
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return next(out.glob("polhode-*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel):
    return Parser().parsestr(
        zipfile.ZipFile(wheel).read(f"polhode-{polhode.__version__}.dist-info/METADATA").decode()
    )


def requirements(metadata, extra=""):
    """What polhode asks for, here and with this extra."""
    wanted = (Requirement(text) for text in metadata.get_all("Requires-Dist"))
    return [
        one
        for one in wanted
        if ("extra ==" in str(one.marker)) == bool(extra)
        and (one.marker is None or one.marker.evaluate({"extra": extra}))
    ]


def brought(names):
    """The distributions that these bring with them, without extras, themselves included."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:  # for another system or version of Python
            continue
        found.add(name)
        waiting += [
            one.name
            for one in map(Requirement, needs)
            if not one.marker or one.marker.evaluate({"extra": ""})
        ]
    return found


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {
        "polhode/show/view/static/viewer.js",
        "polhode/show/view/static/viewer.css",
        "polhode/methods/references.bib",
        "polhode/cli/commands/run.py",
    } <= set(names)
    here = {
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/polhode").rglob("*.py")
    }
    assert here <= set(names)
    assert all(
        name.startswith(("polhode/", "polhode-")) and "__pycache__" not in name for name in names
    )
    assert wheel.stat().st_size < 5e6


def test_one_version_everywhere(metadata):
    assert metadata["Version"] == polhode.__version__
    said = subprocess.run(
        [sys.executable, "-m", "polhode", "--version"], capture_output=True, text=True
    ).stdout
    assert said.strip() == f"polhode {polhode.__version__}"
    assert f"version: {polhode.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_extras_can_be_had(metadata):
    """What an extra asks for is what the tests run with."""
    extras = metadata.get_all("Provides-Extra")
    assert {"cuda", "cluster", "mesh", "docs", "dev"} <= set(extras)
    for extra in ("", *extras):
        for one in requirements(metadata, extra):
            assert one.name == "polhode" or version(one.name) in one.specifier, (extra, one)


@pytest.fixture
def clean(wheel, metadata, tmp_path):
    """The Python of an environment that has the wheel and the light dependencies, linked from here:
    nothing is downloaded."""
    venv.create(tmp_path / "clean", with_pip=False)
    packages = next(
        (tmp_path / "clean").glob("lib/python*/site-packages"),
        tmp_path / "clean" / "Lib" / "site-packages",
    )
    zipfile.ZipFile(wheel).extractall(packages)
    light = brought(one.name for one in requirements(metadata))
    assert not light & {"dask", "zarr", "trimesh", "sphinx", "pytest"}
    for one in map(distribution, light):
        for top in {file.parts[0] for file in one.files} - {"..", "__pycache__"}:
            if not (packages / top).exists():  # several distributions may share a folder
                (packages / top).symlink_to(one.locate_file(top))
    return next(
        path
        for name in ("bin/python", "Scripts/python.exe")
        if (path := tmp_path / "clean" / name).exists()
    )


def test_the_wheel_runs_on_the_light_dependencies_alone(clean, tmp_path):
    (tmp_path / "flip.toml").write_text((ROOT / "examples/flip.toml").read_text("utf-8"))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for command in (
        "-m polhode methods",
        "-m polhode run flip.toml -o flip.nc --plot flip.png",
        "-m polhode view flip.nc",
    ):
        done = subprocess.run(
            [clean, *command.split()], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert subprocess.run(
        [clean, "-c", "import dask"], env=environment, capture_output=True
    ).returncode
    assert (tmp_path / "flip.html").stat().st_size > 100_000


@pytest.mark.slow
def test_the_wheel_installs_into_a_clean_environment_and_runs_the_demo(wheel, tmp_path):
    venv.create(tmp_path / "clean", with_pip=True)
    scripts = tmp_path / "clean" / "bin"
    done = subprocess.run(
        [scripts / "python", "-m", "pip", "install", "--quiet", wheel],
        capture_output=True,
        text=True,
    )
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip("the dependencies cannot be downloaded here")
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [scripts / "polhode", "demo"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Report:" in done.stdout and (tmp_path / "polhode-demo").is_dir()
