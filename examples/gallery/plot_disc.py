"""
A flying disc needs its spin
============================

A disc has lift, like a wing.  The lift acts behind the centre at small angles of attack and ahead of
it at large ones, and so tilts the disc.  With little spin the disc turns over at once.  With enough
spin the same torque makes the axis precess: the disc banks slowly to one side, and flies far.

Lift, drag and torque at small angles of attack have the form and size that were found for a Frisbee
by S. A. Hummel, *Frisbee flight simulation and throw biomechanics*, M.Sc. thesis, University of
California, Davis (2003), rounded.  How they go on to large angles is assumed, and the small torque
about the direction of flight that is due to spin is left out.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import polhode
from polhode import plots

disc = polhode.RigidBody([1.22e-3, 1.22e-3, 2.35e-3], mass=0.175, name="disc")
AREA, DIAMETER, DENSITY = 0.057, 0.269, 1.23
ENDS = np.array([-1, 1])


@polhode.load(uses_omega=True)
def air(t, x, v, R, omega):
    """Force and torque of the air at the angle of attack alpha."""
    speed = np.sqrt(v @ v)
    along, axis = v / speed, R @ np.array([0.0, 0.0, 1.0])
    side = np.cross(axis, along)  # to the left of the flight, in the plane of the disc
    side = side / np.sqrt(side @ side + 1e-12)
    alpha = -np.arcsin(along @ axis)
    pressure = 0.5 * DENSITY * AREA * speed**2
    lift = pressure * (0.33 * np.cos(alpha) + 0.95 * np.sin(2 * alpha))
    drag = pressure * (0.18 + 0.69 * np.sin(alpha + 0.07) ** 2)
    pitch = pressure * DIAMETER * (-0.08 + 0.215 * np.sin(2 * alpha))  # positive: the front rises
    damping = pressure * DIAMETER * (R @ (np.array([-1.3e-2, -1.3e-2, -3.4e-5]) * omega))
    return lift * np.cross(along, side) - drag * along, damping - pitch * side


# %%
# A right-hander's backhand turns clockwise, seen from above, and is released with the left edge down.
# The throws differ in spin alone.


def ground(t, R, omega, x, v):
    """The disc lands when this is zero."""
    return x[2]


ground.terminal = True


def throw(turns):
    """A throw with so many turns per second."""
    return polhode.integrate(
        disc,
        air + polhode.weight(disc.mass),
        (0, 10),
        rtol=1e-8,
        events=[ground],
        t_eval=np.linspace(0, 10, 1001),
        rotation0=Rotation.from_euler("xy", (-20, -12), degrees=True),
        omega0=(0, 0, -2 * np.pi * turns),
        position0=(0, 0, 1.2),
        velocity0=(13.9, 0, 1.5),
    )


runs = {turns: throw(turns) for turns in (1, 4, 7, 10)}
for turns, run in runs.items():
    print(f"{turns:2d} turns/s: {run.position[-1, 0]:.0f} m in {run.t[-1]:.1f} s")

# %%
# The short lines are sections through the disc along the flight, three times its size.  The fast
# disc first turns left, as it is released, and then right, as it precesses.

with plots.styled():
    figure = plots.new_figure(10.5, 5.6)
    side_view, top_view = figure.subplots(2, 1, sharex=True, height_ratios=(1, 2))
    for (turns, run), colour in zip(runs.items(), plots.PALETTE, strict=False):
        x, y, z = run.position.T
        top_view.plot(x, y, color=colour, lw=1.6, label=f"{turns} turns per second")
        side_view.plot(x, z, color=colour, lw=1.0)
        for k in range(0, len(x), 20):
            nx, _, nz = run.matrix[k, :, 2]
            edge = 1.5 * DIAMETER * np.array([nz, -nx]) / np.hypot(nx, nz)
            side_view.plot(x[k] + edge[0] * ENDS, z[k] + edge[1] * ENDS, color=colour, lw=2.4)
    side_view.set(ylabel="height (m)", ylim=(0, 3), xlim=(-1, 25), aspect="equal")
    side_view.set_title("From the side")
    top_view.set(xlabel="forward (m)", ylabel="to the left (m)", aspect="equal", ylim=(-3, 3))
    top_view.set_title("From above")
    top_view.legend(loc="upper left", ncols=2)
