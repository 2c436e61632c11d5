"""`polhode problems`."""

from typing import Any

from rich.markup import escape

from polhode.cli.options import AsJson
from polhode.cli.terminal import make_console, make_table, print_json

GROUP = "Papers"


def problems(as_json: AsJson = False) -> None:
    """List the problems of the papers, with their parameters."""
    from polhode.problems import get, names

    rows = [get(name).describe() for name in names()]
    if as_json:
        print_json(rows)
        return
    table = make_table(
        ("problem", "left"),
        ("what it is", "left"),
        ("moments", "left"),
        ("until", "right"),
        ("step", "right"),
    )
    for row in rows:
        table.add_row(
            f"[cyan]{row['name']}",
            f"{row['title']}, {_acting(row)}\n[dim]{escape(row['source'])}",
            "\n".join(_moments(row)),
            f"{row['t_span'][1]:g}",
            f"{row['step']:g}",
        )
    make_console().print(table)


def _acting(row: dict[str, Any]) -> str:
    if "bodies" in row:
        return f"{row['bodies']} bodies, interaction [magenta]{row['interaction']}[/]"
    return f"torque [magenta]{row['torque']}[/]"


def _moments(row: dict[str, Any]) -> list[str]:
    """A line for each moment of a body, or for each body of a system."""
    if "bodies" not in row:
        return [f"{moment:.4g}" for moment in row["moments"]]
    return [" ".join(f"{moment:.4g}" for moment in one) for one in row["moments"]]
