"""The command line: exit codes, pure JSON, files, errors that help, and a quick --help."""

import contextlib
import csv
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from polhode import __version__, integrate, methods, problems, read, torques
from polhode.methods import _references as references
from polhode.results import conserved
from polhode.cli import app
from polhode.io import load, save
from polhode.io.formats import formats

SLOW_IMPORTS = ("numba", "numpy", "scipy", "xarray", "matplotlib", "pandas")

SCENARIO = """
title = "a body left alone"
[body]
inertia = [1.0, 2.0, 2.5]
[initial]
omega = [0.01, 1.0, 0.0]
[run]
method = "VLV"
step = 0.05
t_span = [0, 5]
"""
UNSTABLE = SCENARIO + '[torque]\nname = "damping"\ncoefficient = -5.0\n'
ENDLESS = (
    SCENARIO.replace("step = 0.05", "step = 1e-7").replace("[0, 5]", "[0, 1000]")
    + "every = 100000\n"
)


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run polhode in an empty folder that holds scenario.toml."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, [str(argument) for argument in arguments])


def polhode(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "polhode", *arguments],
        capture_output=True,
        text=True,
        **options,
    )


# --- help, version, misspelt ----------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("--version",), ()])
def test_help_imports_nothing_slow(arguments):
    """`polhode --help` does without pydantic too; below it, typer loads pydantic by itself where it
    is installed."""
    slow = (*SLOW_IMPORTS, "pydantic") if arguments == ("--help",) else SLOW_IMPORTS
    code = (
        "import sys\nfrom polhode.cli import app\n"
        f"try:\n    app({list(arguments)!r}, prog_name='polhode')\nexcept SystemExit as done:\n    assert not done.code\n"
        f"print([name for name in {slow!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.strip() == "[]"
    assert (__version__ if "--version" in arguments else "Usage") in done.stdout


def test_help_imports_nothing_heavy():
    """What --help loads is what it takes: no compiler, no plots, no cluster."""
    code = (
        "import sys; from polhode.cli import main; sys.argv = ['polhode', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numba', 'matplotlib', 'xarray', 'pandas', 'pydantic', 'dask', 'scipy.stats'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


NEW_COMMAND = '''
from typing import Annotated

import typer

GROUP = "First steps"


def count_down(start: Annotated[int, typer.Argument(help="The first number.")]) -> None:
    """Count down to one."""
    typer.echo(list(range(start, 0, -1)))
'''


def test_a_new_command_is_one_file(tmp_path):
    """A module among the commands is found: by the help, when it is run, and by the
    documentation."""
    (tmp_path / "count_down.py").write_text(NEW_COMMAND)
    begin = f"import sys; from polhode.cli import commands, main; commands.__path__.append({str(tmp_path)!r})\n"

    def python(code, *arguments):
        return subprocess.run(
            [sys.executable, "-c", begin + code, *arguments], capture_output=True, text=True
        )

    assert "count-down  Count down to one." in python("main()", "--help").stdout
    assert python("main()", "count-down", "3").stdout == "[3, 2, 1]\n"
    assert (
        "START of `polhode count-down` must be a whole number"
        in python("main()", "count-down", "x").stderr
    )
    pages = Path(__file__).parents[2] / "docs" / "_ext"
    made = python(
        f"sys.path.append({str(pages)!r}); import command_pages; print(*command_pages.pages(None).values())"
    )
    assert "polhode count-down START" in made.stdout


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (("rnu", "scenario.toml"), "'run'"),
        (("run", "scenario.toml", "--jsno"), "--json"),
        (("methods", "--famly", "x"), "--family"),
        (("methods", "--family", "newmrk"), "did you mean 'newmark'?"),
        (("cite", "VLVV"), "did you mean 'VLV'?"),
        (("run", "nothing.toml"), "cannot read the scenario 'nothing.toml'"),
    ],
)
def test_misspelt(call, arguments, expected):
    done = call(*arguments)
    assert done.exit_code == 2 and done.stdout == "" and expected in done.stderr


# --- tables ---------------------------------------------------------------------------------------


def test_methods(call):
    rows = json.loads(call("methods", "--json").stdout)
    assert [row["name"] for row in rows] == [
        entry.name for entry in sorted(methods.everything(), key=lambda one: one.family)
    ]
    wanted = {
        "name",
        "aliases",
        "family",
        "order",
        "torques_per_step",
        "implicit",
        "symmetric",
        "symplectic",
        "conserves",
        "reference",
    }
    assert all(wanted <= set(row) for row in rows)
    table = call("methods").stdout
    assert (
        all(name in table for name in methods.names()) and max(map(len, table.splitlines())) <= 100
    )


def test_methods_of_one_family(call):
    rows = json.loads(call("methods", "--family", "Newmark", "--json").stdout)
    assert rows and {row["family"] for row in rows} == {"newmark"}


def test_problems(call):
    rows = json.loads(call("problems", "--json").stdout)
    assert [row["name"] for row in rows] == problems.names()
    table = call("problems").stdout
    assert (
        all(name in table for name in problems.names()) and max(map(len, table.splitlines())) <= 100
    )


def test_cite(call):
    assert call("cite", "nmb").stdout.strip() == references.bibtex("krysl2005explicit")
    data = json.loads(call("cite", "Lie-Verlet", "--json").stdout)
    assert (
        data["method"] == "VLV"
        and data["key"] == "bourabee2009hamilton"
        and data["fields"]["year"] == "2009"
    )
    assert data["bibtex"].startswith("@article{bourabee2009hamilton,")


@pytest.mark.parametrize("entry", methods.everything(), ids=lambda entry: entry.name)
def test_every_method_has_its_reference(entry):
    fields = references.fields(entry.cite)
    assert {"author", "title", "year"} <= set(fields)


def test_references_are_sorted_and_parse():
    keys = list(references.entries())
    assert keys == sorted(keys) and all(references.fields(key) for key in keys)


# --- run ------------------------------------------------------------------------------------------


def test_run_prints_pure_json(call):
    done = call("run", "scenario.toml", "--json")
    data = json.loads(done.stdout)
    assert done.exit_code == 0 and done.stderr == ""
    assert {
        "method",
        "steps",
        "torque_evaluations",
        "energy_initial",
        "energy_final",
        "energy_drift_max",
        "momentum_error_max",
        "momentum_change_max",
        "orthogonality_error",
        "elapsed_s",
        "rotation_final",
        "omega_final",
    } <= set(data)
    run = load("scenario.toml").integrate()
    assert data["steps"] == 100 and data["omega_final"] == run.omega[-1].tolist()
    assert data["rotation_final"] == run.matrix[-1].tolist()
    strayed = np.linalg.norm(run.momentum_spatial - run.momentum_spatial[0], axis=1).max()
    assert (
        data["momentum_error_max"] == pytest.approx(strayed, abs=1e-15)
        and data["momentum_change_max"] is None
    )
    assert data["momentum_error_relative"] == pytest.approx(
        strayed / np.linalg.norm(run.momentum[0]), abs=1e-15
    )


@pytest.mark.parametrize(
    "start",
    [
        {"rotation0": (0.3, 0.0, 0.0), "omega0": (0.0, 0.0, 5.0)},
        # an energy of next to nothing
        {"rotation0": (np.pi / 2, 0.0, 0.0), "omega0": (1e-3, 0.0, 0.0)},
    ],
)
def test_relative_errors_are_those_of_the_figures(start, tmp_path):
    """The numbers of a summary beside the largest ones that a figure draws."""
    run = integrate([5.0, 4.0, 1.0], torques.heavy_top(20.0), (0.0, 3.0), 0.01, "NMB", **start)
    save(run, tmp_path / "run.nc")
    drawn = conserved.energy(read(tmp_path / "run.nc"))
    assert run.summary()["energy_drift_relative"] == pytest.approx(
        np.abs(drawn.values).max(), rel=1e-9
    )


def test_a_torque_changes_the_momentum_by_right(call):
    Path("pushed.toml").write_text(
        Path("scenario.toml").read_text()
        + '[torque]\nname = "constant"\nvalue = [0.0, 0.0, 0.25]\n'
    )
    data = json.loads(call("run", "pushed.toml", "--json").stdout)
    impulse = 0.25 * data["t_final"]  # a constant torque in space turns into momentum, step by step
    assert data["momentum_error_max"] is None and data["momentum_change_max"] == pytest.approx(
        impulse, rel=1e-12
    )
    table = call("run", "pushed.toml").stdout
    assert "momentum change max" in table and "momentum error" not in table
    assert (
        "momentum error max" in (table := call("run", "scenario.toml").stdout)
        and "momentum change" not in table
    )


def test_run_prints_a_table(call):
    done = call("run", "scenario.toml")
    assert (
        done.exit_code == 0
        and "a body left alone" in done.stdout
        and "energy drift max" in done.stdout
    )


@pytest.mark.parametrize("suffix", formats())
def test_files_come_back_bit_for_bit(call, tmp_path, suffix):
    assert call("run", "scenario.toml", "-o", f"out.{suffix}").exit_code == 0
    run = load("scenario.toml").integrate()
    if suffix == "nc":
        import xarray as xr

        with xr.open_dataset("out.nc", engine="scipy") as data:
            got = {"t": data.time.values, "q": data.quaternion.values, "omega": data.omega.values}
            assert data.attrs["method"] == "VLV" and json.loads(data.attrs["body"]) == json.loads(
                json.dumps(run.body.to_dict())
            )
            assert (
                data.attrs["polhode_version"] == __version__
                and data.attrs["steps"] == 100
                and data.omega.long_name == "angular velocity, body frame"
            )
            assert json.loads(
                data.attrs["method_facts"]
            ) == run.method.facts() and data.axis.values.tolist() == list("xyz")
    elif suffix == "npz":
        data = np.load("out.npz")
        got = {"t": data["t"], "q": data["quaternion"], "omega": data["omega"]}
        assert json.loads(str(data["provenance"]))["method"] == "VLV"
    elif suffix == "zarr":
        import xarray as xr

        with xr.open_zarr("out.zarr") as data:
            got = {"t": data.time.values, "q": data.quaternion.values, "omega": data.omega.values}
    else:
        with open("out.csv", newline="") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        got = {
            "t": np.array([float(row["t"]) for row in rows]),
            "q": np.array([[float(row[f"q{axis}"]) for axis in "xyzw"] for row in rows]),
            "omega": np.array([[float(row[f"omega_{axis}"]) for axis in "xyz"] for row in rows]),
        }
    for name, expected in (("t", run.t), ("q", run.quaternion), ("omega", run.omega)):
        assert np.array_equal(got[name], expected)
    # nothing temporary is left
    assert sorted(os.listdir(tmp_path)) == sorted(["scenario.toml", f"out.{suffix}"])


def test_existing_files_are_not_overwritten_and_it_is_said_before_the_run(
    call, tmp_path, monkeypatch
):
    (tmp_path / "out.nc").write_text("precious")
    with monkeypatch.context() as patch:
        patch.setattr("polhode.io.scenario._load.Scenario.integrate", lambda *_: pytest.fail("ran"))
        done = call("run", "scenario.toml", "-o", "out.nc")
    assert done.exit_code == 2 and "'out.nc' exists" in done.stderr and "--force" in done.stderr
    assert (tmp_path / "out.nc").read_text("utf-8") == "precious"
    assert call("run", "scenario.toml", "-o", "out.nc", "--force").exit_code == 0
    assert (tmp_path / "out.nc").read_bytes().startswith(b"CDF")


@pytest.mark.parametrize(
    "target, expected",
    [
        ("out.xls", "unknown suffix of the output file 'out.xls'"),
        ("out", "valid: 'csv', 'nc', 'npz'"),
        ("nowhere/out.nc", "does not exist; create it"),
        ("folder.nc", "is a folder"),
    ],
)
def test_bad_targets(call, tmp_path, target, expected):
    (tmp_path / "folder.nc").mkdir()
    done = call("run", "scenario.toml", "-o", target)
    assert done.exit_code == 2 and expected in done.stderr.replace("\n", " ") and done.stdout == ""


def test_a_file_that_appears_meanwhile_is_left_alone(call, tmp_path, monkeypatch):
    run = load("scenario.toml").integrate()

    def slow(contents, path):
        path.write_text("new")
        (tmp_path / "out.csv").write_text("old")

    monkeypatch.setattr(formats()["csv"], "write", slow)
    with pytest.raises(ValueError, match="has appeared during the run"):
        save(run, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text("utf-8") == "old"
    assert [path.read_text("utf-8") for path in tmp_path.glob(".out.csv.*.part")] == ["new"]


def test_output_section(call, tmp_path):
    (tmp_path / "scenario.toml").write_text(
        SCENARIO + '[output]\nfile = "motion.data"\nformat = "npz"\n'
    )
    assert json.loads(call("run", "scenario.toml", "--json").stdout)["output"] == "motion.data"
    assert "quaternion" in np.load("motion.data")


def test_plot(call, tmp_path):
    assert call("run", "scenario.toml", "--plot", "a.png").exit_code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "exists" in call("run", "scenario.toml", "--plot", "a.png").stderr
    assert "unknown suffix" in call("run", "scenario.toml", "--plot", "a.jpeg2").stderr


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method, status, words",
    [("SW", "blow-up", "blew up"), ("DMV", "failed", "could not take the step")],
)
def test_a_run_that_fails_is_written_all_the_same(call, tmp_path, method, status, words):
    (tmp_path / "scenario.toml").write_text(UNSTABLE.replace("VLV", method))
    done = call("run", "scenario.toml", "-o", "out.npz", "--json")
    data = json.loads(done.stdout)
    assert (
        done.exit_code == 3
        and data["status"] == status
        and words in done.stderr
        and "out.npz" in done.stderr
    )
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1
    assert len(np.load("out.npz")["t"]) == data["steps"] + 1 > 5
    # with --force too it replaces nothing: that is for a run that reaches its end
    whole = Path("out.npz").read_bytes()
    for name in ("out-cut-short.npz", "out-cut-short2.npz"):
        assert (
            json.loads(call("run", "scenario.toml", "-o", "out.npz", "--json", "--force").stdout)[
                "output"
            ]
            == name
        )
        assert np.load(name)["t"].tolist() == np.load("out.npz")["t"].tolist()
    assert Path("out.npz").read_bytes() == whole


def test_faults_of_a_scenario_are_bad_input(call, tmp_path):
    (tmp_path / "scenario.toml").write_text(
        SCENARIO.replace("2.0,", "-2.0,").replace('"VLV"', '"WLV"')
    )
    done = call("run", "scenario.toml")
    assert done.exit_code == 2 and done.stdout == ""
    assert "2 errors" in done.stderr and "run.method" in done.stderr
    assert "body.inertia.1: must be positive, got -2.0" in done.stderr


def test_errors_of_polhode_itself_are_not_hidden(call, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("polhode.io.scenario._load.Scenario.integrate", broken)
    done = call("run", "scenario.toml")
    assert (
        done.exit_code == 70
        and "ZeroDivisionError: a bug" in done.stderr
        and "POLHODE_DEBUG=1" in done.stderr
    )


def test_a_real_process_gives_the_code_and_one_line(tmp_path):
    done = polhode("run", "nothing.toml", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr
        == "polhode: cannot read the scenario 'nothing.toml': No such file or directory; give a TOML file\n"
    )


TELLING = """
from pathlib import Path

def torque(t, R):
    if t > 1e-4:
        Path("begun").touch()
    return [0.0, 0.0, 0.0]
"""


def test_interrupted(tmp_path):
    """Ctrl-C: exit code 130, and what was computed is in the file."""
    (tmp_path / "scenario.toml").write_text(ENDLESS)
    (tmp_path / "telling.py").write_text(TELLING)
    command = [
        sys.executable,
        "-m",
        "polhode",
        "run",
        "scenario.toml",
        "--torque-file",
        "telling.py",
        "-o",
        "out.npz",
        "--json",
    ]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "begun").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert "interrupted after" in err and "Traceback" not in err
    data = json.loads(out)
    assert (
        data["status"] == "interrupted"
        and np.load(tmp_path / "out.npz")["t"][-1] == data["t_final"] > 0.0
    )


# --- progress -------------------------------------------------------------------------------------


def test_progress_is_silent_without_a_terminal(tmp_path):
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    done = polhode("run", "scenario.toml", "--json", cwd=tmp_path)
    assert (
        done.returncode == 0
        and done.stderr == ""
        and json.loads(done.stdout)["status"] == "finished"
    )


def test_progress_shows_on_a_terminal(tmp_path):
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    inner, outer = pty.openpty()
    with open(tmp_path / "out.json", "wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "polhode", "run", "scenario.toml", "--json"],
            cwd=tmp_path,
            stdout=out,
            stderr=outer,
            env={**os.environ, "TERM": "xterm"},
        )
    os.close(outer)
    shown = b""
    # raised when the other side is closed; a terminal that nobody reads holds a process up
    with contextlib.suppress(OSError):
        while more := os.read(inner, 100_000):
            shown += more
    os.close(inner)
    assert process.wait(600) == 0 and b"VLV" in shown
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["steps"] == 100
