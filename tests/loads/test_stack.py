"""Arrays on the stack: what a user's function does with them gives the same bits as in Python."""

import numpy as np
import pytest

from polhode import ensemble, integrate, torque

MOMENTS, MOTION = (5.0, 4.0, 2.0), {"omega0": (0.1, 0.2, 5.0), "rotation0": (0.3, 0.1, 0.0)}


def a_view(t, R, omega):
    return R[2]


def a_view_of_a_view(t, R, omega):
    return R.T[1:][1][::-1]


def the_velocity_itself(t, R, omega):
    return omega


def changed_in_place(t, R, omega):
    R[0] += omega
    omega[:] = R @ omega
    return -0.1 * omega


@pytest.mark.parametrize("f", [a_view, a_view_of_a_view, the_velocity_itself, changed_in_place])
def test_the_bits_are_those_of_python(f):
    acting = torque(frame="body", uses_omega=True)(f)
    runs = [
        integrate(MOMENTS, acting, (0.0, 1.0), 0.05, "VLV", compiled=compiled, **MOTION)
        for compiled in (True, False)
    ]
    assert runs[0].mode == "compiled" and np.array_equal(runs[0].omega, runs[1].omega)


def test_in_single_precision_they_are_double():
    acting = torque(frame="body", uses_omega=True)(a_view)
    single = ensemble(MOMENTS, acting, (0.0, 1.0), 0.05, "VLV", n=40, dtype="float32", **MOTION)
    double = ensemble(MOMENTS, acting, (0.0, 1.0), 0.05, "VLV", n=40, **MOTION)
    assert np.allclose(single.omega, double.omega, rtol=1e-4)
