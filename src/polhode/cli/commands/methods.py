"""`polhode methods`."""

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from polhode.cli.options import AsJson
from polhode.cli.terminal import make_console, make_table, print_json

GROUP = "Methods"
COLUMNS = (
    ("method", "left"),
    ("order", "right"),
    ("torques", "right"),
    ("solves", "right"),
    ("symm.", "center"),
    ("sympl.", "center"),
    ("keeps", "left"),
    ("what it is", "left"),
)
CAPTION = (
    "On demand: newmark(gamma); taylor(n) for n up to 24 (18 under most torques); MR2-abc and MR4-abc, the axes 1, 2, 3 in "
    "any order, MR2-abc-cay and MR4-abc-cay; NAME+ep keeps the energy of a "
    "free body, and that under "
    "a torque with a potential; NAME+yoshida4, +suzuki4, +yoshida6 and +yoshida8 compose a symmetric method.\n"
    "order: in brackets that under torques that depend on the angular velocity, where it is lower; torques, solves: "
    "evaluations and nonlinear equations per step; symm., sympl.: time-symmetric, symplectic; keeps: momentum (mom) "
    "and energy (E) of a free body, to round-off"
)
TICK = {True: "[green]yes", False: "[dim]-", "orbits": "[yellow]orbits"}


def methods(
    family: Annotated[str | None, typer.Option(help="Only this family.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods and their facts."""
    from polhode.errors import unknown
    from polhode.methods import everything

    entries = sorted(everything(), key=lambda entry: entry.family)
    families = sorted({entry.family for entry in entries})
    if family is not None:
        if family.lower() not in families:
            raise unknown("family", family, families)
        entries = [entry for entry in entries if entry.family == family.lower()]
    facts = [entry.facts() for entry in entries]
    if as_json:
        print_json(facts)
    else:
        make_console().print(methods_table(facts))


def methods_table(facts: list[dict[str, Any]]) -> Table:
    """Return a table with a section for each family."""
    table = make_table(*COLUMNS)
    table.caption = CAPTION
    for family in dict.fromkeys(row["family"] for row in facts):
        table.add_row(f"[bold magenta]{family}")
        for row in facts:
            if row["family"] == family:
                table.add_row(*_cells(row))
        table.add_section()
    return table


def _cells(row: dict[str, Any]) -> list[str]:
    lower = f" ({row['omega_order']})" if row["omega_order"] != row["order"] else ""
    short = {"momentum": "mom", "energy": "E"}
    aliases = f" [dim]({escape(', '.join(row['aliases']))})" if row["aliases"] else ""
    return [
        f"[cyan]{escape(row['name'])}",
        f"{row['order']}{lower}",
        "varies" if row["torques_per_step"] is None else str(row["torques_per_step"]),
        str(row["solves_per_step"]),
        TICK[row["symmetric"]],
        TICK[row["symplectic"]],
        " ".join(short.get(name, name) for name in row["conserves"]) or "[dim]-",
        escape(row["summary"]).rstrip(".") + aliases,
    ]
