"""Translation in the steps of the methods themselves: orders, conservation, tolerance, loads."""

import numpy as np
import pytest

import polhode
from polhode import rotations
from polhode.errors import PolhodeError

BODY = polhode.RigidBody([2.0, 3.0, 4.5], mass=2.0)
START = {
    "rotation0": (0.3, -0.5, 0.2),
    "omega0": (0.5, -0.4, 0.8),
    "position0": (1.0, 0.0, 2.0),
    "velocity0": (0.5, 1.0, 0.3),
}
CENTRE = np.zeros(3)


@polhode.load(
    potential=lambda t, x, R: 1.5 * np.sum((x + R @ np.array([0.1, 0.2, 0.3])) ** 2),
)
def spring(t, x, v, R):
    """A spring from a point of the body to the origin: no torque about the origin."""
    arm = R @ np.array([0.1, 0.2, 0.3])
    pull = -3.0 * (x + arm)
    return pull, np.cross(arm, pull)


@polhode.load(uses_omega=True, params={"c": 0.2})
def thick_air(t, x, v, R, omega, p):
    return -p.c * v, -p.c * (R @ omega)


def fly(**changes):
    return polhode.integrate(
        **{"body": BODY, "torque": spring, "t_span": (0, 2), "every": "end", **START, **changes}
    )


def differences(run, other):
    """Of position, velocity, attitude and momentum at the end."""
    return np.array(
        [
            np.linalg.norm(run.position[-1] - other.position[-1]),
            np.linalg.norm(run.velocity[-1] - other.velocity[-1]),
            rotations.angle_between(run.quaternion[-1], other.quaternion[-1]),
            np.linalg.norm(run.momentum[-1] - other.momentum[-1]),
        ]
    )


@pytest.fixture(scope="module")
def truth():
    return fly(rtol=1e-13)


@pytest.mark.parametrize(
    "method, order, step",
    [
        ("LP2", 2, 0.02),
        ("EXACT", 2, 0.02),
        ("VLV", 2, 0.02),
        ("LIEMID[EA]", 2, 0.02),
        ("NMB", 2, 0.02),
        ("SW", 2, 0.02),
        ("DMV", 2, 0.02),
        ("LP2+yoshida4", 4, 0.05),
        ("EXACT-RKN4", 4, 0.1),
        ("MR2-BM4", 4, 0.1),
        pytest.param("EXACT-RKN6", 6, 0.25, marks=pytest.mark.slow),
        pytest.param("EXACT-RKN6-14", 6, 0.2, marks=pytest.mark.slow),
        pytest.param("MR2-BM6", 6, 0.2, marks=pytest.mark.slow),
        ("DOP853", 8, 0.25),
    ],
)
def test_force_and_torque_coupled_keep_the_order(method, order, step, truth):
    compiled = {"compiled": order > 2}  # a few hundred steps are faster as Python than compiled
    coarse, fine = (
        differences(fly(method=method, step=h, **compiled), truth) for h in (step, 0.5 * step)
    )
    measured = np.log2(coarse / fine)
    assert np.all(abs(measured - order) < 0.3), measured


def kepler(t_span, method, step, **options):
    """A body on an ellipse about a point mass that pulls and turns it, to second degree."""
    body = polhode.RigidBody([0.08, 0.1, 0.13], mass=3.0)
    return polhode.integrate(
        body,
        gravity(4.0, body),
        t_span,
        step,
        method,
        rotation0=(0.4, 0.1, -0.3),
        omega0=(0.3, 1.1, -0.2),
        position0=(2.5, 0.0, 0.0),
        velocity0=(0.0, 1.1, 0.3),
        **options,
    )


def pull(t, x, v, R, p):
    J = R @ p.inertia @ R.T
    r2 = x @ x
    r5 = r2 * r2 * np.sqrt(r2)
    Jx = J @ x
    degree = np.trace(J) * x + 2.0 * Jx - 5.0 * (x @ Jx) / r2 * x
    force = -p.mu * (p.mass * r2 * x + 1.5 * degree) / r5
    return force, 3.0 * p.mu / r5 * np.cross(x, Jx)


def pull_energy(t, x, R, p):
    J = R @ p.inertia @ R.T
    r2 = x @ x
    r = np.sqrt(r2)
    return -p.mu * (p.mass / r + 0.5 * (np.trace(J) - 3.0 * (x @ (J @ x)) / r2) / (r * r2))


def gravity(mu, body):
    params = {"mu": mu, "mass": body.mass, "inertia": body.inertia}
    return polhode.load(pull, potential=pull_energy, params=params)


@pytest.mark.compiled
@pytest.mark.parametrize("method, step", [("EXACT", 0.02), ("EXACT-RKN4", 0.1), ("LP2", 0.02)])
def test_energy_does_not_drift_and_the_angular_momentum_stays(method, step):
    run = kepler((0.0, 2000.0), method, step, every=50)
    assert run.mode == "compiled"
    error = run.total_energy / run.total_energy[0] - 1.0
    quarter = len(error) // 4
    assert abs(error).max() < 1e-2
    assert abs(error[-quarter:].mean() - error[:quarter].mean()) < 0.05 * abs(error).max()
    L = run.angular_momentum
    assert np.abs(L - L[0]).max() < 1e-11 * np.linalg.norm(L[0])


def test_a_tolerance_holds_for_the_whole_motion(truth):
    for method in ("DOP853", "DP5"):
        errors = [differences(fly(rtol=rtol, method=method), truth) for rtol in (1e-5, 1e-9)]
        assert errors[0].max() < 1e-3 and errors[1].max() < 1e-7
    between = fly(rtol=1e-10, t_eval=[0.3, 1.1, 2.0], every=1)
    step = fly(step=0.002, method="EXACT-RKN4", t_span=(0, 1.1))
    np.testing.assert_allclose(between.position[1], step.position[-1], atol=1e-9)
    np.testing.assert_allclose(between.velocity[1], step.velocity[-1], atol=1e-9)


def test_a_method_made_of_a_splitting_flies_beside_newmarks_translation():
    """Energy preservation keeps states of its own around those of LP2."""
    load = polhode.torques.heavy_top(2.0)
    runs = [
        fly(torque=load, force=polhode.weight(2.0), step=0.02, method=name, compiled=False)
        for name in ("LP2+ep", "EXACT")
    ]
    assert differences(*runs).max() < 1e-3


def test_taylor_series_of_the_whole_motion():
    body, start = (
        polhode.RigidBody([0.08, 0.1, 0.13], mass=3.0),
        {**START, "position0": (2.5, 0, 0)},
    )
    given = {"body": body, "torque": polhode.flight.gravity(4.0, body), **start}
    truth = fly(rtol=1e-13, **given)
    for rtol in (1e-6, 1e-10):
        run = fly(rtol=rtol, method="taylor", **given)
        assert differences(run, truth).max() < 10.0 * rtol
    inside = fly(rtol=1e-11, method="taylor", t_eval=[0.7], every=1, **given)
    np.testing.assert_allclose(
        inside.motion, fly(rtol=1e-12, t_eval=[0.7], every=1, **given).motion, atol=1e-9
    )


def test_a_tolerance_from_rest_and_without_forces():
    still = polhode.integrate(
        BODY, t_span=(0, 5), rtol=1e-8, omega0=(0, 0, 0), position0=CENTRE, every="end"
    )
    assert not still.position.any()
    pushed = polhode.integrate(
        BODY,
        force=polhode.weight(2.0),
        t_span=(0, 5),
        rtol=1e-8,
        omega0=(0, 0, 0),
        every="end",
    )
    np.testing.assert_allclose(pushed.position[-1], [0, 0, -0.5 * 9.81 * 25.0], rtol=1e-12)


def test_one_function_or_two_give_the_same_motion():
    def force(t, x, v, R):
        return spring(t, x, v, R)[0]

    @polhode.torque(uses_position=True)
    def torque(t, R, x, v):
        return spring(t, x, v, R)[1]

    one = fly(step=0.05, method="EXACT-RKN4", compiled=False)
    two = fly(torque=torque, force=force, step=0.05, method="EXACT-RKN4", compiled=False)
    np.testing.assert_array_equal(one.motion, two.motion)


@pytest.mark.compiled
def test_a_load_in_python_is_called_once_for_force_and_torque():
    calls = []

    @polhode.load
    def counted(t, x, v, R):
        calls.append(t)
        return spring(t, x, v, R)

    run = fly(torque=counted, step=0.05, method="EXACT-RKN4")
    assert run.mode == "callback" and len(calls) == 1 + 6 * 40 == run.nfev
    compiled = fly(step=0.05, method="EXACT-RKN4")
    assert compiled.mode == "compiled"
    np.testing.assert_allclose(run.motion, compiled.motion, atol=1e-14)


def test_loads_add_to_loads_torques_and_forces():
    total = spring + thick_air + polhode.weight(2.0)
    R, x, v, omega = np.eye(3), np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]), np.ones(3)
    force, torque = total(0.0, x, v, R, omega)
    apart = [one(0.0, x, v, R, omega) for one in (spring, thick_air)]
    np.testing.assert_allclose(force, apart[0][0] + apart[1][0] - [0, 0, 2 * 9.81], atol=1e-14)
    np.testing.assert_allclose(torque, apart[0][1] + apart[1][1], atol=1e-14)
    for both in (
        spring + polhode.torques.constant((1, 0, 0)),
        polhode.torques.constant((1, 0, 0)) + spring,
    ):
        np.testing.assert_allclose(both(0.0, x, v, R)[1], apart[0][1] + [1, 0, 0], atol=1e-14)
    run = fly(torque=total, step=0.05, method="LP2", compiled=False)
    parts = fly(torque=spring + thick_air, force=polhode.weight(2.0), step=0.05, compiled=False)
    np.testing.assert_allclose(run.motion, parts.motion, atol=1e-14)


def test_energies_and_momenta_in_flight(truth):
    run = truth
    rotation = 0.5 * np.sum(run.omega * run.momentum, axis=1)
    translation = np.sum(run.velocity**2, axis=1)
    np.testing.assert_allclose(run.rotational_energy, rotation)
    np.testing.assert_allclose(run.kinetic_energy, rotation + translation)
    assert abs(run.total_energy[1] / run.total_energy[0] - 1.0) < 1e-12
    np.testing.assert_allclose(run.linear_momentum, 2.0 * run.velocity)
    L = run.angular_momentum
    np.testing.assert_allclose(L[1], L[0], atol=1e-11)
    assert {"linear_momentum", "angular_momentum", "total_energy"} <= set(run.to_xarray())


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: polhode.load(3), ["load must be a function", "3"]),
        (lambda: polhode.load(lambda t, x: x), ["called as f(t, x, v, R)"]),
        (
            lambda: polhode.load(lambda t, x, v, R: (x, x), potential=lambda t, R: 0.0),
            ["potential", "V(t, x, R)"],
        ),
        (
            lambda: fly(torque=polhode.load(lambda t, x, v, R: x), step=0.1, compiled=False),
            ["force and a torque"],
        ),
        (lambda: fly(step=0.1, method="RKMK4"), ["RKMK4", "LP2"]),
        (lambda: fly(rtol=1e-6, method="taylor"), ["Taylor series", "'spring'", "DOP853"]),
    ],
)
def test_bad_loads_are_refused_with_the_fix(make, words):
    with pytest.raises(PolhodeError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
