"""
The energy that a symplectic method conserves
=============================================

A symplectic method solves, almost exactly, a slightly different problem, whose energy is
:math:`H + h^2 H_2 + \\ldots`.  So the true energy does not drift.  It oscillates with an amplitude
proportional to the square of the step: divided by :math:`h^2`, the errors of all steps lie on one
curve, which is :math:`-H_2` along the motion, up to a constant.
"""

import polhode
from polhode import plots

body, weight = polhode.RigidBody([5.0, 5.0, 1.0]), polhode.torques.heavy_top(20.0)
start = {"rotation0": (0.7, 0, 0), "omega0": (0, 0, 15.0)}
steps = (0.04, 0.02, 0.01)
runs = {step: polhode.integrate(body, weight, (0, 12), step, "LP2", **start) for step in steps}

with plots.styled():
    figure = plots.new_figure(9.6, 5.6)
    above, below = figure.subplots(2, 1, sharex=True)
    for (step, run), colour in zip(runs.items(), plots.PALETTE, strict=False):
        change = run.total_energy - run.total_energy[0]
        above.plot(run.t, change, color=colour, lw=1.5, label=f"h = {step:g} s")
        below.plot(run.t, change / step**2, color=colour, lw=1.5)
    above.set(ylabel="E − E₀ [J]")
    above.set_title("Energy error of LP2 on a heavy top")
    above.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 0.98))
    below.set(xlabel="time [s]", ylabel="(E − E₀)/h² [J/s²]", xlim=(0, 12))
    below.set_title("The same, divided by the square of the step")

# %%
# Five hundred times longer
# -------------------------
#
# The fourth-order Runge-Kutta method has far smaller errors at first, but they accumulate.

long = {
    name: polhode.integrate(body, weight, (0, 6000), 0.02, name, every=7, **start)
    for name in ("RK4-quaternion", "LP2")
}
drift = plots.drift(long)
