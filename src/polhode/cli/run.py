"""The command `polhode run`: a scenario, or the rest of one that was cut short."""

import contextlib
import os
import shlex
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polhode.support import provenance
from polhode.engine.checkpoint import STANDARD, Checkpoint, occupied, read_run, usable_states
from polhode.cli._app import BAD_INPUT, FINE, INTERRUPTED, NUMERICAL_FAILURE, complain, print_json, print_summary, progress_bar
from polhode.errors import InputError, IntegrationError, PolhodeError, difference, nearest
from polhode.io import config, read, store
from polhode.support.regular import named

FIGURES = ("png", "pdf", "svg")
SUFFIX = ".part"   # of the folder of an unfinished run, next to the file it is to become
NUMBERS = 26       # that the finished file has for each point, at most
KEPT = {"scenario", "text", "torque_file", "folder", "format", "force", "every", "command", "title"}   # in that folder


@dataclass
class Task:
    """What is to be done."""

    job: Any
    target: Path | None
    format: str | None
    force: bool
    command: str
    checkpoint: Checkpoint | None = None


def run(scenario, output, plot, torque_file, checkpoint, resume, force, as_json):
    """Run, store, print; the exit code."""
    if resume:
        task = _rest(resume, scenario, output, torque_file, checkpoint, force)
    else:
        task = _whole(scenario, output, torque_file, checkpoint, force)
    if plot:
        store.check(plot, None, force, FIGURES)
    provenance.note_command(task.command)
    trajectory, code, message = follow(task)
    if code == INTERRUPTED and task.checkpoint:
        message += f"; {task.checkpoint.again}"
        if as_json:
            print_json({"status": trajectory.status, "message": message, "steps": trajectory.steps, "output": None})
        complain(message)
        return code
    if task.target:
        if code and task.target.exists():   # --force is for a run that reaches its end: one that does not replaces nothing
            task.target = _beside(task.target)
        _save(task, trajectory)
        message += f" (what was computed is in {task.target})"
    if plot:
        trajectory.plot(path=plot)
    summary = trajectory.summary() | {"output": str(task.target) if task.target else None}
    if task.checkpoint:
        task.checkpoint.remove()
    print_json(summary) if as_json else print_summary(task.job.title, summary)
    if code:
        complain(message)
    return code


def follow(task):
    """Run a scenario: the trajectory, whole or not, the exit code and what to say about it."""
    name = task.job.method.name
    try:
        with progress_bar(f"{name}: compiling") as bar:
            trajectory = task.job.integrate(lambda done, total: bar(done, total, name), task.checkpoint)
    except (PolhodeError, KeyboardInterrupt) as error:
        trajectory = getattr(error, "trajectory", None)
        kept = isinstance(error, InputError) and task.checkpoint is not None and task.checkpoint.intact
        if trajectory is None or kept:
            raise
        if task.checkpoint is not None and not task.checkpoint.folder.is_dir():
            task.checkpoint = None   # it is gone
        codes = ((KeyboardInterrupt, INTERRUPTED), (IntegrationError, NUMERICAL_FAILURE), (PolhodeError, BAD_INPUT))
        return trajectory, next(code for kind, code in codes if isinstance(error, kind)), trajectory.message
    return trajectory, NUMERICAL_FAILURE if trajectory.status == "blow-up" else FINE, trajectory.message


def _save(task, trajectory):
    try:   # what a kill leaves of the file goes with the folder of the run
        store.save(trajectory, task.target, task.format, task.force, workshop=task.checkpoint and task.checkpoint.folder)
    except InputError as error:
        if task.checkpoint:
            raise InputError(f"{error}.  Nothing is lost: {task.checkpoint.again}") from error
        place = _rescued(task, trajectory)
        kept = f"Nothing is lost: the motion is in {place}" if place else "The motion is lost"
        raise InputError(f"{error}.  {kept}") from error


def _beside(target):
    """A name next to the target that nothing bears yet."""
    names = (target.with_name(f"{target.stem}-cut-short{number}{target.suffix}") for number in ("", *range(2, 10**6)))
    return next(name for name in names if not name.exists())


def _rescued(task, trajectory):
    """Where a motion went that could not be stored where it should; None: nowhere."""
    name = f"{task.target.stem}-{os.getpid()}{task.target.suffix}"
    for folder in (task.target.parent, Path(tempfile.gettempdir())):
        with contextlib.suppress(InputError):
            return store.save(trajectory, folder / name, task.format)
    return None


def _whole(scenario, output, torque_file, every, force):
    """A run from its beginning."""
    if scenario is None:
        raise InputError("a scenario is missing; give one, as in `polhode run SCENARIO.toml`, or go on with a run that was cut "
                         "short, as in `polhode run --resume FILE`")
    job = config.load(scenario, torque_file)
    target, format = (output, None) if output else (job.output, job.format)
    if target:
        store.check(target, format, force)
    task = Task(job, target, format, force, _typed("run", scenario, torque_file=torque_file))
    if every is not None and not target:
        raise InputError(f"--checkpoint {every} needs a file that the run is to become; give one with -o FILE")
    if not target:
        return task
    about = {"scenario": str(scenario), "text": Path(scenario).read_text(encoding="utf-8-sig"), "torque_file": torque_file,
             "folder": os.getcwd(), "format": format, "force": force, "every": every, "command": task.command, "title": job.title}
    checkpoint = _checkpoint(target, STANDARD if every is None else every, about)
    if occupied(checkpoint.folder):
        if not force:
            _refuse_to_begin(target, _anew(target, scenario, torque_file, every))
        checkpoint.clear()
    if every is not None:
        task.checkpoint = checkpoint
    return task


def _refuse_to_begin(target, anew):
    """Say what to do about an unfinished run where another is to begin."""
    about, identity = (read_run(_folder(target), anew)[key] for key in ("about", "identity"))
    usable_states(_folder(target), anew)
    here = provenance.environment()
    elsewhere = difference({key: identity.get(key) for key in here}, here)
    again = f"go on with `{_resume(target, _found(about, 'torque_file'))}`" if about.keys() >= KEPT else "let what began it go on"
    if elsewhere:
        again = f"go on where it was begun ({elsewhere})"
    raise InputError(f"an unfinished run is in {str(_folder(target))!r}; {again}, or {anew}")


def _rest(file, scenario, output, torque_file, every, force):
    """What is left of a run."""
    target = named(file)
    target = target.with_name(target.name.removesuffix(SUFFIX))
    folder = _folder(target)
    anew = _anew(target, scenario or "SCENARIO.toml", torque_file, every or STANDARD)
    if output and Path(output) != target:
        raise InputError(f"the run in {str(folder)!r} is to become {str(target)!r}, got -o {str(output)!r}; leave that out")
    if not occupied(folder):
        raise _nothing_to_go_on(target, scenario, torque_file)
    about = read_run(folder, anew)["about"]
    if not about.keys() >= KEPT:
        raise InputError(f"the run in {str(folder)!r} was begun by a Python program; let that make the same call again")
    if torque_file is None and about["torque_file"]:   # no file but one that is named here is ever run
        raise InputError(f"the torque of the run in {str(folder)!r} is Python code, which is run only where it is named; write: "
                         f"{_resume(target, _found(about, 'torque_file'))}")
    if scenario is None:
        place = Path(about["folder"]) / about["scenario"]
        job = config.scenario(tomllib.loads(about["text"]), place, torque_file)
    else:
        job = config.load(scenario, torque_file)
    force = force or about["force"]
    if target.exists() and not force:
        raise InputError(f"{str(target)!r} exists, and the run in {str(folder)!r} is to become it; move it away, or overwrite it "
                         f"with `{_resume(target, torque_file)} --force`")
    store.check(target, about["format"], force)
    begun = _resume(target, _found(about, "torque_file"))
    checkpoint = _checkpoint(target, every or about["every"], about | {"torque_file": torque_file}, scenario, begun)
    return Task(job, target, about["format"], force, about["command"], checkpoint)


def _nothing_to_go_on(target, scenario, torque_file):
    """The error for a run that cannot go on because there is no trace of it but perhaps its file."""
    if not target.exists():
        unfinished = [path.name.removesuffix(SUFFIX) for path in target.absolute().parent.glob(f"*{SUFFIX}") if occupied(path)]
        begin = _typed("run", scenario or "SCENARIO.toml", "-o", target, "--checkpoint", STANDARD, torque_file=torque_file)
        return InputError(f"there is no unfinished run {str(_folder(target))!r}{nearest(target.name, unfinished)}; begin one "
                          f"with `{begin}`")
    try:
        facts = read.contents(target)[1]
    except InputError:
        begin = _typed("run", scenario or "SCENARIO.toml", "-o", target, "--force", torque_file=torque_file)
        return InputError(f"there is no unfinished run {str(_folder(target))!r}, and {str(target)!r} is no run that can be read; "
                          f"overwrite it with `{begin}`")
    if facts.get("status") in ("finished", "event"):
        return InputError(f"the run in {str(target)!r} is finished ({facts.get('message', 'it reached its end')}), and nothing "
                          f"is left to do; see it with `{_typed('info', target)}`")
    begun = _words(facts.get("command"))   # polhode run SCENARIO.toml ...
    if scenario or begun[:2] != ["polhode", "run"]:
        begun = shlex.split(_typed("run", scenario or "SCENARIO.toml", torque_file=torque_file))
    again = shlex.join([*begun, "-o", str(target), "--checkpoint", STANDARD, "--force"])
    if facts.get("status") != "interrupted":
        return InputError(f"the run in {str(target)!r} failed ({facts.get('message', 'nobody knows why')}), and would again; "
                          f"take a smaller step or another method and run it with `{again}`, which overwrites it")
    return InputError(f"the run in {str(target)!r} ended early ({facts.get('message', 'nobody knows why')}), and it was made "
                      f"without --checkpoint, so that nothing can go on from there; run it again with `{again}`, "
                      "which overwrites it")


def _words(command):
    """The words of a command that a file notes; none where it is no command."""
    try:
        return shlex.split(command or "")
    except ValueError:   # a quotation without end
        return []


def _folder(target):
    return target.with_name(target.name + SUFFIX)


def _typed(*words, torque_file=None):
    """A command as it is typed."""
    return shlex.join(["polhode", *map(str, words), *(["--torque-file", str(torque_file)] if torque_file else [])])


def _resume(target, torque_file):
    """The command that goes on."""
    return _typed("run", "--resume", target, torque_file=torque_file)


def _anew(target, scenario, torque_file, every):
    """What to do to begin again, in words."""
    often = ["--checkpoint", every] if every else []
    command = _typed("run", scenario, "-o", target, *often, "--force", torque_file=torque_file)
    return f"begin again with `{command}`, which deletes the run in {str(_folder(target))!r}"


def _found(about, key):
    """A file that the run was begun with, as it is found from here."""
    return about[key] and str(about[key] if Path(about["folder"]) == Path.cwd() else Path(about["folder"]) / about[key])


def _checkpoint(target, every, about, scenario=None, begun=None):
    """Of a run that is to become `target`; scenario and command are those that began it where no others are given."""
    resume = _resume(target, about["torque_file"])
    anew = _anew(target, scenario or _found(about, "scenario"), about["torque_file"], every)
    return Checkpoint(_folder(target), every, about | {"resume": resume}, f"go on with `{resume}`", anew, NUMBERS, complain,
                      f"go on with `{begun or resume}`")
