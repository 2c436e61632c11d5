"""The command `polhode advise`: candidates are compiled by several processes, then measured by one."""

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from polhode.studies.advise import candidates
from polhode.studies.advise._advise import advise, tried
from polhode.studies.advise.cost import seconds, spelt
from polhode.cli._app import console, plain_table, print_json, progress_bar
from polhode.studies.compare import entries
from polhode.studies.compare._compare import error_asked
from polhode.studies.compare.task import as_task
from polhode.errors import number


def run(problem, torque_file, options, methods, as_json):
    """Advise and print."""
    options = {**options, "methods": None if methods is None else entries.chosen(methods.split(","))}
    error_asked(options["error"])
    number("budget", options["budget"], positive=True)
    if options["torque_cost"] is not None:
        options["torque_cost"] = seconds("--torque-cost", options["torque_cost"])
    task = as_task(problem, torque_file=torque_file).until(options["until"])
    made = candidates.demands(*(options[name] for name in ("symplectic", "explicit", "symmetric", "one_torque", "order")))
    names, _ = tried(task, made, options["methods"], options["long"], options["symplectic"])
    with progress_bar("compiling") as bar:
        compile_all(task.recipe, names, bar)
        found = advise(task, progress=lambda done, total, name: bar(done, total, f"trying {name}"), **options)
    if as_json:
        print_json(found.to_dict())
    else:
        show(found)


def compile_all(recipe, names, bar):
    """Let several processes put the candidates' machine code into the cache."""
    with ProcessPoolExecutor(min(len(names), os.cpu_count() or 1), get_context("spawn")) as pool:
        work = {pool.submit(_compile, recipe, name): name for name in names}
        try:
            for done, future in enumerate(as_completed(work), 1):
                bar(done, len(names), f"compiled {work[future]}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _compile(recipe, name):
    """The work of a process; what goes wrong here goes wrong again, and is told, where it is measured."""
    task = as_task(**recipe)
    entries.runner(task, None, name).compile()


# --- tables -------------------------------------------------------------------------------------------------------------------

def show(found):
    from rich.markup import escape

    screen = console()
    size = f"step {found.step:.6g}" if found.step else f"rtol {found.rtol:.2g}" if found.rtol else "no step: closed form"
    screen.print(f"[bold]{escape(found.task.title)}[/]: [bold cyan]{escape(found.method)}[/], {size}")
    screen.print(escape(found.why))
    screen.print(table(found))
    for note in found.notes:
        screen.print(f"[yellow]{escape(note)}")


def table(found):
    """All candidates, the cheapest first."""
    from rich.markup import escape

    rows = plain_table(("method", "left"), ("step or rtol", "right"), ("steps", "right"), ("torques", "right"), ("cost", "right"),
                       ("error", "right"), ("energy", "right"), ("", "left"))
    for trial in found.trials:
        if trial.point is None:
            rows.add_row(f"[dim]{escape(trial.name)}", *[""] * 6, f"[dim]{escape(trial.note)}")
            continue
        point = trial.point
        setting = {"step": f"{point.setting:.4g}", "rtol": f"rtol {point.setting:.4g}"}.get(trial.knob, "–")
        cells = setting, str(point.steps), str(point.evaluations), spelt(trial.cost), f"{point.error:.1e}"
        rows.add_row(f"[cyan]{escape(trial.name)}", *cells, f"{point.energy:.1e}", escape(trial.note))
    t0, t1 = found.pilot_span
    checked = "measured" if found.verified else "extrapolated"
    rows.caption = (f"Errors {checked}; the truth by {found.truth}, pilot runs over t = {t0:g} to {t1:g}, {found.spent} torque "
                    f"evaluations used; a torque evaluation costs {spelt(found.price.torque)}.")
    return rows
