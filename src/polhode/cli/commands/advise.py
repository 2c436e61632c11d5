"""`polhode advise`: several processes compile the candidates, then one process measures them."""

from typing import Annotated, Any

import typer
from rich.console import JustifyMethod
from rich.markup import escape
from rich.table import Table

from polhode.cli.completion import complete_methods
from polhode.cli.options import AsJson, Problem, TorqueFile
from polhode.cli.progress import Bar, progress_bar
from polhode.cli.terminal import make_console, make_table, print_json

GROUP = "Methods"
COLUMNS: tuple[tuple[str, JustifyMethod], ...] = (
    ("method", "left"),
    ("step or rtol", "right"),
    ("steps", "right"),
    ("torques", "right"),
    ("cost", "right"),
    ("error", "right"),
    ("energy", "right"),
    ("", "left"),
)


def advise(
    problem: Problem,
    error: Annotated[
        float, typer.Option(help="Allowed error: radians, other parts relative to their size.")
    ] = 1e-6,
    torque_cost: Annotated[
        str | None, typer.Option(help="Cost of one torque evaluation: 2ms, 500us, 1.5s.")
    ] = None,
    long: Annotated[
        bool, typer.Option("--long", help="No energy drift; --error is that of the energy.")
    ] = False,
    symplectic: Annotated[
        bool, typer.Option("--symplectic", help="Symplectic methods only.")
    ] = False,
    explicit: Annotated[
        bool, typer.Option("--explicit", help="Only methods that solve no equation.")
    ] = False,
    symmetric: Annotated[
        bool, typer.Option("--symmetric", help="Time-symmetric methods only.")
    ] = False,
    one_torque: Annotated[
        bool, typer.Option("--one-torque", help="Only methods with one torque evaluation per step.")
    ] = False,
    order: Annotated[int | None, typer.Option(help="The least order.")] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Methods to try, separated by commas.", autocompletion=complete_methods),
    ] = None,
    until: Annotated[float | None, typer.Option(help="End the span at this time.")] = None,
    budget: Annotated[
        float, typer.Option(help="Time limit for torque evaluations in pilot runs, in seconds.")
    ] = 10.0,
    torque_file: TorqueFile = None,
    as_json: AsJson = False,
) -> None:
    """Recommend a method and a step, from pilot runs with your own body, torque and span."""
    import polhode
    from polhode.errors import number
    from polhode.studies.advise import candidates
    from polhode.studies.advise._advise import methods_to_try
    from polhode.studies.advise.cost import seconds
    from polhode.studies.compare._compare import check_error
    from polhode.studies.compare.as_task import as_task

    wanted = None if methods is None else methods.split(",")
    check_error(error)
    number("budget", budget, positive=True)
    cost = None if torque_cost is None else seconds("--torque-cost", torque_cost)
    task = as_task(problem, torque_file=torque_file).until(until)
    demands = candidates.demands(symplectic, explicit, symmetric, one_torque, order)
    chosen, _ = methods_to_try(task, demands, wanted, long, symplectic)
    with progress_bar("compiling") as bar:
        able = [entry.name for entry in chosen if not entry.obstacle(task)]
        _compile_all(task.recipe, able, bar)
        advice = polhode.advise(
            task,
            error=error,
            torque_cost=cost,
            long=long,
            symplectic=symplectic,
            explicit=explicit,
            symmetric=symmetric,
            one_torque=one_torque,
            order=order,
            methods=wanted,
            until=until,
            budget=budget,
            progress=lambda done, total, name: bar(done, total, f"trying {name}"),
        )
    if as_json:
        print_json(advice.to_dict())
    else:
        print_advice(advice)


def _compile_all(recipe: dict[str, Any], names: list[str], bar: Bar) -> None:
    """Let several processes put the machine code of the candidates into the cache."""
    from polhode.studies.processes import run_in_processes

    compiled = []

    def report(name: str, _: None) -> None:
        compiled.append(name)
        bar(len(compiled), len(names), f"compiled {name}")

    run_in_processes(_compile, {name: (recipe, name) for name in names}, report)


def _compile(recipe: dict[str, Any], name: str) -> None:
    """Compile one candidate, in a process of its own."""
    from polhode.studies.compare.entries import find
    from polhode.studies.compare.as_task import as_task

    find(name).runner(as_task(**recipe), None).compile()


# --- tables -----------------------------------------------------------------------------------


def print_advice(advice: Any) -> None:
    """Print the recommendation, the candidates and the notes."""
    sizes = (advice.step and f"step {advice.step:.6g}", advice.rtol and f"rtol {advice.rtol:.2g}")
    size = next(filter(None, sizes), "no step: closed form")
    console = make_console()
    console.print(
        f"[bold]{escape(advice.task.title)}[/]: [bold cyan]{escape(advice.method)}[/], {size}"
    )
    console.print(escape(advice.why))
    console.print(candidates_table(advice))
    for note in advice.notes:
        console.print(f"[yellow]{escape(note)}")


def candidates_table(advice: Any) -> Table:
    """Return a table of all candidates, the cheapest first."""
    from polhode.studies.advise.cost import duration_text

    table = make_table(*COLUMNS)
    for trial in advice.trials:
        point = trial.point
        if point is None:
            table.add_row(f"[dim]{escape(trial.name)}", *[""] * 6, f"[dim]{escape(trial.note)}")
            continue
        settings = {"step": f"{point.setting:.4g}", "rtol": f"rtol {point.setting:.4g}"}
        table.add_row(
            f"[cyan]{escape(trial.name)}",
            settings.get(trial.knob, "–"),
            str(point.steps),
            str(point.evaluations),
            duration_text(trial.cost),
            f"{point.error:.1e}",
            f"{point.energy:.1e}",
            escape(trial.note),
        )
    t0, t1 = advice.pilot_span
    source = "measured" if advice.verified else "extrapolated"
    table.caption = (
        f"Errors are {source} (reference: {advice.truth}); pilot runs from t = {t0:g} to {t1:g} with {advice.spent} "
        f"torque evaluations of {duration_text(advice.price.torque)}."
    )
    return table
