"""One body: nanoseconds per step, and the ratio to the same loop written by hand in C.

    python benchmarks/single.py [--steps N] [--repeats K] [--json]

Heavy top (KE 3.5), endpoint only, compile time left out.  Repeats are interleaved and the minimum
is taken, since machines are noisy; read the ratios.  C: gcc -O3 -march=native, left out where there
is no gcc.
"""

import argparse
import ctypes
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from polhode import problems, rotations
from polhode.loads.conversion import as_torque
from polhode.methods import everything, get
from polhode.engine.program import build

PROBLEM = problems.get("krysl/slow-top")
STEP = 0.0125


def ours(method, torque=None):
    """A function that takes n steps with a method."""
    program = build(get(method), torque or PROBLEM.torque(), PROBLEM.body)
    march = program.march()
    motion = np.concatenate([PROBLEM.rotation0, PROBLEM.omega0])
    out = np.empty((1, 7))
    rest = program.moments, program.parameters, out, np.empty(1)

    def run(n):
        z = program.begin(STEP, 0.0, motion)
        started = time.perf_counter()
        _, reached, _ = march(1, n, 0, np.array([0.0, STEP]), z, *rest)
        seconds = time.perf_counter() - started
        return seconds / max(reached, 1), out[0, :4].copy()

    return run


def by_hand():
    """The same for the loop in C, or None."""
    if shutil.which("gcc") is None:
        return None
    source = Path(__file__).with_name("nmb_top.c")
    library = Path(tempfile.mkdtemp()) / "nmb_top.so"
    subprocess.run(
        ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source, "-lm"],
        check=True,
    )
    function = ctypes.CDLL(library).nmb_top
    function.restype = ctypes.c_long
    array = np.ctypeslib.ndpointer(float)
    function.argtypes = [
        ctypes.c_long,
        ctypes.c_double,
        array,
        ctypes.c_double,
        array,
        array,
        array,
    ]
    I = np.array(PROBLEM.body.moments)

    def run(n):
        q, Om = PROBLEM.rotation0.copy(), PROBLEM.omega0.copy()
        R = rotations.matrices(q)
        A = (R.T @ PROBLEM.torque()(0.0, R) - np.cross(Om, I * Om)) / I
        started = time.perf_counter()
        failed = function(n, STEP, I, 20.0, q, Om, A)
        seconds = time.perf_counter() - started
        assert failed == 0
        return seconds / n, q

    return run


def python_torque():
    """The cheapest torque that stays Python: what is measured is the way there and back."""
    seen = [0]

    def nothing(t, R):
        seen[0] += 1
        return (0.0, 0.0, 0.0)

    return as_torque(nothing)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--methods", nargs="*", help="default: all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    runs = {name: ours(name) for name in options.methods or [entry.name for entry in everything()]}
    runs.setdefault("NMB", ours("NMB"))
    hand = by_hand()
    if hand:
        runs["C by hand (NMB)"] = hand
    best = {name: np.inf for name in runs}
    ends = {}
    for _ in range(options.repeats):
        for name, run in runs.items():
            seconds, ends[name] = run(options.steps)
            best[name] = min(best[name], seconds)
    callback = ours("NMB", python_torque())
    best["NMB, torque in Python"] = min(callback(2000)[0] for _ in range(options.repeats))

    rows = [
        {"name": name, "ns_per_step": 1e9 * seconds, "times_NMB": seconds / best["NMB"]}
        for name, seconds in best.items()
    ]
    result = {"steps": options.steps, "rows": rows}
    if hand:
        result["NMB_over_C"] = best["NMB"] / best["C by hand (NMB)"]
        short = [run(1000)[1] for run in (runs["NMB"], hand)]
        result["difference_after_1000_steps"] = float(np.abs(short[0] - short[1]).max())
    if options.json:
        print(json.dumps(result, indent=1))
        return
    print(f"{'':28s} {'ns/step':>9s} {'x NMB':>7s}")
    for row in sorted(rows, key=lambda row: row["ns_per_step"]):
        print(f"{row['name']:28s} {row['ns_per_step']:9.1f} {row['times_NMB']:7.2f}")
    if hand:
        print(
            f"NMB takes {result['NMB_over_C']:.2f} x the time of the loop in C; "
            f"after 1000 steps they differ by {result['difference_after_1000_steps']:.1e}"
        )


if __name__ == "__main__":
    main()
