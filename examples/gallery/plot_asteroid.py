"""
Tumbling asteroids
==================

Most asteroids spin about their shortest axis.  Some tumble: their motion has two periods, rotation
(the polhode) and precession.  Apophis tumbles in a *short-axis mode*, Toutatis in a *long-axis mode*.

Light curves and radar give the two periods and the ratios of the moments of inertia.  Angular
momentum and energy follow from them.

* (99942) Apophis: :math:`I_1/I_3 = 0.61`, :math:`I_2/I_3 = 0.965`, precession 27.38 h, rotation
  263 h.  The authors give an energy of :math:`E/E_0 = 1.024 \\pm 0.013`, relative to a spin about the
  shortest axis with the same angular momentum.  Pravec et al., *The tumbling spin state of
  (99942) Apophis*, Icarus 233 (2014) 48-60.
* (4179) Toutatis: moments about the short and the intermediate axis 3.22 and 3.09 times the one
  about the long axis; rotation about the long axis 5.41 d, precession 7.35 d.  Hudson & Ostro,
  *Shape and non-principal axis spin state of asteroid 4179 Toutatis*, Science 270 (1995) 84-86;
  Ostro et al., Icarus 137 (1999) 122-139.
"""

import numpy as np
from scipy.optimize import brentq

import polhode
from polhode import plots


def tumbling(moments, mode, rotation, precession):
    """The angular momentum that gives the two observed periods.

    The ratio of the periods depends only on the tilt, their size on that of the momentum.
    """
    other = int(np.argmin(moments)) if mode != np.argmin(moments) else int(np.argmax(moments))

    def momentum(tilt):
        m = np.zeros(3)
        m[mode], m[other] = np.cos(tilt), np.sin(tilt)
        return m

    def periods(tilt):
        return polhode.exact.periods(moments, momentum0=momentum(tilt))

    middle, ends = np.sort(moments)[1], (moments[mode], moments[other])
    separatrix = np.arctan(np.sqrt((1 / middle - 1 / ends[0]) / (1 / ends[1] - 1 / middle)))
    tilt = brentq(
        lambda x: float(periods(x).polhode / periods(x).precession) - rotation / precession,
        1e-4,
        0.999 * separatrix,
    )
    return momentum(tilt) * float(periods(tilt).precession) / precession


apophis = np.array([0.61, 0.965, 1.0])
L_apophis = tumbling(apophis, 2, rotation=263.0, precession=27.38)  # hours
toutatis = np.array([3.22, 3.09, 1.0])
L_toutatis = tumbling(toutatis, 2, rotation=5.41 * 24, precession=7.35 * 24)

# %%
# The energy of Apophis is a result, and agrees with the published value:

excess = np.sum(L_apophis**2 / apophis) / (L_apophis @ L_apophis / apophis.max())
print(f"Apophis: E/E0 = {excess:.4f}, published 1.024 +- 0.013")
for name, moments, L in (("Apophis", apophis, L_apophis), ("Toutatis", toutatis, L_toutatis)):
    found = polhode.exact.periods(moments, momentum0=L)
    print(f"{name}: rotation {found.polhode:.2f} h, precession {found.precession:.2f} h")

# %%
# Where the axes point
# --------------------
#
# The closed-form solution needs no steps.  The pictures are rotated so that the angular momentum
# points to the north pole.


def attitudes(moments, L, hours):
    """Matrices whose columns are the body's axes in space."""
    up = L / np.linalg.norm(L)
    side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    side = side / np.linalg.norm(side)
    upright = np.stack([side, np.cross(up, side), up])
    return polhode.exact.free_body(moments, upright, momentum0=L, t=hours).matrix


days = np.linspace(0.0, 1.0, 4000)
of_apophis, of_toutatis = (
    attitudes(apophis, L_apophis, 24 * 11 * days),
    attitudes(toutatis, L_toutatis, 24 * 60 * days),
)
figure = plots.sphere(
    {
        "Apophis, long axis, 11 days": of_apophis[:, :, 0],
        "Apophis, short axis, 11 days": of_apophis[:, :, 2],
        "Toutatis, long axis, 60 days": of_toutatis[:, :, 2],
        "Toutatis, short axis, 60 days": of_toutatis[:, :, 0],
    }
)
