"""Interactions between the bodies of a system, by name.  Each function returns an `Interaction`,
compiled, with its potential.

    gravity(bodies, G, degree)        of extended bodies, to degree 0, 2 or 4
    polyhedra(bodies, G, degree)      of uniform bodies with flat faces, as they are
    dipoles(moments)                  magnets
    springs(links, stiffness)         between points of two bodies, with dampers
    bushings(links, stiffness)        elastic in six degrees of freedom
    sites(points, charges, ...)       of molecules: charges and Lennard-Jones potentials
    water(model, cutoff)              rigid water: body and interaction

Interactions add: `gravity(bodies) + springs([(0, 1)], 3.0)`.
"""

from polhode.loads.interactions._named import BUILT_IN as BUILT_IN
from polhode.loads.interactions.bushing import bushings
from polhode.loads.interactions.dipole import dipoles
from polhode.loads.interactions.multipole import gravity
from polhode.loads.interactions.polyhedron import polyhedra
from polhode.loads.interactions.sites import sites
from polhode.loads.interactions.spring import springs
from polhode.loads.interactions.water import water

__all__ = ["bushings", "dipoles", "gravity", "polyhedra", "sites", "springs", "water"]


def __dir__() -> list[str]:
    return __all__  # what completion offers
