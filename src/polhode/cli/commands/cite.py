"""`polhode cite`."""

from typing import Annotated

import typer

from polhode.cli.completion import complete_method
from polhode.cli.options import AsJson
from polhode.cli.terminal import print_json

GROUP = "Methods"


def cite(
    method: Annotated[
        str, typer.Argument(help="The name of a method.", autocompletion=complete_method)
    ],
    as_json: AsJson = False,
) -> None:
    """Print the BibTeX entries of a method: its source, and those of the methods it is made from."""
    from polhode.methods import _references as references
    from polhode.methods import get

    entry = get(method)
    if as_json:
        entries = [
            {"key": key, "fields": references.fields(key), "bibtex": references.bibtex(key)}
            for key in entry.references
        ]
        print_json({"method": entry.name, "references": entries})
    else:
        typer.echo(entry.bibtex())
