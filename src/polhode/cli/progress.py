"""Progress bars."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from polhode.cli.terminal import make_console

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
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=make_console(stderr=True), transient=True) as progress:
        task = progress.add_task(first, total=None)

        def update(done: float, total: float, text: str) -> None:
            progress.update(task, completed=done, total=total, description=text)

        yield update
