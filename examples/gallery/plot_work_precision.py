"""
What accuracy costs
===================

The order of a method says how fast errors fall, but not how large they are or what a step costs.  The
practical question is: what does a given accuracy cost?  If the torque is expensive, the cost is the
number of its evaluations.
"""

import math

import polhode
from polhode import plots

METHODS = ["NMB", "LP2", "taylor3", "RK4-quaternion", "EXACT-RKN4", "EXACT-RKN6", "DOP853@rtol"]
found = polhode.compare("krysl/slow-top", methods=METHODS, errors=[1e-3, 1e-6, 1e-9], until=2.0)
figure = plots.work_precision(found, currency="evaluations")

# %%
# Torque evaluations that each method needs for an error of 1e-6:

price = {
    curve.name: curve.answers[1e-6].evaluations if curve.answers[1e-6] else math.inf
    for curve in found.curves
}
for name, evaluations in sorted(price.items(), key=lambda item: item[1]):
    print(f"{name:>15} {evaluations:8}")
