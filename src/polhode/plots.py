"""Figures of trajectories: `overview` of one, `drift` of several, `flip` of a tumbling body.

Every function returns a matplotlib Figure that belongs to no window and no global state, and saves it when given a path.
The colours are Okabe and Ito's, which readers with any kind of colour vision can tell apart.
"""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from polhode import rotations
from polhode.errors import InputError

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_GREY = "#555555"
_ROUND_OFF = 1e-17   # what is drawn in place of an error of zero on a logarithmic axis
_POINTS = 4000       # per curve: more cannot be seen
_STYLE = {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#E4E4E4",
          "grid.linewidth": 0.7, "axes.axisbelow": True, "axes.edgecolor": "#888888", "axes.titlesize": 10.5,
          "axes.titlelocation": "left", "figure.titleweight": "bold", "axes.labelsize": 9.5, "xtick.labelsize": 8.5,
          "ytick.labelsize": 8.5, "legend.fontsize": 9, "legend.frameon": False, "lines.linewidth": 1.2,
          "lines.solid_joinstyle": "round", "figure.titlesize": 12.5}


def overview(trajectory, path=None):
    """Angular velocity, energy, spatial momentum, and the path of the body's third axis on the sphere.

    Parameters
    ----------
    trajectory : Trajectory
    path : str or Path, optional
        Where to save the figure; the suffix says how.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with _style():
        figure = _figure(10.5, 7.2)
        grid = figure.add_gridspec(3, 2, height_ratios=(2.0, 1.0, 1.0), width_ratios=(1.0, 0.95))
        _velocities(figure.add_subplot(grid[0, 0]), trajectory)
        _sphere(figure.add_subplot(grid[:, 1], projection="3d"), trajectory)
        energy = figure.add_subplot(grid[1, 0])
        _changes(energy, figure.add_subplot(grid[2, 0], sharex=energy), trajectory)
        figure.suptitle(_caption(trajectory), x=0.012, ha="left")
    return _saved(figure, path)


def drift(trajectories, path=None):
    """The relative energy error of several runs of one problem against time, each labelled at its end.

    Parameters
    ----------
    trajectories : list of Trajectory, or dict from label to Trajectory
    path : str or Path, optional
        Where to save the figure.
    """
    if not isinstance(trajectories, dict):
        trajectories = {run.method.name: run for run in trajectories}
    if not trajectories:
        raise InputError("drift needs at least one trajectory")
    with _style():
        figure = _figure(9.0, 5.0)
        axes = figure.add_subplot()
        ends = []
        for (label, run), colour in zip(trajectories.items(), _colours(len(trajectories)), strict=True):
            error = (run.total_energy - run.total_energy[0]) / _energy_scale(run)
            axes.plot(*_thin(run.t, error), color=colour, lw=0.5, alpha=0.35)
            t, smooth = _running_mean(run.t, error)
            axes.plot(t, smooth, color=colour, lw=2.0)
            ends.append((smooth[-1], label, colour))
        first = next(iter(trajectories.values()))
        axes.axhline(0.0, color=_GREY, lw=0.8)
        axes.set(xlabel="time [s]", ylabel="(E − E₀) / |E₀|", xlim=(first.t[0], first.t[-1]))
        axes.set_title("Relative energy error: every stored point (thin), running mean (bold)")
        _end_labels(axes, first.t[-1], ends)
    return _saved(figure, path)


def flip(trajectory, path=None, snapshots=7):
    """A tumbling body: its angular velocity, and how it lies in space around its first flip.

    The snapshots are turned so that the angular momentum points up, and show the body as a box with an arrow along the axis
    about which it spins at first.
    """
    spin = int(np.argmax(np.abs(trajectory.omega[0])))
    with _style():
        figure = _figure(10.5, 5.2)
        grid = figure.add_gridspec(2, snapshots, height_ratios=(1.0, 0.75))
        axes = figure.add_subplot(grid[0, :])
        _velocities(axes, trajectory)
        axes.set_title("Angular velocity in the body frame; dashed: the moments drawn below")
        indices = _moments(trajectory, spin, snapshots)
        upright = _momentum_up(trajectory)
        for column, i in enumerate(indices):
            axes.axvline(trajectory.t[i], color=_GREY, lw=0.8, ls=(0, (3, 3)))
            picture = figure.add_subplot(grid[1, column], projection="3d")
            _draw_box(picture, upright @ rotations.matrices(trajectory.quaternion[i]), _edges(trajectory.body), spin)
            picture.set_title(f"t = {trajectory.t[i]:.3g} s", fontsize=9, loc="center", y=-0.14)
        figure.suptitle("A body spun about its intermediate axis turns over", x=0.012, ha="left")
    return _saved(figure, path)


# --- panels --------------------------------------------------------------------------------------------------------------

def _velocities(axes, trajectory):
    for i, (name, colour) in enumerate(zip("₁₂₃", PALETTE, strict=False)):
        axes.plot(*_thin(trajectory.t, trajectory.omega[:, i]), color=colour, label=f"Ω{name}")
    axes.set(xlabel="time [s]", ylabel="Ω [rad/s]")
    axes.set_title("Angular velocity, body frame")
    axes.margins(x=0)
    axes.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 0.98), borderaxespad=0.0, handlelength=1.4, columnspacing=1.2)


def _changes(energy, momentum, run):
    """How far energy and spatial momentum go from where they began, on logarithmic axes."""
    scale = _energy_scale(run)
    kinetic = run.potential_energy is None
    _logarithmic(energy, run.t, np.abs(run.total_energy - run.total_energy[0]) / scale, PALETTE[0])
    pi = run.momentum_spatial
    size = float(np.linalg.norm(pi, axis=1).max()) or 1.0
    _logarithmic(momentum, run.t, np.linalg.norm(pi - pi[0], axis=1) / size, PALETTE[1])
    energy.set_title(f"{'Kinetic' if kinetic else 'Total'} energy, relative change")
    energy.set_ylabel("|E − E₀| / |E₀|")
    energy.tick_params(labelbottom=False)
    momentum.set_title("Spatial angular momentum, relative change")
    momentum.set(xlabel="time [s]", ylabel="|π − π₀| / max |π|")


def _logarithmic(axes, t, values, colour):
    """Zeros are drawn at the foot of the axis; when there is nothing else, it is said in words."""
    positive = values[values > 0.0]
    if not len(positive):
        axes.set_yticks([])
        axes.text(0.5, 0.5, "unchanged to the last bit", transform=axes.transAxes, ha="center", color=_GREY)
        axes.set_xlim(t[0], t[-1])
        return
    floor = max(positive.min(), _ROUND_OFF, 1e-9 * positive.max())
    axes.plot(*_thin(t, np.maximum(values, floor)), color=colour, lw=0.9)
    axes.set_yscale("log")
    axes.set_ylim(0.5 * floor, max(3.0 * positive.max(), 20.0 * floor))
    axes.margins(x=0)


def _sphere(axes, trajectory):
    """The path of the third body axis on the unit sphere; what lies behind is paler."""
    stride = max(1, len(trajectory) // 20_000)
    x, y, z = trajectory.matrix[::stride, :, 2].T
    u = np.linspace(0.0, 2.0 * np.pi, 73)
    for angle in np.radians((-60, -30, 0, 30, 60)):
        axes.plot(np.cos(angle) * np.cos(u), np.cos(angle) * np.sin(u), np.full_like(u, np.sin(angle)), color="#D9D9D9", lw=0.6)
    for angle in np.radians(np.arange(0, 180, 30)):
        axes.plot(np.cos(u) * np.cos(angle), np.cos(u) * np.sin(angle), np.sin(u), color="#D9D9D9", lw=0.6)
    axes.view_init(elev=24, azim=-58)
    view = _towards_viewer(axes)
    behind = np.stack([x, y, z], axis=1) @ view < 0.0
    for part, alpha in ((1.0, 0.3), (np.where(behind, np.nan, 1.0), 0.95)):
        axes.plot(x * part, y * part, z * part, color=PALETTE[2], lw=0.9, alpha=alpha)
    for point, marker, label in ((0, "o", "start"), (-1, "s", "end")):
        axes.plot(x[point], y[point], z[point], marker, ms=6, color=PALETTE[1], mec="white", label=label, ls="none")
    for tip, name in zip(1.22 * np.eye(3), "xyz", strict=True):
        axes.plot(*zip(0.82 * tip, tip, strict=True), color=_GREY, lw=0.8)
        axes.text(*(1.1 * tip), name, color=_GREY, ha="center", va="center", fontsize=9)
    _bare(axes, 0.95)
    axes.set_title("Path of the body's third axis in space", loc="center", y=1.12)
    axes.legend(loc="lower right", handletextpad=0.1)


def _end_labels(axes, t, ends):
    """Names at the right end of the curves, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    gap, last = 0.05 * (high - low), -np.inf
    for value, label, colour in sorted(ends):
        last = max(value, last + gap)
        axes.annotate(label, (t, last), (8, 0), textcoords="offset points", annotation_clip=False, color=colour, va="center",
                      fontweight="bold", fontsize=9.5)


# --- the flip ------------------------------------------------------------------------------------------------------------

def _moments(trajectory, spin, count):
    """Indices of moments spread around the first change of sign of the spin, or over the run when there is none."""
    sign = np.sign(trajectory.omega[:, spin])
    change = np.flatnonzero(sign[1:] * sign[:-1] < 0)
    if not len(change):
        return np.linspace(0, len(trajectory) - 1, count).round().astype(int)
    at = change[0]
    fast = np.abs(trajectory.omega[:, spin]) > 0.98 * np.abs(trajectory.omega[0, spin])
    before = np.flatnonzero(fast[:at])
    width = at - before[-1] if len(before) else at
    wanted = at + np.linspace(-1.25, 1.25, count) * width
    return np.clip(wanted.round().astype(int), 0, len(trajectory) - 1)


def _momentum_up(trajectory):
    """A rotation that takes the spatial momentum at the start to the vertical."""
    up = trajectory.momentum_spatial[0] / np.linalg.norm(trajectory.momentum_spatial[0])
    side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    side /= np.linalg.norm(side)
    return np.stack([side, np.cross(up, side), up])


def _edges(body):
    """The edges of the body, or of a box of the same inertia, the longest one 1."""
    shape = body.shape or {}
    edges = np.array(shape["size"] if shape.get("kind") == "box" else
                     np.sqrt(np.maximum(body.moments.sum() / 2 - body.moments, 1e-3 * body.moments.max())))
    return edges / edges.max()


def _draw_box(axes, R, edges, spin):
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * edges / 2
    for axis, colour in enumerate(PALETTE[:3]):
        for side in (-1, 1):
            face = corners[corners[:, axis] * side > 0][[0, 1, 3, 2]] @ R.T
            shade = colour if side > 0 else _paler(colour)
            axes.add_collection3d(Poly3DCollection([face], facecolor=shade, edgecolor="white", lw=0.6))
    arrow = R[:, spin] * (0.5 * edges[spin] + np.array([[0.0], [0.32]]))
    axes.plot(*arrow.T, color="black", lw=2.0)
    axes.plot(*arrow[1:].T, "o", color="black", ms=4.5)
    axes.view_init(elev=18, azim=-60)
    _bare(axes, 0.55)


def _paler(colour):
    r, g, b = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return tuple((c + 2 * 255) / (3 * 255) for c in (r, g, b))


# --- small things --------------------------------------------------------------------------------------------------------

def _style():
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def _figure(width, height):
    figure = Figure(figsize=(width, height), layout="constrained", dpi=150, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _saved(figure, path):
    if path is not None:
        figure.savefig(path)
    return figure


def _caption(run):
    step = run.step if isinstance(run.step, float) else "uneven"
    shown = f"{step:g} s" if isinstance(step, float) else step
    name = f"{run.body.name}: " if run.body.name else ""
    return f"{name}{run.method.name}, step {shown}, {run.steps} steps, torque {run.torque.name}"


def _colours(count):
    return [PALETTE[i % len(PALETTE)] for i in range(count)]


def _energy_scale(run):
    """|E0|, or the largest kinetic energy where the energy begins near zero."""
    return max(abs(float(run.total_energy[0])), 1e-3 * float(run.kinetic_energy.max())) or 1.0


def _thin(t, y):
    """At most `_POINTS` points that look the same: the smallest and the largest of each interval."""
    if len(t) <= _POINTS:
        return t, y
    bins = np.array_split(np.arange(len(t)), _POINTS // 2)
    keep = sorted({i for part in bins for i in (part[np.argmin(y[part])], part[np.argmax(y[part])])})
    return t[keep], y[keep]


def _running_mean(t, y):
    """The mean over a fiftieth of the run, at the middle of each."""
    parts = np.array_split(np.arange(len(t)), min(50, len(t)))
    return (np.array([t[0], *(t[part].mean() for part in parts[1:-1]), t[-1]]),
            np.array([y[part].mean() for part in parts])) if len(parts) > 2 else (t, y)


def _towards_viewer(axes):
    elevation, azimuth = np.radians((axes.elev, axes.azim))
    return np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])


def _bare(axes, reach):
    axes.set_axis_off()
    axes.set_proj_type("ortho")
    axes.set_box_aspect((1, 1, 1), zoom=1.25)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), zlim=(-reach, reach))
