"""Figures of what should be conserved: `errors` of energy and momentum, and the `drift` of the energy
in a long run."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, IO

import numpy as np
from matplotlib.ticker import NullLocator, SymmetricalLogLocator

from polhode.results.conserved import energy, momentum
from polhode.errors import InputError
from polhode.io.read import as_any_run
from polhode.show.plots.panels import unchanged
from polhode.show.plots.style import (
    GREY,
    PALETTE,
    caption,
    literal,
    new_figure,
    saved,
    styled,
    target,
    thin,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DECADES = 4  # shown of either sign; below them the axis is linear


def errors(runs: Any, path: str | PathLike[str] | IO[bytes] | None = None) -> Figure:
    """The changes of energy and momentum since the start, with their signs, for one or several runs of
    a problem.

    The axes are logarithmic for both signs and linear about zero.  The titles say what the errors are
    relative to.  For a heavy top only the momentum about the vertical is drawn, which alone is
    conserved.

    Parameters
    ----------
    runs : Trajectory, path of a stored run, a list of them, or a dict from label to them
    path : str or Path, optional
        Where to save the figure.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import polhode
    >>> top = polhode.problem("krysl/slow-top")
    >>> figure = errors([top.integrate("NMB"), top.integrate("LP2")])
    >>> figure.axes[1].get_title("left")
    'Vertical momentum (L − L₀)·up / |L₀|,  |L₀| = 5'
    """
    runs, path = _labelled("errors", runs), target(path)
    first = next(iter(runs.values()))
    with styled():
        figure = new_figure(9.0, 6.4)
        above = figure.add_subplot(2, 1, 1)
        below = figure.add_subplot(2, 1, 2, sharex=above)
        for axes, measure, sign, unit in (
            (above, energy, "|E₀|", "J"),
            (below, momentum, "|L₀|", "kg m2/s"),
        ):
            strays = {label: measure(run) for label, run in runs.items()}
            _symlog(axes, {label: (runs[label].t, stray.values) for label, stray in strays.items()})
            one = next(iter(strays.values()))
            right = f"; {one.cause}" if one.by_right else ""
            size = first.body.units.value(f"{sign} = {one.size:.4g}", unit)
            axes.set_title(f"{one.title},  {size}{right}")
            axes.set_ylabel("relative change")
        above.tick_params(labelbottom=False)
        below.set_xlabel(first.body.units.label("time", "s"))
        if len(runs) > 1:
            above.legend(ncols=4, loc="lower right", bbox_to_anchor=(1.0, 1.06), borderaxespad=0.0)
        several = titled(first, "Energy and momentum errors")
        figure.suptitle(caption(first) if len(runs) == 1 else several, x=0.012, ha="left")
    return saved(figure, path)


def drift(runs: Any, path: str | PathLike[str] | IO[bytes] | None = None) -> Figure:
    """The relative energy error of several runs of a problem against time.

    Parameters
    ----------
    runs : Trajectory, path of a stored run, a list of them, or a dict from label to them
    path : str or Path, optional
        Where to save the figure.

    Examples
    --------
    >>> import polhode
    >>> stress = polhode.problem("bou-rabee/stress")
    >>> figure = drift([stress.integrate(name, t_span=(0, 1000)) for name in ("NMB-cay", "VLV")])
    >>> figure.axes[0].get_ylabel()
    '(E − E₀) / |E₀|'
    """
    runs, path = _labelled("drift", runs), target(path)
    with styled():
        figure = new_figure(9.0, 5.0)
        axes = figure.add_subplot()
        ends = []
        for (label, run), colour in zip(runs.items(), _colours(len(runs)), strict=True):
            error = energy(run).values
            axes.plot(*thin(run.t, error), color=colour, lw=0.5, alpha=0.35)
            t, smooth = _running_mean(run.t, error)
            axes.plot(t, smooth, color=colour, lw=2.0)
            ends.append((smooth[-1], label, colour))
        first = next(iter(runs.values()))
        axes.axhline(0.0, color=GREY, lw=0.8)
        axes.set(
            xlabel=first.body.units.label("time", "s"),
            ylabel="(E − E₀) / |E₀|",
            xlim=(first.t[0], first.t[-1]),
        )
        axes.set_title("Relative energy error: every stored point (thin), running mean (bold)")
        if first.title:
            figure.suptitle(literal(first.title), x=0.012, ha="left")
        _end_labels(axes, first.t[-1], ends)
    return saved(figure, path)


def _labelled(figure, runs):
    """A dict from label to run; runs with the same method are labelled with their step."""
    if isinstance(runs, dict):
        found = {label: as_any_run(run) for label, run in runs.items()}
    else:
        given = [as_any_run(run) for run in (runs if isinstance(runs, (list, tuple)) else [runs])]
        names = [literal(one.method.name) for one in given]
        found = {}
        for one, name in zip(given, names, strict=True):
            label = name if names.count(name) == 1 else f"{name}, step {one.step}"
            found[label if label not in found else f"{label} ({len(found) + 1})"] = one
    if not found:
        raise InputError(f"{figure} needs at least one trajectory, got none; give one")
    return found


def _symlog(axes, curves):
    """Curves of either sign over several decades; the zero line is drawn where the axis has
    both."""
    largest = max(float(np.abs(y).max()) for _, y in curves.values())
    t = next(iter(curves.values()))[0]
    if not largest > 0.0:
        unchanged(axes, t)
        return
    least = 10.0 ** (np.floor(np.log10(largest)) - _DECADES + 1)
    for (label, (times, y)), colour in zip(curves.items(), _colours(len(curves)), strict=True):
        axes.plot(*thin(times, y), color=colour, lw=0.9, label=label)
    axes.set_yscale("symlog", linthresh=least, linscale=0.6)
    axes.yaxis.set_major_locator(SymmetricalLogLocator(base=10.0, linthresh=least))
    axes.yaxis.set_minor_locator(NullLocator())
    signed = min(float(y.min()) for _, y in curves.values()) < 0.0
    axes.set_ylim(-2.0 * largest if signed else -0.15 * least, 2.0 * largest)
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.margins(x=0)


def _end_labels(axes, t, ends):
    """Names at the right end of the curves, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    gap, last = 0.05 * (high - low), -np.inf
    for value, label, colour in sorted(ends):
        last = max(value, last + gap)
        axes.annotate(
            label,
            (t, last),
            (8, 0),
            textcoords="offset points",
            annotation_clip=False,
            color=colour,
            va="center",
            fontweight="bold",
            fontsize=9.5,
        )


def _colours(count):
    return [PALETTE[i % len(PALETTE)] for i in range(count)]


def _running_mean(t, y):
    """The mean over a fiftieth of the run, at the middle of each."""
    parts = np.array_split(np.arange(len(t)), min(50, len(t)))
    return (
        (
            np.array([t[0], *(t[part].mean() for part in parts[1:-1]), t[-1]]),
            np.array([y[part].mean() for part in parts]),
        )
        if len(parts) > 2
        else (t, y)
    )
