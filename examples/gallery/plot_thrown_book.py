"""
A book thrown across the room
=============================

The weight acts on the centre of mass while the book turns.  An event ends the flight when the book
reaches the floor.
"""

import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import polhode
from polhode import plots

size = np.array([0.24, 0.17, 0.03])
book = polhode.RigidBody.box(*size, mass=0.6)


def gravity(t, x, v, R):
    """Weight."""
    return np.array([0.0, 0.0, -0.6 * 9.81])


def floor(t, R, omega, x, v):
    """Height of the centre above the floor."""
    return x[2]


floor.terminal, floor.direction = True, -1
run = polhode.integrate(
    book,
    t_span=(0, 3),
    step=0.001,
    force=gravity,
    position0=(0, 0, 1.2),
    velocity0=(2.6, 0.3, 3.4),
    rotation0=(0.3, 0, 0),
    omega0=(0.4, 11.0, 0.0),
    events=floor,
)
print(f"it lands after {run.t[-1]:.3f} s, {run.position[-1, 0]:.2f} m away")

# %%
COLOURS = np.repeat([plots.PALETTE[0], plots.PALETTE[1], plots.PALETTE[2]], 2)
corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2

with plots.styled():
    figure = plots.new_figure(10.5, 5.6)
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    axes.plot(*run.position.T, color="#888888", lw=1.0, zorder=1)
    axes.plot(*run.position[:, :2].T, 0 * run.t, color="#BBBBBB", lw=1.0, ls=(0, (3, 3)), zorder=0)
    for i in np.linspace(0, len(run) - 1, 20).astype(int):
        placed = corners @ run.matrix[i].T + run.position[i]
        faces = [
            placed[corners[:, axis] * side > 0][[0, 1, 3, 2]]
            for axis in range(3)
            for side in (-1, 1)
        ]
        axes.add_collection3d(
            Poly3DCollection(
                faces, facecolors=COLOURS, edgecolor="white", lw=0.5, zorder=2, clip_on=False
            )
        )
    axes.set_proj_type("ortho")
    axes.view_init(elev=14, azim=-80)
    axes.set(
        xlabel="x [m]",
        zlabel="height [m]",
        xlim=(-0.2, 2.9),
        ylim=(-0.2, 0.6),
        zlim=(0, 2),
        yticks=[],
    )
    axes.set_box_aspect((3.1, 0.8, 2.0), zoom=1.4)
    figure.suptitle("Twenty moments of a flight", x=0.012, ha="left")
