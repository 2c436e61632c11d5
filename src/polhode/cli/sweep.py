"""The command `polhode sweep`: a bar for the whole sweep, a table, and how to go on when it was cut short."""

from pathlib import Path

from polhode.cli._app import (
    CLUSTER_LOST, FINE, INTERRUPTED, NUMERICAL_FAILURE, complain, print_json, print_summary, progress_bar,
)
from polhode.errors import ClusterError
from polhode.studies.sweep._sweep import Sweep, sweep
from polhode.studies.sweep.store import is_store


def run(source, out, cluster, workers, chunk, wait, force, as_json):
    """Sweep, print; the exit code."""
    out = out or Path(f"{source.stem}.zarr")
    try:
        with progress_bar("starting the cluster" if cluster is None else "connecting") as bar:
            result = sweep(source, out, cluster=cluster, workers=workers, chunk=chunk, wait=wait, force=force,
                           progress=lambda done, total: bar(done, total, f"{total} bodies"))
    except KeyboardInterrupt:
        complain(f"interrupted; {so_far(out)}")
        return INTERRUPTED
    except ClusterError as error:
        complain(f"{error}; {so_far(out)}")
        return CLUSTER_LOST
    summary = result.summary()
    if as_json:
        print_json(summary)
    else:
        print_summary(source.stem, {key: value for key, value in summary.items() if key != "failures"})
    if summary["failed"]:
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary["failures"].items())
        complain(f"{summary['failed']} of {summary['n']} bodies failed ({reasons}), the others finished; take a smaller step or "
                 "another method for them: the variable status says which they are")
        return NUMERICAL_FAILURE
    return FINE


def so_far(out):
    """What is kept, and how to go on."""
    if not is_store(out):
        return "nothing was stored yet"
    store = Sweep(out).store
    return f"{store.done()} of {len(store.boxes)} chunks are in {out}, and the same command (without --force) goes on from there"
