"""diffrax on JAX: compiled adaptive Runge-Kutta pairs."""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from common import Solver, serve, slope_of

jax.config.update("jax_enable_x64", True)


def solver(method, stages):
    def prepare(problem):
        slope = slope_of(problem, sqrt=jnp.sqrt)
        term = diffrax.ODETerm(
            lambda t, y, args: jnp.stack([jnp.asarray(v, y.dtype) for v in slope(*y)])
        )
        y0 = jnp.array(problem.y0)

        @jax.jit
        def solve(rtol):
            done = diffrax.diffeqsolve(
                term,
                method,
                0.0,
                problem.end,
                None,
                y0,
                max_steps=None,
                saveat=diffrax.SaveAt(t1=True),
                stepsize_controller=diffrax.PIDController(rtol=rtol, atol=rtol),
            )
            return done.ys[0], done.stats["num_steps"]

        def run(rtol):
            y, steps = solve(rtol)
            return np.asarray(y), stages * int(steps), None

        run(1e-3)
        return run

    return Solver("rtol", prepare)


serve({"diffrax Dopri8": solver(diffrax.Dopri8(), 13), "diffrax Tsit5": solver(diffrax.Tsit5(), 6)})
