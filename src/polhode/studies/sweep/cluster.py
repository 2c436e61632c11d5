"""The chunks of a sweep on dask.distributed.

The workers compute, and the client writes: only the client needs to see the store.  It has a few
chunks under way for each worker and no more, so that its memory does not grow with the sweep.  A
worker that dies is Dask's business, which gives its chunk to another.  When the scheduler is lost,
the client connects again, or starts its own cluster again, and gives out anew what had not come
back; after a while without a scheduler or without workers it gives up.
"""

import contextlib
import logging
import time
from concurrent.futures import CancelledError
from typing import NamedTuple

from polhode.engine.carriers.threads import default_threads
from polhode.errors import ClusterError, InputError
from polhode.studies.sweep.sweep_store import import_libraries
from polhode.studies.sweep.task import compute

POLL = 1.0  # seconds between looks at the cluster while nothing comes
UNDER_WAY = 2  # chunks for each thread of the workers: one in work, one waiting
START = "start one on each node: dask worker {} --nworkers 1 --nthreads 1"


class Workers(NamedTuple):
    """How many there are, threads of one at the most, bytes of memory of the smallest."""

    processes: int
    threads: int
    memory: int


class Cluster:
    """A scheduler and its workers: one of our own, or that at an address.

    Parameters
    ----------
    address : str or None
    workers : int
        Processes of a cluster of our own.
    wait : float
        Seconds of patience with a scheduler that does not answer, and with a cluster that has no
        workers.
    """

    def __init__(self, address, workers, wait):
        self.address, self.workers, self.wait = address, workers, wait
        self.own = self.client = None
        self._silent = contextlib.ExitStack()

    def __enter__(self):
        from distributed.utils import silence_logging_cmgr

        # what matters is told in exceptions
        self._silent.enter_context(silence_logging_cmgr(logging.CRITICAL))
        return self

    def __exit__(self, *_):
        self.leave()
        self._silent.close()

    def leave(self):
        """Let go of the cluster, whatever state it is in."""
        self.client, self.own = _close(self.client), _close(self.own)

    def check(self):
        """Refuse an address that is none: a Client that cannot be made leaves tracebacks behind."""
        from distributed.comm.addressing import get_address_host_port, normalize_address

        try:
            get_address_host_port(normalize_address(self.address), strict=True)
        except ValueError as error:
            raise InputError(
                f"{self.address!r} is not the address of a scheduler ({error}); write tcp://host:8786, for "
                "example"
            ) from error

    def connect(self):
        """Begin, or begin anew."""
        self.leave()
        if self.address is not None:
            self.check()
        _, distributed = import_libraries()
        self.threads = None
        if self.address is None:
            self.threads = max(1, default_threads() // self.workers)
            self.own = distributed.LocalCluster(
                n_workers=self.workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
                preload=["polhode.studies.sweep.task"],
            )
        until = time.monotonic() + self.wait
        while self.client is None:
            left = max(POLL, until - time.monotonic())
            try:
                self.client = distributed.Client(
                    self.own or self.address, timeout=left, set_as_default=False
                )
                self.client.wait_for_workers(1, timeout=left)
            except TimeoutError as error:
                if self.client is None:
                    raise ClusterError(
                        f"no Dask scheduler answers at {self.address} within {self.wait:g} s; "
                        "start it with: dask scheduler"
                    ) from error
                raise ClusterError(
                    f"the Dask scheduler at {self.address} has had no workers for {self.wait:g} s; "
                    + START.format(self.address)
                ) from error
            except OSError as error:
                if time.monotonic() > until:
                    raise ClusterError(
                        f"no Dask scheduler answers at {self.address}: {error}; "
                        "start it with: dask scheduler"
                    ) from error
                # a scheduler that goes down, or comes up, resets connections
                self.client = _close(self.client)
                time.sleep(0.1 * POLL)

    def describe_workers(self):
        """The workers there are now."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [one["memory_limit"] for one in workers if one["memory_limit"]]
        threads = self.threads or max(self.client.run(default_threads).values(), default=1)
        return Workers(max(1, len(workers)), threads, min(limits, default=2**32))


def _close(part):
    """Close a client or a cluster, which may be broken, and have None in its place."""
    if part is not None:
        with contextlib.suppress(Exception):
            part.close(timeout=2)


def results(cluster, source, digest, boxes, todo):
    """Yield (number, what `task.compute` gave) for the chunks `todo`, as they come."""
    todo, lost = dict.fromkeys(todo), None
    while todo:
        came = 0
        try:
            if cluster.client is None:
                cluster.connect()
            for number, result in _submit_chunks(
                cluster, source, digest, boxes, list(reversed(todo))
            ):
                came += 1
                del todo[number]
                yield number, result
        except (CancelledError, OSError) as error:  # CommClosedError is an OSError
            if came == 0 and lost is not None:  # twice in a row with nothing done
                raise ClusterError(
                    f"the cluster was lost twice before any chunk came back: {error}; see its logs, and "
                    "run it again"
                ) from error
            lost = error if came == 0 else None
            cluster.leave()


def _submit_chunks(cluster, source, digest, boxes, todo):
    client, running, idle_since = cluster.client, {}, None
    distributed = import_libraries()[1]
    try:
        while todo or running:
            threads = sum(client.nthreads().values())
            while todo and len(running) < UNDER_WAY * max(1, threads):
                number = todo.pop()
                name = f"polhode-{digest[:16]}-{number}"
                running[
                    client.submit(compute, source, digest, boxes[number], cluster.threads, key=name)
                ] = number
            idle_since = None if threads else idle_since or time.monotonic()
            if idle_since and time.monotonic() - idle_since > cluster.wait:
                raise ClusterError(
                    f"the cluster has had no workers for {cluster.wait:g} s; "
                    + START.format(client.scheduler.address)
                )
            with client.as_current(), contextlib.suppress(TimeoutError):
                distributed.wait(list(running), timeout=POLL, return_when="FIRST_COMPLETED")
            for future in [one for one in running if one.status != "pending"]:
                number = running.pop(future)
                yield number, _outcome(future, distributed)
    finally:
        for future in running:
            future.release()


def _outcome(future, distributed):
    try:
        return future.result(timeout=60)
    except distributed.KilledWorker as error:
        raise ClusterError(
            f"{error.allowed_failures + 1} workers died at the same chunk, the last at "
            f"{error.last_worker.address}; give them more memory, or use smaller chunks"
        ) from error
