"""CSV tables: provenance as comments, `# key: value`; a line of names; then numbers with all their
digits."""

from __future__ import annotations

import csv
import re

import numpy as np

from polhode.io.formats import Format, register
from polhode.results import columns
from polhode.results.motion import LABELS


UNITS = "units of the columns"


class CsvTable(Format):
    """One row for each stored time."""

    suffix, first_bytes, stores_ensembles = "csv", b"# t", False

    def write(self, contents, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            for key, value in contents.attributes.items():
                file.write(f"# {key}: {value}\n")
            units = {_header(one)[0]: one.attributes.get("units") for one in contents.variables}
            named = "; ".join(f"{name} {unit}" for name, unit in units.items() if unit)
            if set(units.values()) - {None, "1"}:
                file.write(f"# {UNITS}: {named}\n")
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow([name for one in contents.variables for name in _header(one)])
            for _, piece in contents.blocks():
                held = [piece[one.name] for one in contents.variables]
                rows.writerows(np.column_stack(held).tolist())

    def read(self, path):
        with open(path, newline="", encoding="utf-8") as file:
            notes, line = {}, file.readline()
            while line.startswith("#"):
                key, _, value = line[1:].rstrip("\r\n").partition(": ")
                notes[key.strip()] = value
                line = file.readline()
            notes.pop(UNITS, None)  # the body has them
            header = next(csv.reader([line]))
            rows = _rows(file)
        if rows.shape[1] != len(header):
            raise ValueError("the names do not match the columns")
        return _join_columns(header, rows), columns.provenance_in(notes)


def _header(variable):
    """The names over the columns of a variable: t, qx ... qw, omega_x ..."""
    if len(variable.dimensions) == 1:
        return [variable.key]
    stem = "q" if variable.name == "quaternion" else f"{variable.name}_"
    return [stem + label for label in LABELS[variable.dimensions[1]]]


def _join_columns(header, rows):
    """Columns by name, those of a vector together."""
    places = {}
    for place, name in enumerate(header):
        vector = re.fullmatch(r"(q|.*_)[xyzw]", name)
        stem = vector[1].rstrip("_") if vector else name
        places.setdefault("quaternion" if vector and stem == "q" else stem, []).append(place)
    return {
        name: rows[:, which[0]] if len(which) == 1 else rows[:, which]
        for name, which in places.items()
    }


def _rows(file):
    try:
        return np.loadtxt(file, delimiter=",", ndmin=2)
    except ValueError as error:
        reason = str(error).partition(";")[0]
        raise ValueError(f"its numbers have changed since they were written: {reason}") from None


register(CsvTable())
