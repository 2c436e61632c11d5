"""
A chain of ten bodies
=====================

Ten boxes are joined end to end by bushings, elastic along and about all axes: a rod in pieces.  Torques
due to elastic coupling between bodies are what the variational methods for rigid bodies were made for.

The rod is thrown: it moves, tumbles, and swings in its own modes.
"""

import numpy as np

import polhode
from polhode import interactions, plots

n, length = 10, 0.2
link = polhode.RigidBody.box(length, 0.04, 0.02, mass=0.1)
ends = ((length / 2, 0, 0), (-length / 2, 0, 0))
joints = interactions.bushings(
    [(i, i + 1) for i in range(n - 1)],
    stiffness=(2e3, 2e3, 2e3, 0.4, 0.2, 0.8),
    points=ends,
)
rod = polhode.System([link] * n, joints)

# %%
# It starts straight, turning about z, and bent by a velocity that changes along it.

place = (np.arange(n) - (n - 1) / 2) * length
position0 = np.stack([place, 0 * place, 0 * place], axis=1)
bend = 1.5 * np.cos(2.5 * np.pi * (place / (n * length) + 0.5))
velocity0 = np.stack([0 * place + 1.2, 1.2 * place, bend - bend.mean()], axis=1)
run = polhode.integrate(
    rod,
    t_span=(0, 8),
    step=1e-3,
    method="LP2",
    position0=position0,
    velocity0=velocity0,
    omega0=(0.0, 0.0, 1.2),
    every=10,
)
energy, L, P = run.total_energy, run.angular_momentum, run.linear_momentum
print(
    f"energy to {np.ptp(energy) / energy[0]:.0e}, angular momentum to {np.ptp(L, axis=0).max() / abs(L[0]).max():.0e}"
)

# %%
# The rod every half second, and its energies.  The energy of the joints comes and goes with the
# swinging; the sum stays.

with plots.styled():
    figure = plots.new_figure(9.0, 5.6)
    side, axes = figure.subplots(2, 1, height_ratios=(1, 1.4))
    for k in range(0, len(run.t), 50):
        first, second = (
            run.position[k] + polhode.rotations.rotate(run.quaternion[k], np.array(end))
            for end in ends
        )
        line = np.concatenate([second[:1], 0.5 * (first[:-1] + second[1:]), first[-1:]])
        side.plot(line[:, 0], line[:, 2], color=plots.PALETTE[0 if k else 1], lw=2.0)
    side.set(aspect="equal", xlabel="x [m]", ylabel="z [m]")
    side.set_title("The rod from the side, every half second")
    axes.plot(run.t, run.kinetic_energy, color=plots.PALETTE[0], lw=1.0, label="kinetic")
    axes.plot(run.t, run.potential_energy, color=plots.PALETTE[1], lw=1.0, label="of the joints")
    axes.plot(run.t, energy, color="0.2", lw=1.4, label="total")
    axes.set(xlabel="time [s]", ylabel="energy [J]", ylim=(0, None))
    axes.legend(loc="center right")
    axes.set_title("Energies")
