"""Solutions to compare with: closed forms for the free body and the symmetric heavy top, and a
reference for any smooth torque.

free_body(body, rotation0, omega0, t)                        Jacobi's elliptic functions: 1e-13 rad after 1000 turns
periods(body, omega0)                                        of the polhode and of the precession
gyrostat(body, rotation0, omega0, t)                         a body with rotors, free or held at constant speed
lagrange_top(moments, moment, rotation0, omega0, t)          theta functions, any spin and tilt
reference(problem)                                           extrapolation in compensated arithmetic, with an error estimate
"""

from polhode.exact._free_body import FreeMotion, Periods, free_body, periods
from polhode.exact._gyrostat import GyrostatMotion, gyrostat
from polhode.exact._lagrange_top import TopMotion, lagrange_top
from polhode.exact._reference import Reference, reference

__all__ = [
    "FreeMotion",
    "GyrostatMotion",
    "Periods",
    "Reference",
    "TopMotion",
    "free_body",
    "gyrostat",
    "lagrange_top",
    "periods",
    "reference",
]


def __dir__() -> list[str]:
    return __all__  # what completion offers
