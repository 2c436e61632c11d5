"""Many bodies: body-steps per second, and ratios to loops over one body, to C with SIMD and to the
usual ways in Python.

    python benchmarks/ensemble.py [--quick] [--bodies N] [--methods A,B|all] [--peers A,B|none]
    [--venvs DIR] [--json]

Heavy top (KE 3.5) with a random attitude and angular velocity for each body, float64 unless said
otherwise, endpoint only, compile time left out.  Times are processor time of the one thread that
works, the best of several interleaved repeats: machines are noisy, read the ratios.  Threads and
sizes are timed by the clock on the wall.

    C             nmb_tiles.c: the same arithmetic on the same tiles, gcc -O3 -march=native with OpenMP SIMD pragmas,
                  and what CFLAGS says, such as -mprefer-vector-width=512
    one by one    the loop over the single-body kernel of `polhode.integrate`
    RK4 by hand   what one writes with numba: arrays (7, n), RK4 on the quaternion, all bodies in each operation
    solve_ivp     SciPy's DOP853 on all bodies as one system (rtol 1e-7), per step of the comparison, a hundred bodies

Then the peers of `peers.py` that take many bodies, on tops that all stand as in KE 3.5 and spin
each about an axis of its own, to T = 10: those with fixed steps take as many as NMB, the others the
tolerance 1e-7.  Times are per body and per step of NMB, errors medians of the angle.  `peers.py`
compares at equal accuracy.
"""

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from contestants.ours import JUDGED, Task, many_errors
from contestants.ours import Ours as Prepared
from contestants.peer import NEEDS, Missing, Peer

from polhode import ensemble, problems
from polhode.engine.carriers.simd_tiles import LANES, Tiles, default_threads
from polhode.engine.schedule import Segment
from polhode.methods import everything, get
from polhode.engine.program import build

PROBLEM = problems.get("krysl/slow-top")
STEP, MOMENT = 0.0125, 20.0
SEGMENT = Segment(0.0, STEP, 10**9, 10**9 * STEP)


def motions(n):
    rng = np.random.default_rng(20)
    q = rng.standard_normal((n, 4))
    return np.concatenate(
        [q / np.linalg.norm(q, axis=1)[:, None], 2.0 * rng.standard_normal((n, 3))], axis=1
    )


class Ours:
    """Tiles of bodies, or the same bodies one by one."""

    def __init__(self, method, n, threads=1, dtype="float64"):
        self.program = build(get(method), PROBLEM.torque(), PROBLEM.body)
        self.backend = Tiles(
            self.program, n, self.program.moments, self.program.parameters, dtype, threads
        )
        self.start, self.k = motions(n), 0
        self.backend.begin(STEP, 0.0, self.start)
        self.backend.advance(SEGMENT, 0, 0)
        self.vectorised = self.backend.vectorised

    def together(self, steps):
        self.backend.advance(SEGMENT, self.k, steps)
        self.k += steps
        return self.backend.n * steps

    def one_by_one(self, steps, bodies=200):
        march = self.program.march()
        rest = self.program.moments, self.program.parameters, np.empty((1, 7)), np.empty(1)
        states = [self.program.begin(STEP, 0.0, motion) for motion in self.start[:bodies]]
        started = time.thread_time()
        for z in states:
            march(1, steps, 0, SEGMENT.grid, z, *rest)
        return (time.thread_time() - started) / (len(states) * steps)


class InC:
    """The loop written by hand, on tiles made by ours."""

    def __init__(self, ours):
        library = Path(tempfile.mkdtemp()) / "nmb_tiles.so"
        subprocess.run(
            [
                "gcc",
                "-O3",
                "-march=native",
                "-fopenmp-simd",
                "-fno-math-errno",
                "-shared",
                "-fPIC",
                *os.environ.get("CFLAGS", "").split(),
                "-o",
                library,
                Path(__file__).with_name("nmb_tiles.c"),
                "-lm",
            ],
            check=True,
        )
        self.function = ctypes.CDLL(library).nmb_tiles
        self.function.restype = ctypes.c_long
        array = np.ctypeslib.ndpointer(float)
        self.function.argtypes = [
            ctypes.c_long,
            ctypes.c_long,
            ctypes.c_double,
            array,
            ctypes.c_double,
            array,
        ]
        self.z = np.ascontiguousarray(
            ours.backend.z.reshape(len(ours.backend.z), -1, LANES)[:, :11]
        )
        self.moments, self.n = np.array(PROBLEM.body.moments), ours.backend.n

    def together(self, steps):
        assert self.function(len(self.z), steps, STEP, self.moments, MOMENT, self.z) == 0
        return self.n * steps


class RungeKutta:
    """RK4 on arrays, compiled by numba: the usual fast way."""

    def __init__(self, n):
        import numba

        I = PROBLEM.body.moments

        @numba.njit
        def slope(y, out):
            for k in range(y.shape[1]):
                x, z, u, w, a, b, c = y[0, k], y[1, k], y[2, k], y[3, k], y[4, k], y[5, k], y[6, k]
                out[0, k], out[1, k] = 0.5 * (w * a + z * c - u * b), 0.5 * (w * b + u * a - x * c)
                out[2, k], out[3, k] = 0.5 * (w * c + x * b - z * a), -0.5 * (x * a + z * b + u * c)
                s, t = 2.0 * (x * u - z * w), 2.0 * (z * u + x * w)  # the third row of R
                out[4, k] = ((I[1] - I[2]) * b * c + MOMENT * t) / I[0]
                out[5, k] = ((I[2] - I[0]) * c * a - MOMENT * s) / I[1]
                out[6, k] = (I[0] - I[1]) * a * b / I[2]

        @numba.njit
        def run(y, steps, h):
            k1, k2, k3, k4 = np.empty_like(y), np.empty_like(y), np.empty_like(y), np.empty_like(y)
            for _ in range(steps):
                slope(y, k1)
                slope(y + 0.5 * h * k1, k2)
                slope(y + 0.5 * h * k2, k3)
                slope(y + h * k3, k4)
                y += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

        self.y, self.run, self.n = np.ascontiguousarray(motions(n).T), run, n
        run(self.y, 0, STEP)

    def together(self, steps):
        self.run(self.y, steps, STEP)
        return self.n * steps


def by_solve_ivp(n=100, steps=400):
    """Seconds per body-step of SciPy on one system, for the span of so many steps."""
    from scipy.integrate import solve_ivp

    I = PROBLEM.body.moments

    def slope(t, y):
        x, z, u, w, a, b, c = y.reshape(7, -1)
        s, v = 2.0 * (x * u - z * w), 2.0 * (z * u + x * w)
        return np.concatenate(
            [
                0.5 * (w * a + z * c - u * b),
                0.5 * (w * b + u * a - x * c),
                0.5 * (w * c + x * b - z * a),
                -0.5 * (x * a + z * b + u * c),
                ((I[1] - I[2]) * b * c + MOMENT * v) / I[0],
                ((I[2] - I[0]) * c * a - MOMENT * s) / I[1],
                (I[0] - I[1]) * a * b / I[2],
            ]
        )

    started = time.thread_time()
    solve_ivp(
        slope, (0.0, steps * STEP), motions(n).T.ravel(), method="DOP853", rtol=1e-7, atol=1e-8
    )
    return (time.thread_time() - started) / (n * steps)


def best(contestants, steps, repeats, clock=time.thread_time):
    """Seconds per body-step of each, by interleaved repeats."""
    found = {name: np.inf for name in contestants}
    for _ in range(repeats):
        for name, one in contestants.items():
            started = clock()
            done = one.together(steps)
            found[name] = min(found[name], (clock() - started) / done)
    return found


def head_to_head(n, steps, repeats):
    """NMB against C, against the loop over one body, and against the usual ways."""
    ours = Ours("NMB", n)
    contestants = {
        "NMB": ours,
        "NMB float32": Ours("NMB", n, dtype="float32"),
        "RK4 by hand": RungeKutta(n),
    }
    if shutil.which("gcc"):
        contestants["C"] = InC(ours)
    found = best(contestants, steps, repeats)
    found["one by one"] = min(ours.one_by_one(200) for _ in range(repeats))
    found["solve_ivp"] = by_solve_ivp()
    return {
        name: {"ns_per_body_step": 1e9 * seconds, "times_NMB": seconds / found["NMB"]}
        for name, seconds in found.items()
    }


def against_peers(names, folder, n):
    """NMB and the peers on the same tops, and why some peers are not there."""
    task = Task("slow-top", 10.0).know()
    steps, median = round(task.end / STEP), many_errors(task)
    seconds, end = Prepared(task).together("NMB", steps, n)
    rows, missing = (
        {
            "NMB": {
                "ns_per_body_step": 1e9 * seconds / steps,
                "error": median(end),
                "times_NMB": 1.0,
            }
        },
        [],
    )
    for name in names:
        try:
            peer = Peer(name, folder)
        except Missing as why:
            missing.append(str(why))
            continue
        for solver, about in peer.solvers.items():
            if not about["many"]:
                continue
            setting = steps if about["knob"] == "steps" else 1e-7
            reply = peer.ask(
                solver=solver, problem=task.told(), setting=setting, many=n, kept=JUDGED, warm=True
            )
            if "failed" in reply:
                missing.append(f"{solver}: {reply['failed']}")
            else:
                rows[solver] = {
                    "ns_per_body_step": 1e9 * reply["seconds"] / steps,
                    "error": median(reply["y"]),
                    "times_NMB": reply["seconds"] / seconds,
                }
        peer.close()
    return {"rows": rows, "missing": missing}


def by_method(names, n, steps, repeats):
    rows = []
    for name in names:
        ours = Ours(name, n)
        seconds = best({name: ours}, steps, repeats)[name]
        alone = min(ours.one_by_one(max(steps, 50), 50) for _ in range(repeats))
        rows.append(
            {
                "method": name,
                "vectorised": ours.vectorised,
                "ns_per_body_step": 1e9 * seconds,
                "one_by_one": alone / seconds,
            }
        )
    return rows


def scaling(counts, threads, repeats):
    """Body-steps per second on the wall for each number of bodies and threads."""
    rows = []
    for n in counts:
        runs = {f"{count}": Ours("NMB", n, count) for count in threads}
        # a call of `ensemble` takes as many
        found = best(runs, max(8, 5_000_000 // max(n, LANES)), repeats, time.perf_counter)
        rows.append(
            {"bodies": n, **{f"{count}_threads": 1.0 / seconds for count, seconds in found.items()}}
        )
    return rows


def memory(n=100_000):
    """Bytes per body at the peak of a run that keeps the end, beside those of the state."""
    y = motions(n)
    given = dict(
        t_span=(0.0, 3 * STEP),
        step=STEP,
        method="NMB",
        rotation0=y[:, :4].copy(),
        omega0=y[:, 4:].copy(),
        threads=1,
    )
    tracemalloc.start()
    ensemble(PROBLEM.body, PROBLEM.torque(), **given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "state_bytes": 8 * build(get("NMB"), PROBLEM.torque(), PROBLEM.body).size,
        "peak_bytes": peak / n,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer bodies and repeats: a minute")
    parser.add_argument("--bodies", type=int, default=100_032)
    parser.add_argument(
        "--methods",
        default="NMB,SW,VLV,LP2,MR2-231,taylor3,taylor4,AKW",
        help="names with commas, or all",
    )
    parser.add_argument(
        "--peers", default=",".join(NEEDS), help="names with commas (default: all), or none"
    )
    parser.add_argument(
        "--venvs", default="~/.cache/polhode-peers", help="where the peers' environments are"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = (
        [entry.name for entry in everything()]
        if options.methods == "all"
        else options.methods.split(",")
    )
    n, steps, repeats = (
        (20_032, 20, 4) if options.quick else (options.bodies - options.bodies % LANES, 20, 8)
    )
    counts = [1, 100, 10_000] if options.quick else [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
    peers = [] if options.peers == "none" else options.peers.split(",")
    for name in peers:
        if name not in NEEDS:
            parser.error(f"{name!r} is not one of {', '.join(NEEDS)}")
    threads = sorted({1, default_threads()})
    memory(1000)  # compiles
    result = {
        "bodies": n,
        "head_to_head": head_to_head(n, steps, repeats),
        "peers": against_peers(peers, options.venvs, 1000 if options.quick else 10_000),
        "methods": by_method(names, 6400, steps, repeats),
        "scaling": scaling(counts, threads, repeats),
        "memory": memory(),
    }
    if options.json:
        print(json.dumps(result, indent=1))
        return
    print(f"NMB, {n} bodies, one thread{'':10s} {'ns':>9s} {'x NMB':>7s}")
    for name, row in sorted(
        result["head_to_head"].items(), key=lambda item: item[1]["ns_per_body_step"]
    ):
        print(f"{name:34s} {row['ns_per_body_step']:9.2f} {row['times_NMB']:7.2f}")
    print(f"\n{'tops to T = 10':34s} {'ns':>9s} {'x NMB':>7s}   error")
    for name, row in sorted(
        result["peers"]["rows"].items(), key=lambda item: item[1]["ns_per_body_step"]
    ):
        print(
            f"{name:34s} {row['ns_per_body_step']:9.2f} {row['times_NMB']:7.2f}   {row['error']:.1e}"
        )
    for why in result["peers"]["missing"]:
        print(f"left out: {why}")
    print(f"\n{'method':34s} {'ns':>9s} {'1 by 1':>7s}  packed")
    for row in sorted(result["methods"], key=lambda row: row["ns_per_body_step"]):
        packed = "yes" if row["vectorised"] else "no"
        print(
            f"{row['method']:34s} {row['ns_per_body_step']:9.2f} {row['one_by_one']:7.2f}  {packed}"
        )
    print(f"\n{'bodies':>10s} " + " ".join(f"{count:>3d} threads, M/s" for count in threads))
    for row in result["scaling"]:
        print(
            f"{row['bodies']:10d} "
            + " ".join(f"{row[f'{count}_threads'] / 1e6:16.2f}" for count in threads)
        )
    print(
        "\nmemory: {state_bytes} bytes of state, {peak_bytes:.0f} at the peak, for each body".format(
            **result["memory"]
        )
    )


if __name__ == "__main__":
    main()
