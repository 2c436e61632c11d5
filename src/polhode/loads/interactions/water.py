"""Rigid water: three sites, of which the oxygen alone has a Lennard-Jones potential.

TIP3P is that of Jorgensen et al. (J. Chem. Phys. 79, 926, 1983), SPC/E that of Berendsen, Grigera and
Straatsma (J. Phys. Chem. 91, 6269, 1987).  Units: nm, ps, atomic mass unit and charge of the electron;
energies are then in kJ/mol.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from polhode.bodies._body import RigidBody
from polhode.errors import choice
from polhode.loads.interactions.sites import Sites, sites

COULOMB = 138.935458  # kJ/mol nm / e^2
BOLTZMANN = 0.00831446262  # kJ/mol/K
MASSES = (15.9994, 1.008, 1.008)


class Model(NamedTuple):
    """A model of water with three sites."""

    bond: float  # from O to H
    angle: float  # HOH, degrees
    charge: float  # of H
    sigma: float
    epsilon: float


MODELS = {
    "TIP3P": Model(0.09572, 104.52, 0.417, 0.315061, 0.636386),
    "SPC/E": Model(0.1, 109.47, 0.4238, 0.316557, 0.650194),
}


class Water(NamedTuple):
    """A molecule of water and the interaction between molecules."""

    body: RigidBody
    interaction: Sites
    points: np.ndarray  # of O, H, H in the body
    charges: np.ndarray


def water(
    model: str = "SPC/E",
    *,
    cutoff: float,
    box: ArrayLike | None = None,
    shift: str = "force",
) -> Water:
    """Rigid water: its body and the interaction between molecules, in nm, ps, u and kJ/mol.

    Parameters
    ----------
    model : {"SPC/E", "TIP3P"}
        Geometry, charges and Lennard-Jones potential.
    cutoff : float
        The largest distance, in nm, at which two sites act on each other.
    box : length or three lengths, optional
        Edges of a periodic box, in nm.
    shift : {"force", "energy", "none"}
        What is continuous at the cut-off, see `sites`.

    Returns
    -------
    Water
        `body`, with its centre of mass at the origin, its axis of symmetry along z and the hydrogens
        apart along x; `interaction`; the `points` and `charges` of O, H, H.

    Examples
    --------
    Two molecules, one of which gives the other a hydrogen bond.

    >>> import polhode
    >>> one = water(cutoff=2.0)
    >>> pair = polhode.System([one.body] * 2, one.interaction)
    >>> along = [[0, 0, 0, 1], [0.1, 0.7, 0.1, 0.7]]
    >>> run = polhode.integrate(pair, t_span=(0, 1), step=0.001, position0=[[0, 0, 0], [0, 0, 0.3]], rotation0=along)
    >>> bool(abs(np.diff(run.total_energy)).max() < 0.1)
    True
    """
    own = MODELS[choice("model", model, tuple(MODELS))]
    half = math.radians(0.5 * own.angle)
    x, z = own.bond * math.sin(half), own.bond * math.cos(half)
    points = np.array([[0.0, 0.0, 0.0], [x, 0.0, z], [-x, 0.0, z]])
    masses = np.array(MASSES)
    points -= masses @ points / masses.sum()
    squares = masses @ points**2
    inertia = squares.sum() - squares
    charges = np.array([-2.0 * own.charge, own.charge, own.charge])
    return Water(
        RigidBody(inertia, mass=masses.sum()),
        sites(
            points,
            charges,
            [own.sigma, 0.0, 0.0],
            [own.epsilon, 0.0, 0.0],
            cutoff=cutoff,
            box=box,
            shift=shift,
            strength=COULOMB,
        ),
        points,
        charges,
    )


__all__ = ["Water", "water"]
