"""Reproduced items as files: DIR/PAPER/ITEM.json, .csv, .png and .svg.

The JSON is written last and appears whole or not at all; it holds a digest of the library's
sources, so that a result is used again as long as nothing has changed that could have made it.
"""

import csv
import hashlib
import json
import time
from functools import cache
from importlib.resources import files
from pathlib import Path

from polhode import __version__
from polhode.papers._items import items
from polhode.papers._style import PRINT_DPI, painted, style
from polhode.support.atomic import written_whole

SUFFIXES = ("png", "svg")


@cache
def sources():
    """A digest of the library: its version, its Python files and its printed numbers."""
    root = Path(str(files("polhode")))
    total = hashlib.sha256(__version__.encode())
    for path in sorted((*root.rglob("*.py"), *root.rglob("*.json"))):
        total.update(path.relative_to(root).as_posix().encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


def compute(key, quick=False, folder=None, progress=None):
    """The record of an item, plain data; its files are written where a folder is given."""
    item = items(key)[0]
    start = time.perf_counter()
    result = item.run(quick, progress)
    record = {
        "paper": item.paper,
        "item": item.name,
        "title": item.title,
        "kind": item.kind,
        "quick": bool(quick),
        "version": __version__,
        **result.to_dict(),
        "run_seconds": round(time.perf_counter() - start, 2),
    }
    if folder is not None:
        keep(record, result, Path(folder))
    return record


def keep(record, result, folder):
    """Write the files of an item, the JSON last."""
    place = folder / record["paper"]
    place.mkdir(parents=True, exist_ok=True)
    figure = painted(result)
    if figure is not None:
        with style():
            for suffix in SUFFIXES:
                metadata = {"Date": None} if suffix == "svg" else None
                with written_whole(place / f"{record['item']}.{suffix}") as partial:
                    figure.savefig(partial, format=suffix, dpi=PRINT_DPI, metadata=metadata)
    for rows, name in ((record["cells"], "cells"), (points(record["series"]), "series")):
        if rows:
            path = place / f"{record['item']}-{name}.csv"
            with (
                written_whole(path) as partial,
                open(partial, "w", newline="", encoding="utf-8") as file,
            ):
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
    data = {**record, "sources": sources(), "drawn": figure is not None}
    with written_whole(place / f"{record['item']}.json") as partial:
        partial.write_text(
            json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8"
        )


def stored_result(key, folder, quick=False):
    """The record of an item that the folder holds, or None where there is none or it is out of
    date.

    A full result also serves a quick request, never the other way round.
    """
    paper, _, name = key.partition("/")
    place = Path(folder) / paper
    try:
        record = json.loads((place / f"{name}.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    current = (
        isinstance(record, dict)
        and record.get("sources") == sources()
        and (quick or not record["quick"])
    )
    there = current and (
        not record["drawn"] or all((place / f"{name}.{suffix}").is_file() for suffix in SUFFIXES)
    )
    return (
        {field: value for field, value in record.items() if field not in ("sources", "drawn")}
        if there
        else None
    )


def points(series):
    """The points of all curves, one to a row."""
    axes = [axis for axis in "xyz" if any(axis in curve for curve in series)]
    return [
        {
            "name": curve["name"],
            **{
                axis: values[i]
                for axis, values in (
                    (axis, curve.get(axis) or [None] * len(curve["x"])) for axis in axes
                )
            },
        }
        for curve in series
        for i in range(len(curve["x"]))
    ]
