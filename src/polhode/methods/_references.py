"""The literature behind the methods: BibTeX entries by key, from methods/references.bib."""

import re
from functools import cache
from importlib.resources import files

from polhode.errors import unknown

_ENTRY = re.compile(r"^@\w+\{([^,\s]+),\n.*?^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"""^ +([\w-]+) *= *(?:\{(.*)\}|"(.*)"|(\w+)),$""", re.MULTILINE)


@cache
def entries() -> dict[str, str]:
    """All entries by key, as written: from @kind{key, to the brace that begins a line."""
    text = files("polhode.methods").joinpath("references.bib").read_text("utf-8")
    return {found[1]: found[0] for found in _ENTRY.finditer(text)}


def bibtex(key: str) -> str:
    """The entry with this key."""
    if key not in entries():
        raise unknown("reference", key, entries())
    return entries()[key]


def fields(key: str) -> dict[str, str]:
    """The fields of an entry, one to a line in the file, without the braces that only guard
    capitals."""
    return {
        found[1].lower(): re.sub(r"[{}]", "", found[found.lastindex or 0]).replace("--", "–")
        for found in _FIELD.finditer(bibtex(key))
    }
