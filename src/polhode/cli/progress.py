"""Progress bars."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from polhode.cli.terminal import make_console
from polhode.core.notice import displayed

Bar = Callable[[float, float, str], None]


@contextlib.contextmanager
def progress_bar(first: str = "starting") -> Iterator[Bar]:
    """Yield a function bar(done, total, text) that updates a bar on stderr while the block runs.

    Nothing is shown unless stderr is a terminal.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn("line"),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=make_console(stderr=True), transient=True) as progress:
        task, last = progress.add_task(first, total=None), first

        def update(done: float, total: float, text: str) -> None:
            nonlocal last
            last = text
            progress.update(task, completed=done, total=total, description=text)

        def show_notice(text: str) -> None:
            progress.update(task, description=text or last)

        with displayed(show_notice):
            yield update
