"""The fast part of the matrix of tests/project/machines.py: rounding, instructions and letters unlike those
of this machine."""

import subprocess
import sys
from pathlib import Path

import pytest
from machines import CELLS, ROOT

SCRIPT = Path(__file__).with_name("machines.py")


def machines(*arguments):
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )


@pytest.mark.compiled
@pytest.mark.parametrize("cell", ["blas-nehalem", "numba-generic", "ascii"])
def test_cell(cell, tmp_path):
    done = machines("--quick", "--workers=0", f"--place={tmp_path}", cell)
    assert done.returncode == 0, done.stdout + done.stderr
    if "skipped" in done.stdout:
        pytest.skip(done.stdout.splitlines()[-1])


def test_the_matrix_can_be_listed_and_a_wrong_name_is_refused():
    listed = machines("--list", "blas", "lowest")
    assert listed.returncode == 0 and len(listed.stdout.splitlines()) == 5
    assert machines("blass").returncode == 1


def test_the_tests_of_the_quick_form_are_there():
    named = {test for cell in CELLS.values() for test in cell.quick}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *sorted(named)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
