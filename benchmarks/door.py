"""What a user's call costs: public functions, warm, with the loop inside beside them; peers in the
same process.

    python benchmarks/door.py [--json] [--calls N] [--no-flow]
    python benchmarks/door.py --write       into RESULTS.md

Medians of N calls, in microseconds.  The slow top (T = 10) is carried to its end: by polhode's public
calls and, where they are installed, by SciPy's solve_ivp, numbalsoda's dop853 and heyoka's
propagate_until, each with the coarsest setting that meets an error of 1e-6.  "loop" is the part of
polhode's call that is spent in machine code.

Then `polhode.Flow`, called from Python and from inside numba, on the four problems of the README at
errors of 1e-3, 1e-6 and 1e-9: the quickest method for each, beside the quickest peer (numbalsoda,
heyoka, RK4 by hand in numba, SciPy), each by its public call with the coarsest setting that meets
the error.  The least time of all repeats counts, contestants in turn.

At the end come the ratios that the calls are judged by, each with its goal.
"""

import argparse
import importlib
import json
import math
import sys
import time
from pathlib import Path

import numpy as np

import polhode
from polhode import rotations, torques

sys.path.insert(0, str(Path(__file__).with_name("contestants")))
from common import Problem, timed
from contestants.board import RESULTS, between, machine, table
from contestants.ours import Ours, Task
from peers import BUDGET, LONGEST, PROBLEMS, Contestant, settings

INERTIA, START, SPIN, END = (5.0, 5.0, 1.0), (0.05, 0.0, 0.0), np.array([0.0, 0.0, 5.0]), 10.0
WEIGHT = 20.0
ASKED = 1e-6  # error of the calls on the slow top


def user_weight(t, R):
    """The same torque as a user writes it."""
    return -WEIGHT * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))


def rates(t, u):
    """The slow top as a first-order system: quaternion (scalar last) and body angular velocity."""
    x, y, z, w, a, b, c = u
    p, q = 2.0 * WEIGHT * (y * z + w * x), -2.0 * WEIGHT * (x * z - w * y)
    return (
        0.5 * (w * a + y * c - z * b),
        0.5 * (w * b + z * a - x * c),
        0.5 * (w * c + x * b - y * a),
        -0.5 * (x * a + y * b + z * c),
        (p + 4.0 * b * c) / 5.0,
        (q - 4.0 * c * a) / 5.0,
        0.0,
    )


RTOLS = tuple(10.0 ** (-k / 4) for k in range(16, 48))  # from 1e-4 on
STEPS = tuple(END / n for n in range(20, 400, 2))
BY_RTOL, BY_STEP = (
    "integrate(rtol=..., every='end')",
    "integrate(step=..., 'EXACT-RKN4', every='end')",
)
BY_USER = "integrate, by steps, torque of the user's"
ALL, ENDS = "integrate(step=0.01, 'LP2'), 1001 points", "integrate(step=0.01, 'LP2', every='end')"
MANY = "ensemble(1000 bodies, 100 steps), one thread"
NUMBALSODA = "numbalsoda dop853"


def ours():
    """{name: (call, its settings, coarse first)} of polhode's doors; call(setting) gives the attitude at the end (or
    None) and the seconds of its loop.  One setting is taken as it is."""
    body, top = polhode.RigidBody(INERTIA), torques.heavy_top(WEIGHT)
    given = {"t_span": (0.0, END), "rotation0": START, "omega0": SPIN}

    def run(torque=top, **options):
        found = polhode.integrate(body, torque, **given, **options)
        return found.quaternion[-1], found.elapsed

    many = {"omega0": np.tile(SPIN, (1000, 1)), "rotation0": START}

    def ensemble(_):
        found = polhode.ensemble(body, top, (0.0, 1.0), 0.01, "LP2", threads=1, **many)
        return None, found.elapsed

    def free(_):
        return polhode.exact.free_body(body, START, SPIN, [END]) and None, math.nan

    def by_step(torque):
        return lambda step: run(torque, step=step, method="EXACT-RKN4", every="end")

    stepper = polhode.Stepper(body, top, step=0.01, rotation0=START, omega0=SPIN)
    return {
        BY_RTOL: (lambda rtol: run(rtol=rtol, every="end"), RTOLS),
        BY_STEP: (by_step(top), STEPS),
        BY_USER: (by_step(user_weight), STEPS),
        ALL: (lambda step: run(step=step), (0.01,)),
        ENDS: (lambda step: run(step=step, every="end"), (0.01,)),
        "exact.free_body(one time)": (free, (None,)),
        MANY: (ensemble, (None,)),
        "Stepper.step()": (lambda _: (stepper.step(), math.nan), (None,)),
    }


def peers():
    """The same of what is installed beside polhode."""
    state, found = np.r_[rotations.as_quaternion(START), SPIN], {}
    from scipy.integrate import solve_ivp

    found["SciPy solve_ivp, DOP853"] = (
        lambda rtol: (
            solve_ivp(rates, (0.0, END), state, method="DOP853", rtol=rtol, atol=rtol).y[:4, -1],
            math.nan,
        ),
        RTOLS,
    )
    try:
        from numba import cfunc, njit
        from numbalsoda import dop853, lsoda_sig

        times = np.array([0.0, END])

        inner = njit(rates)

        @cfunc(lsoda_sig)
        def slopes(t, u, du, p):
            x = inner(t, (u[0], u[1], u[2], u[3], u[4], u[5], u[6]))
            for i in range(7):
                du[i] = x[i]

        found[NUMBALSODA] = (
            lambda rtol: (
                dop853(slopes.address, state, times, rtol=rtol, atol=rtol)[0][-1, :4],
                math.nan,
            ),
            RTOLS,
        )
    except ImportError:
        pass
    try:
        import heyoka

        symbols = heyoka.make_vars(*"xyzwabc")
        right = [*rates(None, symbols)[:6], heyoka.expression(0.0)]
        system, solvers = list(zip(symbols, right, strict=True)), {}

        def propagate(tol):
            if tol not in solvers:
                solvers[tol] = heyoka.taylor_adaptive(system, state.tolist(), tol=tol)
            solver = solvers[tol]
            solver.time = 0.0
            solver.state[:] = state
            solver.propagate_until(END)
            return solver.state[:4], math.nan

        found["heyoka propagate_until"] = propagate, RTOLS[::4]
    except ImportError:
        pass
    return found


# --- Flow on the problems of the README -----------------------------------------------------------

ERRORS = (1e-3, 1e-6, 1e-9)
FOUR = ("free-body", "slow-top", "coulomb-wall", "stress")
BY_FLOW = ("EXACT-RKN4", "EXACT-RKN6", "DOP853", "DOP853@rtol")
FREELY = ("EXACT", "DOP853", "DOP853@rtol")  # EXACT: the closed solution, in one step
ROUNDS = 10


def of_flow(ours, name, task):
    """A method behind Flow."""
    warm = []

    def ask(setting, budget):
        try:
            if not warm:  # the first call compiles, or loads
                warm.append(ours.through("Flow", name, setting, 0.0))
            return *ours.through("Flow", name, setting, budget), None
        except polhode.IntegrationError:  # so large a step blows up
            return math.inf, math.inf, None

    given = [1] if name == "EXACT" else settings(ours.knob(name), 3, task)
    return Contestant(name, True, given, ask)


def of_peer(name, solver, problem, task):
    """A peer in this process."""
    run = solver.prepare(problem)

    def ask(setting, budget):
        y, evaluations, seconds = timed(run, setting, budget)
        return task.error(np.asarray(y)), seconds, evaluations

    return Contestant(name, False, settings(solver.knob, solver.per_decade, task), ask)


def rivals(task):
    """The peers that are installed."""
    problem = Problem(**task.told())
    for script in ("numbalsoda", "heyoka", "numba", "scipy"):
        try:
            solvers = importlib.import_module(f"with_{script}").SOLVERS
        except ImportError:
            continue
        for name, solver in solvers.items():
            if solver.prepare is not None and "LSODA" not in name and "lsoda" not in name[-5:]:
                yield of_peer(name, solver, problem, task)


def inside(ours, name, setting):
    """Seconds of the flow called by machine code."""
    import numba

    task, (base, _, _) = ours.task.task, name.partition("@")
    chosen = {"rtol": setting} if ours.knob(name) == "rtol" else {"step": ours.task.end / setting}
    advance = polhode.Flow(task.body, task.torque, method=base, **chosen).compiled
    q, omega, end = tuple(task.motion[:4].tolist()), tuple(task.motion[4:].tolist()), ours.task.end

    @numba.njit
    def repeated(count, q, omega):
        for _ in range(count):
            _, omega_end, _ = advance(q, omega, 0.0, end)
        return omega_end

    repeated(1, q, omega)
    return timed(lambda _: (repeated(10, q, omega), None, None), None, 10 * BUDGET)[2] / 10


def flow_rows(problem):
    """A row for each error: the quickest Flow and the quickest peer."""
    task = Task(problem, PROBLEMS[problem]).know()
    ours = Ours(task)
    mine = [of_flow(ours, name, task) for name in (BY_FLOW if task.task.torque.acts else FREELY)]
    all_of_them = [*mine, *rivals(task)]
    for contestant in all_of_them:
        contestant.climb(ERRORS, LONGEST)
    for _ in range(ROUNDS):
        for error in ERRORS:
            for contestant in all_of_them:
                if contestant.answers.get(error, [0, 0, 1.0])[2] < 0.01:
                    contestant.again(error, BUDGET)
    for error in ERRORS:
        able = [one for one in all_of_them if error in one.answers]
        if len({one.ours for one in able}) < 2:  # one side has nothing to show
            continue
        best, rival = (
            min((one for one in able if one.ours is whose), key=lambda one: one.answers[error][2])
            for whose in (True, False)
        )
        setting, _, seconds, _ = best.answers[error]
        yield {
            "problem": problem,
            "error": error,
            "method": best.name,
            "flow": 1e6 * seconds,
            "inside": 1e6 * inside(ours, best.name, setting),
            "loop": 1e6 * ours.run(best.name, setting, 10 * BUDGET).seconds,
            "peer": rival.name,
            "peer_call": 1e6 * rival.answers[error][2],
            "ratio": rival.answers[error][2] / seconds,
        }


# --- the whole ------------------------------------------------------------------------------------


def coarsest(call, ladder, error):
    """The coarsest setting with which, and with the next finer one too, a call meets ASKED."""
    good = 0
    for i, setting in enumerate(ladder):
        good = good + 1 if error(call(setting)[0]) <= ASKED else 0
        if good == 2:
            return ladder[i - 1]
    return ladder[-1]


def measured(call, calls):
    """(median microseconds of a call, of its loop, the attitude at the end)."""
    attitude, _ = call()
    for _ in range(3):
        call()
    times, loops = [], []
    for _ in range(calls):
        started = time.perf_counter()
        _, loop = call()
        times.append(time.perf_counter() - started)
        loops.append(loop)
    return 1e6 * float(np.median(times)), 1e6 * float(np.median(loops)), attitude


def call_rows(calls):
    """A row for each call."""
    truth = polhode.exact.lagrange_top(INERTIA, WEIGHT, START, SPIN, [END]).rotation[0]

    def error(attitude):
        there = rotations.as_rotation(attitude / np.linalg.norm(attitude))
        return float((truth.inv() * there).magnitude())

    for name, (call, ladder) in (ours() | peers()).items():
        setting = coarsest(call, ladder, error) if len(ladder) > 1 else ladder[0]
        few = calls if "solve_ivp" not in name else max(5, calls // 20)
        whole, loop, attitude = measured(lambda call=call, setting=setting: call(setting), few)
        yield {
            "call": name,
            "setting": setting,
            "microseconds": whole,
            "loop": None if math.isnan(loop) else loop,
            "error": None if attitude is None else error(attitude),
        }


def goals(rows, flows):
    """(what is judged, its value, the goal, whether it is reached), as far as peers are installed."""
    took = {row["call"]: row["microseconds"] for row in rows}
    most = [
        (f"{call} / {NUMBALSODA}", took[call] / took[NUMBALSODA], 3.0)
        for call in (BY_RTOL, BY_STEP, BY_USER)
        if NUMBALSODA in took
    ]
    of = {row["call"]: row for row in rows}
    stored = [of[one]["microseconds"] - of[one]["loop"] for one in (ALL, ENDS)]
    most.append(("1000 stored points, microseconds", stored[0] - stored[1], 20.0))
    most.append((f"{MANY} / its steps alone", took[MANY] / of[MANY]["loop"], 1.5))
    for row in flows:
        at = f"{row['problem']} at {row['error']:.0e}"
        most.append((f"Flow / {row['peer']}, {at}", 1.0 / row["ratio"], 1.0))
        most.append((f"Flow in numba / its loop, {at}", row["inside"] / row["loop"], 1.1))
    return [
        {"goal": what, "value": value, "at_most": limit, "reached": value <= limit}
        for what, value, limit in most
    ]


def written(rows, judged):
    """The tables of RESULTS.md."""

    def cells(row):
        loop = "" if row["loop"] is None else f"{row['loop']:.1f}"
        error = "" if row["error"] is None else f"{row['error']:.0e}"
        return [row["call"], f"{row['microseconds']:.1f}", loop, error]

    verdicts = [
        [
            row["goal"],
            f"{row['value']:.2f}",
            f"{row['at_most']:g}",
            "yes" if row["reached"] else "no",
        ]
        for row in judged
    ]
    return "\n\n".join(
        (
            table(["call", "whole", "loop", "error"], map(cells, rows)),
            table(["goal", "value", "at most", "reached"], verdicts),
        )
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument(
        "--calls", type=int, default=300, help="calls of which the median is taken (300)"
    )
    parser.add_argument("--no-flow", action="store_true", help="leave out Flow and its peers")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    asked = parser.parse_args()
    rows = list(call_rows(asked.calls))
    flows = [] if asked.no_flow else [row for problem in FOUR for row in flow_rows(problem)]
    judged = goals(rows, flows)
    if asked.json:
        print(json.dumps(rows + flows + judged))
        return
    if asked.write:
        between(RESULTS, "fixed costs", f"{machine()}\n\n{written(rows, judged)}")
    print(f"{'call':<50}{'setting':>9}{'us':>10}{'loop':>10}{'error':>10}")
    for row in rows:
        setting = "" if row["setting"] is None else f"{row['setting']:.2g}"
        loop = "" if row["loop"] is None else f"{row['loop']:.1f}"
        error = "" if row["error"] is None else f"{row['error']:.0e}"
        print(f"{row['call']:<50}{setting:>9}{row['microseconds']:>10.1f}{loop:>10}{error:>10}")
    if flows:
        print(f"\n{'Flow':<14}{'error':>7}  {'method':<13}{'us':>8}{'in numba':>10}{'loop':>8}")
    for row in flows:
        print(
            f"{row['problem']:<14}{row['error']:>7.0e}  {row['method']:<13}{row['flow']:>8.1f}{row['inside']:>10.1f}"
            f"{row['loop']:>8.1f}   {row['peer']} {row['peer_call']:.1f}: {row['ratio']:.1f} times as long"
        )
    print(f"\n{'':<95}{'is':>6}{'at most':>9}")
    for row in judged:
        missed = "" if row["reached"] else "   missed"
        print(f"{row['goal']:<95}{row['value']:>6.2f}{row['at_most']:>9.1f}{missed}")


if __name__ == "__main__":
    main()
