"""Free flight: position, velocity and force next to rotation, angular velocity and torque."""

import numpy as np
import pytest

import polhode
from polhode import rotations
from polhode.errors import InputError, TorqueError
from polhode.loads.force import Force, weight

BODY = polhode.RigidBody([2.0, 3.0, 4.5], mass=2.0)
START = {
    "rotation0": (0.3, -0.5, 0.2),
    "omega0": (0.5, -0.4, 0.8),
    "position0": (1.0, 0.0, 2.0),
    "velocity0": (0.5, 1.0, 3.0),
}


def fly(**changes):
    return polhode.integrate(
        **{"body": BODY, "t_span": (0, 2), "step": 0.02, "method": "NMB", **START, **changes}
    )


def test_a_projectile_is_exact_and_its_rotation_is_that_of_the_body_at_rest():
    run = fly(force=weight(2.0))
    t = run.t[:, None]
    np.testing.assert_allclose(
        run.position, START["position0"] + t * START["velocity0"] - [0, 0, 4.905] * t**2, atol=1e-12
    )
    np.testing.assert_allclose(run.velocity, START["velocity0"] - [0, 0, 9.81] * t, atol=1e-12)
    still = fly(position0=None, velocity0=None)
    assert still.position is None
    np.testing.assert_array_equal(run.quaternion, still.quaternion)


def pulled(t, x, v, R):
    """A spring fixed to a point of the body, and air drag: force and torque depend on
    everything."""
    return -3.0 * (x + R @ np.array([0.1, 0.2, 0.3])) - 0.1 * v


@polhode.torque(uses_omega=True, uses_position=True)
def twisted(t, R, omega, x, v):
    arm = R @ np.array([0.1, 0.2, 0.3])
    return np.cross(arm, -3.0 * (x + arm)) - 0.05 * (R @ omega) + 0.02 * np.sin(t) * v


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["NMB", "NMS", "SW", "VLV", "LP2", "LIEMID[EA]"])
def test_second_order_with_force_and_torque_coupled(method, compiled):
    ends = [
        fly(force=pulled, torque=twisted, method=method, step=h, every="end", compiled=compiled)
        for h in (0.04, 0.02, 0.01, 0.001)
    ]
    for read in (
        lambda run: run.position[-1],
        lambda run: run.velocity[-1],
        lambda run: run.omega[-1],
    ):
        errors = [np.linalg.norm(read(end) - read(ends[-1])) for end in ends[:-1]]
        slopes = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
        assert np.all(np.abs(slopes - 2) < 0.2), slopes
    attitude = [
        rotations.angle_between(end.quaternion[-1], ends[-1].quaternion[-1]) for end in ends[:-1]
    ]
    assert np.all(np.abs(np.log2(np.array(attitude[:-1]) / np.array(attitude[1:])) - 2) < 0.2)


@pytest.mark.compiled
def test_compiled_callback_and_python_agree_and_count_one_call_per_step():
    calls = []

    def counted(t, x, v, R):
        calls.append(t)
        return pulled(t, x, v, R)

    compiled = fly(force=pulled, torque=twisted)
    callback = fly(force=counted, torque=twisted)
    assert compiled.mode == "compiled" and callback.mode == "callback"
    assert len(calls) == 101
    np.testing.assert_allclose(callback.position, compiled.position, atol=1e-14)
    python = fly(force=pulled, torque=twisted, compiled=False)
    np.testing.assert_allclose(python.position, compiled.position, atol=1e-14)
    np.testing.assert_allclose(python.quaternion, compiled.quaternion, atol=1e-14)


def test_users_axes_in_flight():
    Q = rotations.matrices(rotations.exp([0.3, -0.4, 0.2]))
    turned = polhode.RigidBody(Q @ np.diag([2.0, 3.0, 4.5]) @ Q.T, mass=2.0)

    def pulled_there(t, x, v, R):
        return pulled(t, x, v, R @ Q)

    R0 = rotations.matrices(rotations.exp(START["rotation0"]))
    run = fly(
        body=turned,
        force=pulled_there,
        rotation0=R0 @ Q.T,
        omega0=Q @ START["omega0"],
        compiled=False,
    )
    np.testing.assert_allclose(run.position, fly(force=pulled, compiled=False).position, atol=1e-12)


def test_events_and_interpolation_see_the_position():
    def ground(t, R, omega, x, v):
        return x[2]

    ground.terminal = True
    run = fly(force=weight(2.0), events=ground)
    landing = (3.0 + np.sqrt(9.0 + 2 * 9.81 * 2.0)) / 9.81
    assert (
        run.status == "event"
        and abs(run.t[-1] - landing) < 1e-10
        and abs(run.position[-1, 2]) < 1e-10
    )
    between = fly(force=weight(2.0), t_eval=[0.013, 0.5, 1.777])
    np.testing.assert_allclose(
        between.position[:, 2], 2 + 3 * between.t - 4.905 * between.t**2, atol=1e-12
    )
    assert "position" in between.to_xarray()


def test_a_body_in_flight_may_break_its_steps_and_run_backwards():
    there = fly(force=pulled, torque=twisted, breaks=[0.777], compiled=False)
    assert 0.777 in there.t
    out = fly(force=lambda t, x, v, R: -3.0 * x, compiled=False)
    back = fly(
        force=lambda t, x, v, R: -3.0 * x,
        t_span=(2, 0),
        rotation0=out.quaternion[-1],
        omega0=out.omega[-1],
        position0=out.position[-1],
        velocity0=out.velocity[-1],
        compiled=False,
    )
    np.testing.assert_allclose(back.position[-1], START["position0"], atol=1e-12)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"force": 3}, ["force", "function", "3"]),
        ({"force": lambda t, x: x}, ["called as f(t, x, v, R)", "defined as f(t, x)"]),
        ({"position0": (1, 2)}, ["position0", "three numbers"]),
        ({"velocity0": (1, 2, np.inf)}, ["velocity0", "finite"]),
        (
            {"torque": twisted, "position0": None, "velocity0": None},
            ["depends on the position", "position0"],
        ),
        ({"torque": twisted, "method": "RKMK4"}, ["depends on the position", "RKMK4", "NMB"]),
    ],
)
def test_bad_flights_are_refused_with_the_fix(changes, words):
    with pytest.raises(InputError) as caught:
        fly(**changes)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_force_that_fails_keeps_what_was_computed(compiled):
    log = []

    def failing(t, x, v, R):
        log.append(t)
        return x * np.nan if t > 1 else x

    with pytest.raises(TorqueError, match="force 'failing' returned") as caught:
        fly(force=failing, compiled=compiled)
    assert len(caught.value.trajectory) == 51 and "position" in str(caught.value)
    assert isinstance(Force(failing)(0.0, np.eye(3)), np.ndarray)


def test_a_force_that_is_assigned_to_is_bound_anew():
    spring = Force(lambda t, x, v, R, p: -p.k * x, params={"k": 1.0})
    free = polhode.torques.free()

    def ends(compiled=True):
        run = polhode.integrate(
            BODY, free, force=spring, t_span=(0, 1), step=0.1, compiled=compiled, **START
        )
        return run.position[-1]

    weak = ends()
    spring.params = spring.params._replace(k=5.0)
    stiff = ends()
    assert not np.allclose(stiff, weak)
    np.testing.assert_allclose(stiff, ends(compiled=False), atol=1e-12)
    spring.function = lambda t, x, v, R, p: p.k * x
    np.testing.assert_allclose(ends(), ends(compiled=False), atol=1e-12)
    assert not np.allclose(ends(), stiff)


def test_a_force_in_place_of_the_torque_lets_the_body_fly():
    runs = [
        polhode.integrate(BODY, torque, (0, 1), 0.1, force=force, **START)
        for torque, force in ((weight(2.0), None), (None, weight(2.0)))
    ]
    assert runs[0].torque.name == "free" and np.array_equal(runs[0].motion, runs[1].motion)
