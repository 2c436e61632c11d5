"""
Steps that fit the motion
=========================

With a tolerance instead of a step, the method takes large steps where the motion is smooth, and small
ones at the wall.
"""

import numpy as np
from matplotlib.ticker import NullLocator

import polhode
from polhode import plots

problem = polhode.problem("krysl/coulomb-wall")
run = problem.integrate(rtol=1e-8, t_span=(0, 40))
smooth = problem.integrate(rtol=1e-8, t_span=(0, 40), t_eval=np.linspace(0, 40, 2000))
print(f"{run.steps} steps, {run.rejected} rejected, {run.nfev} torque evaluations")

with plots.styled():
    figure = plots.new_figure(9.6, 5.2)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(smooth.t, smooth.matrix[:, 2, 2], color=plots.PALETTE[2], lw=1.3)
    above.plot(
        run.t, run.matrix[:, 2, 2], ".", color=plots.PALETTE[1], ms=5, ls="none", label="steps"
    )
    above.set_ylabel("height R₃₃ of the axis")
    above.set_title("DOP853 with rtol = 1e-8: steps, and the motion between them")
    above.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98))
    below.stairs(np.diff(run.t), run.t, color=plots.PALETTE[0], lw=1.3, baseline=None)
    below.set(
        yscale="log",
        xlabel="time [s]",
        ylabel="step [s]",
        xlim=(0, 40),
        yticks=(0.02, 0.05, 0.1, 0.2, 0.5),
    )
    below.yaxis.set_major_formatter("{x:g}")
    below.yaxis.set_minor_locator(NullLocator())
    below.set_title("The steps it chose")
