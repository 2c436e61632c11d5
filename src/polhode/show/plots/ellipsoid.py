"""Poinsot's curves: the polhode on the inertia ellipsoid, and the herpolhode in the invariable
plane."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, IO

import numpy as np

from polhode.errors import InputError
from polhode.io.read import as_run
from polhode.results.conserved import is_free
from polhode.show.plots.style import (
    PALE,
    PALETTE,
    bare,
    caption,
    curve_around,
    new_figure,
    pins,
    saved,
    styled,
    target,
    towards_viewer,
)
from polhode.show.poinsot import Poinsot

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polhode.results._trajectory import Trajectory

_NEIGHBOURS = 7  # other polhodes, for orientation, towards each of the two stable axes
_MOST_POINTS = 5000


def polhode(
    run: Trajectory | str | PathLike[str],
    path: str | PathLike[str] | IO[bytes] | None = None,
) -> Figure:
    """The polhode of a torque-free run on the inertia ellipsoid, among its neighbours, and the
    herpolhode beside it.

    The curve is exact, from the run's energy and momentum at the start; the points are the run's.

    Parameters
    ----------
    run : Trajectory, or path of a stored run
        Of a body without torque and without rotors.
    path : str or Path, optional
        Where to save the figure.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import polhode as library
    >>> run = library.integrate([1.0, 2.0, 3.0], t_span=(0, 40), step=0.01, omega0=(0.1, 1.0, 0.0))
    >>> figure = polhode(run)
    """
    run, path = as_run(run), target(path)
    if not is_free(run):
        raise InputError(
            f"only a free body has a polhode, and this run has the torque {run.torque.name}; "
            "draw the overview or the errors"
        )
    if run.body.rotors:
        raise InputError(
            f"only a body without rotors has a polhode on its inertia ellipsoid, and this one has {len(run.body.rotors)}; "
            "draw the overview or the errors"
        )
    shape = Poinsot(run.body, run.quaternion[0], run.omega[0])
    with styled():
        figure = new_figure(10.5, 5.6)
        grid = figure.add_gridspec(1, 2, width_ratios=(1.15, 1.0))
        _on_ellipsoid(figure.add_subplot(grid[0], projection="3d"), shape, run)
        _in_plane(figure.add_subplot(grid[1]), shape, run)
        figure.suptitle(caption(run), x=0.012, ha="left")
    return saved(figure, path)


def _on_ellipsoid(axes, shape, run):
    body = shape.body
    reach = 1.0 / np.sqrt(body.moments.min())
    axes.view_init(elev=22, azim=38)
    axes.plot_surface(
        *np.moveaxis(shape.ellipsoid(40), -1, 0),
        rstride=1,
        cstride=1,
        color="#F3F1EC",
        lw=0,
        alpha=0.5,
        shade=False,
        zorder=0,
    )
    for omega in _neighbours(body):
        curve = Poinsot(body, omega0=omega).polhode(240)
        curve_around(axes, curve, curve @ body.inertia, color="#8F8B84", lw=0.7)
    exact = shape.polhode(400)
    curve_around(axes, exact, exact @ body.inertia, color=PALETTE[0], lw=3.2)
    points = _thin_out(shape.contact(run))
    visible = points[points @ body.inertia @ towards_viewer(axes) > 0.0]
    axes.plot(*visible.T, ".", color=PALETTE[1], ms=1.6, label="the run", ls="none")
    axes.plot([], [], color=PALETTE[0], lw=3.2, label="exact")
    axes.plot([], [], color="#8F8B84", lw=0.7, label="other motions of the body")
    if body.is_principal:
        pins(axes, 1.2 / np.sqrt(body.moments), ("1", "2", "3"))
    bare(axes, 0.82 * reach)
    axes.set_title("Polhode on the inertia ellipsoid", loc="center", y=1.02)
    axes.legend(loc="lower left", handlelength=1.4, markerscale=3.0)


def _in_plane(axes, shape, run):
    curve = shape.herpolhode(run)
    small, large = shape.herpolhode_radii()
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    for radius in (small, large):
        axes.plot(radius * np.cos(turn), radius * np.sin(turn), color=PALE, lw=1.2)
    axes.plot(*_thin_out(curve).T, color=PALETTE[1], lw=0.9)
    axes.plot(*curve[0], "o", color=PALETTE[0], ms=6, mec="white", label="start", ls="none")
    axes.plot(0.0, 0.0, "+", color="black", ms=9, label="foot of the momentum", ls="none")
    axes.set_aspect("equal", adjustable="datalim")
    unit = "1/(√kg m)"
    units = shape.body.units
    axes.set(xlabel=units.label("ρ · e₁ ", unit), ylabel=units.label("ρ · e₂ ", unit))
    axes.set_title("Herpolhode, between its exact bounds")
    axes.legend(loc="lower right", handletextpad=0.2)


def _neighbours(body):
    """Angular velocities whose polhodes cover the ellipsoid: steps from the middle axis to the two
    stable ones, either way."""
    low, middle, high = np.argsort(body.moments)
    for stable in (low, high):
        for angle in np.linspace(0.0, np.pi / 2, _NEIGHBOURS + 2)[1:-1]:
            for sign in (1.0, -1.0):
                principal = np.zeros(3)
                principal[middle], principal[stable] = np.cos(angle), sign * np.sin(angle)
                yield body.axes @ (principal / np.sqrt(body.moments))


def _thin_out(points):
    return points[:: max(1, len(points) // _MOST_POINTS)]
