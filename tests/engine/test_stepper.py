"""The Stepper: the same motion as integrate, restarted without loss."""

import sys
from dataclasses import replace

import numpy as np
import pytest

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
    with pytest.raises(InputError, match="cannot go on from"):
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
    with pytest.raises(AttributeError):
        setattr(make(torque=None), name, 0.02)


def test_a_state_of_another_size_leaves_the_stepper_as_it_was():
    stepper = make(compiled=False)
    other = replace(stepper.state, count=7, memory=np.zeros(3))
    with pytest.raises(InputError, match="cannot go on from"):
        stepper.state = other
    assert stepper.t == 0.0
