"""Ctrl-C while a run is at work."""

import signal
import threading


class Interrupts:
    """While it listens, Ctrl-C sets a flag instead of raising: a run ends between two chunks, with everything in place.

    A second one raises, as it does elsewhere: a torque in Python may never come to an end.  A run of a single chunk is over
    before that makes a difference, and does not listen.
    """

    pressed = False
    _previous = None

    def __enter__(self):
        return self

    def listen(self):
        """From now on; only the main thread may."""
        if self._previous is None and threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._press)

    def _press(self, number, frame):
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def __exit__(self, *error):
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
