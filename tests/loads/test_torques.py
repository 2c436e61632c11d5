"""Torques: every way in gives the same numbers, potentials match torques, and calls are counted."""

import ctypes
import shutil
import subprocess
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import polhode
from polhode import rotations, torques
from polhode.bodies._body import RigidBody
from polhode.errors import InputError

START = {
    "body": [2.0, 3.0, 4.5],
    "t_span": (0, 1),
    "step": 0.02,
    "rotation0": (0.3, -0.5, 0.2),
    "omega0": (0.5, -0.4, 0.8),
}
SATELLITE = RigidBody([[2, 0.1, 0.2], [0.1, 3, 0.3], [0.2, 0.3, 4]])
CONSERVATIVE = {
    "free": torques.free(),
    "heavy_top": torques.heavy_top(20.0),
    "heavy_top with arm": torques.heavy_top(3.0, arm=(1, 2, -0.5), up=(0.1, 0.2, 1.0)),
    "coulomb_wall described": torques.coulomb_wall("described"),
    "coulomb_wall printed": torques.coulomb_wall("printed"),
    "stress_potential": torques.stress_potential(),
    "gravity_gradient": torques.gravity_gradient(SATELLITE, 0.7),
    "sum": torques.heavy_top(3.0)
    + torques.stress_potential()
    + torques.gravity_gradient(SATELLITE, 0.3),
}


def run(torque, **changes):
    return polhode.integrate(torque=torque, **{**START, "method": "NMB", **changes})


def potential(torque, R, t=0.3):
    return float(torque.potential_kernel()(t, tuple(map(tuple, R.tolist())), torque.values))


@pytest.mark.parametrize("name", CONSERVATIVE)
@settings(max_examples=25, deadline=None)
@given(vector=st.tuples(*[st.floats(-1.7, 1.7)] * 3))
def test_the_torque_is_minus_the_gradient_of_the_potential(name, vector):
    """t . a = -dV/de of exp(e a) R, by central differences."""
    torque = CONSERVATIVE[name]
    turn = np.array(vector) + 0.05
    # at the identity the stress potential has a kink, where differences say nothing
    assume(np.linalg.norm(turn) > 0.1)
    R = Rotation.from_rotvec(turn).as_matrix()
    value = torque(0.3, R)
    spatial = R @ value if torque.frame == "body" else value
    e = 1e-5
    for axis in np.eye(3):
        turned = [Rotation.from_rotvec(s * e * axis).as_matrix() @ R for s in (1, -1)]
        slope = (potential(torque, turned[0]) - potential(torque, turned[1])) / (2 * e)
        assert abs(slope + spatial @ axis) < 1e-7 * max(1.0, np.abs(spatial).max() ** 1.5)


@pytest.mark.parametrize(
    "torque", [torques.heavy_top(3.0), torques.heavy_top(2.0, arm=(1, 2, -0.5), up=(0.1, 0.2, 1.0))]
)
def test_the_derivatives_of_the_weight(torque):
    """Along R(t) = R0 exp(x(t)) with a polynomial x, by differences of high order."""
    # x = x0 t + x1 t^2/2 + x2 t^3/6
    x = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, -0.3], [-0.2, 0.3, 0.1]])
    R0 = Rotation.from_rotvec([0.4, -0.6, 0.8])

    def attitude(t):
        return (R0 * Rotation.from_rotvec(x[0] * t + x[1] * t**2 / 2 + x[2] * t**3 / 6)).as_matrix()

    # W = dexp_{-x} x' = x' - x x x'/2 + x x (x x x')/6: its value and first two derivatives at t = 0
    W = (tuple(x[0]), tuple(x[1]), tuple(x[2] - 0.5 * np.cross(x[0], x[1])))
    h = 0.02
    values = np.array([torque(0.0, attitude(k * h)) for k in range(-4, 5)])
    fit = np.linalg.inv(np.vander(h * np.arange(-4, 5), increasing=True))
    for k, factorial in ((1, 1), (2, 2), (3, 6)):
        found = torque.derivatives[k - 1](
            0.0, tuple(map(tuple, attitude(0.0).tolist())), W[:k], torque.params
        )
        np.testing.assert_allclose(found, factorial * fit[k] @ values, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "name", [name for name, torque in CONSERVATIVE.items() if torque.quaternion]
)
def test_the_form_for_quaternions_is_the_same_torque(name):
    """On unit quaternions; off them it has a value near it, as Runge-Kutta's stages need it."""
    torque, rng = CONSERVATIVE[name], np.random.default_rng(4)
    assert torque.frame == "body"
    for _ in range(200):
        q = rng.standard_normal(4)
        q /= np.linalg.norm(q)
        expected, given = (
            torque(0.0, rotations.matrices(q)),
            (() if torque.params is None else (torque.params,)),
        )
        size = 1.0 + np.abs(expected).max()
        assert torque.quaternion(0.0, tuple(q.tolist()), *given) == pytest.approx(
            expected, abs=3e-12 * size
        )
        assert torque.quaternion(0.0, tuple((q * (1.0 + 1e-7)).tolist()), *given) == pytest.approx(
            expected, abs=1e-4 * size
        )


def test_the_papers_formulas():
    R = Rotation.from_rotvec([0.3, -0.7, 0.5]).as_matrix()
    np.testing.assert_allclose(
        torques.heavy_top(20.0)(0, R), R.T @ (-20 * np.cross(R[:, 2], [0, 0, 1])), atol=1e-14
    )
    z = 1.1 + R[2, 2]
    printed = (-(z**-2) + 0.01 * z**-11) * np.array([-R[1, 2], R[0, 2], 0])
    np.testing.assert_allclose(torques.coulomb_wall("printed")(0, R), R.T @ printed, atol=1e-15)
    np.testing.assert_allclose(
        torques.coulomb_wall("described")(0, R), -(R.T @ printed), atol=1e-15
    )
    toss = torques.book_toss(0.05)
    for t, expected in (
        (0, (20, 0, 0)),
        (1.99, (20, 0, 0)),
        (2.0, (10, 2, 0)),
        (2.02, (0, 4, 0)),
        (2.05, (0, 2, 0)),
        (3, (0, 0, 0)),
    ):
        np.testing.assert_allclose(toss(t, R), expected, atol=1e-12)
    n = R.T @ [np.cos(0.6), np.sin(0.6), 0]
    tide = torques.gravity_gradient(SATELLITE, 2.0)(0.3, R)
    np.testing.assert_allclose(tide, 12 * np.cross(n, SATELLITE.inertia @ n), atol=1e-13)
    np.testing.assert_allclose(torques.damping(0.5)(0, R, (1, 2, 3)), (-0.5, -1, -1.5))
    np.testing.assert_allclose(torques.damping((1, 2, 3))(0, R, (1, 1, 1)), (-1, -2, -3))


@pytest.mark.parametrize(
    "normal", [(0, 0, 2), (3, 0, 4), (1, -2, 2), (0, -1, 0), (1, 1, -1), (0, 0, -1)]
)
def test_the_tide_on_any_orbit_is_that_of_the_plane_orbit_turned(normal):
    n = np.array(normal) / np.linalg.norm(normal)
    below = Rotation.from_rotvec([np.pi if n[2] < 0 else 0.0, 0.0, 0.0])
    z = below.apply([0.0, 0.0, 1.0])
    axis, angle = np.cross(z, n), np.arccos(z @ n)
    turn = Rotation.from_rotvec(angle * axis / (np.linalg.norm(axis) or 1.0)) * below
    R = Rotation.from_rotvec([0.3, -0.2, 0.5])
    plane = torques.gravity_gradient(SATELLITE, 2.0)
    tilted = torques.gravity_gradient(SATELLITE, 2.0, normal=normal)
    for t in (0.0, 0.3, 5.0):
        np.testing.assert_allclose(
            tilted(t, (turn * R).as_matrix()), plane(t, R.as_matrix()), atol=1e-13
        )
    options = dict(t_span=(0, 3), step=0.01, method="NMB", omega0=(0.1, 0.2, 0.3))
    a = polhode.integrate(SATELLITE, plane, rotation0=R, **options)
    b = polhode.integrate(SATELLITE, tilted, rotation0=turn * R, **options)
    np.testing.assert_allclose(a.omega, b.omega, atol=1e-11)


# --- the same torque, in every form ---------------------------------------------------------------


def plain(t, R):
    return -20.0 * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))


class Params(NamedTuple):
    k: float


@polhode.torque(params={"k": 20.0})
def with_params(t, R, p):
    return -p.k * R[1, 2], p.k * R[0, 2], 0.0


@polhode.torque(params={"k": 20.0}, form="tuple")
def on_tuples(t, R, p):
    return (-p.k * R[1][2], p.k * R[0][2], 0.0)


@polhode.torque(frame="body", uses_omega=True)
def in_body(t, R, omega):
    return R.T @ plain(t, R) + 0.0 * omega


class Machine:
    def __call__(self, t, R):
        return plain(t, R)


@pytest.mark.compiled
def test_every_form_gives_the_same_motion_and_says_how_it_ran():
    reference = run(torques.heavy_top(20.0))
    memory = []

    def remembering(t, R):
        memory.append(R)
        return plain(t, R)

    forms = {
        "compiled": [plain, with_params, on_tuples, in_body],
        "callback": [Machine(), remembering],
    }
    for mode, functions in forms.items():
        for function in functions:
            result = run(function)
            assert result.mode == mode, result.note
            np.testing.assert_allclose(result.quaternion, reference.quaternion, atol=1e-13)
            python = run(function, compiled=False)
            assert python.mode == "python"
            np.testing.assert_array_equal(python.quaternion, result.quaternion)
    assert "list" in run(remembering).note
    assert len({id(R) for R in memory}) == len(memory)  # each call gets an array of its own


@pytest.mark.compiled
def test_a_torque_that_looks_at_changing_data_is_not_frozen():
    gain = np.array([1.0])

    def controlled(t, R):
        gain[0] += 0.01
        return (gain[0], 0.0, 0.0)

    first = run(controlled)
    assert first.mode == "callback" and gain[0] > 1.4


def test_a_global_number_that_changed_is_seen_by_the_next_run():
    scope = {"SIZE": 1.0}
    exec("def f(t, R):\n    return (SIZE, 0.0, 0.0)", scope)
    one = run(scope["f"], omega0=(0, 0, 0), body=[1, 1, 1])
    scope["SIZE"] = 2.0
    two = run(scope["f"], omega0=(0, 0, 0), body=[1, 1, 1])
    np.testing.assert_allclose(two.momentum_spatial[-1, 0], 2.0, atol=1e-12)
    np.testing.assert_allclose(one.momentum_spatial[-1, 0], 1.0, atol=1e-12)


SECOND_ORDER = ("NMB", "NMB-cay", "NMS", "VLV", "SW", "LP2")


@pytest.mark.parametrize("method", SECOND_ORDER)
def test_one_torque_call_per_step_and_one_at_the_start(method):
    calls = []

    def counted(t, R):
        calls.append(t)
        return (0.1, -0.2, 0.3)

    assert run(counted, method=method, compiled=False).nfev == len(calls) == 51


@pytest.mark.compiled
@pytest.mark.parametrize(
    "method", ["NMB", *(pytest.param(one, marks=pytest.mark.slow) for one in SECOND_ORDER[1:])]
)
def test_machine_code_calls_the_torque_as_often(method):
    calls = []

    def counted(t, R):
        calls.append(t)
        return (0.1, -0.2, 0.3)

    result = run(counted, method=method)
    assert result.mode == "callback" and result.nfev == len(calls) == 51
    assert run(torques.constant((0.1, -0.2, 0.3)), method=method).nfev == 51


@pytest.mark.parametrize("method", SECOND_ORDER)
def test_second_order_with_a_torque_that_depends_on_velocity_and_time(method):
    @polhode.torque(frame="body", uses_omega=True)
    def driven(t, R, omega):
        return np.array(
            [np.sin(3 * t) - 0.4 * omega[0], -0.3 * omega[1] * omega[2], 0.5 * np.cos(t) + R[0, 1]]
        )

    ends = [run(driven, method=method, step=h, compiled=False) for h in (0.04, 0.02, 0.01, 0.0005)]
    attitude = [
        rotations.angle_between(end.quaternion[-1], ends[-1].quaternion[-1]) for end in ends[:-1]
    ]
    velocity = [np.linalg.norm(end.omega[-1] - ends[-1].omega[-1]) for end in ends[:-1]]
    for errors in (attitude, velocity):
        slopes = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
        assert np.all(np.abs(slopes - 2) < 0.15), slopes


SOURCE = """
void weight(double t, const double *state, double *out) {
    out[0] = -20.0 * state[5]; out[1] = 20.0 * state[2]; out[2] = 0.0;
}
"""


@pytest.mark.compiled
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_torque_written_in_c(tmp_path):
    (tmp_path / "weight.c").write_text(SOURCE)
    subprocess.run(
        ["gcc", "-O2", "-shared", "-fPIC", "-o", tmp_path / "weight.so", tmp_path / "weight.c"],
        check=True,
    )
    function = ctypes.CDLL(tmp_path / "weight.so").weight
    result, reference = run(function), run(on_tuples)
    assert result.mode == "callback" and result.nfev == 51
    np.testing.assert_array_equal(result.quaternion, reference.quaternion)


# --- sums, parameters, errors ---------------------------------------------------------------------


def test_torques_add():
    weight, drag = torques.heavy_top(5.0), torques.damping(0.3)
    both = run(weight + drag, compiled=False)

    def by_hand(t, R, omega):
        return R.T @ (-5.0 * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))) - 0.3 * omega

    expected = run(polhode.torque(by_hand, frame="body", uses_omega=True), compiled=False)
    np.testing.assert_allclose(both.quaternion, expected.quaternion, atol=1e-13)
    np.testing.assert_allclose(both.potential_energy, 5.0 * both.matrix[:, 2, 2], atol=1e-14)
    assert np.all(np.diff(both.total_energy) < 0)
    with_function = run(weight + (lambda t, R: (0.1, 0.0, 0.0)), compiled=False)
    pushed = run(weight + torques.constant((0.1, 0, 0)), compiled=False)
    np.testing.assert_allclose(with_function.quaternion, pushed.quaternion, atol=1e-14)


def test_with_params_changes_parameters_and_names_the_nearest():
    assert torques.heavy_top(20.0).with_params(moment=3.0).params.moment == 3.0
    with pytest.raises(InputError, match="did you mean 'moment'"):
        torques.heavy_top(20.0).with_params(momentt=3.0)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: polhode.torque(plain, frame="world"), ["frame", "'world'", "'spatial'"]),
        (lambda: polhode.torque(plain, parms={}), ["option of Torque", "did you mean 'params'"]),
        (lambda: polhode.torque(plain, params={"k": np.nan}), ["'k'", "finite"]),
        (lambda: polhode.torque(plain, params={"k": "strong"}), ["'k'", "number"]),
        (
            lambda: polhode.torque(plain, params={"k": 1.0}),
            ["called as f(t, R, p)", "defined as f(t, R)"],
        ),
        (lambda: torques.coulomb_wall("up"), ["sign", "'up'", "'printed'"]),
        (lambda: torques.constant((1, 2)), ["value", "three numbers"]),
        (lambda: torques.heavy_top(1.0, arm=(0, 0, 0)), ["arm", "zero"]),
    ],
)
def test_bad_torques_are_refused_with_the_fix(make, words):
    with pytest.raises(InputError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_a_function_is_looked_at_again_when_its_defaults_or_its_name_change():
    def push(t, R, strength=1.0):
        return np.array([strength, 0.0, 0.0])

    polhode.integrate(torque=push, compiled=False, **START)
    push.__name__ = "shove"
    assert "shove" in repr(polhode.integrate(torque=push, compiled=False, **START).torque)
    push.__defaults__ = None
    with pytest.raises(InputError, match="called as f\\(t, R\\) but is defined as"):
        polhode.integrate(torque=push, **START)
