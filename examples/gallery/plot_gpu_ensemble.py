"""
Fates of forty thousand tops
============================

A triaxial body on a ball joint has no closed-form solution, and many of its motions are chaotic.  Each
pixel is a body with its own initial tilt and spin; the colour shows where its axis points after 20
seconds.  There are bands of regular motions, and a chaotic sea in which neighbours separate.  The
bodies run on a GPU if there is one, otherwise on the processor, with the same steps.
"""

import numpy as np

import polhode
from polhode import plots

side = 200
tilt, spin = np.meshgrid(np.linspace(0.02, np.pi - 0.02, side), np.linspace(0.0, 6.0, side))
zero = np.zeros(side * side)
task = {
    "bodies": [2.0, 2.6, 1.0],
    "torque": polhode.torques.heavy_top(3.0),
    "t_span": (0, 20),
    "step": 0.02,
    "rotation0": np.stack([tilt.ravel(), zero, zero], axis=1),
    "omega0": np.stack([zero, zero, spin.ravel()], axis=1),
}
try:
    run = polhode.ensemble(**task, device="cuda")
except polhode.InputError:
    print("no usable GPU: running on the processor")
    run = polhode.ensemble(**task)
print(f"{run.n} bodies, {run.steps} steps each")

# %%
height = run.matrix[:, 2, 2].reshape(side, side)

with plots.styled():
    figure = plots.new_figure(7.6, 6.2)
    axes = figure.add_subplot()
    image = axes.imshow(
        height,
        origin="lower",
        extent=(0, 180, 0, 6),
        aspect="auto",
        cmap="RdYlBu_r",
        vmin=-1,
        vmax=1,
        interpolation="nearest",
    )
    axes.grid(visible=False)
    axes.set(
        xlabel="tilt at the start [degrees]",
        ylabel="spin at the start [rad/s]",
        xticks=range(0, 181, 30),
    )
    axes.set_title("Height of the axis after 20 s")
    figure.colorbar(image, label="R₃₃", shrink=0.8)
