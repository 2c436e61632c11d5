"""Didymos and Dimorphos given to what users would pick instead: time to reach an error.

    python benchmarks/systems.py [--peers PYTHON] [--days 10] [--repeats 7]
    python benchmarks/systems.py --momenta

PYTHON is that of an environment with heyoka and numbalsoda; this script runs itself there, in turn
with ours, so that all are timed on the same machine in the same minutes.  The error is that of the
relative position at the end, over the distance, or of the attitudes, whichever is largest; the
reference is EXACT-RKN6 with a short step, and heyoka must agree with it.  Ours is timed by calls of a
prepared `polhode.Flow`, and as the loop alone of `polhode.integrate(..., every="end")`.  The peers get the
equations of the relative motion, 20 numbers in place of our 26, and compile before they are timed.

--momenta follows two boxes that tumble around each other for a million steps: what becomes of their momenta.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from typing import ClassVar

import numpy as np

ERRORS = (1e-6, 1e-9, 1e-11)
G = 6.67408e-11
MASSES = (5.2294178707036884e11, 4.8429638900586843e9)
MOMENTS = (
    (3.1348424975008636e16, 3.1920248302583308e16, 3.2790416201495100e16),
    (1.0438985934293971e13, 1.4689757387650045e13, 1.6572197488200174e13),
)
# relative position and velocity, then attitude and angular velocity of each body
START = [1180.0, 0, 0, 0, 0.17277588232829763, 0]
START += [0, 0, 0, 1.0, 0, 0, 7.7226958052846407e-4, 0, 0, 0, 1.0, 0, 0, 1.488075e-4]


def slope(y, sqrt):
    """The equations of motion, for numbers and for symbols."""
    r, v = y[:3], y[3:6]
    d2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    u = 1.0 / sqrt(d2)
    u2 = u * u
    n = [x * u for x in r]
    m, total = MASSES[0] * MASSES[1], MASSES[0] + MASSES[1]
    pull = [-G * total * u2 * x for x in n]
    out = []
    for k in (0, 1):
        a, b, c, d, w0, w1, w2 = y[6 + 7 * k : 13 + 7 * k]
        I, M = MOMENTS[k], MASSES[1 - k]
        R = (
            (1.0 - 2.0 * (b * b + c * c), 2.0 * (a * b - c * d), 2.0 * (a * c + b * d)),
            (2.0 * (a * b + c * d), 1.0 - 2.0 * (a * a + c * c), 2.0 * (b * c - a * d)),
            (2.0 * (a * c - b * d), 2.0 * (b * c + a * d), 1.0 - 2.0 * (a * a + b * b)),
        )
        N = [R[0][i] * n[0] + R[1][i] * n[1] + R[2][i] * n[2] for i in range(3)]
        J = [I[i] * N[i] for i in range(3)]
        along = N[0] * J[0] + N[1] * J[1] + N[2] * J[2]
        g = 1.5 * G * M * u2 * u2 * total / m
        e = I[0] + I[1] + I[2] - 5.0 * along
        for i in range(3):
            turned = R[i][0] * J[0] + R[i][1] * J[1] + R[i][2] * J[2]
            pull[i] = pull[i] - g * (e * n[i] + 2.0 * turned)
        t = 3.0 * G * M * u2 * u
        out += [0.5 * (d * w0 + b * w2 - c * w1), 0.5 * (d * w1 + c * w0 - a * w2)]
        out += [0.5 * (d * w2 + a * w1 - b * w0), -0.5 * (a * w0 + b * w1 + c * w2)]
        out += [
            (t * (N[1] * J[2] - N[2] * J[1]) + (I[1] - I[2]) * w1 * w2) / I[0],
            (t * (N[2] * J[0] - N[0] * J[2]) + (I[2] - I[0]) * w2 * w0) / I[1],
            (t * (N[0] * J[1] - N[1] * J[0]) + (I[0] - I[1]) * w0 * w1) / I[2],
        ]
    return [*v, *pull, *out]


# --- peers, in their own environment --------------------------------------------------------------


def heyoka_runner(end):
    import heyoka

    names = heyoka.make_vars(*(f"y{i}" for i in range(20)))
    system = list(zip(names, slope(list(names), lambda x: heyoka.sqrt(x)), strict=True))
    made = {}

    def run(tol):
        if tol not in made:
            made[tol] = heyoka.taylor_adaptive(system, START, tol=tol)
        it = made[tol]
        it.time, it.state[:] = 0.0, START
        started = time.perf_counter()
        it.propagate_until(end)
        return it.state.tolist(), time.perf_counter() - started

    return run


def numbalsoda_runner(end):
    import numba
    from numbalsoda import dop853, lsoda_sig

    source = unrolled()
    scope = {"sqrt": math.sqrt}
    exec(source, scope)  # our own text
    plain = numba.cfunc(lsoda_sig)(scope["rhs"])
    y0, times = np.array(START), np.array([0.0, end])

    def run(tol):
        started = time.perf_counter()
        y, fine = dop853(plain.address, y0, times, rtol=tol, atol=tol * 1e-4, mxstep=10**7)
        took = time.perf_counter() - started
        return (y[-1] if fine else y[-1] * np.nan).tolist(), took

    run(1e-3)
    return run


class Text:
    """A number as source text, so that `slope` writes its own straight-line code."""

    lines: ClassVar[list] = []

    def __init__(self, text):
        self.text = f"v{len(self.lines)}"
        self.lines.append(f"    {self.text} = {text}")

    @staticmethod
    def of(x):
        return x.text if isinstance(x, Text) else repr(x)


def _operator(symbol):
    def forward(a, b):
        return Text(f"{Text.of(a)} {symbol} {Text.of(b)}")

    return forward, lambda a, b: forward(b, a)


for _name, _symbol in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/")):
    _there, _back = _operator(_symbol)
    setattr(Text, f"__{_name}__", _there)
    setattr(Text, f"__r{_name}__", _back)
Text.__neg__ = lambda a: Text(f"-{a.text}")


def unrolled():
    Text.lines.clear()
    y = [Text(f"y[{i}]") for i in range(20)]
    out = slope(y, lambda x: Text(f"sqrt({x.text})"))
    found = [f"    dy[{i}] = {Text.of(one)}" for i, one in enumerate(out)]
    return "\n".join(["def rhs(t, y, dy, p):", *Text.lines, *found])


TOLERANCES = [10.0 ** (-k / 2) for k in range(10, 32)]
PEERS = {"heyoka": heyoka_runner, "numbalsoda dop853": numbalsoda_runner}


def serve(end, repeats):
    found = {}
    for name, make in PEERS.items():
        run = make(end)
        rows = []
        for tol in TOLERANCES:
            state, took = run(tol)
            took = min([took, *(run(tol)[1] for _ in range(repeats))])
            rows.append([tol, state, took])
        found[name] = rows
    print(json.dumps(found))


# --- ours -----------------------------------------------------------------------------------------

OURS = {
    "EXACT-RKN4": [1600.0 / 2 ** (k / 2) for k in range(12)],
    "EXACT-RKN6": [3200.0 / 2 ** (k / 2) for k in range(11)],
    "EXACT-RKN6-14": [3200.0 / 2 ** (k / 2) for k in range(9)],
    "MR2-BM6": [1600.0 / 2 ** (k / 2) for k in range(9)],
    "GAUSS16": [10800.0 / 2 ** (k / 6) for k in range(16)],
    "DOP853": TOLERANCES[:18],
}


def relative(run):
    x, v, q, w = (
        getattr(run, name)[-1] for name in ("position", "velocity", "quaternion", "omega")
    )
    return np.concatenate([x[1] - x[0], v[1] - v[0], q[0], w[0], q[1], w[1]])


def error(state, exact):
    state = np.asarray(state)
    found = [np.linalg.norm(state[:3] - exact[:3]) / np.linalg.norm(exact[:3])]
    for at in (slice(6, 10), slice(13, 17)):
        found.append(min(np.linalg.norm(state[at] - s * exact[at]) for s in (1.0, -1.0)))
    return max(found)


def ours(end, repeats):
    import polhode

    problem = polhode.problems.didymos()
    exact = relative(problem.integrate("EXACT-RKN6", 50.0, (0.0, end), every="end"))
    start = {"position0": problem.position0, "velocity0": problem.velocity0}
    found = {}
    for method, settings in OURS.items():
        rows = []
        for one in settings:
            given = {"rtol": one} if method == "DOP853" else {"step": end / round(end / one)}
            run = problem.integrate(method, t_span=(0.0, end), every="end", **given)
            flow = polhode.Flow(problem.system, None, method, **given)
            at = (problem.rotation0, problem.omega0, 0.0, end)
            flow(*at, **start)
            prepared, loop = math.inf, run.elapsed
            for _ in range(1 + repeats):
                started = time.perf_counter()
                flow(*at, **start)
                prepared = min(prepared, time.perf_counter() - started)
                run = problem.integrate(method, t_span=(0.0, end), every="end", **given)
                loop = min(loop, run.elapsed)
            rows.append([one, relative(run).tolist(), prepared, loop])
        found[method] = rows
    return exact, found


def answer(rows, exact, goal, column):
    """The least time of a setting from which on all finer ones meet the error."""
    good = []
    for row in reversed(rows):
        if error(row[1], exact) > goal:
            break
        good.append(row[column])
    return min(good, default=math.nan)


# --- momenta --------------------------------------------------------------------------------------

LONG_RUNS = {"VLV": 0.02, "LP2": 0.02, "EXACT": 0.02, "EXACT-RKN4": 0.05, "GAUSS16": 0.4}
COUNT = 10**6


def momenta():
    import polhode

    bodies = [
        polhode.RigidBody.box(1, 0.8, 0.5, mass=2.0),
        polhode.RigidBody.box(0.6, 0.5, 0.4, mass=1.0),
    ]
    pair = polhode.System(bodies, polhode.interactions.gravity(bodies, G=1.0))
    start = {
        "position0": [(-2 / 3, 0, 0.1), (4 / 3, 0, -0.2)],
        "velocity0": [(0, -0.4, 0), (0, 0.8, 0)],
        "omega0": [(0.3, 0.2, 1.0), (0.5, -0.4, 0.7)],
    }
    print(f"{COUNT:.0e} steps: largest change of momentum, angular momentum and energy, relative")
    for method, h in LONG_RUNS.items():
        span = 0.0, COUNT * h
        run = polhode.integrate(
            pair, t_span=span, step=h, method=method, every=COUNT // 100, **start
        )
        P, L, E = run.linear_momentum, run.angular_momentum, run.total_energy
        size = run.body.masses[0] * np.linalg.norm(run.velocity[0, 0])
        changes = (
            np.abs(P - P[0]).max() / size,
            np.abs(L - L[0]).max() / np.linalg.norm(L[0]),
            np.abs(E / E[0] - 1.0).max(),
        )
        print(f"{method:<12} h = {h:<5}", *(f"{one:8.1e}" for one in changes))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers")
    parser.add_argument("--days", type=float, default=10.0)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--momenta", action="store_true")
    given = parser.parse_args()
    if given.momenta:
        momenta()
        return
    end = given.days * 86400.0
    if given.serve:
        serve(end, given.repeats)
        return
    peers = {}
    if given.peers:
        command = [given.peers, __file__, "--serve", "--days", str(given.days)]
        command += ["--repeats", str(given.repeats)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        peers = json.loads(text.splitlines()[-1])
    exact, mine = ours(end, given.repeats)
    for name, rows in peers.items():
        best = min(error(row[1], exact) for row in rows)
        print(f"{name} and the reference differ by {best:.1e}")
    print(f"milliseconds for {given.days:g} days to an error of", *(f"{e:8.0e}" for e in ERRORS))
    table = {
        f"{name} ({what})": [answer(rows, exact, e, c) for e in ERRORS]
        for name, rows in mine.items()
        for c, what in ((2, "Flow"), (3, "integrate, loop"))
    }
    others = {name: [answer(rows, exact, e, 2) for e in ERRORS] for name, rows in peers.items()}
    for name, times in {**table, **others}.items():
        print(f"{name:<36}", *(f"{1e3 * t:8.2f}" for t in times))
    for what in ("Flow", "loop"):
        best = [
            np.nanmin([row[i] for name, row in table.items() if what in name])
            for i in range(len(ERRORS))
        ]
        for name, times in others.items():
            print(
                f"{name} / ours, {what}:",
                *(f"{t / b:6.2f}" for t, b in zip(times, best, strict=True)),
            )


if __name__ == "__main__":
    sys.exit(main())
