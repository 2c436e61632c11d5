"""Where the time of a torque evaluation goes: what the processor waits for in the innermost loop,
and how long.

    python benchmarks/cycles.py [--problems a,b] [--cpu znver3] [--json]

For each method the machine code of its innermost loop is given to llvm-mca (Debian: llvm), a
simulator of the processor's pipelines without caches.  Columns, all for one torque evaluation:

    ns         measured: the difference of a long and a short run, so that the call itself drops out
    cycles     simulated
    at least   cycles if no instruction waited for another: how busy the busiest unit is
    waits      the share of cycles in which, in the simulation, instructions waited for results of others
    products   multiplications, fused or not; one on a whole vector counts once
    call       microseconds of a run that do not depend on its length

cycles well above `at least` mean that a chain of dependent operations takes the time, and only a
shorter chain would help; both alike mean that there is too much arithmetic.  RK4 by hand is the
peer's loop.  For the loops that choose their steps, which have branches and are not simulated, the
last table says what the choice costs in each step.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("contestants")))

import numpy as np
from contestants.common import Problem, timed
from contestants.ours import Ours, Task
from contestants.with_numba import one

from polhode.core.loops import fixed as loops
from polhode.core.jit import Build, bind
from polhode.core.closed.short_motion import further, no_further
from polhode.core.scalars import sinc_cos, sinc_cos_short

PROBLEMS = {"slow-top": 10.0, "coulomb-wall": 10.0, "stress": 100.0, "free-body": 100.0}
METHODS = ("DOP853", "EXACT-RKN4", "EXACT-RKN6")
BY_HAND = "RK4 by hand"
CONTROLLED = {"DOP853": 12, "DP5": 6}  # evaluations of a step
# the usual way through a step, without the branch for others
STRAIGHT = ((further, no_further), (sinc_cos, sinc_cos_short))
ROUNDS = 40  # passes through the loop that are simulated
BUDGET = 0.4  # seconds for the repeats of a run


# --- machine code ---------------------------------------------------------------------------------


def innermost(assembly):
    """The instructions of the largest loop that has no other in it."""
    lines = assembly.splitlines()
    place = {
        match[1]: i for i, line in enumerate(lines) if (match := re.match(r"(\.LBB\d+_\d+):", line))
    }
    jumps = [
        (place[match[1]], i)
        for i, line in enumerate(lines)
        if (match := re.match(r"\s+j\w+\s+(\.LBB\d+_\d+)", line)) and place.get(match[1], i) < i
    ]
    inner = [
        (a, b)
        for a, b in jumps
        if not any((a, b) != (c, d) and a <= c and d <= b for c, d in jumps)
    ]
    first, last = max(inner, key=lambda span: span[1] - span[0])
    code = [
        line.partition("#")[0].strip() for line in lines[first : last + 1] if line.startswith("\t")
    ]
    return [line for line in code if line and not line.startswith((".", "j", "call"))]


def simulated(code, cpu):
    """What llvm-mca says of a pass through the loop: (cycles, least cycles, share of cycles that
    wait)."""
    with tempfile.NamedTemporaryFile("w", suffix=".s") as file:
        file.write("\n".join(code) + "\n")
        file.flush()
        text = subprocess.run(
            [
                "llvm-mca",
                f"-mcpu={cpu}",
                f"-iterations={ROUNDS}",
                "-bottleneck-analysis",
                file.name,
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    number = {
        name: float(re.search(rf"{name}:\s+([\d.]+)", text)[1])
        for name in ("Total Cycles", "Block RThroughput")
    }
    waits = re.search(r"Register Dependencies \[ +([\d.]+)%", text)
    return (
        number["Total Cycles"] / ROUNDS,
        number["Block RThroughput"],
        float(waits[1]) / 100.0 if waits else 0.0,
    )


def products(code):
    return sum(bool(re.match(r"vmul|vfn?m", line)) for line in code)


def code_of_ours(ours, method):
    """The loop around a step, as `Program.march` compiles it, on its usual way."""
    program = ours.runner(method, ours.task.truth).program
    names = {**program.names, "clock": loops.even_clock}
    names = {name: value for name, value in names.items() if name in loops.march.__code__.co_names}
    state, nothing = np.zeros((program.size, 2)), np.empty((0, 7))
    # what is loaded from disk has no assembly
    with tempfile.TemporaryDirectory() as folder, fresh_cache(folder):
        march = bind(loops.march, Build(replace=STRAIGHT), **names)
        march(
            0, 1, 0, np.zeros(2), state, program.moments, program.parameters, nothing, nothing[:, 0]
        )
    return innermost(next(iter(march.inspect_asm().values())))


@contextlib.contextmanager
def fresh_cache(folder):
    """Machine code made inside is kept in the folder and nowhere else."""
    before = os.environ.get("POLHODE_CACHE_DIR")
    os.environ["POLHODE_CACHE_DIR"] = folder
    try:
        yield
    finally:
        os.environ.pop("POLHODE_CACHE_DIR")
        if before is not None:
            os.environ["POLHODE_CACHE_DIR"] = before


def code_by_hand(run):
    march = next(
        cell.cell_contents for cell in run.__closure__ if hasattr(cell.cell_contents, "inspect_asm")
    )
    return innermost(next(iter(march.inspect_asm().values())))


# --- times ----------------------------------------------------------------------------------------


def slope(short, long):
    """(nanoseconds of an evaluation, microseconds of a call) from two runs (seconds,
    evaluations)."""
    each = (long[0] - short[0]) / (long[1] - short[1])
    return 1e9 * each, 1e6 * (short[0] - each * short[1])


def of_ours(ours, method, coarse, fine):
    points = [ours.run(method, setting, BUDGET) for setting in (coarse, fine)]
    return slope(*((point.seconds, point.evaluations) for point in points))


def measured(task, steps):
    """Rows (name, ns, call, evaluations in a pass through the loop, its instructions) of one
    problem."""
    ours = Ours(task)
    for method in METHODS:
        if task.task.torque.acts or not method.startswith("EXACT"):
            stages = ours.runner(method, task.truth).program.method.torques
            yield (
                method,
                *of_ours(ours, method, steps, 10 * steps),
                stages,
                code_of_ours(ours, method),
            )
    run = one(Problem(**task.told()))
    runs = [(timed(run, n, BUDGET)[2], 4 * n) for n in (4 * steps, 40 * steps)]
    yield BY_HAND, *slope(*runs), 4, code_by_hand(run)


def control(task):
    """Nanoseconds that the choice of a step costs: {method: ns}."""
    ours, found = Ours(task), {}
    for method, stages in CONTROLLED.items():
        given, _ = of_ours(ours, method, 200, 2000)
        chosen, _ = of_ours(ours, f"{method}@rtol", 1e-3, 1e-10 if method == "DOP853" else 1e-8)
        found[method] = stages * (chosen - given)
    return found


# --- the whole ------------------------------------------------------------------------------------


def host_cpu():
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name()


def profile(name, end, cpu):
    task = Task(name, end).know()
    rows = []
    for label, ns, call, stages, code in measured(
        task, max(20, round(end * task.truth.rate / 3.0))
    ):
        row = {"method": label, "ns": ns, "call": call, "products": products(code) / stages}
        if cpu:
            cycles, least, waits = simulated(code, cpu)
            row |= {"cycles": cycles / stages, "at least": least / stages, "waits": waits}
        rows.append(row)
    return {"rows": rows, "control": control(task)}


def table(name, found):
    columns = {
        "ns": "{:.1f}",
        "cycles": "{:.0f}",
        "at least": "{:.0f}",
        "waits": "{:.0%}",
        "products": "{:.0f}",
        "call": "{:.2f}",
    }
    lines = [
        f"{name}, one torque evaluation\n",
        "| | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for row in found["rows"]:
        lines.append(
            f"| {row['method']} | "
            + " | ".join(
                form.format(row[key]) if key in row else "–" for key, form in columns.items()
            )
            + " |"
        )
    costs = ", ".join(f"{method} {ns:.0f} ns" for method, ns in found["control"].items())
    lines.append(f"\nThe choice of a step: {costs}\n")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--problems", default=",".join(PROBLEMS), help="names with commas (default: all)"
    )
    parser.add_argument(
        "--cpu", help="the processor to simulate, as LLVM names it (default: this one)"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for name in options.problems.split(","):
        if name not in PROBLEMS:
            parser.error(f"{name!r} is not one of {', '.join(PROBLEMS)}")
    cpu = (options.cpu or host_cpu()) if shutil.which("llvm-mca") else None
    if cpu is None:
        print(
            "llvm-mca is not installed (Debian: apt install llvm): no simulated columns",
            file=sys.stderr,
        )
    found = {}
    for name in options.problems.split(","):
        found[name] = profile(name, PROBLEMS[name], cpu)
        if not options.json:
            print(table(name, found[name]), flush=True)
    if options.json:
        print(json.dumps({"cpu": cpu, "problems": found}, indent=1))


if __name__ == "__main__":
    main()
