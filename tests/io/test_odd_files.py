"""Odd facts in stored files, names that look like formulas, and text with commands to the terminal
in it: no bug, and the terminal stays as it is."""

import copy
import os
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import polhode
from polhode.cli import app, exit_codes
from polhode import plots
from polhode.errors import InputError
from polhode.io import store
from polhode.io.formats import formats
from polhode.io.read import read
from polhode.support.atomic import remove

# --- stored files ---------------------------------------------------------------------------------

ODD_FACTS = (
    None,
    True,
    -1,
    3.5,
    float("nan"),
    float("inf"),
    10**400,
    "",
    "text",
    "\x1b[31m",
    "$\\bad{$",
    "a\nb",
    "[/red]",
    "'",
    [],
    [1],
    [None],
    ["a"],
    [[1, 2], [3]],
    {},
    {"a": 1},
    {"kind": "box", "size": "abc"},
    "x" * 3000,
)


class Told:
    """A run with other facts about itself."""

    def __init__(self, run, facts):
        self.run, self.facts = run, facts

    def __getattr__(self, name):
        return getattr(self.run, name)

    def __len__(self):
        return len(self.run)

    def provenance(self):
        """The facts."""
        return self.facts


@pytest.fixture(scope="module")
def run():
    return polhode.integrate(
        polhode.RigidBody.box(1, 2, 3, name="box"),
        "heavy_top",
        (0, 0.3),
        0.1,
        "NMB",
        omega0=(0.1, 1, 0.2),
        title="a box",
        compiled=False,
    )


def changes(facts, path=()):
    """The facts with one of them, at any depth, changed to something odd or left out."""
    for key in list(facts):
        for value in ODD_FACTS:
            yield (*path, key), value
        if isinstance(facts[key], dict):
            yield from changes(facts[key], (*path, key))


def changed(facts, path, value):
    facts = copy.deepcopy(facts)
    inside = facts
    for key in path[:-1]:
        inside = inside[key]
    if value == "text":
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return facts


def commands(file):
    """What is done with a stored run."""
    yield ["info", file]
    yield ["info", file, "--json"]
    yield ["run", "--resume", file]
    yield ["view", file, "-o", "page.html", "--force"]


def trouble(line):
    """What is wrong with how a command ended; "" where nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(app, line, prog_name="polhode")
    said = result.stdout + result.stderr
    clean = not set(said) & set("\x1b\x9b\u202e") and "Traceback" not in said
    fine = clean and result.exit_code in (exit_codes.FINE, exit_codes.BAD_INPUT)
    return "" if fine else f"{line}: {result.exit_code}: {said[:300]!r}"


def survives(run, kind, step):
    """Every so many of the odd facts, in files of a kind."""
    wrong = []
    for path, value in list(changes(run.provenance()))[::step]:
        remove(Path(f"odd.{kind}"))
        odd = store.contents_of(Told(run, changed(run.provenance(), path, value)))
        formats()[kind].write(odd, Path(f"odd.{kind}"))
        wrong += [
            f"{path} = {value!r:.40}: {found}"
            for found in map(trouble, commands(f"odd.{kind}"))
            if found
        ]
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("kind", ["nc", "npz", "csv", "zarr"])
def test_odd_facts_in_a_stored_run_are_no_bug(run, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    survives(run, kind, 211)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nc", "npz", "csv", "zarr"])
def test_no_odd_fact_in_a_stored_run_is_a_bug(run, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    survives(run, kind, 1)


def test_a_fact_of_the_wrong_kind_is_named(run, tmp_path):
    for key, value, words in (
        ("steps", "many", "steps = 'many', which is not a whole number"),
        ("title", 3, "title = 3, which is not"),
        ("tolerance", [1.0], "which is not two numbers"),
        ("error_sample", {"bodies": [1]}, "which is not a table of errors"),
        ("step", "short", "which is not a number, or a list"),
    ):
        odd = store.contents_of(Told(run, run.provenance() | {key: value}))
        formats()["npz"].write(odd, tmp_path / "odd.npz")
        with pytest.raises(InputError, match=words):
            read(tmp_path / "odd.npz")


# --- figures and pages ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["$\\bad{$", "$", "\x1b[31m", "a\0b"])
def test_a_name_is_drawn_as_it_is_written(name, tmp_path):
    run = polhode.integrate(
        polhode.RigidBody([1, 2, 2.5], name=name),
        None,
        (0, 0.3),
        0.1,
        "NMB",
        omega0=(0.1, 1, 0.2),
        compiled=False,
    )
    plots.errors(run, tmp_path / "errors.svg")
    polhode.view.page(run)


# --- the terminal ---------------------------------------------------------------------------------

SCENARIO = """title = "{0}"
[body]
name = "{0}"
inertia = [1.0, 2.0, 2.5]
[initial]
omega = [0.1, 1.0, 0.2]
[run]
step = 0.1
t_span = [0.0, 0.2]
method = "NMB"
"""
HOSTILE = "\\u001b[31m\\u009b31m\\u202e[/red][bold]"


def test_no_text_of_a_stranger_commands_the_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("odd.toml").write_text(SCENARIO.format(HOSTILE))
    Path("fails.py").write_text('def torque(t, R):\n    raise ValueError("\\x1b[31m")\n')
    Path("falls.py").write_text('raise ValueError("\\x1b[31m")\n')
    names = ["\x1b[31m.nc", "[/red].nc", "\x9b31m.nc"]
    lines = [
        ["run", "odd.toml", "-o", "odd.nc"],
        ["info", "odd.nc"],
        ["info", "odd.nc", "--json"],
        ["ensemble", "odd.toml", "--n", "2"],
        ["run", "odd.toml", "--json"],
        ["run", "odd.toml", "--torque-file", "falls.py"],
        ["view", "odd.nc"],
        *(["run", "odd.toml", "-o", name] for name in names),
        *(["info", name] for name in names),
        *(["view", name] for name in names),
        *(["plot", "--kind", "errors", name] for name in names),
        *([command, name] for name in names for command in ("run", "mesh", "cite")),
        *([name] for name in names),
    ]
    wrong = list(filter(None, map(trouble, lines)))
    assert not wrong, "\n".join(wrong)
    failed = CliRunner().invoke(app, ["run", "odd.toml", "--torque-file", "fails.py"])
    assert (
        failed.exit_code == exit_codes.BAD_INPUT
        and "\x1b" not in failed.stderr
        and "\\x1b[31m" in failed.stderr
    )


def test_what_is_nested_too_deeply_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in (
        "a" + ".a" * 5000 + " = 1\n",
        "[a" + ".a" * 5000 + "]\n",
        "a = " + "[" * 100_000,
        "a = " + "{b=" * 3000 + "1" + "}" * 3000,
        "a = " + "[" * 300 + "]" * 300,
        SCENARIO.format("x") + "[sweep]\na" + ".a" * 300 + " = [1]\n",
    ):
        Path("deep.toml").write_text(text)
        for command in ("run", "sweep"):
            result = CliRunner().invoke(app, [command, "deep.toml"])
            assert result.exit_code == exit_codes.BAD_INPUT and "deep" in result.stderr, (
                result.stderr
            )


@pytest.mark.parametrize(
    "every", ["1e400", "1e400s", "inf", "nan", "-1", "9" * 5000, "1e999999999999", ""]
)
def test_odd_intervals_between_checkpoints_are_refused(every, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text(SCENARIO.format("x"))
    result = CliRunner().invoke(app, ["run", "run.toml", "-o", "run.nc", "--checkpoint", every])
    assert result.exit_code == exit_codes.BAD_INPUT
    assert "a checkpoint interval is a number of steps" in " ".join(result.stderr.split())


@pytest.mark.parametrize("target", ["nowhere", "run.toml", "run.nc.part", "/dev/null"])
def test_a_link_in_the_place_of_the_folder_of_a_run_is_no_bug(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text(SCENARIO.format("x"))
    os.symlink(target, "run.nc.part")
    lines = [
        ["run", "run.toml", "-o", "run.nc", "--checkpoint", "2"],
        ["run", "--resume", "run.nc"],
        ["info", "run.nc.part"],
        ["run", "run.toml", "-o", "run.nc", "--checkpoint", "2", "--force"],
    ]
    wrong = list(filter(None, map(trouble, lines)))
    assert not wrong, "\n".join(wrong)


def test_a_link_to_a_folder_in_the_place_of_the_folder_of_a_run(tmp_path, monkeypatch):
    """What is in the folder stays; where nothing is, the run may use it."""
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text(SCENARIO.format("x"))
    line = ["run", "run.toml", "-o", "run.nc", "--checkpoint", "2"]
    for name in ("full", "empty"):
        Path(name).mkdir()
    Path("full", "mine").write_text("precious")
    os.symlink("full", "run.nc.part")
    for force in ([], ["--force"]):
        result = CliRunner().invoke(app, line + force)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "contains 'mine', which no run wrote" in " ".join(result.stderr.split())
    assert (
        os.listdir("full") == ["mine"]
        and Path("full", "mine").read_text() == "precious"
        and not Path("run.nc").exists()
    )
    os.remove("run.nc.part")
    os.symlink("empty", "run.nc.part")
    assert not trouble(line) and Path("run.nc").exists() and Path("empty").is_dir()
