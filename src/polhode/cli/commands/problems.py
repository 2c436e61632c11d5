"""`polhode problems`."""

from rich.markup import escape

from polhode.cli.options import AsJson
from polhode.cli.terminal import make_console, make_table, print_json

GROUP = "Papers"


def problems(as_json: AsJson = False) -> None:
    """List the problems of the papers, with their parameters."""
    from polhode.problems import ALL

    rows = [problem.describe() for problem in ALL.values()]
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
            f"{row['title']}, torque [magenta]{row['torque']}[/]\n[dim]{escape(row['source'])}",
            "\n".join(f"{moment:.4g}" for moment in row["moments"]),
            f"{row['t_span'][1]:g}",
            f"{row['step']:g}",
        )
    make_console().print(table)
