"""
Fast tops and slow tops
=======================

A heavy top that is released falls a little, precesses, and rises again.  The initial velocity of its
axis decides whether the axis traces cusps, waves or loops.  A slow top traces petals.
"""

import numpy as np

import polhode
from polhode import plots

weight = polhode.torques.heavy_top(20.0)
moments, tilt, spin = [5.0, 5.0, 1.0], 0.7, 32.0


def top(push):
    """A top whose axis is pushed along a circle of latitude."""
    return polhode.integrate(
        moments, weight, (0, 9.5), 0.005, rotation0=(tilt, 0, 0), omega0=(0, push, spin)
    )


figure = plots.sphere(
    {
        "released: cusps": top(0.0),
        "pushed forwards: waves": top(0.3),
        "pushed backwards: loops": top(-0.7),
        "a slow top: petals": polhode.problem("krysl/slow-top").integrate(
            "LP2", step=0.005, t_span=(0, 60)
        ),
    }
)

# %%
# How high and how low
# --------------------
#
# The tilt oscillates between two roots of a cubic polynomial.  ``exact.lagrange_top`` gives them, the
# period, and the whole motion by theta functions.  The run uses a symplectic method of second order
# with one torque evaluation per step.

run = top(-0.7)
exact = polhode.exact.lagrange_top(moments, 20.0, (tilt, 0, 0), run.omega[0], run.t)
low, high = exact.heights

with plots.styled():
    heights = plots.new_figure(8.4, 4.6)
    above, below = heights.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    above.plot(run.t, run.matrix[:, 2, 2], color=plots.PALETTE[2], lw=1.6)
    for bound in (low, high):
        above.axhline(bound, color=plots.PALETTE[1], lw=1.0, ls=(0, (4, 2)))
    above.set(ylabel="height of the axis, R₃₃")
    above.set_title(
        f"Between the exact bounds {low:.4f} and {high:.4f}, with a period of {exact.nutation:.4f} s"
    )
    angle = (exact.rotation.inv() * run.rotation).magnitude()
    below.semilogy(run.t[1:], angle[1:], color=plots.PALETTE[0])
    below.set(xlabel="time [s]", ylabel="error [rad]", xlim=(0, run.t[-1]))
    below.set_title("Angle between the run and the exact solution")
print(
    f"after {run.t[-1]:g} s the run is {angle[-1]:.1e} rad from the exact solution; largest error {np.max(angle):.1e}"
)
