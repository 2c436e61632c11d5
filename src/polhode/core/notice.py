"""The notice that something is being compiled, which can take seconds.

It is a line with a spinner, on a terminal or in a notebook; it appears after half a second and
disappears when the work is done.  In a pipe or a worker process there is no notice.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator

DELAY, PAUSE = 0.5, 0.1  # seconds before the notice appears, and between two updates
SPINNER = "|/-\\"
Display = Callable[[str], object]  # shows a text

_display: Display | None = None  # in place of a line on stderr
_busy = threading.Lock()


@contextlib.contextmanager
def compiling(what: str) -> Iterator[None]:
    """Show that this is being compiled, if the block takes long."""
    display = _display or _line()
    # one compilation may be part of another
    if display is None or not _busy.acquire(blocking=False):
        yield
        return
    done = threading.Event()
    text = f"compiling {what} for this torque ..." if what else "compiling ..."
    thread = threading.Thread(target=_show, args=(display, text, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        _busy.release()


@contextlib.contextmanager
def displayed(display: Display) -> Iterator[None]:
    """Let `display(text)` show notices while the block runs; the text is empty at the end of one."""
    global _display
    before, _display = _display, display
    try:
        yield
    finally:
        _display = before


def _show(display: Display, text: str, done: threading.Event) -> None:
    if done.wait(DELAY):
        return
    with contextlib.suppress(OSError, ValueError):  # a stream that has been closed
        display(text)
        while not done.wait(PAUSE):
            display(text)
        display("")


def _line() -> Display | None:
    """Shows a notice as a line on stderr; None if stderr is neither a terminal nor a notebook."""
    stream = sys.stderr
    notebook = type(stream).__module__.startswith("ipykernel.")
    terminal = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    if not (notebook or terminal) or multiprocessing.parent_process() is not None:
        return None
    spinner, shown = itertools.cycle(SPINNER), 0

    def write(text: str) -> None:
        nonlocal shown
        text = f"{next(spinner)} {text}" if text else ""
        end = "" if text else "\r"
        stream.write(f"\r{text.ljust(shown)}{end}")
        stream.flush()
        shown = len(text)

    return write
