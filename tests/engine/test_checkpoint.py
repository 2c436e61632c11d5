"""Long runs: killed at random, they end with the same bits; what happens to the disk is told, and
the last checkpoint is kept.

A child of this process takes the steps and is killed (SIGKILL); a fork costs nothing, since what it
runs is compiled already.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
import typer

import polhode
from polhode.cli.commands.run import run
from polhode.support import atomic, provenance
from polhode.engine.checkpoint import Checkpoint, interval
from polhode.engine.checkpoint_files import read_run, saved_states
from polhode.errors import InputError
from polhode.studies import file_info as info
from polhode.io import store
from polhode.io.scenario._load import Scenario
from polhode.io.read import read

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="processes are forked and killed here"
)
BODY = polhode.RigidBody([[3.0, 0.1, 0.0], [0.1, 2.0, 0.2], [0.0, 0.2, 1.5]])
START = {"rotation0": (0.3, 0.1, 0.0), "omega0": (0.4, 1.0, -0.3)}


def by_hand(t, R):
    """Stays Python: it looks into a dict, which might change."""
    return np.array([STRENGTH["x"] * np.sin(t), 0.1 * R[0, 1], 0.0])


STRENGTH = {"x": 0.3}


def level(t, R, omega):
    return omega[1] - 0.2


def falling(t, x, v, R):
    return np.array([0.0, 0.0, -9.81]) - 0.1 * v


@pytest.fixture
def memory(tmp_path):
    """A folder in memory, where forcing data to disk takes no time; on disk where there is none."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="polhode-test-", dir="/dev/shm") as folder:
        yield Path(folder)


def child(action):
    """Run in a forked process; its exit code is 0 if all went well."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        action()
        os._exit(0)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(9)


def ended(pid):
    """The exit code of a child, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill(action, chance):
    """Start action(progress) and kill it (SIGKILL) at a random moment after a few chunks of steps;
    the exit code."""
    seen, told = os.pipe()
    signs, more = chance.randint(1, 8), chance.randint(0, 4)
    calls = iter(range(1, 10**9))

    def progress(done, total):
        call = next(calls)
        if call == signs:
            os.write(told, b".")
        if call == signs + more:
            time.sleep(600)  # the one who is to kill is late: others may be using the machine

    pid = child(lambda: action(progress))
    os.close(told)
    if os.read(seen, 1):
        time.sleep(chance.uniform(0.0, 0.003))
        os.kill(pid, signal.SIGKILL)
    os.close(seen)
    return ended(pid)


def saved_steps(folder):
    """How far the checkpoints in a folder have come."""
    return max((state["done"] for state in saved_states(folder) if state), default=0)


CASES = {  # multistep methods carry several steps in their state
    "SW": ({"torque": "heavy_top", "method": "SW"}, 40),
    "ABAM": ({"torque": "heavy_top", "method": "ABAM", "every": 7}, 40),
    "HSTAGM": (
        {"torque": "heavy_top", "method": "HSTAGM", "t_eval": np.linspace(0.0, 39.99, 911)},
        40,
    ),
    "python torque": ({"torque": by_hand, "method": "SW1"}, 20),
    "implicit, events": (
        {
            "torque": "heavy_top",
            "method": "NMB",
            "events": level,
            "every": 40,
            "breaks": [3.3, 7.7],
        },
        20,
    ),
    "tolerance": ({"torque": "heavy_top", "rtol": 1e-11}, 40),
    "tolerance, python torque": ({"torque": by_hand, "method": "DP5", "rtol": 1e-8}, 20),
    "flight": (
        {
            "torque": "heavy_top",
            "method": "LP2",
            "force": falling,
            "velocity0": (1, 0, 5),
            "every": 3,
        },
        20,
    ),
}


def follow(case, end, **more):
    size = {} if "rtol" in case else {"step": 0.01}
    return polhode.integrate(BODY, t_span=(0.0, end), **START, **size, **case, **more)


def same(a, b):
    """Every bit that a run leaves, and what it says about itself."""
    for name in ("t", "motion", "residuals"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name
    assert a.provenance() == b.provenance()
    assert {**a.summary(), "elapsed_s": 0} == {**b.summary(), "elapsed_s": 0}
    assert (a.t_events is None) == (b.t_events is None)
    if a.t_events:
        assert len(a.t_events[0]) >= 3 and a.t_events[0].tobytes() == b.t_events[0].tobytes()
        assert a.y_events[0].tobytes() == b.y_events[0].tobytes()


def kill_case(name, place, kills, every, seed):
    case, end = CASES[name]
    undisturbed, chance, reached = follow(case, end), random.Random(seed), [0]
    folder = place / "run.part"
    for _ in range(kills):
        code = kill(
            lambda progress: follow(
                case, end, checkpoint=folder, checkpoint_every=every, progress=progress
            ),
            chance,
        )
        assert code == -signal.SIGKILL
        reached.append(saved_steps(folder))
        assert reached[-1] >= reached[-2]  # nothing that was saved is lost
    assert 0 < reached[-1] < undisturbed.steps
    same(follow(case, end, checkpoint=folder, checkpoint_every=every), undisturbed)
    same(follow(case, end, checkpoint=folder), undisturbed)  # a finished one is there at once


@pytest.mark.parametrize("name", CASES)
def test_killed_at_random_the_run_ends_with_the_same_bits(name, memory):
    """Five kills each, forty in all."""
    kill_case(name, memory, kills=5, every=10 if "tolerance" not in name else 2, seed=name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(5))
def test_killed_more_often(name, seed, memory):
    """Eight hundred kills."""
    kill_case(
        name, memory, kills=20, every=7 if "tolerance" not in name else 1, seed=f"{name} {seed}"
    )


# --- the command ----------------------------------------------------------------------------------

SCENARIO = """
title = "a top, for long"
problem = "krysl/slow-top"

[run]
method = "SW"
step = 0.001
t_span = [0.0, 20.0]
"""
TORQUE = """
import polhode
import math

calls = []

def torque(t, R):
    calls.append(t)
    del calls[:-1]
    return [0.3 * math.sin(t), 0.1 * R[0][1], 0.0]
"""


def command(
    scenario=None, output=None, torque_file=None, checkpoint=None, resume=None, force=False
):
    """The exit code of `polhode run`, in this process."""
    try:
        run(
            scenario,
            output=output and Path(output),
            torque_file=torque_file,
            checkpoint=checkpoint,
            resume=resume and Path(resume),
            force=force,
            as_json=True,
        )
    except typer.Exit as ending:
        return ending.exit_code
    return 0


@pytest.fixture
def place(memory, monkeypatch):
    """A folder with a scenario, where we are."""
    (memory / "top.toml").write_text(SCENARIO)
    (memory / "free.toml").write_text(
        SCENARIO.replace('problem = "krysl/slow-top"', BODY_AND_START)
    )
    (memory / "push.py").write_text(TORQUE)
    monkeypatch.chdir(memory)
    yield memory
    provenance.note_command("Python")


BODY_AND_START = """[body]
inertia = [1.0, 2.0, 2.5]
[initial]
omega = [0.1, 1.0, 0.2]"""


@pytest.mark.parametrize("suffix", ["nc", "npz", "csv", "zarr"])
@pytest.mark.parametrize(
    "scenario, torque_file", [("top.toml", None), ("free.toml", "push.py:torque")]
)
def test_the_finished_file_is_that_of_a_run_left_alone(
    place, capsys, suffix, scenario, torque_file
):
    if torque_file:
        Path(scenario).write_text(Path(scenario).read_text("utf-8").replace("20.0]", "2.0]"))
    assert command(scenario, f"alone.{suffix}", torque_file) == 0
    assert command(scenario, f"watched.{suffix}", torque_file, "500") == 0
    chance = random.Random(suffix)
    first = {
        "scenario": scenario,
        "output": f"cut.{suffix}",
        "torque_file": torque_file,
        "checkpoint": "50",
    }
    rest = {"resume": f"cut.{suffix}", "torque_file": torque_file}
    for call in (first, rest, {**rest, "resume": f"cut.{suffix}.part", "checkpoint": "20"}):
        assert (
            kill(lambda progress, call=call: with_progress(progress, call), chance)
            == -signal.SIGKILL
        )
    assert not Path(f"cut.{suffix}").exists()
    assert command(**rest) == 0
    assert (
        json.loads(capsys.readouterr().out.rpartition("\n{")[2].join("{ "))["status"] == "finished"
    )
    alone = contents(f"alone.{suffix}")
    assert contents(f"watched.{suffix}") == alone and contents(f"cut.{suffix}") == alone
    assert not list(place.glob("*.part")) and not list(place.glob(".*"))
    told = info.describe(f"cut.{suffix}")
    assert told["title"] == "a top, for long" and told["provenance"]["command"].startswith(
        f"polhode run {scenario}"
    )


def with_progress(progress, call):
    """The command with its bar in our hands."""
    integrate = Scenario.integrate
    Scenario.integrate = lambda self, bar, checkpoint: integrate(self, progress, checkpoint)
    command(**call)


def contents(path):
    path = Path(path)
    if path.is_dir():
        return {
            str(one.relative_to(path)): one.read_bytes() for one in path.rglob("*") if one.is_file()
        }
    return path.read_bytes()


def test_a_real_process_is_killed_and_another_one_goes_on(place):
    Path("top.toml").write_text(
        SCENARIO.replace("20.0]", "1000.0]").replace("step = 0.001", "step = 0.001\nevery = 100")
    )
    arguments = [sys.executable, "-m", "polhode", "run"]
    process = subprocess.Popen(
        [*arguments, "top.toml", "-o", "out.nc", "--checkpoint", "1000"], stdout=subprocess.DEVNULL
    )
    while process.poll() is None and saved_steps("out.nc.part") < 5000:
        time.sleep(0.002)
    process.kill()
    assert process.wait() == -signal.SIGKILL and not Path("out.nc").exists()
    told = info.describe("out.nc")
    assert (
        told["kind"] == "unfinished run"
        and 5000 <= told["steps"] < told["steps_in_all"] == 1_000_000
    )
    done = subprocess.run(
        [*arguments, "--resume", "out.nc", "--checkpoint", "1h", "--json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 1_000_000
    assert command("top.toml", "alone.nc") == 0
    assert contents("out.nc") == contents("alone.nc")


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_killed_while_the_finished_file_is_written(place, suffix):
    seen, told = os.pipe()
    rename = atomic._rename

    def slow(partial, path, force):
        if path.name == f"out.{suffix}":
            os.write(told, b".")
            time.sleep(600)
        return rename(partial, path, force)

    def action():
        atomic._rename = slow
        command("top.toml", f"out.{suffix}", checkpoint="5000")

    pid = child(action)
    os.close(told)  # of this process: a child that ends without a word is noticed
    assert os.read(seen, 1)
    os.kill(pid, signal.SIGKILL)
    assert ended(pid) == -signal.SIGKILL and not Path(f"out.{suffix}").exists()
    assert command(resume=f"out.{suffix}") == 0 and command("top.toml", f"alone.{suffix}") == 0
    assert contents(f"out.{suffix}") == contents(f"alone.{suffix}")
    assert {path.name for path in place.iterdir()} == {
        "top.toml",
        "free.toml",
        "push.py",
        f"out.{suffix}",
        f"alone.{suffix}",
    }


def test_ctrl_c_saves(place, capsys):
    def strike(done, total):
        if done > 5000:
            signal.raise_signal(signal.SIGINT)  # to this thread: nothing is left for later

    integrate = Scenario.integrate
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Scenario, "integrate", lambda self, bar, checkpoint: integrate(self, strike, checkpoint)
        )
        assert command("top.toml", "out.nc", checkpoint="1h") == 130
    captured = capsys.readouterr()
    assert "continue with `polhode run --resume out.nc`" in captured.err.replace("\n", " ")
    assert json.loads(captured.out)["status"] == "interrupted" and not Path("out.nc").exists()
    assert saved_steps("out.nc.part") > 5000  # long before the hour
    assert command(resume="out.nc") == 0 and command("top.toml", "alone.nc") == 0
    assert contents("out.nc") == contents("alone.nc")


# --- what can go wrong ----------------------------------------------------------------------------


@pytest.fixture
def cut(place):
    """A run that was killed half-way: out.nc.part."""

    def part(progress):
        with_progress(
            lambda done, total: progress(done, total) if done > 10_000 else None,
            {"scenario": "top.toml", "output": "out.nc", "checkpoint": "500"},
        )

    assert kill(part, random.Random(1)) == -signal.SIGKILL
    assert len(saved_states("out.nc.part")) == 2 and saved_steps("out.nc.part") >= 10_000
    return Path("out.nc.part")


def finishes(place):
    assert command(resume="out.nc") == 0 and command("top.toml", "alone.nc") == 0
    assert contents("out.nc") == contents("alone.nc")


def newest(folder):
    best = max(
        (0, 1),
        key=lambda i: json.loads((folder / f"state-{i}").read_text("utf-8").partition("\n")[2])[
            "generation"
        ],
    )
    return folder / f"state-{best}"


def halved(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [halved, flipped, lambda path: path.write_bytes(b"")])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(cut, place, capsys, damage):
    damage(newest(cut))
    told = info.describe(cut)
    assert told["checkpoints_damaged"] == 1
    assert command(resume="out.nc") == 0
    assert (
        f"continuing from the previous one, at step {told['steps']}"
        in capsys.readouterr().err.replace("\n", " ")
    )
    assert command("top.toml", "alone.nc") == 0 and contents("out.nc") == contents("alone.nc")


def test_points_that_are_missing_after_the_last_checkpoint_but_one_fall_back_too(cut, place):
    state = min(saved_states(cut), key=lambda one: one["generation"])
    os.truncate(cut / "points", 9 * 8 * state["points"] + 5)
    finishes(place)


def test_what_comes_after_the_last_checkpoint_does_not_matter(cut, place):
    with open(cut / "points", "ab") as file:
        file.write(b"half a point, and then the light went out")
    finishes(place)


@pytest.mark.parametrize(
    "damage, expected",
    [
        (
            lambda cut: [halved(cut / f"state-{i}") for i in (0, 1)],
            "'state-0' and 'state-1' have changed since the checkpoint, .*`polhode run top.toml -o out.nc .*--force`",
        ),
        (
            lambda cut: halved(cut / "points"),
            r"the file 'points' \(\d+ bytes\) has changed since it was written, .*; start again with",
        ),
        (
            lambda cut: (cut / "points").unlink(),
            r"the file 'points' \(0 bytes\) has changed since it was written, .*; start again with",
        ),
        (
            lambda cut: flipped(cut / "run"),
            r"its file 'run' is damaged \(\d+ bytes have changed since they were written\); start again with",
        ),
        (lambda cut: (cut / "run").unlink(), "its file 'run' is missing; start again with"),
        (
            lambda cut: (cut / "run").write_text(
                (cut / "run").read_text("utf-8").replace("checkpoint 3", "checkpoint 1")
            ),
            r"of another version of polhode \(format 1, here 3\); continue with that version, or start again with",
        ),
    ],
)
def test_damage_beyond_repair_is_told(cut, damage, expected):
    damage(cut)
    before = contents(cut)
    with pytest.raises(InputError, match=expected):
        command(resume="out.nc")
    assert {name: data for name, data in contents(cut).items() if data or name in before} == before
    assert not Path("out.nc").exists()


def rewritten(folder, **changes):
    """The folder as if another version or machine had begun the run, whole."""
    from polhode.engine.checkpoint_files import write

    held = read_run(folder)
    write(folder / "run", {"identity": held["identity"] | changes, "about": held["about"]})


def test_another_version_another_scenario_another_torque(cut, place):
    original = (cut / "run").read_bytes()
    before = contents(cut)
    rewritten(cut, polhode_version="0.0.7")
    with pytest.raises(
        InputError,
        match=r'polhode_version is "0.0.7" there and .* here; undo that and continue with',
    ):
        command(resume="out.nc")
    with pytest.raises(
        InputError, match=r'continue where it was started \(polhode_version is "0.0.7" there'
    ):
        command("top.toml", "out.nc")
    (cut / "run").write_bytes(original)
    Path("other.toml").write_text(SCENARIO.replace("0.001", "0.002"))
    with pytest.raises(InputError, match=r"another one: step is 0.001 there and 0.002 here"):
        command("other.toml", resume="out.nc")
    with pytest.raises(
        InputError, match=r"torque is .*heavy_top.* there and .*torque torque.* here"
    ):
        command("top.toml", resume="out.nc", torque_file="push.py:torque")
    # without checkpoints, too, it does not begin beside one that is unfinished
    for every in ("500", None):
        with pytest.raises(
            InputError,
            match=r"run is in 'out.nc.part'; continue with .*or start again with .* --force`, which",
        ):
            command("top.toml", "out.nc", checkpoint=every)
    with pytest.raises(InputError, match=r"leave that out"):
        command("top.toml", "elsewhere.nc", resume="out.nc")
    assert contents(cut) == before
    # the same, said again, is no difference
    assert command("top.toml", resume="out.nc", output="out.nc") == 0


def test_an_edited_torque_file_is_noticed(place):
    Path("free.toml").write_text(Path("free.toml").read_text("utf-8").replace("20.0]", "2.0]"))
    call = {
        "scenario": "free.toml",
        "output": "out.nc",
        "torque_file": "push.py:torque",
        "checkpoint": "50",
    }
    assert kill(lambda progress: with_progress(progress, call), random.Random(3)) == -signal.SIGKILL
    Path("push.py").write_text(TORQUE.replace("0.3", "0.31"))
    with pytest.raises(
        InputError,
        match=r"where it is named; write: polhode run --resume out.nc --torque-file push.py:torque",
    ):
        command(resume="out.nc")  # a folder that someone sent does not run code
    resume = [
        sys.executable,
        "-m",
        "polhode",
        "run",
        "--resume",
        "out.nc",
        "--torque-file",
        "push.py:torque",
    ]
    done = subprocess.run(resume, capture_output=True, text=True)
    assert (
        done.returncode == 2
        and "the code of the torque 'push.py:torque' has changed; undo that and continue with"
        in done.stderr
    )
    assert "Traceback" not in done.stderr
    # from another folder it is the same file still, and is named as it is found from there
    Path("elsewhere").mkdir()
    resume[-3:] = ["../out.nc", "--torque-file", "../push.py:torque"]
    done = subprocess.run(resume, capture_output=True, text=True, cwd="elsewhere")
    assert "the code of the torque '../push.py:torque' has changed" in done.stderr
    assert (
        f"polhode run --resume ../out.nc --torque-file {Path('push.py:torque').absolute()}`"
        in done.stderr
    )


def test_force_starts_anew_and_nothing_else_does(cut, place):
    before = contents(cut)
    Path("out.nc").write_text("precious")
    for call, way_out in (
        (
            {"resume": "out.nc"},
            "move it away, or overwrite it with `polhode run --resume out.nc --force`",
        ),
        (
            {"scenario": "top.toml", "output": "out.nc", "checkpoint": "500"},
            "choose another name, or",
        ),
    ):
        with pytest.raises(InputError, match=rf"'out.nc' exists.*{way_out}"):
            command(**call)
    assert Path("out.nc").read_text("utf-8") == "precious" and contents(cut) == before
    assert command("top.toml", "out.nc", checkpoint="500", force=True) == 0
    assert Path("out.nc").read_bytes().startswith(b"CDF") and not cut.exists()


def test_a_run_without_checkpoints_begins_again_where_that_is_forced(cut, place):
    assert command("top.toml", "out.nc", force=True) == 0 and not cut.exists()
    assert command("top.toml", "alone.nc") == 0 and contents("out.nc") == contents("alone.nc")


CHANGES = {  # what is different, and how it is told
    "t_span = [0.0, 20.0]": ("t_span = [0.0, 21.0]", r"t_span\[1\] is 20.0 there and 21.0 here"),
    'method = "SW"': ('method = "SW1"', r'method is "SW" there and "SW1" here'),
    "step = 0.001": ("step = 0.001\nevery = 5", "every is 1 there and 5 here"),
    "[run]": (
        "[initial]\nomega = [0.0, 0.0, 4.0]\n[run]",
        r"initial.omega\[2\] is 5.0 there and 4.0 here",
    ),
    'problem = "krysl/slow-top"\n': (
        'problem = "krysl/slow-top"\ntorque = {name = "heavy_top", moment = 19.0}\n',
        r"torque is .*moment=20.0.* there and .*moment=19.0.* here",
    ),
}


def test_what_has_changed_is_told_with_both_values(cut):
    for old, (new, told) in CHANGES.items():
        Path("other.toml").write_text(SCENARIO.replace(old, new))
        with pytest.raises(InputError, match=told):
            command("other.toml", resume="out.nc")
    Path("other.toml").write_text(SCENARIO + "breaks = [1.0]\n")
    with pytest.raises(InputError, match=r"breaks is nothing there and \[1.0\] here"):
        command("other.toml", resume="out.nc")


def test_a_tolerance_notices_other_breaks_and_times(tmp_path):
    call = {"t_span": (0, 1), "rtol": 1e-6, **START, "checkpoint": tmp_path / "run.part"}
    polhode.integrate(BODY, **call, breaks=[0.5])
    with pytest.raises(
        InputError,
        match=r"breaks\[0\] is 0.5 there and 0.6 here; undo that and make the same call again",
    ):
        polhode.integrate(BODY, **call, breaks=[0.6])
    with pytest.raises(
        InputError,
        match=r"every is 1 there and nothing here; t_eval is nothing there and \[0.25\] here",
    ):
        polhode.integrate(BODY, **call, breaks=[0.5], t_eval=[0.25])


def test_two_processes_do_not_write_to_one_run(cut, place):
    holder = Checkpoint(cut)
    holder._lock()
    with pytest.raises(InputError, match=r"is being computed by another process"):
        command(resume="out.nc")
    with pytest.raises(InputError, match=r"is being computed by another process"):
        command("top.toml", "out.nc", checkpoint="500", force=True)
    holder._held.close()
    finishes(place)


def limited(action, size):
    """Run where no file may be larger than so many bytes: the system refuses to write on, as on a
    full disk; the exit code."""

    def tight():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        action()

    return ended(child(tight))


def test_a_disk_that_fills_up_keeps_the_last_checkpoint(cut, place, capfd):
    saved, size = saved_steps(cut), (cut / "points").stat().st_size
    assert limited(lambda: command(resume="out.nc"), size + 100_000) == 9
    told = capfd.readouterr().err
    assert (
        f"InputError: cannot write to 'out.nc.part': File too large; files may have {size + 100_000} bytes here: raise that "
        "limit (ulimit -f), or store less (a larger every).  The last good checkpoint"
    ) in told
    assert "continue with `polhode run --resume out.nc`" in told
    assert saved_steps(cut) > saved and not Path("out.nc").exists()
    # the points fit, the finished file does not
    assert limited(lambda: command(resume="out.nc"), 9 * 8 * 20_001 + 1000) == 9
    told = capfd.readouterr().err
    assert "cannot write 'out.nc': File too large" in told and "Nothing is lost" in told
    assert (
        saved_steps(cut) == 20_000 and not Path("out.nc").exists() and not list(place.glob(".out*"))
    )
    finishes(place)


@pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("mount") is None,
    reason="mounts a small disk, which takes root",
)
def test_a_disk_that_is_really_full(place):
    small = place / "small"
    small.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "polhode-test", str(small)], capture_output=True
    ).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(InputError, match=r"needs .* bytes .* GB are free; store fewer points"):
            command("top.toml", "small/out.nc", checkpoint="500")
        with pytest.MonkeyPatch.context() as patch:
            # the room is taken by others meanwhile
            patch.setattr(Checkpoint, "_check_space", lambda *_: None)
            with pytest.raises(
                InputError, match=r"cannot write to 'small/out.nc.part': No space left on device"
            ):
                command("top.toml", "small/out.nc", checkpoint="500", force=True)
        assert 0 < saved_steps("small/out.nc.part") < 20_000
        shutil.move("small/out.nc.part", "out.nc.part")  # a larger disk
    finally:
        subprocess.run(["umount", str(small)], check=True)
    finishes(place)


def test_folders_that_cannot_be_used(place):
    Path("file.nc.part").write_text("not a folder")
    with pytest.raises(InputError, match=r"cannot write to 'file.nc.part': File exists"):
        command("top.toml", "file.nc", checkpoint="500")
    with pytest.raises(InputError, match=r"the folder .*nowhere' does not exist"):
        command("top.toml", "nowhere/out.nc", checkpoint="500")
    with pytest.raises(InputError, match=r"there is no unfinished run 'none.nc.part'"):
        command(resume="none.nc")
    Path("mine").mkdir()
    Path("mine", "precious").write_text("")
    with pytest.raises(
        InputError, match=r"it contains 'precious', which no run wrote; move that away"
    ):
        polhode.integrate(BODY, t_span=(0, 1), step=0.1, checkpoint="mine", **START)
    assert Path("mine", "precious").exists()
    with pytest.raises(InputError, match=r"the scenario is missing"):
        command()
    with pytest.raises(InputError, match=r"--checkpoint 500 needs an output file"):
        command("top.toml", checkpoint="500")
    polhode.integrate(BODY, t_span=(0, 1), step=0.1, checkpoint="mine.nc.part", **START)
    with pytest.raises(InputError, match=r"was started by a Python program"):
        command(resume="mine.nc")
    with pytest.raises(InputError, match=r"another one: step is 0.1 there and 0.2 here"):
        polhode.integrate(BODY, t_span=(0, 1), step=0.2, checkpoint="mine.nc.part", **START)


@pytest.mark.parametrize(
    "given, expected",
    [
        ("100", (100, 0.0)),
        (7, (7, 0.0)),
        ("1e6", (10**6, 0.0)),
        ("30s", (0, 30.0)),
        ("0.5 min", (0, 30.0)),
        ("2h", (0, 7200.0)),
    ],
)
def test_intervals(given, expected):
    assert interval(given) == expected


@pytest.mark.parametrize(
    "given",
    ["0", "-5", "1.5", "s", "0s", "-1s", "nan", "inf", "1e999s", "3 days", "", True, None, "1.2s3"],
)
def test_bad_intervals(given):
    with pytest.raises(InputError, match=r"such as 30s, 5min or 1h, got"):
        interval(given)


@pytest.mark.parametrize(
    "suffix", ["nc", *(pytest.param(suffix, marks=pytest.mark.slow) for suffix in ("npz", "zarr"))]
)
def test_memory_stays_bounded(memory, suffix):
    """A million points take 72 MB, and four times as much on the way to a file; here they never are
    in memory."""
    case = {"torque": "heavy_top", "method": "LP2"}
    warm = follow(case, 1000, checkpoint=memory / "warm.part")  # compiles all there is to compile
    warm.summary()
    store.save(warm, memory / f"warm.{suffix}")

    def long():
        before = peak()
        run = follow(case, 10_000, checkpoint=memory / "long.part")
        run.summary()
        store.save(run, memory / f"long.{suffix}")
        assert len(run) == 1_000_001 and peak() - before < 64_000, f"{peak() - before} kB"

    assert ended(child(long)) == 0


def peak():
    """The largest memory this process has had, in kB."""
    return int(
        next(
            line
            for line in Path("/proc/self/status").read_text().splitlines()
            if line.startswith("VmHWM")
        ).split()[1]
    )


def test_shapes_are_recognised_when_a_run_goes_on(tmp_path):
    """What is read back of a shape has lists for tuples, and is the same body."""
    box = polhode.RigidBody.box(0.2, 0.13, 0.03)
    given = dict(t_span=(0, 2), step=0.01, omega0=(0.01, 6.0, 0.0))
    whole = polhode.integrate(box, **given)
    for _ in range(2):
        run = polhode.integrate(box, **given, checkpoint=tmp_path / "box.part", checkpoint_every=50)
        assert np.array_equal(run.quaternion, whole.quaternion)


def test_a_file_that_appears_meanwhile_costs_nothing(place, monkeypatch):
    """What was computed goes under another name, and the message tells which."""
    save = store.save
    taken = iter([True])

    def late(trajectory, path, *rest, **options):
        if next(taken, False):
            Path(path).write_text("precious")
        return save(trajectory, path, *rest, **options)

    monkeypatch.setattr(store, "save", late)
    with pytest.raises(InputError, match="Nothing is lost: the motion is in out-") as told:
        command("top.toml", "out.nc")
    assert (
        Path("out.nc").read_text("utf-8") == "precious"
        and Path(str(told.value).rpartition(" ")[2]).stat().st_size > 1000
    )


# --- the folder is deleted midway -----------------------------------------------------------------


def deleting(folder, after):
    def progress(done, total):
        if done >= after and Path(folder).exists():
            shutil.rmtree(folder)

    return progress


@pytest.mark.parametrize("after", [100, 5000])
@pytest.mark.parametrize("every", ["300", "1h"])
def test_a_folder_that_is_deleted_midway_costs_nothing(place, after, every):
    whole = polhode.integrate(BODY, t_span=(0, 100), step=0.01, **START)
    with pytest.raises(
        InputError,
        match=r"'run.part' was deleted during the run, .* is in `trajectory` of this error",
    ) as told:
        polhode.integrate(
            BODY,
            t_span=(0, 100),
            step=0.01,
            checkpoint="run.part",
            checkpoint_every=every,
            progress=deleting("run.part", after),
            **START,
        )
    kept = told.value.trajectory
    assert len(kept) == kept.steps + 1 > after and np.array_equal(
        kept.motion, whole.motion[: len(kept)]
    )
    store.save(kept, "kept.nc")
    assert not Path("run.part").exists()


def test_the_command_saves_what_it_has_where_the_folder_is_deleted(place, capsys):
    integrate = Scenario.integrate
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Scenario,
            "integrate",
            lambda self, bar, checkpoint: integrate(
                self, deleting("out.nc.part", 5000), checkpoint
            ),
        )
        assert command("top.toml", "out.nc", checkpoint="500") == 2
    told = " ".join(capsys.readouterr().err.split())
    assert (
        "'out.nc.part' was deleted during the run" in told
        and "(the results so far are in out.nc)" in told
    )
    assert command("top.toml", "alone.nc") == 0
    kept, whole = read("out.nc"), read("alone.nc")
    assert len(kept.t) > 5000 and np.array_equal(kept.quaternion, whole.quaternion[: len(kept.t)])


def test_a_disk_that_is_full_before_the_first_checkpoint(memory):
    def action():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with pytest.raises(
            InputError, match="No checkpoint was made; the results so far are in"
        ) as told:
            polhode.integrate(
                BODY,
                t_span=(0, 100),
                step=0.01,
                checkpoint=memory / "run.part",
                checkpoint_every=5000,
                **START,
            )
        kept = told.value.trajectory
        assert len(kept) == 5001 and np.array_equal(kept.motion, whole.motion[:5001])

    whole = polhode.integrate(BODY, t_span=(0, 100), step=0.01, **START)
    assert ended(child(action)) == 0
