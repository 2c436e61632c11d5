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
BODY = "body"  # the dimension of the bodies of a system


class CsvTable(Format):
    """One row for each stored time."""

    suffix, first_bytes, stores_ensembles = "csv", b"# t", False

    def write(self, contents, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            for key, value in contents.attributes.items():
                file.write(f"# {key}: {value}\n")
            units = {_columns(one)[0]: one.attributes.get("units") for one in contents.variables}
            named = "; ".join(f"{name} {unit}" for name, unit in units.items() if unit)
            if set(units.values()) - {None, "1"}:
                file.write(f"# {UNITS}: {named}\n")
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow([name for one in contents.variables for name in _header(one)])
            for _, piece in contents.blocks():
                held = [np.asarray(piece[one.name]) for one in contents.variables]
                flat = [values.reshape(len(values), -1) for values in held]
                rows.writerows(np.concatenate(flat, axis=1).tolist())

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
    """The names over the columns of a variable: t, qx ... qw, omega_x ..., in front of those of a
    body of a system its number, 0.qx."""
    names = _columns(variable)
    if BODY not in variable.dimensions:
        return names
    return [f"{i}.{name}" for i in range(variable.shape[1]) for name in names]


def _columns(variable):
    """The same without bodies."""
    last = variable.dimensions[-1]
    if last in ("time", BODY):
        return [variable.key]
    stem = "q" if variable.name == "quaternion" else f"{variable.name}_"
    return [stem + label for label in LABELS[last]]


def _join_columns(header, rows):
    """Columns by name, those of a vector together, and those of all bodies."""
    places, each = {}, {}
    for place, name in enumerate(header):
        body, of_one, name = name.rpartition(".")
        vector = re.fullmatch(r"(q|.*_)[xyzw]", name)
        stem = vector[1].rstrip("_") if vector else name
        key = "quaternion" if vector and stem == "q" else stem
        places.setdefault(key, []).append(place)
        if of_one:
            each.setdefault(key, set()).add(body)
    found = {
        name: rows[:, which[0]] if len(which) == 1 else rows[:, which]
        for name, which in places.items()
    }
    for key, bodies in each.items():
        found[key] = found[key].reshape(len(rows), len(bodies), -1)
    return found


def _rows(file):
    try:
        return np.loadtxt(file, delimiter=",", ndmin=2)
    except ValueError as error:
        reason = str(error).partition(";")[0]
        raise ValueError(f"its numbers have changed since they were written: {reason}") from None


register(CsvTable())
