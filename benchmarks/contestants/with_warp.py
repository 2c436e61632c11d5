"""Warp on the processor: Runge-Kutta as a kernel, for the heavy top and the free body."""

import numpy as np
import warp as wp
from common import Solver, serve

wp.config.quiet = True
wp.init()
Seven = wp.types.vector(length=7, dtype=wp.float64)
Three = wp.types.vector(length=3, dtype=wp.float64)


@wp.func
def slope(y: Seven, moments: Three, moment: wp.float64):
    half, two = wp.float64(0.5), wp.float64(2.0)
    x, s, z, w = y[0], y[1], y[2], y[3]
    a, b, c = y[4], y[5], y[6]
    t1, t2 = two * moment * (s * z + x * w), -two * moment * (x * z - s * w)
    return Seven(
        half * (w * a + s * c - z * b),
        half * (w * b + z * a - x * c),
        half * (w * c + x * b - s * a),
        -half * (x * a + s * b + z * c),
        ((moments[1] - moments[2]) * b * c + t1) / moments[0],
        ((moments[2] - moments[0]) * c * a + t2) / moments[1],
        (moments[0] - moments[1]) * a * b / moments[2],
    )


@wp.kernel
def march(
    motions: wp.array(dtype=Seven), moments: Three, moment: wp.float64, h: wp.float64, n: int
):
    i = wp.tid()
    y = motions[i]
    half, sixth, two = wp.float64(0.5) * h, h / wp.float64(6.0), wp.float64(2.0)
    for _ in range(n):
        k1 = slope(y, moments, moment)
        k2 = slope(y + half * k1, moments, moment)
        k3 = slope(y + half * k2, moments, moment)
        k4 = slope(y + h * k3, moments, moment)
        y = y + sixth * (k1 + two * (k2 + k3) + k4)
    motions[i] = y


def launcher(problem, start):
    if problem.torque["name"] not in ("free", "heavy_top"):
        raise ValueError("the kernel knows the free body and the heavy top")
    moments, moment = Three(*problem.moments), problem.torque.get("moment", 0.0)

    def run(n):
        motions = wp.array(start, dtype=Seven, device="cpu")
        wp.launch(
            march,
            dim=len(start),
            inputs=[motions, moments, moment, problem.end / n, n],
            device="cpu",
        )
        return motions.numpy()

    run(1)
    return run


def one(problem):
    run = launcher(problem, np.array([problem.y0]))
    return lambda n: (run(n)[0], 4 * n, None)


def many(problem, omega0):
    return launcher(
        problem, np.concatenate([np.tile(problem.y0[:4], (len(omega0), 1)), omega0], axis=1)
    )


serve({"Warp RK4": Solver("steps", one, many, 20_000)})
