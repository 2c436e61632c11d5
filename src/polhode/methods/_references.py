"""The literature behind the methods: BibTeX entries by key, from methods/references.bib."""

import re
from functools import cache
from importlib.resources import files

from polhode.errors import InputError, unknown

_FIELD = re.compile(r"""\s*([\w-]+)\s*=\s*(?:\{(.*)\}|"(.*)"|(\w+)),?\s*""")


@cache
def entries():
    """All entries by key, as written.  An entry begins with @kind{key, and ends with the brace that
    closes it."""
    text = files("polhode.methods").joinpath("references.bib").read_text("utf-8")
    found = {}
    for start in re.finditer(r"^@\w+\{([^,\s]+),", text, re.MULTILINE):
        if start[1] in found:
            raise InputError(f"references.bib has two entries {start[1]!r}; drop one")
        found[start[1]] = _balanced(text[start.start() :], start[1])
    return found


def _balanced(text, key):
    depth = 0
    for place in re.finditer(r"[{}]", text):
        depth += 1 if place[0] == "{" else -1
        if depth == 0:
            return text[: place.end()]
    raise InputError(f"the entry {key!r} of references.bib is not closed; check its braces")


def bibtex(key):
    """The entry with this key."""
    if key not in entries():
        raise unknown("reference", key, entries())
    return entries()[key]


def fields(key):
    """The fields of an entry, one to a line in the file, without the braces that only guard
    capitals."""
    lines = bibtex(key).splitlines()[1:-1]
    parts = [_FIELD.fullmatch(line) for line in lines]
    if None in parts:
        raise InputError(
            f"the entry {key!r} of references.bib has a line that is not 'name = {{...}},': "
            f"{lines[parts.index(None)]!r}; correct it there"
        )
    return {
        part[1].lower(): re.sub(r"[{}]", "", part[part.lastindex]).replace("--", "–")
        for part in parts
    }
