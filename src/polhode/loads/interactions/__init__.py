"""Interactions between the bodies of a system, by name.  Each function returns an `Interaction`,
compiled, with its potential.

    springs(links, stiffness)         between points of two bodies, with dampers

Interactions add: `gravity(bodies) + springs([(0, 1)], 3.0)`.
"""

from polhode.loads.interactions._named import BUILT_IN
from polhode.loads.interactions.springs import springs

__all__ = ["springs"]


def __dir__() -> list[str]:
    return __all__  # what completion offers
