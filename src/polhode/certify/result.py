"""What a certificate is: facts with verdicts, as an object, as plain data, as text, as a figure."""

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fact:
    """A line of a certificate: `ok` is None where nothing is declared or can be said, `text` is `measured` for readers."""

    name: str
    title: str
    declared: object
    measured: object
    ok: bool | None
    text: str
    details: dict = field(default_factory=dict)

    def to_dict(self):
        """Plain data; what is exact to round-off is of order "exact"."""
        values = {"title": self.title, "declared": self.declared, "measured": self.measured, "ok": self.ok, "text": self.text}
        return {key: _exact(value) for key, value in values.items()} | self.details


def _exact(value):
    return "exact" if isinstance(value, float) and math.isinf(value) else value


@dataclass(frozen=True)
class Certificate:
    """What `polhode.certify` returns.

    Attributes
    ----------
    name, summary : str
    facts : dict from name to Fact
    ok : bool
        Whether no declared fact failed.
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
    def ok(self):
        return all(fact.ok is not False for fact in self.facts.values())

    @property
    def verdict(self):
        """The outcome in a few words."""
        if all(fact.ok is None for fact in self.facts.values()):
            return "nothing declared"
        return "all declared facts hold" if self.ok else "a declared fact fails"

    def to_dict(self):
        """The certificate as plain data."""
        return {"name": self.name, "ok": self.ok, "summary": self.summary, "problem": self.problem, "note": self.note,
                "facts": {name: fact.to_dict() for name, fact in self.facts.items()}}

    def figure(self, path=None):
        """Convergence, energy and verdicts, as a matplotlib Figure; saved if a path is given."""
        from polhode.certify.figure import draw

        return draw(self, path)

    def __str__(self):
        from polhode.certify.report import text

        return text(self)
