"""The Stepper: the same motion as integrate, restarted without loss."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from scipy.spatial.transform import Rotation

import polhode
from polhode.errors import InputError, TorqueError

START = {"rotation0": (0.3, 0, 0), "omega0": (0.1, 0, 5)}


def wobble(t, R):
    return np.array([np.sin(t), R[0, 1], 0.2])


def make(method="NMB", torque=wobble, **changes):
    return polhode.Stepper(
        [5.0, 4.0, 1.5], torque, **{"step": 0.01, "method": method, **START, **changes}
    )


METHODS = ("NMB", "SW", "VLV", "LP2", "NMS")


@pytest.mark.parametrize(
    "method, compiled",
    [
        ("NMB", True),
        ("SW", True),  # with a memory
        *((method, False) for method in METHODS),
        *(pytest.param(method, True, marks=pytest.mark.slow) for method in METHODS[2:]),
    ],
)
def test_steps_are_those_of_integrate(method, compiled):
    stepper = make(method, compiled=compiled)
    run = polhode.integrate(
        [5.0, 4.0, 1.5], wobble, (0, 1), 0.01, method, compiled=compiled, **START
    )
    for k in range(1, 101):
        stepper.step()
        if k % 25 == 0:
            np.testing.assert_array_equal(stepper.quaternion, run.quaternion[k])
            np.testing.assert_array_equal(stepper.omega, run.omega[k])
            assert abs(stepper.t - run.t[k]) < 1e-15 * k


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_state_goes_on_bit_for_bit(method):
    compiled = method in ("NMB", "SW")
    one = make(method, compiled=compiled)
    other = make(method, compiled=compiled, rotation0=(1, 2, 3))
    one.step(37)
    saved = one.state
    one.step(41)
    other.state = saved
    other.step(41)
    np.testing.assert_array_equal(one.quaternion, other.quaternion)
    np.testing.assert_array_equal(one.omega, other.omega)
    assert one.t == other.t
    assert saved.t == pytest.approx(0.37)


@pytest.mark.parametrize("method", ["NMB", "VLV", "LP2", "NMS"])
def test_self_starting_methods_restart_from_attitude_and_velocity(method):
    one = make(method, compiled=False)
    one.step(37)
    other = make(method, compiled=False, rotation0=one.quaternion, omega0=one.omega, t=one.t)
    one.step(41)
    other.step(41)
    np.testing.assert_allclose(one.quaternion, other.quaternion, atol=1e-13)


def test_users_axes_and_negative_steps():
    inertia = np.array([[2, 0.3, 0.1], [0.3, 3, 0.2], [0.1, 0.2, 4]])
    stepper = polhode.Stepper(inertia, step=-0.01, method="LP2", compiled=False, **START)
    np.testing.assert_allclose(stepper.omega, START["omega0"], atol=1e-15)
    np.testing.assert_allclose(stepper.rotation.as_rotvec(), START["rotation0"], atol=1e-15)
    stepper.step(100)
    run = polhode.integrate(inertia, None, (0, -1), 0.01, "LP2", compiled=False, **START)
    np.testing.assert_allclose(stepper.matrix, run.matrix[-1], atol=1e-14)
    assert stepper.t == pytest.approx(-1)


def test_errors():
    with pytest.raises(InputError, match="step must not be zero"):
        make(step=0)
    with pytest.raises(InputError, match="whole number"):
        make().step(1.5)
    with pytest.raises(InputError, match="cannot continue from"):
        make("NMB", compiled=False).state = make("LP2", compiled=False).state
    log = []

    def failing(t, R):
        log.append(t)
        return (0.0, 0.0, 1 / 0 if t > 0.05 else 0.0)

    for compiled in (True, False):
        stepper = make(torque=failing, compiled=compiled)
        with pytest.raises(TorqueError, match="ZeroDivisionError") as caught:
            stepper.step(100)
        assert caught.value.step_index == 5
        assert stepper.t == pytest.approx(0.05)  # the state is that before the failed step


STRENGTH, NAMES = 0.5, (1.0, 2.0)


def by_global(t, R):
    return np.array([STRENGTH, 0.0, -NAMES[0]])


def adjustable(strength):
    def torque(t, R):
        return np.array([strength, 0.0, -1.0])

    def change(value):
        nonlocal strength
        strength = value

    return torque, change


@pytest.mark.parametrize("compiled", [True, False])
def test_a_global_that_changes_between_steps_takes_effect(monkeypatch, compiled):
    """Against a Stepper made anew with the new value at the state where it changed, back and
    forth."""
    here = sys.modules[__name__]
    stepper = polhode.Stepper(
        [1.0, 2.0, 2.5], by_global, step=0.01, omega0=(0.1, 1.0, 0.0), compiled=compiled
    )
    for strength in (0.5, 7.0, 0.5):
        monkeypatch.setattr(here, "STRENGTH", strength)
        fresh = polhode.Stepper(
            [1.0, 2.0, 2.5], by_global, step=0.01, omega0=(0.1, 1.0, 0.0), compiled=compiled
        )
        fresh.state = stepper.state
        stepper.step(5)
        fresh.step(5)
        assert np.array_equal(stepper.omega, fresh.omega) and stepper.t == fresh.t
    monkeypatch.setattr(here, "NAMES", (-100.0, 0.0))
    before = stepper.omega
    stepper.step(2)
    assert (stepper.omega - before)[2] > 0.5, "the new torque acts"


def test_a_closure_that_changes_between_steps_takes_effect():
    torque, change = adjustable(0.5)
    stepper = polhode.Stepper([1.0, 2.0, 2.5], torque, step=0.01, omega0=(0.1, 1.0, 0.0))
    stepper.step(5)
    change(7.0)
    fresh = polhode.Stepper([1.0, 2.0, 2.5], torque, step=0.01, omega0=(0.1, 1.0, 0.0))
    fresh.state = stepper.state
    before = stepper.omega
    stepper.step()
    fresh.step()
    assert np.array_equal(stepper.omega, fresh.omega) and stepper.omega[0] - before[0] > 0.03


@pytest.mark.parametrize("compiled", [True, False])
def test_parameters_assigned_between_steps_take_effect(compiled):
    @polhode.torque(params={"k": 0.5})
    def pulled(t, R, p):
        return np.array([p.k, 0.0, -1.0])

    def fresh(torque):
        return polhode.Stepper(
            [1.0, 2.0, 2.5], torque, step=0.01, omega0=(0.1, 1.0, 0.0), compiled=compiled
        )

    stepper = fresh(pulled)
    stepper.step(5)
    pulled.params = pulled.params._replace(k=70.0)
    other = fresh(pulled)
    other.state = stepper.state
    before = stepper.omega
    stepper.step(3)
    other.step(3)
    assert np.array_equal(stepper.omega, other.omega) and stepper.omega[0] - before[0] > 1.0


@pytest.mark.parametrize("name", ["h", "dt", "omega0", "step", "t", "body", "torque", "method"])
def test_what_has_no_effect_cannot_be_assigned(name):
    with pytest.raises(AttributeError, match=rf"'{name}' of a Stepper cannot be set.*step\(dt="):
        setattr(make(torque=None), name, 0.02)


# --- steps of any size ----------------------------------------------------------------------------

SIZES = (0.016, 0.017, 0.0155, 0.03, 0.016, 0.01)


@pytest.mark.parametrize("method, compiled", [("NMB", True), ("LP2", False), ("DOP853", False)])
def test_steps_of_any_size_are_those_of_integrate(method, compiled):
    stepper, times = make(method, compiled=compiled), [0.0]
    for h in SIZES:
        stepper.step(dt=h)
        times.append(stepper.t)
    assert times == np.cumsum([0.0, *SIZES]).tolist()
    run = polhode.integrate(
        [5.0, 4.0, 1.5], wobble, step=times, method=method, compiled=compiled, **START
    )
    np.testing.assert_allclose(stepper.quaternion, run.quaternion[-1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(stepper.omega, run.omega[-1], rtol=1e-14)


def test_a_size_is_for_one_call_and_back_again():
    stepper = make("LP2", torque=None, compiled=False)
    start = stepper.quaternion
    stepper.step(3, dt=0.02)
    assert stepper.t == pytest.approx(0.06)
    stepper.step(2)
    assert stepper.t == pytest.approx(0.08)
    stepper.step(2, dt=-0.01)
    stepper.step(3, dt=-0.02)
    assert stepper.t == pytest.approx(0.0, abs=1e-16)
    np.testing.assert_allclose(stepper.quaternion, start, atol=1e-14)  # LP2 is symmetric


def test_a_state_saved_among_steps_of_any_size_goes_on_bit_for_bit():
    one, other = make(compiled=False), make(compiled=False)
    one.step(5)
    one.step(2, dt=0.013)
    other.state = one.state
    assert other.state.earlier == 7 and other.t == one.t
    for stepper in (one, other):
        stepper.step(dt=0.013)
        stepper.step(4)
    assert one.t == other.t
    assert np.array_equal(one.motion, other.motion)


def test_methods_with_a_memory_refuse_another_size_and_go_on():
    one, other = make("SW", compiled=False), make("SW", compiled=False)
    one.step(3)
    with pytest.raises(InputError, match="SW uses earlier steps"):
        one.step(dt=0.02)
    one.step(4, dt=0.01)  # the same size
    other.step(7)
    assert np.array_equal(one.motion, other.motion) and one.t == other.t


@pytest.mark.parametrize("dt", [0, 0.0, float("nan"), "fast", 1e300, [0.1]])
def test_sizes_that_make_no_sense_are_refused(dt):
    stepper = make(compiled=False)
    with pytest.raises(InputError, match="dt"):
        stepper.step(dt=dt)
    assert stepper.t == 0.0


@pytest.mark.parametrize("frame", ["spatial", "body"])
def test_a_linear_impulse_changes_velocity_and_spin(frame):
    body = polhode.RigidBody.box(1.0, 2.0, 3.0, mass=2.0)
    start = {"rotation0": (0.3, 0.2, 0.1), "omega0": (0.1, 0.2, 0.3), "velocity0": (1.0, 0.0, 0.0)}
    stepper = polhode.Stepper(body, step=0.01, compiled=False, **start)
    stepper.step(3)
    q, before, arm, push = (
        stepper.quaternion,
        stepper.momentum_spatial,
        (0.0, 1.0, 0.5),
        (4.0, 0, 0),
    )
    stepper.apply_linear_impulse(push, at=arm, frame=frame)
    turn = (lambda v: v) if frame == "spatial" else (lambda v: polhode.rotations.rotate(q, v))
    np.testing.assert_allclose(stepper.velocity, (1.0, 0.0, 0.0) + turn(np.array(push)) / 2.0)
    np.testing.assert_allclose(stepper.momentum_spatial, before + turn(np.cross(arm, push)))
    assert np.array_equal(stepper.quaternion, q) and stepper.dt == 0.01


@pytest.mark.parametrize(
    "body", [[5.0, 4.0, 1.5], [[5.0, 0.2, 0.0], [0.2, 4.0, 0.1], [0.0, 0.1, 1.5]]]
)
@pytest.mark.parametrize("torque", ["heavy_top", None, wobble])
def test_the_energy_of_a_stepper_is_that_of_a_run(body, torque):
    stepper = polhode.Stepper(body, torque, step=0.01, compiled=False, **START)
    stepper.step(7)
    run = polhode.integrate(body, torque, (0.0, 0.07), 0.01, compiled=False, **START)
    assert stepper.total_energy == pytest.approx(run.total_energy[-1], rel=1e-14)


def test_a_linear_impulse_needs_a_flight():
    with pytest.raises(InputError, match=r"follows the rotation alone; give it position0"):
        make(compiled=False).apply_linear_impulse((1.0, 0.0, 0.0))


def test_the_number_of_a_failed_step_counts_those_of_other_sizes():
    def strict(t, R):
        if t > 0.055:
            raise ValueError("too late")
        return (0.0, 0.0, 0.0)

    stepper = make("LP2", torque=strict, compiled=False)
    stepper.step(2, dt=0.02)
    with pytest.raises(
        TorqueError, match=r"ValueError in the step from t = 0.05.*step 3"
    ) as caught:
        stepper.step(5)
    assert caught.value.step_index == 3 and caught.value.t == stepper.t == pytest.approx(0.05)


# --- the motion given between steps ---------------------------------------------------------------

TENSOR = [[2, 0.3, 0.1], [0.3, 3, 0.2], [0.1, 0.2, 4]]


@pytest.mark.parametrize("inertia", [[5.0, 4.0, 1.5], TENSOR])
@pytest.mark.parametrize("method", ["LP2", "SW"])
def test_a_motion_that_is_set_goes_on_as_a_new_stepper_does(method, inertia):
    start = {"step": 0.01, "method": method, "compiled": False}
    stepper = polhode.Stepper(inertia, wobble, **start, **START)
    stepper.step(5)
    turned = Rotation.from_rotvec((0.2, -0.1, 0.4))
    stepper.rotation = turned
    stepper.omega = (1.0, 2.0, -0.5)
    fresh = polhode.Stepper(
        inertia, wobble, t=stepper.t, rotation0=turned, omega0=(1.0, 2.0, -0.5), **start
    )
    for one in (stepper, fresh):
        one.step(20)
    np.testing.assert_allclose(stepper.motion, fresh.motion, rtol=1e-13, atol=1e-14)


def test_every_way_to_give_attitude_and_momentum():
    stepper = polhode.Stepper(TENSOR, step=0.01, compiled=False, **START)
    turned = Rotation.from_rotvec((0.2, -0.1, 0.4))
    for name, value in (
        ("rotation", turned),
        ("quaternion", turned.as_quat()),
        ("matrix", turned.as_matrix()),
        ("omega", (0.3, 0.2, 0.1)),
        ("momentum", (1.0, -2.0, 0.5)),
        ("momentum_spatial", (0.4, 0.6, -0.8)),
    ):
        setattr(stepper, name, value)
        found = getattr(stepper, name)
        if name == "rotation":
            assert (found.inv() * value).magnitude() < 1e-14
        else:
            np.testing.assert_allclose(found, value, atol=1e-14)
        np.testing.assert_allclose(stepper.matrix, turned.as_matrix(), atol=1e-14)
    with pytest.raises(InputError, match="omega must be three numbers"):
        stepper.omega = (1, 2)
    with pytest.raises(InputError, match="position cannot be set"):
        stepper.position = (1, 2, 3)
    assert stepper.position is None


def test_an_impulse_adds_to_the_momentum_in_the_axes_named():
    stepper = polhode.Stepper(TENSOR, step=0.01, compiled=False, **START)
    stepper.step(10)
    space, blow = stepper.momentum_spatial, np.array([0.5, -0.3, 0.2])
    stepper.apply_impulse(blow)
    np.testing.assert_allclose(stepper.momentum_spatial, space + blow, atol=1e-14)
    body = stepper.momentum
    stepper.apply_impulse(blow, frame="body")
    np.testing.assert_allclose(stepper.momentum, body + blow, atol=1e-14)
    with pytest.raises(InputError, match="frame"):
        stepper.apply_impulse(blow, frame="space-ship")


def test_a_motion_at_which_the_torque_raises_is_not_taken():
    def strict(t, R):
        if R[0, 0] < 0.0:
            raise ValueError("upside down")
        return (0.0, 0.0, 0.1)

    stepper = make("NMB", torque=strict, compiled=False)
    stepper.step(3)
    before = stepper.motion
    with pytest.raises(TorqueError, match="upside down"):
        stepper.rotation = (0, 0, np.pi)
    assert np.array_equal(stepper.motion, before)
    stepper.step(3)


def test_a_stepper_can_fly():
    body = polhode.RigidBody([1.0, 2.0, 2.5], mass=2.0)

    def weight(t, x, v, R):
        return np.array([0.0, 0.0, -2.0 * 9.81])

    start = {"omega0": (0.1, 1.0, 0.0), "position0": (0, 0, 1), "velocity0": (1.0, 0, 3.0)}
    stepper = polhode.Stepper(body, step=0.01, force=weight, compiled=False, **start)
    run = polhode.integrate(body, None, (0, 0.5), 0.01, force=weight, compiled=False, **start)
    stepper.step(50)
    assert np.array_equal(stepper.position, run.position[-1])
    assert np.array_equal(stepper.velocity, run.velocity[-1])
    assert np.array_equal(stepper.omega, run.omega[-1])
    stepper.velocity = -stepper.velocity  # a wall
    stepper.position = (0, 0, 2)
    stepper.step()
    assert stepper.velocity[0] == -1.0
    np.testing.assert_allclose(stepper.position[0], -0.01, rtol=1e-12)


def test_a_state_of_another_size_leaves_the_stepper_as_it_was():
    stepper = make(compiled=False)
    other = replace(stepper.state, count=7, memory=np.zeros(3))
    with pytest.raises(InputError, match="cannot continue from"):
        stepper.state = other
    assert stepper.t == 0.0


# --- programs shared between bodies and torques ---------------------------------------------------

FRAMES = (
    [5.0, 4.0, 1.5],
    [1.0, 1.0, 0.4],
    [0.7, 0.7, 0.7],
    [2.0, 3.0, 2.0],
    TENSOR,
    [3.0, 4.0, 4.5],
)


@pytest.mark.parametrize("method", ["NMB", "EXACT"])
def test_bodies_and_named_torques_that_differ_in_numbers_move_as_they_do_alone(method):
    """Each comes after others of its kind, whose machine code it takes."""
    for moment in (20.0, 7.0):
        for inertia in FRAMES:
            ends = []
            for compiled in (True, False):
                top = polhode.torques.heavy_top(moment)
                stepper = polhode.Stepper(
                    inertia, top, step=0.01, method=method, compiled=compiled, **START
                )
                stepper.step(20)
                ends.append(stepper.motion)
            assert np.array_equal(*ends), (moment, inertia)


def test_one_torque_of_the_users_with_many_bodies():
    torque, change = adjustable(0.5)
    for strength in (0.5, 3.0):
        change(strength)
        for inertia in FRAMES[:2]:
            ends = []
            for compiled in (True, False):
                stepper = polhode.Stepper(
                    inertia, torque, step=0.01, method="NMB", compiled=compiled, **START
                )
                stepper.step(10)
                ends.append(stepper.motion)
            np.testing.assert_allclose(*ends, rtol=1e-13, atol=1e-15)


# --- what a user may get wrong --------------------------------------------------------------------


def test_a_quaternion_that_looks_like_the_identity_is_warned_of():
    stepper = polhode.Stepper([1, 2, 3], step=0.1, omega0=(0, 1, 0))
    with pytest.warns(UserWarning, match=r"half turn.*write \(0, 0, 0, 1\)") as caught:
        stepper.quaternion = (1, 0, 0, 0)
    assert caught[0].filename == __file__


def test_a_size_of_step_in_place_of_a_number_of_steps():
    stepper = polhode.Stepper([1, 2, 3], step=0.1, omega0=(0, 1, 0))
    with pytest.raises(polhode.InputError, match=r"write step\(dt=0.01\)"):
        stepper.step(0.01)


def test_attributes_are_listed_and_near_misses_answered():
    stepper = polhode.Stepper([1, 2, 3], step=0.1, omega0=(0, 1, 0))
    assert {"omega", "quaternion"} <= set(dir(stepper)) and "position" in dir(
        polhode.Stepper([1, 2, 3], step=0.1, omega0=(0, 1, 0), velocity0=(1, 0, 0))
    )
    with pytest.raises(AttributeError, match="did you mean 'omega'"):
        stepper.angular_velocity  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'to_pandas'$"):  # no wrong hint
        stepper.to_pandas  # noqa: B018
    assert stepper.kinetic_energy == 1.0 and stepper.omega_spatial.tolist() == [0.0, 1.0, 0.0]


def test_a_torque_made_for_another_body_is_warned_of():
    tide = polhode.torques.gravity_gradient(polhode.RigidBody([1, 2, 2.5]), 0.1)
    with pytest.warns(UserWarning, match="made for another body"):
        polhode.Stepper([1, 2, 2.6], tide, step=0.1, omega0=(0, 1, 0))


def test_a_weight_made_for_another_mass_is_warned_of(recwarn):
    body = polhode.RigidBody([1, 2, 2.5], mass=3.0)
    polhode.Stepper(body, step=0.1, omega0=(0, 1, 0), force=polhode.weight(3.0))
    assert not recwarn
    with pytest.warns(
        UserWarning, match=r"force 'weight' was made for another body: its mass is 2.0"
    ):
        polhode.Stepper(body, step=0.1, omega0=(0, 1, 0), force=polhode.weight(2.0))
