"""NUMBA_DISABLE_JIT=1 changes no bit: what runs as machine code in one process runs as the Python
it is written in in another.

Every case here is run twice, in this process and in one that does it the other way: with the JIT
where this one has none, and without where this one has it.  Whoever looks for an error with a
debugger, or measures what the tests reach, sees the same run.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from machine_code import cache_statistics, with_cache
from polhode import RigidBody, Stepper, ensemble, exact, integrate, torque, torques
from polhode.core.jit import compiling
from polhode.loads.force import weight

TOP = {"rotation0": (0.3, 0.1, -0.2), "omega0": (0.4, 1.0, -0.3)}
MOMENTS = np.array([1.0, 1.4, 1.9])
TURNED = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]])
METHODS = ["NMB", "AKW", "LP2", "VLV", "SW", "LIEMID[EA]", "RKMK4", "taylor4", "EXACT"]


@torque(frame="body", uses_omega=True, params={"drag": 0.1})
def gusts(t, R, omega, p):
    """A user's torque, on arrays."""
    return np.array([t * t, R[0, 1], 0.2]) - p.drag * omega


@torque(form="tuple", params={"when": 1.0})
def bursts(t, R, p):
    return (0.0, 0.0, 1.0 if t < p.when else float("nan"))


def motion(run):
    return [run.quaternion, run.omega]


def one(method, acting=None, body=MOMENTS, **options):
    steps = {} if "rtol" in options else {"step": 0.05}
    return motion(
        integrate(
            body,
            acting or torques.heavy_top(2.0),
            (0.0, 0.4),
            method=method,
            **steps,
            **TOP,
            **options,
        )
    )


def many(method, dtype="float64"):
    """Bodies of their own, of which some turn so far in a step that they leave the others, with
    what is measured of them."""
    rng = np.random.default_rng(1)
    run = ensemble(
        rng.uniform(1.0, 1.9, (5, 3)),
        torques.heavy_top(1.0),
        (0.0, 0.4),
        0.05,
        method,
        threads=1,
        dtype=dtype,
        rotation0=(0.3, 0.1, -0.2),
        omega0=rng.standard_normal((5, 3)) * [[1], [30], [1], [1], [1]],
        parameters={"moment": rng.uniform(0.5, 3.0, 5)},
        keep={"every": 4, "of": ["energy", "momentum_z"]},
    )
    means = [run.statistics[name].over_bodies.mean for name in run.statistics]
    return [*motion(run), *means, [failure.body for failure in run.failures]]


def failing():
    run = ensemble(
        MOMENTS,
        bursts,
        (0.0, 0.5),
        0.1,
        "LP2",
        omega0=(0.1, 1.0, 0.0),
        threads=1,
        parameters={"when": [9.0, 0.25, 9.0]},
    )
    return [*motion(run), [(failure.body, failure.step) for failure in run.failures]]


def turned():
    run = ensemble(
        [TURNED, 1.1 * TURNED],
        torques.heavy_top(2.0),
        (0.0, 0.4),
        0.05,
        "NMB",
        omega0=(0.4, 1.0, -0.3),
        threads=1,
        keep={"every": 4, "of": ["energy", "momentum_x"]},
    )
    return [*motion(run), *(run.statistics[name].over_time.max for name in run.statistics)]


def flight():
    run = integrate(
        RigidBody(MOMENTS, mass=2.0),
        None,
        (0.0, 0.4),
        0.05,
        "NMB",
        force=weight(2.0),
        position0=(1.0, 0.0, 2.0),
        velocity0=(0.5, 1.0, 3.0),
        **TOP,
    )
    return [*motion(run), run.position, run.velocity]


def steps():
    stepper = Stepper(TURNED, gusts, step=0.05, method="NMB", **TOP)
    stepper.step(7)
    return motion(stepper)


def top():
    return motion(
        exact.lagrange_top(
            [5.0, 5.0, 1.0], 20.0, (0.3, 0.0, 0.0), (0.1, 0.0, 5.0), np.linspace(0.0, 30.0, 9)
        )
    )


CASES = {
    **{f"one {method}": (lambda method=method: one(method)) for method in METHODS},
    "a symmetric body": lambda: one("EXACT", body=[2.0, 2.0, 1.0]),
    "no torque": lambda: one("LP2", torques.free()),
    "a sum of torques in the user's axes": lambda: one(
        "VLV", torques.heavy_top(2.0) + torques.damping(0.1), TURNED
    ),
    "uneven steps": lambda: motion(
        integrate(MOMENTS, torques.heavy_top(2.0), step=[0.0, 0.1, 0.15, 0.4], method="NMB", **TOP)
    ),
    "DP5 by tolerance": lambda: one("DP5", rtol=1e-7),
    "flight": flight,
    "a user's torque, step by step": steps,
    **{
        f"many {method}": (lambda method=method: many(method))
        for method in ("NMB", "LP2", "EXACT", "DMV4")
    },
    "many that fail": failing,
    "many in axes of their own": turned,
    "exact top": top,
    "exact free body": lambda: motion(exact.free_body(MOMENTS, t=np.linspace(0.0, 30.0, 9), **TOP)),
    "reference": lambda: motion(
        exact.reference(MOMENTS, [0.0, 0.5, 1.0], torque=torques.heavy_top(2.0), **TOP)
    ),
}
SINGLE = {
    f"single {method}": (lambda method=method: many(method, "float32")) for method in ("NMB", "LP2")
}


def numbers(case):
    """All numbers of a case in one array."""
    return np.concatenate(
        [np.ravel(np.asarray(part, dtype=float)) for part in {**CASES, **SINGLE}[case]()]
    )


@pytest.fixture(scope="module")
def the_other_way():
    """The numbers of all cases from a process that has the JIT where this one has not."""
    environment = with_cache(os.environ["POLHODE_CACHE_DIR"])
    environment["NUMBA_DISABLE_JIT"] = "1" if compiling() else "0"
    done = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return {
        case: np.array(list(map(float.fromhex, hexes)))
        for case, hexes in json.loads(done.stdout).items()
    }


@pytest.mark.parametrize("case", CASES)
def test_the_jit_changes_no_bit(case, the_other_way):
    np.testing.assert_array_equal(numbers(case), the_other_way[case])


def test_without_the_jit_nothing_is_compiled():
    numbers("one NMB")
    done = cache_statistics()
    assert (done["compiled"] + done["loaded"] > 0) == compiling()


@pytest.mark.parametrize("case", SINGLE)
def test_single_precision_is_single_in_both(case, the_other_way):
    """Python has no fused product and sum of float32: the last bits differ, and those of float64
    are nowhere."""
    here, there = numbers(case), the_other_way[case]
    np.testing.assert_allclose(here, there, rtol=4.0 * np.finfo(np.float32).eps, atol=1e-5)
    double = numbers(case.replace("single", "many"))
    for single in (here, there):
        assert 1e-9 < np.abs(single - double).max() < 1e-4


if __name__ == "__main__":
    print(json.dumps({case: [float(x).hex() for x in numbers(case)] for case in [*CASES, *SINGLE]}))
