"""
What a game engine does to a spinning box
=========================================

Engines turn rigid bodies by semi-implicit Euler with an implicit gyroscopic term: it never
explodes, and that is what a game needs. ``examples/my_integrator.py`` has it as a method of its
own.  The price: a free body loses energy and momentum as if there were friction, until it spins
about one of its two stable axes.  A splitting method with the same step keeps the momentum and, up
to a small swing, the energy.
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
# The direction of the angular momentum in the body.  It should follow one closed curve for ever.

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
