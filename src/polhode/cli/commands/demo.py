"""`polhode demo`."""

from pathlib import Path
from typing import Annotated

import typer

from polhode.cli.options import AsJson
from polhode.cli.progress import progress_bar
from polhode.cli.terminal import make_console, make_table, print_json, print_path

GROUP = "First steps"


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Folder for the report.")
    ] = Path("polhode-demo"),
    as_json: AsJson = False,
) -> None:
    """Run a tumbling body and a long stress test of five methods, and write a report: under a minute."""
    from polhode.show.demo_report import COLUMNS, explain_columns, format_cell, write_demo_report

    with progress_bar() as bar:
        data = write_demo_report(output, bar)
    if as_json:
        print_json(data)
        return
    table = make_table(
        *((title, "left" if key == "method" else "right") for key, title in COLUMNS.items())
    )
    table.title = f"{data['problem']['title']}, {data['methods'][0]['steps']} steps"
    table.caption = explain_columns(data)
    for row in data["methods"]:
        colours = {"method": "cyan", "energy_drift": "green" if row["symplectic"] else "yellow"}
        table.add_row(
            *(f"[{colours.get(key, 'default')}]{format_cell(key, row)}" for key in COLUMNS)
        )
    flip = data["flip"]
    console = make_console()
    console.print(table)
    first = f"first at t = {flip['first_flip']:.3g} s"
    console.print(f"\nThe tumbling box turned over {flip['flips']} times, {first}.")
    print_path("Report", data["report"])
