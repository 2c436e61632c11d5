"""A system step by step: the same motion as integrate, and parts of all bodies that can be set."""

import copy
import pickle
import sys

import numpy as np
import polhode
import pytest

from polhode import RigidBody, Stepper, System
from polhode.errors import InputError, TorqueError

TILTED = RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, -0.2], [0.1, -0.2, 1.5]], mass=1.5)
BODIES = [RigidBody.box(1, 2, 3), RigidBody.box(1, 1, 2), TILTED]
START = {
    "position0": [[-2.0, 0.0, 0.1], [2.0, 0.1, 0.0], [0.0, 3.0, 0.2]],
    "velocity0": [[0.0, -0.5, 0.0], [0.0, 0.5, 0.1], [0.2, 0.0, 0.0]],
    "rotation0": polhode.rotations.exp([[0.1, 0.0, 0.0], [0.0, 0.4, 0.0], [0.3, 0.2, 0.1]]),
    "omega0": [[0.1, 2.0, 0.1], [1.0, 0.2, 0.3], [0.4, -1.0, 0.2]],
}
STRENGTH = 0.3


def pull(t, x, R):
    """Springs of the centres to each other, and of the axes 1."""
    forces, torques = np.zeros_like(x), np.zeros_like(x)
    for i in range(len(x)):
        for j in range(len(x)):
            forces[i] += STRENGTH * (x[j] - x[i])
            torques[i] += 0.2 * np.cross(R[i, :, 0], R[j, :, 0])
    return forces, torques


def make(method="LP2", system=None, **changes):
    options = {"step": 0.02, "method": method, **START, **changes}
    return Stepper(system or System(BODIES, pull), **options)


@pytest.mark.parametrize(("method", "compiled"), [("LP2", True), ("EXACT-RKN4", False)])
def test_steps_are_those_of_integrate(method, compiled):
    asked = {"step": 0.02, "method": method, "compiled": compiled, **START}
    run = polhode.integrate(System(BODIES, pull), t_span=(0, 1), **asked)
    stepper = make(method, compiled=compiled)
    stepper.step(30)
    saved = stepper.state
    for _ in range(20):
        stepper.step()
    for part in ("quaternion", "omega", "position", "velocity"):
        assert np.array_equal(getattr(stepper, part), getattr(run, part)[-1]), part
    assert stepper.t == pytest.approx(1.0)
    assert stepper.total_energy == pytest.approx(run.total_energy[-1], rel=1e-14)
    np.testing.assert_allclose(stepper.angular_momentum, run.angular_momentum[-1], atol=1e-14)
    away = -np.array(START["position0"])
    for other in (make(method, compiled=compiled, position0=away), copy.copy(stepper)):
        other.state = saved
        other.step(20)
        assert np.array_equal(other.motion, stepper.motion) and other.t == stepper.t


def test_a_copy_in_another_process_goes_on():
    stepper = make(compiled=False)
    stepper.step(3)
    other = pickle.loads(pickle.dumps(stepper))
    for one in (stepper, other):
        one.step(2)
    assert np.array_equal(other.motion, stepper.motion) and "3 bodies" in repr(other)


def test_steps_of_any_size_and_backwards():
    stepper = make("EXACT", compiled=False)
    stepper.step(10)
    for _ in range(2):
        stepper.step(dt=-0.1)
    assert stepper.t == pytest.approx(0.0, abs=1e-14)
    there, back = make("EXACT", compiled=False), make("EXACT", compiled=False, step=-0.02)
    there.step(5)
    back.state = there.state
    assert back.dt == 0.02
    for _ in range(5):
        back.step(dt=-0.02)
    np.testing.assert_allclose(back.position, START["position0"], atol=1e-13)
    np.testing.assert_allclose(back.omega, START["omega0"], atol=1e-13)


PARTS = ("rotation", "quaternion", "matrix", "omega", "momentum", "momentum_spatial")


@pytest.mark.parametrize("part", [*PARTS, "position", "velocity"])
def test_parts_are_set_for_all_bodies(part):
    """What was read and is set again moves on as if nothing had happened."""
    one, other = make(compiled=False), make(compiled=False)
    for stepper in (one, other):
        stepper.step(3)
    setattr(other, part, getattr(other, part))
    for stepper in (one, other):
        stepper.step(3)
    np.testing.assert_allclose(other.motion, one.motion, rtol=0.0, atol=1e-13)
    if part not in ("position", "rotation"):
        with pytest.raises(ValueError, match="read-only"):
            one.position[0] = 0.0


def test_impulses_on_one_body_and_on_all():
    stepper = make(compiled=False)
    masses = stepper.body.masses
    P, L, v = stepper.linear_momentum, stepper.angular_momentum, stepper.velocity
    push, arm = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.0, -0.2])
    stepper.apply_linear_impulse(push, body=2, at=arm)
    np.testing.assert_allclose(stepper.velocity[2] - v[2], push / 1.5, atol=1e-14)
    assert np.array_equal(stepper.velocity[:2], v[:2])
    np.testing.assert_allclose(stepper.linear_momentum - P, push, atol=1e-13)
    moved = np.cross(stepper.position[2] + arm, push)
    np.testing.assert_allclose(stepper.angular_momentum - L, moved, atol=1e-13)
    stepper.apply_impulse(push, body=1, frame="body")
    turned = stepper.matrix[1] @ push
    np.testing.assert_allclose(stepper.angular_momentum - L, moved + turned, atol=1e-13)
    P = stepper.linear_momentum
    stepper.apply_linear_impulse(masses[:, None] * [[0.0, 0.0, 1.0]])
    np.testing.assert_allclose(stepper.linear_momentum - P, [0, 0, masses.sum()], atol=1e-13)
    stepper.apply_linear_impulse(push, body=0, frame="body")
    stepper.apply_impulse(np.zeros((3, 3)))
    turned = stepper.matrix[0] @ push
    np.testing.assert_allclose(
        stepper.linear_momentum - P - turned, [0, 0, masses.sum()], atol=1e-13
    )


def test_a_global_that_changes_between_steps_takes_effect(monkeypatch):
    stepper = make(compiled=False)
    monkeypatch.setattr(sys.modules[__name__], "STRENGTH", 3.0)
    fresh = make(compiled=False)
    fresh.state = stepper.state
    for one in (stepper, fresh):
        one.step(5)
    assert np.array_equal(stepper.motion, fresh.motion)


def test_parameters_that_change_take_effect():
    @polhode.interaction(params={"k": 1.0})
    def springs(t, x, R, p):
        return p.k * (x.mean(axis=0) - x), np.zeros_like(x)

    stepper = make(system=System([BODIES[1]] * 3, springs), compiled=False)
    stepper.step()
    springs.params = springs.params._replace(k=0.0)
    stepper.step()
    before = stepper.velocity
    stepper.step()
    np.testing.assert_allclose(stepper.velocity, before, atol=1e-14)


def test_a_failing_interaction_leaves_the_state_before_the_step():
    def failing(t, x, R):
        if t > 0.09:
            raise KeyError("spring 7")
        return np.zeros_like(x), np.zeros_like(x)

    for compiled in (True, False):
        stepper = make(system=System(BODIES, failing), compiled=compiled)
        with pytest.raises(TorqueError, match="spring 7") as caught:
            stepper.step(100)
        assert caught.value.step_index == 4
        assert stepper.t == pytest.approx(0.08)


@pytest.mark.parametrize("method", ["LP2", "VLV", "EXACT"])
def test_each_step_takes_one_evaluation(method, tmp_path):
    """Whatever is stored on the way; one more starts the method, and one checks what is returned."""
    counted = []

    def expensive(t, x, R):
        counted.append(t)
        return pull(t, x, R)

    system = System(BODIES, expensive)
    asked = {"t_span": (0.0, 1.0), "step": 0.02, "method": method, **START}
    ways = [
        {},
        {"t_eval": np.linspace(0.0, 1.0, 171)},
        {"every": 7},
        {"events": lambda t, R, omega, x, v: x[0, 0] + 1.5},
        {"checkpoint": tmp_path / "long", "checkpoint_every": 10},
        {"breaks": [0.4]},
    ]
    for options in ways:
        counted.clear()
        run = polhode.integrate(system, **asked, **options)
        starts = 1 + len(options.get("breaks", []))
        assert len(counted) == 50 + starts + 1 and run.nfev == 50 + starts, options
    counted.clear()
    stepper = Stepper(system, **{k: v for k, v in asked.items() if k != "t_span"})
    assert len(counted) == 2
    stepper.step(50)
    for _ in range(10):
        stepper.step()
    assert len(counted) == 62
    stepper.velocity = stepper.velocity
    assert len(counted) == 63


ERRORS = [
    (lambda one: one.apply_impulse((0, 0, 1)), "a row for each of the 3 bodies"),
    (lambda one: one.apply_impulse((0, 0, 1), body=3), "one of 3, from 0 to 2, got 3"),
    (lambda one: one.apply_impulse((0, 1), body=1), "three numbers"),
    (lambda one: one.apply_linear_impulse((0, 0, 1), body=0), "fixed point"),
    (lambda one: setattr(one, "position", (0, 0, 1)), "a row of three numbers"),
    (lambda one: setattr(one, "velocity", np.ones((3, 3))), "fixed point"),
    (lambda one: setattr(one, "omega", np.ones((2, 3))), "one for each of the 3"),
    (lambda one: setattr(one, "state", 7), "cannot continue from 7"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_bad_parts_are_refused_and_nothing_changes(call, message):
    still = {**START, "velocity0": None}
    stepper = Stepper(System(BODIES, pull, fixed=[0]), step=0.02, compiled=False, **still)
    before = stepper.motion
    with pytest.raises(InputError, match=message):
        call(stepper)
    assert np.array_equal(stepper.motion, before)


def test_a_stepper_as_a_card():
    text = polhode.view.card(make(compiled=False))
    assert "3 bodies" in text and "angular momentum" in text
