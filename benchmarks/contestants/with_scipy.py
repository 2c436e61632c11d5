"""SciPy's solve_ivp, the right-hand side in Python and compiled by numba."""

import numba
import numpy as np
from by_numba import compiled
from common import Solver, serve, slope_of
from scipy.integrate import solve_ivp


def in_python(problem):
    slope = slope_of(problem)
    return lambda t, y: slope(*y.tolist())


def in_numba(problem):
    slope = compiled(problem)

    @numba.njit
    def function(t, y):
        return np.array(slope(y[0], y[1], y[2], y[3], y[4], y[5], y[6]))

    return function


def solver(method, right_hand_side):
    def prepare(problem):
        function, y0 = right_hand_side(problem), np.array(problem.y0)

        def run(rtol):
            done = solve_ivp(
                function, (0.0, problem.end), y0, method=method, rtol=max(rtol, 3e-14), atol=rtol
            )
            return done.y[:, -1], done.nfev, None

        return run

    return Solver("rtol", prepare)


SOLVERS = {
    "scipy DOP853": solver("DOP853", in_python),
    "scipy LSODA": solver("LSODA", in_python),
    "scipy DOP853, numba slope": solver("DOP853", in_numba),
}

if __name__ == "__main__":
    serve(SOLVERS)
