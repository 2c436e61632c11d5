"""The comparison as one HTML file that needs nothing else: figure, and a table that sorts by any
column."""

from __future__ import annotations

import io
import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from polhode.io import store
from polhode.show.html import render
from polhode.support.atomic import write_text
from polhode.support.regular import file_path

if TYPE_CHECKING:
    from polhode.studies.compare.comparison import Comparison

COLUMNS = {
    "asked": "error asked",
    "method": "method",
    "order": "order",
    "slope": "measured",
    "setting": "step or rtol",
    "steps": "steps",
    "evaluations": "torque evaluations",
    "seconds": "time [µs]",
    "error": "error",
    "energy": "energy error",
    "momentum": "momentum error",
}


def comparison(comparison: Comparison, path: str | PathLike[str]) -> Path:
    """A self-contained page of a comparison: its figure, and a table that sorts by any column.

    Parameters
    ----------
    comparison : Comparison
        From `polhode.compare`.
    path : str or Path
        Where to write it; an existing file is overwritten.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import polhode
    >>> found = polhode.compare("krysl/slow-top", methods=["NMB", "LP2"], errors=[1e-2])
    >>> comparison(found, "comparison.html").name
    'comparison.html'
    """
    path = file_path(path)
    store.check_output(path, ("html",), force=True)
    page = render(
        "show/templates/comparison.html",
        title=f"{comparison.title}: work against precision",
        text=describe_measurement(comparison),
        figure=_svg(comparison),
        errors=comparison.errors,
        columns=COLUMNS,
        rows=comparison.table,
        format=format_cell,
    )
    return write_text(path, page)


def describe_measurement(comparison):
    """What was measured, in words."""
    t0, t1 = comparison.t_span
    kind = comparison.truth.kind
    in_flight = "position" in kind.slices
    acts = "Interaction" if kind.bodies else "Load" if in_flight else "Torque"
    acting = f"{acts} {comparison.torque}"
    others = ["angular velocity", "position", "velocity"] if in_flight else ["angular velocity"]
    others += ["speeds of rotors"] * (kind.spinning > 0)
    relative = "relative" if len(others) == 1 else "relative to their largest sizes"
    if kind.bodies:
        relative = "relative to the largest angular velocity, size and speed of the system"
    momentum = "angular momentum about the origin" if in_flight else "spatial momentum"
    of_all = " and of all bodies" if kind.bodies else ""
    return (
        f"{acting}, t = {t0:g} to {t1:g}; reference: {comparison.truth.origin}, with an error of about "
        f"{comparison.truth.error:.0e}. An error is the largest during the run{of_all}, of the attitude in radians and of the "
        f"{_in_words(others)}, {relative}; energy and {momentum} are compared with those of the reference. The time is that "
        "of the compiled steps, the shortest of several runs. The order is measured over the last halving of the step, if the "
        "previous halving agrees; for @rtol it is the slope of the error against the tolerance."
    )


def _in_words(names):
    """A list in words."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def format_cell(row, key):
    """A cell of a row as text; a tolerance says that it is one."""
    value = row[key]
    if value is None:
        return "–"
    if key == "setting":
        return f"{'rtol ' if row['knob'] == 'rtol' else ''}{value:.3g}"
    if key == "seconds":
        return f"{1e6 * value:.3g}" if value < 1e-3 else f"{1e6 * value:.0f}"
    if key == "slope":
        return f"{value:.1f}"
    if key in ("error", "energy", "momentum"):
        return f"{value:.2g}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _svg(comparison):
    """The figure as SVG, without the XML head."""
    out = io.StringIO()
    comparison.figure().savefig(out, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", out.getvalue(), flags=re.DOTALL)
