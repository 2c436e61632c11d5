"""`polhode plot`."""

from pathlib import Path
from typing import Annotated

import typer

from polhode.cli.options import FIGURE_FORMATS, AsJson, Force
from polhode.cli.terminal import print_path

GROUP = "First steps"
OF_ONE, OF_SEVERAL = ("overview", "polhode", "flip"), ("errors", "drift")


def plot(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN.nc", help="A stored run; errors and drift take several."),
    ],
    kind: Annotated[
        str, typer.Option(help="overview, errors, drift, polhode or flip.")
    ] = "overview",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A .png, .pdf or .svg file; default: RUN-KIND.png."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Draw a figure of stored runs."""
    from polhode.errors import InputError, unknown
    from polhode.io import store
    from polhode.io.read import as_any_run
    from polhode.show import plots
    from polhode.support.regular import file_path

    if kind not in OF_ONE + OF_SEVERAL:
        raise unknown("kind of figure", kind, OF_ONE + OF_SEVERAL)
    if kind in OF_ONE and len(runs) > 1:
        several = " and ".join(OF_SEVERAL)
        raise InputError(
            f"the figure {kind!r} is of one run, got {len(runs)}; {several} take several"
        )
    output = output or file_path(runs[0]).with_name(f"{runs[0].stem}-{kind}.png")
    store.check_output(output, FIGURE_FORMATS, force)
    records = [as_any_run(path) for path in runs]
    getattr(plots, kind)(records if kind in OF_SEVERAL else records[0], output)
    print_path("Figure", output, as_json)
