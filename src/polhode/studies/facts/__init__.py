"""Certificates: what a method declares about itself in the registry, measured from outside.

    >>> import polhode
    >>> print(polhode.certify("NMB"))            # doctest: +SKIP
    >>> polhode.certify("my_integrator.py").ok   # doctest: +SKIP

Beside `certify` there is one function per fact, each taking a method (or its name) and returning
plain numbers:

    order                  orders of attitude and body momentum, with a torque, without, and with one that looks at the velocity
    symmetry_defect        how far a step forwards and a step back miss the beginning
    symplecticity          |J^T Om J - Om| of one step on T*SO(3), with its noise
    poisson                the same for the body momentum alone, torque-free, on so(3)*
    free_drift             change of spatial momentum and of energy of the torque-free body; size_drift: of |Pi|
    axis_drift             change of the momentum about a symmetry axis of the torque, and of the body
    drift_slope            slope of the energy over a long run of the stress test
    stability_limit        the largest angle per step
    torque_calls           torque evaluations at the start and in each step
    flight_order           orders of a body in flight; flight_symmetry_defect, flight_symplecticity: on T*SE(3)
    system_order           orders for a pair of bodies; system_symmetry_defect, system_symplecticity: on its phase space
    system_drift           change of momenta and energy of the pair; system_energy_trend: of its energy in a long run
    solver_calls           nonlinear equations solved in each step
    cost                   nanoseconds per compiled step

`errors` gives the errors themselves at one step; trial.py holds the problem.  Steps run as plain
Python, which gives the bits of the compiled ones without the wait for the compiler, and for orders
also with forty digits (digits.py); `drift_slope` and `cost` alone compile.
"""

from polhode.studies.facts.conserve import AxisDrift, FreeDrift, axis_drift, free_drift, size_drift
from polhode.studies.facts.flight import (
    FlightOrders,
    flight_order,
    flight_symmetry_defect,
    flight_symplecticity,
)
from polhode.studies.facts.judge import certify
from polhode.studies.facts.long_run import EnergyDrift, cost, drift_slope, stability_limit
from polhode.studies.facts.structure import (
    Defect,
    TorqueCalls,
    poisson,
    solver_calls,
    symmetry_defect,
    symplecticity,
    torque_calls,
)
from polhode.studies.facts.orders import Orders, errors, order
from polhode.studies.facts.certificate import Certificate, Fact
from polhode.studies.facts.source import from_file
from polhode.studies.facts.systems import (
    SystemDrift,
    SystemOrders,
    Trend,
    system_drift,
    system_energy_trend,
    system_order,
    system_symmetry_defect,
    system_symplecticity,
)
from polhode.studies.facts.trial import ATTITUDE, BODY, LIVELY, VELOCITY, trial_torque

__all__ = [
    "ATTITUDE",
    "BODY",
    "LIVELY",
    "VELOCITY",
    "AxisDrift",
    "Certificate",
    "Defect",
    "EnergyDrift",
    "Fact",
    "FlightOrders",
    "FreeDrift",
    "Orders",
    "SystemDrift",
    "SystemOrders",
    "TorqueCalls",
    "Trend",
    "axis_drift",
    "certify",
    "cost",
    "drift_slope",
    "errors",
    "flight_order",
    "flight_symmetry_defect",
    "flight_symplecticity",
    "free_drift",
    "from_file",
    "order",
    "poisson",
    "size_drift",
    "solver_calls",
    "stability_limit",
    "symmetry_defect",
    "symplecticity",
    "system_drift",
    "system_energy_trend",
    "system_order",
    "system_symmetry_defect",
    "system_symplecticity",
    "torque_calls",
    "trial_torque",
]


def __dir__() -> list[str]:
    return __all__  # what completion offers
