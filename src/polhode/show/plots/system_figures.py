"""The picture of the motion of a system: paths, angular velocities, attitudes, and what is conserved."""

from __future__ import annotations

import numpy as np

from polhode import rotations
from polhode.results.conserved import energy, linear_momentum, momentum
from polhode.show.plots.globe import globe
from polhode.show.plots.panels import axes_in_space, logarithmic
from polhode.show.plots.smooth import smooth
from polhode.show.plots.style import (
    GREY,
    PALETTE,
    POINTS,
    caption,
    curve_around,
    literal,
    new_figure,
    thin,
)

FEW = 7  # bodies that are told apart
MOST = 300  # bodies whose paths are drawn
ALL_POINTS = 60_000  # of all paths


def overview_of_system(run):
    """Speeds of rotation, energy and momenta, and the paths of all bodies in space; of a few bodies
    also the paths of their third axes on the sphere."""
    few = len(run.body) <= FEW
    figure = new_figure(10.5, 7.8)
    grid = figure.add_gridspec(3, 2, height_ratios=(1.4, 1.0, 1.0), width_ratios=(1.0, 0.95))
    curves = smooth(run)
    _spins(figure.add_subplot(grid[0, 0]), curves)
    above = figure.add_subplot(grid[1, 0])
    _conserved(above, figure.add_subplot(grid[2, 0], sharex=above), run)
    right = grid[:, 1].subgridspec(2 if few else 1, 1)
    _paths(figure.add_subplot(right[0], projection="3d"), curves)
    if few:
        _attitudes(figure.add_subplot(right[1], projection="3d"), curves)
    figure.suptitle(caption(run), x=0.012, ha="left")
    return figure


def _colours(run):
    """A colour for each of a few bodies, or for each kind."""
    kinds = list(dict.fromkeys(run.body.bodies))
    number = {kind: i for i, kind in enumerate(kinds)}
    few = len(run.body) <= FEW
    which = range(len(run.body)) if few else (number[body] for body in run.body.bodies)
    return [PALETTE[i % len(PALETTE)] for i in which]


def _spins(axes, run):
    """The size of the angular velocity of each of a few bodies; of many the mean and the range."""
    sizes, units = np.linalg.norm(run.omega, axis=-1), run.body.units
    if len(run.body) <= FEW:
        for i, (one, colour) in enumerate(zip(sizes.T, _colours(run), strict=True)):
            name = run.body.bodies[i].name
            label = f"{i} {literal(name)}" if name else f"body {i}"
            axes.plot(*thin(run.t, one), color=colour, label=label, lw=1.0)
        axes.legend(
            ncols=4,
            loc="lower right",
            bbox_to_anchor=(1.0, 0.98),
            borderaxespad=0.0,
            handlelength=1.2,
            columnspacing=1.0,
        )
    else:
        axes.plot(*thin(run.t, sizes.mean(axis=1)), color=PALETTE[0], label="mean")
        rows = slice(None, None, max(1, len(run) // POINTS))
        low, high = np.percentile(sizes[rows], [5, 95], axis=1)
        axes.fill_between(
            run.t[rows], low, high, color=PALETTE[0], alpha=0.18, lw=0, label="90 % of the bodies"
        )
        axes.legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0)
    axes.set_title("Angular velocity, size")
    axes.set_ylabel(units.label("|Ω|", "rad/s"))
    axes.margins(x=0)


def _conserved(above, below, run):
    """How far energy and momenta go from where they began, on logarithmic axes."""
    stray = energy(run)
    logarithmic(above, run.t, {"": np.abs(stray.values)})
    known = "Total" if run.has_potential else "Kinetic"
    above.set_title(f"{known} energy, relative change{_why(stray)}")
    above.set_ylabel("|E − E₀| / |E₀|")
    above.tick_params(labelbottom=False)
    both = {"momentum": linear_momentum(run), "angular momentum": momentum(run)}
    logarithmic(below, run.t, {f"{name}{_why(one)}": one.values for name, one in both.items()})
    if not any(one.cause for one in both.values()):  # which takes the room
        below.set_title("Relative change of")
    below.set_ylabel("|P − P₀| / Σ|p|")
    below.set_xlabel(run.body.units.label("time", "s"))


def _why(stray):
    """What changes a quantity by right, for a title."""
    return f" ({stray.cause})" if stray.cause else ""


def _paths(axes, run):
    """The paths of the centres of mass in a cube, with the bodies and their links at the end."""
    n, shown = len(run.body), min(len(run.body), MOST)
    rows = slice(None, None, max(1, len(run) * shown // ALL_POINTS))
    colours, x, end = _colours(run), run.position, run.position[-1]
    for i in range(shown):
        axes.plot(*x[rows, i].T, color=colours[i], lw=1.1 if n <= FEW else 0.4, alpha=0.75)
    if run.interaction.links is not None:
        for i, j in run.interaction.links:
            axes.plot(*end[[i, j]].T, color=GREY, lw=1.0)
    axes.scatter(*end.T, c=colours, s=26 if n <= FEW else 5, depthshade=False)
    low, high = x.min(axis=(0, 1)), x.max(axis=(0, 1))
    axes_in_space(axes, 0.5 * (low + high), float((high - low).max()))
    left = f" of {shown} of {n} bodies" if shown < n else ""
    axes.set_title(
        run.body.units.label(f"Paths{left} in space, bodies at the end", "m"), loc="center"
    )


def _attitudes(axes, run):
    """The paths of the third body axes on the unit sphere."""
    globe(axes)
    rows = slice(None, None, max(1, len(run) * len(run.body) // ALL_POINTS))
    ends = rotations.rotate(run.quaternion[rows], np.array([0.0, 0.0, 1.0]))
    for i, colour in enumerate(_colours(run)):
        curve_around(axes, ends[:, i], ends[:, i], color=colour, lw=0.9)
        axes.plot(*ends[-1, i], "o", ms=5, color=colour, mec="white")
    axes.set_title("Paths of the third body axes", loc="center", y=1.12)
