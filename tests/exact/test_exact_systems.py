"""The reference of systems: exact where the motion is known, as others compute it where it is not."""

import math

import numpy as np
import polhode
import pytest

from polhode import RigidBody, System, rotations
from polhode.errors import InputError
from polhode.exact import reference

TILTED = RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, -0.2], [0.1, -0.2, 1.5]], mass=1.5)
MASSES = [2.0, 1.5]


@polhode.pair(each={"m": MASSES})
def gravity(r, Ri, Rj, a, b):
    return a.m * b.m * r / np.sqrt((r * r).sum()) ** 3, np.zeros(3), np.zeros(3)


@polhode.pair(
    links=[(0, 1), (1, 2)], potential=lambda r, Ri, Rj: 0.5 * (r * r).sum() - Ri[:, 0] @ Rj[:, 0]
)
def bushing(r, Ri, Rj):
    T = np.cross(Ri[:, 0], Rj[:, 0])
    return r, T, -T


def test_two_bodies_go_round_each_other_and_turn_by_themselves():
    """Kepler's ellipse from its pericentre, with the attitudes of two free bodies."""
    bodies = [RigidBody([1.0, 2.0, 2.5], mass=2.0), TILTED]
    mu, a, e, t = sum(MASSES), 2.0, 0.3, np.linspace(0.0, 20.0, 5)
    speed = math.sqrt(mu / a * (1.0 + e) / (1.0 - e))
    shares = np.array([-MASSES[1], MASSES[0]])[:, None] / mu
    spins = np.array([[0.1, 1.0, 0.2], [0.3, 0.2, 0.9]])
    found = reference(
        System(bodies, gravity),
        t,
        omega0=spins,
        position0=shares * [[a * (1.0 - e), 0.0, 0.0]],
        velocity0=shares * [[0.0, speed, 0.0]],
    )
    assert found.error.max() < 1e-12 and found.position.shape == (5, 2, 3)
    E = M = math.sqrt(mu / a**3) * t
    for _ in range(60):
        E = E - (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
    flat = a * np.stack([np.cos(E) - e, math.sqrt(1.0 - e * e) * np.sin(E), 0.0 * E], axis=1)
    np.testing.assert_allclose(found.position, shares * flat[:, None], rtol=0.0, atol=1e-12)
    for i, body in enumerate(bodies):
        alone = polhode.exact.free_body(body, None, spins[i], t)
        assert rotations.angle_between(found.quaternion[:, i], alone.quaternion).max() < 1e-12
        np.testing.assert_allclose(found.omega[:, i], alone.omega, rtol=0.0, atol=1e-13)
        np.testing.assert_allclose(found.momentum[:, i], body.momentum(alone.omega), atol=1e-13)


@pytest.mark.slow
def test_three_bodies_on_bushings():
    """One of them fixed, and one with axes of its own: against another method, and by the energy."""
    bodies = [RigidBody.box(1, 2, 3), TILTED, RigidBody.box(1, 1, 2)]
    system, t = System(bodies, bushing, fixed=[0]), np.linspace(0.0, 3.0, 4)
    start = {
        "position0": [[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [2.0, 0.0, 0.1]],
        "rotation0": rotations.exp([[0.1, 0.0, 0.0], [0.0, 0.4, 0.0], [0.3, 0.2, 0.1]]),
        "omega0": [[0.1, 1.0, 0.1], [1.0, 0.2, 0.3], [0.4, -1.0, 0.2]],
    }
    found = reference(system, t, **start)
    assert found.error.max() < 1e-12
    near = polhode.integrate(system, t_span=(0.0, 3.0), rtol=1e-13, t_eval=t, **start)
    for name in ("quaternion", "omega", "position", "velocity"):
        np.testing.assert_allclose(getattr(found, name), getattr(near, name), rtol=0.0, atol=1e-10)
    moving = system.kinetic_energy(found.omega, found.velocity)
    resting = [
        system.interaction.potential_energy(0.0, x, R)
        for x, R in zip(found.position, found.matrix, strict=True)
    ]
    energy = moving + resting
    np.testing.assert_allclose(energy, energy[0], rtol=1e-13)
    back = {f"{name}0": getattr(found, name)[-1] for name in ("omega", "position", "velocity")}
    again = reference(system, t[::-1], rotation0=found.quaternion[-1], **back)
    np.testing.assert_allclose(again.position[-1], start["position0"], rtol=0.0, atol=1e-12)


def test_what_goes_with_one_body_is_refused():
    with pytest.raises(InputError, match="torque goes with one body"):
        reference(System([TILTED], None), [0.0, 1.0], torque="heavy_top")
    with pytest.raises(InputError, match="a body turns"):
        reference(System([TILTED], None), [0.0, 1e9], omega0=(0.0, 1.0, 0.0))
