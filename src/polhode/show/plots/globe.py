"""Curves and points on the unit sphere: where an axis of the body, or any direction, has been."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, IO

import numpy as np

from polhode import rotations
from polhode.errors import InputError, floats, unknown
from polhode.io.read import as_run
from polhode.show.plots.style import (
    PALE,
    PALETTE,
    bare,
    curve_around,
    new_figure,
    pins,
    saved,
    styled,
    target,
    towards_viewer,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_POINTS = 20_000


def sphere(
    paths: Any,
    path: str | PathLike[str] | IO[bytes] | None = None,
    axis: int = 3,
    dots: bool = False,
    names: str | Sequence[str] = "xyz",
) -> Figure:
    """The path of a body axis in space, one sphere for each run; what lies behind is paler.

    Parameters
    ----------
    paths : Trajectory, path of a stored run, or array (n, 3) of directions
        Or a list of them, or a dict from title to them.  Directions need not have length 1.
    path : str or Path, optional
        Where to save the figure.
    axis : {1, 2, 3}
        Which axis of the body is followed, in runs.
    dots : bool
        Draw points in place of a curve, and no start and end: for many bodies at one time.
    names : three letters
        Of the axes of the picture; directions in the body are better called "123".

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import polhode
    >>> top = polhode.problem("krysl/slow-top").integrate("LP2")
    >>> figure = sphere({"slow top": top, "its second axis": top.matrix[:, :, 1]})
    >>> [axes.get_title() for axes in figure.axes]
    ['slow top', 'its second axis']
    """
    if not (isinstance(axis, (int, np.integer)) and axis in (1, 2, 3)):
        raise unknown("axis of the body", axis, ["1", "2", "3"])
    panels, path = _titled(paths), target(path)
    columns = len(panels) if len(panels) <= 3 else math.ceil(math.sqrt(len(panels)))
    rows = -(-len(panels) // columns)
    with styled():
        figure = new_figure(
            3.3 * columns if columns > 1 else 5.0, 3.7 * rows if columns > 1 else 5.2
        )
        for number, (title, points) in enumerate(panels.items()):
            axes = figure.add_subplot(rows, columns, number + 1, projection="3d")
            globe(axes, names)
            points = directions(points, axis)
            if dots:
                _dots(axes, points)
            else:
                curve(axes, points, lw=1.2, legend=number == len(panels) - 1)
            axes.set_title(title, loc="center", y=-0.08)
    return saved(figure, path)


def globe(axes, names="xyz"):
    """A sphere's lines of latitude and longitude, without walls."""
    u = np.linspace(0.0, 2.0 * np.pi, 73)
    for angle in np.radians((-60, -30, 0, 30, 60)):
        axes.plot(
            np.cos(angle) * np.cos(u),
            np.cos(angle) * np.sin(u),
            np.full_like(u, np.sin(angle)),
            color=PALE,
            lw=0.6,
        )
    for angle in np.radians(np.arange(0, 180, 30)):
        axes.plot(
            np.cos(u) * np.cos(angle), np.cos(u) * np.sin(angle), np.sin(u), color=PALE, lw=0.6
        )
    axes.view_init(elev=24, azim=-58)
    pins(axes, (1.22, 1.22, 1.22), names)
    bare(axes, 0.95)


def curve(axes, points, lw=0.9, legend=True):
    """A curve on the globe, with its start and its end."""
    points = points[:: max(1, len(points) // _MOST_POINTS)]
    curve_around(axes, points, points, color=PALETTE[2], lw=lw)
    for point, marker, label in ((0, "o", "start"), (-1, "s", "end")):
        axes.plot(
            *points[point], marker, ms=6, color=PALETTE[1], mec="white", label=label, ls="none"
        )
    if legend:
        axes.legend(loc="lower right", handletextpad=0.1)


def _dots(axes, points):
    behind = points @ towards_viewer(axes) < 0.0
    for some, alpha in ((points[behind], 0.12), (points[~behind], 0.55)):
        axes.plot(*some.T, ".", color=PALETTE[0], ms=2.8, mew=0.0, alpha=alpha, ls="none")


def _titled(paths):
    if not isinstance(paths, dict):
        several = paths if isinstance(paths, (list, tuple)) else [paths]
        paths = {
            str(number + 1) if len(several) > 1 else "": one for number, one in enumerate(several)
        }
    if not paths:
        raise InputError("sphere needs at least one run or array of directions, got none; give one")
    return paths


def directions(points, axis=3):
    """Unit vectors (n, 3): those given, or where an axis of the body was in a run."""
    if isinstance(points, np.ndarray):
        points = floats("directions", points, last=3)
        length = np.linalg.norm(points, axis=-1, keepdims=True)
        if points.ndim != 2 or not np.all(length > 0.0):
            raise InputError(
                f"directions must be an array (n, 3) without zero vectors, got shape {points.shape}; drop those"
            )
        return points / length
    quaternion = as_run(points).quaternion
    return rotations.matrices(quaternion[:: max(1, len(quaternion) // _MOST_POINTS)])[
        :, :, axis - 1
    ]
