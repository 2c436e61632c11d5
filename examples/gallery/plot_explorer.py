"""
Explorer 1 goes into a flat spin
================================

The first American satellite was a pencil, set spinning about its long axis.  Its whip antennas bent
as it nutated and turned motion into heat.  Nothing outside took away angular momentum, so the
energy sank to the least that this momentum allows: a rotation about the axis of the largest moment.
Within hours the satellite tumbled end over end.

Here a rotor in a viscous bearing takes the place of the antennas, large enough that minutes suffice.
"""

import numpy as np

import polhode
from polhode import plots

pencil = polhode.RigidBody.cylinder(radius=0.08, height=2.03, mass=14.0, name="Explorer 1")
antennas = polhode.Rotor((1, 0, 0), 0.5, damping=20.0)
run = polhode.integrate(
    pencil.with_rotors([antennas]),
    t_span=(0, 320),
    rtol=1e-9,
    omega0=(0.02, 0, 78.0),
    t_eval=np.linspace(0, 320, 1601),
)

# %%
# The angle between the long axis and the angular momentum, which stays as it is, and the energy
# beside the least energy that is possible with this momentum, that of a rotation about the largest
# moment.

momentum = run.momentum_spatial
size = np.linalg.norm(momentum[0])
angle = np.degrees(np.arccos(np.clip(run.matrix[:, :, 2] @ momentum[0] / size, -1.0, 1.0)))
least = size**2 / (2 * pencil.moments.max())

with plots.styled():
    figure = plots.new_figure(10.5, 4.4)
    left, right = figure.subplots(1, 2)
    left.plot(run.t, angle, color=plots.PALETTE[0], lw=1.2)
    left.set(xlabel="time (s)", ylabel="degrees", xlim=(0, 320), ylim=(0, 100))
    left.set_title("The long axis leaves the direction of the momentum")
    right.semilogy(run.t, run.kinetic_energy, color=plots.PALETTE[1], lw=1.6, label="energy")
    right.axhline(least, color="#777777", lw=1.0, ls="--", label="the least at this momentum")
    right.semilogy(
        run.t,
        np.linalg.norm(momentum, axis=1) * run.kinetic_energy[0] / size,
        color=plots.PALETTE[2],
        lw=1.6,
        label="momentum, to scale",
    )
    right.set(xlabel="time (s)", ylabel="joules", xlim=(0, 320))
    right.legend(loc="center left")
    right.set_title("Energy falls at constant momentum")
