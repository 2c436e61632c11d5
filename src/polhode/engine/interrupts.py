"""Ctrl-C while a run is at work."""

from __future__ import annotations

import threading
from _signal import SIGINT, signal  # without the enums of `signal`, which take six microseconds
from types import FrameType
from typing import Any


class Interrupts:
    """Inside, Ctrl-C sets a flag instead of raising: a run ends between two chunks, with everything
    in place.

    A second one raises, as it does elsewhere: a torque in Python may never come to an end.
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
