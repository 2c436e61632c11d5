"""Bou-Rabee, Ortolan & Saccon 2009, the stress test that the Lie-Newmark method fails: figures 1 to
5, claims, misprints.

    drift.py         figure 1: energy of Lie-Newmark and Lie-Verlet over 15000 s
    landscape.py     figure 2: the path among the level surfaces of the potential
    convergence.py   figure 3: both are of second order
    appendix.py      figures 4 and 5: the same for LIEMID[EA]
    misprints.py     the errata

The paper's NMB turns the body by the Cayley map and is called NMB-cay here; Krysl & Endres's NMB
turns it by exp.
"""

from polhode.papers.bou_rabee2009 import drift, landscape, convergence, appendix, misprints  # noqa: F401  in the order of the figures
