"""What the reproduction of a table or figure gives back: cells, curves, claims with a verdict,
errata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from polhode.errors import InputError, unknown

HOLDS, OTHER_REASON, FAILS, OPEN = (
    "holds",
    "holds for another reason",
    "does not hold",
    "cannot be checked",
)
VERDICTS = (HOLDS, OTHER_REASON, FAILS, OPEN)
PAPER, REFERENCE = "paper", "reference"  # where the number beside ours is from


@dataclass(frozen=True)
class Cell:
    """One number of a table: what the paper prints, or an independent computation gives, and what
    we find.

    Parameters
    ----------
    row, column : str
        Where it stands.
    printed, ours : str, float, int or None
        Strings where the digits matter; `printed` is None where there is no such number.
    match : bool or None
        Whether ours agrees with the printed value, by the rule of the item; None where nothing is
        printed.
    note : str, optional
        Why they differ, or how ours was found.
    source : {"paper", "reference"}, optional
        Whether the value in `printed` stands in the paper, or comes from an independent
        computation.
    """

    row: str
    column: str
    printed: Any
    ours: Any
    match: bool | None
    note: str = ""
    source: str = PAPER


def near(row, column, reference, ours, tolerance, note=""):
    """A `Cell` that matches when ours is within this relative distance of an independently computed
    number.

    >>> near("NMB", "h = 1/8", 1.45e-3, 1.448e-3, 0.02).match
    True
    """
    return Cell(
        row,
        column,
        reference,
        float(ours),
        bool(abs(ours - reference) <= tolerance * abs(reference)),
        note,
        REFERENCE,
    )


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that numbers can decide, the verdict, and the numbers, which the run
    has computed."""

    claim: str
    verdict: str
    evidence: str

    def __post_init__(self):
        if self.verdict not in VERDICTS:
            raise unknown("verdict", self.verdict, VERDICTS)
        if not self.evidence:
            raise InputError(
                f"the claim {self.claim!r} has no evidence; give the numbers that decide it"
            )


def judged(claim, true, evidence):
    """A `Claim` that holds or does not hold, as the condition says."""
    return Claim(claim, HOLDS if true else FAILS, evidence)


@dataclass(frozen=True)
class Series:
    """A curve: its name, x and y, z where it runs in space, and `look`, keywords for matplotlib
    (colour, marker, line)."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    z: Sequence[float] | None = None
    look: dict = field(default_factory=dict)

    def to_dict(self):
        """The curve for JSON, with numbers that are not finite as None."""
        axes = {"x": self.x, "y": self.y} | ({} if self.z is None else {"z": self.z})
        return {"name": self.name} | {
            axis: plain(np.asarray(values, dtype=float).tolist()) for axis, values in axes.items()
        }


@dataclass(frozen=True)
class _Result:
    """What tables and figures share: `cells` are the numbers known about them, and `draw(figure)`
    paints on the matplotlib Figure it is given, `size` inches large."""

    claims: Sequence[Claim] = ()
    draw: Callable | None = None
    notes: Sequence[str] = ()
    series: Sequence[Series] = ()
    size: tuple[float, float] = (6.8, 4.4)
    cells: Sequence[Cell] = ()

    @property
    def matched(self):
        """How many cells agree with what the paper prints."""
        return self.count(PAPER)[0]

    @property
    def total(self):
        """How many cells have something in the paper to agree with."""
        return self.count(PAPER)[1]

    def count(self, source):
        """How many cells agree with this source, and how many it has a value for."""
        told = [
            cell.match for cell in self.cells if cell.source == source and cell.match is not None
        ]
        return sum(told), len(told)

    def to_dict(self):
        """The result for JSON."""
        agree, known = self.count(REFERENCE)
        return {
            "cells": [plain(asdict(cell)) for cell in self.cells],
            "matched": self.matched,
            "total": self.total,
            "reference_matched": agree,
            "reference_total": known,
            "series": [curve.to_dict() for curve in self.series],
            "claims": [asdict(claim) for claim in self.claims],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Table(_Result):
    """The reproduction of a table."""


@dataclass(frozen=True)
class Figure(_Result):
    """The reproduction of a figure."""


@dataclass(frozen=True)
class Erratum:
    """A misprint: where, what is printed, what is right, and how one knows."""

    paper: str
    where: str
    printed: str
    correct: str
    evidence: str


@dataclass
class Work:
    """What an item is told: whether a meaningful subset is enough, and where to report its
    progress, from 0 to 1."""

    quick: bool = False
    progress: Callable[[float], None] = lambda fraction: None

    def each(self, things):
        """Go through some things of about the same cost and report progress."""
        things = list(things)
        for number, thing in enumerate(things):
            yield thing
            self.progress((number + 1) / len(things))


def plain(value):
    """NumPy scalars and arrays, also inside tables, as Python numbers and lists; None for what JSON
    cannot say."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
