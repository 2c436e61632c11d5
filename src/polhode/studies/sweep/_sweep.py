"""The front door of sweeps."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never

from polhode.errors import (
    InputError,
    brief,
    flag,
    check_options,
    number,
    reporter,
    shows_options,
    whole,
)
from polhode.loads._system import System
from polhode.support.regular import file_path
from polhode.studies.sweep import cluster as clusters
from polhode.studies.sweep import plan as plans
from polhode.studies.sweep import sweep_store as stores

if TYPE_CHECKING:
    from xarray import Dataset


@shows_options()
def sweep(
    source: str | PathLike[str] | dict[str, Any],
    out: str | PathLike[str] | None = None,
    *,
    cluster: str | None = None,
    workers: int = 1,
    chunk: int | None = None,
    wait: float = 30.0,
    force: bool = False,
    progress: Callable[[int, int], Any] | None = None,
    **misspelt: Never,
) -> Sweep:
    """Run a scenario over a grid of its values, or over random ones, on this machine or on a Dask
    cluster.

    Each body has the results of the scenario with its values written into it, bit for bit, with any
    number of workers and chunks.  They are written to a Zarr store chunk by chunk.  The same call
    continues a sweep that was interrupted.

    A script that calls this without a `cluster` needs the usual ``if __name__ == "__main__":``,
    since worker processes import it.

    Parameters
    ----------
    source : path or dict
        A scenario with a section [sweep], as a TOML file or as its contents; see
        `polhode.studies.sweep.axes`.
    out : path, optional
        The store; by default the name of the file with the suffix .zarr, in the current folder.
    cluster : str, optional
        The address of a Dask scheduler, such as ``"tcp://host:8786"``.  By default a cluster is
        started on this machine.
    workers : int
        Processes of a cluster on this machine.  One is best: it uses all processors by threads.
    chunk : int, optional
        Largest number of bodies in a chunk; chosen from the size of the sweep, the threads and the
        memory of the workers by default.
    wait : float
        Seconds to wait for a scheduler that does not answer, or for workers if there are none.
    force : bool
        Start again even if the store contains this sweep or another one.
    progress : function, optional
        Called as progress(bodies done, bodies in all).

    Returns
    -------
    Sweep

    Examples
    --------
    >>> import tempfile
    >>> tops = {"problem": "krysl/slow-top", "sweep": {"initial.omega.2": [1.0, 5.0, 25.0], "run.step": [0.05, 0.025]}}
    >>> result = sweep(tops, tempfile.mkdtemp() + "/tops.zarr")           # doctest: +SKIP
    >>> result.to_xarray().energy_error.dims                             # doctest: +SKIP
    ('run.step', 'initial.omega.2')
    """
    check_options(sweep, misspelt)
    if isinstance(source, System):
        raise InputError(
            f"a sweep varies the values of a scenario, a file or a dict, got {brief(source)}; loop over polhode.integrate, "
            "or give many initial motions to polhode.ensemble"
        )
    stores.import_libraries()
    workers, force = whole("workers", workers, 1), flag("force", force)
    tell = reporter(progress, "progress(done, total)")
    wait = number("wait", wait, positive=True)
    plan = plans.load(source)
    if out is None:
        if isinstance(source, dict):
            raise InputError('out is missing; name the store, such as out="sweep.zarr"')
        out = f"{Path(source).stem}.zarr"
    out = file_path(out)
    if chunk is not None:
        plan.chunk_shape(None, chunk)
    stores.check(out, plan, force)
    return _run(plan, out, clusters.Cluster(cluster, workers, wait), chunk, force, tell)


def _run(plan, out, cluster, chunk, force, progress):
    started = time.monotonic()
    with cluster:
        if force or not out.exists():
            if chunk is None:
                cluster.connect()
            store = stores.create(
                out,
                plan,
                plan.chunk_shape(chunk is None and cluster.describe_workers(), chunk),
                force,
            )
        else:
            store = stores.Store(out)
            if chunk is not None and plan.chunk_shape(None, chunk) != store.chunk_shape:
                raise InputError(
                    f"{str(out)!r} has chunks of shape {store.chunk_shape}, and chunk={chunk} would make others; "
                    "leave it out to go on, or start anew with force"
                )
        finished = store.finished()
        done = resumed = sum(store.bodies_in(number) for number in finished)
        progress(done, plan.n)
        known = set(finished)
        todo = [number for number in range(len(store.boxes)) if number not in known]
        for number, (values, _) in clusters.results(
            cluster, plan.source, plan.digest, store.boxes, todo
        ):
            store.write(number, values)
            done += store.bodies_in(number)
            progress(done, plan.n)
    seconds = time.monotonic() - started
    body_steps = (done - resumed) * plan.mean_steps
    rate = body_steps / seconds
    return Sweep(out, {"seconds": seconds, "resumed": len(finished), "body_steps_per_s": rate})


class Sweep:
    """The store of a sweep, finished or not.

    Parameters
    ----------
    path : path
        A store that `sweep` has made.
    run : mapping
        What is known of the run that has just ended, for the summary.
    """

    def __init__(
        self, path: str | PathLike[str], run: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        path = file_path(path)
        if not stores.is_store(path):
            raise InputError(
                f"{str(path)!r} is not the store of a sweep; give what `polhode sweep --output` wrote"
            )
        self.store, self._run = stores.Store(path, "r"), run

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.store.path

    @property
    def n(self) -> int:
        """How many bodies."""
        return self.store.n

    def to_xarray(self) -> Dataset:
        """An xarray Dataset: a dimension for each axis of the grid, `sample` for what was drawn;
        read when needed."""
        import xarray as xr

        return xr.open_zarr(self.path)

    def summary(self) -> dict[str, Any]:
        """The sweep in a few plain numbers, as `polhode sweep --json` prints them."""
        counts = self.store.counts()
        finished, pending = counts.pop("finished", 0), counts.pop("pending", 0)
        return {
            "store": str(self.path),
            "n": self.n,
            "finished": finished,
            "failed": sum(counts.values()),
            "failures": counts,
            "pending": pending,
            "chunks": len(self.store.boxes),
            "done": self.store.done(),
            **self._run,
        }

    def __repr__(self) -> str:
        return f"<Sweep: {self.n} bodies, {self.store.done()} of {len(self.store.boxes)} chunks done, {self.path}>"
