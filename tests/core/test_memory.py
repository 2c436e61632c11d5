"""What a process keeps: constants in closures compile nothing anew, and machine code is given
back."""

import gc
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import polhode
from machine_code import cache_statistics
from polhode import torques
from polhode.core import jit
from polhode.core.lift import lifted

pytestmark = pytest.mark.compiled
BODY, START = [1.0, 2.0, 3.0], {"t_span": (0, 1), "step": 0.1, "omega0": (0.5, -0.4, 0.8)}


# --- constants of closures ------------------------------------------------------------------------


def in_a_closure(k):
    def torque(t, R):
        return np.array([k * R[0, 1], 0.0, sum([k * x for x in R[0]])])

    return torque


def as_a_default(k):
    return lambda t, R, k=k: np.array([k, 0.0, R[0, 0]])


def on_tuples(k):
    @polhode.torque(form="tuple", params={"a": 2.0}, uses_omega=True, frame="body")
    def torque(t, R, omega, p):
        return (k * p.a, -omega[0], 0.0)

    return torque


def in_a_sum(k):
    return polhode.torque(in_a_closure(k), potential=lambda t, R: k * R[2, 2]) + torques.heavy_top(
        k
    )


# any potential will do here
@pytest.mark.filterwarnings("ignore:torque 'torque' is not minus the slope")
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(in_a_closure, marks=pytest.mark.slow),
        as_a_default,
        pytest.param(on_tuples, marks=pytest.mark.slow),
        in_a_sum,
    ],
)
def test_other_constants_compile_nothing(make):
    def results(k):
        run = polhode.integrate(BODY, make(k), **START | {"step": 0.01})
        stepper = polhode.Stepper(BODY, make(k), step=0.01, omega0=START["omega0"])
        stepper.step(100)
        many = polhode.ensemble(BODY, make(k), **START | {"step": 0.01})
        python = polhode.integrate(BODY, make(k), **START, compiled=False)
        same = polhode.integrate(BODY, make(k), **START)
        assert run.mode == "compiled" and np.array_equal(same.omega, python.omega)
        assert np.array_equal(run.omega[-1], stepper.omega) and np.array_equal(
            run.omega[-1], many.omega[0]
        )
        if run.torque.has_potential:
            top = torques.heavy_top(k)
            energy = [
                k * R[2, 2] + top.potential_kernel()(0.0, R, top.values)
                for R in run.matrix[[0, -1]]
            ]
            np.testing.assert_allclose(run.potential_energy[[0, -1]], energy, rtol=1e-14)
        return run.omega[-1]

    first, made = results(1.0), cache_statistics()
    others = [results(k) for k in (2.5, -3.0)]
    assert cache_statistics() == made
    assert len({tuple(one) for one in (first, *others)}) == 3


def test_a_cell_that_changes_between_runs_is_read_anew():
    def make():
        k = 1.0

        def torque(t, R):
            return np.array([k, 0.0, 0.0])

        def change(value):
            nonlocal k
            k = value

        return torque, change

    torque, change = make()
    one = polhode.integrate(BODY, torque, **START)
    made = cache_statistics()
    change(4.0)
    two = polhode.integrate(BODY, torque, **START)
    assert cache_statistics() == made and two.mode == "compiled"
    np.testing.assert_array_equal(
        two.omega, polhode.integrate(BODY, torque, **START, compiled=False).omega
    )
    assert not np.array_equal(one.omega, two.omega)


def test_a_function_whose_source_is_not_to_be_found_keeps_its_constants():
    scope = {"np": np}
    exec(
        "def make(k):\n    def torque(t, R):\n        return np.array([k, 0.0, R[0, 0]])\n    return torque",
        scope,
    )
    for k in (1.5, 2.5):
        torque = scope["make"](k)
        assert lifted(torque, 2) is None
        run = polhode.integrate(BODY, torque, **START)
        assert run.mode == "compiled"
        np.testing.assert_array_equal(
            run.omega, polhode.integrate(BODY, torque, **START, compiled=False).omega
        )


def test_what_is_lifted():
    n, word, k, m = 3, "no float", 2.0, np.float64(5.0)

    def mixed(t, R):
        return np.array([k * n, m, len(word)])

    def counting(t, R):
        nonlocal k
        k += 1.0
        return np.zeros(3)

    two = [lambda t, R: k, lambda t, R: m]
    found = lifted(mixed, 2)
    assert dict(zip(found.function.__code__.co_varnames[2:], found.values, strict=True)) == {
        "k": 2.0,
        "m": 5.0,
    }
    assert set(found.function.__code__.co_freevars) == {"n", "word"}
    np.testing.assert_array_equal(found.function(0.0, None, *found.values), mixed(0.0, None))
    assert lifted(counting, 2) is None  # it would no longer count
    assert lifted(two[0], 2) is None and lifted(two[1], 2) is None  # which of the two on that line?
    assert lifted(lambda t, R, *rest: k, 2) is None and lifted(lambda t, R: n, 2) is None
    assert lifted(lambda t, R, a=k, b=word: a, 2) is None and lifted(len, 1) is None


# --- memory ---------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(jit, "BOUND_LIMIT", 4)
    monkeypatch.setattr(jit, "_bound", {})


def test_the_least_recently_used_loops_are_dropped_and_come_back(few):
    def torque(t, R):
        return np.array([0.25 * R[0, 1], 0.0, 0.0])

    first = polhode.integrate(BODY, torque, **START)
    stepper = polhode.Stepper(BODY, torque, step=0.1, omega0=START["omega0"])
    for method in ("NMB", "SW", "VLV"):
        polhode.integrate(BODY, torque, method=method, **START)
    gc.collect()
    assert len(jit._bound) == 4
    stepper.step(10)  # what somebody holds goes on working
    np.testing.assert_array_equal(stepper.omega, first.omega[-1])
    np.testing.assert_array_equal(polhode.integrate(BODY, torque, **START).omega, first.omega)


GROWTH = """
import ctypes, gc, json, os, sys
import numpy as np
import polhode
from polhode.core import digest, jit
from polhode.engine import programs
from polhode.loads import conversion

jit.BOUND_LIMIT, jit.RECENT, digest.KEPT, programs.KEPT, conversion.KEPT = 6, 1, 20, 2, 2   # reached soon

give_back = getattr(ctypes.CDLL(None), "malloc_trim", int)   # what is free but not given back to the system depends on chance

def resident():
    gc.collect()
    give_back(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e3

def torque(i):
    scope = {"np": np}
    exec(f"def torque(t, R):\\n    return np.array([{i}.5 * R[0, 0], 0.25 * R[1, 2], 0.0])", scope)   # no source: compiled anew
    return scope["torque"]

sizes = []
for i in range(int(sys.argv[1])):
    for method in sys.argv[2].split(","):
        run = polhode.integrate([1.0, 2.0, 3.0], torque(i), (0, 1), 0.1, method=method, omega0=(0.1, 0.2, 0.3))
        assert run.mode == "compiled"
    sizes.append((len(os.listdir(os.environ["POLHODE_CACHE_DIR"])), resident()))   # a file for each loop
print(json.dumps(sizes))
"""


def growth(count, methods, folder, warm):
    """Kilobytes that the process has grown by for each loop that it has compiled, after the first
    `warm` torques."""
    environment = {**os.environ, "POLHODE_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", GROWTH, str(count), ",".join(methods)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    (before, less), *_, (after, more) = json.loads(done.stdout)[warm - 1 :]
    assert after - before >= len(methods) * (count - warm)
    return (more - less) / (after - before)


on_linux = pytest.mark.skipif(
    not os.path.exists("/proc/self/statm"), reason="resident memory is read from /proc"
)


@on_linux
def test_a_loop_that_has_been_compiled_and_dropped_leaves_little_behind(tmp_path):
    """It was 300 kB: metadata in LLVM's context, and callbacks for every function that a loop's
    modules declare."""
    assert growth(14, ["LP2"], tmp_path, warm=4) < 100


@on_linux
@pytest.mark.slow
def test_several_torques_with_every_method(tmp_path):
    """Eight minutes of one core.  The first two torques compile what all share, and fill the room
    for loops that are kept."""
    methods = [one.name for one in polhode.methods.everything()]
    assert growth(4, methods, tmp_path, warm=2) < 100
