"""What one writes by hand with numba: classical Runge-Kutta on the quaternion, for one body, and on
blocks of bodies (SIMD)."""

import numba
import numpy as np
from by_numba import FAST, compiled
from common import Solver, serve

BLOCK = 64


def stepper(problem):
    """One step of Runge-Kutta on seven numbers."""
    slope = compiled(problem)

    @numba.njit(**FAST)
    def ahead(h, k, y):
        return (
            y[0] + h * k[0],
            y[1] + h * k[1],
            y[2] + h * k[2],
            y[3] + h * k[3],
            y[4] + h * k[4],
            y[5] + h * k[5],
            y[6] + h * k[6],
        )

    @numba.njit(**FAST)
    def step(h, y):
        k1 = slope(*y)
        k2 = slope(*ahead(0.5 * h, k1, y))
        k3 = slope(*ahead(0.5 * h, k2, y))
        k4 = slope(*ahead(h, k3, y))
        sixth, third = h / 6.0, h / 3.0
        return ahead(sixth, k4, ahead(third, k3, ahead(third, k2, ahead(sixth, k1, y))))

    return step


def one(problem):
    step, y0 = stepper(problem), tuple(float(v) for v in problem.y0)

    @numba.njit(**FAST)
    def march(n, h, y):
        for _ in range(n):
            y = step(h, y)
        return y

    march(1, 0.1, y0)
    return lambda n: (march(n, problem.end / n, y0), 4 * n, None)


def many(problem, omega0):
    step = stepper(problem)
    start = np.concatenate([np.tile(problem.y0[:4], (len(omega0), 1)), omega0], axis=1)
    whole = np.concatenate([start, np.tile(start[-1], (-len(start) % BLOCK, 1))])
    blocks = np.ascontiguousarray(whole.reshape(-1, BLOCK, 7).transpose(0, 2, 1))

    @numba.njit(**FAST)
    def march(n, h, blocks):
        a, b, c, d = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
        # arrays of their own, so that the loop becomes SIMD
        e, f, g = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
        for block in blocks:
            a[:], b[:], c[:], d[:], e[:], f[:], g[:] = (
                block[0],
                block[1],
                block[2],
                block[3],
                block[4],
                block[5],
                block[6],
            )
            for _ in range(n):
                for i in range(BLOCK):
                    a[i], b[i], c[i], d[i], e[i], f[i], g[i] = step(
                        h, (a[i], b[i], c[i], d[i], e[i], f[i], g[i])
                    )
            block[0], block[1], block[2], block[3], block[4], block[5], block[6] = (
                a,
                b,
                c,
                d,
                e,
                f,
                g,
            )

    def run(n):
        y = blocks.copy()
        march(n, problem.end / n, y)
        return y.transpose(0, 2, 1).reshape(-1, 7)[: len(start)]

    run(1)
    return run


SOLVERS = {"RK4 by hand in numba": Solver("steps", one, many)}

if __name__ == "__main__":
    serve(SOLVERS)
