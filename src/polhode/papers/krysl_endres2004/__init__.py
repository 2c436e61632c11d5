"""Krysl & Endres 2004, the explicit Newmark algorithm on SO(3): figures 1 to 13, what the text
claims about them, misprints.

free_body.py     figures 1 to 3: energy, turn per step and angular velocity of the freely spinning body
convergence.py   figures 4 and 5: its errors, and what section 2 says of the algorithm
toss.py          figures 6 and 7: the book toss
top.py           figures 8 and 9: the invariants of Lagrange's top
tops.py          figures 10 to 12: fast and slow top
wall.py          figure 13: attraction with a soft wall, and the conclusions
misprints.py     the errata, each with a number that shows it
"""

from polhode.papers.krysl_endres2004 import free_body, convergence, toss, top, tops, wall, misprints  # noqa: F401  in the order of the figures
