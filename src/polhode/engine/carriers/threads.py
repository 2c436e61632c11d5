"""Threads that share work: Python threads that call loops which release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from polhode.errors import whole


def default_threads() -> int:
    """As many threads as the process may use processors."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_threads(threads: Any) -> int:
    """The number of threads; None is one per processor."""
    if threads is None:
        return default_threads()
    return whole("threads", threads, 1, "write threads=2, or leave it out for one per processor")


@lru_cache(1)
def _pool() -> ThreadPoolExecutor:
    """Threads that help the calling one; they start when they are needed."""
    return ThreadPoolExecutor(max(64, 2 * default_threads()))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def share(task: Callable[[Any], Any], parts: Iterable[Any], threads: int) -> None:
    """Call task(part) for all parts, on at most so many threads, this one included."""
    todo = iter(parts)  # shared by the threads

    def work() -> None:
        try:
            for part in todo:
                task(part)
        except BaseException:
            list(todo)  # nothing is left for the others
            raise

    helpers = [_pool().submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():  # one that has not begun is no longer needed
                helper.result()
