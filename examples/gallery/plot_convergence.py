"""
Orders, measured
================

``polhode.compare`` runs methods with many step sizes and compares them with the closed-form solution
of a heavy top over two seconds.  In a log-log plot the slope of the error is the order of the method;
the lines below have the measured slopes.
"""

import polhode
from polhode import plots

METHODS = ["NMB", "LP2", "taylor3", "RK4-quaternion", "EXACT-RKN4", "EXACT-RKN6"]
found = polhode.compare("krysl/slow-top", methods=METHODS, errors=[1e-3, 1e-6, 1e-9], until=2.0)
figure = plots.convergence(found)

# %%
for curve in found.curves:
    print(f"{curve.name:>15}: declared {curve.facts['order']}, measured {curve.slope:.2f}")
