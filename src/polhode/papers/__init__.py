"""The papers' tables and figures, computed anew beside what they print: one module for each paper,
one function for each item.

    items("buss-2001/fig4")[0].run()     a Table: cells with the printed value beside ours, and the paper's claims with a verdict
    errata("krysl-2005")                 what is misprinted

`polhode reproduce` shows them.  A new item is a function with the decorator `@item` in the module
of its paper.
"""

from polhode.papers._items import PAPERS, Item, Paper, enter_errata, errata, item, items
from polhode.papers._results import (
    FAILS,
    HOLDS,
    OPEN,
    OTHER_REASON,
    REFERENCE,
    VERDICTS,
    Cell,
    Claim,
    Erratum,
    Figure,
    Series,
    Table,
    Work,
    judged,
    near,
)

__all__ = [
    "FAILS",
    "HOLDS",
    "OPEN",
    "OTHER_REASON",
    "PAPERS",
    "REFERENCE",
    "VERDICTS",
    "Cell",
    "Claim",
    "Erratum",
    "Figure",
    "Item",
    "Paper",
    "Series",
    "Table",
    "Work",
    "enter_errata",
    "errata",
    "item",
    "items",
    "judged",
    "near",
]
