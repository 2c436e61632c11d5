"""The equations as machine code."""

import numba
from common import inverse_powers, slope_function, torque_function

# inlined, loops over bodies become SIMD
FAST = {"fastmath": True, "error_model": "numpy", "forceinline": True}


def compiled(problem):
    """y' of a problem, compiled: a function of seven numbers."""
    torque = torque_function(problem.torque, powers=numba.njit(**FAST)(inverse_powers))
    return numba.njit(**FAST)(slope_function(problem.moments, numba.njit(**FAST)(torque)))
