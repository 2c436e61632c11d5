"""The page about all reproductions: one self-contained HTML file, light and dark, for screens of
any size."""

import base64
import html
from pathlib import Path

from polhode import __version__
from polhode.papers._registry import PAPERS
from polhode.papers._results import FAILS, HOLDS, OPEN, OTHER_REASON, REFERENCE, VERDICTS
from polhode.papers._store import whole

NAME = "report.html"
LARGEST_SVG = 350_000  # bytes; a figure with more to draw is embedded as PNG
BADGE = {HOLDS: "good", OTHER_REASON: "odd", FAILS: "bad", OPEN: "open"}

STYLE = """
:root{--bg:#fff;--fg:#1c2430;--soft:#5b6675;--line:#dfe4ea;--card:#f6f8fa;--link:#0b63a5;
--good:#0a7d55;--goodbg:#e3f5ed;--bad:#b3400a;--badbg:#fdeadf;--odd:#8a6100;--oddbg:#fbf1d6;--open:#5b6675;--openbg:#eceff2}
@media(prefers-color-scheme:dark){:root{--bg:#12161c;--fg:#dfe5ec;--soft:#94a1b0;--line:#2b333d;--card:#1a2028;--link:#6cb6ee;
--good:#5fd3a6;--goodbg:#12352a;--bad:#ff9a63;--badbg:#43210f;--odd:#ecc564;--oddbg:#3b2f0e;--open:#a3afbd;--openbg:#262e37}}
*{box-sizing:border-box}html{scroll-behavior:smooth;scroll-padding-top:3.2rem}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1060px;margin:0 auto;padding:1rem 1.1rem 4rem}
nav{position:sticky;top:0;z-index:2;background:var(--bg);border-bottom:1px solid var(--line);overflow-x:auto;white-space:nowrap}
nav div{max-width:1060px;margin:0 auto;padding:.6rem 1.1rem;display:flex;gap:1.2rem}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
h1{font-size:1.8rem;line-height:1.2;margin:1.2rem 0 .4rem}
h2{font-size:1.35rem;margin:3rem 0 .3rem;padding-top:.6rem;border-top:2px solid var(--line)}
h3{font-size:1.08rem;margin:2.2rem 0 .5rem}h3 small,.soft{color:var(--soft);font-weight:400}
.jump{display:flex;flex-wrap:wrap;gap:.15rem .8rem;margin:.5rem 0}
.wide{overflow-x:auto;margin:.8rem 0}table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:.32rem .65rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:top;white-space:nowrap}
th{color:var(--soft);font-weight:600}th:first-child,td:first-child{text-align:left}
td small{color:var(--soft);display:block;font-size:.78em}td.bad{background:var(--badbg)}td.bad b{color:var(--bad)}
td.good b{font-weight:500}td b{font-weight:500}
table.text td,table.text th{text-align:left;white-space:normal;min-width:7rem}
.overview th{white-space:normal;max-width:7.5rem}tr.sum td{font-weight:650;border-top:2px solid var(--line)}
figure{margin:.8rem 0;background:#fff;border:1px solid var(--line);border-radius:8px;padding:.5rem;text-align:center}
figure img{max-width:min(100%,800px);height:auto;display:inline-block}
ul.claims{list-style:none;padding:0;margin:.8rem 0}
ul.claims li{padding:.55rem .8rem;background:var(--card);border-radius:8px;margin:.4rem 0}
ul.claims p{margin:.15rem 0}
.badge{display:inline-block;border-radius:99px;padding:.05rem .6rem;font-size:.8rem;font-weight:600;margin-right:.4rem}
.badge.good{color:var(--good);background:var(--goodbg)}.badge.bad{color:var(--bad);background:var(--badbg)}
.badge.odd{color:var(--odd);background:var(--oddbg)}.badge.open{color:var(--open);background:var(--openbg)}
ul.notes{color:var(--soft);font-size:.9rem;padding-left:1.1rem}ul.notes li{margin:.2rem 0}
details summary{cursor:pointer;color:var(--link);font-size:.92rem}
@media(max-width:640px){body{font-size:15px}h1{font-size:1.45rem}main{padding:.6rem .8rem 3rem}th,td{padding:.28rem .45rem}}
@media print{nav{display:none}figure,li{break-inside:avoid}}
"""


def write(folder, records, errata):
    """Write the page about these records into their folder; its path."""
    folder = Path(folder)
    papers = [name for name in PAPERS if any(record["paper"] == name for record in records)]
    parts = [
        overview(papers, records, errata),
        *(paper(name, records, folder) for name in papers),
        list_of(errata),
    ]
    quick = sum(record["quick"] for record in records)
    part = (
        f" Of {quick} of the {len(records)} items this is the quick version, a part of each."
        if quick
        else ""
    )
    links = [
        ("overview", "Overview"),
        *((name, PAPERS[name].short) for name in papers),
        ("errata", "Errata"),
    ]
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="polhode {__version__}">
<meta name="color-scheme" content="light dark"><title>polhode: the papers, reproduced</title><style>{STYLE}</style></head><body>
<nav><div>{"".join(f'<a href="#{where}">{safe(text)}</a>' for where, text in links)}</div></nav><main>
<h1 id="overview">The papers, computed anew</h1>
<p>Every table and figure of five documents on the rotation of rigid bodies, from polhode {__version__}, with the printed value
beside ours, or that of an independent computation where the paper prints none, and a verdict on what the papers claim.{part}</p>
{"".join(parts)}</main></body></html>
"""
    with whole(folder / NAME) as partial:
        partial.write_text(page, encoding="utf-8")
    return folder / NAME


def safe(text):
    """Text as HTML."""
    return html.escape(str(text))


def value_text(value):
    """A value of a cell as HTML."""
    return "–" if value is None else f"{value:.5g}" if isinstance(value, float) else safe(value)


# --- the top --------------------------------------------------------------------------------------


def tally(records):
    """Cells matched, those of the papers and those of references, and claims by verdict, as cells
    of a row."""
    matched, total, agree, known = (
        sum(record[key] for record in records)
        for key in ("matched", "total", "reference_matched", "reference_total")
    )
    counts = [
        sum(claim["verdict"] == verdict for record in records for claim in record["claims"])
        for verdict in VERDICTS
    ]
    return [
        share(matched, total),
        share(agree, known),
        *(str(count) if count else "–" for count in counts),
    ]


def share(matched, total):
    """How many of how many."""
    return f"{matched} of {total}" if total else "–"


def overview(papers, records, errata):
    """How much agrees, by paper."""
    heads = [
        "",
        "items",
        "paper cells matched",
        "reference values matched",
        *(f"claim {verdict}" for verdict in VERDICTS),
        "errata",
    ]
    rows = []
    for name in papers:
        own = [record for record in records if record["paper"] == name]
        count = sum(one.paper.startswith(name) for one in errata)
        rows.append(
            f"<tr><td><a href='#{name}'>{safe(PAPERS[name].short)}</a></td>"
            + "".join(f"<td>{cell}</td>" for cell in [len(own), *tally(own), count or "–"])
            + "</tr>"
        )
    whole_row = "".join(
        f"<td>{cell}</td>" for cell in ["all", len(records), *tally(records), len(errata)]
    )
    return (
        f"<div class='wide'><table class='overview'><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{''.join(rows)}"
        f"<tr class='sum'>{whole_row}</tr></table></div>"
    )


# --- papers and items -----------------------------------------------------------------------------


def paper(name, records, folder):
    """The section of a paper."""
    own = [record for record in records if record["paper"] == name]
    jump = "".join(
        f"<a href='#{name}-{record['item']}'>{safe(record['item'])}</a>" for record in own
    )
    return (
        f"<h2 id='{name}'>{safe(PAPERS[name].short)}</h2><p class='soft'>{safe(PAPERS[name].reference)}</p><div "
        f"class='jump'>{jump}</div>" + "".join(section(record, folder) for record in own)
    )


def section(record, folder):
    """One item: figure, table, claims, notes."""
    told = [f"{share(record['matched'], record['total'])} agree"] if record["total"] else []
    if record["reference_total"]:
        told.append(
            f"{share(record['reference_matched'], record['reference_total'])} reference values agree"
        )
    agree = f" <small>{', '.join(told)}</small>" if told else ""
    notes = "".join(f"<li>{safe(note)}</li>" for note in record["notes"])
    return (
        f"<h3 id='{record['paper']}-{record['item']}'>{safe(record['item'])}: {safe(record['title'])}{agree}</h3>"
        + picture(record, folder)
        + table(record["cells"])
        + (f"<ul class='notes'>{notes}</ul>" if notes else "")
        + claims(record)
    )


def picture(record, folder):
    """The figure, within the page."""
    place = folder / record["paper"] / record["item"]
    svg, png = place.with_name(f"{place.name}.svg"), place.with_name(f"{place.name}.png")
    if not svg.is_file():
        return ""
    path, kind = (svg, "svg+xml") if svg.stat().st_size <= LARGEST_SVG else (png, "png")
    data = base64.b64encode(path.read_bytes()).decode()
    return f"<figure><img loading='lazy' alt='{safe(record['title'])}' src='data:image/{kind};base64,{data}'></figure>"


def table(cells):
    """Rows and columns, ours with the printed or the reference value below it; notes follow."""
    if not cells:
        return ""
    rows, columns = (
        list(dict.fromkeys(cell[side] for cell in cells)) for side in ("row", "column")
    )
    at = {(cell["row"], cell["column"]): cell for cell in cells}
    body = "".join(
        f"<tr><td>{safe(row)}</td>{''.join(entry(at.get((row, column))) for column in columns)}</tr>"
        for row in rows
    )
    told = [cell for cell in cells if cell["note"] and cell["match"] is False]
    remarks = "".join(
        f"<li>{safe(cell['row'])}, {safe(cell['column'])}: {safe(cell['note'])}</li>"
        for cell in told
    )
    heads = "".join(f"<th>{safe(column)}</th>" for column in columns)
    more = f"<details><summary>{len(told)} remarks on what differs</summary><ul class='notes'>{remarks}</ul></details>"
    return f"<div class='wide'><table><tr><th></th>{heads}</tr>{body}</table></div>" + (
        more if told else ""
    )


def entry(cell):
    """One cell."""
    if cell is None:
        return "<td></td>"
    kind = {True: "good", False: "bad", None: ""}[cell["match"]]
    label = "reference" if cell["source"] == REFERENCE else "printed"
    said = (
        f"<small>{label} {value_text(cell['printed'])}</small>" if cell["match"] is not None else ""
    )
    return f"<td class='{kind}' title='{safe(cell['note'])}'><b>{value_text(cell['ours'])}</b>{said}</td>"


def claims(record):
    """What the paper claims, with a badge."""
    rows = "".join(
        f"<li><p><span class='badge {BADGE[claim['verdict']]}'>{claim['verdict']}</span>{safe(claim['claim'])}</p>"
        f"<p class='soft'>{safe(claim['evidence'])}</p></li>"
        for claim in record["claims"]
    )
    return f"<ul class='claims'>{rows}</ul>" if rows else ""


def list_of(errata):
    """The misprints of all documents."""
    parts = []
    for name, document in PAPERS.items():
        own = [one for one in errata if one.paper == name]
        texts = [(one.where, one.printed, one.correct, one.evidence) for one in own]
        rows = "".join(
            f"<tr>{''.join(f'<td>{safe(text)}</td>' for text in row)}</tr>" for row in texts
        )
        if own:
            parts.append(
                f"<h3>{safe(document.short)} <small>{len(own)}</small></h3><div class='wide'><table "
                "class='text'><tr><th>where</th>"
                f"<th>printed</th><th>correct</th><th>evidence</th></tr>{rows}</table></div>"
            )
    return f"<h2 id='errata'>Errata of the five documents</h2>{''.join(parts)}"
