"""
Two gravitating octahedra
=========================

Two octahedra pass each other at six metres.  This is a test problem of Fahnestock, Lee, Leok,
McClamroch and Scheeres (*Polyhedral potential and variational integrator computation of the full two
body problem*, 2006): as each spins, its edges and tips go by, and gravity changes.

`polhode.interactions.polyhedra` has the closed field of one body, at nodes of the other.
"""

import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import polhode
from polhode import plots, rotations

problem = polhode.problems.octahedra(degree=4)

# %%
# The mean error of the energy over 40 000 seconds, as in the paper, against the number of evaluations.
# The paper printed three runs: two of a variational integrator, one of a Runge-Kutta method.

printed = {
    "variational, printed": ([100_000, 1_000_000], [2.234e-9, 1.928e-11]),
    "RKF7(8), printed": ([2_368_912], [3.901e-12]),
}
settings = {"EXACT": (4.0, 2.0, 1.0), "EXACT-RKN4": (6.0, 4.0, 2.0, 1.3)}
found = {}
for method, steps in settings.items():
    runs = [problem.integrate(method, step, every=8) for step in steps]
    errors = [np.abs(run.total_energy - run.total_energy[0]).mean() for run in runs]
    found[method] = [run.nfev for run in runs], errors
    last = runs[-1]
    moved = (
        np.abs(last.angular_momentum - last.angular_momentum[0]).max()
        / np.abs(last.angular_momentum[0]).max()
    )
    print(
        f"{method:<11} {last.nfev:7d} evaluations, mean |dE| = {errors[-1]:.1e} J, angular momentum {moved:.0e}"
    )

# %%
# The bodies as they pass: the small one at four times, seen from the large one.

path = problem.integrate("EXACT", 1.0, (0.0, 900.0))
with plots.styled():
    figure = plots.new_figure(9.4, 4.4)
    space = figure.add_subplot(1, 2, 1, projection="3d")
    for body, times, color in (
        (1, [0], plots.PALETTE[0]),
        (0, [0, 300, 600, 900], plots.PALETTE[1]),
    ):
        shape = problem.system.bodies[body].shape
        for k in times:
            R = rotations.matrices(path.quaternion[k, body])
            place = path.position[k, body] - path.position[k, 1]
            corners = (np.array(shape["vertices"]) @ R.T + place)[np.array(shape["faces"])]
            space.add_collection3d(
                Poly3DCollection(corners, facecolor=color, edgecolor="white", lw=0.5, alpha=0.85)
            )
    space.set(xlim=(-6.5, 1.5), ylim=(-1.5, 6.8), zlim=(-1, 1))
    space.set(
        xticks=[-6, -4, -2, 0], yticks=[0, 2, 4, 6], zticks=[], xlabel="x [m]", ylabel="y [m]"
    )
    space.set_box_aspect((8, 8.3, 2), zoom=1.25)
    space.view_init(elev=40, azim=-60)
    space.set_title("The bodies, every 300 s")
    axes = figure.add_subplot(1, 2, 2)
    for k, (method, (work, errors)) in enumerate(found.items()):
        axes.loglog(work, errors, "o-", color=plots.PALETTE[k], label=method)
    for marker, (name, (work, errors)) in zip("sD", printed.items(), strict=True):
        axes.loglog(work, errors, marker, color="0.5", ls="--", label=name)
    axes.set(xlabel="evaluations of forces and torques", ylabel="mean |dE| [J]")
    axes.legend(fontsize="small")
    axes.set_title("Work and error")
