"""What must hold on a GPU, and in numba's simulator of one.  `test_cuda.py` decides which of the
two runs this.

A GPU fuses multiplications with additions and has an exponential map of its own, so that its
motions are the processor's to round-off.
"""

import math
import os
import warnings

import numpy as np
import pytest
from scipy import stats

import polhode
from polhode import RigidBody, Rotor, methods, torques
from polhode.core.loops import cuda
from polhode.engine._ensemble import ensemble
from polhode.engine.carriers.gpu import Gpu
from polhode.errors import InputError
from polhode.loads.force import Force
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


def test_vectors_and_matrices_that_a_function_gets_as_arrays():
    """Of the motion, and of the parameters."""

    @polhode.torque(
        uses_omega=True,
        uses_position=True,
        params={"arm": (0.1, 0.2, -0.3), "twist": 0.1 * np.eye(3)},
    )
    def pulled(t, R, omega, x, v, p):
        return (
            p.arm[0] * x[1] - 0.2 * omega[1] * R[2][0],
            p.arm[1] * v[2] + p.twist[1, 1] * omega[0],
            p.arm[2] * x[0] + p.twist[2, 0] * R[0, 1],
        )

    given = {name: FLIGHT[name] for name in ("position0", "velocity0")}
    gpu, cpu = both(torque=pulled, method="LP2", parameters={"arm": np.eye(3)}, **given)
    assert set(gpu.status) == {"finished"} and apart(gpu, cpu) < 1e-13

    @polhode.torque(params={"coefficients": (0.1, 0.2)})
    def series(t, R, p):
        return (p.coefficients[0] * R[0, 0], 0.0, p.coefficients[1])

    with pytest.raises(InputError, match=r"'coefficients' of torque 'series' has shape \(2,\)"):
        both(torque=series)


@polhode.torque(uses_position=True, form="tuple")
def twisted_by_place(t, R, x, v):
    return (0.3 * x[1] * R[2][0], -0.3 * x[0], 0.1 * v[2])


def pulled_to_origin(t, x, v, R, p):
    return (-p.c * x[0] - 0.1 * v[0], -p.c * x[1], 0.2 * R[0, 0] - p.c * x[2])


FLIGHT = {
    "torque": twisted_by_place,
    "force": Force(pulled_to_origin, params={"c": 2.0}),
    "position0": np.arange(9.0).reshape(3, 3),
    "velocity0": stats.norm(0, 1),
    "mass": [1.0, 2.0, 3.0],
    "parameters": {"c": [2.0, 3.0, 4.0]},
}


@pytest.mark.parametrize("method", methods_of(["NMB", "LP2", "EXACT-RKN4", "DOP853"]))
def test_bodies_that_fly(method):
    gpu, cpu = both(method=method, **FLIGHT)
    assert set(gpu.status) == {"finished"} and apart(gpu, cpu) < 1e-13
    for part in ("position", "velocity"):
        assert np.abs(getattr(gpu, part) - getattr(cpu, part)).max() < 1e-13
        assert np.array_equal(getattr(gpu.on_device, part).copy_to_host(), getattr(gpu, part))
    single, _ = both(method=method, dtype="float32", **FLIGHT)
    assert 0.0 < np.abs(single.position - cpu.position).max() < 1e-4


def swing(t):
    return 0.3 * math.cos(2.0 * t)


def braked(t, R, omega, speed):
    return -0.2 * omega[1] * R[2][2] - 0.01 * speed


ROTORS = [
    Rotor((0, 0.6, 0.8), 0.1, momentum=3.0),
    Rotor((1, 1, 0), 0.1, speed=30.0),
    Rotor((1, 0, 1), 0.2, torque=swing, damping=0.1),
    Rotor((0, 1, 1), 0.1, torque=braked),
]
SPINNING = RigidBody([[2.0, 0.1, 0.0], [0.1, 3.0, 0.05], [0.0, 0.05, 4.5]], rotors=ROTORS)
DIFFERENT = [  # each with its own inertia and rotors
    RigidBody(
        SPINNING.inertia + 0.1 * k * np.eye(3),
        rotors=[ROTORS[2], Rotor((k, 1, 0), 0.05 + 0.02 * k, torque=0.3 * k, speed=9.0 - k)],
    )
    for k in range(3)
]


@pytest.mark.parametrize("method", methods_of(["LP2", "EXACT-RKN4", "DOP853"]))
@pytest.mark.parametrize("flying", [FLIGHT, pytest.param({}, marks=pytest.mark.slow)])
def test_bodies_with_rotors(method, flying):
    speeds = np.arange(12.0).reshape(3, 4)
    for given in ({"bodies": SPINNING, "rotor_speeds0": speeds}, {"bodies": DIFFERENT}):
        gpu, cpu = both(method=method, **given, **flying)
        assert set(gpu.status) == {"finished"} and apart(gpu, cpu) < 1e-13
        assert np.abs(gpu.rotor_speeds - cpu.rotor_speeds).max() < 1e-12
        there = gpu.on_device.rotor_speeds.copy_to_host()
        assert np.array_equal(there, gpu.rotor_speeds)
        assert np.allclose(gpu.momentum, cpu.momentum, rtol=0.0, atol=1e-12)
    single, _ = both(method=method, dtype="float32", bodies=SPINNING, **flying)
    double, _ = both(method=method, bodies=SPINNING, **flying)
    assert 1e-9 < apart(single, double) < 1e-4
    assert 0.0 < np.abs(single.rotor_speeds - double.rotor_speeds).max() < 1e-3


def test_a_motor_that_runs_as_python_is_refused():
    body = RigidBody([2.0, 3.0, 4.5], rotors=[Rotor((0, 0, 1), 0.1, torque=lambda t: os.getpid())])
    with pytest.raises(InputError, match=r"torque of a rotor .* is called back"):
        ensemble(device="cuda", **{**TOP, "bodies": body, "method": "LP2"})


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


# --- arrays that lie on the GPU -------------------------------------------------------------------


class ByInterface:
    """An array on the GPU as CuPy, PyTorch and numba tell of it; in the simulator its memory is the
    host's."""

    def __init__(self, numbers, **changes):
        self.numbers, self.changes = numbers, changes
        if not SIMULATED:
            from numba import cuda

            self.numbers = cuda.to_device(numbers)

    @property
    def __cuda_array_interface__(self):
        told = (
            self.numbers.__array_interface__ if SIMULATED else self.numbers.__cuda_array_interface__
        )
        return {**told, **self.changes}


class ByDlpack:
    """The same by DLPack alone."""

    def __init__(self, numbers, place=(2, 0)):
        self.numbers, self.place = numbers, place

    def __dlpack__(self, stream=None):
        return self.numbers.__dlpack__()

    def __dlpack_device__(self):
        return self.place


def of_each_its_own(n=4):
    """Arguments of an ensemble of which every body has its own."""
    rng = np.random.default_rng(5)
    q = rng.normal(size=(n, 4))
    return {
        "bodies": np.array([2.0, 3.0, 4.5]) + 0.1 * rng.random((n, 3)),
        "rotation0": q / np.linalg.norm(q, axis=1)[:, None],
        "omega0": rng.normal(size=(n, 3)),
        "parameters": {"moment": rng.uniform(1, 3, n)},
    }


def on_gpu(there, dtype="float64", momentum=False, **options):
    """The ensemble of these arguments, each handed over by `there(array)`."""
    given = of_each_its_own()
    parameters = {name: there(one.astype(dtype)) for name, one in given.pop("parameters").items()}
    given = {name: there(one.astype(dtype)) for name, one in given.items()}
    if momentum:
        given["momentum0"] = given.pop("omega0")
    return ensemble(
        given.pop("bodies"),
        torques.heavy_top(3.0),
        (0, 0.2),
        0.05,
        "LP2",
        parameters=parameters,
        **given,
        **options,
    )


THERE = [
    ByInterface,
    pytest.param(
        ByDlpack, marks=pytest.mark.skipif(not SIMULATED, reason="hands over the host's memory")
    ),
]


@pytest.mark.parametrize("there", THERE)
@pytest.mark.parametrize("momentum", [False, True])
def test_arrays_that_lie_on_the_gpu_are_read_there(there, momentum):
    gpu, cpu = (
        on_gpu(there, device="cuda", momentum=momentum),
        on_gpu(np.asarray, momentum=momentum),
    )
    assert apart(gpu, cpu) < 1e-13
    np.testing.assert_allclose(gpu.energy, cpu.energy, rtol=1e-13)
    np.testing.assert_array_equal(gpu.parameters["moment"], cpu.parameters["moment"])
    np.testing.assert_array_equal(gpu.bodies.moments, cpu.bodies.moments)
    assert apart(on_gpu(there, "float32", device="cuda", momentum=momentum), cpu) < 1e-5


def test_results_stay_on_the_gpu_until_they_are_read():
    gpu = on_gpu(ByInterface, device="cuda")
    assert not isinstance(gpu._motions, np.ndarray)
    there = gpu.on_device
    np.testing.assert_array_equal(there.quaternion.copy_to_host(), gpu.quaternion)
    np.testing.assert_array_equal(there.omega.copy_to_host(), gpu.omega)
    assert np.linalg.norm(gpu.quaternion, axis=1) == pytest.approx(1.0)


def by_torch(numbers):
    return pytest.importorskip("torch").as_tensor(numbers, device="cuda")


def by_jax(numbers):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.dlpack.from_dlpack(by_cupy(numbers))


def by_cupy(numbers):
    return pytest.importorskip("cupy").asarray(numbers)


@pytest.mark.skipif(SIMULATED, reason="the libraries need a GPU")
@pytest.mark.parametrize("there", [by_cupy, by_torch, by_jax])
def test_arrays_come_from_and_go_to_other_libraries(there):
    gpu, cpu = on_gpu(there, device="cuda"), on_gpu(np.asarray)
    assert apart(gpu, cpu) < 1e-13
    assert there(gpu.on_device.omega).tolist() == gpu.omega.tolist()


def test_places_that_lie_on_the_gpu_are_read():
    lying = {name: np.asarray(FLIGHT[name], dtype=float) for name in ("position0", "mass")}
    lying = {name: ByInterface(rows) for name, rows in lying.items()}
    gpu, other = (
        ensemble(device="cuda", **{**TOP, "method": "LP2", **FLIGHT, **there})
        for there in (lying, {})
    )
    np.testing.assert_array_equal(gpu.position, other.position)


def test_in_axes_of_their_own_bodies_go_through_the_host():
    tensor = np.diag([2.0, 3.0, 4.5]) + 0.1
    omega = np.random.default_rng(1).normal(size=(3, 3))
    gpu, cpu = both(bodies=tensor, omega0=omega, method="LP2")
    given = {**TOP, "bodies": ByInterface(tensor), "omega0": ByInterface(omega), "method": "LP2"}
    there = ensemble(device="cuda", **given)
    assert apart(gpu, cpu) < 1e-13 and apart(there, cpu) < 1e-13
    np.testing.assert_array_equal(gpu.on_device.omega.copy_to_host(), gpu.omega)


@pytest.mark.parametrize(
    "what, change, message",
    [
        ("omega0", lambda a: a[:, :2].copy(), r"omega0 must be three numbers.*got shape \(4, 2\)"),
        ("omega0", lambda a: a[:3].copy(), "bodies is for 4 bodies and omega0 for 3"),
        ("omega0", lambda a: 1e30 * a, "omega0 must be at most 1e\\+25 in size"),
        ("rotation0", lambda a: 2.0 * a, r"rotation0\[0\]: rotation must be a unit quaternion"),
        ("bodies", lambda a: a * [1, 1, 9], "body 0: "),
        ("bodies", lambda a: -a, "body 0: "),
        ("moment", lambda a: np.nan * a, "parameter 'moment' must be finite"),
        (
            "omega0",
            lambda a: a.astype(int),
            "omega0 must be an array of float64 or float32 on the GPU.*int64",
        ),
        ("omega0", lambda a: a[:0], r"not empty, got float64 of shape \(0, 3\)"),
    ],
)
def test_bad_arrays_on_the_gpu_are_refused_as_those_of_the_host_are(what, change, message):
    given = of_each_its_own()
    given.update(given.pop("parameters"))
    given = {name: ByInterface(change(one) if name == what else one) for name, one in given.items()}
    given["parameters"] = {"moment": given.pop("moment")}
    with pytest.raises(InputError, match=message):
        ensemble(torque=torques.heavy_top(3.0), t_span=(0, 1), step=0.1, device="cuda", **given)


def test_an_array_on_another_gpu_is_refused():
    with pytest.raises(InputError, match="omega0 lies on GPU 7, and the run is on GPU 0; copy it"):
        both(omega0=ByDlpack(np.ones((3, 3)), (2, 7)))


def test_a_body_without_numbers_is_named_and_the_others_finish():
    omega = np.ones((4, 3))
    omega[2] = np.nan
    gpu = ensemble(device="cuda", **{**TOP, "omega0": ByInterface(omega), "n": 4})
    cpu = ensemble(**{**TOP, "omega0": omega, "n": 4})
    assert gpu.failures == cpu.failures and len(cpu.failures) == 1


def test_no_warning_of_numba_is_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both(method="LP2")


def test_a_run_found_again_launches_the_same_kernels(monkeypatch):
    given = {**TOP, "device": "cuda", "method": "LP2"}
    ensemble(**given)
    monkeypatch.setattr(cuda, "kernel", None)  # what is bound is not looked for again
    assert ensemble(**given).success


def test_what_cannot_run_on_a_gpu_is_refused():
    with pytest.raises(
        InputError, match=r"needs torques and forces that can be compiled; torque .* is called back"
    ):
        ensemble(device="cuda", **{**TOP, "torque": lambda t, R: [0.0, 0.0 * os.getpid(), 0.0]})
    with pytest.raises(InputError, match=r"that can be compiled; force .* is called back"):
        ensemble(
            device="cuda", **{**TOP, "force": lambda t, x, v, R: [0.0, 0.0 * os.getpid(), 0.0]}
        )
    with pytest.raises(InputError, match="threads=2 is for device='cpu'"):
        ensemble(device="cuda", threads=2, **TOP)


@pytest.mark.skipif(SIMULATED, reason="the simulator has no memory of its own")
def test_more_bodies_than_fit_are_refused_with_the_number_that_fits():
    program = build(methods.get("NMB"), torques.heavy_top(20.0), polhode.RigidBody([5.0, 5.0, 1.0]))
    with pytest.raises(
        InputError, match=r"10000000000000 bodies of \d+ bytes each need .* GiB .*: \d+ bodies fit"
    ):
        Gpu(program, 10**13, program.moments, program.parameters)


def pull(r, A, B, p):
    """Attraction of the centres, and of the third axes to each other."""
    k = p.G / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    a, b = (A[0][2], A[1][2], A[2][2]), (B[0][2], B[1][2], B[2][2])
    T = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    T = (p.c * T[0], p.c * T[1], p.c * T[2])
    return (k * r[0], k * r[1], k * r[2]), T, (-T[0], -T[1], -T[2])


@pytest.mark.parametrize("method", methods_of(["LP2", "EXACT-RKN4"]))
def test_systems_of_bodies(method):
    bodies = [RigidBody.box(1, 2, 3, mass=3.0), RigidBody.box(1, 1.5, 2.2, mass=2.0)]
    given = {
        "bodies": polhode.System(
            bodies, polhode.Pair(pull, params={"G": 1.5, "c": 0.4}, form="tuple")
        ),
        "t_span": (0, 0.1 if SIMULATED else 1),
        "step": 0.01,
        "method": method,
        "omega0": np.random.default_rng(3).normal(size=(3, 2, 3)),
        "position0": [[-2.0, 0.0, 0.1], [3.0, 0.1, 0.0]],
        "velocity0": [[0.0, -0.3, 0.0], [0.0, 0.4, 0.1]],
        "parameters": {"G": [1.0, 1.5, 2.0]},
    }
    gpu, cpu = ensemble(device="cuda", **given), ensemble(**given)
    single = ensemble(device="cuda", dtype="float32", **given)
    assert set(gpu.status) == {"finished"}
    for part in ("quaternion", "omega", "position", "velocity"):
        there, here, coarse = (getattr(one, part) for one in (gpu, cpu, single))
        assert np.abs(there - here).max() < 1e-12
        assert 0.0 < np.abs(coarse - here).max() < 1e-4
