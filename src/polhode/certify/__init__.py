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

from polhode.certify.measure import (
    EnergyDrift, FreeDrift, Orders, TorqueCalls, drift_slope, errors, free_drift, order, poisson_defect, solver_calls,
    symmetry_defect, symplecticity_defect, torque_calls,
)
from polhode.certify.trial import ATTITUDE, BODY, VELOCITY, trial_torque

__all__ = ["ATTITUDE", "BODY", "VELOCITY", "EnergyDrift", "FreeDrift", "Orders", "TorqueCalls", "drift_slope", "errors",
           "free_drift", "order", "poisson_defect", "solver_calls", "symmetry_defect", "symplecticity_defect", "torque_calls",
           "trial_torque"]
