"""The notice that something is being compiled: on a real terminal, and nowhere else."""

import contextlib
import os
import pty
import subprocess
import sys

import pytest

pytestmark = pytest.mark.compiled

AT_ONCE = "from polhode.core import notice\nnotice.DELAY = 0.0\n"
PROGRAM = (
    AT_ONCE
    + """
import polhode

run = polhode.integrate([1, 2, 3], t_span=(0, 1), step=0.1, method="VLV", omega0=(0, 1, 0))
print(run.status)
"""
)
COMMAND = (
    AT_ONCE
    + """
import sys
from polhode.cli import main

sys.argv[1:] = ["run", "free-body", "--method", "VLV", "--json"]
main()
"""
)
WORKER = (
    AT_ONCE
    + """
import multiprocessing
import polhode

def work():
    polhode.integrate([1, 2, 3], t_span=(0, 1), step=0.1, method="VLV", omega0=(0, 1, 0))

worker = multiprocessing.get_context("fork").Process(target=work)
worker.start()
worker.join()
print("finished" if worker.exitcode == 0 else "failed")
"""
)


@pytest.fixture
def cold(tmp_path):
    """The environment of a process that finds no machine code."""
    return os.environ | {"POLHODE_CACHE_DIR": str(tmp_path / "cold"), "TERM": "xterm"}


def on_terminal(code, environment):
    """What a program writes to stdout, and to a terminal as stderr."""
    inner, outer = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=outer, env=environment
    )
    os.close(outer)
    shown = b""
    with contextlib.suppress(OSError):  # the other side is closed
        while more := os.read(inner, 100_000):
            shown += more
    os.close(inner)
    out = process.communicate()[0].decode()
    assert process.returncode == 0, shown
    return out, shown.decode()


def test_compiling_shows_a_line_that_goes_again(cold):
    out, shown = on_terminal(PROGRAM, cold)
    assert out == "finished\n"
    text = "compiling VLV for this torque ..."
    assert f"| {text}" in shown
    assert len({shown[found - 2] for found in places(shown, text)}) > 1  # the spinner turns
    assert shown.endswith("\r") and "\n" not in shown
    assert not shown.rpartition(text)[2].strip(" \r")  # blanks are written over it


def places(text, part):
    found = text.find(part)
    while found >= 0:
        yield found
        found = text.find(part, found + 1)


def test_commands_show_it_in_their_progress_bar(cold):
    out, shown = on_terminal(COMMAND, cold)
    assert '"status": "finished"' in out and "compiling" not in out
    assert "compiling VLV for this torque ..." in shown


@pytest.mark.parametrize("code", [PROGRAM, COMMAND], ids=["python", "command"])
def test_nothing_is_shown_without_a_terminal(cold, code):
    done = subprocess.run([sys.executable, "-c", code], env=cold, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and "finished" in done.stdout


def test_worker_processes_are_silent(cold):
    assert on_terminal(WORKER, cold) == ("finished\n", "")


def test_nothing_is_shown_on_a_terminal_that_cannot_go_back(cold):
    assert on_terminal(PROGRAM, cold | {"TERM": "dumb"}) == ("finished\n", "")
