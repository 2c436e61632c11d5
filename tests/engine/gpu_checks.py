"""What must hold on a GPU, and in numba's simulator of one.  `test_cuda.py` decides which of the
two runs this.

A GPU fuses multiplications with additions and has an exponential map of its own, so that its
motions are the processor's to round-off.
"""

import math
import os

import numpy as np
import pytest
from scipy import stats

import polhode
from polhode import methods, torques
from polhode.engine._ensemble import ensemble
from polhode.engine.carriers.gpu import Gpu
from polhode.errors import InputError
from polhode.engine.program import build

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
FAMILIES = (
    "NMB",
    "NMS",
    "SW",
    "HSTAGM",
    "AKW",
    "LS",
    "LIEMID[EA]",
    "VLV",
    "LP2",
    "DMV",
    "CG4",
    "RKMK4",
    "taylor4",
    "taylor3+ep",
    "ABAM",
    "EXACT",
    "LP2+yoshida4",
)
# each is compiled for processors too, which takes its time
OF_ALL_KINDS = ("NMB", "LP2", "taylor3+ep", "ABAM")
TOP = {
    "bodies": [2.0, 3.0, 4.5],
    "torque": torques.heavy_top(3.0),
    "t_span": (0, 0.5),
    "step": 0.05,
    "n": 3,
    "rotation0": "random",
    "omega0": stats.norm(0, 1),
    "rng": 7,
}


def methods_of(names):
    return [
        name
        if name in OF_ALL_KINDS or not SIMULATED
        else pytest.param(name, marks=pytest.mark.slow)
        for name in names
    ]


def both(**changes):
    """The same ensemble on the GPU and on the processor."""
    given = {**TOP, **changes}
    return ensemble(device="cuda", **given), ensemble(**{**given, "dtype": "float64"})


def apart(one, other):
    return max(
        np.abs((one.rotation.inv() * other.rotation).magnitude()).max(),
        np.abs(one.omega - other.omega).max(),
    )


@pytest.mark.parametrize("method", methods_of(FAMILIES))
def test_the_gpu_computes_what_the_processor_computes(method):
    gpu, cpu = both(method=method)
    assert set(gpu.status) == {"finished"}
    assert apart(gpu, cpu) < 1e-13


@pytest.mark.parametrize(
    "method", methods_of(["NMB", "VLV", "LP2", "taylor4", "AKW", "taylor3+ep"])
)
def test_single_precision_is_single_precision(method):
    gpu, cpu = both(method=method, dtype="float32")
    assert set(gpu.status) == {"finished"}
    assert 1e-9 < apart(gpu, cpu) < 1e-5


def test_every_body_has_its_own_inertia_and_parameters():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(3, 3, 3)) * 0.1
    tensors = np.diag([2.0, 3.0, 4.5]) + A + A.transpose(0, 2, 1)
    gpu, cpu = both(bodies=tensors, parameters={"moment": [1.0, 2.0, 3.0]}, method="VLV")
    assert apart(gpu, cpu) < 1e-13


@pytest.mark.parametrize("form", ["array", "tuple"])
def test_a_torque_of_ones_own_runs_on_the_gpu(form):
    @polhode.torque(uses_omega=True, form=form)
    def spring(t, R, omega):
        return (-math.sin(2 * t) * R[0][1], 0.3 * R[2][0] - 0.1 * omega[1], 0.2)

    gpu, cpu = both(torque=spring, method="NMB")
    assert apart(gpu, cpu) < 1e-13
    assert apart(*both(torque=spring, method="NMB", dtype="float32")) < 1e-5


def test_steps_that_need_more_of_newton_are_taken_again():
    """At two radians a step three corrections are not enough: every body goes through `redo`."""
    gpu, cpu = both(
        torque=None, omega0=[[4.0, 1.0, -2.0]] * 3, step=0.25, t_span=(0, 1), method="NMB"
    )
    assert set(gpu.status) == {"finished"}
    assert apart(gpu, cpu) < 1e-12


@pytest.mark.parametrize("method", ["NMB", "LP2"])
def test_a_body_that_fails_is_named_and_the_others_finish(method):
    omega = np.ones((4, 3))
    omega[2] = 1e10
    gpu, cpu = both(omega0=omega, n=4, method=method)
    assert list(gpu.status) == list(cpu.status)
    assert gpu.status[2] == "failed" and gpu.status[3] == "finished"
    assert gpu.failures == cpu.failures
    keep = [0, 1, 3]
    assert np.abs(gpu.omega[keep] - cpu.omega[keep]).max() < 1e-13


def test_chunks_breaks_and_kept_motions_leave_no_trace():
    gpu, cpu = both(
        torque=torques.book_toss(0.05),
        t_span=(1.9, 2.2),
        step=0.03,
        breaks=[2.0, 2.02],
        keep=3,
        method="SW",
    )
    np.testing.assert_array_equal(gpu.times, cpu.times)
    np.testing.assert_allclose(gpu.omegas, cpu.omegas, rtol=0, atol=1e-13)


def test_statistics_are_those_of_the_processor():
    gpu, cpu = both(keep="statistics", method="LP2")
    one, other = gpu.to_xarray(), cpu.to_xarray()
    assert set(one) == set(other)
    for name in one:
        if one[name].dtype.kind == "f":
            np.testing.assert_allclose(one[name], other[name], rtol=1e-11, atol=1e-13)


def test_what_cannot_run_on_a_gpu_is_refused():
    with pytest.raises(
        InputError, match="needs a torque that can be compiled; this one is called back"
    ):
        ensemble(device="cuda", **{**TOP, "torque": lambda t, R: [0.0, 0.0 * os.getpid(), 0.0]})
    with pytest.raises(InputError, match="threads=2 is for device='cpu'"):
        ensemble(device="cuda", threads=2, **TOP)


@pytest.mark.skipif(SIMULATED, reason="the simulator has no memory of its own")
def test_more_bodies_than_fit_are_refused_with_the_number_that_fits():
    program = build(methods.get("NMB"), torques.heavy_top(20.0), polhode.RigidBody([5.0, 5.0, 1.0]))
    with pytest.raises(
        InputError, match=r"10000000000000 bodies of \d+ bytes each need .* GiB .*: \d+ bodies fit"
    ):
        Gpu(program, 10**13, program.moments, program.parameters)
