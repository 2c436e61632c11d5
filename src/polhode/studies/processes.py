"""One function called for many arguments, in several processes."""

import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context
from typing import Any


def run_in_processes(
    function: Callable[..., Any],
    arguments: Mapping[str, tuple],
    on_result: Callable[[str, Any], None],
    processes: int | None = None,
) -> None:
    """Call function(*arguments[name]) for every name, in several processes: by default one per core.

    `on_result(name, result)` is called as each call finishes.  On an interrupt or an error the
    processes are terminated; results that arrived before have been passed on.
    """
    workers = min(len(arguments), processes or os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=ignore_interrupts) as pool:
        names = {pool.submit(function, *values): name for name, values in arguments.items()}
        try:
            for future in as_completed(names):
                on_result(names[future], future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
            raise


def ignore_interrupts() -> None:
    """Ignore Ctrl-C, which reaches every process of a terminal: the parent process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
