"""`polhode mesh`."""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from polhode.cli.options import AsJson
from polhode.cli.terminal import make_console, make_table, print_json

GROUP = "Files"


def mesh(
    file: Annotated[Path, typer.Argument(help="A closed surface: .stl, .obj, .ply or .glb.")],
    density: Annotated[float | None, typer.Option(help="In kg/m^3; default: 1.")] = None,
    mass: Annotated[float | None, typer.Option(help="In kg, instead of the density.")] = None,
    units: Annotated[
        str,
        typer.Option(help="Of its coordinates: m, cm, mm, um, nm, km, in, ft; or metres, as 0.01."),
    ] = "m",
    as_json: AsJson = False,
) -> None:
    """Print mass, centre of mass and inertia of the solid inside a mesh."""
    from polhode import RigidBody
    from polhode.bodies.mesh import solid, weighed
    from polhode.errors import InputError

    if density is not None and mass is not None:
        raise InputError(f"give --density or --mass, got both ({density:g} and {mass:g}); drop one")
    scale: str | float = units
    with contextlib.suppress(ValueError):  # the name of a unit
        scale = float(units)
    found = solid(file, scale)
    body = weighed(RigidBody, found, 1.0 if density is None else density, mass)
    data = {
        "file": str(file),
        "watertight": True,
        "parts": found.parts,
        "faces": len(found.faces),
        "units": scale,
        "density": body.mass / found.volume,
        "mass": body.mass,
        "volume": found.volume,
        "centre_of_mass": found.centre.tolist(),
        "inertia": body.inertia.tolist(),
        "moments": body.moments.tolist(),
        "axes": body.axes.tolist(),
    }
    if as_json:
        print_json(data)
    else:
        make_console().print(mass_table(data))


def mass_table(data: dict[str, Any]) -> Table:
    """Return the mass properties as a table, a row of each matrix to a line."""
    parts = f"{data['parts']} {'part' if data['parts'] == 1 else 'parts'}"
    table = make_table(("", "left"), ("", "left"))
    table.title, table.show_header = escape(data["file"]), False
    table.add_row("watertight", f"yes, {parts}, {data['faces']} faces")
    for key, unit in (("mass", "kg"), ("volume", "m^3"), ("density", "kg/m^3")):
        table.add_row(key, f"{_row([data[key]])} {unit}")
    table.add_row("centre of mass", f"{_row(data['centre_of_mass'])} m")
    table.add_row("inertia about it", "\n".join(map(_row, data["inertia"])) + " kg m^2")
    table.add_row("principal moments", f"{_row(data['moments'])} kg m^2")
    table.add_row("principal axes (columns)", "\n".join(map(_row, data["axes"])))
    return table


def _row(values: Iterable[float]) -> str:
    return "".join(f"{value:>17.9g}" for value in values)
