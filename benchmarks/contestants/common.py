"""What every peer is given: the equations of motion, written once, and a way to be asked for runs.

A peer is a script of this folder that runs in a virtual environment of its own.  It describes its
solvers as `Solver`s and calls `serve`: each line on standard input asks for a run, each line on
standard output answers it.  This file needs numpy alone.

A motion is seven numbers, y = (q, Om): quaternion with the scalar last, body to space, and angular
velocity in the body.
"""

import json
import math
import os
import sys
import time
from typing import NamedTuple

import numpy as np

BUDGET = 0.02  # seconds for the repeats of a run that is timed


class Problem(NamedTuple):
    """A body, its torque {"name": ..., parameters}, its motion at time 0, and the time at which it
    is wanted."""

    name: str
    moments: tuple
    torque: dict
    y0: tuple
    end: float


class Solver(NamedTuple):
    """A way to solve problems.

    `prepare(problem)` compiles and returns `run(setting) -> (motion at the end, torque evaluations
    or None, seconds or None)`; the setting is a tolerance (knob "rtol") or a number of steps (knob
    "steps").  A run that knows no seconds is timed whole.  `prepare_many(problem, omega0)` returns
    `run(setting) -> motions (n, 7)` for bodies with these angular velocities; `many` is how many
    bodies it is given at most.  `per_decade` tolerances are tried, fewer where each of them is
    compiled anew.
    """

    knob: str
    prepare: object = None
    prepare_many: object = None
    many: int = 10**9
    per_decade: int = 3


# --- the equations --------------------------------------------------------------------------------


def inverse_powers(s):
    """s^-2 and s^-11 by products."""
    r = 1.0 / s
    r2 = r * r
    r4 = r2 * r2
    return r2, r4 * r4 * r2 * r


def torque_function(torque, sqrt=math.sqrt, powers=inverse_powers):
    """The torque in the body frame as a function of the four components of a unit quaternion, for
    floats or for symbols."""
    kind = torque["name"]
    if kind == "free":

        def act(x, y, z, w):
            return 0.0, 0.0, 0.0
    elif kind == "heavy_top":
        two = 2.0 * torque["moment"]

        def act(x, y, z, w):
            return two * (y * z + x * w), -two * (x * z - y * w), 0.0
    elif kind == "coulomb_wall":
        sign, centre, wall = torque["sign"], torque["centre"], torque["wall"]

        def act(x, y, z, w):
            near, hard = powers(centre + (z * z + w * w - x * x - y * y))
            pull = sign * (near - wall * hard)
            return pull * (2.0 * (y * z + x * w)), -pull * (2.0 * (x * z - y * w)), 0.0
    elif kind == "stress_potential":
        act = stress(torque["alpha"], *torque["attractor"], sqrt)
    else:
        raise ValueError(f"no equations for the torque {kind!r}")
    return act


def stress(alpha, a, b, c, d, sqrt):
    """A shell around the identity and an attraction to the attitude (a, b, c, d); 8 |v|^2 is a
    distance squared."""

    def act(x, y, z, w):
        apart = d * w + a * x + b * y + c * z
        u1 = d * x - w * a - (b * z - c * y)
        u2 = d * y - w * b - (c * x - a * z)
        u3 = d * z - w * c - (a * y - b * x)
        square = 8.0 * (u1 * u1 + u2 * u2 + u3 * u3)
        shell = (8.0 / sqrt(8.0 * (x * x + y * y + z * z)) - 8.0) * w
        pull = -4.0 * alpha * apart / (square * sqrt(square))
        return shell * x + pull * u1, shell * y + pull * u2, shell * z + pull * u3

    return act


def slope_function(moments, torque):
    """y' as a function of the seven numbers of y, around a torque function."""
    A, B, C = moments
    a0, b0, c0 = 1.0 / A, 1.0 / B, 1.0 / C
    a1, b1, c1 = (B - C) / A, (C - A) / B, (A - B) / C

    def slope(x, y, z, w, a, b, c):
        t1, t2, t3 = torque(x, y, z, w)
        return (
            0.5 * (w * a + y * c - z * b),
            0.5 * (w * b + z * a - x * c),
            0.5 * (w * c + x * b - y * a),
            -0.5 * (x * a + y * b + z * c),
            a1 * b * c + a0 * t1,
            b1 * c * a + b0 * t2,
            c1 * a * b + c0 * t3,
        )

    return slope


def slope_of(problem, **functions):
    """y' of a problem; `functions` may replace sqrt and powers."""
    return slope_function(problem.moments, torque_function(problem.torque, **functions))


def spins(n, speed):
    """Angular velocities (n, 3) of one length in directions spread evenly, the same in every
    process."""
    directions = np.random.default_rng(7).standard_normal((n, 3))
    return speed * directions / np.linalg.norm(directions, axis=1)[:, None]


# --- questions and answers ------------------------------------------------------------------------


def timed(run, setting, budget):
    """The quickest of the runs that fit into the budget, at least one: (motion, evaluations,
    seconds)."""
    best, spent = math.inf, 0.0
    while True:
        started = time.perf_counter()
        y, evaluations, seconds = run(setting)
        whole = time.perf_counter() - started
        best, spent = min(best, whole if seconds is None else seconds), spent + whole
        if spent > budget:
            return y, evaluations, best


def answer(solvers, ready, question):
    """The answer to one question, as plain data."""
    solver, many = solvers[question["solver"]], question.get("many")
    problem = Problem(**question["problem"])
    key = (question["solver"], problem.name, many)
    if key not in ready:
        if many:
            n = min(many, solver.many)
            ready[key] = (
                n,
                solver.prepare_many(problem, spins(n, float(np.linalg.norm(problem.y0[4:])))),
            )
        else:
            ready[key] = 1, solver.prepare(problem)
        if question.get("warm"):  # a first run compiles
            ready[key][1](question["setting"])
    n, run = ready[key]
    if many:
        started = time.process_time()
        motions = run(question["setting"])
        return {
            "seconds": (time.process_time() - started) / n,
            "y": np.asarray(motions)[: question["kept"]].tolist(),
        }
    y, evaluations, seconds = timed(run, question["setting"], question.get("budget", BUDGET))
    return {"y": [float(v) for v in y], "evaluations": evaluations, "seconds": seconds}


def serve(solvers):
    """Answer until the input ends.  Libraries that print do so to standard error."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    about = {
        name: {
            "knob": solver.knob,
            "per_decade": solver.per_decade,
            "one": solver.prepare is not None,
            "many": solver.prepare_many is not None,
        }
        for name, solver in solvers.items()
    }
    ready = {}
    print(json.dumps(about), file=out, flush=True)
    for line in sys.stdin:
        try:
            reply = answer(solvers, ready, json.loads(line))
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(reply), file=out, flush=True)
