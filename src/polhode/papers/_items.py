"""The papers, their items and their errata, by name: `@item` enters a function, `enter_errata`
misprints."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from polhode.errors import InputError, unknown
from polhode.methods._references import fields
from polhode.papers._results import Erratum, Figure, Table, Work

KINDS = {"table": Table, "figure": Figure}


@dataclass(frozen=True)
class Paper:
    """One of the documents; `cite` is its key in the bibliography."""

    name: str
    short: str
    cite: str

    @property
    def reference(self):
        """Authors, title, where it appeared, and year, from the bibliography."""
        entry = fields(self.cite)
        authors = [" ".join(one.split(", ")[::-1]) for one in entry["author"].split(" and ")]
        eprint = [f"arXiv:{entry['eprint']}"] if "eprint" in entry else []
        return ", ".join([*authors, entry["title"], entry["howpublished"], entry["year"], *eprint])


PAPERS = {
    paper.name: paper
    for paper in (
        Paper("buss-2001", "Buss 2001", "buss2001accurate"),
        Paper("buss-2001-slides", "Buss 2001, slides", "buss2001taylor"),
        Paper("krysl-endres-2004", "Krysl & Endres 2004", "krysl2004explicit"),
        Paper("krysl-2005", "Krysl 2005", "krysl2005newmark"),
        Paper("bou-rabee-2009", "Bou-Rabee, Ortolan & Saccon 2009", "bourabee2009counterexample"),
        Paper("fahnestock-2006", "Fahnestock et al. 2006", "fahnestock2006polyhedral"),
    )
}


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper; `seconds` is about how long the full run takes on one core."""

    paper: str
    name: str
    title: str
    kind: str
    seconds: float
    function: Callable

    @property
    def key(self):
        """The name the command line knows it by: PAPER/ITEM."""
        return f"{self.paper}/{self.name}"

    def run(self, quick=False, progress=None):
        """Compute the item: a `Table` or a `Figure`."""
        result = self.function(Work(quick, progress) if progress else Work(quick))
        wanted = KINDS[self.kind]
        if not isinstance(result, wanted):
            raise InputError(
                f"{self.key} must give a {self.kind}, got {type(result).__name__}; return a {wanted.__name__}"
            )
        return result

    def to_dict(self):
        """What `polhode reproduce --list` says of it."""
        return {
            "paper": self.paper,
            "item": self.name,
            "title": self.title,
            "kind": self.kind,
            "seconds": self.seconds,
        }


_items: dict[str, Item] = {}
_errata: list[Erratum] = []
_loaded = False


def item(paper, name, *, title, kind, seconds=1.0):
    """Enter the decorated function `item(work) -> Table | Figure`.

    Parameters
    ----------
    paper : str
        One of `PAPERS`.
    name : str
        What the paper calls it: "fig4".
    title : str
        What it shows.
    kind : {"table", "figure"}
    seconds : float, optional
        About how long the full run takes on one core; long items are begun first.
    """
    if paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS)

    def enter(function):
        _items[f"{paper}/{name}"] = Item(paper, name, title, kind, seconds, function)
        return function

    return enter


def enter_errata(paper, *rows):
    """Enter the misprints of a paper as (where, printed, correct, evidence); evidence may be a
    function that finds it."""
    if paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    _errata.extend(Erratum(paper, *row) for row in rows)


def _load():
    """Import every module of a paper, once."""
    global _loaded
    if not _loaded:
        package = importlib.import_module("polhode.papers")
        for module in pkgutil.iter_modules(package.__path__):
            if not module.name.startswith("_"):
                importlib.import_module(f"polhode.papers.{module.name}")
        _loaded = True


def items(target="all"):
    """The items of "all", of a paper, or the one called PAPER/ITEM, in the order of the papers.

    >>> [item.name for item in items("buss-2001/fig4")]
    ['fig4']
    """
    _load()
    order = list(PAPERS)
    every = sorted(_items.values(), key=lambda item: order.index(item.paper))
    key = str(target).strip().lower().rstrip("/")
    if key == "all":
        return every
    paper, slash, name = key.partition("/")
    papers = list(dict.fromkeys(item.paper for item in every))
    if paper not in papers:
        called = [item.key for item in every if item.name == key]
        if called:
            raise InputError(f"{key!r} is an item of a paper; name both: {', '.join(called)}")
        raise unknown("paper", paper, ["all", *papers])
    found = [item for item in every if item.paper == paper and (not slash or item.name == name)]
    if not found:
        raise unknown(
            f"item of {paper}", name, [item.name for item in every if item.paper == paper]
        )
    return found


def errata(paper=None):
    """The misprints of one paper, or of all, in the order of the papers.

    >>> errata("krysl-2005")[0].paper
    'krysl-2005'
    """
    _load()
    if paper is not None and paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    order = list(PAPERS)
    wanted = sorted(
        (one for one in _errata if paper in (None, one.paper)),
        key=lambda one: order.index(one.paper),
    )
    return [
        replace(one, evidence=_found(one.evidence)) if callable(one.evidence) else one
        for one in wanted
    ]


@cache
def _found(evidence):
    return evidence()
