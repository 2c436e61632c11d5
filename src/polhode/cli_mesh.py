"""The command `polhode mesh`: a surface in, the mass properties of the solid inside it out."""

import contextlib

from polhode.body import RigidBody
from polhode.cli import console, plain_table, print_json
from polhode.errors import InputError
from polhode.io.mesh import solid, weighed


def run(path, density, mass, units, as_json):
    """Print them; with neither density nor mass the density is 1."""
    if density is not None and mass is not None:
        raise InputError(f"give --density or --mass, got both ({density:g} and {mass:g}); drop one")
    with contextlib.suppress(ValueError):   # the name of a unit
        units = float(units)
    found = solid(path, units)
    body = weighed(RigidBody, found, 1.0 if density is None else density, mass)
    data = {"file": str(path), "watertight": True, "parts": found.parts, "faces": len(found.faces), "units": units,
            "density": body.mass / found.volume, "mass": body.mass, "volume": found.volume,
            "centre_of_mass": found.centre.tolist(),
            "inertia": body.inertia.tolist(), "moments": body.moments.tolist(), "axes": body.axes.tolist()}
    if as_json:
        print_json(data)
    else:
        console().print(table(data))


def table(data):
    """The numbers, a row of each matrix to a line."""
    from rich.markup import escape

    def row(values):
        return "".join(f"{value:>17.9g}" for value in values)

    shown = plain_table(("", "left"), ("", "left"))
    shown.title, shown.show_header = escape(data["file"]), False
    shown.add_row("watertight", f"yes, {data['parts']} {'part' if data['parts'] == 1 else 'parts'}, {data['faces']} faces")
    for key, unit in (("mass", "kg"), ("volume", "m^3"), ("density", "kg/m^3")):
        shown.add_row(key, f"{row([data[key]])} {unit}")
    shown.add_row("centre of mass", f"{row(data['centre_of_mass'])} m")
    shown.add_row("inertia about it", "\n".join(map(row, data["inertia"])) + " kg m^2")
    shown.add_row("principal moments", f"{row(data['moments'])} kg m^2")
    shown.add_row("principal axes (columns)", "\n".join(map(row, data["axes"])))
    return shown
