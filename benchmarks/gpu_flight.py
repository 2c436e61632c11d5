"""Flight and rotors on one GPU: body-steps per second beside those without, and how far the end
states are from the processor's.

    python benchmarks/gpu_flight.py [--bodies N] [--steps N] [--methods A,B] [--repeats K] [--json]

Heavy tops (KE 3.5) with a random attitude and angular velocity for each body: about their fixed
point ("ground"), with a spring that pulls the centre of mass of each to the origin ("flight"), with
a driven wheel and one held at its speed ("rotors"), and with all of it ("both").  Rates are those of
the steps, compile time left out, the best of the repeats.  "apart" is the largest difference in any
number of the end states of --few bodies from those of the processor in float64, relative to the
largest of its kind.  At the end stands the smallest ratio of flight to ground, and its goal.
"""

import argparse
import json
import sys

import numpy as np
from flight import LEAST_OF_A_RATE, PROBLEM, SPRING, STEP

from polhode import Rotor, ensemble

METHODS = "EXACT,LP2,VLV,NMB,SW,EXACT-RKN4,DOP853"
WHEELS = [Rotor((0, 0, 1), 0.1, torque=0.5), Rotor((1, 0, 0), 0.2, speed=20.0)]
CASES = {"ground": (False, False), "flight": (True, False), "rotors": (False, True), "both": (True, True)}  # fmt: skip
PARTS = ("quaternion", "omega", "position", "velocity", "rotor_speeds")


def run(method, case, n, steps, **where):
    """An ensemble of n bodies."""
    rng, (flying, spinning) = np.random.default_rng(20), CASES[case]
    given = {"rotation0": "random", "omega0": 2.0 * rng.standard_normal((n, 3)), "rng": 1}
    if flying:
        places = {name: rng.standard_normal((n, 3)) for name in ("position0", "velocity0")}
        given |= {"force": SPRING, **places}
    body = PROBLEM.body.with_rotors(WHEELS) if spinning else PROBLEM.body
    span = (0.0, steps * STEP)
    return ensemble(body, PROBLEM.torque(), span, STEP, method, **given, **where)


def apart(one, other):
    """The largest difference between the ends of two ensembles."""
    pairs = [(getattr(one, part), getattr(other, part)) for part in PARTS]
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs if b is not None)


def measured(method, case, dtype, given):
    """Rate, failures and distance from the processor."""
    rates, failed = [], 0
    for _ in range(given.repeats + 1):  # the first one compiles
        found = run(method, case, given.bodies, given.steps, device="cuda", dtype=dtype)
        rates.append(found.body_steps_per_s)
        failed = len(found.failures)
    ends = [
        run(method, case, given.few, 200, device=device, dtype=kind)
        for device, kind in (("cuda", dtype), ("cpu", "float64"))
    ]
    return {"rate": max(rates[1:]), "failed": failed, "apart": apart(*ends)}


def rows(given):
    """A row for each method and type of numbers."""
    for method in given.methods.split(","):
        for dtype in ("float64", "float32"):
            row = {"method": method, "dtype": dtype}
            for case, (_, spinning) in CASES.items():
                if spinning and method not in given.rotors.split(","):
                    continue
                try:
                    row[case] = measured(method, case, dtype, given)
                except Exception as error:  # the others are still of use
                    row[case] = {"error": str(error).splitlines()[0]}
            print(json.dumps(row), file=sys.stderr, flush=True)
            yield row


def cell(found):
    if found is None:
        return f"{'-':>20}"
    if "error" in found:
        return f"{'failed':>20}"
    failed = f" ({found['failed']} failed)" if found["failed"] else ""
    return f"{found['rate'] / 1e9:10.2f} {found['apart']:9.1e}{failed}"


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--bodies", type=int, default=2**20)
    options.add_argument("--steps", type=int, default=1000)
    options.add_argument("--few", type=int, default=4096)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--methods", default=METHODS)
    options.add_argument(
        "--rotors", default="EXACT,LP2,EXACT-RKN4", help="methods to run with rotors"
    )
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    found = list(rows(given))
    if given.json:
        print(json.dumps(found))
        return
    print(
        f"{given.bodies} bodies x {given.steps} steps: G body-steps/s, and apart from the processor"
    )
    print(
        f"{'method':<12}{'dtype':<9}" + "".join(f"{case:>20}" for case in CASES) + "  flight/ground"
    )
    ratios = []
    for row in found:
        ground, flight = (row[case].get("rate") for case in ("ground", "flight"))
        ratios.append(flight / ground if flight and ground else np.nan)
        cells = "".join(cell(row.get(case)) for case in CASES)
        print(f"{row['method']:<12}{row['dtype']:<9}{cells} {ratios[-1]:10.2f}")
    print(f"\nflight at least {np.min(ratios):.2f} of the rate without, wanted {LEAST_OF_A_RATE}")


if __name__ == "__main__":
    main()
