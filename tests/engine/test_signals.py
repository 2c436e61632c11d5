"""Ctrl-C, SIGTERM and SIGHUP end a run with everything that was computed; real processes, real
signals."""

import json
import os
import pty
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import polhode
from polhode.engine.checkpoint_files import saved_states
from polhode.io.read import read

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals are POSIX's")
START = {"rotation0": (0.3, 0.1, 0.0), "omega0": (0.4, 1.0, -0.3)}
SCENARIO = """
[body]
inertia = [1.0, 2.0, 2.5]
[initial]
omega = [0.1, 1.0, 0.2]
[run]
step = 0.01
t_span = [0.0, 1e6]
every = 10
"""
TORQUE = """
import pathlib

called = []   # stays Python

def torque(t, R):
    if t > 1.0 and not called:
        called.append(t)
        pathlib.Path("begun").touch()
    return [0.0, 0.1, 0.0]
"""


@pytest.fixture
def begun(tmp_path):
    """Starts a command that is at work, with steps taken; none outlives its test."""
    started = []

    def start(command, **options):
        (tmp_path / "scenario.toml").write_text(SCENARIO)
        (tmp_path / "push.py").write_text(TORQUE)
        process = subprocess.Popen(
            [sys.executable, "-m", "polhode", *command, "--torque-file", "push.py"],
            cwd=tmp_path,
            **options,
        )
        started.append(process)
        until(lambda: (tmp_path / "begun").exists(), process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def until(condition, process):
    while not condition():
        assert process.poll() is None, "it ended too early"
        time.sleep(0.01)


PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        *(pytest.param(one, marks=pytest.mark.slow) for one in (signal.SIGINT, signal.SIGHUP)),
    ],
)
def test_a_run_without_checkpoints_saves(tmp_path, begun, number):
    process = begun(["run", "scenario.toml", "-o", "out.nc", "--json"], **PIPES)
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == 128 + number, err
    told, run = json.loads(out), read(tmp_path / "out.nc")
    assert told["status"] == "interrupted" and told["t_final"] == run.t[-1] > 1.0
    assert (
        "interrupted after" in err
        and "(the results so far are in out.nc)" in err
        and "Traceback" not in err
    )


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGHUP,
        *(pytest.param(one, marks=pytest.mark.slow) for one in (signal.SIGINT, signal.SIGTERM)),
    ],
)
def test_a_run_with_checkpoints_makes_one(tmp_path, begun, number):
    process = begun(["run", "scenario.toml", "-o", "out.nc", "--checkpoint", "1h"], **PIPES)
    assert not saved_states(tmp_path / "out.nc.part")
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 128 + number, err
    assert (
        saved_states(tmp_path / "out.nc.part")[0]["t"] > 1.0 and not (tmp_path / "out.nc").exists()
    )
    assert "continue with `polhode run --resume out.nc --torque-file push.py`" in " ".join(
        err.split()
    )


@pytest.mark.slow
def test_the_terminal_is_closed(tmp_path, begun):
    """The terminal goes, and SIGHUP comes with it: nothing can be written there, and the run is
    saved all the same."""
    ours, theirs = pty.openpty()
    process = begun(
        ["run", "scenario.toml", "-o", "out.nc"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=lambda: (
            os.setsid(),
            __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
        ),
    )
    os.close(theirs)
    os.close(ours)
    assert process.wait() == 128 + signal.SIGHUP
    assert read(tmp_path / "out.nc").t[-1] > 1.0


@pytest.mark.slow
def test_what_is_ignored_stays_ignored(tmp_path, begun):
    """As under nohup; and where Ctrl-C is ignored, as in the background, SIGTERM still ends the
    run."""
    process = begun(
        ["run", "scenario.toml", "-o", "out.nc"],
        **PIPES,
        preexec_fn=lambda: [
            signal.signal(one, signal.SIG_IGN) for one in (signal.SIGHUP, signal.SIGINT)
        ],
    )
    process.send_signal(signal.SIGHUP)
    (tmp_path / "begun").unlink()
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM and (tmp_path / "out.nc").exists()


COMMANDS = {
    "ensemble": ("ensemble long.toml --n 2000 --json", "interrupted after"),
    "compare": ("compare krysl/slow-top --methods all", "interrupted"),
    "reproduce": ("reproduce all -o papers", "interrupted"),
    "sweep": ("sweep sweep.toml -o s.zarr", "interrupted"),
    "certify": ("certify NMB LP2", "interrupted"),
    "demo": ("demo -o demo", "interrupted"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_other_commands_end_and_leave_no_process(tmp_path, name, number):
    line, said = COMMANDS[name]
    (tmp_path / "long.toml").write_text(SCENARIO.replace("every = 10\n", ""))
    (tmp_path / "sweep.toml").write_text(
        SCENARIO.replace("every = 10\n", "") + "[sweep]\nrun.step = [0.01, 0.005]\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "polhode", *line.split()],
        cwd=tmp_path,
        start_new_session=True,
        **PIPES,
    )
    until(
        lambda: (tmp_path / "demo").exists() if name == "demo" else busy(process.pid) > 6.0, process
    )
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 128 + number, err
    assert said in err and "Traceback" not in err
    while members(process.pid):  # where its children go on, the test ends at pytest's limit
        time.sleep(0.05)


def stat_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()


def members(group):
    """The living processes of a group."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = stat_of(pid)
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(pid))
    return found


def busy(group):
    """Seconds of processor time that a group of processes has used."""
    total = 0
    for pid in members(group):
        try:
            total += sum(map(int, stat_of(pid)[11:13]))
        except OSError:
            continue
    return total / os.sysconf("SC_CLK_TCK")


# --- from Python ----------------------------------------------------------------------------------


def press(after, times=1):
    """A function for `progress` that presses Ctrl-C when so many steps are done."""

    def progress(done, total):
        if done >= after:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    return progress


@pytest.mark.parametrize("how", [{"step": 0.01}, {"rtol": 1e-9, "max_step": 0.01}])
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_loop_of_runs_with_the_trajectory_so_far(how, times):
    before = signal.getsignal(signal.SIGINT)
    runs = []
    with pytest.raises(KeyboardInterrupt) as told:
        for _ in range(3):
            runs.append(
                polhode.integrate(
                    [1, 2, 3], "heavy_top", (0, 200), progress=press(50, times), **how, **START
                )
            )
    kept = told.value.trajectory
    assert (
        not runs
        and kept.status == "interrupted"
        and kept.steps >= 50
        and len(kept) == kept.steps + 1
    )
    whole = polhode.integrate([1, 2, 3], "heavy_top", (0, 200), **how, **START)
    assert (
        np.array_equal(kept.motion, whole.motion[: len(kept)])
        and signal.getsignal(signal.SIGINT) is before
    )
    if times == 1:
        assert str(told.value) == kept.message and "interrupted after" in kept.message


def test_a_second_ctrl_c_ends_a_torque_that_never_returns(tmp_path):
    code = """
        import os, signal, polhode
        hung = {"t": 0.5}

        def torque(t, R):
            while t > hung["t"]:
                os.write(1, b".")   # someone presses Ctrl-C, again and again
            return [0.0, 0.0, 0.1]

        try:
            polhode.integrate([1, 2, 3], torque, (0, 1), 0.01, omega0=(0, 0, 1))
        except KeyboardInterrupt as error:
            os.write(1, f"kept {len(error.trajectory)} points".encode())
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE
    )
    for _ in range(2):
        assert process.stdout.read(1) == b"."
        process.send_signal(signal.SIGINT)
        # more than a pipe holds: the signal has been noticed since
        rest = process.stdout.read(2**18)
    rest += process.communicate()[0]
    assert process.returncode == 0 and 2 <= int(rest.rpartition(b"kept ")[2].split()[0]) <= 51


class Pressed:
    """A torque in Python that is interrupted in its n-th call, as where a signal arrives in it."""

    def __init__(self, n):
        self.left = n

    def __call__(self, t, R):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return [0.0, 0.1, R[2, 2]]


def steps_one_by_one(torque):
    stepper = polhode.Stepper([1, 2, 3], torque, step=0.1, **START)
    while True:
        stepper.step()


SPAN, FEW = (0, 5), {"methods": ["NMB", "DP5@rtol"], **START}
DOORS = {
    "step": steps_one_by_one,
    "steps": lambda torque: polhode.Stepper([1, 2, 3], torque, step=0.1, **START).step(1000),
    "ensemble": lambda torque: polhode.ensemble([1, 2, 3], torque, (0, 50), 0.1, n=3, **START),
    "reference": lambda torque: polhode.exact.reference([1, 2, 3], [0, 1], torque=torque, **START),
    "compare": lambda torque: polhode.compare([1, 2, 3], torque, SPAN, errors=[1e-2], **FEW),
    "advise": lambda torque: polhode.advise([1, 2, 3], torque, SPAN, error=1e-2, **FEW),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("calls", [1, 30, 400])
def test_ctrl_c_inside_a_torque_is_no_error_of_the_torque(door, calls):
    with pytest.raises(KeyboardInterrupt):
        DOORS[door](Pressed(calls))


def test_ctrl_c_ends_a_stepper_that_was_asked_for_too_much():
    stepper = polhode.Stepper([1, 2, 3], step=0.1, **START)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            stepper.step(10**15)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    again = polhode.Stepper([1, 2, 3], step=0.1, **START)
    again.step(round(stepper.t / 0.1))
    assert again.t == stepper.t and np.array_equal(again.quaternion, stepper.quaternion)
