"""The comparison as one HTML file that needs nothing else: figure, and a table that sorts by any
column."""

from __future__ import annotations

import html
import io
import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import polhode
from polhode.io import store
from polhode.support.regular import file_path

if TYPE_CHECKING:
    from polhode.studies.compare.result import Comparison

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

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1d2329; --soft: #5d6873; --ground: #fff; --line: #dde2e7; --hover: #f2f5f8 }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e4e8ec; --soft: #9aa6b2; --ground: #15191e; --line: #2e363e; --hover: #1e242b }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 76rem; margin: 2rem auto;
  padding: 0 1rem }}
figure {{ margin: 1.5rem 0; background: #fff; border: 1px solid var(--line); border-radius: 8px; padding: .5rem;
  overflow-x: auto }}
figure svg {{ width: 100%; height: auto; min-width: 44rem; display: block }}
.scroll {{ overflow-x: auto }} table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100% }}
th, td {{ padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }}
th:nth-child(2), td:nth-child(2) {{ text-align: left }} tbody tr:hover {{ background: var(--hover) }}
th button {{ all: unset; cursor: pointer; font-weight: 600 }} th button:focus-visible {{ outline: 2px solid currentColor }}
th[aria-sort=ascending] button::after {{ content: " \\2191" }} th[aria-sort=descending] button::after {{ content: " \\2193" }}
p, footer {{ color: var(--soft) }} label {{ margin-right: 1rem }} tr[hidden] {{ display: none }}
</style>
<h1>{title}</h1>
<p>{text}</p>
<figure>{figure}</figure>
<p>{filters}</p>
<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>
{rows}
</tbody></table></div>
<footer><p>polhode {version}. Every number on this page comes from the run that wrote it.</p></footer>
<script>
const body = document.querySelector("tbody"), value = (row, i) => row.cells[i].dataset.v;
document.querySelectorAll("th").forEach((th, i) => th.querySelector("button").onclick = () => {{
  const up = th.getAttribute("aria-sort") !== "ascending";
  document.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
  th.setAttribute("aria-sort", up ? "ascending" : "descending");
  const order = (a, b) => {{
    const x = value(a, i), y = value(b, i);
    if (x === "" || y === "") return (x === "") - (y === "");
    return (up ? 1 : -1) * (isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y);
  }};
  body.append(...[...body.rows].sort(order));
}});
const boxes = [...document.querySelectorAll("input")];
boxes.forEach(box => box.onchange = () => {{
  const on = new Set(boxes.filter(b => b.checked).map(b => b.value));
  [...body.rows].forEach(row => row.hidden = !on.has(value(row, 0)));
}});
</script>
</html>
"""


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
    store.check(path, None, force=True, formats=("html",))
    filters = "Show errors: " + "".join(
        f'<label><input type="checkbox" checked value="{error!r}"> {error:g}</label>'
        for error in comparison.errors
    )
    page = _PAGE.format(
        title=html.escape(f"{comparison.title}: work against precision"),
        text=html.escape(said(comparison)),
        figure=_svg(comparison),
        filters=filters,
        version=polhode.__version__,
        head="".join(
            f'<th scope="col"><button type="button">{name}</button></th>'
            for name in COLUMNS.values()
        ),
        rows="\n".join(_row(row) for row in comparison.table),
    )
    path.write_text(page, encoding="utf-8")
    return path


def said(comparison):
    """What was measured, in words."""
    t0, t1 = comparison.t_span
    return (
        f"Torque {comparison.torque}, t = {t0:g} to {t1:g}; the truth by {comparison.truth.origin}, good to "
        f"{comparison.truth.error:.0e}. An error is the largest over the run of the angle in radians and the relative error "
        "of the angular velocity; energy and momentum in space are compared with the truth's. Time is that of the compiled "
        "steps alone, the least of several runs. The order measured is that over the last halving of the step which the one "
        "before it confirms; for @rtol it is the slope of the error against the tolerance."
    )


def shown(row, key):
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


def _row(row):
    raw = {key: "" if row[key] is None else html.escape(str(row[key])) for key in COLUMNS}
    return (
        "<tr>"
        + "".join(f'<td data-v="{raw[key]}">{html.escape(shown(row, key))}</td>' for key in COLUMNS)
        + "</tr>"
    )


def _svg(comparison):
    """The figure as SVG, without the XML head."""
    out = io.StringIO()
    comparison.figure().savefig(out, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", out.getvalue(), flags=re.DOTALL)
