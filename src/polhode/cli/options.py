"""Options that several commands have."""

from typing import Annotated

import typer

from polhode.cli.completion import complete_problem

_PROBLEM = typer.Argument(
    help="A SCENARIO.toml (see the folder examples), or the name of a problem (see polhode problems).",
    autocompletion=complete_problem,
)
Problem = Annotated[str, _PROBLEM]
ProblemOrNone = Annotated[str | None, _PROBLEM]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print data for programs: JSON, and nothing else, on stdout.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
TorqueFile = Annotated[
    str | None,
    typer.Option(
        "--torque-file",
        metavar="FILE.py[:NAME]",
        help="A torque, load or interaction in Python for the scenario; the file is run.",
    ),
]

FIGURE_FORMATS = ("png", "pdf", "svg")
# written out here, since asking the methods would slow down --help
FAMILIES = (
    "buss, midpoint, newmark, quaternion_space, runge-kutta, splitting, taylor or variational"
)
