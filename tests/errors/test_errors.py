"""Errors are part of the product: every one names the value, the rule and the way out, and ends
with a documented exit code.

`errors/commands.py` lists what people type, `errors/calls.py` and `errors/systems.py` what they call, `errors/states.py`
what happens to a machine in some state.  Together they reach every place in the source that makes
an error, save those of `ELSEWHERE`, which are tried where such a state is made with more care.
"""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import files
import inventory
from calls import CALLS
from commands import COMMANDS, SCENARIOS
from states import STATES
from many_systems import MANY_SYSTEMS
from systems import SYSTEMS

from polhode.cli import app, exit_codes
from polhode.errors import PolhodeError

TESTS = Path(__file__).parents[1]
ELSEWHERE = {  # "file function": the test that makes its errors, and words of them that stand there
    "engine/checkpoint.py _check_space": ("test_checkpoint.py", "GB are free; store fewer"),
    "engine/checkpoint.py _lock": ("test_checkpoint.py", "is being computed by another process"),
    "engine/checkpoint.py _trouble": ("test_checkpoint.py", "was deleted during the run"),
    "cli/commands/run.py _save": ("test_checkpoint.py", "Nothing is lost:"),
    "engine/carriers/gpu.py __init__": ("gpu_checks.py", "that can be compiled"),
    "engine/carriers/gpu.py check_shapes": ("gpu_checks.py", "has shape"),
    "engine/carriers/gpu.py _fits": ("gpu_checks.py", "bytes each need"),
    "support/on_device.py require": ("test_cuda.py", "needs a CUDA GPU"),
    "support/on_device.py _adopted": ("gpu_checks.py", "and the run is on GPU"),
    "exact/_reference.py reference": ("test_exact_top.py", "not smooth"),
    "bodies/mesh.py _check_closed": ("test_mesh.py", "without area"),
    "bodies/mesh.py _check_parts": ("test_mesh.py", "parts is inside out"),
    "support/atomic.py written_whole": ("test_cli.py", "has appeared during the run"),
    "io/store.py make_report_folder": ("test_others_files.py", "which polhode did not write"),
    "io/formats/zarr.py check_owned": ("test_others_files.py", "which is not part of a Zarr"),
    "show/play/work.py progress": ("test_play.py", "as long as the playground"),
    "studies/c_code/compiler.py build": ("test_certify_c.py", "does not compile with"),
    "studies/c_code/_load.py _of_library": ("test_certify_c.py", "has none of the functions"),
    "studies/c_code/_load.py _by_hand": (
        "test_certify_c.py",
        "it is how many numbers the step remembers",
    ),
    "engine/ensemble/inputs.py method_of": (
        "test_certify_c.py",
        "machine code of doubles for this processor",
    ),
    "studies/sweep/cluster.py connect": ("test_sweep.py", "no Dask scheduler answers"),
    "studies/sweep/_sweep.py _run": ("test_sweep.py", "would make others"),
    "studies/sweep/sweep_store.py check": ("test_sweep.py", "another sweep: "),
}


def said(arguments):
    """(exit code, message) of a command line."""
    result = CliRunner().invoke(app, arguments, prog_name="polhode")
    return result.exit_code, result.stderr.strip()


def faults(what, message, code, *expected):
    """What is wrong with a message: the way out comes after what is wrong, behind a semicolon."""
    value, way_out, wanted = expected
    flat = " ".join(message.split())
    found = [f"lacks {part!r}" for part in (value, way_out) if " ".join(part.split()) not in flat]
    if not found and not flat.find(" ".join(way_out.split())) > flat.find("; ") >= 0:
        found.append(f"does not end with a way out, {way_out!r}")
    if code != wanted:
        found.append(f"exit code {code}, not {wanted}")
    return (
        [f"{what}: {', '.join(found)}: {message[:200]}"] if found or "Traceback" in message else []
    )


def told(what, call, value, way_out):
    """What is wrong with the error of a call."""
    try:
        call()
    except PolhodeError as error:
        return faults(what, str(error), 0, value, way_out, 0)
    return [f"{what} for {value!r} was not refused"]


@pytest.mark.filterwarnings("ignore")
def test_every_error_names_the_value_the_rule_and_the_way_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files.make()
    wrong, reached = [], set()
    with inventory.watched(reached):
        for changes, value, way_out, *code in SCENARIOS:
            Path("case.toml").write_text(files.scenario(changes))
            exit_code, message = said(["run", "case.toml"])
            wrong += faults(
                changes, message, exit_code, value, way_out, *(code or [exit_codes.BAD_INPUT])
            )
        for line, value, way_out, *code in COMMANDS:
            exit_code, message = said(shlex.split(line))
            wrong += faults(
                line, message, exit_code, value, way_out, *(code or [exit_codes.BAD_INPUT])
            )
        for number, (call, value, way_out) in enumerate([*CALLS, *SYSTEMS, *MANY_SYSTEMS]):
            wrong += told(f"call {number}", call, value, way_out)
        for changes, call, value, way_out in STATES:
            with pytest.MonkeyPatch.context() as patch:
                for change in changes:
                    patch.setattr(*change)
                wrong += told(f"state of {value!r}", call, value, way_out)
    assert not wrong, "\n".join(wrong)
    missed = [site for site in inventory.sites() if not inventory.is_reached(site, reached)]
    unknown = [str(site) for site in missed if site.place not in ELSEWHERE]
    assert not unknown, "add a case to tests/errors for:\n" + "\n".join(unknown)
    assert set(ELSEWHERE) <= {site.place for site in missed}, "these need no excuse any more"


@pytest.mark.parametrize("place", ELSEWHERE)
def test_what_is_excused_is_looked_at_elsewhere(place):
    name, words = ELSEWHERE[place]
    assert any(words in site.text for site in inventory.sites() if site.place == place), (
        "no error says so"
    )
    assert words in next(TESTS.rglob(name)).read_text("utf-8").replace("\\", ""), (
        "no test looks for it"
    )


# --- exit codes -----------------------------------------------------------------------------------


def test_the_exit_codes_are_documented_as_they_are():
    text = (TESTS.parent / "docs" / "reference" / "exit-codes.rst").read_text("utf-8")
    listed = {
        int(code): what
        for code, what in re.findall(
            r"^\* - ``(\d+)``\n  - (.+)$",
            text.replace("   * -", "* -").replace("     - ", "  - "),
            re.MULTILINE,
        )
    }
    assert listed == exit_codes.EXIT_CODES
    shown = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    assert all(f"{code} {what}" in shown for code, what in exit_codes.EXIT_CODES.items())


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), exit_codes.INTERRUPTED, "interrupted"),
        (
            MemoryError("no room"),
            exit_codes.BAD_INPUT,
            "more memory than there is (no room); store less",
        ),
        (
            PermissionError(13, "Permission denied", "a.nc"),
            exit_codes.BAD_INPUT,
            "Permission denied ('a.nc'); free some space",
        ),
        (
            ZeroDivisionError("division by zero"),
            exit_codes.BUG,
            "this is a bug in polhode, ZeroDivisionError: division by zero.",
        ),
    ],
)
def test_no_traceback_is_shown_whatever_happens(monkeypatch, error, code, words):
    def fail(*_):
        raise error

    monkeypatch.setattr("polhode.methods.everything", fail)
    found, message = said(["methods"])
    assert found == code and words in " ".join(message.split()) and "Traceback" not in message


def test_a_bug_can_be_looked_into(monkeypatch):
    monkeypatch.setenv("POLHODE_DEBUG", "1")
    monkeypatch.setattr("polhode.methods.everything", lambda: 1 / 0)
    result = CliRunner().invoke(app, ["methods"])
    assert isinstance(result.exception, ZeroDivisionError)
