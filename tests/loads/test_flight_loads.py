"""Named loads of bodies in flight, against their formulas and their potentials."""

import numpy as np
import pytest

import polhode
from polhode import flight, rotations
from polhode.errors import InputError

BODY = polhode.RigidBody([[2.0, 0.1, -0.2], [0.1, 2.5, 0.3], [-0.2, 0.3, 3.0]], mass=4.0)
X, V = np.array([3.0, -1.0, 2.0]), np.array([0.4, 0.2, -0.7])
OMEGA = np.array([0.3, -0.8, 0.5])
R = rotations.matrices(rotations.exp([0.4, -0.7, 1.1]))
LOADS = {
    "gravity": flight.gravity(7.0, BODY),
    "magnet": flight.magnet((0.3, -0.2, 0.9), 5.0, axis=(1.0, 2.0, -1.0)),
    "spring": flight.spring(3.0, point=(0.1, 0.4, -0.2), anchor=(1.0, 1.0, 0.0), length=0.7),
}


@pytest.mark.parametrize("name", LOADS)
def test_force_and_torque_are_the_slopes_of_the_potential(name):
    load, h = LOADS[name], 1e-5

    def energy(x, R):
        return load.force.potential(0.0, tuple(x), tuple(map(tuple, R)), load.force.params)

    force, torque = load(0.0, X, V, R, OMEGA)
    for i, e in enumerate(np.eye(3)):
        slope = (energy(X + h * e, R) - energy(X - h * e, R)) / (2 * h)
        assert force[i] == pytest.approx(-slope, abs=1e-8)
        turns = [rotations.matrices(rotations.exp(s * h * e)) @ R for s in (1, -1)]
        slope = (energy(X, turns[0]) - energy(X, turns[1])) / (2 * h)
        assert torque[i] == pytest.approx(-slope, abs=1e-8)


def test_gravity_of_a_body_is_that_of_its_points():
    """Eight masses at the corners of a small box, summed, against the second degree."""
    corners = 0.003 * np.array(
        [[x, 2 * y, 3 * z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    )
    inertia = sum((c @ c) * np.eye(3) - np.outer(c, c) for c in corners)
    body = polhode.RigidBody(inertia, mass=8.0)
    points = corners @ R.T
    pulls = [-7.0 * (X + c) / np.linalg.norm(X + c) ** 3 for c in points]
    force, torque = flight.gravity(7.0, body)(0.0, X, V, R)
    np.testing.assert_allclose(force, np.sum(pulls, axis=0), rtol=1e-9)
    exact = np.sum([np.cross(c, pull) for c, pull in zip(points, pulls, strict=True)], axis=0)
    np.testing.assert_allclose(torque, exact, rtol=2e-4)


def test_a_magnet_has_no_torque_about_the_axis_of_the_field():
    """The field is symmetric about its axis: the total torque about it is zero."""
    load, axis = LOADS["magnet"], np.array([1.0, 2.0, -1.0])
    force, torque = load(0.0, X, V, R)
    spin = np.linalg.norm(axis)
    assert abs((np.cross(X, force) + torque) @ axis / spin) < 1e-14
    B = _field(X, 5.0, axis / spin)
    np.testing.assert_allclose(torque, np.cross(R @ [0.3, -0.2, 0.9], B), rtol=1e-12)


def _field(x, strength, axis):
    r = np.linalg.norm(x)
    return strength * (3.0 * x * (x @ axis) / r**2 - axis) / r**3


def dipole(x):
    return _field(x, 5.0, np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0))


def dipole_slopes(x):
    return np.array([[(dipole(x + h) - dipole(x - h))[i] / 2e-4 for h in STEPS] for i in range(3)])


STEPS = 1e-4 * np.eye(3)


@pytest.mark.parametrize("given", [{"length": 1.0}, {"gradient": dipole_slopes}])
def test_a_magnet_in_the_field_of_a_dipole_given_as_a_function(given):
    moment = (0.3, -0.2, 0.9)
    load, built_in = flight.magnet_in_field(moment, dipole, **given), LOADS["magnet"]
    for mine, theirs in zip(load(0.0, X, V, R), built_in(0.0, X, V, R), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-7)
    energies = [one.force.potential(0.0, X, R, one.force.params) for one in (load, built_in)]
    assert energies[0] == pytest.approx(energies[1], rel=1e-14)


def growing(t, x):
    return np.array([-0.5 * x[0], -0.5 * x[1], 1.0 + x[2]]) * (1.0 + t)


def growing_slopes(t, x):
    return np.array([[-0.5, 0.0, 0.0], [0.0, -0.5, 0.0], [0.0, 0.0, 1.0]]) * (1.0 + t)


@pytest.mark.compiled
def test_a_magnet_in_a_field_that_changes_with_time():
    """In a gradient of 1 + t the force is the moment times that, and the body, whose moment lies
    along the field, does not turn."""
    load = flight.magnet_in_field((0.0, 0.0, 2.0), growing, gradient=growing_slopes)
    start = {"omega0": (0.0, 0.0, 3.0), "position0": (0.0, 0.0, 1.0)}
    run = polhode.integrate(
        polhode.RigidBody([2.0, 2.5, 3.0], mass=4.0), load, (0, 2), 0.1, "EXACT-RKN4", **start
    )
    assert run.mode == "compiled", run.note
    t = run.t
    np.testing.assert_allclose(run.velocity[:, 2], 0.5 * (t + 0.5 * t**2), atol=1e-9)
    np.testing.assert_allclose(run.omega, np.tile([0.0, 0.0, 3.0], (len(t), 1)), atol=1e-12)


def test_a_damped_spring_takes_energy_away():
    pull = flight.spring(3.0, point=(0.1, 0.4, -0.2), damping=0.5)
    force, torque = pull(0.0, X, V, R, OMEGA)
    arm = R @ [0.1, 0.4, -0.2]
    end, rate = X + arm, V + np.cross(R @ OMEGA, arm)
    n = end / np.linalg.norm(end)
    np.testing.assert_allclose(force, -3.0 * end - 0.5 * (rate @ n) * n, atol=1e-13)
    np.testing.assert_allclose(torque, np.cross(arm, force), atol=1e-13)


def test_thrust_and_drag():
    force, torque = flight.thrust((0.0, 1.0, 2.0), (0.3, 0.0, 0.1))(0.0, X, V, R)
    np.testing.assert_allclose(force, R @ [0.0, 1.0, 2.0], atol=1e-15)
    np.testing.assert_allclose(torque, R @ np.cross([0.3, 0.0, 0.1], [0.0, 1.0, 2.0]), atol=1e-15)
    wind = np.array([1.0, 0.0, 0.0])
    slow, fast = flight.drag(linear=0.3, wind=wind), flight.drag(quadratic=0.3, wind=wind)
    np.testing.assert_allclose(slow(0.0, R, x=X, v=V), -0.3 * (V - wind), atol=1e-15)
    np.testing.assert_allclose(
        fast(0.0, R, x=X, v=V), -0.3 * np.linalg.norm(V - wind) * (V - wind), atol=1e-15
    )


def test_control():
    target = rotations.exp([0.1, 0.2, -0.3])
    steer = flight.attitude_control(2.0, 0.7, target)
    turned = rotations.matrices(target)
    np.testing.assert_allclose(steer(0.0, turned, (0, 0, 0)), 0.0, atol=1e-15)
    turn = rotations.matrices(rotations.exp([0.0, 0.4, 0.0]))
    expected = [0.0, -2.0 * np.sin(0.4), -0.7]
    np.testing.assert_allclose(steer(0.0, turned @ turn, (0, 0, 1)), expected, atol=1e-12)

    def measured(t):
        """The field in the body, which moves and turns."""
        turned = R @ rotations.matrices(rotations.exp(t * OMEGA))
        return turned.T @ _field(X + t * V, 5.0, np.array([0.0, 0.0, 1.0]))

    rate = (measured(1e-5) - measured(-1e-5)) / 2e-5
    brake = flight.detumble(0.4, 5.0)(0.0, R, OMEGA, X, V)
    np.testing.assert_allclose(brake, -0.4 * np.cross(rate, measured(0.0)), atol=1e-9)


@pytest.mark.compiled
def test_all_of_them_compile_and_give_what_python_gives():
    total = sum(LOADS.values(), flight.thrust((0.0, 0.1, 0.0), (0.1, 0.0, 0.0)))
    total = total + flight.drag(linear=0.01) + flight.drag(quadratic=0.02)
    total = total + flight.detumble(0.1, 5.0) + flight.attitude_control(0.1, 0.1)
    total = total + flight.spring(1.0, point=(0.1, 0.0, 0.0), damping=0.2)
    runs = [
        polhode.integrate(
            BODY, total, (0, 0.5), 0.05, "LP2", omega0=OMEGA, position0=X, velocity0=V, compiled=c
        )
        for c in (True, False)
    ]
    assert [run.mode for run in runs] == ["compiled", "python"]
    np.testing.assert_allclose(runs[0].motion, runs[1].motion, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: flight.drag(), ["one coefficient", "linear"]),
        (lambda: flight.drag(1.0, 2.0), ["one coefficient"]),
        (lambda: flight.magnet((0, 0, 1), 1.0, axis=(0, 0, 0)), ["axis", "must not be zero"]),
        (lambda: flight.spring("stiff"), ["stiffness"]),
        (lambda: flight.thrust((1, 2)), ["force", "three numbers"]),
        (lambda: flight.gravity(np.nan, BODY), ["mu", "finite"]),
    ],
)
def test_bad_parameters_are_refused(make, words):
    with pytest.raises(InputError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
