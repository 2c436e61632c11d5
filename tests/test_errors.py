"""Errors are part of the product: every one names the value, the rule and the way out, and ends with a documented exit code.

`errors/commands.py` lists what people type, `errors/calls.py` what they call; together they reach every place in the source that
makes an error, save those of `ELSEWHERE`, which need a machine in some state and are tried where that is made.
"""

import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "errors"))

import files   # noqa: E402
import inventory   # noqa: E402
from calls import CALLS   # noqa: E402
from commands import COMMANDS, SCENARIOS   # noqa: E402

from polhode import cli   # noqa: E402
from polhode.errors import PolhodeError   # noqa: E402

ELSEWHERE = {   # "file function": where its errors are made and looked at
    "adaptive.py": "test_adaptive.py", "advise/__init__.py advise": "test_advise.py", "certify/trial.py step": "test_certify.py",
    "checkpoint.py": "test_checkpoint.py", "cli_run.py": "test_checkpoint.py", "compare/runner.py": "test_compare.py",
    "cli_reproduce.py writable": "test_reproduce.py", "ensemble/gpu.py": "gpu_checks.py",
    "ensemble/inputs.py _from": "test_ensemble.py",
    "ensemble/measure.py of_function": "test_ensemble.py", "exact/free_body.py in_your_units": "test_exact_free.py",
    "exact/reference.py": "test_exact_top.py", "io/config.py": "test_config.py", "io/mesh.py": "test_mesh.py",
    "io/mesh_file.py": "test_mesh.py", "io/read.py _archive": "test_hostile.py", "io/store.py": "test_cli.py",
    "io/trees.py need": "test_packaging.py", "limits.py": "test_integrate.py", "march.py torque_trouble": "test_integrate.py",
    "play/server.py __init__": "test_play.py", "play/work.py progress": "test_play.py", "references.py": "test_documents.py",
    "run.py _check_torque": "test_integrate.py", "stepper.py": "test_stepper.py", "sweep/cluster.py": "test_sweep.py",
    "sweep/run.py": "test_sweep.py", "sweep/plan.py": "test_sweep.py", "sweep/store.py": "test_sweep.py",
    "sweep/task.py": "test_sweep.py", "view/page.py save": "test_view.py", "view/shapes.py _checked": "test_view.py",
}


def said(arguments):
    """(exit code, message) of a command line."""
    result = CliRunner().invoke(cli.app, arguments)
    return result.exit_code, result.stderr.strip()


def faults(what, message, code, *expected):
    """What is wrong with a message."""
    value, way_out, wanted = expected
    flat = " ".join(message.split())
    found = [f"lacks {part!r}" for part in (value, way_out) if " ".join(part.split()) not in flat]
    if code != wanted:
        found.append(f"exit code {code}, not {wanted}")
    return [f"{what}: {', '.join(found)}: {message[:200]}"] if found or "Traceback" in message else []


@pytest.mark.filterwarnings("ignore")
def test_every_error_names_the_value_the_rule_and_the_way_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files.make()
    wrong, reached = [], set()
    with inventory.watched(reached):
        for changes, value, way_out, *code in SCENARIOS:
            Path("case.toml").write_text(files.scenario(changes))
            exit_code, message = said(["run", "case.toml"])
            wrong += faults(changes, message, exit_code, value, way_out, *(code or [cli.BAD_INPUT]))
        for line, value, way_out, *code in COMMANDS:
            exit_code, message = said(shlex.split(line))
            wrong += faults(line, message, exit_code, value, way_out, *(code or [cli.BAD_INPUT]))
        for number, (call, value, way_out) in enumerate(CALLS):
            try:
                call()
            except PolhodeError as error:
                wrong += faults(f"call {number}", str(error), 0, value, way_out, 0)
            else:
                wrong.append(f"call {number} for {value!r} was not refused")
    assert not wrong, "\n".join(wrong)
    excused = [key for site in inventory.sites() for key in (site.file, f"{site.file} {site.function}")]
    missed = [str(site) for site in inventory.sites()
              if not inventory.is_reached(site, reached) and not {site.file, f"{site.file} {site.function}"} & set(ELSEWHERE)]
    assert not missed, "add a case to tests/errors for:\n" + "\n".join(missed)
    assert set(ELSEWHERE) <= set(excused), "these make no errors any more"
    assert all((HERE / name).is_file() for name in ELSEWHERE.values())


# --- exit codes ---------------------------------------------------------------------------------------------------------------

def test_the_exit_codes_are_documented_as_they_are():
    text = (HERE.parent / "docs" / "reference" / "exit-codes.rst").read_text("utf-8")
    listed = {int(code): what for code, what in re.findall(r"^\* - ``(\d+)``\n  - (.+)$", text.replace("   * -", "* -")
                                                          .replace("     - ", "  - "), re.MULTILINE)}
    assert listed == cli.EXIT_CODES
    shown = " ".join(CliRunner().invoke(cli.app, ["--help"]).stdout.split())
    assert all(f"{code} {what}" in shown for code, what in cli.EXIT_CODES.items())


@pytest.mark.parametrize(("error", "code", "words"), [
    (KeyboardInterrupt(), cli.INTERRUPTED, "interrupted"),
    (MemoryError("no room"), cli.BAD_INPUT, "more memory than there is (no room); store less"),
    (PermissionError(13, "Permission denied", "a.nc"), cli.BAD_INPUT, "Permission denied ('a.nc'); free the place"),
    (ZeroDivisionError("division by zero"), cli.BUG, "this is a bug of polhode, ZeroDivisionError: division by zero."),
])
def test_no_traceback_is_shown_whatever_happens(monkeypatch, error, code, words):
    def fail(*_):
        raise error

    monkeypatch.setattr("polhode.methods.everything", fail)
    found, message = said(["methods"])
    assert found == code and words in " ".join(message.split()) and "Traceback" not in message


def test_a_bug_can_be_looked_into(monkeypatch):
    monkeypatch.setenv("POLHODE_DEBUG", "1")
    monkeypatch.setattr("polhode.methods.everything", lambda: 1 / 0)
    result = CliRunner().invoke(cli.app, ["methods"])
    assert isinstance(result.exception, ZeroDivisionError)
