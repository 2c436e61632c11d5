"""The figures of a comparison: error against cost, and error against the step."""

from __future__ import annotations

import math
from os import PathLike
from typing import TYPE_CHECKING, IO

import numpy as np

from polhode.studies.compare.comparison import CURRENCIES, Comparison
from polhode.errors import InputError, brief, choice
from polhode.show.plots.style import PALETTE, literal, new_figure, saved, styled, target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)))
COARSEST = 3.0  # errors above this say nothing
ROUND_OFF = 1e-11  # below it they say nothing of the order


def _check(comparison):
    if not isinstance(comparison, Comparison):
        raise InputError(
            f"comparison must be the result of polhode.compare, got {brief(comparison)}; give that"
        )


def _headline(comparison, what):
    t0, t1 = comparison.t_span
    return f"{literal(comparison.title)}: {what}, t = {t0:g} to {t1:g}"


def work_precision(
    comparison: Comparison,
    path: str | PathLike[str] | IO[bytes] | None = None,
    currency: str | None = None,
) -> Figure:
    """Error against cost for every method of a `polhode.compare` result, each with the order
    measured.

    Parameters
    ----------
    comparison : Comparison
    path : str or Path, optional
        Where to save the figure.
    currency : {"evaluations", "steps", "seconds"}, optional
        One panel for this; by default there are three.

    Examples
    --------
    >>> import polhode
    >>> found = polhode.compare("krysl/slow-top", methods=["NMB", "LP2"], errors=[1e-2])
    >>> work_precision(found, currency="evaluations").axes[0].get_xlabel()
    'torque evaluations'
    """
    if currency is not None:
        choice("currency", currency, CURRENCIES)
    _check(comparison)
    path = target(path)
    curves = [curve for curve in comparison.curves if _plotted_points(curve)]
    if not curves:
        raise InputError(
            "there is no curve to draw: no method gave a finite error; use other methods or larger errors"
        )
    panels = [currency] if currency else list(CURRENCIES)

    with styled():
        figure = new_figure(*((7.2, 5.2) if currency else (14.0, 5.6)))
        grid = figure.add_gridspec(
            1,
            len(panels) + 1,
            width_ratios=(*[1.0] * len(panels), 0.42 if currency is None else 0.34),
        )
        first = None
        for column, name in enumerate(panels):
            first = axes = figure.add_subplot(grid[column], sharey=first)
            for number, curve in enumerate(curves):
                _line(axes, curve, name, number)
            for error in comparison.errors:
                axes.axhline(error, color="#999999", lw=0.7, ls=(0, (2, 3)), zorder=0)
            axes.set(xscale="log", yscale="log", xlabel=CURRENCIES[name])
            axes.set_ylabel("error" if column == 0 else "")
            axes.tick_params(labelleft=column == 0)
        _legend(figure.add_subplot(grid[-1]), first, curves)
        figure.suptitle(_headline(comparison, "work against precision"), x=0.012, ha="left")
    return saved(figure, path)


def convergence(
    comparison: Comparison, path: str | PathLike[str] | IO[bytes] | None = None
) -> Figure:
    """Error against the step for every method of a `polhode.compare` result, each with the line of
    its measured order.

    Parameters
    ----------
    comparison : Comparison
        Methods by tolerance have no step, and are left out.
    path : str or Path, optional
        Where to save the figure.

    Examples
    --------
    >>> import polhode
    >>> found = polhode.compare("krysl/slow-top", methods=["NMB", "RK4-quaternion"], errors=[1e-3])
    >>> convergence(found).axes[0].get_xlabel()
    'step'
    """
    _check(comparison)
    path = target(path)
    curves = [
        curve for curve in comparison.curves if curve.knob == "step" and _plotted_points(curve)
    ]
    if not curves:
        raise InputError(
            "there is no curve to draw: no method by step gave a finite error; use other methods or larger errors"
        )
    with styled():
        figure = new_figure(7.4, 5.4)
        grid = figure.add_gridspec(1, 2, width_ratios=(1.0, 0.34))
        axes = figure.add_subplot(grid[0])
        for number, curve in enumerate(curves):
            _line(axes, curve, "setting", number, ls="none")
            _order_line(axes, curve, _look(number)["color"])
        axes.set(xscale="log", yscale="log", xlabel="step", ylabel="error")
        _legend(figure.add_subplot(grid[1]), axes, curves)
        figure.suptitle(_headline(comparison, "convergence"), x=0.012, ha="left")
    return saved(figure, path)


def _order_line(axes, curve, colour):
    """The measured order as a line through the middle of the points it is seen in: those above
    round-off and below a tenth."""
    points = [point for point in _plotted_points(curve) if ROUND_OFF < point.error < 0.1]
    if curve.slope is None or len(points) < 2:
        return
    steps = np.array([point.setting for point in points])
    height = np.mean([math.log(point.error) for point in points]) - curve.slope * np.mean(
        np.log(steps)
    )
    axes.plot(steps, np.exp(height) * steps**curve.slope, color=colour, lw=1.2)


def _plotted_points(curve):
    return [
        point
        for point in curve.points
        if math.isfinite(point.error) and 0.0 < point.error <= COARSEST
    ]


def _look(number):
    turn, colour = divmod(number, len(PALETTE))
    return {
        "color": PALETTE[colour],
        "marker": MARKS[colour],
        "ls": DASHES[turn % len(DASHES)],
        "ms": 3.6,
        "lw": 1.2,
    }


def _line(axes, curve, currency, number, **look):
    points = _plotted_points(curve)
    slope = "" if curve.slope is None else f"  {curve.slope:.1f}"
    axes.plot(
        [getattr(point, currency) for point in points],
        [point.error for point in points],
        label=f"{curve.name}{slope}",
        **_look(number) | look,
    )


def _legend(axes, drawn_in, curves):
    """All names in a column of their own, with the slope where one was measured."""
    axes.set_axis_off()
    axes.legend(
        *drawn_in.get_legend_handles_labels(),
        loc="upper left",
        borderaxespad=0.0,
        handlelength=2.6,
        title="method, measured order",
        alignment="left",
        fontsize=8.5 if len(curves) <= 24 else 6.0,
    )
