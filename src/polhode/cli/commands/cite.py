"""`polhode cite`."""

from typing import Annotated

import typer

from polhode.cli.options import AsJson
from polhode.cli.terminal import print_json

GROUP = "Methods"


def cite(
    method: Annotated[str, typer.Argument(help="The name of a method.")],
    as_json: AsJson = False,
) -> None:
    """Print the BibTeX entry of a method."""
    from polhode.methods import _references as references
    from polhode.methods import get

    entry = get(method)
    key, text = entry.cite, references.bibtex(entry.cite)
    if as_json:
        fields = references.fields(key)
        print_json({"method": entry.name, "key": key, "fields": fields, "bibtex": text})
    else:
        typer.echo(text)
