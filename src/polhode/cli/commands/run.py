"""`polhode run`."""

import contextlib
import itertools
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polhode.cli.completion import complete_method
from polhode.cli.exit_codes import BAD_INPUT, FINE, INTERRUPTED, NUMERICAL_FAILURE
from polhode.cli.options import FIGURE_FORMATS, AsJson, Force, ProblemOrNone, TorqueFile
from polhode.cli.progress import progress_bar
from polhode.cli.terminal import print_error, print_json, print_summary

if TYPE_CHECKING:
    from polhode.cli.run_task import RunTask

GROUP = "First steps"
MOST_ROWS = 4  # of a matrix in the summary
SETTINGS = "Settings, in place of what the scenario says"


def run(
    problem: ProblemOrNone = None,
    method: Annotated[
        str | None,
        typer.Option(help="The method.", autocompletion=complete_method, rich_help_panel=SETTINGS),
    ] = None,
    step: Annotated[
        float | None, typer.Option(help="The size of a step.", rich_help_panel=SETTINGS)
    ] = None,
    rtol: Annotated[
        float | None,
        typer.Option(help="A tolerance in place of a step.", rich_help_panel=SETTINGS),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any key of a scenario file, as in run.every=10 or initial.omega.2=50; may be repeated.",
            rich_help_panel=SETTINGS,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write the motion to a file, such as FILE.nc or FILE.csv."
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw an overview: .png, .pdf or .svg.")] = None,
    torque_file: TorqueFile = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="EVERY",
            help="Save the state to disk, so that the run can be resumed after a crash: "
            "every so many steps, or 30s, 5min, 1h.",
        ),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Resume the unfinished run of FILE.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Run a scenario or a problem of the papers, or resume an interrupted run."""
    from polhode.cli.run_task import new_run, resumed_run
    from polhode.io import store
    from polhode.support import provenance

    short = {"--method": method, "--step": step, "--rtol": rtol}
    settings = [(option, str(value)) for option, value in short.items() if value is not None]
    settings += [("--set", text) for text in assignments or ()]
    if resume:
        task = resumed_run(resume, problem, output, torque_file, checkpoint, force, settings)
    else:
        task = new_run(problem, output, torque_file, checkpoint, force, settings)
    if plot:
        store.check_output(plot, FIGURE_FORMATS, force)
    provenance.note_command(task.command)
    trajectory, code, message = _integrate(task)
    if code == INTERRUPTED and task.checkpoint:
        message += f"; {task.checkpoint.again}"
        if as_json:
            report = {"status": trajectory.status, "message": message, "steps": trajectory.steps}
            print_json(report | {"output": None})
        print_error(message)
        raise typer.Exit(code)
    if task.target:
        if (
            code and task.target.exists()
        ):  # --force lets a run replace a file only when it is complete
            task.target = _unused_name(task.target)
        _save(task, task.target, trajectory)
        message += f" (the results so far are in {task.target})"
    if plot:
        trajectory.plot(path=plot)
    summary = trajectory.summary() | {"output": str(task.target) if task.target else None}
    if task.checkpoint:
        task.checkpoint.remove()
    if as_json:
        print_json(summary)
    else:
        print_summary(task.job.title, {key: _shown(value) for key, value in summary.items()})
    if code:
        print_error(message)
        raise typer.Exit(code)


def _integrate(task: "RunTask") -> tuple[Any, int, str]:
    """Return the trajectory, complete or not, the exit code and the message."""
    from polhode.errors import InputError, IntegrationError, PolhodeError

    name = task.job.method.name
    try:
        with progress_bar(name) as bar:
            trajectory = task.job.integrate(
                lambda done, total: bar(done, total, name), task.checkpoint
            )
    except (PolhodeError, KeyboardInterrupt) as error:
        partial = getattr(error, "trajectory", None)
        kept = (
            isinstance(error, InputError) and task.checkpoint is not None and task.checkpoint.intact
        )
        if partial is None or kept:
            raise
        if task.checkpoint is not None and not task.checkpoint.folder.is_dir():
            task.checkpoint = None  # the folder was deleted during the run
        codes = {
            KeyboardInterrupt: INTERRUPTED,
            IntegrationError: NUMERICAL_FAILURE,
            PolhodeError: BAD_INPUT,
        }
        code = next(code for kind, code in codes.items() if isinstance(error, kind))
        return partial, code, partial.message
    code = NUMERICAL_FAILURE if trajectory.status == "blow-up" else FINE
    return trajectory, code, trajectory.message


def _save(task: "RunTask", target: Path, trajectory: Any) -> None:
    """Write the file; if that fails, write the motion elsewhere and say where."""
    from polhode.errors import InputError
    from polhode.io import store

    # A file left half-written by a crash is deleted with the checkpoint's folder.
    folder = task.checkpoint.folder if task.checkpoint else None
    try:
        store.save(trajectory, target, task.format, task.force, folder=folder)
    except InputError as error:
        if task.checkpoint:
            raise InputError(f"{error}.  Nothing is lost: {task.checkpoint.again}") from error
        path = _save_elsewhere(task, target, trajectory)
        kept = f"Nothing is lost: the motion is in {path}" if path else "The motion is lost"
        raise InputError(f"{error}.  {kept}") from error


def _save_elsewhere(task: "RunTask", target: Path, trajectory: Any) -> Path | None:
    """Write the motion beside its target or into the folder for temporary files; None if neither works."""
    from polhode.errors import InputError
    from polhode.io import store

    name = f"{target.stem}-{os.getpid()}{target.suffix}"
    for folder in (target.parent, Path(tempfile.gettempdir())):
        with contextlib.suppress(InputError):
            return store.save(trajectory, folder / name, task.format)
    return None


def _shown(value: Any) -> Any:
    """Return a value of the summary, or how many rows it has where those of all bodies are too many to read."""
    is_long = isinstance(value, list) and len(value) > MOST_ROWS
    return f"{len(value)} rows (--json prints them)" if is_long else value


def _unused_name(target: Path) -> Path:
    """Return a name next to the target that no file has yet."""
    numbers = itertools.chain([""], itertools.count(2))
    names = (
        target.with_name(f"{target.stem}-cut-short{number}{target.suffix}") for number in numbers
    )
    return next(path for path in names if not path.exists())
