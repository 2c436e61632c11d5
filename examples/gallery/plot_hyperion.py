"""
Hyperion tumbles chaotically
============================

Saturn's moon Hyperion is elongated and its orbit is eccentric.  Wisdom, Peale and Mignard (*The
chaotic rotation of Hyperion*, Icarus 58, 1984) found that its rotation is chaotic.  They plotted its
orientation and spin once per orbit, at pericentre.  In this Poincaré section regular motions are
curves and chaotic ones clouds.

An ensemble that stores one point per orbit gives such a section.
"""

import numpy as np

import polhode
from polhode import plots

eccentricity, per_orbit = 0.1, 200
A, C = 1.0, 1.73
# 3 (B - A)/C = 0.89^2, as in the paper
moon = polhode.RigidBody([A, A + 0.89**2 / 3.0 * C, C], name="Hyperion")


@polhode.torque(frame="body", form="tuple", params={"e": eccentricity, "inertia": moon.inertia})
def tide(t, R, p):
    """3 (a/r)^3 n x I n, with n and r from the equation of the centre to fourth order in the
    eccentricity."""
    e = p.e
    M = t
    f = (
        M
        + (2.0 * e - 0.25 * e**3) * np.sin(M)
        + (1.25 * e**2 - 11.0 / 24.0 * e**4) * np.sin(2.0 * M)
        + 13.0 / 12.0 * e**3 * np.sin(3.0 * M)
        + 103.0 / 96.0 * e**4 * np.sin(4.0 * M)
    )
    near = (1.0 + e * np.cos(f)) / (1.0 - e * e)
    c, s = np.cos(f), np.sin(f)
    x, y, z = R[0][0] * c + R[1][0] * s, R[0][1] * c + R[1][1] * s, R[0][2] * c + R[1][2] * s
    A, B, C = p.inertia[0][0], p.inertia[1][1], p.inertia[2][2]
    k = 3.0 * near * near * near
    return (k * (C - B) * y * z, k * (A - C) * z * x, k * (B - A) * x * y)


# %%
# Moons with spins up to three times the orbital rate, about an axis normal to the orbit, for four
# hundred orbits.  The unit of time is a radian of the mean anomaly.

upright = np.array([0.0, 0.0, 1.0])
spins = np.concatenate([np.linspace(0.05, 3.0, 34), [0.5, 1.0]])[:, None] * upright
angles = np.concatenate([np.zeros(34), [np.pi / 2, np.pi / 2]])[:, None] * upright
run = polhode.ensemble(
    moon,
    tide,
    (0, 400 * 2 * np.pi),
    2 * np.pi / per_orbit,
    rotation0=angles,
    omega0=spins,
    keep=per_orbit,
)

x, y, z, w = np.moveaxis(run.quaternions, -1, 0)
theta = np.degrees(2 * np.arctan2(z, w)) % 180.0  # half a turn looks the same
rate = run.omegas[..., 2]
wander = np.ptp(rate, axis=0)  # the chaotic ones go everywhere

with plots.styled():
    figure = plots.new_figure(7.2, 6.4)
    axes = figure.add_subplot()
    chaotic = wander > 1.2
    axes.plot(
        theta[:, chaotic].ravel(),
        rate[:, chaotic].ravel(),
        ".",
        color=plots.PALETTE[1],
        ms=2.0,
        mew=0,
        ls="none",
    )
    for body in np.flatnonzero(~chaotic):
        axes.plot(
            theta[:, body], rate[:, body], ".", color=plots.PALETTE[0], ms=2.2, mew=0, ls="none"
        )
    axes.set(
        xlabel="orientation at pericentre [degrees]",
        ylabel="spin at pericentre [per orbit]",
        xlim=(0, 180),
        ylim=(-0.2, 3.2),
        xticks=range(0, 181, 30),
    )
    axes.plot([], [], "o", color=plots.PALETTE[0], ms=5, ls="none", label="regular")
    axes.plot([], [], "o", color=plots.PALETTE[1], ms=5, ls="none", label="chaotic")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    axes.set_title("Hyperion, once per orbit")
