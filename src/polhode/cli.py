"""The command line.  Whatever takes time to import is imported inside the commands, so that `polhode --help` is quick.

Every error ends here as one line on stderr and an exit code, a bug of polhode too; POLHODE_DEBUG=1 shows the traceback of that.
"""

import contextlib
import errno
import json
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from polhode.cli_encoding import can_show, write_any_character

FINE, UNCERTIFIED, BAD_INPUT, NUMERICAL_FAILURE, CLUSTER_LOST, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
EXIT_CODES = {
    FINE: "fine",
    UNCERTIFIED: "certify measured a method and found a declared fact false",
    BAD_INPUT: "bad input, found before anything is computed: an argument, a scenario, a file; or a file that cannot be written",
    NUMERICAL_FAILURE: "numerical failure: blow-up, an equation without solution, a torque that failed; what came before is "
                       "kept; or certify could not measure a declared fact, and found none false",
    CLUSTER_LOST: "a cluster was lost or has no workers; what it had finished is stored",
    BUG: "a bug of polhode; POLHODE_DEBUG=1 shows where",
    129: "ended by SIGHUP, as when the terminal is closed; what was computed is kept",
    INTERRUPTED: "interrupted by Ctrl-C; what was computed is kept",
    143: "ended by SIGTERM; what was computed is kept",
}


class Commands(TyperGroup):
    """The one place where errors become a line in red and an exit code."""

    typed = ()

    def make_context(self, info_name, args, parent=None, **extra):
        self.typed = tuple(args)
        with telling():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, context):
        try:
            with telling(), warnings.catch_warnings():
                warnings.showwarning = lambda message, *_: complain(message, style="yellow")
                return super().invoke(context)
        except typer.Exit as end:
            if end.exit_code == INTERRUPTED and Ended.by is not None:
                raise typer.Exit(128 + Ended.by) from None
            raise

    def resolve_command(self, context, args):
        if self.get_command(context, args[0]) is None:
            from polhode.errors import unknown

            raise unknown("command", args[0], self.list_commands(context))
        return super().resolve_command(context, args)


@contextlib.contextmanager
def telling():
    """Errors raised inside are told, and become an exit code."""
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except KeyboardInterrupt:
        complain("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        told = meaning(error)
        if told is None:
            raise
        complain(told[1])
        raise typer.Exit(told[0]) from None


def meaning(error):
    """(exit code, message) of an error; None for those told by others: a closed pipe, a bug looked for."""
    from polhode.errors import ClusterError, IntegrationError, PolhodeError

    if isinstance(error, PolhodeError):
        codes = ((IntegrationError, NUMERICAL_FAILURE), (ClusterError, CLUSTER_LOST), (PolhodeError, BAD_INPUT))
        return next(code for kind, code in codes if isinstance(error, kind)), str(error)
    if hasattr(error, "format_message"):   # a wrong command line
        from polhode.cli_usage import words

        return BAD_INPUT, words(error)
    if getattr(error, "errno", None) == errno.EPIPE or os.environ.get("POLHODE_DEBUG"):
        return None
    if isinstance(error, MemoryError):
        return BAD_INPUT, f"this needs more memory than there is ({error or 'none left'}); store less (every, --n)"
    if isinstance(error, OSError) and error.filename is not None:
        return BAD_INPUT, f"{error.strerror} ({os.fsdecode(error.filename)!r}); free the place, or choose another file"
    return BUG, (f"this is a bug of polhode, {type(error).__name__}: {error}.  Please report it with the command and what it "
                 "prints when POLHODE_DEBUG=1 is set")


app = typer.Typer(cls=Commands, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich",
                  context_settings={"help_option_names": ["-h", "--help"]},
                  help="Simulate rotating rigid bodies: the integrators of the rotation group, compiled and measured.",
                  epilog="\n\n".join(["Exit codes:", *(f"{code}  {what}" for code, what in EXIT_CODES.items())]))
TorqueFile = Annotated[str | None, typer.Option("--torque-file", metavar="FILE.py[:NAME]",
                                                help="A torque in Python for the scenario; the file is run.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print data for programs: JSON, and nothing else, on stdout.")]


class Ended:
    """The signal that is to end the command: it does what Ctrl-C does, and the exit code says which it was."""

    by = None
    terminals = ()   # the streams that lead to one; where it is gone, the system says that there never was any

    @classmethod
    def note(cls, number, frame):
        """What to do about a signal."""
        cls.by = number
        if number == getattr(signal, "SIGHUP", None):   # the terminal is gone: nothing can be written there any more
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in cls.terminals:
                os.dup2(nowhere, stream)
        press = signal.getsignal(signal.SIGINT)
        if not callable(press):   # Ctrl-C is ignored, as in a background job
            raise KeyboardInterrupt
        press(signal.SIGINT, frame)

    @classmethod
    def listen(cls):
        """From now on; a signal that is ignored, as by nohup, stays so."""
        cls.terminals = tuple(filter(os.isatty, range(3)))
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
                signal.signal(getattr(signal, name), cls.note)


def main():
    """Entry point of the `polhode` command."""
    write_any_character(sys.stdout, sys.stderr)
    Ended.listen()
    app(prog_name="polhode")


def _version(asked: bool):
    if asked:
        from polhode import __version__

        typer.echo(f"polhode {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def top(context: typer.Context,
        version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                              help="Print the version.")] = False):
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# --- commands ------------------------------------------------------------------------------------------------------------

@app.command()
def demo(out: Annotated[Path, typer.Option("--out", help="Folder for the report.")] = Path("polhode-demo"),
         as_json: AsJson = False):
    """Tumble a body, put five methods through a long stress test, and write a report: under a minute."""
    from polhode import demo as job

    with progress_bar() as bar:
        data = job.run(out, bar)
    if as_json:
        print_json(data)
        return
    table = plain_table(*((title, "left" if key == "method" else "right") for key, title in job.COLUMNS.items()))
    table.title = f"{data['problem']['title']}, {data['methods'][0]['steps']} steps"
    table.caption = job.note(data)
    for row in data["methods"]:
        colour = {"method": "cyan", "energy_drift": "green" if row["symplectic"] else "yellow"}
        table.add_row(*(f"[{colour.get(key, 'default')}]{job.shown(key, row)}" for key in job.COLUMNS))
    flip = data["flip"]
    screen = console()
    screen.print(table)
    screen.print(f"\nThe tumbling box turned over {flip['flips']} times, first at t = {flip['first_flip']:.3g} s.")
    point_to("Report", data["report"])


@app.command()
def methods(family: Annotated[str | None, typer.Option(help="Only this family.")] = None, as_json: AsJson = False):
    """List the methods and their facts."""
    from polhode.errors import unknown
    from polhode.methods import everything

    found = sorted(everything(), key=lambda entry: entry.family)
    families = sorted({entry.family for entry in found})
    if family is not None:
        if family.lower() not in families:
            raise unknown("family", family, families)
        found = [entry for entry in found if entry.family == family.lower()]
    facts = [entry.facts() for entry in found]
    if as_json:
        print_json(facts)
    else:
        console().print(methods_table(facts))


def methods_table(facts):
    """One line or two for each method, the families apart."""
    from rich.markup import escape

    table = plain_table(("method", "left"), ("order", "right"), ("torques", "right"), ("solves", "right"), ("symm.", "center"),
                        ("sympl.", "center"), ("keeps", "left"), ("what it is", "left"))
    table.caption = ("On demand: newmark(gamma), taylor(n) for n up to 24 (12 under most torques); NAME+ep keeps the energy of a "
                     "free body, and that under a torque with a potential; NAME+yoshida4, +suzuki4, +yoshida6 and +yoshida8 "
                     "compose a symmetric method.\n"
                     "order: in brackets that under torques that look at the angular velocity, where it is lower; "
                     "torques, solves: evaluations and nonlinear equations per step; symm., sympl.: time-symmetric, symplectic; "
                     "keeps: momentum (mom) and energy (E) of a free body, to round-off")
    tick = {True: "[green]yes", False: "[dim]-", "orbits": "[yellow]orbits"}
    for family in dict.fromkeys(row["family"] for row in facts):
        table.add_row(f"[bold magenta]{family}")
        for row in (row for row in facts if row["family"] == family):
            torques = "varies" if row["torques_per_step"] is None else str(row["torques_per_step"])
            keeps = " ".join({"momentum": "mom", "energy": "E"}.get(name, name) for name in row["conserves"])
            names = f" [dim]({escape(', '.join(row['aliases']))})" if row["aliases"] else ""
            lower = f" ({row['omega_order']})" if row["omega_order"] != row["order"] else ""
            table.add_row(f"[cyan]{escape(row['name'])}", f"{row['order']}{lower}", torques, str(row["solves_per_step"]),
                          tick[row["symmetric"]], tick[row["symplectic"]], keeps or "[dim]-",
                          escape(row["summary"]).rstrip(".") + names)
        table.add_section()
    return table


@app.command()
def problems(as_json: AsJson = False):
    """List the problems of the papers, with their parameters."""
    from polhode.problems import ALL

    rows = [problem.describe() for problem in ALL.values()]
    if as_json:
        print_json(rows)
        return
    from rich.markup import escape

    table = plain_table(("problem", "left"), ("what it is", "left"), ("moments", "left"), ("until", "right"), ("step", "right"))
    for row in rows:
        table.add_row(f"[cyan]{row['name']}", f"{row['title']}, torque [magenta]{row['torque']}[/]\n[dim]{escape(row['source'])}",
                      "\n".join(f"{moment:.4g}" for moment in row["moments"]), f"{row['t_span'][1]:g}", f"{row['step']:g}")
    console().print(table)


@app.command()
def run(scenario: Annotated[Path | None, typer.Argument(help="A scenario file; see the folder examples.")] = None,
        output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the motion: .nc, .npz, .csv or .zarr.")] = None,
        plot: Annotated[Path | None, typer.Option(help="Draw an overview: .png, .pdf or .svg.")] = None,
        torque_file: TorqueFile = None,
        checkpoint: Annotated[str | None, typer.Option(metavar="EVERY", help="Stream to disk, ready to go on after a crash: "
                                                                            "every so many steps, or 30s, 5min, 1h.")] = None,
        resume: Annotated[Path | None, typer.Option(metavar="FILE", help="Go on with the run that was to become FILE.")] = None,
        force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False, as_json: AsJson = False):
    """Run a scenario, or go on with one that was cut short."""
    from polhode import cli_run

    if code := cli_run.run(scenario, output, plot, torque_file, checkpoint, resume, force, as_json):
        raise typer.Exit(code)


@app.command()
def info(file: Annotated[Path, typer.Argument(help="A stored run, ensemble or sweep, or an unfinished run.")],
         as_json: AsJson = False):
    """Say what a file holds and where it comes from."""
    from polhode import cli_info

    cli_info.run(file, as_json)


def print_summary(title, summary):
    from rich.markup import escape

    table = plain_table(("", "left"), ("", "left"))
    table.title, table.show_header = escape(title), False
    for key, value in summary.items():
        if isinstance(value, list):
            rows = value if value and all(isinstance(row, list) for row in value) else [value]
            text = "\n".join("  ".join(_cell(x) for x in row) for row in rows)
        else:
            text = f"{value:.6g}" if isinstance(value, float) else str(value)
        if value not in (None, "", []):
            table.add_row(f"[cyan]{key.replace('_', ' ')}", escape(text))
    console().print(table)


def _cell(value):
    return f"{value: .12g}" if isinstance(value, (int, float)) else str(value)


@app.command()
def view(runs: Annotated[list[Path], typer.Argument(metavar="RUN.nc", help="A stored run, .nc or .npz.")],
         compare: Annotated[list[Path] | None, typer.Option(metavar="OTHER.nc ...", help="Runs to show beside it.")] = None,
         output: Annotated[Path | None, typer.Option("-o", "--output", help="The page; else RUN.html beside the run.")] = None,
         title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
         mesh_file: Annotated[Path | None, typer.Option("--mesh", help="Draw this surface, in body axes, as the body.")] = None,
         poinsot: Annotated[bool, typer.Option("--poinsot", help="Begin with Poinsot's picture.")] = False,
         show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
         force: Annotated[bool, typer.Option("--force", help="Overwrite an existing page.")] = False):
    """Make a page of stored runs: the body in 3D with plots that follow, one file, no network."""
    from polhode import cli_view

    cli_view.run([runs[0], *(compare or []), *runs[1:]], output, title, mesh_file, poinsot, show, force)


@app.command()
def plot(runs: Annotated[list[Path], typer.Argument(metavar="RUN.nc", help="A stored run; errors and drift take several.")],
         kind: Annotated[str, typer.Option(help="overview, errors, drift, polhode or flip.")] = "overview",
         output: Annotated[Path | None, typer.Option("-o", "--output", help="A .png, .pdf or .svg; else RUN-KIND.png.")] = None,
         force: Annotated[bool, typer.Option("--force", help="Overwrite an existing figure.")] = False):
    """Draw a figure of stored runs."""
    from polhode import cli_plot

    cli_plot.run(runs, kind, output, force)


@app.command()
def mesh(file: Annotated[Path, typer.Argument(help="A closed surface: .stl, .obj, .ply or .glb.")],
         density: Annotated[float | None, typer.Option(help="In kg/m^3; else 1.")] = None,
         mass: Annotated[float | None, typer.Option(help="In kg, in place of the density.")] = None,
         units: Annotated[str, typer.Option(help="Of its coordinates: m, cm, mm, um, nm, km, in, ft; or metres, as 0.01.")] = "m",
         as_json: AsJson = False):
    """Print mass, centre of mass and inertia of the solid inside a mesh."""
    from polhode import cli_mesh

    cli_mesh.run(file, density, mass, units, as_json)


@app.command()
def play(port: Annotated[int, typer.Option(help="Port of the page; 0 takes a free one.")] = 0,
         show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True):
    """Serve a page to play with, on this machine alone: body, spin, method and step by sliders, computed by the library."""
    from polhode import cli_play

    cli_play.run(port, show)


@app.command()
def ensemble(scenario: Annotated[Path, typer.Argument(help="A scenario; its section \\[ensemble] says how bodies differ.")],
             n: Annotated[int | None, typer.Option("--n", help="How many bodies, in place of the scenario's.")] = None,
             device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
             dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
             threads: Annotated[int | None, typer.Option(help="Threads; one per processor by default.")] = None,
             method: Annotated[str | None, typer.Option(help="A method in place of the scenario's.")] = None,
             output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the bodies: .nc, .npz or .zarr.")] = None,
             torque_file: TorqueFile = None,
             force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
             as_json: AsJson = False):
    """Run many bodies of a scenario at once."""
    from polhode import cli_ensemble

    code = cli_ensemble.run(scenario, torque_file, n, device, dtype, threads, method, output, force, as_json)
    if code:
        raise typer.Exit(code)


@app.command()
def sweep(source: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="A scenario; \\[sweep] in it says what varies.")],
          out: Annotated[Path | None, typer.Option(metavar="STORE.zarr", help="The store; else SWEEP.zarr here.")] = None,
          cluster: Annotated[str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler; else this machine.")] = None,
          workers: Annotated[int, typer.Option(help="Processes on this machine; each has several threads.")] = 1,
          chunk: Annotated[int | None, typer.Option(help="Bodies in a chunk; else by memory.")] = None,
          wait: Annotated[float, typer.Option(help="Seconds to wait for a lost scheduler or for workers.")] = 30.0,
          force: Annotated[bool, typer.Option("--force", help="Start anew.")] = False, as_json: AsJson = False):
    """Run a scenario over many values, on a cluster; the same command goes on where it was cut short."""
    from polhode import cli_sweep

    if code := cli_sweep.run(source, out, cluster, workers, chunk, wait, force, as_json):
        raise typer.Exit(code)


@app.command()
def cite(method: Annotated[str, typer.Argument(help="The name of a method.")], as_json: AsJson = False):
    """Print the BibTeX entry of a method."""
    from polhode import references
    from polhode.methods import get

    entry = get(method)
    text = references.bibtex(entry.cite)
    if as_json:
        print_json({"method": entry.name, "key": entry.cite, "fields": references.fields(entry.cite), "bibtex": text})
    else:
        typer.echo(text)


@app.command()
def certify(methods: Annotated[list[str] | None, typer.Argument(help="Names, FILE.py, or FILE.py:FUNCTION.")] = None,
            every: Annotated[bool, typer.Option("--all", help="All registered methods.")] = False,
            problem: Annotated[str | None, typer.Option(help="Where drift is measured; else the stress test.")] = None,
            output: Annotated[Path | None, typer.Option("-o", "--output", help="Draw one certificate: .png, .pdf, .svg.")] = None,
            figure: Annotated[Path | None, typer.Option(help="Draw every certificate into this folder.")] = None,
            force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False, as_json: AsJson = False):
    """Measure what methods are, declared or not; exit code 1 when a declared fact fails, 3 when one could not be measured."""
    from polhode import cli_certify

    raise typer.Exit(cli_certify.run(methods or [], every, problem, output, figure, force, as_json))


@app.command()
def compare(problem: Annotated[str, typer.Argument(help="A problem (see polhode problems) or a SCENARIO.toml.")],
            methods: Annotated[str | None, typer.Option(help="Names with commas between them, or all.")] = None,
            family: Annotated[str | None, typer.Option(help="All methods of a family.")] = None,
            errors: Annotated[str, typer.Option(help="Errors to be reached.")] = "1e-3,1e-6,1e-9",
            until: Annotated[float | None, typer.Option(help="End the span at this time.")] = None,
            currency: Annotated[str | None, typer.Option(help="Draw one panel: evaluations, steps or seconds.")] = None,
            output: Annotated[Path | None, typer.Option("-o", "--output", help="Draw the curves: .png, .pdf, .svg.")] = None,
            html: Annotated[Path | None, typer.Option("--html", help="Write a page with figure and sortable table.")] = None,
            torque_file: TorqueFile = None,
            force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False, as_json: AsJson = False):
    """Run methods over step sizes against the truth: what does accuracy cost, in torque evaluations, steps and seconds?"""
    from polhode import cli_compare

    code = cli_compare.run(problem, torque_file, methods, family, errors, until, currency, output, html, force, as_json)
    if code:
        raise typer.Exit(code)


@app.command()
def reproduce(target: Annotated[str | None, typer.Argument(metavar="PAPER[/ITEM]", help="A paper, an item, or all.")] = None,
              listing: Annotated[bool, typer.Option("--list", help="List papers and items.")] = False,
              out: Annotated[Path | None, typer.Option("--out", help="Folder for figures, numbers and the report.")] = None,
              quick: Annotated[bool, typer.Option("--quick", help="A meaningful part of every item.")] = False,
              as_json: AsJson = False):
    """Compute the papers' tables and figures anew, beside what they print; finished items are kept in the folder."""
    from polhode import cli_reproduce

    cli_reproduce.run(target, listing, out, quick, as_json)


@app.command()
def advise(problem: Annotated[str, typer.Argument(help="A SCENARIO.toml or a problem (see polhode problems).")],
           error: Annotated[float, typer.Option(help="Allowed: radians, and relative angular velocity.")] = 1e-6,
           torque_cost: Annotated[str | None, typer.Option(help="Of one torque evaluation: 2ms, 500us, 1.5s.")] = None,
           long: Annotated[bool, typer.Option("--long", help="No energy drift; --error is that of the energy.")] = False,
           symplectic: Annotated[bool, typer.Option("--symplectic", help="Symplectic methods only.")] = False,
           explicit: Annotated[bool, typer.Option("--explicit", help="Methods that solve no equation only.")] = False,
           symmetric: Annotated[bool, typer.Option("--symmetric", help="Time-symmetric methods only.")] = False,
           one_torque: Annotated[bool, typer.Option("--one-torque", help="One torque evaluation per step only.")] = False,
           order: Annotated[int | None, typer.Option(help="The least order.")] = None,
           methods: Annotated[str | None, typer.Option(help="Try these, with commas between them.")] = None,
           until: Annotated[float | None, typer.Option(help="End the span at this time.")] = None,
           budget: Annotated[float, typer.Option(help="Seconds that pilot runs may spend on torque evaluations.")] = 10.0,
           torque_file: TorqueFile = None, as_json: AsJson = False):
    """Recommend a method and a step, from pilot runs with your own body, torque and span."""
    from polhode import cli_advise

    options = {"error": error, "torque_cost": torque_cost, "long": long, "symplectic": symplectic, "explicit": explicit,
               "symmetric": symmetric, "one_torque": one_torque, "order": order, "until": until, "budget": budget}
    cli_advise.run(problem, torque_file, options, methods, as_json)


# --- the terminal --------------------------------------------------------------------------------------------------------

def console(stderr=False):
    """Where output goes: whatever a file or a stranger's title holds, the terminal gets no commands but those of the style."""
    from rich.console import Console
    from rich.segment import Segment

    from polhode.errors import printable

    class Screen(Console):
        """A console that writes control characters as escapes."""

        def render(self, renderable, options=None):
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(printable(segment.text), segment.style)

    chosen = Screen(stderr=stderr, highlight=False)
    if not chosen.is_terminal:
        chosen.width = 100   # in a file or a pipe there is no window to fit
    return chosen


def plain_table(*columns):
    """A table without walls, from (title, justification) pairs; the first column is never broken."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title_justify="left", title_style="bold", caption_justify="left", padding=(0, 1, 0, 0))
    for number, (title, justify) in enumerate(columns):
        table.add_column(escape(title), justify=justify, no_wrap=number == 0)
    return table


def point_to(what, path):
    """Say where something was written."""
    from rich.text import Text

    console().print(Text.assemble(f"{what}: ", (str(path), "bold")), soft_wrap=True)


def complain(message, style="red"):
    from rich.text import Text

    console(stderr=True).print(Text(f"polhode: {message}", style=style), soft_wrap=True)


def print_json(data):
    from polhode.errors import UNPRINTABLE

    text = json.dumps(plain(data), indent=2, allow_nan=False, ensure_ascii=False)
    text = UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    typer.echo(text if can_show(text, sys.stdout) else json.dumps(plain(data), indent=2, allow_nan=False))


def plain(data):
    """JSON has no NaN and no infinity: null."""
    if isinstance(data, dict):
        return {key: plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain(value) for value in data]
    return None if isinstance(data, float) and (data != data or abs(data) == float("inf")) else data


@contextlib.contextmanager
def progress_bar(first="starting"):
    """A function bar(done, total, text) that shows a bar on stderr while the block runs; silent when that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(),
               TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(first, total=None)
        yield lambda done, total, text: progress.update(task, completed=done, total=total, description=text)
