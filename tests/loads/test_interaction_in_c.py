"""Interactions in C, by a real compiler."""

import ctypes
import pickle

import numpy as np
import polhode
import pytest

from c_code import COMPILER, compiled
from polhode import RigidBody, System
from polhode.errors import InputError

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
TEXT = r"""
#include <math.h>
int calls;
void gravity(double, int, const double *, const double *, double *, double *, void *);
void aligned(double, int, const double *, const double *, double *, double *, void *);
void damper(double, int, const double *, const double *, const double *, const double *, double *, double *, void *);
void gravity(double t, int n, const double *x, const double *R, double *F, double *N, void *p) {
    const double *G = p, *m = G + 1;
    calls++;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double r[3], d = 0.0;
            for (int k = 0; k < 3; k++) { r[k] = x[3 * j + k] - x[3 * i + k]; d += r[k] * r[k]; }
            for (int k = 0; k < 3; k++) {
                double f = G[0] * m[i] * m[j] / (d * sqrt(d)) * r[k];
                F[3 * i + k] += f; F[3 * j + k] -= f;
            }
        }
    (void)t; (void)R; (void)N;
}
void aligned(double t, int n, const double *x, const double *R, double *F, double *N, void *p) {
    for (int i = 0; i < n; i++) {  /* the third axis to that of space, R e3 x e3 */
        N[3 * i] = R[9 * i + 5]; N[3 * i + 1] = -R[9 * i + 2]; N[3 * i + 2] = 0.0;
    }
    (void)t; (void)x; (void)F; (void)p;
}
void damper(double t, int n, const double *x, const double *R, const double *v, const double *w, double *F, double *N, void *p) {
    for (int i = 0; i < 3 * n; i++) { F[i] = -0.1 * v[i]; N[i] = -0.2 * w[i]; }
    (void)t; (void)x; (void)R; (void)p;
}
"""
MASSES = [2.0, 3.0]
BODIES = [
    RigidBody([1.0, 2.0, 2.5], mass=2.0),
    RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, -0.2], [0.1, -0.2, 1.5]], mass=3.0),
]
START = {
    "position0": [[1.8, 0.0, 0.0], [-1.2, 0.0, 0.0]],
    "velocity0": [[0.0, 0.6, 0.1], [0.0, -0.4, 0.0]],
    "omega0": [[0.1, 1.0, 0.2], [0.3, 0.2, 0.9]],
}


@pytest.fixture(scope="module")
def library():
    return compiled([TEXT])


@pytest.fixture(scope="module")
def acting(library):
    return {
        "gravity": polhode.interaction(library.gravity, params={"G": 1.0, "m": MASSES}),
        "aligned": polhode.interaction(library.aligned, external=True),
        "damper": polhode.interaction(library.damper, uses_velocity=True, external=True),
    }


@polhode.interaction(external=True)
def the_same(t, x, R, v=None, omega=None):
    return the_forces(x, R, v, omega)


def the_forces(x, R, v, omega):
    r = x[1] - x[0]
    F = 6.0 / (r @ r) ** 1.5 * r
    N = np.zeros_like(x)
    N[:, 0], N[:, 1] = R[:, 1, 2], -R[:, 0, 2]
    return np.stack((F, -F)) - 0.1 * v, N - 0.2 * omega


def test_an_interaction_in_c_gives_forces_and_torques(acting):
    F, N = acting["gravity"](0.0, [[0, 0, 0], [0, 2, 0]])
    assert F.tolist() == [[0.0, 1.5, 0.0], [0.0, -1.5, 0.0]] and not N.any()
    R = polhode.rotations.matrices(polhode.rotations.exp([[0.3, 0.0, 0.0], [0.0, 0.4, 0.0]]))
    _, N = acting["aligned"](0.0, np.zeros((2, 3)), R)
    np.testing.assert_allclose(N, np.cross(R[:, :, 2], [0.0, 0.0, 1.0]), atol=1e-16)
    assert acting["gravity"].name == "gravity"


def test_runs_are_those_of_the_same_in_python(acting):
    """Sums of functions that write, and of one that adds; one that looks at velocities."""
    whole = polhode.interaction(
        lambda t, x, R, v, omega: the_forces(x, R, v, omega), uses_velocity=True, external=True
    )
    asked = {"t_span": (0.0, 1.0), "step": 0.02, **START}
    in_c = System(BODIES, list(acting.values()))
    found = polhode.integrate(in_c, **asked)
    python = polhode.integrate(System(BODIES, whole), compiled=False, **asked)
    by_hand = polhode.integrate(in_c, compiled=False, **asked)
    assert found.mode == "callback" and found.nfev == 51
    for part in ("position", "velocity", "quaternion", "omega"):
        assert abs(getattr(found, part) - getattr(python, part)).max() < 1e-13, part
        assert abs(getattr(found, part) - getattr(by_hand, part)).max() < 1e-13, part


def test_each_step_calls_it_once(library, acting):
    calls = ctypes.c_int.in_dll(library, "calls")
    system = System(BODIES, acting["gravity"])
    for method in ("LP2", "VLV", "EXACT"):
        calls.value = 0
        polhode.integrate(system, t_span=(0.0, 1.0), step=0.02, method=method, **START)
        assert calls.value == 52, method  # one starts the method, one checks what it gives
    stepper = polhode.Stepper(system, step=0.02, **START)
    calls.value = 0
    stepper.step(100)
    assert calls.value == 100


def test_parameters_reach_it_between_steps(library):
    gravity = polhode.interaction(library.gravity, params={"G": 1.0, "m": MASSES})
    stepper = polhode.Stepper(System(BODIES, gravity), step=0.02, **START)
    gravity.params = gravity.params._replace(G=0.0)
    stepper.step()
    before = stepper.velocity
    stepper.step(10)
    np.testing.assert_allclose(stepper.velocity, before, atol=1e-14)


def test_an_address_means_nothing_in_another_process(acting):
    with pytest.raises(InputError, match="an address in this process"):
        pickle.dumps(System(BODIES, acting["gravity"]))
    with pytest.raises(InputError, match="null pointer"):
        polhode.interaction(ctypes.CFUNCTYPE(None)())
