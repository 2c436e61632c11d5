"""
Orders, measured
================

``polhode.compare`` runs methods over step sizes against the closed solution of a heavy top in its
first two seconds.  The slope of the error in a doubly logarithmic picture is the order of the
method, and each line below is drawn with the slope that was measured.
"""

import polhode
from polhode import plots

METHODS = ["NMB", "LP2", "taylor3", "RK4-quaternion", "EXACT-RKN4", "EXACT-RKN6"]
found = polhode.compare("krysl/slow-top", methods=METHODS, errors=[1e-3, 1e-6, 1e-9], until=2.0)
figure = plots.convergence(found)

# %%
for curve in found.curves:
    print(f"{curve.name:>15}: declared {curve.facts['order']}, measured {curve.slope:.2f}")
