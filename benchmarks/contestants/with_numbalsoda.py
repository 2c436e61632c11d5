"""numbalsoda: compiled LSODA and DOP853 around a right-hand side in machine code."""

import time

import numba
import numpy as np
from by_numba import compiled
from common import Solver, serve
from numbalsoda import dop853, lsoda, lsoda_sig

MOST = 10**6  # steps


def pointers(problem):
    """Two right-hand sides: one to be timed, one that counts its calls in its last argument."""
    slope = compiled(problem)

    def plain(t, y, dy, count):
        dy[0], dy[1], dy[2], dy[3], dy[4], dy[5], dy[6] = slope(
            y[0], y[1], y[2], y[3], y[4], y[5], y[6]
        )

    def counting(t, y, dy, count):
        count[0] += 1.0
        dy[0], dy[1], dy[2], dy[3], dy[4], dy[5], dy[6] = slope(
            y[0], y[1], y[2], y[3], y[4], y[5], y[6]
        )

    return numba.cfunc(lsoda_sig)(plain), numba.cfunc(lsoda_sig)(counting)


def solver(function):
    def prepare(problem):
        plain, counting = pointers(problem)
        y0, times, counts = np.array(problem.y0), np.array([0.0, problem.end]), {}

        def run(rtol):
            if rtol not in counts:
                count = np.zeros(1)
                function(counting.address, y0, times, data=count, rtol=rtol, atol=rtol, mxstep=MOST)
                counts[rtol] = int(count[0])
            started = time.perf_counter()
            y, fine = function(plain.address, y0, times, rtol=rtol, atol=rtol, mxstep=MOST)
            return y[-1] if fine else y[-1] * np.nan, counts[rtol], time.perf_counter() - started

        run(1e-3)
        return run

    def prepare_many(problem, omega0):
        plain, _ = pointers(problem)
        start = np.concatenate([np.tile(problem.y0[:4], (len(omega0), 1)), omega0], axis=1)
        times = np.array([0.0, problem.end])

        @numba.njit
        def run_all(address, start, rtol):
            out = np.empty_like(start)
            for i in range(len(start)):
                y, _ = function(address, start[i], times, rtol=rtol, atol=rtol, mxstep=MOST)
                out[i] = y[-1]
            return out

        def run(rtol):
            return run_all(plain.address, start, rtol)

        run(1e-3)
        return run

    return Solver("rtol", prepare, prepare_many, 4000)


SOLVERS = {
    "numbalsoda dop853": solver(dop853),
    "numbalsoda lsoda": solver(lsoda)._replace(prepare_many=None),
}

if __name__ == "__main__":
    serve(SOLVERS)
