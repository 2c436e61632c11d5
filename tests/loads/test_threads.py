"""The same torque in several runs at once, from threads: every run has the numbers it has alone."""

import ctypes
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import polhode
from polhode import ensemble, integrate, torques
from polhode.loads.torques import Foreign

BODY = [1.0, 2.0, 2.5]
STATE = {"k": 2.0}


def spring(t, R):
    """Stays Python: it looks into a dict, which might change."""
    return np.array([-STATE["k"] * R[2, 1], STATE["k"] * R[2, 0], 0.1 * t])


def in_machine_code():
    """A function behind a C pointer, as a compiler makes it."""
    numba = pytest.importorskip("numba")

    @numba.cfunc("void(float64, CPointer(float64), CPointer(float64))")
    def function(t, state, out):
        R, T = numba.carray(state, 12), numba.carray(out, 3)
        T[0], T[1], T[2] = -2.0 * R[7], 2.0 * R[6], 0.1 * t + 0.01 * R[11]

    return function.ctypes


@ctypes.CFUNCTYPE(
    None, ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double)
)
def by_ctypes(t, state, out):
    """A C pointer with Python behind it: threads change places in its middle."""
    out[0], out[1], out[2] = -2.0 * state[7], 2.0 * state[6], 0.1 * t + 0.01 * state[11]


TORQUES = {
    "C": lambda: Foreign(in_machine_code()),
    "C in the body frame, with another": lambda: (
        Foreign(in_machine_code(), frame="body") + torques.damping(0.1)
    ),
    "two in C": lambda: Foreign(in_machine_code()) + Foreign(by_ctypes),
    "ctypes": lambda: Foreign(by_ctypes),
    "Python": lambda: torques.torque(spring),
    "compiled": lambda: torques.heavy_top(1.0),
}


def omegas(n):
    return np.random.default_rng(1).normal(size=(n, 3))


@pytest.fixture
def impatient():
    """Threads of Python change places as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(work, tasks, threads=8):
    """work(task) for all tasks, by threads that begin together."""
    gate = threading.Barrier(threads)

    def wait_and_work(some):
        gate.wait()
        return [work(task) for task in some]

    with ThreadPoolExecutor(threads) as pool:
        done = list(pool.map(wait_and_work, [tasks[i::threads] for i in range(threads)]))
    result = [None] * len(tasks)
    for i, some in enumerate(done):
        result[i::threads] = some
    return result


def by_integrate(torque):
    return lambda omega: integrate(BODY, torque, (0.0, 2.0), 0.01, omega0=omega).motion


def by_tolerance(torque):
    return lambda omega: integrate(BODY, torque, (0.0, 2.0), rtol=1e-6, omega0=omega).motion


def by_stepper(torque):
    def follow(omega):
        stepper = polhode.Stepper(BODY, torque, step=0.01, omega0=omega)
        for _ in range(20):
            stepper.step(10)
        return stepper.quaternion

    return follow


def by_ensemble(torque):
    return lambda omega: (
        ensemble(
            BODY, torque, (0.0, 1.0), 0.02, omega0=np.outer((1.0, 2.0, 3.0), omega), threads=2
        ).omega
    )


DOORS = (by_integrate, by_tolerance, by_stepper, by_ensemble)
QUICK = {
    ("ctypes", by_integrate),
    ("ctypes", by_stepper),
    ("two in C", by_integrate),
    ("C", by_ensemble),
    ("Python", by_integrate),
    ("Python", by_ensemble),
}


@pytest.mark.parametrize(
    "kind, door",
    [
        pytest.param(kind, door, marks=() if (kind, door) in QUICK else pytest.mark.slow)
        for kind in TORQUES
        for door in DOORS
    ],
)
@pytest.mark.compiled
def test_one_torque_in_eight_threads(kind, door, impatient):
    work = door(TORQUES[kind]())
    tasks = list(omegas(16))
    alone = [work(task) for task in tasks]
    together = at_once(work, tasks)
    assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))


@pytest.mark.compiled
def test_a_torque_that_fails_in_one_run_fails_in_no_other():
    @torques.torque(uses_omega=True)
    def torque(t, R, omega):
        if STATE["k"] and t > 0.5 and omega[2] > 100.0:
            raise ValueError("too fast")
        return np.array([0.1 * R[0, 1], 0.0, 0.0])

    def work(spin):
        try:
            return integrate(BODY, torque, (0.0, 1.0), 0.01, omega0=(0.0, 0.0, spin)).status
        except polhode.TorqueError as error:
            return str(error.__cause__)

    assert at_once(work, [1.0, 200.0] * 8) == ["finished", "too fast"] * 8


@pytest.mark.compiled
def test_a_torque_called_from_threads_by_hand(impatient):
    torque = Foreign(by_ctypes)
    tasks = [np.random.default_rng(i).normal(size=(3, 3)) for i in range(64)]

    def work(R):
        return np.stack([torque(0.1, R, R[0]) for _ in range(50)])

    for R, found in zip(tasks, at_once(work, tasks), strict=True):
        assert np.array_equal(
            found, np.tile([-2.0 * R[2, 1], 2.0 * R[2, 0], 0.1 * 0.1 + 0.01 * R[0, 2]], (50, 1))
        )
