"""Ensembles of systems on one GPU: pairs of bodies that attract each other to second degree, one pair
in each thread; body-steps per second, and how far the end states are from the processor's.

    python benchmarks/gpu_systems.py [--systems N] [--steps N] [--methods A,B] [--repeats K] [--json]

The pairs are those of Didymos and Dimorphos, with turns and places that differ a little.  Rates are
those of the steps of both bodies, compile time left out, the best of the repeats.  "apart" is the
largest difference in any number of the end states of --few systems from those of the processor in
float64, relative to the largest of its kind.
"""

import argparse
import json

import numpy as np

from polhode import ensemble, problems

STEP = 20.0  # seconds
METHODS = "LP2,VLV,EXACT,EXACT-RKN4"
PARTS = ("quaternion", "omega", "position", "velocity")


def run(method, n, steps, **where):
    """An ensemble of n pairs."""
    pair = problems.didymos()
    rng = np.random.default_rng(20)
    start = {
        "rotation0": pair.rotation0,
        "omega0": pair.omega0,
        "position0": pair.position0 * (1.0 + 1e-3 * rng.standard_normal((n, 2, 1))),
        "velocity0": pair.velocity0,
    }
    span = (0.0, steps * STEP)
    return ensemble(pair.system, None, span, STEP, method, n=n, **start, **where)


def apart(one, other):
    """The largest difference between the ends of two ensembles."""
    pairs = [(getattr(one, part), getattr(other, part)) for part in PARTS]
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


def measured(method, dtype, given):
    """Rate, failures and distance from the processor."""
    rates, failed = [], 0
    for _ in range(given.repeats + 1):  # the first one compiles
        found = run(method, given.systems, given.steps, device="cuda", dtype=dtype)
        rates.append(2.0 * given.systems * given.steps / found.elapsed)
        failed = len(found.failures)
    ends = [
        run(method, given.few, 200, device=device, dtype=kind)
        for device, kind in (("cuda", dtype), ("cpu", "float64"))
    ]
    return {"rate": max(rates[1:]), "failed": failed, "apart": apart(*ends)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=1 << 18)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--few", type=int, default=64)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [
        {"method": method, "dtype": dtype, **measured(method, dtype, given)}
        for method in given.methods.split(",")
        for dtype in ("float64", "float32")
    ]
    if given.json:
        print(json.dumps(rows))
        return
    print(f"{'method':12} {'dtype':8} {'G body-steps/s':>14} {'failed':>7} {'apart':>8}")
    for row in rows:
        rate, far = row["rate"] / 1e9, row["apart"]
        print(f"{row['method']:12} {row['dtype']:8} {rate:14.2f} {row['failed']:7} {far:8.1e}")


if __name__ == "__main__":
    main()
