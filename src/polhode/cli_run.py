"""The command `polhode run`: a scenario, or the rest of one that was cut short."""

import contextlib
import os
import shlex
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polhode import provenance
from polhode.checkpoint import STANDARD, Checkpoint, is_checkpoint, read_run
from polhode.cli import (
    FINE, INTERRUPTED, NUMERICAL_FAILURE, complain, print_json, print_summary, progress_bar,
)
from polhode.errors import InputError, IntegrationError
from polhode.io import config, store

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
    except IntegrationError as error:
        if error.trajectory is None:
            raise
        return error.trajectory, NUMERICAL_FAILURE, str(error)
    codes = {"interrupted": INTERRUPTED, "blow-up": NUMERICAL_FAILURE}
    return trajectory, codes.get(trajectory.status, FINE), trajectory.message


def _save(task, trajectory):
    try:   # what a kill leaves of the file goes with the folder of the run
        store.save(trajectory, task.target, task.format, task.force, workshop=task.checkpoint and task.checkpoint.folder)
    except InputError as error:
        if task.checkpoint:
            raise InputError(f"{error}.  Nothing is lost: {task.checkpoint.again}") from error
        place = _rescued(task, trajectory)
        kept = f"Nothing is lost: the motion is in {place}" if place else "The motion is lost"
        raise InputError(f"{error}.  {kept}") from error


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
        raise InputError("a scenario is missing: give one, as in `polhode run SCENARIO.toml`, or go on with a run that was cut "
                         "short, as in `polhode run --resume FILE`")
    job = config.load(scenario, torque_file)
    target, format = (output, None) if output else (job.output, job.format)
    if target:
        store.check(target, format, force)
    chosen = ["--torque-file", str(torque_file)] if torque_file else []
    task = Task(job, target, format, force, shlex.join(["polhode", "run", str(scenario), *chosen]))
    if every is None:
        return task
    if not target:
        raise InputError(f"--checkpoint {every} needs a file that the run is to become: give one with -o FILE")
    folder = _folder(target)
    about = {"scenario": str(scenario), "text": Path(scenario).read_text(encoding="utf-8-sig"), "torque_file": torque_file,
             "folder": os.getcwd(), "format": format, "force": force, "every": every, "command": task.command, "title": job.title}
    task.checkpoint = _checkpoint(target, every, about)
    if is_checkpoint(folder):
        if not force:
            raise InputError(f"an unfinished run is in {str(folder)!r}; {task.checkpoint.again}, or start anew with --force")
        task.checkpoint.clear()
    return task


def _rest(file, scenario, output, torque_file, every, force):
    """What is left of a run."""
    target = Path(file)
    target = target.with_name(target.name.removesuffix(SUFFIX))
    folder = _folder(target)
    if output and Path(output) != target:
        raise InputError(f"the run in {str(folder)!r} is to become {str(target)!r}, got -o {str(output)!r}; leave that out")
    if not folder.is_dir():
        finished = f"; {str(target)!r} is there: that run is finished" if target.exists() else ""
        raise InputError(f"there is no unfinished run {str(folder)!r}{finished}; begin one with `polhode run SCENARIO.toml -o "
                         f"{target} --checkpoint {STANDARD}`")
    about = read_run(folder)["about"]
    if not about.keys() >= KEPT:
        raise InputError(f"the run in {str(folder)!r} was begun by a Python program: let that make the same call again")
    if torque_file is None and about["torque_file"]:   # no file but one that is named here is ever run
        raise InputError(f"the torque of the run in {str(folder)!r} is Python code, which is run only where it is named: "
                         f"{_resume(target, about['torque_file'])}")
    if scenario is None:
        place = Path(about["folder"]) / about["scenario"]
        job = config.scenario(tomllib.loads(about["text"]), place, torque_file)
    else:
        job = config.load(scenario, torque_file)
    force = force or about["force"]
    store.check(target, about["format"], force)
    return Task(job, target, about["format"], force, about["command"], _checkpoint(target, every or about["every"], about))


def _folder(target):
    return target.with_name(target.name + SUFFIX)


def _resume(target, torque_file):
    """The command that goes on."""
    return shlex.join(["polhode", "run", "--resume", str(target), *(["--torque-file", torque_file] if torque_file else [])])


def _checkpoint(target, every, about):
    resume = _resume(target, about["torque_file"])
    return Checkpoint(_folder(target), every, about | {"resume": resume}, f"go on with `{resume}`", NUMBERS, complain)
