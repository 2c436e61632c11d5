"""The command `polhode compare`: several processes, a bar, tables, a figure and a page."""

import os
import signal
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context

from polhode.cli._app import INTERRUPTED, complain, console, plain_table, print_json, progress_bar
from polhode.studies.compare import entries
from polhode.studies.compare._compare import asked, begin, measured
from polhode.studies.compare.task import as_task
from polhode.show.view._comparison import said, shown
from polhode.errors import InputError
from polhode.io import store

FIGURES = ("png", "pdf", "svg")
COLUMNS = {"method": "method", "slope": "order", "setting": "step", "steps": "steps", "evaluations": "torques",
           "seconds": "time [µs]", "energy": "energy", "momentum": "momentum"}


def run(problem, torque_file, methods, family, errors, until, currency, output, page, force, as_json):
    """Compare, print, draw; the exit code."""
    chosen = entries.chosen(None if methods is None else methods.split(","), family)
    errors = asked(numbers(errors))
    task = as_task(problem, torque_file=torque_file).until(until)
    for place, kinds in ((output, FIGURES), (page, ("html",))):
        if place:
            store.check(place, None, force, kinds)
    found = gathered(task, until, chosen, errors)
    if found.curves and output:
        found.figure(output, currency)
    if found.curves and page:
        found.html(page)
    if as_json:
        print_json(found.to_dict())
    elif found.curves:
        show(found)
    if found.interrupted:
        complain(f"interrupted after {len(found.curves)} of {len(chosen)} methods")
    return INTERRUPTED if found.interrupted else 0


def numbers(text):
    """Numbers from a list with commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--errors must be numbers with commas between them, got {text!r}; write --errors 1e-3,1e-6") from None


def gathered(task, until, chosen, errors):
    """The comparison, by as many processes as there are cores; Ctrl-C keeps the methods that are finished."""
    with progress_bar("finding the truth") as bar:
        found, curves = begin(task, errors), {}
        workers = min(len(chosen), os.cpu_count() or 1)
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_ignore_interrupts) as pool:
            work = {pool.submit(_measured, task.recipe, until, found.truth, name, errors): name for name in chosen}
            try:
                for done, future in enumerate(as_completed(work), 1):
                    curves[work[future]] = future.result()
                    bar(done, len(chosen), f"measured {work[future]}")
            except KeyboardInterrupt:
                found.interrupted = True
                pool.shutdown(wait=False, cancel_futures=True)
                for child in active_children():   # they would go on for as long as a method takes
                    child.terminate()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    found.curves.extend(curves[name] for name in chosen if name in curves)
    return found


def _ignore_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_IGN)   # the parent decides


def _measured(recipe, until, truth, name, errors):
    """The work of a process: the task is made again from its recipe."""
    return measured(as_task(**recipe).until(until), truth, name, errors)


# --- tables -------------------------------------------------------------------------------------------------------------------

def show(found):
    from rich.text import Text

    screen = console()
    for number, error in enumerate(found.errors):
        screen.print(ranking(found, error, last=number == len(found.errors) - 1))
    for curve in found.curves:
        if curve.note:
            screen.print(Text.assemble((curve.name, "yellow"), f": {curve.note}"))


def ranking(found, error, last):
    """The methods in the order of the time they take to an error."""
    from rich.markup import escape

    table = plain_table(*((title, "left" if key == "method" else "right") for key, title in COLUMNS.items()))
    table.title = f"{escape(found.title)}: to an error of {error:g}"
    if last:
        table.caption = said(found)
    for row in found.ranking(error):
        if row["seconds"] is None:
            best = "" if row["best_error"] is None else f"[dim]best {row['best_error']:.1e}"
            table.add_row(f"[dim]{escape(row['method'])}", shown(row, "slope"), best)
        else:
            cells = [shown(row, key) for key in COLUMNS if key != "method"]
            table.add_row(f"[cyan]{escape(row['method'])}", *cells)
    return table
