"""
Apophis passes the Earth in 2029
================================

On 13 April 2029 the asteroid (99942) Apophis passes 38 000 km from the centre of the Earth.  Its
attitude at that time decides what the Earth's gravity gradient does to its rotation.  Here it is
unknown: four thousand attitudes are followed through the fly-by, each with its own spin afterwards.

From the literature: the ratios of the moments of inertia, and the periods of precession and rotation,
27.38 h and 263 h, of P. Pravec et al., *The tumbling spin state of (99942) Apophis*, Icarus 233 (2014)
48-60.  Assumed: a rigid body; a hyperbola with a perigee of 38 000 km and 5.9 km/s far from the
Earth, which is a point mass; neither Sun nor Moon; and directions of the angular momentum that are
distributed over the whole sphere, although its true direction is known.  So the figures show what can
happen to a body like Apophis.  The forecast of C. J. Benson et al., *Spin state evolution of (99942)
Apophis during its 2029 Earth encounter*, Icarus 390 (2023) 115324, uses the known direction: the rate
of rotation could halve or double, the pole is likely to shift by ten degrees or more, and Apophis is
likely to go on turning around its short axis.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import polhode
from polhode import plots

ratios = np.array([0.61, 0.965, 1.0])
moments = 0.012 * ratios  # km^2, for a mass of 1; the motion depends on their ratios alone


# %%
# The momentum that has the two periods, in hours; the ratio of the periods follows from its tilt.


def tilted(angle):
    """A momentum of size 1, by this angle from the short axis."""
    return np.array([np.sin(angle), 0.0, np.cos(angle)]) * moments[2]


def periods(angle):
    """Rotation and precession."""
    found = polhode.exact.periods(moments, momentum0=tilted(angle))
    return float(found.polhode), float(found.precession)


angle = brentq(lambda a: np.divide(*periods(a)) - 263 / 27.38, 1e-3, 0.2)
before = tilted(angle) * periods(angle)[1] / 27.38

# %%
# The hyperbola, from two days before the perigee to two days after it, in km and hours.  The way in is
# found by going back from the perigee.

mu, perigee, far = 398_600.4 * 3600**2, 38_000.0, 5.9 * 3600
apophis = polhode.RigidBody(moments, mass=1.0, name="Apophis")
gravity = polhode.flight.gravity(mu, apophis)
back = polhode.integrate(
    apophis,
    gravity,
    (0, 48),
    rtol=1e-11,
    momentum0=before,
    position0=(perigee, 0, 0),
    velocity0=(0, -np.sqrt(far**2 + 2 * mu / perigee), 0),
    every="end",
)

# %%
# Each body has an attitude of its own, and its own place on the way around the polhode.

n, rng = 4000, np.random.default_rng(2029)
around = polhode.exact.free_body(moments, momentum0=before, t=rng.uniform(0, 263, n)).momentum
attitudes = Rotation.random(n, random_state=rng)
bodies = polhode.ensemble(
    apophis,
    gravity,
    (0, 96),
    0.05,
    "EXACT-RKN4",
    rotation0=attitudes,
    momentum0=around,
    position0=back.position[-1],
    velocity0=-back.velocity[-1],
)

# %%
# Angular momentum :math:`L` and energy :math:`E` give an effective period, :math:`2 \pi L / 2E`, which
# is that of the rotation if the body spins about one of its axes.  They also give the mode: the moment
# of inertia :math:`L^2 / 2E` is above the middle one if the body turns around its short axis, and below
# if it turns around its long axis.


def effective(momentum):
    """The period in hours, and the moment of inertia."""
    size, twice = np.linalg.norm(momentum, axis=-1), np.sum(momentum**2 / moments, axis=-1)
    return 2 * np.pi * size / twice, size**2 / twice


was = effective(before)[0]
period, moment = effective(bodies.momentum)
short = moment > moments[1]
pole, pole_before = bodies.momentum_spatial, attitudes.apply(around)
cosine = np.sum(pole * pole_before, axis=1) / np.linalg.norm(pole, axis=1) / np.linalg.norm(before)
shift = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
print(f"effective period {was:.1f} h before; after: 90 % of {n} between", end=" ")
print("{:.1f} and {:.1f} h".format(*np.percentile(period, (5, 95))))
print(f"{np.mean(short):.0%} still turn around the short axis; the pole moves by", end=" ")
print(f"{np.median(shift):.0f} degrees (median)")

with plots.styled():
    figure = plots.new_figure(10.5, 4.6)
    left, right = figure.subplots(1, 2)
    groups = (
        (short, "around the short axis", plots.PALETTE[0]),
        (~short, "around the long axis", plots.PALETTE[1]),
    )
    bins = np.linspace(10, 70, 61)
    left.hist(
        [period[which] for which, _, _ in groups],
        bins,
        stacked=True,
        color=[colour for _, _, colour in groups],
        label=[label for _, label, _ in groups],
    )
    left.axvline(was, color="black", lw=1.2, ls="--", label="before")
    left.set(xlabel="effective period after the fly-by (h)", ylabel="bodies", xlim=(10, 70))
    left.set_title("Faster or slower")
    left.legend()
    for which, _, colour in groups:
        right.plot(period[which], shift[which], ".", color=colour, ms=2.5, rasterized=True)
    right.axvline(was, color="black", lw=1.2, ls="--")
    right.set(xlabel="effective period after the fly-by (h)", ylabel="degrees", xlim=(10, 70))
    right.set_title("How far the angular momentum turns")
