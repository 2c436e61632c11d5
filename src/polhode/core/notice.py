"""The notice that something is being compiled, which takes seconds where it happens the first time.

It is a line on a terminal, or in a notebook, with a spinner; it comes after half a second and goes
when the work is done.  Where stderr is neither, as in a pipe or a worker process, nothing is said.
"""

import contextlib
import itertools
import multiprocessing
import os
import sys
import threading

DELAY, PAUSE = 0.5, 0.1  # seconds before the first sign, and between one and the next
SPINNER = "|/-\\"

_display = None  # who shows the notice in place of the line here: a function of its text
_busy = threading.Lock()


@contextlib.contextmanager
def compiling(what):
    """Say that this is being compiled, should the block take long."""
    display = _display or _line()
    # a compilation may be part of another
    if display is None or not _busy.acquire(blocking=False):
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(display, _text(what), done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        _busy.release()


@contextlib.contextmanager
def displayed(display):
    """Let `display(text)` show notices while the block runs; the text is empty when one is over."""
    global _display
    before, _display = _display, display
    try:
        yield
    finally:
        _display = before


def _text(what):
    return f"compiling {what} for this torque ..." if what else "compiling ..."


def _show(display, text, done):
    if done.wait(DELAY):
        return
    with contextlib.suppress(OSError, ValueError):  # a stream that has been closed
        display(text)
        while not done.wait(PAUSE):
            display(text)
        display("")


def _line():
    """What shows a notice on stderr; None where nobody would see it."""
    stream = sys.stderr
    notebook = type(stream).__module__.startswith("ipykernel.")
    terminal = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    if not (notebook or terminal) or multiprocessing.parent_process() is not None:
        return None
    spinner, shown = itertools.cycle(SPINNER), 0

    def write(text):
        nonlocal shown
        text = f"{next(spinner)} {text}" if text else ""
        end = "" if text else "\r"
        stream.write(f"\r{text.ljust(shown)}{end}")
        stream.flush()
        shown = len(text)

    return write
