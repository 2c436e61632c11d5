"""`polhode info`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polhode.cli.options import AsJson
from polhode.cli.terminal import print_json, print_summary

GROUP = "Files"
PROVENANCE = (
    "polhode_version", "python_version", "numpy_version", "numba_version", "platform", "command",
    "source_digest", "torque_digest", "digest", "seed", "device", "dtype",
)  # fmt: skip


def info(
    file: Annotated[
        Path, typer.Argument(help="A stored run, ensemble or sweep, or an unfinished run.")
    ],
    as_json: AsJson = False,
) -> None:
    """Print what a file holds and how it was made."""
    from polhode.studies.file_info import describe

    description = describe(file)
    if as_json:
        print_json(description)
    else:
        print_summary(description.get("title") or description["kind"], _summary(description))


def _summary(description: dict[str, Any]) -> dict[str, Any]:
    """Return a description as names and short values."""
    rest = ("title", "provenance", "body", "varies")
    summary = {key: value for key, value in description.items() if key not in rest}
    facts = description["provenance"]
    if body := description.get("body"):
        summary["body"] = f"{body['name'] or 'unnamed'}, mass {body['mass']:g}"
        summary["moments"] = body["moments"]
    summary["bytes"] = f"{summary['bytes']:,}"
    for key, values in description.get("varies", {}).items():
        summary[key] = _shortened(values)
    if isinstance(summary.get("step"), list):
        summary["step"] = _shortened(summary["step"])
    method = facts.get("method_facts") or {}
    summary |= {"order": method.get("order"), "from": method.get("reference")}
    return summary | {key: facts[key] for key in PROVENANCE if facts.get(key)}


def _shortened(values: list[Any]) -> str:
    text = ", ".join(map(str, values[:6]))
    return text if len(values) <= 6 else f"{text}, ... ({len(values)} values)"
