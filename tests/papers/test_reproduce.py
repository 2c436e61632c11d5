"""The reproduction of the papers: every item in its quick form, the files, the report, the
command."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from html.parser import HTMLParser

import numpy as np
import pytest

from polhode import InputError
from polhode.cli.commands.reproduce import reproduce
from polhode.papers import (
    HOLDS,
    PAPERS,
    VERDICTS,
    Cell,
    Claim,
    Figure,
    Series,
    Table,
    enter_errata,
    errata,
    item,
    items,
    judged,
    near,
)
from polhode.papers import _items as registry
from polhode.papers._report import NAME, write
from polhode.papers._store import compute, stored_result, points

FIGURES = {
    **{"buss-2001": 10, "buss-2001-slides": 1, "krysl-endres-2004": 13, "krysl-2005": 1},
    **{"bou-rabee-2009": 5, "fahnestock-2006": 1},
}
QUICKEST = "buss-2001/fig2"


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "polhode", "reproduce", *map(str, arguments)],
        capture_output=True,
        text=True,
    )


# --- every item -----------------------------------------------------------------------------------

LONG = ("buss-2001/fig6",)  # compiles all methods of the paper; fig7 does the same with a few
# test_papers_krysl.py and test_papers_buss.py compute them too
ELSEWHERE = {item.key for item in items() if item.paper != "buss-2001"}
ELSEWHERE -= {"krysl-endres-2004/fig8", "bou-rabee-2009/fig2"}
ELSEWHERE |= {f"buss-2001/{name}" for name in ("fig1", "fig5", "slides", "long-runs")}


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(
            item.key, marks=[pytest.mark.slow] * (item.key in LONG or item.key in ELSEWHERE)
        )
        for item in items()
    ],
)
def test_every_item_in_its_quick_form(key, tmp_path):
    told = []
    record = compute(key, quick=True, folder=tmp_path, progress=told.append)
    assert all(0.0 <= fraction <= 1.0 for fraction in told)
    assert record["claims"], "an item without a claim of the paper says nothing"
    assert record["cells"] or record["series"]
    for claim in record["claims"]:
        assert claim["verdict"] in VERDICTS
        assert re.search(r"\d", claim["evidence"]) or len(claim["evidence"]) > 20
    for curve in record["series"]:
        assert len(curve["x"]) == len(curve["y"]) > 0
        assert any(y is not None for y in curve["y"])
    place = tmp_path / record["paper"]
    stored = json.loads((place / f"{record['item']}.json").read_text("utf-8"))
    assert {name: stored[name] for name in record} == json.loads(json.dumps(record))
    assert (place / f"{record['item']}.png").read_bytes().startswith(b"\x89PNG")
    assert (place / f"{record['item']}.svg").stat().st_size > 3000
    assert stored_result(key, tmp_path, quick=True) == json.loads(json.dumps(record))
    assert stored_result(key, tmp_path, quick=False) is None
    assert not list(place.glob(".*")), "no partial files stay"


def test_every_figure_of_the_papers_is_there():
    found = {}
    for entry in items():
        found[entry.paper] = found.get(entry.paper, 0) + 1
    assert found == FIGURES
    for paper in ("krysl-endres-2004", "krysl-2005", "bou-rabee-2009"):
        assert [entry.name for entry in items(paper)] == [
            f"fig{number + 1}" for number in range(FIGURES[paper])
        ]


def test_errata_of_all_documents():
    found = errata()
    assert {one.paper for one in found} == set(PAPERS) - {"fahnestock-2006"}  # none is known
    assert all(isinstance(text, str) and text for one in found for text in asdict(one).values())
    assert errata("buss-2001-slides") == [one for one in found if one.paper == "buss-2001-slides"]
    with pytest.raises(InputError, match="did you mean 'krysl-2005'"):
        errata("krysl-2006")


# --- results --------------------------------------------------------------------------------------


def test_cells_and_counts():
    nothing = np.float64("nan")
    cells = [
        Cell("a", "x", "1.0", "1.0", True),
        Cell("a", "y", 2, 3, False, "why"),
        Cell("b", "x", None, nothing, None),
    ]
    table = Table(cells=cells)
    assert (table.matched, table.total) == (1, 2)
    assert table.to_dict()["cells"][2] == {
        "row": "b",
        "column": "x",
        "printed": None,
        "ours": None,
        "match": None,
        "note": "",
        "source": "paper",
    }
    assert near("a", "x", 100.0, 101.9, 0.02).match and not near("a", "x", 100.0, 102.1, 0.02).match
    assert near("a", "x", -1e-6, -1.01e-6, 0.02).match


def test_what_the_paper_prints_and_what_a_reference_says_are_counted_apart():
    cells = [
        Cell("a", "x", "1.0", "1.1", False),
        near("a", "y", 2.0, 2.001, 0.01),
        near("a", "z", 2.0, 3.0, 0.01),
    ]
    data = Table(cells=cells).to_dict()
    assert [cell["source"] for cell in data["cells"]] == ["paper", "reference", "reference"]
    assert (data["matched"], data["total"], data["reference_matched"], data["reference_total"]) == (
        0,
        1,
        1,
        2,
    )
    top = items("krysl-endres-2004/fig8")[0].run(quick=True)
    assert [(cell.source, cell.printed, cell.match) for cell in top.cells] == [
        ("paper", "< 0.5", False),
        ("reference", 0.91, True),
    ]


def test_claims_need_a_known_verdict_and_evidence():
    assert judged("c", True, "1 = 1").verdict == HOLDS
    with pytest.raises(InputError, match="did you mean 'holds'"):
        Claim("c", "hold", "1")
    with pytest.raises(InputError, match="no evidence"):
        Claim("c", HOLDS, "")


def test_curves_as_rows():
    curves = [
        Series("flat", [0, 1], [np.inf, 2]).to_dict(),
        Series("space", [0], [1], [2]).to_dict(),
    ]
    assert points(curves) == [
        {"name": "flat", "x": 0.0, "y": None, "z": None},
        {"name": "flat", "x": 1.0, "y": 2.0, "z": None},
        {"name": "space", "x": 0.0, "y": 1.0, "z": 2.0},
    ]


def test_the_registry_refuses_what_it_does_not_know(monkeypatch):
    monkeypatch.setattr(registry, "_items", dict(registry._items))
    with pytest.raises(InputError, match="did you mean 'buss-2001'"):
        item("buss-2010", "fig1", title="", kind="table")
    with pytest.raises(InputError, match="did you mean 'table'"):
        item("buss-2001", "fig1", title="", kind="tabel")
    with pytest.raises(InputError, match="did you mean 'krysl-2005'"):
        enter_errata("krysl-2055", ("a", "b", "c", "d"))
    item("buss-2001", "wrong", title="", kind="table")(lambda work: Figure(series=[]))
    with pytest.raises(InputError, match="must give a table, got Figure"):
        items("buss-2001/wrong")[0].run()
    for wanted, near_it in (("buss-2001/fgi4", "fig4"), ("bus-2001", "buss-2001"), ("al", "all")):
        with pytest.raises(InputError, match=f"did you mean '{near_it}'"):
            items(wanted)
    with pytest.raises(InputError, match=r"name both: krysl-endres-2004/fig13$"):
        items("fig13")
    assert items("krysl-2005/") == items("krysl-2005")


# --- files and the report -------------------------------------------------------------------------


def test_a_result_is_not_used_when_anything_has_changed(tmp_path):
    compute(QUICKEST, quick=True, folder=tmp_path)
    place = tmp_path / "buss-2001"
    assert stored_result(QUICKEST, tmp_path, quick=True)
    stored = (place / "fig2.json").read_text("utf-8")
    for broken in (stored.replace('"sources": "', '"sources": "0'), stored[:-20], "[]", ""):
        (place / "fig2.json").write_text(broken)
        assert stored_result(QUICKEST, tmp_path, quick=True) is None
    (place / "fig2.json").write_text(stored)
    (place / "fig2.svg").unlink()
    assert stored_result(QUICKEST, tmp_path, quick=True) is None


def test_a_full_result_serves_a_quick_request_and_the_report_has_all_that_is_stored_result(
    tmp_path,
):
    full = compute(QUICKEST, quick=False, folder=tmp_path)
    before = (tmp_path / "buss-2001" / "fig2.json").stat().st_mtime_ns
    compute("krysl-endres-2004/fig8", quick=True, folder=tmp_path)
    assert stored_result(QUICKEST, tmp_path, quick=True)["quick"] is False is full["quick"]
    reproduce(QUICKEST, listing=False, output=tmp_path, quick=True, as_json=True)
    assert (tmp_path / "buss-2001" / "fig2.json").stat().st_mtime_ns == before
    both = {"buss-2001-fig2", "krysl-endres-2004-fig8"}
    assert both <= Page((tmp_path / NAME).read_text("utf-8")).ids
    reproduce(QUICKEST, listing=False, output=tmp_path, quick=False, as_json=True)
    text = (tmp_path / NAME).read_text("utf-8")
    assert both <= Page(text).ids
    assert "reference 0.91" in text and "printed &lt; 0.5" in text and "1 of the 2 items" in text


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.sources, self.open = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found["id"]} if "id" in found else set()
        self.links += [found["href"]] if "href" in found else []
        self.sources += [found["src"]] if "src" in found else []
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes nothing"


def test_the_report_is_one_self_contained_page(tmp_path):
    record = compute(QUICKEST, quick=True, folder=tmp_path)
    record = {
        **record,
        "cells": [asdict(Cell("<row>", "col", "1 & 2", 3, False, 'a "note"'))],
        "matched": 0,
        "total": 1,
    }
    path = write(tmp_path, [record], errata("buss-2001"))
    assert path == tmp_path / NAME
    text = path.read_text("utf-8")
    page = Page(text)
    assert page.open == []
    assert {link[1:] for link in page.links if link.startswith("#")} <= page.ids
    assert {"overview", "buss-2001", "buss-2001-fig2", "errata"} <= page.ids
    assert len(page.sources) == 1 and page.sources[0].startswith("data:image/svg+xml;base64,")
    assert "&lt;row&gt;" in text and "1 &amp; 2" in text and "<row>" not in text
    assert "prefers-color-scheme:dark" in text and "width=device-width" in text
    assert not re.search(r"(src|href)=['\"]https?:", text)
    for claim in record["claims"]:
        assert claim["verdict"] in text


# --- the command ----------------------------------------------------------------------------------


def test_list():
    rows = json.loads(command("--list", "--json").stdout)
    assert [f"{row['paper']}/{row['item']}" for row in rows] == [entry.key for entry in items()]
    done = command("--list")
    assert done.returncode == 0 and "krysl-endres-2004/fig13" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["buss-2001/fgi4"], "did you mean 'fig4'"),
        (["bus-2001"], "did you mean 'buss-2001'"),
        ([], "--list shows them"),
        (["buss-2001/fig2", "--output", "/proc/none"], "--output"),
    ],
)
def test_bad_requests_end_before_any_work(arguments, words):
    done = command(*arguments)
    assert done.returncode == 2
    assert words in done.stderr and done.stdout == ""


def test_one_item_as_json_and_as_text():
    data = json.loads(command("krysl-endres-2004/fig8", "--quick", "--json").stdout)
    assert {"paper", "item", "cells", "matched", "total", "claims"} <= set(data)
    assert (data["paper"], data["item"], data["matched"], data["total"]) == (
        "krysl-endres-2004",
        "fig8",
        0,
        1,
    )
    assert set(data["cells"][0]) == {"row", "column", "printed", "ours", "match", "note", "source"}
    figure = json.loads(command(QUICKEST, "--json").stdout)
    assert set(figure["series"][0]) == {"name", "x", "y"} and set(figure["claims"][0]) == {
        "claim",
        "verdict",
        "evidence",
    }
    text = command("buss-2001/fig5").stdout
    assert "Nothing was written" in text
    assert "28 of 28 agree" in text and "does not hold" in text and "McLachlan-Reich 2-3-1" in text


WITHOUT_THE_LONG_ONES = """
from polhode.cli import main
from polhode.papers import _items as _registry, items

items()
for long in ("fig1", "fig4"):
    del _registry._items[f"bou-rabee-2009/{long}"]
main()
"""


def test_an_interrupted_run_keeps_what_is_finished_and_resumes(tmp_path):
    arguments = [
        sys.executable,
        "-c",
        WITHOUT_THE_LONG_ONES,
        "reproduce",
        "bou-rabee-2009",
        "--quick",
        "--output",
        str(tmp_path),
    ]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("*/*.json")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130 and "interrupted" in err
    first = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.json")}
    assert first and not list(tmp_path.glob("*/.*"))
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(path.stat().st_mtime_ns == when for path, when in first.items())
    assert len(list(tmp_path.glob("bou-rabee-2009/*.json"))) == 3
    page = Page((tmp_path / NAME).read_text("utf-8"))
    assert {f"bou-rabee-2009-fig{number}" for number in (2, 3, 5)} <= page.ids
