"""
A sleeping top wakes and falls
==============================

A top that spins fast enough stands upright and seems to sleep.  Friction slows it.  Below the critical
spin :math:`2\\sqrt{M g l\\, I_1}/I_3` the upright position is unstable, and the top falls over.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np

import polhode
from polhode import plots

weight, friction = polhode.torques.heavy_top(20.0), polhode.torques.damping((0.0, 0.0, 0.01))
I1, I3 = 5.0, 1.0
critical = 2.0 * np.sqrt(20.0 * I1) / I3

run = polhode.integrate(
    [I1, I1, I3], weight + friction, (0, 45), 0.005, rotation0=(1e-3, 0, 0), omega0=(0, 0, 24.0)
)
tilt = np.degrees(
    np.arctan2(np.hypot(run.matrix[:, 0, 2], run.matrix[:, 1, 2]), run.matrix[:, 2, 2])
)
wakes = run.t[np.argmax(run.omega[:, 2] < critical)]

with plots.styled():
    figure = plots.new_figure(8.4, 5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(run.t, run.omega[:, 2], color=plots.PALETTE[0], lw=2)
    above.axhline(critical, color=plots.PALETTE[1], lw=1.2, ls=(0, (4, 2)))
    above.annotate(
        f"critical spin {critical:g} rad/s",
        (run.t[-1], critical),
        (0, 5),
        textcoords="offset points",
        ha="right",
        color=plots.PALETTE[1],
    )
    above.set_ylabel("spin Ω₃ [rad/s]")
    above.set_title("Friction slows the spin")
    below.semilogy(run.t, tilt, color=plots.PALETTE[2])
    below.set(xlabel="time [s]", ylabel="tilt [degrees]", xlim=(0, run.t[-1]))
    below.set_title("The axis leaves the vertical")
    for axes in (above, below):
        axes.axvline(wakes, color="#888888", lw=0.9)

# %%
# The path of the axis: it stays at the north pole for a long time, then spirals down.

path = plots.sphere({"the axis of the top": run})
