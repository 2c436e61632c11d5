"""Gauss collocation: its coefficients, what it keeps, and where it stops."""

from fractions import Fraction

import numpy as np
import polhode
import pytest
from polhode import InputError, RigidBody, System
from polhode.methods._gauss_stages import STAGES, coefficients

TOP = polhode.problems.get("krysl/slow-top")
BODIES = [RigidBody.box(1, 0.8, 0.5, mass=2.0), RigidBody.box(0.6, 0.5, 0.4, mass=1.0)]
START = {
    "position0": [(-2 / 3, 0, 0.1), (4 / 3, 0, -0.2)],
    "velocity0": [(0, -0.4, 0), (0, 0.8, 0)],
    "omega0": [(0.3, 0.2, 1.0), (0.5, -0.4, 0.7)],
}


def bound(count, step=0.4, **options):
    """Two boxes that circle each other."""
    system = System(BODIES, polhode.interactions.gravity(BODIES, G=1.0))
    given = {"t_span": (0, count * step), "step": step, "method": "GAUSS16", **START, **options}
    return polhode.integrate(system, **given)


def test_the_coefficients():
    mu, b, c = coefficients(float)
    for i in range(STAGES):
        for j in range(STAGES):  # without rounding
            assert Fraction(mu[i][j]) + Fraction(mu[j][i]) == 1
    for k in range(1, 2 * STAGES + 1):  # the conditions of order 16
        assert sum(b * np.array(c) ** (k - 1)) == pytest.approx(1.0 / k, rel=2e-15)
    for k in range(1, STAGES + 1):
        found = np.array(mu) * b @ np.array(c) ** (k - 1)
        assert np.allclose(found, np.array(c) ** k / k, rtol=0.0, atol=3e-16)


def test_large_steps_of_a_triaxial_top():
    body = RigidBody((2.0, 3.0, 4.5))
    given = {"torque": polhode.torques.heavy_top(4.0, (0.1, -0.2, 0.5)), "t_span": (0, 12)}
    given["omega0"] = (0.7, -0.4, 1.1)
    exact = polhode.integrate(body, rtol=1e-13, every="end", **given)
    run = polhode.integrate(body, step=0.75, method="GAUSS16", **given)
    assert run.steps == 16
    assert abs(run.omega[-1] - exact.omega[-1]).max() < 1e-9
    assert (run.rotation[-1].inv() * exact.rotation[-1]).magnitude() < 1e-9


def test_a_sphere_and_a_steady_spin_are_followed_exactly():
    for body, omega0 in (
        (RigidBody((2.0, 2.0, 2.0)), (1.0, -2.0, 0.5)),
        (RigidBody((2.0, 3.0, 4.5)), (0, 0, 3.0)),
    ):
        run = polhode.integrate(body, t_span=(0, 20), step=4.0, method="GAUSS16", omega0=omega0)
        exact = polhode.exact.free_body(body, run.rotation[0], omega0, run.t)
        assert (run.rotation.inv() * exact.rotation).magnitude().max() < 1e-13


def test_momenta_of_a_pair():
    run = bound(30_000, every=300)
    L, P = run.angular_momentum, run.linear_momentum
    assert abs(L - L[0]).max() < 2e-14 * np.linalg.norm(L[0])
    assert abs(P - P[0]).max() < 1e-13
    assert np.ptp(run.total_energy) < 1e-11 * abs(run.total_energy[0])


def test_a_step_that_has_no_solution_is_told():
    with pytest.raises(
        polhode.IntegrationError, match=r"GAUSS16 could not take the step .*10 rad in a step"
    ):
        TOP.integrate("GAUSS16", 5.0)


def test_evaluations_are_counted():
    calls = []

    def counted(t, R):
        calls.append(t)
        return np.array([0.1 * R[2, 1], -0.1 * R[2, 0], 0.0])

    given = {"t_span": (0, 2), "step": 0.5, "method": "GAUSS16", "omega0": (0.3, 0.2, 1.0)}
    run = polhode.integrate([2.0, 3.0, 4.5], counted, compiled=False, **given)
    assert run.nfev == len(calls)
    compiled = polhode.integrate([2.0, 3.0, 4.5], counted, **given)
    assert compiled.nfev == run.nfev
    assert np.array_equal(compiled.omega, run.omega)
    few = bound(3)
    assert few.nfev % STAGES == 4  # each step has one more, and so has the start
    assert few.nfev > 3 * STAGES


@pytest.mark.parametrize("options", [{"dtype": "float32"}, {"device": "cuda"}])
def test_ensembles_run_in_doubles_on_processors(options):
    with pytest.raises(InputError, match="array of doubles"):
        polhode.ensemble([1, 2, 3], n=2, t_span=(0, 1), step=0.1, method="GAUSS16", **options)
