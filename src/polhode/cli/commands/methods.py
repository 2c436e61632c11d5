"""`polhode methods`."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import JustifyMethod
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from polhode.cli.completion import complete_family, complete_method
from polhode.cli.options import FAMILIES, AsJson
from polhode.cli.terminal import make_console, print_json

GROUP = "Methods"
CAPTION = """\
On demand: newmark(gamma); taylor(n) for n up to 24 (18 with most torques); MR2-abc, MR4-abc, MR2-abc-cay and MR4-abc-cay \
with the axes 1, 2, 3 in any order; NAME+ep conserves the energy of a free body, or with a potential; NAME+yoshida4, \
+suzuki4, +yoshida6 and +yoshida8 compose a symmetric method.
order: in brackets, the lower order for torques that depend on the angular velocity; torques, solves: torque evaluations and \
nonlinear equations per step; symm., sympl.: time-symmetric, symplectic; keeps: momentum (mom) and energy (E) of a free body, \
conserved to round-off"""
COLUMNS: dict[str, JustifyMethod] = {
    "method": "left",
    "order": "right",
    "torques": "right",
    "solves": "right",
    "symm.": "center",
    "sympl.": "center",
    "keeps": "left",
}
TICK = {True: "[green]yes", False: "[dim]-", "orbits": "[yellow]orbits"}


def methods(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Only these methods.", autocompletion=complete_method),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(help=f"Only this family: {FAMILIES}.", autocompletion=complete_family),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods and their properties: recommended ones first, faulty variants last."""
    from polhode.errors import InputError, unknown
    from polhode.methods import everything, get

    if names and family is not None:
        raise InputError(
            f"methods {', '.join(map(repr, names))} and family {family!r} are both given; drop one of them"
        )
    entries = list(dict.fromkeys(map(get, names))) if names else everything()
    families = sorted({entry.family for entry in entries})
    if family is not None:
        if family.lower() not in families:
            raise unknown("family", family, families)
        entries = [entry for entry in entries if entry.family == family.lower()]
    if as_json:
        from polhode.exports.module import export_obstacle, obstacles

        print_json(
            [
                entry.facts() | {"exportable": not export_obstacle(entry)} | obstacles(entry)
                for entry in entries
            ]
        )
    else:
        print_methods(entries)


def print_methods(entries: list[Any]) -> None:
    """Print the groups of methods: for each method a row of facts, and below it what it is."""
    from polhode.methods._groups import grouped

    console = make_console()
    longest = max(len("method"), *(len(entry.name) for entry in entries))
    for title, members in grouped(entries).items():
        console.print(f"[bold magenta]{escape(title)}")
        console.print(_row(longest, [f"[bold]{column}" for column in COLUMNS]))
        for facts in (entry.facts() for entry in members):
            console.print(_row(longest, _cells(facts)))
            console.print(Padding(_text(facts), (0, 0, 0, 4), expand=False))
        console.print()
    console.print(f"[dim]{escape(CAPTION)}")


def _row(longest: int, cells: Sequence[str]) -> Table:
    """Return a line of columns as wide as those of all other lines."""
    table = Table.grid(padding=(0, 1))
    for title, justify in COLUMNS.items():
        width = longest if title == "method" else max(len(title), 6)
        table.add_column(justify=justify, width=width, no_wrap=True)
    table.add_row(*cells)
    return table


def _cells(facts: dict[str, Any]) -> list[str]:
    lower = f" ({facts['omega_order']})" if facts["omega_order"] != facts["order"] else ""
    short = {"momentum": "mom", "energy": "E"}
    return [
        f"[cyan]{escape(facts['name'])}",
        f"{facts['order']}{lower}",
        "varies" if facts["torques_per_step"] is None else str(facts["torques_per_step"]),
        str(facts["solves_per_step"]),
        TICK[facts["symmetric"]],
        TICK[facts["symplectic"]],
        " ".join(short.get(name, name) for name in facts["conserves"]) or "[dim]-",
    ]


def _text(facts: dict[str, Any]) -> str:
    """Return what a method is, what it is good for and what is wrong with it."""
    aliases = f" [dim]({escape(', '.join(facts['aliases']))})[/]" if facts["aliases"] else ""
    remarks = [
        facts["best_for"] and f"[green]best for {escape(facts['best_for'])}[/]",
        facts["flaw"] and f"[red]faulty: {escape(facts['flaw'])}[/]",
    ]
    summary = escape(facts["summary"]).rstrip(".") + aliases
    return "\n".join(filter(None, [summary, *remarks]))
