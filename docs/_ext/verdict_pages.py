"""What the papers claim and misprint, as pages, and the figures that show it.

Misprints are computed at the build.  Verdicts rest on every table and figure of the papers, which
takes minutes: they are in data/verdicts.json, with the figures in data/figures, and `make verdicts`
computes them anew.
"""

import json
import sys
from pathlib import Path

from PIL import Image
from restructured import escaped, table, title

from polhode.papers import PAPERS, VERDICTS, errata, items
from polhode.papers._store import stored_result

FIGURES = (
    "krysl-endres-2004/fig4",
    "krysl-endres-2004/fig12",
    "krysl-endres-2004/fig13",
    "krysl-2005/fig1",
    # those that theory/disagreements.rst shows
    "bou-rabee-2009/fig1",
    "bou-rabee-2009/fig4",
)
FIELDS = ("paper", "item", "title", "matched", "total", "claims")


def pages(docs):
    records = json.loads((docs / "data" / "verdicts.json").read_text("utf-8"))
    return {
        "theory/verdicts.rst": verdict_page(records),
        "theory/errata.rst": errata_page(errata()),
    }


def verdict_page(records):
    """Every claim by paper and item, after a table of how many hold."""
    counts = [
        [
            short(name),
            *(
                str(
                    sum(claim["verdict"] == verdict for record in own for claim in record["claims"])
                )
                for verdict in VERDICTS
            ),
        ]
        for name, own in by_paper(records)
    ]
    parts = [
        title("What the papers claim"),
        "Claims that numbers can decide, each with the numbers.  ``make verdicts`` computes them again; "
        "``polhode reproduce PAPER/ITEM`` computes one item in full.\n",
        table(["", *VERDICTS], counts),
    ]
    for name, own in by_paper(records):
        parts += [title(PAPERS[name].short, "-"), f"\\{escaped(PAPERS[name].reference)}.\n"]
        for record in own:
            rows = [
                [
                    f"**{claim['verdict']}**",
                    f"{escaped(claim['claim'])}\n\n*{escaped(claim['evidence'])}*",
                ]
                for claim in record["claims"]
            ]
            parts += [
                title(f"{record['item']}: {record['title']}", "~"),
                table(["", "claim and evidence"], rows, "20 80"),
            ]
    return "\n".join(parts)


def errata_page(found):
    """Every misprint by paper."""
    parts = [
        title("Misprints"),
        "What is printed, what is correct, and the evidence.  Numbers are computed when this page is "
        "built.\n",
    ]
    for name in PAPERS:
        rows = [
            list(map(escaped, (one.where, one.printed, one.correct, one.evidence)))
            for one in found
            if one.paper == name
        ]
        if rows:
            parts += [
                title(PAPERS[name].short, "-"),
                table(["where", "printed", "correct", "evidence"], rows, "18 25 25 32"),
            ]
    return "\n".join(parts)


def by_paper(records):
    """(paper, its records that judge something), in the order of the papers."""
    for name in PAPERS:
        own = [record for record in records if record["paper"] == name and record["claims"]]
        if own:
            yield name, own


def short(name):
    return PAPERS[name].short


def collect(folder, data):
    """Keep the verdicts and figures of a folder that `polhode reproduce all --output FOLDER` has
    filled."""
    records = [stored_result(item.key, folder, quick=True) for item in items()]
    chosen = [{field: record[field] for field in FIELDS} for record in records]
    (data / "verdicts.json").write_text(
        json.dumps(chosen, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
    for key in FIGURES:
        path = data / "figures" / f"{key}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        # for print; half of it, in few colours, is enough for a screen
        with Image.open(folder / f"{key}.png") as image:
            image.convert("RGB").reduce(2).quantize(128).save(path, optimize=True)


if __name__ == "__main__":
    collect(*map(Path, sys.argv[1:]))
