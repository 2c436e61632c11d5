"""Pictures of one motion: `overview`, and `flip` of a tumbling body."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, IO

import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from polhode import rotations
from polhode.results.conserved import energy, is_free, momentum
from polhode.errors import InputError, brief, whole
from polhode.io.read import as_any_run, as_run
from polhode.show.plots.globe import curve, directions, globe
from polhode.show.plots.panels import axes_in_space, logarithmic
from polhode.show.plots.system_figures import overview_of_system
from polhode.show.plots.smooth import smooth
from polhode.show.plots.style import (
    GREY,
    PALETTE,
    POINTS,
    bare,
    caption,
    lowered,
    new_figure,
    saved,
    styled,
    target,
    thin,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polhode.results._run import Run
    from polhode.results._trajectory import Trajectory

_MOST_SNAPSHOTS = 40


def overview(
    run: Run | str | PathLike[str],
    path: str | PathLike[str] | IO[bytes] | None = None,
) -> Figure:
    """Angular velocity, energy, spatial momentum, and the path of the body's third axis on the
    sphere; of a body with rotors also their speeds, and of a body in flight its path in space.  Its
    momentum is that about the origin, or about the centre of mass if no torque acts.  Of a system: the
    paths of all bodies and their angular velocities, energy and momenta, and, of a few bodies, the
    paths of their third axes.

    Parameters
    ----------
    run : Trajectory, SystemTrajectory, or path of a stored run
    path : str or Path, optional
        Where to save the figure; the suffix selects the format.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import polhode
    >>> run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 40), step=0.01, omega0=(0.001, 1.0, 0.0))
    >>> overview(run).get_suptitle()
    'LP2, step 0.01, 4000 steps, torque free'
    """
    run, path = as_any_run(run), target(path)
    with styled():
        if run.kind.bodies:
            return saved(overview_of_system(run), path)
        spins = run.rotor_speeds is not None
        heights = (2.0, *[1.3] * spins, 1.0, 1.0)
        figure = new_figure(10.5, 1.8 * sum(heights))
        grid = figure.add_gridspec(len(heights), 2, height_ratios=heights, width_ratios=(1.0, 0.95))
        curves = smooth(run)
        _velocities(figure.add_subplot(grid[0, 0]), curves)
        if spins:
            speeds = figure.add_subplot(grid[1, 0])
            _components(speeds, curves, "w", curves.rotor_speeds)
            speeds.set_title("Speeds of the rotors")
        if run.position is None:
            _sphere(figure.add_subplot(grid[:, 1], projection="3d"), curves)
        else:
            halves = grid[:, 1].subgridspec(2, 1)
            _path(figure.add_subplot(halves[0], projection="3d"), curves)
            _sphere(figure.add_subplot(halves[1], projection="3d"), curves, legend=False)
        above = figure.add_subplot(grid[-2, 0])
        _changes(above, figure.add_subplot(grid[-1, 0], sharex=above), run)
        figure.suptitle(caption(run), x=0.012, ha="left")
    return saved(figure, path)


def flip(
    run: Trajectory | str | PathLike[str],
    path: str | PathLike[str] | IO[bytes] | None = None,
    snapshots: int = 7,
) -> Figure:
    """A tumbling body: its angular velocity, and its attitude at several moments around the first flip.

    The snapshots are rotated so that the angular momentum points up.  They show the body as a box
    with an arrow along the axis about which it spins at first.

    Parameters
    ----------
    run : Trajectory, or path of a stored run
    path : str or Path, optional
        Where to save the figure.
    snapshots : int
        Number of moments that are drawn.

    Examples
    --------
    >>> import polhode
    >>> box = polhode.RigidBody.box(0.20, 0.13, 0.03)
    >>> len(flip(polhode.integrate(box, t_span=(0, 20), step=0.02, omega0=(0.002, 6, 0)), snapshots=5).axes)
    6
    """
    run, path, snapshots = as_run(run), target(path), whole("snapshots", snapshots, 1, "use 7")
    if snapshots > _MOST_SNAPSHOTS:
        raise InputError(
            f"a figure has at most {_MOST_SNAPSHOTS} snapshots, got {brief(snapshots)}; use 7"
        )
    spin = int(np.argmax(np.abs(run.omega[0])))
    if not run.omega[0, spin]:
        raise InputError(
            "the body is at rest at the start, and flip draws a body that spins; give it an angular velocity"
        )
    with styled():
        figure = new_figure(10.5, 5.2)
        grid = figure.add_gridspec(2, snapshots, height_ratios=(1.0, 0.75))
        axes = figure.add_subplot(grid[0, :])
        _velocities(axes, run)
        axes.set_title("Angular velocity in the body frame; dashed: the moments drawn below")
        upright = _momentum_up(run)
        for column, i in enumerate(moments_around_flip(run, spin, snapshots)):
            axes.axvline(run.t[i], color=GREY, lw=0.8, ls=(0, (3, 3)))
            picture = figure.add_subplot(grid[1, column], projection="3d")
            _draw_box(
                picture, upright @ rotations.matrices(run.quaternion[i]), edges(run.body), spin
            )
            picture.set_title(
                run.body.units.value(f"t = {run.t[i]:.3g}", "s"), fontsize=9, loc="center", y=-0.14
            )
        figure.suptitle(_headline(run, spin), x=0.012, ha="left")
    return saved(figure, path)


def _headline(run, spin):
    """The title of the figure."""
    middle = np.argsort(run.body.moments)[1]
    famous = (
        is_free(run)
        and run.body.is_principal
        and spin == middle
        and np.ptp(np.sign(run.omega[:, spin])) == 2
    )
    return "A body spun about its intermediate axis turns over" if famous else caption(run)


# --- panels ---------------------------------------------------------------------------------------


def _velocities(axes, run):
    _components(axes, run, "Ω", run.omega)
    axes.set_title("Angular velocity, body frame")


def _components(axes, run, letter, values):
    """Angular velocities (n, k) against time, a curve for each of the k."""
    for i, one in enumerate(values.T):
        name = f"{letter}{lowered(i + 1)}"
        axes.plot(*thin(run.t, one), color=PALETTE[i % len(PALETTE)], label=name)
    units = run.body.units
    axes.set(xlabel=units.label("time", "s"), ylabel=units.label(letter, "rad/s"))
    axes.margins(x=0)
    axes.legend(
        ncols=7,
        loc="lower right",
        bbox_to_anchor=(1.0, 0.98),
        borderaxespad=0.0,
        handlelength=1.4,
        columnspacing=1.2,
    )


def _changes(above, below, run):
    """How far energy and spatial momentum go from where they began, on logarithmic axes."""
    strays = energy(run), momentum(run)
    for axes, stray, colour in zip((above, below), strays, PALETTE, strict=False):
        logarithmic(axes, run.t, {"": np.abs(stray.values)}, [colour])
    momenta = "Spatial angular momentum"
    if strays[1].up is not None:
        momenta = "Vertical angular momentum"
    elif strays[1].about:
        momenta = f"Angular momentum about {strays[1].about}"
    for axes, stray in zip((above, below), strays, strict=True):
        place = {"transform": axes.transAxes, "ha": "right", "fontsize": 8.5}
        axes.text(0.99, 0.07, stray.cause, color=GREY, **place)
    above.set_title(
        f"{'Kinetic' if run.potential_energy is None else 'Total'} energy, relative change"
    )
    above.set_ylabel("|E − E₀| / |E₀|")
    above.tick_params(labelbottom=False)
    below.set_title(f"{momenta}, relative change")
    below.set_xlabel(run.body.units.label("time", "s"))
    below.set_ylabel("|π − π₀| / |π₀|" if strays[1].up is None else "|(π − π₀)·up| / |π₀|")


def _path(axes, run):
    """The path of the centre of mass in space, in a cube: lengths along all axes are to one scale."""
    points = run.position[:: max(1, len(run) // POINTS)]
    middle, reach = 0.5 * (points.max(axis=0) + points.min(axis=0)), np.ptp(points, axis=0).max()
    axes.plot(*points.T, color=PALETTE[0], lw=1.0)
    for place, marker, label in ((points[0], "o", "start"), (points[-1], "s", "end")):
        axes.plot(*place, marker, ms=6, color=PALETTE[1], mec="white", label=label, ls="none")
    if (np.abs(middle) <= 0.55 * reach).all():
        axes.plot(0, 0, 0, "+", ms=9, color=GREY, label="origin", ls="none")
    axes_in_space(axes, middle, reach)
    axes.set_title(run.body.units.label("Path in space", "m"), loc="center")
    axes.legend(loc="upper left", handletextpad=0.1)


def _sphere(axes, run, legend=True):
    """The path of the third body axis on the unit sphere."""
    globe(axes)
    curve(axes, directions(run), legend=legend)
    axes.set_title("Path of the body's third axis in space", loc="center", y=1.12)


# --- the flip -------------------------------------------------------------------------------------


def moments_around_flip(run, spin, count):
    """Indices of moments spread around the first change of sign of the spin, or over the run when
    there is none."""
    sign = np.sign(run.omega[:, spin])
    change = np.flatnonzero(sign[1:] * sign[:-1] < 0)
    if not len(change):
        return np.linspace(0, len(run.t) - 1, count).round().astype(int)
    at = change[0]
    fast = np.abs(run.omega[:, spin]) > 0.98 * np.abs(run.omega[0, spin])
    before = np.flatnonzero(fast[:at])
    width = at - before[-1] if len(before) else at
    wanted = at + np.linspace(-1.25, 1.25, count) * width
    return np.clip(wanted.round().astype(int), 0, len(run.t) - 1)


def _momentum_up(run):
    """A rotation that takes the spatial momentum at the start to the vertical."""
    L = run.momentum_spatial[0]
    if not L.any():  # the rotors may turn against the body
        return np.eye(3)
    up = L / np.linalg.norm(L)
    side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    side /= np.linalg.norm(side)
    return np.stack([side, np.cross(up, side), up])


def edges(body):
    """The edges of the body, or of a box of the same inertia, the longest one 1."""
    shape = body.shape or {}
    found = np.array(
        shape["size"]
        if shape.get("kind") == "box"
        else np.sqrt(np.maximum(body.moments.sum() / 2 - body.moments, 1e-3 * body.moments.max()))
    )
    return found / found.max()


def _draw_box(axes, R, sides, spin):
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * sides / 2
    for axis, colour in enumerate(PALETTE[:3]):
        for side in (-1, 1):
            face = corners[corners[:, axis] * side > 0][[0, 1, 3, 2]] @ R.T
            shade = colour if side > 0 else _paler(colour)
            axes.add_collection3d(
                Poly3DCollection([face], facecolor=shade, edgecolor="white", lw=0.6)
            )
    arrow = R[:, spin] * (0.5 * sides[spin] + np.array([[0.0], [0.32]]))
    axes.plot(*arrow.T, color="black", lw=2.0)
    axes.plot(*arrow[1:].T, "o", color="black", ms=4.5)
    axes.view_init(elev=18, azim=-60)
    bare(axes, 0.55)


def _paler(colour):
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return tuple((c + 2 * 255) / (3 * 255) for c in (r, g, b))
