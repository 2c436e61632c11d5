"""`polhode view`."""

from pathlib import Path
from typing import Annotated

import typer

from polhode.cli.options import AsJson, Force
from polhode.cli.terminal import print_error, print_path

GROUP = "First steps"


def view(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN.nc", help="A stored run.")],
    compare: Annotated[
        list[Path] | None, typer.Option(metavar="OTHER.nc ...", help="Runs to show beside it.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The page; default: RUN.html beside the run."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    mesh_file: Annotated[
        Path | None, typer.Option("--mesh", help="Draw this surface, in body axes, as the body.")
    ] = None,
    poinsot: Annotated[
        bool, typer.Option("--poinsot", help="Start with Poinsot's construction.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a page of stored runs: the body in 3D with plots that follow, one file, no network."""
    from polhode.bodies.mesh_file import triangles
    from polhode.io import store
    from polhode.show.view._page import FORMATS, page
    from polhode.support.file_names import readable
    from polhode.support.regular import file_path

    runs = [runs[0], *(compare or []), *runs[1:]]
    output = output or file_path(runs[0]).with_suffix(".html")
    store.check_output(output, FORMATS, force)
    surface = mesh_file and triangles(mesh_file)[:2]  # drawing does not need it closed
    made = page(runs, title=title and readable(title), mesh=surface, poinsot=poinsot)
    made.save(output, force)
    print_path("Page", output, as_json)
    if show and not made.open():
        print_error(f"no browser could be started; open {output} yourself")
