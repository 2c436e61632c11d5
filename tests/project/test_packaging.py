"""The wheel and the sdist: what is in them, that the wheel needs the light dependencies alone, and
that they speak of one version."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
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
def dist(tmp_path_factory):
    """A folder with the sdist and the wheel that is built from it, as `make dist` makes them."""
    pytest.importorskip(
        "hatchling", reason="building the wheel needs hatchling: pip install -e '.[dev]'"
    )
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return out


@pytest.fixture(scope="module")
def wheel(dist):
    return next(dist.glob("polhode-*.whl"))


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
        "polhode/show/view/static/worker.js",
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


def test_the_sdist_holds_what_tests_and_documentation_need(dist):
    (sdist,) = dist.glob("polhode-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"Makefile", "CHANGELOG.md", "LICENSE", "tests/conftest.py", "docs/conf.py"}
    assert wanted <= names and not any("__pycache__" in name for name in names)
    assert not any(name.startswith((".ci", ".venv", "dist")) for name in names)


def test_package_indexes_accept_both(dist):
    """What `make dist` runs."""
    tools = ("twine", ["check", "--strict"], "*"), ("check_wheel_contents", [], "*.whl")
    for module, arguments, files in tools:
        pytest.importorskip(module, reason="pip install -e '.[dev]'")
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments, *dist.glob(files)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_metadata_are_those_of_a_published_package(metadata):
    classifiers = metadata.get_all("Classifier")
    trove = pytest.importorskip("trove_classifiers").classifiers
    assert set(classifiers) <= trove and len(set(classifiers)) == len(classifiers)
    assert metadata["License-Expression"] == "MIT" and metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown" and metadata["Summary"]
    assert "Typing :: Typed" in classifiers and (ROOT / "src/polhode/py.typed").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
@pytest.mark.parametrize(
    "target, installs",
    {"demo": ["--editable ."], "setup": ["--editable .", "--editable '.[dev]'"]}.items(),
)
def test_the_demo_installs_the_package_alone(tmp_path, target, installs):
    """What `make` would do in a fresh copy; nothing is run."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    said = subprocess.run(
        ["make", "--dry-run", target], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    commands = [line.partition(" pip install ")[2] for line in said.splitlines()]
    assert [re.sub(".* --editable", "--editable", one) for one in commands if one] == installs
    assert ("polhode demo" in said) == (target == "demo")


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
