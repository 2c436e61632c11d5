"""
What a game engine does to a spinning box
=========================================

Game engines rotate rigid bodies by the semi-implicit Euler method with an implicit gyroscopic term,
because it never blows up.  ``examples/my_integrator.py`` implements it.  The price is that a free body
loses energy and angular momentum, as if by friction, until it spins about one of its two stable axes.
A splitting method with the same step conserves the angular momentum exactly, and the energy up to a
small oscillation.
"""

from pathlib import Path

import numpy as np

import polhode
from polhode import plots

[engine] = polhode.facts.from_file(Path("..") / "my_integrator.py")
box = polhode.RigidBody.box(3.0, 2.0, 1.0)
runs = {
    name: polhode.integrate(
        box, t_span=(0, 120), step=1 / 60, method=method, omega0=(0.1, 6.0, 0.3)
    )
    for name, method in (("game engine", engine), ("LP2", "LP2"))
}

# %%
# The direction of the angular momentum in the body frame.  It should stay on one closed curve.

figure = plots.sphere({name: run.momentum for name, run in runs.items()}, names="123")

# %%
with plots.styled():
    losses = plots.new_figure(8.4, 4.6)
    above, below = losses.subplots(2, 1, sharex=True)
    for (name, run), colour in zip(runs.items(), (plots.PALETTE[1], plots.PALETTE[0]), strict=True):
        above.plot(
            run.t, run.kinetic_energy / run.kinetic_energy[0], color=colour, lw=2, label=name
        )
        size = np.linalg.norm(run.momentum, axis=1)
        below.plot(run.t, size / size[0], color=colour, lw=2)
    above.set(ylabel="E / E₀", ylim=(0, 1.08))
    above.set_title("Energy")
    above.legend(loc="lower left")
    below.set(
        ylabel="|L| / |L₀|", ylim=(0, 1.08), xlabel="time [s], 60 steps per second", xlim=(0, 120)
    )
    below.set_title("Angular momentum")
