"""
A ring of magnets
=================

Twenty-four bar magnets stand in a circle, each free to turn about its own centre.  At rest they point
along the circle, each to its neighbour.  One of them is turned by hand and let go: a wave runs around
the ring in both directions, is dispersed, and meets itself on the other side.
"""

import numpy as np

import polhode
from polhode import interactions, plots

n, radius = 24, 0.12
bar = polhode.RigidBody.cylinder(0.003, 0.02, mass=0.004)  # metres and kilograms
angle = 2 * np.pi * np.arange(n) / n
places = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
moments = np.tile((0.0, 0.0, 0.4), (n, 1))  # A m^2, along the axis of each bar

magnets = interactions.dipoles(moments)
ring = polhode.System([bar] * n, magnets, fixed=True)

# %%
# The axis of each bar is turned into the tangent of the circle; the first one is turned further by 40
# degrees.  Attitudes are products of rotations: up to along x, then about z.

spin = angle + np.pi / 2
spin[0] += np.radians(40)
lie = polhode.rotations.exp([0.0, np.pi / 2, 0.0])
rotation0 = polhode.rotations.qmul(polhode.rotations.exp(np.outer(spin, (0, 0, 1))), lie)
run = polhode.integrate(
    ring, t_span=(0, 0.6), step=2e-4, method="LP2", position0=places, rotation0=rotation0
)

axis = polhode.rotations.rotate(run.quaternion, np.array([0.0, 0.0, 1.0]))
turned = np.arctan2(axis[..., 1], axis[..., 0]) - (angle + np.pi / 2)
turned = np.degrees((turned + np.pi) % (2 * np.pi) - np.pi)
energy = run.total_energy
print(f"the energy stays within {np.ptp(energy) / abs(energy[0]):.0e} of itself")

# %%
# Half of the ring is shown to the left of the magnet that was turned, half to the right.

with plots.styled():
    figure = plots.new_figure(8.6, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.5))
    for k in range(n):
        end = places[k, :2] + np.outer((-0.011, 0.011), axis[0, k, :2])
        left.plot(*end.T, color=plots.PALETTE[1 if k == 0 else 0], lw=4, solid_capstyle="butt")
        left.plot(*end[1], ".", color="0.2", ms=4)
    left.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    left.set_title("The ring at the start")
    shown = np.roll(turned, n // 2, axis=1)
    image = right.imshow(
        shown,
        aspect="auto",
        origin="lower",
        extent=(-n / 2 - 0.5, n / 2 - 0.5, 0, 1e3 * run.t[-1]),
        cmap="RdBu_r",
        vmin=-12,
        vmax=12,
        interpolation="nearest",
    )
    right.grid(False)
    right.set(xlabel="magnet, from the one that was turned", ylabel="time [ms]")
    right.set_title("Angles of the magnets")
    figure.colorbar(image, ax=right, label="degrees")
