"""
A soft wall
===========

The last problem of Krysl and Endres: the body's axis is attracted to a point below, and a steep wall
repels it.  Each bounce is short and hard.  A step that suits the rest of the motion is too large for
the wall, and there the methods differ.
"""

import numpy as np

import polhode
from polhode import plots

problem = polhode.problem("krysl/coulomb-wall")
methods = ("RK4-quaternion", "NMB", "LP2")
runs = {name: problem.integrate(name, step=0.05, t_span=(0, 60)) for name in methods}
fine = problem.integrate("LP2", step=0.002, t_span=(0, 60), every=5)

with plots.styled():
    figure = plots.new_figure(10.5, 6.0)
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 2.1))
    well, flight, error = (
        figure.add_subplot(grid[:, 0]),
        figure.add_subplot(grid[0, 1]),
        figure.add_subplot(grid[1, 1]),
    )
    height = np.linspace(-0.68, 1.0, 400)
    z = 1.0 / (1.1 + height)
    well.plot(0.001 * z**10 - z, height, color="black", lw=1.6)
    well.axvline(fine.total_energy[0], color=plots.PALETTE[1], lw=1.2, ls=(0, (4, 2)))
    well.annotate(
        "total energy",
        (fine.total_energy[0], 0.2),
        (5, 0),
        textcoords="offset points",
        color=plots.PALETTE[1],
    )
    well.set(
        xlabel="potential energy [J]",
        ylabel="height R₃₃ of the axis",
        xlim=(-2, 4),
        ylim=(-0.75, 1.05),
    )
    well.set_title("Attraction, and a wall")
    flight.plot(fine.t, fine.matrix[:, 2, 2], color=plots.PALETTE[2])
    flight.set(ylabel="height R₃₃", xlim=(0, 60))
    flight.tick_params(labelbottom=False)
    flight.set_title("Bounces")
    for (name, run), colour in zip(
        runs.items(), (plots.PALETTE[3], plots.PALETTE[1], plots.PALETTE[0]), strict=True
    ):
        change = run.total_energy / run.total_energy[0] - 1.0
        error.plot(run.t, change, color=colour, lw=1.2, label=name)
    error.set(xlabel="time [s]", ylabel="(E − E₀)/E₀", xlim=(0, 60))
    error.set_title("Energy error with steps of 0.05 s")
    error.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 0.98))
