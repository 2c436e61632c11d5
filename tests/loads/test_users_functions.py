"""Functions of users that the package wraps, in loads and motors, are treated as those of torques:
compared with their Python, called back where they do not compile, and noticed when they change."""

import numpy as np
import pytest

import polhode
from polhode.errors import InputError

BODY = polhode.RigidBody([1.0, 2.0, 2.5], mass=2.0)
START = {"omega0": (0.1, 0.2, 0.3), "position0": (3.0, 0.0, 0.0)}


def run(load, **options):
    return polhode.integrate(BODY, load, (0, 1), 0.1, "LP2", **START, **options)


def overflowing(t, x, v, R):
    n = 3037000500
    return np.array([0.0, 0.0, 1e-19 * (n * n * 4)]), np.zeros(3)


def motor(t, R, omega, speed):
    n = 3037000500
    return 1e-19 * (n * n * 4)


def driven(torque, **options):
    body = BODY.with_rotors([polhode.Rotor((0, 0, 1), 0.5, torque=torque)])
    return polhode.integrate(body, None, (0, 1), 0.1, "LP2", omega0=(0.1, 0.2, 0.3), **options)


@pytest.mark.compiled
def test_what_overflows_in_machine_code_is_called_back():
    for found, python in (
        (run(polhode.load(overflowing)), run(polhode.load(overflowing), compiled=False)),
        (driven(motor), driven(motor, compiled=False)),
    ):
        assert found.mode == "callback" and "Python" in found.note
        np.testing.assert_array_equal(found.motion, python.motion)


@pytest.mark.compiled
def test_what_numba_cannot_compile_is_called_back():
    from scipy.spatial.transform import Rotation

    def twisted(t, x, v, R):
        return -x, -Rotation.from_matrix(R).as_rotvec()

    assert run(polhode.load(twisted)).mode == "callback"

    class Constant:
        __hash__ = None

        def __call__(self, t):
            return 0.1

    assert driven(Constant()).mode == "callback"


def stiff(k):
    def spring(t, x, v, R):
        return -k * x, np.zeros(3)

    return polhode.load(spring)


def pushing(k):
    def torque(t):
        return k

    return torque


@pytest.mark.parametrize(
    "start",
    [
        lambda k, folder: run(stiff(k), checkpoint=folder),
        lambda k, folder: driven(pushing(k), checkpoint=folder),
    ],
)
def test_a_checkpoint_notices_another_function(start, tmp_path):
    start(1.0, tmp_path / "run")
    with pytest.raises(InputError, match=r"changed|differs|another"):
        start(2.0, tmp_path / "run")


def test_a_load_that_is_called_answers_anew():
    factor = [1.0]

    @polhode.load
    def pull(t, x, v, R):
        return -factor[0] * x, np.array([0.0, 0.0, factor[0]])

    place = (0.0, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), np.eye(3))
    force, _ = pull(*place)
    force[:] = 99.0
    factor[0] = 5.0
    force, torque = pull(*place)
    assert force.tolist() == [-5.0, 0.0, 0.0] and torque.tolist() == [0.0, 0.0, 5.0]


def test_sums_begin_at_zero_and_a_load_is_no_force():
    pull = polhode.flight.spring(1.0)
    assert sum([pull, pull])(0.0, (1, 0, 0), (0, 0, 0), np.eye(3))[0].tolist() == [-2.0, 0.0, 0.0]
    with pytest.raises(InputError, match="in place of the torque"):
        polhode.integrate(BODY, None, (0, 1), 0.1, force=pull, **START)


def test_loads_made_for_another_body_are_warned_of_everywhere():
    gravity = polhode.flight.gravity(1.0, BODY)
    with pytest.warns(UserWarning, match="made for another body"):
        polhode.Flow([1.0, 1.0, 1.0], gravity, step=0.1)
    with pytest.warns(UserWarning, match="made for another body"):
        polhode.ensemble([3.0, 3.0, 4.0], gravity, (0, 1), 0.1, "LP2", n=2, **START)


def test_a_motor_with_optional_arguments_gets_the_time():
    def push(t, a=0.1, b=2.0, c=3.0):
        return a

    assert driven(push, compiled=False).rotor_speeds[-1, 0] == pytest.approx(
        driven(0.1, compiled=False).rotor_speeds[-1, 0]
    )
