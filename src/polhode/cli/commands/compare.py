"""`polhode compare`."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from polhode.cli.completion import complete_family, complete_methods
from polhode.cli.exit_codes import INTERRUPTED
from polhode.cli.options import FAMILIES, FIGURE_FORMATS, AsJson, Force, Problem, TorqueFile
from polhode.cli.progress import progress_bar
from polhode.cli.terminal import make_console, make_table, print_error, print_json

GROUP = "Methods"
COLUMNS = {
    "method": "method",
    "slope": "order",
    "setting": "step",
    "steps": "steps",
    "evaluations": "torques",
    "seconds": "time [µs]",
    "energy": "energy",
    "momentum": "momentum",
}


def compare(
    problem: Problem,
    methods: Annotated[
        str | None,
        typer.Option(help="Names separated by commas, or all.", autocompletion=complete_methods),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(help=f"All methods of a family: {FAMILIES}.", autocompletion=complete_family),
    ] = None,
    errors: Annotated[str, typer.Option(help="Target errors.")] = "1e-3,1e-6,1e-9",
    until: Annotated[float | None, typer.Option(help="End the span at this time.")] = None,
    currency: Annotated[
        str | None, typer.Option(help="Draw one panel: evaluations, steps or seconds.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Draw the curves: .png, .pdf, .svg.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page with figure and sortable table.")
    ] = None,
    torque_file: TorqueFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare methods at many step sizes with the exact solution or a reference.

    What does accuracy cost, in torque evaluations, steps and seconds?
    """
    from polhode.io import store
    from polhode.studies.compare import entries
    from polhode.studies.compare._compare import check_errors
    from polhode.studies.compare.as_task import as_task

    given = None if methods is None else methods.split(",")
    entries.select(given, family)  # what is wrong with them shows first
    goals = check_errors(parse_errors(errors))
    task = as_task(problem, torque_file=torque_file).until(until)
    names = [entry.name for entry in entries.select_for(task, given, family)]
    for path, formats in ((output, FIGURE_FORMATS), (html, ("html",))):
        if path:
            store.check_output(path, formats, force)
    comparison = _measure(task, names, goals)
    if comparison.curves and output:
        comparison.figure(output, currency)
    if comparison.curves and html:
        comparison.html(html)
    if as_json:
        print_json(comparison.to_dict())
    elif comparison.curves:
        print_comparison(comparison)
    if comparison.interrupted:
        print_error(f"interrupted after {len(comparison.curves)} of {len(names)} methods")
        raise typer.Exit(INTERRUPTED)


def parse_errors(text: str) -> list[float]:
    """Return the numbers of a list with commas."""
    from polhode.errors import InputError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"--errors must be numbers separated by commas, got {text!r}; write --errors 1e-3,1e-6"
        ) from None


def _measure(task: Any, names: list[str], errors: Any) -> Any:
    """Return the comparison, measured by several processes; Ctrl-C keeps the finished methods."""
    import polhode

    with progress_bar("finding the truth") as bar:

        def report(done: int, total: int, name: str) -> None:
            bar(done, total, f"measured {name}")

        cores = os.cpu_count() or 1
        try:
            return polhode.compare(
                task, methods=names, errors=errors, processes=cores, progress=report
            )
        except KeyboardInterrupt as error:
            if not hasattr(error, "comparison"):
                raise
            return error.comparison


# --- tables -----------------------------------------------------------------------------------


def print_comparison(comparison: Any) -> None:
    """Print a ranking for each error, and notes on the methods."""
    console = make_console()
    for error in comparison.errors:
        console.print(ranking_table(comparison, error))
    for curve in comparison.curves:
        if curve.note:
            console.print(Text.assemble((curve.name, "yellow"), f": {curve.note}"))


def ranking_table(comparison: Any, error: float) -> Table:
    """Return the methods in the order of the time they take to reach an error."""
    from polhode.show.view._comparison import describe_measurement, format_cell

    table = make_table(
        *((title, "left" if key == "method" else "right") for key, title in COLUMNS.items())
    )
    table.title = f"{escape(comparison.title)}: to an error of {error:g}"
    if error == comparison.errors[-1]:
        table.caption = describe_measurement(comparison)
    for row in comparison.ranking(error):
        if row["seconds"] is None:
            best = "" if row["best_error"] is None else f"[dim]best {row['best_error']:.1e}"
            table.add_row(f"[dim]{escape(row['method'])}", format_cell(row, "slope"), best)
        else:
            cells = [format_cell(row, key) for key in COLUMNS if key != "method"]
            table.add_row(f"[cyan]{escape(row['method'])}", *cells)
    return table
