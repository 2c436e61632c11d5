"""
A drop of liquid: 216 rigid waters
==================================

A molecule of water is nearly a rigid body: three atoms whose distances do not change on the time scale
of its rotation.  216 of them in a periodic box of 1.862 nm are liquid water at its density.  Each is a
body in flight with the charges and the Lennard-Jones potential of SPC/E (Berendsen, Grigera and
Straatsma, J. Phys. Chem. 91 (1987) 6269), here with shifted forces and a cut-off of 0.85 nm.

The units are nm, ps and atomic mass units; energies are in kJ/mol.
"""

import numpy as np

import polhode
from polhode import plots

side, box = 6, 1.862
n, boltzmann = side**3, 0.00831446
water = polhode.interactions.water("SPC/E", cutoff=0.85, box=box)
waters = polhode.System([water.body] * n, water.interaction)

# %%
# The molecules begin on a lattice, turned at random.  They fall into each other's fields and become
# hot: from time to time their velocities are set back to those of 300 K.

rng = np.random.default_rng(216)
lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
start = {
    "position0": (lattice + 0.5) * box / side,
    "rotation0": polhode.rotations.exp(rng.normal(size=(n, 3)) * 2),
    "velocity0": rng.normal(size=(n, 3)) * np.sqrt(boltzmann * 300 / water.body.mass),
    "omega0": rng.normal(size=(n, 3)) * np.sqrt(boltzmann * 300 / water.body.moments),
}


def temperature(run):
    """Six degrees of freedom for each molecule."""
    return run.kinetic_energy / (3 * n * boltzmann)


for span in (0.05,) * 10 + (0.25,) * 14:
    run = polhode.integrate(waters, t_span=(0, span), step=0.001, every="end", **start)
    scale = np.sqrt(300 / temperature(run)[-1])
    velocity = run.velocity[-1] - run.linear_momentum[-1] / waters.mass
    start = {
        "position0": run.position[-1],
        "rotation0": run.quaternion[-1],
        "velocity0": velocity * scale,
        "omega0": run.omega[-1] * scale,
    }

# %%
# Four picoseconds without a thermostat, in steps of two femtoseconds.

run = polhode.integrate(waters, t_span=(0, 4), step=0.002, method="LP2", every=10, **start)
E = run.total_energy / n
print(f"temperature {temperature(run).mean():.0f} K")
print(f"total energy {E.mean():.2f} kJ/mol for each molecule, within {np.ptp(E):.3f}")

# %%
# How many oxygens are at a distance r from another one, relative to a gas of the same density: the
# first neighbours are at 0.28 nm, and the second ones, at 0.45 nm, are those of the tetrahedral order.

R = polhode.rotations.matrices(run.quaternion)
oxygen = run.position + R @ water.points[0]
edges = np.linspace(0.2, box / 2, 71)
counts = np.zeros(len(edges) - 1)
first, second = np.triu_indices(n, 1)
for x in oxygen[::5]:
    r = x[second] - x[first]
    r -= box * np.round(r / box)
    counts += np.histogram(np.linalg.norm(r, axis=1), edges)[0]
shells = 4 / 3 * np.pi * np.diff(edges**3)
g = counts / len(oxygen[::5]) / (shells * len(first) / box**3)

with plots.styled():
    figure = plots.new_figure(10.5, 4.0)
    left, right = figure.subplots(1, 2)
    for part, name in ((run.kinetic_energy, "kinetic"), (run.potential_energy, "potential")):
        left.plot(run.t, (part - part[0]) / n, label=name)
    left.plot(run.t, E - E[0], color="black", label="total")
    left.set(xlabel="t (ps)", ylabel="change of energy (kJ/mol for each molecule)")
    left.legend()
    right.plot(0.5 * (edges[1:] + edges[:-1]), g, color=plots.PALETTE[0])
    right.axhline(1.0, color="black", lw=0.8, ls=":")
    right.set(xlabel="r (nm)", ylabel=r"$g_{OO}(r)$", ylim=(0, None))
