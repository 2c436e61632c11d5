"""The command `polhode reproduce`: items in several processes, a bar, tables, figures and the report."""

import multiprocessing
import os
import queue
import signal
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path

from polhode.cli._app import console, plain_table, point_to, print_json, progress_bar
from polhode.errors import InputError
from polhode.io.store import check_report
from polhode.papers import FAILS, HOLDS, OPEN, OTHER_REASON, REFERENCE, VERDICTS, errata, items
from polhode.papers._report import NAME as REPORT
from polhode.papers._report import write
from polhode.papers._store import PARTIAL, compute, kept

PROCESSES = 2            # items at a time; each of them uses one core
DEFAULT = Path("polhode-papers")
COLOUR = {HOLDS: "green", OTHER_REASON: "yellow", FAILS: "red", OPEN: "dim"}
SHORT = {HOLDS: "hold", OTHER_REASON: "other reason", FAILS: "fail", OPEN: "open"}


def run(target, listing, out, quick, as_json):
    """List, or compute and show."""
    if listing or target is None:
        if target is None and not listing:
            raise InputError("name what to reproduce: a PAPER, PAPER/ITEM, or all; --list shows them")
        return show_list(items(target or "all"), as_json)
    chosen = items(target)
    if out is None and target.strip().lower().rstrip("/") == "all":
        out = DEFAULT
    if out is not None:
        writable(out)
    records = reproduced(chosen, quick, out)
    report = write_report(out, records) if out is not None else None
    if as_json:
        print_json(records[0] if len(chosen) == 1 and "/" in target.strip().rstrip("/") else records)
        return
    show(records[0]) if len(records) == 1 else show_summary(records)
    if report is not None:
        console().print()
        point_to("Report", report)
    else:
        console().print("\n[dim]Nothing was written; --out DIR keeps the figures, the numbers and a report.")


def writable(folder):
    """Make the folder, or say why not, before any work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write into {str(folder)!r}: {error.strerror}; choose another folder for --out") from error
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write into {str(folder)!r}: it is not writable; choose another folder for --out")
    check_report(folder, REPORT)


def write_report(folder, records):
    """One page about these records and everything else that the folder holds."""
    own = {f"{record['paper']}/{record['item']}": record for record in records}
    found = (own.get(item.key) or kept(item.key, folder, quick=True) for item in items())
    return write(folder, [record for record in found if record is not None], errata())


# --- work -------------------------------------------------------------------------------------------------------------------

def reproduced(chosen, quick, folder):
    """The records of the items, in their order; those that the folder holds are not computed again."""
    found = {item.key: kept(item.key, folder, quick) if folder is not None else None for item in chosen}
    missing = sorted((item for item in chosen if found[item.key] is None), key=lambda item: -item.seconds)
    with progress_bar(f"{len(chosen) - len(missing)} of {len(chosen)} items are there") as bar:
        if len(missing) == 1:
            key = missing[0].key
            found[key] = compute(key, quick, folder, lambda fraction: bar(fraction, 1.0, key))
        elif missing:
            found |= in_processes(missing, quick, folder, bar)
    return list(found.values())


def in_processes(missing, quick, folder, bar):
    """Records by key, from two processes; on Ctrl-C or an error they are ended, and what is finished is kept."""
    context = multiprocessing.get_context("spawn")
    reports = context.Queue()
    weights = {item.key: item.seconds for item in missing}
    done, found = dict.fromkeys(weights, 0.0), {}
    pool = ProcessPoolExecutor(min(PROCESSES, len(missing), os.cpu_count() or 1), context, begin, (reports,))
    try:
        pending = {pool.submit(work, item.key, quick, folder): item.key for item in missing}
        while pending:
            finished, _ = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in finished:
                key = pending.pop(future)
                found[key], done[key] = future.result(), 1.0
            for key, fraction in told(reports):
                done[key] = max(done[key], fraction)
            share = sum(weights[key] * fraction for key, fraction in done.items()) / sum(weights.values())
            bar(share, 1.0, f"{len(found)} of {len(missing)} items")
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        children = multiprocessing.active_children()
        for child in children:
            child.terminate()
        for child in children:
            child.join(5.0)
        for child in children if folder is not None else ():   # what they were writing
            for stray in Path(folder).glob(f"*/{PARTIAL.format('*', child.pid)}"):
                stray.unlink(missing_ok=True)
        raise
    return found


def told(reports):
    """What the processes have said since the last time."""
    while True:
        try:
            yield reports.get_nowait()
        except queue.Empty:
            return


def begin(reports):
    """A new process: Ctrl-C is the parent's affair."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work.reports = reports


def work(key, quick, folder):
    """One item, in a process of its own."""
    return compute(key, quick, folder, lambda fraction: work.reports.put((key, float(fraction))))


# --- tables -----------------------------------------------------------------------------------------------------------------

def show_list(chosen, as_json):
    if as_json:
        return print_json([item.to_dict() for item in chosen])
    table = plain_table(("item", "left"), ("what it is", "left"), ("", "left"), ("about", "right"))
    table.caption = "polhode reproduce PAPER/ITEM, PAPER or all; about: seconds on one core, without --quick"
    for item in chosen:
        table.add_row(f"[cyan]{item.key}", item.title, f"[dim]{item.kind}", f"{item.seconds:g} s")
    return console().print(table)


def verdicts(record):
    """How many claims of a record have each verdict."""
    return {verdict: sum(claim["verdict"] == verdict for claim in record["claims"]) for verdict in VERDICTS}


def show_summary(records):
    table = plain_table(("item", "left"), ("what it is", "left"), ("paper cells", "right"), ("references", "right"),
                        *((SHORT[verdict], "right") for verdict in VERDICTS))
    table.caption = ("How many cells agree with the paper, and with an independent computation. The last columns count the "
                     "paper's claims: " + ", ".join(f"{SHORT[one]}: {one}" for one in VERDICTS))
    total = dict.fromkeys(VERDICTS, 0)
    for record in records:
        counts = verdicts(record)
        total = {verdict: total[verdict] + counts[verdict] for verdict in VERDICTS}
        table.add_row(f"[cyan]{record['paper']}/{record['item']}", record["title"], *shares([record]), *numbers(counts))
    table.add_section()
    table.add_row("[bold]all", "", *shares(records), *numbers(total))
    console().print(table)


def shares(records):
    """How many cells agree with the papers, and how many with references."""
    matched, total, agree, known = (sum(record[key] for record in records) for key in
                                    ("matched", "total", "reference_matched", "reference_total"))
    return [f"{count} of {whole}" if whole else "[dim]-" for count, whole in ((matched, total), (agree, known))]


def numbers(counts):
    return [f"[{COLOUR[verdict]}]{count}" if count else "[dim]-" for verdict, count in counts.items()]


def show(record):
    """One item: its cells or curves, and its claims."""
    from rich.markup import escape

    screen = console()
    screen.print(f"[bold]{record['paper']}/{record['item']}[/]  {escape(record['title'])}")
    if record["cells"]:
        screen.print(pivot(record))
    elif record["series"]:
        screen.print(curves(record["series"]))
    for note in record["notes"]:
        screen.print(f"[dim]{escape(note)}")
    for claim in record["claims"]:
        screen.print(f"\n[{COLOUR[claim['verdict']]}]{claim['verdict']}[/]: {escape(claim['claim'])}")
        screen.print(f"   [dim]{escape(claim['evidence'])}")


def pivot(record):
    """Rows and columns as the paper has them; where ours differs, the printed or reference value stands beside it."""
    from rich.markup import escape

    cells = {(cell["row"], cell["column"]): cell for cell in record["cells"]}
    rows, columns = (list(dict.fromkeys(cell[side] for cell in record["cells"])) for side in ("row", "column"))
    table = plain_table(("", "left"), *((column, "right") for column in columns))
    told = [f"{record['matched']} of {record['total']} agree with the paper"] if record["total"] else []
    if record["reference_total"]:
        told.append(f"{record['reference_matched']} of {record['reference_total']} with an independent computation")
    table.caption = "; ".join([*told, "in red what does not, the printed or reference value in brackets"]) if told else None
    for row in rows:
        table.add_row(f"[cyan]{escape(row)}", *(escape_cell(cells.get((row, column))) for column in columns))
    return table


def escape_cell(cell):
    from rich.markup import escape

    if cell is None:
        return ""
    ours = escape(shown(cell["ours"]))
    if cell["match"] is None:
        return ours
    label = "reference " if cell["source"] == REFERENCE else ""
    return f"[green]{ours}" if cell["match"] else f"[red]{ours} ({label}{escape(shown(cell['printed']))})"


def shown(value):
    """A number of a cell as text."""
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def curves(series):
    """What curves there are."""
    from rich.markup import escape

    table = plain_table(("curve", "left"), ("points", "right"), ("x", "left"), ("y", "left"))
    for curve in series:
        ends = [[value for value in curve[axis] if value is not None] for axis in "xy"]
        table.add_row(f"[cyan]{escape(curve['name'])}", str(len(curve["x"])),
                      *(f"{min(values):.4g} to {max(values):.4g}" if values else "" for values in ends))
    return table
