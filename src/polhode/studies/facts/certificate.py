"""Certificates: facts with verdicts, as an object, plain data, text or a figure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, IO

import polhode
from polhode.studies.facts.report import text
from polhode.support.card import Card

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Fact:
    """A line of a certificate: `ok` is None where nothing is declared or could be measured.

    `text` is `measured` for readers, `short` the same for a table of several methods, and `claim`
    is `declared` for readers; the last two are derived from the values where they are not given.
    """

    name: str
    title: str
    declared: object
    measured: object
    ok: bool | None
    text: str
    details: dict = field(default_factory=dict, repr=False)
    short: str = ""
    claim: str = ""

    def __post_init__(self) -> None:
        known = self.measured is not None
        shown = _yes_or_no(self.measured) or (self.text if known else "-")
        object.__setattr__(self, "short", self.short or shown)
        object.__setattr__(self, "claim", self.claim or _claim(self.declared))

    @property
    def missing(self) -> bool:
        """Whether something is declared and could not be measured."""
        return self.declared is not None and self.ok is None

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what is exact to round-off is of order "exact"."""
        values = {
            "title": self.title,
            "declared": self.declared,
            "measured": self.measured,
            "ok": self.ok,
            "text": self.text,
        }
        return {key: _exact(value) for key, value in values.items()} | self.details


def _claim(declared: Any) -> str:
    if declared is None:
        return "-"
    return _yes_or_no(declared) or ("exact" if declared == math.inf else f"{declared:g}")


def _yes_or_no(value: object) -> str:
    """The word for a truth value, "" for anything else."""
    return ("no", "yes")[value] if isinstance(value, bool) else ""


def _exact(value):
    return "exact" if isinstance(value, float) and math.isinf(value) else value


@dataclass(frozen=True)
class Certificate(Card):
    """What `polhode.certify` returns.

    Attributes
    ----------
    name, summary : str
    facts : dict from name to Fact
    ok : bool
        Whether every declared fact was measured and holds.
    failed, missing : list of str
        Names of the declared facts that do not hold, and of those that could not be measured.
    curves : dict
        What the figure is drawn from: errors against step, energy against time.
    note : str
        Why long runs were not compiled, if they were not.
    """

    name: str
    summary: str
    facts: dict
    curves: dict
    problem: str
    note: str = ""

    @property
    def failed(self) -> list[str]:
        return [fact.name for fact in self.facts.values() if fact.ok is False]

    @property
    def missing(self) -> list[str]:
        return [fact.name for fact in self.facts.values() if fact.missing]

    @property
    def ok(self) -> bool:
        return not self.failed and not self.missing

    @property
    def verdict(self) -> str:
        """The outcome in a few words."""
        if all(fact.ok is None and not fact.missing for fact in self.facts.values()):
            return "nothing declared"
        if self.failed:
            return "a declared fact fails"
        return (
            "a declared fact could not be measured" if self.missing else "all declared facts hold"
        )

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain data."""
        return {
            "name": self.name,
            "ok": self.ok,
            "verdict": self.verdict,
            "summary": self.summary,
            "problem": self.problem,
            "note": self.note,
            "facts": {name: fact.to_dict() for name, fact in self.facts.items()},
        }

    def figure(self, path: str | PathLike[str] | IO[bytes] | None = None) -> Figure:
        """Convergence, energy and verdicts, as a matplotlib Figure; saved if a path is given."""
        return polhode.plots.certificate(self, path)

    def __repr__(self) -> str:
        return f"<Certificate: {self.name}, {len(self.facts)} facts, {self.verdict}>"

    def __str__(self) -> str:
        return text(self)
