"""`polhode ensemble`."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from polhode.cli.completion import complete_method
from polhode.cli.exit_codes import INTERRUPTED, NUMERICAL_FAILURE
from polhode.cli.options import AsJson, Force, Problem, TorqueFile
from polhode.cli.progress import progress_bar
from polhode.cli.terminal import print_error, print_json, print_summary, print_warning

GROUP = "Many bodies"
REASONS = {
    "diverged": "its motion is no longer finite, or turns further in a step than a double can tell",
    "unsolved": "the equation of the step has no solution that Newton's method finds",
}


def ensemble(
    problem: Problem,
    n: Annotated[
        int | None, typer.Option("--n", help="Number of bodies, instead of the scenario's.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    threads: Annotated[
        int | None, typer.Option(help="Threads; one per processor by default.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="A method, instead of the scenario's.", autocompletion=complete_method),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the bodies to a file, such as FILE.nc."),
    ] = None,
    torque_file: TorqueFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Run many bodies of a scenario at once; its section \\[ensemble] says how they differ."""
    import polhode
    from polhode.errors import InputError
    from polhode.io import store
    from polhode.io.scenario._load import make_scenario, read_source
    from polhode.io.scenario.ensembles import arguments
    from polhode.support import provenance

    job = make_scenario(*read_source(problem), torque_file)
    if n is not None and n < 1:
        raise InputError(
            f"--n must be a whole number of bodies, at least 1, got {n}; write --n 1000"
        )
    if output:
        store.check(output, None, force, ensembles=True)
    options = arguments(job, n)
    if method is not None:
        options["method"] = method
    try:
        with progress_bar("starting") as bar:
            result = polhode.ensemble(
                **options,
                device=device,
                dtype=dtype,
                threads=threads,
                progress=lambda done, total: bar(done, total, f"{options['n']} bodies"),
            )
    except KeyboardInterrupt as interrupt:
        partial = getattr(interrupt, "ensemble", None)
        if partial is None:  # nothing was computed yet
            raise
        result = partial
    result.title = job.title
    provenance.note_command(_command(problem, torque_file, n, method))
    if output:
        result.save(output, force=force)
    summary = result.summary() | {"output": os.fspath(output) if output else None}
    if as_json:
        print_json(summary)
    else:
        print_summary(
            job.title, {key: value for key, value in summary.items() if key != "failures"}
        )
    if result.error_estimate and result.error_estimate.advice:
        print_warning(result.error_estimate.advice)
    if result.interrupted:
        print_error(result.message)
        raise typer.Exit(INTERRUPTED)
    if result.failures:
        first = result.failures[0]
        rest = "The others finished" if len(result.failures) < result.n else "None finished"
        print_error(
            f"{len(result.failures)} of {result.n} bodies failed; the first is body {first.body}, in step "
            f"{first.step} from t = {first.t:.15g}: {REASONS.get(first.reason, first.reason)}.  {rest}; use "
            "a smaller step, a slower body or another method"
        )
        raise typer.Exit(NUMERICAL_FAILURE)


def _command(problem: str, torque_file: str | None, n: int | None, method: str | None) -> str:
    """Return the command with the options that say what is computed.

    Device and type of the numbers are stored beside it.
    """
    options = {"--torque-file": torque_file, "--n": n, "--method": method}
    given = [str(word) for option in options.items() if option[1] is not None for word in option]
    return shlex.join(["polhode", "ensemble", problem, *given])
