"""The page about all reproductions: one self-contained HTML file, light and dark, for screens of
any size."""

import base64
from pathlib import Path

from polhode.papers._items import PAPERS
from polhode.papers._results import FAILS, HOLDS, OPEN, OTHER_REASON, VERDICTS
from polhode.show.html import render
from polhode.support.atomic import write_text

NAME = "report.html"
LARGEST_SVG = 350_000  # bytes; a figure with more to draw is embedded as PNG
BADGES = {HOLDS: "good", OTHER_REASON: "odd", FAILS: "bad", OPEN: "open"}


def write(folder, records, errata):
    """Write the page about these records into their folder; its path."""
    folder = Path(folder)
    page = render(
        "papers/templates/report.html",
        title="polhode: the papers, reproduced",
        papers=[
            describe_paper(paper, own, errata, folder)
            for paper in PAPERS.values()
            if (own := [record for record in records if record["paper"] == paper.name])
        ],
        quick=sum(record["quick"] for record in records),
        count=len(records),
        verdicts=VERDICTS,
        badges=BADGES,
        tally=tally(records, len(errata)),
        format=format_value,
        errata={
            paper.short: own
            for paper in PAPERS.values()
            if (own := [one for one in errata if one.paper == paper.name])
        },
    )
    return write_text(folder / NAME, page)


def describe_paper(paper, records, errata, folder):
    """What the page says about a paper."""
    count = sum(one.paper == paper.name for one in errata)
    return {
        "name": paper.name,
        "short": paper.short,
        "reference": paper.reference,
        "tally": tally(records, count),
        "records": [describe_item(record, folder) for record in records],
    }


def tally(records, errata):
    """Items, cells matched, those of the papers and those of references, claims by verdict, and
    errata."""
    matched, total, agree, known = (
        sum(record[key] for record in records)
        for key in ("matched", "total", "reference_matched", "reference_total")
    )
    counts = [
        sum(claim["verdict"] == verdict for record in records for claim in record["claims"])
        for verdict in VERDICTS
    ]
    return [
        len(records),
        format_share(matched, total),
        format_share(agree, known),
        *(count or "–" for count in (*counts, errata)),
    ]


def describe_item(record, folder):
    """One item: figure, table, claims, notes."""
    shares = [
        f"{format_share(record[f'{kind}matched'], record[f'{kind}total'])} {words}"
        for kind, words in (("", "agree"), ("reference_", "reference values agree"))
        if record[f"{kind}total"]
    ]
    cells = record["cells"]
    rows, columns = (
        list(dict.fromkeys(cell[side] for cell in cells)) for side in ("row", "column")
    )
    at = {(cell["row"], cell["column"]): cell for cell in cells}
    return {
        **record,
        "agreement": ", ".join(shares),
        "picture": picture(folder / record["paper"] / record["item"]),
        "columns": columns,
        "rows": [(row, [at.get((row, column)) for column in columns]) for row in rows],
        "remarks": [cell for cell in cells if cell["note"] and cell["match"] is False],
    }


def picture(place):
    """The figure of an item as the address of an image within the page; "" where there is none."""
    svg, png = place.with_name(f"{place.name}.svg"), place.with_name(f"{place.name}.png")
    if not svg.is_file():
        return ""
    path, kind = (svg, "svg+xml") if svg.stat().st_size <= LARGEST_SVG else (png, "png")
    return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def format_share(matched, total):
    """How many of how many."""
    return f"{matched} of {total}" if total else "–"


def format_value(value):
    """A number of a table as text."""
    return "–" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)
