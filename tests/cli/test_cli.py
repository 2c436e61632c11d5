"""The command line: exit codes, pure JSON, files, errors that help, and a quick --help."""

import contextlib
import csv
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from polhode import __version__, integrate, methods, problems, read, torques
from polhode.methods import _references as references
from polhode.results import conserved
from polhode.cli import app
from polhode.cli.application import command_names, load_commands
from polhode.cli.options import FAMILIES
from polhode.io import load, save
from polhode.io.formats import formats
from polhode.io.read import contents

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
STANDARD = ({"step": 0.1}, {"rtol": 1e-6})  # what chooses the standard methods
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


def commands():
    """Every command as typer runs it, by name."""
    return {command.name: command.make() for command in load_commands()}


def test_an_option_has_one_spelling_everywhere():
    """Output is -o and --output, data for programs --json; `play` prints nothing to parse, and `export` a program."""
    seen = {}
    for name, command in commands().items():
        options = {option for one in command.params for option in one.opts}
        assert "--json" in options or name in ("play", "export")
        assert "--out" not in options and ("-o" in options) == ("--output" in options)
        for one in command.params:
            for option in one.opts:
                if option.startswith("-"):
                    seen.setdefault(option, set()).add(one.name)
    # the name of a parameter is what it means
    assert not {option for option, names in seen.items() if len(names) > 1}


@pytest.mark.parametrize("name", ["", *command_names()])
def test_help_fits_a_narrow_terminal_and_shows_no_type_of_flags(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = CliRunner().invoke(app, [*name.split(), "--help"]).stdout
    assert "<bool>" not in text and "BOOLEAN" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text and "--help" in text


# --- completion -----------------------------------------------------------------------------------


def completed(line):
    """What bash offers for the last word of a line, from the script that polhode prints for it."""
    words = line.split(" ")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    script = f"""
        eval "$(_POLHODE_COMPLETE=source_bash polhode)"
        COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}
        _polhode_completion polhode
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=os.environ | {"PATH": path}
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    "line, offered",
    {
        "polhode re": ["reproduce"],
        "polhode run slow": ["slow-top"],
        "polhode run krysl/fa": ["krysl/fast-top"],
        "polhode run slow-top --chec": ["--checkpoint"],
        "polhode run slow-top --method EXACT-RKN": ["EXACT-RKN4", "EXACT-RKN6", "EXACT-RKN6-14"],
        "polhode compare slow-top --methods NMB,LP": ["NMB,LP2"],
        "polhode methods --family new": ["newmark"],
        "polhode cite DOP": ["DOP853"],
        "polhode certify NMB --problem stre": ["stress"],
        "polhode nonsense --x": [],
    }.items(),
)
def test_completion(line, offered):
    assert completed(line) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_completion_offers_scenario_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("slower.toml", "slow.txt"):
        (tmp_path / name).touch()
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "one.toml").touch()
    assert completed("polhode run slow") == ["slow-top", "slow/", "slower.toml"]
    assert completed("polhode advise slow/") == ["slow/one.toml"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_script(shell):
    done = polhode(env=os.environ | {"_POLHODE_COMPLETE": f"source_{shell}"})
    assert done.returncode == 0 and "_POLHODE_COMPLETE" in done.stdout and not done.stderr


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
    assert [row["name"] for row in rows] == methods.names()
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


def test_methods_by_name(call):
    table = call("methods", "NMB", "LP2+yoshida4").stdout
    assert "NMB" in table and "LP2+yoshida4" in table and "DMV4" not in table
    assert [row["name"] for row in json.loads(call("methods", "--json", "NMB").stdout)] == ["NMB"]


def test_methods_of_one_family(call):
    rows = json.loads(call("methods", "--family", "Newmark", "--json").stdout)
    assert rows and {row["family"] for row in rows} == {"newmark"}


@pytest.mark.parametrize("command", ["methods", "compare"])
def test_help_names_the_families(call, command):
    named = set(re.split(", | or ", FAMILIES))
    assert named <= {entry.family for entry in methods.everything()}
    assert named <= set(re.findall(r"[\w-]+", call(command, "--help").stdout))


def test_recommended_methods_come_first_and_faulty_ones_last(call):
    """The order is that of what the methods declare; families are not torn apart."""
    rows = json.loads(call("methods", "--json").stdout)
    ranks = [2 if row["flaw"] else not row["best_for"] for row in rows]
    assert ranks == sorted(ranks) and set(ranks) == {0, 1, 2}
    assert not any(row["flaw"] and row["best_for"] for row in rows)
    families = [row["family"] for row, rank in zip(rows, ranks, strict=True) if rank == 1]
    changes = [one for one, before in zip(families, ["", *families], strict=False) if one != before]
    assert len(changes) == len(set(families))
    standard = {
        integrate([1, 2, 3], t_span=(0, 1), omega0=(0, 1, 0), **how).method.name for how in STANDARD
    }
    assert standard <= {row["name"] for row in rows if row["best_for"]}
    table = " ".join(call("methods").stdout.split())
    for row in rows:
        assert f"best for {row['best_for']}" in table and f"faulty: {row['flaw']}" in table
    assert table.index("Recommended") < table.index("Splitting") < table.index("Faulty variants")


def test_a_composition_of_a_faulty_method_is_faulty():
    assert methods.get("NMB-matrix+yoshida4").flaw == methods.get("NMB-matrix").flaw
    assert methods.get("taylor3-false+ep").flaw and not methods.get("LP2+yoshida4").flaw


def test_problems(call):
    rows = json.loads(call("problems", "--json").stdout)
    assert [row["name"] for row in rows] == problems.names()
    table = call("problems").stdout
    assert (
        all(name in table for name in problems.names()) and max(map(len, table.splitlines())) <= 100
    )


def test_cite(call):
    assert call("cite", "nmb").stdout.strip() == references.bibtex("krysl2004explicit")
    data = json.loads(call("cite", "Lie-Verlet", "--json").stdout)
    (entry,) = data["references"]
    assert (
        data["method"] == "VLV"
        and entry["key"] == "bourabee2009hamilton"
        and entry["fields"]["year"] == "2009"
    )
    assert entry["bibtex"].startswith("@article{bourabee2009hamilton,")


@pytest.mark.parametrize(
    "name, keys",
    {
        "LP2+yoshida4": ("yoshida1990construction", "mclachlan1993explicit"),
        "VLV+kahanli6": ("kahan1997composition", "bourabee2009hamilton"),
        "LP2+suzuki4+ep": ("buss2001accurate", "suzuki1990fractal", "mclachlan1993explicit"),
        "MR4-312": ("buss2001accurate", "yoshida1990construction", "mclachlan1993explicit"),
        "MR2-312": ("mclachlan1993explicit",),
        "taylor3+ep": ("buss2001accurate",),
        "newmark(0.6)": ("krysl2004explicit",),
        "EXACT-RKN4": ("blanes2002practical", "vanzon2007numerical"),
        "DMV6+att": ("hairer2006preprocessed", "moser1991discrete"),
    }.items(),
)
def test_a_method_made_of_others_cites_them_too(call, name, keys):
    assert methods.get(name).references == keys
    assert methods.get(name).facts()["reference"] == ",".join(keys)
    printed = call("cite", name).stdout
    assert printed.strip() == methods.get(name).bibtex()
    assert printed.strip() == "\n\n".join(map(references.bibtex, keys))
    data = json.loads(call("cite", name, "--json").stdout)
    assert tuple(one["key"] for one in data["references"]) == keys


@pytest.mark.parametrize("entry", methods.everything(), ids=lambda entry: entry.name)
def test_every_method_has_its_reference(entry):
    assert entry.references[0] == entry.cite
    for key in entry.references:
        assert {"author", "title", "year"} <= set(references.fields(key))


def test_references_are_sorted_and_every_line_of_them_is_read():
    text = files("polhode.methods").joinpath("references.bib").read_text("utf-8")
    keys = re.findall(r"@\w+\{([^,\s]+)", text)
    assert keys == sorted(set(keys)) == list(references.entries())
    assert "\n\n".join(map(references.bibtex, keys)) == text.strip()
    for key in keys:
        assert len(references.fields(key)) == len(references.bibtex(key).splitlines()) - 2


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


@pytest.mark.parametrize(
    "torque",
    [
        torques.damping(0.1),
        torques.heavy_top(2.0) + torques.damping(0.1),
        torques.constant((0.0, 0.0, 1.0)),
        torques.gravity_gradient([1.0, 2.0, 2.5], 0.5),  # its potential depends on time
    ],
)
def test_a_torque_without_a_potential_changes_the_energy_by_right(torque, tmp_path):
    """What drives or brakes a body makes no error; in a file it is the same."""
    run = integrate([1.0, 2.0, 2.5], torque, (0, 1), 0.01, omega0=(0.1, 1, 0))
    run.save(tmp_path / "run.nc")
    for one in (run, read(tmp_path / "run.nc")):
        summary = one.summary()
        assert summary["energy_drift_max"] is None and summary["energy_drift_relative"] is None
        assert summary["energy_change_max"] > 0.0 and conserved.energy(one).by_right


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


def stored(file):
    """How the run in a file was made."""
    return contents(file)[1]


def test_run_takes_a_problem_and_settings(call, tmp_path):
    """The settings take the place of what the file says, and the file that is written says so."""
    arguments = ("slow-top", "--method", "NMB", "--step", "0.1", "--set", "run.every=5")
    done = call("run", *arguments, "--set", "initial.omega.2=7", "-o", "top.nc", "--json")
    data = json.loads(done.stdout)
    assert done.exit_code == 0 and data["method"] == "NMB" and data["steps"] == 100
    top = problems.get("slow-top")
    omega0 = [*top.omega0[:2], 7.0]
    run = integrate(
        top.body, top.torque(0.1), top.t_span, 0.1, "NMB", rotation0=top.rotation0, omega0=omega0
    )
    assert data["omega_final"] == run.omega[-1].tolist() and data["samples"] == 21
    assert stored("top.nc")["title"] == "krysl/slow-top"
    command = stored("top.nc")["command"]
    assert command == f"polhode run {' '.join(arguments)} --set initial.omega.2=7"
    again = call(*command.split()[1:], "--json")
    assert json.loads(again.stdout)["omega_final"] == data["omega_final"]


@pytest.mark.parametrize(
    "settings, expected",
    {
        ("--rtol", "1e-6"): ("DOP853", None),
        ("--rtol", "1e-6", "--method", "dp5"): ("DP5", None),
        ("--set", "run.rtol=1e-6", "--set", "run.method=taylor"): ("taylor", None),
        ("--step", "0.5"): ("VLV", 0.5),
        ("--set", "run.step=[0, 1, 5]"): ("VLV", [0, 1, 5]),
        ("--set", 'run.method="LIEMID[EA]"'): ("LIEMID[EA]", 0.05),
        ("--set", "run.method=LIEMID[EA]"): ("LIEMID[EA]", 0.05),
    }.items(),
)
def test_settings_replace_one_another(call, tmp_path, settings, expected):
    """A tolerance takes the place of a step, and a step that of a tolerance."""
    method = expected[0]
    if "--rtol" in settings or method == "taylor":  # the file's method takes steps of given size
        (tmp_path / "scenario.toml").write_text(SCENARIO.replace('method = "VLV"', ""))
    done = call("run", "scenario.toml", *settings, "-o", "out.npz")
    assert done.exit_code == 0, done.stderr
    facts = stored("out.npz")
    assert facts["method"] == method and facts.get("step") == expected[1]
    assert (facts["tolerance"] is not None) == (expected[1] is None)


def test_a_setting_picks_one_of_several_torques(call, tmp_path):
    torques = '[[torque]]\nname = "damping"\ncoefficient = 0.0\n[[torque]]\nname = "free"\n'
    (tmp_path / "scenario.toml").write_text(SCENARIO + torques)
    kept, lost = (
        json.loads(call("run", "scenario.toml", *settings, "--json").stdout)["energy_final"]
        for settings in ((), ("--set", "torque.damping.coefficient=1.0"))
    )
    assert lost < 0.1 * kept
    assert call("run", "scenario.toml", "--set", "torque.0.coefficient=1.0").exit_code == 0


def test_a_file_named_like_a_problem_is_the_file(call, tmp_path):
    (tmp_path / "slow-top").write_text(SCENARIO)
    assert json.loads(call("run", "slow-top", "--json").stdout)["method"] == "VLV"


@pytest.mark.parametrize(
    "problem, setting, torque",
    [
        ("slow-top", "moment=10.0", torques.heavy_top(10.0)),
        ("coulomb-wall-printed", "wall=0.0", torques.coulomb_wall("printed", wall=0.0)),
        ("stress", "alpha=0.2", torques.stress_potential(alpha=0.2)),
        ("book-toss", "toss=10.0", torques.book_toss(0.05, toss=10.0)),
        ("free-body", "name=heavy_top", torques.heavy_top()),
    ],
)
def test_a_setting_changes_one_parameter_of_the_torque_of_a_problem(call, problem, setting, torque):
    settings = ("--set", f"torque.{setting}", "--set", "run.t_span=[0.0, 1.0]")
    data = json.loads(call("run", problem, "--step", "0.05", *settings, "--json").stdout)
    given = problems.get(problem)
    start = {"rotation0": given.rotation0, "omega0": given.omega0, "scalar_first": False}
    run = integrate(given.body, torque, (0.0, 1.0), 0.05, **start)
    assert data["omega_final"] == run.omega[-1].tolist()


def test_an_ensemble_of_a_problem(call):
    done = call("ensemble", "slow-top", "--n", "3", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["n"] == 3


@pytest.mark.parametrize("columns", [80, 120])
def test_output_in_a_pipe_is_as_wide_as_columns_says(call, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = call("run", "fast-top").stdout.splitlines()
    assert max(map(len, lines)) <= columns
    (quaternion,) = (line for line in lines if "quaternion final" in line)
    assert len(quaternion.split()) == 6  # all four numbers in one line
    widest = max(map(len, call("methods").stdout.splitlines()))
    assert columns - 10 < widest <= columns


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
