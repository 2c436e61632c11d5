"""heyoka: Taylor series of adaptive order and step, compiled from symbols; one body, and batches as
wide as its SIMD."""

import time

import heyoka as hy
import numpy as np
from common import Solver, serve, slope_of


def system(problem):
    variables = hy.make_vars("x", "y", "z", "w", "a", "b", "c")
    slopes = slope_of(problem, sqrt=hy.sqrt, powers=lambda s: (s**-2.0, s**-11.0))(*variables)
    return [
        (v, hy.expression(s) if isinstance(s, float) else s)
        for v, s in zip(variables, slopes, strict=True)
    ]


def kept(make):
    """An integrator for each tolerance, compiled once."""
    found = {}

    def get(tolerance):
        if tolerance not in found:
            found[tolerance] = make(max(tolerance, 2.3e-16))
        return found[tolerance]

    return get


def one(problem):
    equations, y0 = system(problem), np.array(problem.y0)
    integrator = kept(lambda tolerance: hy.taylor_adaptive(equations, list(y0), tol=tolerance))

    def run(tolerance):
        it = integrator(tolerance)
        it.time, it.state[:] = 0.0, y0
        started = time.perf_counter()
        it.propagate_until(problem.end)
        return it.state.copy(), None, time.perf_counter() - started

    return run


def many(problem, omega0):
    equations, width = system(problem), hy.recommended_simd_size()
    omega0 = omega0[: len(omega0) - len(omega0) % width]
    blank = np.tile(np.array(problem.y0)[:, None], (1, width))
    integrator = kept(
        lambda tolerance: hy.taylor_adaptive_batch(equations, blank.copy(), tol=tolerance)
    )
    out = np.empty((len(omega0), 7))

    def run(tolerance):
        it = integrator(tolerance)
        for i in range(0, len(omega0), width):
            it.set_time(0.0)
            it.state[:4], it.state[4:] = blank[:4], omega0[i : i + width].T
            it.propagate_until(problem.end)
            out[i : i + width] = it.state.T
        return out

    return run


SOLVERS = {
    "heyoka": Solver("rtol", one, per_decade=1),
    "heyoka batch": Solver("rtol", None, many, 4000, per_decade=1),
}

if __name__ == "__main__":
    serve(SOLVERS)
