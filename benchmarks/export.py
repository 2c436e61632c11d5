"""Exported C beside NMB and LP2 written by hand (nmb_top.c, lp2_top.c) and polhode's own machine code:
nanoseconds per step of the slow top, endpoint only, the least of many runs.

    python benchmarks/export.py
"""

import ctypes
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import polhode
from polhode import problems
from polhode.exports.module import identifier
from polhode.rotations import as_quaternion

STEPS, ROUNDS = 20_000, 200
TOP = problems.get("slow-top")
FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC"]
MANY = """
void many(long n, double h, const double I[3], double q[4], double Om[3]) {{
    {name}_body body = {name}_make_body(({name}_vec3){{I[0], I[1], I[2]}});
    {name}_state s;
    {name}_start(&s, h, 0.0, ({name}_vec4){{q[0], q[1], q[2], q[3]}}, ({name}_vec3){{Om[0], Om[1], Om[2]}}, &body);
    for (long k = 0; k < n; k++) {{ {name}_step(&s, h, (double)k * h, &body); }}
    q[0] = s.q.x; q[1] = s.q.y; q[2] = s.q.z; q[3] = s.q.w;
}}
"""


def library(path, *flags):
    """A shared library of a file of C."""
    made = f"{path}.so"
    subprocess.run(["gcc", *FLAGS, *flags, "-o", made, str(path), "-lm"], check=True)
    return ctypes.CDLL(made)


def array(*numbers):
    return (ctypes.c_double * len(numbers))(*numbers)


def least(run):
    """Nanoseconds per step: the fastest of many runs."""
    found = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        run()
        found.append(time.perf_counter() - begin)
    return min(found) / STEPS * 1e9


def exported(name, folder):
    """A run of an exported method."""
    path = Path(folder, f"{identifier(name)}.c")
    text = polhode.export(name, "c", torque="heavy_top", body=TOP.body)
    path.write_text(text + MANY.format(name=path.stem))
    many = library(path, "-std=c99", "-ffp-contract=off").many
    h, I, q0 = (
        ctypes.c_double(0.01),
        array(*TOP.body.moments),
        as_quaternion(TOP.rotation0, False, "q"),
    )
    return lambda: many(ctypes.c_long(STEPS), h, I, array(*q0), array(*TOP.omega0))


def by_hand(name, folder):
    """A run of a method written by hand."""
    path = Path(folder, f"{name.lower()}_top.c")
    path.write_bytes(Path(__file__).with_name(path.name).read_bytes())
    many = getattr(library(path), path.stem)
    h, I, moment = ctypes.c_double(0.01), array(*TOP.body.moments), ctypes.c_double(20.0)
    q0 = as_quaternion(TOP.rotation0, False, "q")
    return lambda: many(
        ctypes.c_long(STEPS), h, I, moment, array(*q0), array(*TOP.omega0), array(0.0, 0.0, 0.0)
    )  # fmt: skip


def own(name):
    """A run of polhode's machine code."""
    flow = polhode.Flow(TOP.body, TOP.torque(), name, step=0.01)
    start, end = np.asarray(TOP.rotation0), 0.01 * STEPS
    return lambda: flow(start, TOP.omega0, 0.0, end)


def main():
    with tempfile.TemporaryDirectory() as folder:
        hand = {name: least(by_hand(name, folder)) for name in ("NMB", "LP2")}
        for name, took in hand.items():
            print(f"{name} by hand {took:.1f} ns per step")
        for name in ("NMB", "LP2", "EXACT", "VLV", "SW", "EXACT-RKN4", "DOP853"):
            ours, theirs = least(exported(name, folder)), least(own(name))
            print(
                f"{name:11} exported {ours:7.1f}   polhode {theirs:7.1f}   {ours / theirs:.2f}",
                end="",
            )
            print(f"   {ours / hand[name]:.2f} of {name} by hand" if name in hand else "")


if __name__ == "__main__":
    main()
