"""`polhode certify`."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from polhode.cli.completion import complete_method, complete_problem_name
from polhode.cli.exit_codes import NUMERICAL_FAILURE, UNCERTIFIED
from polhode.cli.options import FIGURE_FORMATS, AsJson, Force
from polhode.cli.progress import progress_bar
from polhode.cli.terminal import make_console, make_table, print_json

GROUP = "Methods"
COLOUR = {"ok": "green", "FAIL": "bold red", "not measured": "bold yellow", "-": "dim"}


def certify(
    methods: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names, FILE.py, FILE.py:FUNCTION, or code in C as for --c.",
            autocompletion=complete_method,
        ),
    ] = None,
    c: Annotated[
        list[str] | None,
        typer.Option(
            "--c",
            metavar="FILE.c|LIBRARY[:NAME]",
            help="A step in C, or in a shared library; may be repeated.",
        ),
    ] = None,
    declare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="A fact to be judged, such as order=2 or symmetric=yes; may be repeated.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All registered methods.")] = False,
    problem: Annotated[
        str | None,
        typer.Option(
            help="Problem on which drift is measured; default: the stress test.",
            autocompletion=complete_problem_name,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Draw one certificate: .png, .pdf, .svg.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw every certificate into this folder.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Measure the facts of methods, declared or not.

    The exit code is 1 when a declared fact fails, and 3 when one could not be measured.

    Code in C is a file of `polhode export`, or has this function:

    void step(double h, double t, double q[4], double omega[3],
    const double I[3], TORQUE, void *context);

    void (*TORQUE)(double t, const double q[4], const double omega[3],
    double torque[3], void *context);

    It takes q (x, y, z, w; body to space) and omega (body axes) from time t
    to t + h.  I are the principal moments of inertia; torques are in space.
    FILE.c:NAME is NAME_step.  A comment `polhode: order=2, symmetric=yes`
    declares facts.

    The file is compiled by cc, gcc or clang (or CC, with CFLAGS) and runs
    inside polhode, because you ask for it: give only code that you trust.
    It does so in a process of its own, so that a crash is told, and Ctrl-C
    ends a loop that does not.
    """
    from polhode import problems
    from polhode.errors import InputError
    from polhode.studies.c_code import read_facts, split

    for target in c or []:
        split(target)
    targets = find_targets([*(methods or []), *(c or [])], every)
    declared = read_facts(",".join(declare)) if declare else None
    if problem is not None:
        problem = problems.of_one_body(problem).name  # a misspelt one is refused before any work
    if output and len(targets) > 1:
        raise InputError(
            f"-o draws one certificate, and there are {len(targets)} methods; give --figure FOLDER"
        )
    paths = _figure_paths(targets, output, figure, force)
    certificates = _measure(targets, problem, declared)
    for target, path in paths.items():
        certificates[target].figure(path)
    if as_json:
        print_json([certificate.to_dict() for certificate in certificates.values()])
    else:
        print_certificates(list(certificates.values()))
    if any(certificate.failed for certificate in certificates.values()):
        raise typer.Exit(UNCERTIFIED)
    if any(certificate.missing for certificate in certificates.values()):
        raise typer.Exit(NUMERICAL_FAILURE)


def find_targets(given: list[str], every: bool) -> list[str]:
    """Return a name, "FILE.py:NAME" or "FILE.c:NAME" for each method, each once; all exist, and those
    in Python take a step."""
    from polhode.errors import InputError
    from polhode.loads.user_file import is_target
    from polhode.methods import names
    from polhode.studies import c_code, facts
    from polhode.studies.facts.source import as_method, check

    if every and given:
        raise InputError("give methods or --all, not both; drop one")
    if not every and not given:
        raise InputError("no method is given; name methods or files, or give --all")
    targets: dict[str, None] = {}
    for target in names() if every else given:
        if c_code.is_target(target):
            folder = c_code.split(target)[0].parent
            targets |= {str(folder / one.name): None for one in c_code.from_c(target)}
        elif not is_target(target):
            targets[as_method(target).name] = None
        elif ".py:" in target:
            targets[target] = None
        else:
            targets |= dict.fromkeys(
                f"{target}:{method.name}" for method in facts.from_file(target)
            )
    for target in targets:
        if is_target(target):
            check(as_method(target))
    return list(targets)


def _figure_paths(
    targets: list[str], output: Path | None, folder: Path | None, force: bool
) -> dict[str, Path]:
    """Return where each figure goes; an existing file is refused before any work."""
    from polhode.io import store

    paths = {targets[0]: output} if output else {}
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        paths = {target: folder / f"{file_name(target)}.png" for target in targets}
    for path in paths.values():
        store.check_output(path, FIGURE_FORMATS, force)
    return paths


def file_name(target: str) -> str:
    """Return a method's name as the name of a file: LIEMID[EA] is LIEMID-EA, a/b.c:top is b.c-top."""
    name = re.sub(r".*\.py:|.*[/\\](?=[^/\\]+\.(c|so|dylib|dll)\b)", "", target)
    return re.sub(r"[^\w.+]+", "-", name).strip("-")


def _measure(
    targets: list[str], problem: str | None, declared: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the certificates in the given order, measured by several processes; code in C, which
    could end the process that runs it, always by another one."""
    from concurrent.futures.process import BrokenProcessPool

    import polhode
    from polhode.studies.c_code import is_target
    from polhode.studies.processes import run_in_processes

    certificates: dict[str, Any] = {}
    with progress_bar(f"measuring {file_name(targets[0])}") as bar:
        if len(targets) == 1 and not is_target(targets[0]):
            return {targets[0]: polhode.certify(targets[0], problem, declared)}

        def keep(target: str, certificate: Any) -> None:
            certificates[target] = certificate
            bar(len(certificates), len(targets), f"measured {file_name(target)}")

        work = {target: (target, problem, declared) for target in targets}
        try:
            run_in_processes(polhode.certify, work, keep)
        except BrokenProcessPool:  # one by one: which was it?
            for target in targets:
                if target not in certificates:
                    _measure_alone(target, work[target], keep)
    return {target: certificates[target] for target in targets}


def _measure_alone(target: str, values: tuple[Any, ...], keep: Any) -> None:
    """Measure one method by a process that it may end."""
    from concurrent.futures.process import BrokenProcessPool

    import polhode
    from polhode.errors import InputError
    from polhode.studies.processes import run_in_processes

    try:
        run_in_processes(polhode.certify, {target: values}, keep)
    except BrokenProcessPool:
        raise InputError(
            f"{target!r} ended the process that ran it: it crashed, or called exit or abort; run it under a debugger, "
            "or compile it with CFLAGS='-g -fsanitize=undefined'"
        ) from None


# --- tables -----------------------------------------------------------------------------------


def print_certificates(certificates: list[Any]) -> None:
    """Print a table for each certificate, and one for all."""
    console = make_console()
    for certificate in certificates:
        console.print(certificate_table(certificate))
    if len(certificates) > 1:
        console.print(comparison_table(certificates))


def certificate_table(certificate: Any) -> Table:
    """Return the table of one certificate."""
    from polhode.studies.facts import report

    table = make_table(("fact", "left"), ("declared", "right"), ("measured", "left"), ("", "left"))
    colour = "green" if certificate.ok else "red"
    table.title = f"{escape(certificate.name)}  [{colour}]{certificate.verdict}"
    if certificate.note:
        table.caption = f"Long runs took uncompiled steps: {escape(certificate.note)}"
    for title, declared, text, verdict in report.rows(certificate):
        table.add_row(
            f"[cyan]{escape(title)}",
            "[dim]-" if declared == "-" else declared,
            escape(text),
            f"[{COLOUR[verdict]}]{verdict}",
        )
    return table


def comparison_table(certificates: list[Any]) -> Table:
    """Return a table with a line for each certificate."""
    from polhode.studies.facts import report

    table = make_table(
        ("method", "left"), *((title, "right") for title, _ in report.COLUMNS), ("", "left")
    )
    table.title = "Side by side"
    table.caption = (
        "momentum, energy: conserved for a free body; drift: slope of the energy on "
        f"{certificates[0].problem}, or the time when it was lost; limit: largest stable h omega; ns: per step"
    )
    for certificate in certificates:
        name, *cells, verdict = map(escape, report.comparison_row(certificate))
        table.add_row(f"[cyan]{name}", *cells, f"[{COLOUR[verdict]}]{verdict}")
    return table
