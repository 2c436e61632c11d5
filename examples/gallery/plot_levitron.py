"""
Levitron: a spinning magnet floats
==================================

A magnet can float above another one that repels it, but not at rest: it turns over and is attracted.
If it spins, its axis follows the direction of the field, and it moves like a weight with the
additional potential :math:`\\mu |B|`.  On the axis of a base with the field :math:`B(z)`, the sum has
a minimum if :math:`B'' > 0` and :math:`B'^2 > 2 B B''`.  A base that is a single dipole never meets the
second condition; a ring does, in a range of a few millimetres.  See M. V. Berry, *The Levitron: an
adiabatic trap for spins*, Proc. R. Soc. Lond. A 452 (1996) 1207-1220.

The base here consists of six upright dipoles on a ring.  The top is a disc of 20 g; its moment and
the strength of the base are assumed, of the size that such toys have.  Air is left out.
"""

import math

import numpy as np
from matplotlib.colors import ListedColormap
from scipy.optimize import brentq

import polhode
from polhode import plots

G, RADIUS, MOMENT = 9.81, 0.03, 0.6  # m/s^2, m, A m^2
STRENGTH = 3.67e-7  # of each dipole, T m^3
RING = tuple((RADIUS * math.cos(a), RADIUS * math.sin(a)) for a in np.arange(6) * math.pi / 3)
top = polhode.RigidBody.cylinder(radius=0.014, height=0.005, mass=0.02, name="top")


@polhode.load(form="tuple")
def base(t, x, v, R):
    """Force and torque of the dipoles on a magnet whose moment m is opposed to theirs."""
    m0, m1, m2 = -MOMENT * R[0][2], -MOMENT * R[1][2], -MOMENT * R[2][2]
    f0 = f1 = f2 = b0 = b1 = b2 = 0.0
    for c in RING:
        d0, d1, d2 = x[0] - c[0], x[1] - c[1], x[2]
        s = 1.0 / (d0 * d0 + d1 * d1 + d2 * d2)
        k = STRENGTH * s * math.sqrt(s)
        b0, b1, b2 = (
            b0 + 3 * k * s * d2 * d0,
            b1 + 3 * k * s * d2 * d1,
            b2 + k * (3 * s * d2 * d2 - 1),
        )
        md = m0 * d0 + m1 * d1 + m2 * d2
        q = m2 - 5 * s * md * d2
        f0, f1 = f0 + 3 * k * s * (q * d0 + d2 * m0), f1 + 3 * k * s * (q * d1 + d2 * m1)
        f2 = f2 + 3 * k * s * (q * d2 + d2 * m2 + md)
    return (f0, f1, f2), (m1 * b2 - m2 * b1, m2 * b0 - m0 * b2, m0 * b1 - m1 * b0)


# %%
# The height follows from the balance of forces, in the range in which the potential has a minimum.
# Below a certain spin the top cannot stand upright in the field, like any top:
# :math:`\omega^2 > 4 \mu B I_1 / I_3^2`.


def lift(z):
    """The force on an upright top on the axis."""
    return base(0.0, (0, 0, z), (0, 0, 0), np.eye(3))[0][2]


def field(z):
    """On the axis."""
    return 6 * STRENGTH * (2 * z**2 - RADIUS**2) / (z**2 + RADIUS**2) ** 2.5


z = np.linspace(1.5, 2.0, 2001) * RADIUS
slope = np.gradient(field(z), z, edge_order=2)
curvature = np.gradient(slope, z, edge_order=2)
holds = z[(curvature > 0) & (slope**2 > 2 * field(z) * curvature)]
height = brentq(lambda z: lift(z) - top.mass * G, holds[0], holds[-1])
slowest = math.sqrt(4 * MOMENT * field(height) * top.moments[0]) / top.moments[2]
print(f"a minimum from {1e3 * holds[0]:.1f} to {1e3 * holds[-1]:.1f} mm")
print(f"for {1e3 * lift(holds[-1]) / G:.2f} to {1e3 * lift(holds[0]) / G:.2f} g")
print(f"the top of 20 g at {1e3 * height:.1f} mm, in a field of {1e3 * field(height):.1f} mT")
print(f"stands upright from {slowest * 30 / math.pi:.0f} turns per minute")

# %%
# Many tops
# ---------
#
# Spin and mass differ from top to top; with the real toy one adds small washers.  All are released
# at the same height, a little beside the axis and not quite upright, and followed for four seconds.

start = {"rotation0": (0.02, 0, 0), "position0": (3e-4, 0, height), "velocity0": (0, 0, 0)}
turns, masses = np.linspace(400, 3000, 105), np.linspace(19.3, 20.7, 57)
spin, mass = (one.ravel() for one in np.meshgrid(turns, masses))
tops = polhode.ensemble(
    top,
    base,
    (0, 4),
    2.5e-4,
    "EXACT",
    force=polhode.weight(top.mass, G),
    omega0=np.stack([0 * spin, 0 * spin, spin * math.pi / 30], axis=1),
    mass=mass * 1e-3,
    keep=80,
    **start,
)

tilted = tops.quaternions[..., 0] ** 2 + tops.quaternions[..., 1] ** 2 > 0.05  # by 26 degrees
sunk = tops.positions[..., 2] < height - 0.012
aside = np.hypot(tops.positions[..., 0], tops.positions[..., 1]) > 0.012
ends = np.stack([tilted, sunk, aside])
never = len(tops.times)
when = np.where(ends.any(axis=1), ends.argmax(axis=1), never)
fate = np.where(when.min(axis=0) == never, 3, when.argmin(axis=0)).reshape(len(masses), -1)
floating = spin[fate.ravel() == 3]
print(f"tops float at {floating.min():.0f} to {floating.max():.0f} turns per minute")

# %%
# A top that is too slow tips over.  One that is too fast precesses so slowly that its axis cannot
# follow the field, and slips off sideways.  One that is too heavy sinks; one that is too light rises
# to where the potential has no minimum any more, and slips off.

SHOWN = (
    ("floats", 1300, 20.0, plots.PALETTE[2]),
    ("too slow", 750, 20.0, plots.PALETTE[0]),
    ("too fast", 2700, 20.0, plots.PALETTE[3]),
    ("too heavy", 1300, 20.4, plots.PALETTE[1]),
    ("too light", 1300, 19.5, "black"),
)

with plots.styled():
    figure = plots.new_figure(11.0, 4.8)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    colours = ListedColormap(["#CFE3F2", "#F6D5C3", "#E9D5E6", "#009E73"])
    left.pcolormesh(turns, masses, fate, cmap=colours, vmin=0, vmax=3, rasterized=True)
    left.axvline(slowest * 30 / math.pi, color="black", lw=1.0, ls="--")
    for x, y, text in (
        (600, 20.0, "tips\nover"),
        (1900, 20.5, "sinks"),
        (2500, 19.7, "slips off\nsideways"),
    ):
        left.text(x, y, text, ha="center", va="center")
    left.text(1530, 19.92, "floats", ha="center", va="center", color="white", weight="bold")
    left.set(xlabel="turns per minute", ylabel="mass (g)")
    left.set_title(f"What becomes of {spin.size} tops")
    for label, rate, grams, colour in SHOWN:
        left.plot(rate, grams, "o", color=colour, mec="white", ms=7)
        run = polhode.integrate(
            polhode.RigidBody(top.moments, mass=grams * 1e-3),
            base + polhode.weight(grams * 1e-3, G),
            (0, 4),
            2.5e-4,
            "EXACT",
            every=4,
            omega0=(0, 0, rate * math.pi / 30),
            **start,
        )
        path = 1e3 * np.stack([np.hypot(*run.position[:, :2].T), run.position[:, 2]])
        gone = (path[0] > 12) | (path[1] < 42)
        path = path[:, : gone.argmax() if gone.any() else None]
        right.plot(*path, color=colour, lw=1.2, label=label)
    right.axhspan(1e3 * holds[0], 1e3 * holds[-1], color="#EEEEEE", lw=0)
    right.set(xlabel="distance from the axis (mm)", ylabel="height (mm)")
    right.set(xlim=(0, 12), ylim=(42, 62))
    right.set_title("Five of them, and the heights with a minimum")
    right.legend(loc="lower right")
