"""
A camera's path from its own measurements
=========================================

An inertial measurement unit reports velocity and angular velocity in the camera's own frame.  Position
and attitude together are an element :math:`y` of SE(3), with :math:`\\dot y = y\\,W(t)`.
``polhode.lie`` integrates this equation on any matrix group, with Buss's series.
"""

import numpy as np
from matplotlib.ticker import NullLocator

from polhode import lie, plots


def twist(t):
    """Velocity, then angular velocity: a slow orbit with a shaking hand."""
    return np.array(
        [
            1.0 + 0.2 * np.sin(3.0 * t),
            0.1 * np.cos(2.0 * t),
            0.3 * np.sin(t),
            0.4 * np.cos(3.0 * t),
            0.5 + 0.3 * np.sin(2.0 * t),
            0.6 * np.sin(t),
        ]
    )


def follow(method, steps):
    """Frames [[R, x], [0, 1]] over ten seconds."""
    return lie.solve(lie.se3, twist, np.eye(4), (0.0, 10.0), steps, method, frame="body").y


true = follow("taylor6", 400)
METHODS = ("taylor1", "taylor2", "taylor4", "taylor6")
counts = [20, 40, 80, 160]
errors = {
    name: [np.linalg.norm(follow(name, n)[-1] - true[-1]) for n in counts] for name in METHODS
}

with plots.styled():
    figure = plots.new_figure(11.0, 5.0)
    grid = figure.add_gridspec(1, 2, width_ratios=(1.35, 1))
    space, axes = figure.add_subplot(grid[0], projection="3d"), figure.add_subplot(grid[1])
    space.plot(*true[:, :3, 3].T, color="black", lw=1.6, label="true path")
    for name, colour in (("taylor1", plots.PALETTE[1]), ("taylor4", plots.PALETTE[0])):
        space.plot(
            *follow(name, 20)[:, :3, 3].T,
            "o--",
            color=colour,
            ms=3.5,
            lw=1.0,
            label=f"{name}, 20 steps",
        )
    for frame in true[::40]:
        for axis, colour in enumerate(("#D55E00", "#009E73", "#0072B2")):
            space.plot(
                *zip(frame[:3, 3], frame[:3, 3] + 0.35 * frame[:3, axis], strict=True),
                color=colour,
                lw=1.8,
            )
    space.set_aspect("equal")
    space.view_init(elev=24, azim=-50)
    space.set(
        xlabel="x [m]",
        ylabel="y [m]",
        zlabel="z [m]",
        xticks=(-2, 0, 2),
        yticks=(-2, 0, 2),
        zticks=(-3, -2, -1, 0),
    )
    space.set_title("The camera's path, with its axes once per second", loc="center")
    space.legend(loc="upper left")
    for (name, found), colour in zip(
        errors.items(), plots.PALETTE[1::-1] + plots.PALETTE[2:4], strict=True
    ):
        axes.loglog(
            10.0 / np.array(counts),
            found,
            "o-",
            color=colour,
            ms=5,
            mec="white",
            mew=0.5,
            label=name,
        )
    axes.set(xlabel="step [s]", ylabel="error of the last frame", xticks=10.0 / np.array(counts))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_title("Each series has the order that its name says")
    axes.legend()
