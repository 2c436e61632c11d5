"""The command `polhode certify`: several processes, a bar, tables and figures."""

import os
import re
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from polhode.studies import facts
from polhode import problems
from polhode.studies.facts import report
from polhode.studies.facts.source import as_method, check
from polhode.cli._app import FINE, NUMERICAL_FAILURE, UNCERTIFIED, console, plain_table, print_json, progress_bar
from polhode.errors import InputError
from polhode.io import store
from polhode.methods import names
from polhode.loads.user_file import is_target

FIGURES = ("png", "pdf", "svg")
COLOUR = {"ok": "green", "FAIL": "bold red", "not measured": "bold yellow", "-": "dim"}


def run(given, every, problem, output, folder, force, as_json):
    """Certify, print, draw; the exit code."""
    targets = find(given, every)
    if problem is not None:
        problem = problems.get(problem).name   # a misspelt one is refused before any work
    if output and len(targets) > 1:
        raise InputError(f"-o draws one certificate, and there are {len(targets)} methods; give --figure FOLDER")
    places = figures(targets, output, folder, force)
    found = measured(targets, problem)
    for target, place in places.items():
        found[target].figure(place)
    certificates = list(found.values())
    if as_json:
        print_json([certificate.to_dict() for certificate in certificates])
    else:
        show(certificates)
    if any(certificate.failed for certificate in certificates):
        return UNCERTIFIED
    return NUMERICAL_FAILURE if any(certificate.missing for certificate in certificates) else FINE


def find(given, every):
    """What is to be certified: a name or "FILE.py:NAME" for each method, each once; all of it exists and takes a step."""
    if every == bool(given):
        raise InputError("give methods or --all, not both; drop one" if every else
                         "nothing is named to certify; name methods or files, or give --all")
    targets = {}
    for target in names() if every else given:
        if not is_target(target) or ".py:" in target:
            targets[as_method(target).name if not is_target(target) else target] = None
        else:
            targets.update(dict.fromkeys(f"{target}:{method.name}" for method in facts.from_file(target)))
    for target in targets:
        if is_target(target):
            check(as_method(target))
    return list(targets)


def figures(targets, output, folder, force):
    """Where each figure goes; refused before any work where something is in the way."""
    places = {targets[0]: output} if output else {}
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        places = {target: folder / f"{plain_name(target)}.png" for target in targets}
    for place in places.values():
        store.check(place, None, force, FIGURES)
    return places


def plain_name(target):
    """A method's name as the name of a file: LIEMID[EA] is LIEMID-EA."""
    return re.sub(r"[^\w.+]+", "-", target.rpartition(".py:")[2]).strip("-")


def measured(targets, problem):
    """The certificates in the order asked for, by two processes or more where there are several."""
    found = dict.fromkeys(targets)
    with progress_bar(f"measuring {plain_name(targets[0])}") as bar:
        if len(targets) == 1:
            return {targets[0]: facts.certify(targets[0], problem)}
        with ProcessPoolExecutor(min(len(targets), os.cpu_count() or 1), get_context("spawn")) as pool:
            work = {pool.submit(facts.certify, target, problem): target for target in targets}
            try:
                for done, future in enumerate(as_completed(work), 1):
                    found[work[future]] = future.result()
                    bar(done, len(targets), f"measured {plain_name(work[future])}")
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    return found


# --- tables -------------------------------------------------------------------------------------------------------------------

def show(certificates):
    screen = console()
    for certificate in certificates:
        screen.print(block(certificate))
    if len(certificates) > 1:
        screen.print(comparison(certificates))


def block(certificate):
    """The table of one certificate."""
    from rich.markup import escape

    table = plain_table(("fact", "left"), ("declared", "right"), ("measured", "left"), ("", "left"))
    table.title = f"{escape(certificate.name)}  [{'green' if certificate.ok else 'red'}]{certificate.verdict}"
    if certificate.note:
        table.caption = f"Long runs took uncompiled steps: {escape(certificate.note)}"
    for title, declared, text, verdict in report.rows(certificate):
        told = "[dim]-" if declared == "-" else declared
        table.add_row(f"[cyan]{escape(title)}", told, escape(text), f"[{COLOUR[verdict]}]{verdict}")
    return table


def comparison(certificates):
    """One line for each of several."""
    from rich.markup import escape

    table = plain_table(("method", "left"), *((title, "right") for title, _ in report.COLUMNS), ("", "left"))
    table.title = "Side by side"
    table.caption = ("momentum, energy: kept by the free body; drift: slope of the energy on "
                     f"{certificates[0].problem}, or when it was lost altogether; limit: largest stable h omega; ns: per step")
    for certificate in certificates:
        *cells, verdict = map(escape, report.compared(certificate))
        table.add_row(f"[cyan]{cells[0]}", *cells[1:], f"[{COLOUR[verdict]}]{verdict}")
    return table
