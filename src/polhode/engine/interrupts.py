"""Ctrl-C while a run is at work."""

from __future__ import annotations

import threading
from _signal import SIGINT, signal  # without the enums of `signal`, which take six microseconds
from types import FrameType
from typing import Any


class Interrupts:
    """A context in which Ctrl-C sets a flag, so that a run ends between two chunks.

    A second Ctrl-C raises as usual: a torque in Python may never return.
    """

    pressed = False
    _previous: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():  # the only one that may
            self._previous = signal(SIGINT, self._press)
        return self

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def __exit__(self, *error: Any) -> None:
        if self._previous is not None:
            signal(SIGINT, self._previous)
