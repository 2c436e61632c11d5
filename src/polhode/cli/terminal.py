"""What commands print: messages, tables and JSON."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from polhode.cli.encoding import can_encode


class SafeConsole(Console):
    """A console that writes control characters as escapes.

    Whatever a file or a title holds, the terminal gets no commands but those of the style.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        from polhode.errors import printable

        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def make_console(stderr: bool = False) -> Console:
    """Return the console that output goes to."""
    console = SafeConsole(stderr=stderr, highlight=False)
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        console.width = 100  # in a file or a pipe there is no window to fit
    return console


# --- messages ---------------------------------------------------------------------------------


def print_error(message: object, style: str = "red") -> None:
    """Print a message on stderr."""
    text = Text(f"polhode: {message}", style=style)
    make_console(stderr=True).print(text, soft_wrap=True)


def print_warning(message: object) -> None:
    """Print a warning on stderr."""
    print_error(message, style="yellow")


def print_path(what: str, path: str | Path, as_json: bool = False) -> None:
    """Print where something was written."""
    if as_json:
        print_json({"output": str(path)})
        return
    make_console().print(Text.assemble(f"{what}: ", (str(path), "bold")), soft_wrap=True)


# --- tables -----------------------------------------------------------------------------------


def make_table(*columns: tuple[str, JustifyMethod]) -> Table:
    """Return a table without borders, from (title, justification) pairs.

    The first column is never wrapped.
    """
    table = Table(
        box=SIMPLE_HEAD,
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        padding=(0, 1, 0, 0),
    )
    for number, (title, justify) in enumerate(columns):
        table.add_column(escape(title), justify=justify, no_wrap=number == 0)
    return table


def print_summary(title: str, summary: Mapping[str, Any]) -> None:
    """Print names and values, a row of a matrix to a line; empty values are left out.

    Four numbers fit into a line of 80 characters.
    """
    table = make_table(("", "left"), ("", "left"))
    table.title, table.show_header = escape(title), False
    for key, value in summary.items():
        if value not in (None, "", []):
            table.add_row(f"[cyan]{key.replace('_', ' ')}", escape(_format_value(value)))
    make_console().print(table)


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        is_matrix = value and all(isinstance(row, list) for row in value)
        return "\n".join(
            " ".join(map(_format_entry, row)) for row in (value if is_matrix else [value])
        )
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _format_entry(value: Any) -> str:
    return f"{value:< 12.6g}" if isinstance(value, (int, float)) else str(value)


# --- JSON -------------------------------------------------------------------------------------


def print_json(data: Any) -> None:
    """Print data as JSON, in ASCII if stdout cannot encode it otherwise."""
    from polhode.errors.exceptions import UNPRINTABLE

    data = _without_nan(data)
    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    text = UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    typer.echo(
        text if can_encode(text, sys.stdout) else json.dumps(data, indent=2, allow_nan=False)
    )


def _without_nan(data: Any) -> Any:
    """Replace NaN and infinity, which JSON lacks, by null."""
    if isinstance(data, dict):
        return {key: _without_nan(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_without_nan(value) for value in data]
    return None if isinstance(data, float) and (data != data or abs(data) == float("inf")) else data
