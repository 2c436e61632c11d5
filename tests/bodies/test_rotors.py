"""Rotors of a body: momentum, energy, and what comes back from files and copies."""

import copy
import pickle

import numpy as np
import pytest

import polhode
from polhode import RigidBody, Rotor

INERTIA = np.array([[1.0, 0.1, 0.0], [0.1, 2.0, 0.05], [0.0, 0.05, 2.5]])
ROTORS = (
    Rotor((0, 0, 2), 0.1, momentum=3.0),
    Rotor((1, 1, 0), 0.1, speed=30.0),
    Rotor((1, 0, 1), 0.2, torque=0.5, speed=-4.0),
)
OMEGA = np.array([1.0, 2.0, 3.0])


def points(axis, radius, inertia):
    """Four masses on a ring about an axis, which have this moment about it."""
    axis = np.array(axis) / np.linalg.norm(axis)
    side = np.cross(axis, [0.3, 0.5, 0.8])
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    return inertia / (4 * radius**2), radius * np.array([side, other, -side, -other]), axis


def test_momentum_and_energy_are_those_of_the_masses():
    """A body with a ring of points as its rotor: sums over the points, moving as they do."""
    mass, ring, axis = points((1, 2, 0.5), 0.3, 0.04)
    own = np.diag([1.0, 2.0, 2.5])
    whole = own + sum(mass * (x @ x * np.eye(3) - np.outer(x, x)) for x in ring)
    body = RigidBody(whole, rotors=[Rotor((1, 2, 0.5), 0.04, torque=0.0, speed=20.0)])
    velocities = [np.cross(OMEGA + 20.0 * axis, x) for x in ring]
    momentum = own @ OMEGA + sum(
        mass * np.cross(x, v) for x, v in zip(ring, velocities, strict=True)
    )
    energy = 0.5 * OMEGA @ own @ OMEGA + sum(0.5 * mass * v @ v for v in velocities)
    np.testing.assert_allclose(body.momentum(OMEGA), momentum, rtol=1e-14)
    assert body.kinetic_energy(OMEGA) == pytest.approx(energy, rel=1e-14)
    np.testing.assert_allclose(
        body.axes @ np.diag(body.moments) @ body.axes.T, whole - 0.04 * np.outer(axis, axis)
    )


def test_speeds_at_the_start():
    body = RigidBody(INERTIA, rotors=ROTORS)
    np.testing.assert_allclose(body.rotor_speeds(OMEGA), [27.0, 30.0, -4.0])
    np.testing.assert_allclose(body.omega(body.momentum(OMEGA)), OMEGA, rtol=1e-14)
    many = np.array([OMEGA, 2 * OMEGA])
    np.testing.assert_allclose(body.momentum(many)[1], body.momentum(2 * OMEGA))
    assert body.kinetic_energy(many).shape == (2,) and body.rotor_speeds(many).shape == (2, 3)


def test_only_rotors_that_turn_freely_are_taken_from_the_inertia():
    held = RigidBody([1, 2, 2.5], rotors=[Rotor((0, 0, 1), 0.5, speed=3.0)])
    free = RigidBody([1, 2, 2.5], rotors=[Rotor((0, 0, 1), 0.5, speed=3.0, torque=0.0)])
    assert held.moments.tolist() == [1.0, 2.0, 2.5] and free.moments.tolist() == [1.0, 2.0, 2.0]
    assert held.inertia.tolist() == free.inertia.tolist() and free.is_principal
    assert held != free and free != RigidBody([1, 2, 2.5])


@pytest.mark.parametrize(
    "again",
    [
        copy.deepcopy,
        lambda body: pickle.loads(pickle.dumps(body)),
        lambda body: RigidBody.from_dict(body.to_dict()),
    ],
)
def test_the_same_again(again):
    body = RigidBody(INERTIA, rotors=ROTORS, name="gyrostat")
    assert again(body) == body and again(body).moments.tolist() == body.moments.tolist()


def test_with_rotors():
    box = RigidBody.box(1, 2, 3, mass=2.0).with_units("SI")
    body = box.with_rotors(ROTORS[:1])
    assert body.rotors == ROTORS[:1] and body.shape == box.shape and body.units == box.units
    assert body.with_rotors([]) == box


def test_a_function_is_not_stored_and_that_is_said():
    def motor(t):
        return 0.1

    body = RigidBody([1, 2, 2.5], rotors=[Rotor((0, 0, 1), 0.1, torque=motor)])
    stored = RigidBody.from_dict(body.to_dict())
    assert stored.rotors[0].torque == "motor"
    with pytest.raises(
        polhode.InputError, match="'motor' of a rotor was a function, which is not stored"
    ):
        polhode.integrate(stored, t_span=(0, 1), step=0.1, omega0=OMEGA)
