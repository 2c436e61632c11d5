"""The result of a comparison: curves, and the cost of reaching each error."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, IO

import numpy as np

import polhode
from polhode.studies.compare.runner import Point
from polhode.studies.compare.truth import Truth
from polhode.errors import number
from polhode.support.card import Card

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

COSTS = tuple(one.name for one in fields(Point))
CURRENCIES = {"evaluations": "torque evaluations", "steps": "steps", "seconds": "seconds"}


@dataclass(frozen=True)
class MethodCurve:
    """One method: its points from long steps to short ones, and the cheapest point for each error,
    None where it has none."""

    name: str
    facts: dict
    knob: str  # what its setting is: "step" or "rtol"
    points: list
    slope: float | None  # measured; None where two halvings in turn tell different ones
    answers: dict
    # why the method has no points, or why its order is lower than usual under this torque
    note: str = ""

    def __repr__(self) -> str:
        return f"<MethodCurve: {self.name}, {len(self.points)} points, slope {self.slope}>"

    def to_dict(self) -> dict[str, Any]:
        """The curve as plain data."""
        answers = [
            {"asked": error, "point": point and asdict(point)}
            for error, point in self.answers.items()
        ]
        return {
            "method": self.name,
            "facts": self.facts,
            "setting": self.knob,
            "slope": self.slope,
            "note": self.note,
            "answers": answers,
            "points": [asdict(point) for point in self.points],
        }


@dataclass
class Comparison(Card):
    """Work against precision of several methods on one task; `polhode.compare` returns it."""

    title: str
    torque: str  # the names of what acts
    t_span: tuple
    truth: Truth
    errors: tuple
    curves: list = field(default_factory=list)
    interrupted: bool = False

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each error and method, the quickest first and those that do not get there
        last."""
        return [row for error in self.errors for row in self.ranking(error)]

    def ranking(self, error: float) -> list[dict[str, Any]]:
        """The rows of one error."""
        error = number("error", error)
        rows = [_row(curve, error) for curve in self.curves]
        return sorted(rows, key=lambda row: (row["seconds"] is None, row["seconds"] or 0.0))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "problem": self.title,
            "torque": self.torque,
            "t_span": list(self.t_span),
            "truth": self.truth.origin,
            "truth_error": self.truth.error,
            "errors": list(self.errors),
            "interrupted": self.interrupted,
            "table": self.table,
            "curves": [curve.to_dict() for curve in self.curves],
        }

    def to_xarray(self) -> Dataset:
        """The curves (name, point), padded with NaN, and the cost of each error (name, asked), as
        an xarray Dataset."""
        import xarray as xr

        longest = max((len(curve.points) for curve in self.curves), default=0)
        data = {}
        for name in COSTS:
            rows = [[getattr(point, name) for point in curve.points] for curve in self.curves]
            data[name] = (
                ("name", "point"),
                np.array([row + [np.nan] * (longest - len(row)) for row in rows], dtype=float),
            )
            cost = [
                [
                    np.nan if curve.answers[e] is None else getattr(curve.answers[e], name)
                    for e in self.errors
                ]
                for curve in self.curves
            ]
            data[f"reached_{name}"] = (("name", "asked"), np.array(cost, dtype=float))
        coords = {"name": [curve.name for curve in self.curves], "asked": list(self.errors)}
        return xr.Dataset(
            data,
            coords,
            {"title": f"work against precision: {self.title}", "truth": self.truth.origin},
        )

    def figure(
        self, path: str | PathLike[str] | IO[bytes] | None = None, currency: str | None = None
    ) -> Figure:
        """Work-precision curves with fitted slopes: one panel for each currency, or for the one
        that is named."""
        return polhode.plots.work_precision(self, path, currency)

    def html(self, path: str | PathLike[str]) -> Path:
        """Write a self-contained page with the figure and a sortable table."""
        return polhode.view.comparison(self, path)

    def __repr__(self) -> str:
        return f"<Comparison: {self.title}, {len(self.curves)} methods, errors {', '.join(f'{e:g}' for e in self.errors)}>"


def _row(curve, error):
    point = curve.answers.get(error)
    reached = min((point.error for point in curve.points), default=None)
    return {
        "asked": error,
        "method": curve.name,
        "order": curve.facts.get("order"),
        "slope": curve.slope,
        "knob": curve.knob,
        **{name: None if point is None else getattr(point, name) for name in COSTS},
        "best_error": reached,
        "note": curve.note,
    }
