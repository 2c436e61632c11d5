"""`polhode reproduce`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polhode.cli.options import AsJson
from polhode.cli.terminal import make_console, print_json, print_path

GROUP = "Papers"
FOLDER = Path("polhode-papers")  # for the report on all papers


def reproduce(
    target: Annotated[
        str | None, typer.Argument(metavar="PAPER[/ITEM]", help="A paper, an item, or all.")
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List papers and items.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            help="Folder for figures, numbers and the report.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Compute only a part of every item.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Recompute the papers' tables and figures and compare them with what is printed.

    Finished items are kept in the folder.
    """
    from polhode.cli.reproduction import reproduce_items
    from polhode.cli.reproduction_tables import items_table, print_record, summary_table
    from polhode.errors import InputError
    from polhode.io.store import make_report_folder
    from polhode.papers import items
    from polhode.papers._report import NAME

    console = make_console()
    if listing:
        listed = items(target or "all")
        if as_json:
            print_json([item.to_dict() for item in listed])
        else:
            console.print(items_table(listed))
        return
    if target is None:
        raise InputError("name what to reproduce: a PAPER, PAPER/ITEM, or all; --list shows them")
    chosen = items(target)
    name = target.strip().rstrip("/")
    if output is None and name.lower() == "all":
        output = FOLDER
    if output is not None:
        make_report_folder(output, NAME)
    records = reproduce_items(chosen, quick, output)
    report = _write_report(output, records) if output is not None else None
    if as_json:
        print_json(records[0] if len(chosen) == 1 and "/" in name else records)
        return
    if len(records) == 1:
        print_record(records[0])
    else:
        console.print(summary_table(records))
    if report is not None:
        console.print()
        print_path("Report", report)
    else:
        console.print(
            "\n[dim]Nothing was written; --output FOLDER keeps the figures, the numbers and a report."
        )


def _write_report(folder: Path, records: list[dict[str, Any]]) -> Path:
    """Write one page about these records and everything else that the folder holds."""
    from polhode.papers import errata, items
    from polhode.papers._report import write
    from polhode.papers._store import stored_result

    own = {f"{record['paper']}/{record['item']}": record for record in records}
    found = (own.get(item.key) or stored_result(item.key, folder, quick=True) for item in items())
    return write(folder, [record for record in found if record is not None], errata())
