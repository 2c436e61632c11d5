"""
A cloud shears along its polhode
================================

Four thousand copies of a tumbling box, with slightly different spins.  Each follows its own polhode
with its own period, so the cloud spreads along the curve.  In the end energy and angular momentum are
still known, but the phase is lost.
"""

import numpy as np
from scipy import stats

import polhode
from polhode import plots

box = polhode.RigidBody.box(3.0, 2.0, 1.0)
start = np.array([0.35, -1.0, 0.1])
omega0 = start + stats.norm(0.0, 0.02).rvs((4000, 3), random_state=np.random.default_rng(1))
run = polhode.ensemble(box, t_span=(0, 600), step=0.05, omega0=omega0, keep=500)

# %%
# The angular momentum of all boxes, in the body frame, at four times.

shown = [0, 1, 5, 24]
figure = plots.sphere(
    {f"t = {run.times[i]:g} s": run.omegas[i] * box.moments for i in shown}, dots=True, names="123"
)

# %%
# How evenly are they spread?  The length of the mean momentum vector falls to the value for boxes
# that are spread evenly in time over the polhode.

mean = np.linalg.norm((run.omegas * box.moments).mean(axis=1), axis=1) / np.linalg.norm(
    start * box.moments
)
one_turn = float(polhode.exact.periods(box, start).polhode)
curve = polhode.exact.free_body(
    box, None, start, np.linspace(0, one_turn, 400, endpoint=False)
).momentum.mean(axis=0)

with plots.styled():
    spread = plots.new_figure(7.2, 3.6)
    axes = spread.add_subplot()
    axes.plot(run.times, mean, "o-", color=plots.PALETTE[0], ms=4, mec="white", mew=0.4)
    axes.axhline(
        np.linalg.norm(curve) / np.linalg.norm(start * box.moments),
        color=plots.PALETTE[1],
        lw=1.2,
        ls=(0, (4, 2)),
        label="mean over one turn of the polhode",
    )
    axes.set(xlabel="time [s]", ylabel="length of the mean / |L|", ylim=(0, 1.05), xlim=(0, 600))
    axes.set_title("The phase is lost")
    axes.legend()
