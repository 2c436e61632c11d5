"""The work of `polhode reproduce`: items of papers, computed by several processes."""

import multiprocessing
import os
import queue
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from polhode.studies.processes import ignore_interrupts
from polhode.cli.progress import Bar, progress_bar
from polhode.papers._store import compute, stored_result
from polhode.support.atomic import partial_path

PROCESSES = 2  # items at a time; each of them uses one core

Record = dict[str, Any]


def reproduce_items(items: list[Any], quick: bool, folder: Path | None) -> list[Record]:
    """Return the records of items in their order; those that the folder holds are not computed again."""
    records: dict[str, Any] = {
        item.key: stored_result(item.key, folder, quick) if folder is not None else None
        for item in items
    }
    missing = [item for item in items if records[item.key] is None]
    with progress_bar(f"{len(items) - len(missing)} of {len(items)} items are there") as bar:
        if len(missing) == 1:
            key = missing[0].key
            records[key] = compute(key, quick, folder, lambda fraction: bar(fraction, 1.0, key))
        elif missing:
            longest_first = sorted(missing, key=lambda item: -item.seconds)
            records |= _compute_in_processes(longest_first, quick, folder, bar)
    return list(records.values())


def _compute_in_processes(
    items: list[Any], quick: bool, folder: Path | None, bar: Bar
) -> dict[str, Record]:
    """Return records by key; on Ctrl-C or an error the processes are ended, and finished items are kept."""
    context = multiprocessing.get_context("spawn")
    reports = context.Queue()
    weights = {item.key: item.seconds for item in items}
    progress, records = dict.fromkeys(weights, 0.0), {}
    workers = min(PROCESSES, len(items), os.cpu_count() or 1)
    pool = ProcessPoolExecutor(workers, context, _begin_process, (reports,))
    try:
        pending = {pool.submit(_compute_one, item.key, quick, folder): item.key for item in items}
        while pending:
            finished, _ = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in finished:
                key = pending.pop(future)
                records[key], progress[key] = future.result(), 1.0
            for key, fraction in _received(reports):
                progress[key] = max(progress[key], fraction)
            share = sum(weights[key] * progress[key] for key in weights) / sum(weights.values())
            bar(share, 1.0, f"{len(records)} of {len(items)} items")
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        _end_processes(folder)
        raise
    return records


def _end_processes(folder: Path | None) -> None:
    """End the processes and delete the files they were writing."""
    children = multiprocessing.active_children()
    for child in children:
        child.terminate()
    for child in children:
        child.join(5.0)
    if folder is not None:
        for child in children:
            for partial in folder.glob(f"*/{partial_path(Path('*'), process=child.pid).name}"):
                partial.unlink(missing_ok=True)


def _received(reports: Any) -> Iterator[tuple[str, float]]:
    """Yield what the processes have reported since the last time."""
    while True:
        try:
            yield reports.get_nowait()
        except queue.Empty:
            return


def _begin_process(reports: Any) -> None:
    ignore_interrupts()
    _compute_one.reports = reports  # type: ignore[attr-defined]


def _compute_one(key: str, quick: bool, folder: Path | None) -> Record:
    """Compute one item, in a process of its own."""
    reports = _compute_one.reports  # type: ignore[attr-defined]
    return compute(key, quick, folder, lambda fraction: reports.put((key, float(fraction))))
