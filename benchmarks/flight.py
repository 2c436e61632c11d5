"""What flight costs: steps with position and velocity beside steps without, and the ratios.

    python benchmarks/flight.py [--steps N] [--bodies N] [--repeats K] [--json]

Heavy top (KE 3.5) about its fixed point; in flight the same torque, and a spring that pulls the
centre of mass to the origin.  Endpoint only, compile time left out.

    step        one body, nanoseconds per step; the ratio is flight / ground
    ensemble    many bodies on one thread, millions of body-steps per second; the ratio is flight / ground

Times are processor time of the thread that works, for ensembles that of the whole call.  Repeats are
interleaved and the best is taken, since machines are noisy; read the ratios.  At the end come those
that flight is judged by, each with its goal.
"""

import argparse
import json
import time

import numpy as np

from polhode import Force, ensemble, problems
from polhode.engine.program import build
from polhode.methods import get

PROBLEM = problems.get("krysl/slow-top")
STEP = 0.0125
METHODS = ("EXACT", "LP2", "VLV", "NMB", "SW", "EXACT-RKN4", "DOP853")
PLACE = {"position0": (1.0, 0.5, -0.3), "velocity0": (0.1, 0.2, 2.0)}
MOST_OF_A_STEP, LEAST_OF_A_RATE = 1.5, 0.4


def pull(t, x, v, R, p):
    return (-p.c * x[0], -p.c * x[1], -p.c * x[2])


SPRING = Force(pull, form="tuple", params={"c": 3.0}, name="spring")


def one_body(method, force):
    """A function that takes n steps and says how many seconds each took."""
    program = build(get(method), PROBLEM.torque(), PROBLEM.body, force=force)
    march = program.march()
    place = () if force is None else PLACE.values()
    motion = np.concatenate([PROBLEM.rotation0, PROBLEM.omega0, *place])
    rest = program.moments, program.parameters, np.empty((1, program.width)), np.empty(1)

    def run(n):
        z = program.begin(STEP, 0.0, motion)
        started = time.thread_time()
        _, reached, _ = march(1, n, 0, np.array([0.0, STEP]), z, *rest)
        return (time.thread_time() - started) / max(reached, 1)

    return run


def many_bodies(method, n, flying):
    """A function that takes so many steps with n bodies and says how many body-steps a second that
    were, and whether in packed instructions."""
    rng = np.random.default_rng(20)
    given = {"rotation0": "random", "omega0": 2.0 * rng.standard_normal((n, 3)), "rng": 1}
    if flying:
        places = {name: rng.standard_normal((n, 3)) for name in PLACE}
        given |= {"force": SPRING, **places}

    def run(steps):
        span = (0.0, steps * STEP)
        started = time.thread_time()
        found = ensemble(PROBLEM.body, PROBLEM.torque(), span, STEP, method, threads=1, **given)
        return n * steps / (time.thread_time() - started), found.vectorised

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--bodies", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = {method: measured(method, given) for method in METHODS}
    if given.json:
        print(json.dumps(rows, indent=1))
        return
    print("              ns/step                    M body-steps/s")
    print("method        ground  flight  ratio      ground  flight  ratio  vectorised")
    for method, row in rows.items():
        ground, flight = row["step_ns"]
        slow, fast = row["ensemble_M_per_s"]
        print(
            f"{method:<12} {ground:7.1f} {flight:7.1f} {flight / ground:6.2f}     {slow:7.1f} {fast:7.1f} "
            f"{fast / slow:6.2f}  {row['vectorised']}"
        )
    ground, flight = rows["EXACT"]["step_ns"]
    worst = min(row["ensemble_M_per_s"][1] / row["ensemble_M_per_s"][0] for row in rows.values())
    print(
        f"\nstep of EXACT in flight {flight / ground:.2f} x that without, at most {MOST_OF_A_STEP}"
    )
    print(f"ensembles in flight at least {worst:.2f} of the rate without, wanted {LEAST_OF_A_RATE}")


def measured(method, given):
    """Times of a method on the ground and in flight."""
    steps = [one_body(method, force) for force in (None, SPRING)]
    rates = [many_bodies(method, given.bodies, flying) for flying in (False, True)]
    for run in (*steps, *rates):
        run(2)
    taken, reached, packed = [np.inf] * 2, [0.0] * 2, True
    for _ in range(given.repeats):
        taken = [min(best, run(given.steps)) for best, run in zip(taken, steps, strict=True)]
        for i, run in enumerate(rates):
            rate, vectorised = run(max(1, given.steps // 100))
            reached[i], packed = max(reached[i], rate), packed and vectorised
    return {
        "step_ns": [1e9 * seconds for seconds in taken],
        "ensemble_M_per_s": [rate / 1e6 for rate in reached],
        "vectorised": packed,
    }


if __name__ == "__main__":
    main()
