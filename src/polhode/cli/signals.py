"""SIGTERM and SIGHUP end a command as Ctrl-C does: what was computed is kept."""

import os
import signal
from types import FrameType


class TerminationSignal:
    """Which signal ended the command; the exit code is 128 plus its number."""

    received: int | None = None
    terminals: tuple[
        int, ...
    ] = ()  # once a terminal is gone, isatty no longer tells which these were

    @classmethod
    def install_handlers(cls) -> None:
        """Handle the signals from now on; those that are ignored, as by nohup, stay ignored."""
        cls.terminals = tuple(filter(os.isatty, range(3)))
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, cls.handle)

    @classmethod
    def handle(cls, number: int, frame: FrameType | None) -> None:
        """Remember the signal, and do what Ctrl-C does."""
        cls.received = number
        if number == getattr(
            signal, "SIGHUP", None
        ):  # the terminal is gone: nothing can be written there
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in cls.terminals:
                os.dup2(nowhere, stream)
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):  # Ctrl-C is ignored, as in a background job
            raise KeyboardInterrupt
        interrupt(signal.SIGINT, frame)
