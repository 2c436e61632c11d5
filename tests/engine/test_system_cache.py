"""A second process loads the machine code of systems and compiles nothing."""

import json
import subprocess
import sys

import pytest

from machine_code import with_cache

pytestmark = pytest.mark.compiled

SCRIPT = """
import json, sys
import numpy as np
import polhode
from machine_code import cache_statistics

def all_bodies(t, x, R):
    F, N = np.zeros((2, 3)), np.zeros((2, 3))
    F[0] = STIFFNESS * (x[1] - x[0])
    F[1] = -F[0]
    N[0] = 0.1 * np.cross(R[0][:, 2], R[1][:, 2])
    N[1] = -N[0]
    return F, N

@polhode.pair(params={"k": 2.0})
def two_bodies(r, Ri, Rj, p):
    T = 0.3 * np.cross(Ri[:, 2], Rj[:, 2])
    return p.k * r, T, -T

@polhode.pair(params={"k": 2.0}, form="tuple")
def of_tuples(r, Ri, Rj, p):
    return (p.k * r[0], p.k * r[1], p.k * r[2]), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)

def system(n, interaction):
    return polhode.System([polhode.RigidBody.box(1.0, 2.0, 0.5, mass=1.0)] * n, interaction)

def start(n):
    return {"position0": np.outer(np.arange(n), (2.5, 0.1, 0.2)), "omega0": np.tile((0.0, 1.0, 3.0), (n, 1))}

def run(n, interaction, method):
    found = polhode.integrate(system(n, interaction), t_span=(0, 0.1), step=0.01, method=method, **start(n))
    assert found.mode == "compiled"
    return found.position[-1].tolist()

def ensemble():
    two = system(2, of_tuples)
    return polhode.ensemble(two, t_span=(0, 0.1), step=0.01, method="VLV", n=20, **start(2)).position[7].tolist()

def flow():
    attitudes = np.tile((0.0, 0.0, 0.0, 1.0), (2, 1))
    carry = polhode.Flow(system(2, of_tuples), None, "VLV", step=0.01)
    return carry(attitudes, t0=0.0, t1=0.1, velocity0=np.zeros((2, 3)), **start(2)).position.tolist()

def stepper():
    one = polhode.Stepper(system(2, of_tuples), step=0.01, method="VLV", **start(2))
    one.step()
    return one.position.tolist()

CALLS = {
    "all bodies": lambda: run(2, all_bodies, "VLV"),
    "pairs": lambda: run(3, two_bodies, "EXACT"),
    "tuples in rows": lambda: run(9, of_tuples, "NMB"),
    "tolerance": lambda: run(2, of_tuples, "DOP853"),
    "ensemble": ensemble, "flow": flow, "stepper": stepper,
}
found = {name: CALLS[name]() for name in sys.argv[1:]}
print(json.dumps({**cache_statistics(), "found": found}))
"""


def process(folder, *calls, stiffness=3.0):
    """What a fresh process with its machine code in a folder compiles, loads and finds."""
    done = subprocess.run(
        [sys.executable, "-c", f"STIFFNESS = {stiffness}\n{SCRIPT}", *calls],
        env=with_cache(folder), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout)


def check(folder, *calls):
    """Two processes, of which the second compiles nothing; what the first has found."""
    first, second = (process(folder, *calls) for _ in range(2))
    assert first["compiled"] and len(list(folder.iterdir())) == first["compiled"]
    assert (second["compiled"], second["loaded"]) == (0, first["compiled"])
    assert second["found"] == first["found"]
    return first["found"]


def test_a_second_process_compiles_nothing_unless_the_function_was_edited(tmp_path):
    before = check(tmp_path, "all bodies")
    after = process(tmp_path, "all bodies", stiffness=4.0)
    assert after["compiled"] and after["found"] != before


@pytest.mark.slow
def test_all_kinds_of_runs(tmp_path):
    check(
        tmp_path,
        "all bodies",
        "pairs",
        "tuples in rows",
        "tolerance",
        "ensemble",
        "flow",
        "stepper",
    )
