"""Compositions of symmetric methods: order, structure, and what is refused."""

import math

import numpy as np
import pytest

from polhode import InputError, facts, integrate, method, torques
from polhode.core.vec import qexp, qmul, scale
from polhode.methods import Motion, get
from polhode.methods.compose import SCHEMES, compose


@pytest.mark.parametrize("name", SCHEMES)
def test_coefficients(name):
    order, steps, _ = SCHEMES[name]
    assert steps == steps[::-1]
    assert math.fsum(steps) == pytest.approx(1.0, abs=1e-15)
    for power in range(3, order, 2):
        assert math.fsum(c**power for c in steps) == pytest.approx(0.0, abs=1e-14)


# the long run measures all
MEASURED = {("LP2", "yoshida4"), ("LP2", "kahanli8"), ("VLV", "suzuki4"), ("VLV", "yoshida6")}


@pytest.mark.parametrize(
    ("base", "scheme"),
    [
        pytest.param(base, scheme, marks=[pytest.mark.slow] * ((base, scheme) not in MEASURED))
        for scheme in SCHEMES
        for base in ("LP2", "VLV")
    ],
)
def test_measured_facts(base, scheme):
    method = compose(base, scheme)
    order, steps, _ = SCHEMES[scheme]
    assert (method.order, method.name) == (order, f"{base}+{scheme}")
    found = facts.order(method)
    assert abs(found.attitude - order) < 0.35
    assert abs(found.momentum - order) < 0.35
    assert facts.symmetry_defect(method) < 1e-11
    assert facts.symplecticity(method, 0.25).value < 1e-11
    assert set(facts.torque_calls(method).steps) == {len(steps)} == {method.torques}
    assert set(facts.solver_calls(method)) == {method.solves}
    assert facts.free_drift(method, count=100).momentum < 1e-11


def test_names():
    assert get("vlv+Yoshida6").order == 6
    assert get("MR4-231").step is not get("MR4-123").step
    assert get("MR4-231").torques == 3


def test_residuals_are_those_of_the_worst_stage():
    run = integrate(
        [2.0, 3.0, 4.5],
        t_span=(0, 2),
        step=0.2,
        method="VLV+suzuki4",
        omega0=(0.4, 0.9, -0.3),
        compiled=False,
    )
    assert 0.0 < run.residuals.max() <= 2e-14


def test_a_composition_of_mr2_is_mr4():
    runs = [
        integrate(
            [2.0, 3.0, 4.5],
            t_span=(0, 2),
            step=0.2,
            method=name,
            omega0=(0.4, 0.9, -0.3),
            compiled=False,
        )
        for name in ("MR4-312", "MR2-312+yoshida4")
    ]
    assert np.array_equal(runs[0].quaternion, runs[1].quaternion)


@pytest.mark.parametrize(
    ("base", "why"), [("taylor2", "symmetric"), ("SW", "previous step"), ("MR4-123", "order 2")]
)
def test_what_cannot_be_composed(base, why):
    with pytest.raises(InputError, match=why):
        compose(base, "yoshida4")


def test_unknown_scheme():
    with pytest.raises(InputError, match="yoshida6"):
        compose("VLV", "yoshida5")


def _coasting(factor):
    """Register a method of this file, and return a function that changes what its step reads."""

    @method("coasting-here", order=2, torques=0, symmetric=True)
    def step(h, t, s, body, torque, p):
        return Motion(qmul(s.q, qexp(scale(factor * h, s.Om))), s.Om)

    def change(value):
        nonlocal factor
        factor = value

    return change


@pytest.mark.parametrize("ending", ["+yoshida4", "+yoshida4+ep", "+ep"])
def test_a_composition_follows_what_the_step_inside_reads(ending):
    change, free = _coasting(1.0), torques.free()

    def turned():
        return integrate(
            [1.0, 2.0, 3.0],
            free,
            omega0=(0, 0, 1.0),
            t_span=(0, 1),
            step=0.1,
            method="coasting-here" + ending,
        ).quaternion[-1]

    np.testing.assert_allclose(turned(), [0, 0, np.sin(0.5), np.cos(0.5)], atol=1e-12)
    change(2.0)
    np.testing.assert_allclose(turned(), [0, 0, np.sin(1.0), np.cos(1.0)], atol=1e-12)
    _coasting(3.0)  # under the same name
    np.testing.assert_allclose(turned(), [0, 0, np.sin(1.5), np.cos(1.5)], atol=1e-12)
