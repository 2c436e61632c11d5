"""
A box that turns over
=====================

A book thrown with a spin about its intermediate axis turns over in flight, again and again, without
any torque.  Rotation about the axes of largest and smallest inertia is stable; about the intermediate
axis the slightest disturbance grows.
"""

import numpy as np

import polhode
from polhode import plots

box = polhode.RigidBody.box(0.20, 0.13, 0.03, mass=0.8)
run = polhode.integrate(box, t_span=(0, 20), step=0.005, omega0=(0.002, 6.0, 0.0))
figure = plots.flip(run)

# %%
# How long until it flips?
# ------------------------
#
# The time between two flips grows with the logarithm of the disturbance.  It is half the period of
# the polhode, for which there is a formula; an event function finds the flips of a run.


def upside_down(t, R, omega):
    """Zero halfway through a flip."""
    return omega[1]


nudge = np.logspace(-8, -0.5, 60)
exact = (
    polhode.exact.periods(
        box, np.stack([6.0 * nudge, np.full(60, 6.0), np.zeros(60)], axis=1)
    ).polhode
    / 2
)

tried = np.array([1e-7, 1e-5, 1e-3, 1e-1])
found = []
for size in tried:
    run = polhode.integrate(
        box,
        t_span=(0, 25),
        step=0.005,
        omega0=(6.0 * size, 6.0, 0.0),
        events=upside_down,
        every="end",
    )
    found.append(np.diff(run.t_events[0][:2])[0])

with plots.styled():
    times = plots.new_figure(7.2, 4.0)
    axes = times.add_subplot()
    axes.semilogx(
        nudge,
        exact,
        color=plots.PALETTE[0],
        lw=2,
        label="half the period of the polhode, by formula",
    )
    axes.semilogx(
        tried,
        found,
        "o",
        color=plots.PALETTE[1],
        ms=8,
        mec="white",
        label="time between two events of a run",
    )
    axes.set(xlabel="initial disturbance Ω₁/Ω₂", ylabel="time between flips [s]", ylim=(0, None))
    axes.legend(loc="upper right")
    axes.set_title("Each factor of ten adds the same time")
