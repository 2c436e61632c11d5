"""What `polhode run` is to do: a new run, or the rest of an interrupted one.

An unfinished run is kept in the folder FILE.part, next to the output FILE.
"""

import itertools
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polhode.cli.terminal import print_error
from polhode.engine.checkpoint import STANDARD, Checkpoint
from polhode.engine.checkpoint_files import occupied, read_run, usable_states
from polhode.errors import InputError, difference, nearest
from polhode.io import read, store
from polhode.io.scenario._load import Scenario, make_scenario, read_source
from polhode.loads._system import System
from polhode.support import provenance
from polhode.support.regular import file_path

SUFFIX = ".part"  # of the folder of an unfinished run
Settings = Sequence[Sequence[str]]  # (option, text)
NUMBERS = 26  # that the finished file has for each point, at most
OF_SYSTEM, OF_BODY = 11, 22  # the same of a system: for all bodies, and for each
STORED = {  # what the folder says about the command that began the run
    "scenario", "data", "settings", "torque_file", "folder", "format", "force", "every", "command",
    "title",
}  # fmt: skip


@dataclass
class RunTask:
    """A run: what to integrate, and where the result goes."""

    job: Scenario
    target: Path | None
    format: str | None
    force: bool
    command: str
    checkpoint: Checkpoint | None = None


# --- a new run --------------------------------------------------------------------------------


def new_run(
    scenario: str | None,
    output: Path | None,
    torque_file: str | None,
    every: str | None,
    force: bool,
    settings: Settings,
) -> RunTask:
    """Return a run from its beginning."""
    if scenario is None:
        raise InputError(
            "the scenario is missing; give one, as in `polhode run SCENARIO.toml`, or a problem, as in "
            "`polhode run slow-top`, or continue an interrupted run, as in `polhode run --resume FILE`"
        )
    data, path = read_source(scenario)
    job = make_scenario(data, path, torque_file, settings)
    target, format = (output, None) if output else (job.output, job.format)
    if target:
        store.check(target, format, force)
    command = _command("run", scenario, torque_file=torque_file, settings=settings)
    task = RunTask(job, target, format, force, command)
    if every is not None and not target:
        raise InputError(f"--checkpoint {every} needs an output file; give one with -o FILE")
    if not target:
        return task
    about = {
        "scenario": str(scenario),
        "data": data,
        "settings": settings,
        "torque_file": torque_file,
        "folder": os.getcwd(),
        "format": format,
        "force": force,
        "every": every,
        "command": task.command,
        "title": job.title,
    }
    checkpoint = _make_checkpoint(target, STANDARD if every is None else every, about, job.body)
    if occupied(checkpoint.folder):
        if not force:
            raise _unfinished_run_error(
                target, _how_to_restart(target, scenario, torque_file, every, settings)
            )
        checkpoint.clear()
    if every is not None:
        task.checkpoint = checkpoint
    return task


def _unfinished_run_error(target: Path, restart: str) -> InputError:
    """Return the error for a new run where an unfinished one is in the way."""
    folder = _part_folder(target)
    about, identity = (read_run(folder, restart)[key] for key in ("about", "identity"))
    usable_states(folder, restart)
    here = provenance.environment()
    elsewhere = difference({key: identity.get(key) for key in here}, here)
    if elsewhere:
        resume = f"continue where it was started ({elsewhere})"
    elif about.keys() >= STORED:
        resume = f"continue with `{_resume_command(target, _path_from_here(about, 'torque_file'))}`"
    else:
        resume = "let the program that started it continue"
    return InputError(f"an unfinished run is in {str(folder)!r}; {resume}, or {restart}")


# --- the rest of a run ------------------------------------------------------------------------


def resumed_run(
    file: Path,
    scenario: str | None,
    output: Path | None,
    torque_file: str | None,
    every: str | None,
    force: bool,
    settings: Settings,
) -> RunTask:
    """Return the rest of an unfinished run."""
    if settings:
        raise InputError(
            f"a run continues with the settings that it was started with, got {settings[0][0]}; drop it, "
            "or start a new run"
        )
    target = file_path(file)
    target = target.with_name(target.name.removesuffix(SUFFIX))
    folder = _part_folder(target)
    if output and Path(output) != target:
        raise InputError(
            f"the run in {str(folder)!r} will be stored as {str(target)!r}, got -o {str(output)!r}; "
            "leave that out"
        )
    if not occupied(folder):
        raise _nothing_to_resume_error(target, scenario, torque_file)
    restart = _how_to_restart(target, scenario or "SCENARIO.toml", torque_file, every or STANDARD)
    about = read_run(folder, restart)["about"]
    if not about.keys() >= STORED:
        raise InputError(
            f"the run in {str(folder)!r} was started by a Python program; make the same call again there"
        )
    begun = _resume_command(target, _path_from_here(about, "torque_file"))
    if (
        torque_file is None and about["torque_file"]
    ):  # only files named in this command are executed
        raise InputError(
            f"the torque of the run in {str(folder)!r} is Python code, which is run only where it is "
            f"named; write: {begun}"
        )
    if scenario is None:
        data, path = about["data"], Path(about["folder"]) / about["scenario"]
    else:
        data, path = read_source(scenario)
    job = make_scenario(data, path, torque_file, about["settings"])
    force = force or about["force"]
    if target.exists() and not force:
        raise InputError(
            f"{str(target)!r} exists, and the run in {str(folder)!r} will be stored there; move it away, or "
            f"overwrite it with `{_resume_command(target, torque_file)} --force`"
        )
    store.check(target, about["format"], force)
    about_now = about | {"torque_file": torque_file}
    checkpoint = _make_checkpoint(
        target, every or about["every"], about_now, job.body, scenario, begun
    )
    return RunTask(job, target, about["format"], force, about["command"], checkpoint)


def _nothing_to_resume_error(
    target: Path, scenario: str | None, torque_file: str | None
) -> InputError:
    """Return the error for a run that left no folder, only perhaps its file."""
    source, folder = scenario or "SCENARIO.toml", str(_part_folder(target))
    if not target.exists():
        folders = target.absolute().parent.glob(f"*{SUFFIX}")
        unfinished = [path.name.removesuffix(SUFFIX) for path in folders if occupied(path)]
        begin = _command(
            "run", source, "-o", target, "--checkpoint", STANDARD, torque_file=torque_file
        )
        return InputError(
            f"there is no unfinished run {folder!r}{nearest(target.name, unfinished)}; start one "
            f"with `{begin}`"
        )
    try:
        facts = read.contents(target)[1]
    except InputError:
        begin = _command("run", source, "-o", target, "--force", torque_file=torque_file)
        return InputError(
            f"there is no unfinished run {folder!r}, and {str(target)!r} is not a run that can be read; "
            f"overwrite it with `{begin}`"
        )
    if facts.get("status") in ("finished", "event"):
        return InputError(
            f"the run in {str(target)!r} is finished ({facts.get('message', 'it reached its end')}), so "
            f"nothing is left to do; see it with `{_command('info', target)}`"
        )
    words = _split_command(facts.get("command"))  # polhode run SCENARIO.toml ...
    if scenario or words[:2] != ["polhode", "run"]:
        words = shlex.split(_command("run", source, torque_file=torque_file))
    again = shlex.join([*words, "-o", str(target), "--checkpoint", STANDARD, "--force"])
    reason = facts.get("message", "for an unknown reason")
    if facts.get("status") != "interrupted":
        return InputError(
            f"the run in {str(target)!r} failed ({reason}), and would again; use a smaller step or "
            f"another method and run it with `{again}`, which overwrites it"
        )
    return InputError(
        f"the run in {str(target)!r} ended early ({reason}), and it was made without --checkpoint, so that "
        f"it cannot be continued; run it again with `{again}`, which overwrites it"
    )


# --- what both need ---------------------------------------------------------------------------


def _make_checkpoint(
    target: Path,
    every: str,
    about: dict[str, Any],
    body: Any,
    scenario: str | None = None,
    begun: str | None = None,
) -> Checkpoint:
    """Return the checkpoint of a run; scenario and command are by default those that began it."""
    torque_file = about["torque_file"]
    resume = _resume_command(target, torque_file)
    restart = _how_to_restart(
        target,
        scenario or _path_from_here(about, "scenario"),
        torque_file,
        every,
        about["settings"],
    )
    return Checkpoint(
        _part_folder(target),
        every,
        about | {"resume": resume},
        f"continue with `{resume}`",
        restart,
        OF_SYSTEM + OF_BODY * len(body) if isinstance(body, System) else NUMBERS,
        print_error,
        f"continue with `{begun or resume}`",
    )


def _part_folder(target: Path) -> Path:
    return target.with_name(target.name + SUFFIX)


def _command(*words: object, torque_file: str | None = None, settings: Settings = ()) -> str:
    """Return a command as it is typed."""
    torque = ["--torque-file", str(torque_file)] if torque_file else []
    return shlex.join(["polhode", *map(str, words), *itertools.chain(*settings), *torque])


def _resume_command(target: Path, torque_file: str | None) -> str:
    return _command("run", "--resume", target, torque_file=torque_file)


def _how_to_restart(
    target: Path,
    scenario: str | None,
    torque_file: str | None,
    every: str | None,
    settings: Settings = (),
) -> str:
    """Return what to do to begin again, in words."""
    checkpoint = ["--checkpoint", every] if every else []
    words = ("run", scenario, "-o", target, *checkpoint, "--force")
    command = _command(*words, torque_file=torque_file, settings=settings)
    return f"start again with `{command}`, which deletes the run in {str(_part_folder(target))!r}"


def _split_command(command: str | None) -> list[str]:
    """Return the words of a command that a file holds; none if it cannot be split."""
    try:
        return shlex.split(command or "")
    except ValueError:  # a quotation without end
        return []


def _path_from_here(about: dict[str, Any], key: str) -> str | None:
    """Return a file that the run was begun with, as it is found from the current folder."""
    path, folder = about[key], Path(about["folder"])
    return path and str(path if folder == Path.cwd() else folder / path)
