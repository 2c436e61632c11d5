"""Buss 2001, paper and slides: every table and figure, computed anew beside what is printed.

The paper gives neither the inertia nor the momentum of its body, and the body is not the 1:4:18
prism of the text; the problem `buss/prism` reproduces the tables.  `tables` says how a cell is
computed; the other modules hold the items, which are entered in the order of the imports.
"""

from polhode.papers.buss2001 import pictures, costs, energies, steps, slides  # noqa: F401
from polhode.papers.buss2001 import multibody, extension, errata  # noqa: F401
from polhode.papers.buss2001.tables import (
    angle_error,
    fig4_fig5_energies,
    fig6_fig7_steps,
    printed,
    steps_needed,
)

__all__ = ["angle_error", "fig4_fig5_energies", "fig6_fig7_steps", "printed", "steps_needed"]
