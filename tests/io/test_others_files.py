"""What others keep on the disk stays there: a run deletes only what runs wrote, by name, and no
folder that it did not make."""

from pathlib import Path

import pytest
import typer

import polhode
from polhode.cli.commands.reproduce import reproduce
from polhode.cli.commands.run import run
from polhode.cli.run_task import new_run
from polhode.show import demo_report as demo
from polhode.errors import InputError
from polhode.io import store

BODY = [1.0, 2.0, 3.0]
RUN = {"t_span": (0.0, 1.0), "step": 0.1, "omega0": (0.1, 1.0, 0.2)}
TOO_LONG = {**RUN, "t_span": (0.0, 1e15), "step": 1.0}  # no disk has room for its points
SCENARIO = """
[body]
inertia = [1.0, 2.0, 3.0]
[initial]
omega = [0.1, 1.0, 0.2]
[run]
step = 0.1
t_span = [0.0, {end}]
"""


def tree(folder):
    """Everything in a folder: names, and what files hold."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in Path(folder).rglob("*")
    }


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(scenario, output, checkpoint=None, force=False, resume=None):
    """The exit code of `polhode run`, in this process."""
    try:
        run(
            scenario,
            output=output and Path(output),
            checkpoint=checkpoint,
            resume=resume and Path(resume),
            force=force,
            as_json=True,
        )
    except typer.Exit as ending:
        return ending.exit_code
    return 0


# --- folders of checkpoints -----------------------------------------------------------------------

FOREIGN = {
    "a repository": {".git/HEAD": "ref: refs/heads/main", ".git/objects/aa/bb": "blob"},
    "a hidden file": {".env": "secret"},
    "a plain file": {"thesis.tex": "ten years"},
    "a folder": {"data/points": "1 2 3"},
    "someone's lock": {"lock": "pid 1234"},
    "someone's run": {"run": "#!/bin/sh", "notes": "how to run"},
    "someone's points": {"points": "1 2 3"},
    "half a result": {".result.17.part": "not of a run"},
}


@pytest.mark.parametrize("case", FOREIGN)
@pytest.mark.parametrize("call", [RUN, TOO_LONG], ids=["fits", "too long"])
def test_a_folder_with_files_of_others_is_refused_and_left_as_it_is(here, case, call):
    for name, text in FOREIGN[case].items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    before = tree(here)
    with pytest.raises(
        InputError, match=r"which no run wrote; move that away|cannot continue from"
    ):
        polhode.integrate(BODY, checkpoint=".", **call)
    assert tree(here) == before


@pytest.mark.parametrize("name", ["points", "state-1", "run", "lock"])
def test_links_in_the_places_of_its_files_are_not_followed(here, name):
    polhode.integrate(BODY, checkpoint="run.part", **RUN)
    Path("precious").write_bytes(Path("run.part", name).read_bytes())
    Path("run.part", name).unlink()
    Path("run.part", name).symlink_to("../precious")
    before = tree(here)
    with pytest.raises(InputError, match=f"it contains '{name}', which no run wrote"):
        polhode.integrate(BODY, checkpoint="run.part", **RUN)
    assert tree(here) == before


def test_an_empty_folder_is_used_but_never_deleted(here):
    Path("mine").mkdir()
    with pytest.raises(InputError, match="GB are free"):
        polhode.integrate(BODY, checkpoint="mine", **TOO_LONG)
    assert tree(here) == {"mine": None}
    polhode.integrate(BODY, checkpoint="mine", **RUN)
    assert set(tree("mine")) == {"run", "points", "state-1", "lock"}
    Path("s.toml").write_text(SCENARIO.format(end=10.0))
    Path("out.nc.part").mkdir()
    assert command("s.toml", "out.nc", checkpoint="5") == 0
    assert Path("out.nc").is_file() and tree("out.nc.part") == {} and Path("out.nc.part").is_dir()


def test_a_folder_that_a_run_made_goes_when_the_run_does_not_fit_or_is_finished(here):
    with pytest.raises(InputError, match="GB are free"):
        polhode.integrate(BODY, checkpoint="new.part", **TOO_LONG)
    Path("s.toml").write_text(SCENARIO.format(end=10.0))
    assert command("s.toml", "out.nc", checkpoint="5") == 0
    assert set(tree(here)) == {"s.toml", "out.nc"}


def unfinished(here, **files):
    """out.nc.part with a run in it, and files of others that came later."""
    Path("s.toml").write_text(SCENARIO.format(end=10.0))
    task = new_run("s.toml", Path("out.nc"), None, "5", False, [])
    task.job.integrate(None, task.checkpoint)
    for name, text in files.items():
        Path("out.nc.part", name).write_text(text)
    return Path("out.nc.part")


def test_what_others_put_beside_a_run_outlives_it(here):
    part = unfinished(here, notes="precious")
    assert command(None, None, resume="out.nc") == 0
    assert Path("out.nc").is_file() and tree(part) == {"notes": b"precious"}


def test_force_deletes_the_run_and_nothing_else(here):
    part = unfinished(here, notes="precious")
    before = tree(part)
    with pytest.raises(InputError, match="it contains 'notes', which no run wrote; move that away"):
        command("s.toml", "out.nc", checkpoint="5", force=True)
    assert tree(part) == before
    (part / "notes").unlink()
    (part / ".out.nc.4711.part").write_text("what a killed process was writing")
    assert command("s.toml", "out.nc", checkpoint="5", force=True) == 0
    assert Path("out.nc").is_file() and not part.exists()


# --- stores and reports ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["notes.txt", "t/notes.txt", "quaternion/c/notes", ".git/HEAD", "data.partial"]
)
def test_a_zarr_store_with_files_of_others_is_not_replaced(here, name):
    pytest.importorskip("zarr")
    run = polhode.integrate(BODY, **RUN)
    store.save(run, "out.zarr")
    store.save(run, "out.zarr", force=True)
    Path("out.zarr", name).parent.mkdir(exist_ok=True)
    Path("out.zarr", name).write_text("precious")
    before = tree(here)
    with pytest.raises(
        InputError, match=f"it contains '{name}', which is not part of a Zarr store; move that away"
    ):
        store.save(run, "out.zarr", force=True)
    assert tree(here) == before


def test_a_link_to_a_store_is_replaced_and_the_store_stays(here):
    pytest.importorskip("zarr")
    run = polhode.integrate(BODY, **RUN)
    store.save(run, "elsewhere.zarr")
    before = tree("elsewhere.zarr")
    Path("out.zarr").symlink_to("elsewhere.zarr")
    store.save(run, "out.zarr", force=True)
    assert not Path("out.zarr").is_symlink() and tree("elsewhere.zarr") == before
    assert {path.name for path in here.iterdir()} == {"elsewhere.zarr", "out.zarr"}


def test_a_sweep_store_with_files_of_others_is_not_replaced_and_goes_on_without_harm(here):
    pytest.importorskip("distributed")
    from polhode.studies.sweep import plan, sweep_store as stores

    tops = plan.load({"problem": "krysl/slow-top", "sweep": {"run.step": [0.05, 0.025]}})
    stores.create("tops.zarr", tops, (1,))
    litter = Path("tops.zarr", "omega", f"zarr.{32 * 'a'}.partial")
    for path in (Path("tops.zarr", "mine.partial"), litter):
        path.write_text("half a file")
    before = tree(here)
    stores.Store("tops.zarr").finished()
    del before[str(litter)]
    assert tree(here) == before
    with pytest.raises(
        InputError, match=r"it contains 'mine.partial', which is not part of a Zarr store"
    ):
        stores.check("tops.zarr", tops, force=True)
    Path("tops.zarr", "mine.partial").unlink()
    stores.check("tops.zarr", tops, force=True)
    stores.create("tops.zarr", tops, (2,), force=True)
    assert {path.name for path in here.iterdir()} == {"tops.zarr"}


@pytest.mark.parametrize(
    "name, write",
    [
        ("index.html", lambda: demo.write_demo_report(".")),
        ("drift.png", lambda: demo.write_demo_report(".")),
        (
            "report.html",
            lambda: reproduce("krysl-2005/fig1", output=Path("."), quick=True, as_json=True),
        ),
    ],
)
def test_a_report_overwrites_no_page_of_others(here, name, write):
    Path(name).write_text("<!doctype html><title>My thesis</title>")
    before = tree(here)
    with pytest.raises(
        InputError,
        match=rf"overwrite '{name}', which polhode did not write; move that away, or choose another",
    ):
        write()
    assert tree(here) == before


def test_a_report_is_recognised_as_one_of_polhodes_own(here):
    from polhode.papers._report import write
    from polhode.show.html import render

    for name, text in (
        ("index.html", render("show/templates/viewer.html", title="polhode demo")),
        ("report.html", write(here, [], []).read_text()),
    ):
        Path(name).write_text(text)
        store.make_report_folder(here, name)
