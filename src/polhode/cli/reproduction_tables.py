"""The tables of `polhode reproduce`."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from polhode.cli.terminal import make_console, make_table
from polhode.papers import FAILS, HOLDS, OPEN, OTHER_REASON, REFERENCE, VERDICTS

COLOUR = {HOLDS: "green", OTHER_REASON: "yellow", FAILS: "red", OPEN: "dim"}
SHORT = {HOLDS: "hold", OTHER_REASON: "other reason", FAILS: "fail", OPEN: "open"}

Record = dict[str, Any]


def items_table(items: list[Any]) -> Table:
    """Return a table of the items that can be reproduced."""
    table = make_table(("item", "left"), ("what it is", "left"), ("", "left"), ("about", "right"))
    table.caption = (
        "polhode reproduce PAPER/ITEM, PAPER or all; about: seconds on one core, without --quick"
    )
    for item in items:
        table.add_row(f"[cyan]{item.key}", item.title, f"[dim]{item.kind}", f"{item.seconds:g} s")
    return table


# --- several items ----------------------------------------------------------------------------


def summary_table(records: list[Record]) -> Table:
    """Return a table with a line for each item and one for all."""
    table = make_table(
        ("item", "left"),
        ("what it is", "left"),
        ("paper cells", "right"),
        ("references", "right"),
        *((SHORT[verdict], "right") for verdict in VERDICTS),
    )
    table.caption = (
        "How many cells agree with the paper, and with an independent computation. The last columns count "
        "the paper's claims: " + ", ".join(f"{SHORT[one]}: {one}" for one in VERDICTS)
    )
    for record in records:
        name = f"[cyan]{record['paper']}/{record['item']}"
        table.add_row(name, record["title"], *_agreement([record]), *_claims([record]))
    table.add_section()
    table.add_row("[bold]all", "", *_agreement(records), *_claims(records))
    return table


def _agreement(records: list[Record]) -> list[str]:
    """Return how many cells agree with the papers, and how many with references."""
    matched, total, agree, known = (
        sum(record[key] for record in records)
        for key in ("matched", "total", "reference_matched", "reference_total")
    )
    pairs = ((matched, total), (agree, known))
    return [f"{count} of {whole}" if whole else "[dim]-" for count, whole in pairs]


def _claims(records: list[Record]) -> list[str]:
    """Return how many claims have each verdict."""
    verdicts = [claim["verdict"] for record in records for claim in record["claims"]]
    counts = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    return [
        f"[{COLOUR[verdict]}]{count}" if count else "[dim]-" for verdict, count in counts.items()
    ]


# --- one item ---------------------------------------------------------------------------------


def print_record(record: Record) -> None:
    """Print one item: its cells or curves, and its claims."""
    console = make_console()
    console.print(f"[bold]{record['paper']}/{record['item']}[/]  {escape(record['title'])}")
    if record["cells"]:
        console.print(cells_table(record))
    elif record["series"]:
        console.print(curves_table(record["series"]))
    for note in record["notes"]:
        console.print(f"[dim]{escape(note)}")
    for claim in record["claims"]:
        console.print(
            f"\n[{COLOUR[claim['verdict']]}]{claim['verdict']}[/]: {escape(claim['claim'])}"
        )
        console.print(f"   [dim]{escape(claim['evidence'])}")


def cells_table(record: Record) -> Table:
    """Return rows and columns as the paper has them.

    Where our value differs, the printed or reference value stands beside it.
    """
    cells = {(cell["row"], cell["column"]): cell for cell in record["cells"]}
    rows, columns = (
        list(dict.fromkeys(cell[side] for cell in record["cells"])) for side in ("row", "column")
    )
    table = make_table(("", "left"), *((column, "right") for column in columns))
    counts = []
    if record["total"]:
        counts.append(f"{record['matched']} of {record['total']} agree with the paper")
    if record["reference_total"]:
        counts.append(
            f"{record['reference_matched']} of {record['reference_total']} with an independent computation"
        )
    if counts:
        legend = "in red what does not, the printed or reference value in brackets"
        table.caption = "; ".join([*counts, legend])
    for row in rows:
        table.add_row(
            f"[cyan]{escape(row)}", *(_format_cell(cells.get((row, one))) for one in columns)
        )
    return table


def _format_cell(cell: Record | None) -> str:
    if cell is None:
        return ""
    ours = escape(_format_number(cell["ours"]))
    if cell["match"] is None:
        return ours
    if cell["match"]:
        return f"[green]{ours}"
    label = "reference " if cell["source"] == REFERENCE else ""
    return f"[red]{ours} ({label}{escape(_format_number(cell['printed']))})"


def _format_number(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def curves_table(series: list[Record]) -> Table:
    """Return a table of the curves with their ranges."""
    table = make_table(("curve", "left"), ("points", "right"), ("x", "left"), ("y", "left"))
    for curve in series:
        ranges = []
        for axis in "xy":
            values = [value for value in curve[axis] if value is not None]
            ranges.append(f"{min(values):.4g} to {max(values):.4g}" if values else "")
        table.add_row(f"[cyan]{escape(curve['name'])}", str(len(curve["x"])), *ranges)
    return table
