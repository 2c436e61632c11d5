"""The figure of a certificate: convergence, energy in the long run, and the verdicts."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, IO

import numpy as np
from matplotlib.ticker import NullFormatter

from polhode.studies.facts.orders import CEILING, FLOOR
from polhode.studies.facts.report import rows
from polhode.studies.facts.certificate import Certificate
from polhode.errors import InputError, brief
from polhode.show.plots.style import PALETTE, new_figure, saved, styled, target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GREY = "#555555"
COLOUR = {"ok": "#009E73", "FAIL": "#D55E00", "not measured": "#E69F00", "-": "#999999"}


def certificate(
    certificate: Certificate, path: str | PathLike[str] | IO[bytes] | None = None
) -> Figure:
    """The figure of a certificate: convergence, energy in the long run, and the verdicts.

    Parameters
    ----------
    certificate : Certificate
        From `polhode.certify(method)`.
    path : str or Path, optional
        Where to save the figure.

    Examples
    --------
    >>> import polhode
    >>> certificate(polhode.certify("VLV")).axes[0].get_title()   # doctest: +SKIP
    'Error with a torque'
    """
    if not isinstance(certificate, Certificate):
        raise InputError(
            f"certificate must be the result of polhode.certify, got {brief(certificate)}; give that"
        )
    path = target(path)
    with styled():
        figure = new_figure(11.5, 7.4)
        grid = figure.add_gridspec(2, 3, width_ratios=(1.0, 1.0, 1.42), height_ratios=(1.0, 0.8))
        torque = figure.add_subplot(grid[0, 0])
        free = figure.add_subplot(grid[0, 1], sharey=torque)
        _convergence(torque, certificate.curves["torque"], "Error with a torque")
        _convergence(free, certificate.curves["free"], "Error of the free body")
        free.tick_params(labelleft=False)
        least = min(
            errors[errors > 0.0].min(initial=1.0)
            for found in (certificate.curves["torque"], certificate.curves["free"])
            for errors in (found.attitude_errors, found.momentum_errors)
        )
        torque.set_ylim(0.003 * least, 10.0)  # room for the legend
        torque.set_ylabel("error at the end of the run")
        _energy(figure.add_subplot(grid[1, :2]), certificate)
        _verdicts(figure.add_subplot(grid[:, 2]), certificate)
        figure.suptitle(f"{certificate.name}: {certificate.verdict}", x=0.012, ha="left")
    return saved(figure, path)


def _convergence(axes, found, title):
    """Errors against the step, each with the line of its order."""
    for name, p, errors, colour, marker in (
        ("attitude", found.attitude, found.attitude_errors, PALETTE[0], "o"),
        ("momentum", found.momentum, found.momentum_errors, PALETTE[1], "s"),
    ):
        shown = np.isfinite(errors) & (errors > 0.0)
        label = f"{name}: " + (
            "exact" if np.isinf(p) else "not settled" if np.isnan(p) else f"order {p:.2f}"
        )
        axes.loglog(
            found.steps[shown],
            errors[shown],
            marker,
            color=colour,
            ms=4.5,
            mec="white",
            mew=0.4,
            label=label,
        )
        good = np.flatnonzero((errors > FLOOR) & (errors < CEILING))
        if len(good) >= 3 and np.isfinite(p):
            anchor = good[-1]
            h = found.steps[good]
            axes.loglog(
                h, errors[anchor] * (h / found.steps[anchor]) ** p, color=colour, lw=1.1, alpha=0.7
            )
    axes.set_xlabel("step h")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(title)
    axes.legend(loc="lower right", handletextpad=0.2, borderaxespad=0.2)


def _energy(axes, certificate):
    names = ("drift", "drift_half")
    for (step, t, change), name, colour in zip(
        certificate.curves["energy"], names, (PALETTE[1], PALETTE[0]), strict=True
    ):
        fact = certificate.facts[name]
        axes.plot(t, change, color=colour, lw=0.6, alpha=0.6)
        axes.plot([], [], color=colour, lw=2.0, label=f"h = {step:g}: {fact.text}")
        if fact.measured is not None and fact.details["blow_up"] is None:
            middle = t.mean()
            axes.plot(
                t[[0, -1]],
                change.mean() + fact.measured * (t[[0, -1]] - middle),
                color=colour,
                lw=1.8,
            )
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.set(xlabel="time", ylabel="E − E₀")
    axes.margins(x=0, y=0.22)
    axes.set_title(f"Energy in the long run, {certificate.problem}: slope")
    axes.legend(loc="upper right", ncols=2, handlelength=1.2, borderaxespad=0.2)


def _verdicts(axes, certificate):
    """The table, one line for what is measured and a fainter one for the numbers."""
    axes.set_axis_off()
    axes.set_title("Declared and measured")
    lines = rows(certificate)
    gap = 1.0 / (len(lines) + 0.3)
    for number, (title, told, measured, verdict) in enumerate(lines):
        y = 1.0 - (number + 0.55) * gap
        axes.text(0.0, y + 0.16 * gap, title, fontsize=8.6, va="center")
        axes.text(0.0, y - 0.26 * gap, measured, fontsize=7.3, va="center", color=GREY)
        axes.text(0.86, y, "" if told == "-" else told, fontsize=8.6, va="center", ha="right")
        axes.text(
            0.97,
            y,
            verdict if verdict != "-" else "",
            fontsize=8.6,
            va="center",
            ha="right",
            color=COLOUR[verdict],
            fontweight="bold",
        )
        axes.plot((0.0, 0.97), (y - 0.5 * gap,) * 2, color="#E4E4E4", lw=0.7)
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    axes.text(0.86, 1.0, "declared", fontsize=7.3, color=GREY, ha="right", va="bottom")
    axes.text(0.97, 1.0, "verdict", fontsize=7.3, color=GREY, ha="right", va="bottom")
