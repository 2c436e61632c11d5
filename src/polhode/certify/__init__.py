"""Measured facts: what a method declares about itself in the registry, measured from outside.

One function per fact, each taking a method (or its name) and returning plain numbers:

    order                  orders of attitude and body momentum, from the errors at a ladder of steps
    symmetry_defect        how far a step forwards and a step back miss the beginning
    symplecticity_defect   |J^T Om J - Om| of one step on T*SO(3)
    poisson_defect         the same for the body momentum alone, torque-free, on so(3)*
    free_drift             change of spatial momentum and of energy of the torque-free body
    torque_calls           torque evaluations at the start and in each step
    solver_calls           nonlinear equations solved in each step
    drift_slope            slope of the energy over a long run of the stress test

`errors` gives the errors themselves at one step; trial.py holds the problem.  Steps run as plain Python, which gives the bits
of the compiled ones without the wait for the compiler; `drift_slope` alone compiles.
"""

from polhode.certify.conserve import AxisDrift, FreeDrift, axis_drift, free_drift, size_drift
from polhode.certify.long_run import EnergyDrift, cost, drift_slope, stability_limit
from polhode.certify.measure import (
    Defect, Orders, TorqueCalls, errors, order, poisson, poisson_defect, solver_calls, symmetry_defect, symplecticity,
    symplecticity_defect, torque_calls,
)
from polhode.certify.trial import ATTITUDE, BODY, LIVELY, VELOCITY, trial_torque

__all__ = ["ATTITUDE", "BODY", "LIVELY", "VELOCITY", "AxisDrift", "Defect", "EnergyDrift", "FreeDrift", "Orders", "TorqueCalls",
           "axis_drift", "cost", "drift_slope", "errors", "free_drift", "order", "poisson", "poisson_defect", "size_drift",
           "solver_calls", "stability_limit", "symmetry_defect", "symplecticity", "symplecticity_defect", "torque_calls",
           "trial_torque"]
