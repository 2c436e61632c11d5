"""`polhode sweep`."""

from pathlib import Path
from typing import Annotated

import typer

from polhode.cli.exit_codes import CLUSTER_LOST, INTERRUPTED, NUMERICAL_FAILURE
from polhode.cli.options import AsJson
from polhode.cli.progress import progress_bar
from polhode.cli.terminal import print_error, print_json, print_summary

GROUP = "Many bodies"


def sweep(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SWEEP.toml", help="A scenario; its section \\[sweep] defines what varies."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="STORE.zarr",
            help="The store; default: SWEEP.zarr in this folder.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Address of a Dask scheduler; default: this machine."),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Processes on this machine; each has several threads.")
    ] = 1,
    chunk: Annotated[
        int | None, typer.Option(help="Bodies per chunk; default: chosen by memory.")
    ] = None,
    wait: Annotated[
        float, typer.Option(help="Seconds to wait for a lost scheduler or for workers.")
    ] = 30.0,
    force: Annotated[
        bool, typer.Option("--force", help="Delete what is stored and start again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a scenario over many values, on a cluster; the same command resumes an interrupted sweep."""
    import polhode
    from polhode.errors import ClusterError

    output = output or Path(f"{source.stem}.zarr")
    try:
        with progress_bar("starting the cluster" if cluster is None else "connecting") as bar:
            result = polhode.sweep(
                source,
                output,
                cluster=cluster,
                workers=workers,
                chunk=chunk,
                wait=wait,
                force=force,
                progress=lambda done, total: bar(done, total, f"{total} bodies"),
            )
    except KeyboardInterrupt:
        print_error(f"interrupted; {_stored_so_far(output)}")
        raise typer.Exit(INTERRUPTED) from None
    except ClusterError as error:
        print_error(f"{error}; {_stored_so_far(output)}")
        raise typer.Exit(CLUSTER_LOST) from None
    summary = result.summary()
    if as_json:
        print_json(summary)
    else:
        print_summary(
            source.stem, {key: value for key, value in summary.items() if key != "failures"}
        )
    if summary["failed"]:
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary["failures"].items())
        print_error(
            f"{summary['failed']} of {summary['n']} bodies failed ({reasons}), the others finished; use a "
            "smaller step or another method for them: the variable status says which they are"
        )
        raise typer.Exit(NUMERICAL_FAILURE)


def _stored_so_far(output: Path) -> str:
    """Return what is stored, and how to resume."""
    from polhode.studies.sweep._sweep import Sweep
    from polhode.studies.sweep.sweep_store import is_store

    if not is_store(output):
        return "nothing has been stored yet"
    store = Sweep(output).store
    return (
        f"{store.done()} of {len(store.boxes)} chunks are in {output}, and the same command "
        "(without --force) continues from there"
    )
