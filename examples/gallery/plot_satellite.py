"""
A satellite caught by gravity
=============================

The Earth attracts the near end of a long satellite more strongly than the far end, and so turns its
long axis towards the Earth.  A tumbling satellite with a damper slows down, begins to oscillate, and
finally points to the Earth all the time, turning once per orbit.
"""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle

import polhode
from polhode import plots

rate = 1.1e-3  # rad/s: an orbit of 95 minutes
orbit = 2.0 * np.pi / rate
# the first axis is the long one
satellite = polhode.RigidBody([30.0, 100.0, 110.0], mass=250.0, name="satellite")
tide = polhode.torques.gravity_gradient(satellite, rate)


@polhode.torque(frame="body", form="tuple", uses_omega=True, params={"c": 8e-3, "rate": rate})
def damper(t, R, omega, p):
    """Friction relative to a frame that turns with the orbit."""
    return (
        -p.c * (omega[0] - p.rate * R[2][0]),
        -p.c * (omega[1] - p.rate * R[2][1]),
        -p.c * (omega[2] - p.rate * R[2][2]),
    )


run = polhode.integrate(
    satellite,
    tide + damper,
    (0, 16 * orbit),
    5.0,
    rotation0=(0, 0, 0.4),
    omega0=(0, 2e-5, 5.0 * rate),
    every=4,
)

# %%
# The angle between the long axis and the vertical, in the plane of the orbit, as a number of turns.

nadir = rate * run.t
pitch = np.unwrap(np.arctan2(run.matrix[:, 1, 0], run.matrix[:, 0, 0])) - nadir

with plots.styled():
    figure = plots.new_figure(10.5, 4.8)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.45))
    for start, radius, colour, label in (
        (0, 1.0, plots.PALETTE[1], "first orbit"),
        (15, 1.45, plots.PALETTE[0], "last orbit"),
    ):
        times = orbit * (start + np.linspace(0, 1, 49)[:-1])
        at = np.searchsorted(run.t, times)
        centre = radius * np.stack([np.cos(rate * run.t[at]), np.sin(rate * run.t[at])], axis=1)
        stick = 0.11 * run.matrix[at][:, :2, 0]
        left.add_collection(
            LineCollection(
                np.stack([centre - stick, centre + stick], axis=1), colors=colour, lw=2.4
            )
        )
        left.plot(*(centre + stick).T, "o", color=colour, ms=3.2, ls="none")
        left.plot([], [], "o-", color=colour, ms=3.2, lw=2.4, label=label)
    left.add_patch(Circle((0, 0), 0.55, color="#CFE3F2"))
    left.text(0, 0, "Earth", ha="center", va="center", color="#555555")
    left.set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), aspect="equal")
    left.set_axis_off()
    left.legend(loc="lower center", ncols=2, bbox_to_anchor=(0.5, -0.08))
    left.set_title("The long axis, seen from above the orbit", loc="center")
    right.plot(run.t / orbit, pitch / (2 * np.pi), color=plots.PALETTE[2], lw=1.4)
    right.set(xlabel="orbits", ylabel="turns of the long axis, from the vertical", xlim=(0, 16))
    right.set_title("Tumbling, oscillating, pointing to the Earth")
