"""Symplectic Euler, its adjoint and Newmark on a vector space."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from polhode.errors import InputError
from polhode.translation import adjoint, newmark, symplectic_euler

MASS = np.array([[2.0, 0.5], [0.5, 1.0]])
START = np.array([0.4, -0.3]), np.array([0.2, 0.7])


def force(t, u):
    return np.array([-u[0] - u[0] * u[1] ** 2, -2.0 * u[1] - u[0] ** 2 * u[1]])


def end(method, step, steps, mass=MASS, at=START):
    _, u, p = method(*at, force, step=step, steps=steps, mass=mass)
    return np.concatenate([u[-1], p[-1]])


@pytest.mark.parametrize(("method", "order"), [(symplectic_euler, 1), (adjoint, 1), (newmark, 2)])
@pytest.mark.parametrize("mass", [1.5, (2.0, 1.0), MASS], ids=["number", "vector", "matrix"])
def test_order(method, order, mass):
    M = np.broadcast_to(mass, (2,)) * np.eye(2) if np.ndim(mass) < 2 else mass

    def rate(t, y):
        return np.concatenate([np.linalg.solve(M, y[2:]), force(t, y[:2])])

    exact = solve_ivp(
        rate, (0.0, 2.0), np.concatenate(START), method="DOP853", rtol=1e-12, atol=1e-13
    ).y[:, -1]
    coarse, fine = (np.linalg.norm(end(method, 2.0 / n, n, mass) - exact) for n in (400, 800))
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.05)


@pytest.mark.parametrize("method", [symplectic_euler, adjoint, newmark])
def test_symplectic(method):
    """J^T Omega J = Omega for the Jacobian J of a step."""
    y, e = np.concatenate(START), 1e-6
    columns = [
        (
            end(method, 0.3, 1, at=np.split(y + e * d, 2))
            - end(method, 0.3, 1, at=np.split(y - e * d, 2))
        )
        / (2 * e)
        for d in np.eye(4)
    ]
    J = np.transpose(columns)
    Omega = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    assert np.abs(J.T @ Omega @ J - Omega).max() < 1e-9


def test_newmark_is_the_composition():
    """Xi_h = Phi*_{h/2} Phi_{h/2}."""
    half = np.split(end(symplectic_euler, 0.1, 1), 2)
    assert np.abs(end(adjoint, 0.1, 1, at=half) - end(newmark, 0.2, 1)).max() < 1e-15


def test_adjoint_undoes_a_step_back():
    back = np.split(end(symplectic_euler, -0.2, 1), 2)
    assert np.abs(end(adjoint, 0.2, 1, at=back) - np.concatenate(START)).max() < 1e-15


def test_newmark_is_velocity_verlet():
    _, u, p = newmark(*START, force, step=0.1, steps=1, mass=2.0)
    q, v = START[0], START[1] / 2.0
    a = force(0.0, q) / 2.0
    q1 = q + 0.1 * v + 0.005 * a
    assert np.allclose(u[1], q1, rtol=0, atol=1e-15)
    assert np.allclose(p[1], 2.0 * (v + 0.05 * (a + force(0.1, q1) / 2.0)), rtol=0, atol=1e-15)


def test_time_and_calls():
    times = []

    def push(t, u):
        times.append(t)
        return np.array([t])

    t, u, p = newmark([0.0], [0.0], push, step=0.5, steps=4, t=1.0)
    assert np.array_equal(t, [1.0, 1.5, 2.0, 2.5, 3.0])
    assert times == list(t)
    assert (u.shape, p.shape) == ((5, 1), (5, 1))
    assert p[-1, 0] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 0.0}, "step must not be zero"),
        ({"steps": -1}, "whole number"),
        ({"mass": -1.0}, "positive"),
        ({"mass": [1.0, 2.0, 3.0]}, "got shape"),
        ({"mass": [[1.0, 0.0], [1.0, 1.0]]}, "symmetric"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(InputError, match=message):
        newmark(*START, force, **{"step": 0.1, "steps": 3, **options})
    with pytest.raises(InputError, match="equally many"):
        newmark([1.0, 2.0], [1.0], force, step=0.1, steps=1)
