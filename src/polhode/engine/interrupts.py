"""Ctrl-C while a run is at work."""

import contextlib
import signal
import threading


@contextlib.contextmanager
def interruptible():
    """Ctrl-C sets a flag instead of raising, so that a run ends between two chunks with everything in place.

    A second one raises, as it does elsewhere: a torque in Python may never come to an end.
    """
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def press(number, frame):
        if flag.is_set():
            raise KeyboardInterrupt
        flag.set()

    previous = signal.signal(signal.SIGINT, press)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous)
