"""Ensembles with drawn numbers of every kind, and how large their errors are."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

import polhode
from polhode import InputError, RigidBody, ensemble, integrate, torques
from polhode.cli import app
from polhode.io.scenario.ensembles import arguments

SPAN, STEP = (0.0, 2.0), 0.05
LAWS = dict(
    rotation0=stats.norm(0.0, 0.2),
    omega0=(0.1, 0.0, stats.norm(1.0, 0.1)),
    parameters={"normal": (0.0, stats.norm(0.0, 0.3), 1.0), "rate": stats.uniform(0.1, 0.2)},
)


def satellites(n=40, **changes):
    tide = torques.gravity_gradient([2.0, 3.0, 4.0], 0.2)
    law = stats.norm((2.0, 3.0, 4.0), 0.05)
    return ensemble(law, tide, SPAN, STEP, n=n, rng=3, **LAWS | changes)


# --- draws ----------------------------------------------------------------------------------------


def test_every_number_is_drawn_and_every_body_moves_as_alone():
    run = satellites(keep=1)
    moments = run.bodies.moments.T
    assert len(np.unique(moments, axis=0)) == run.n
    for i in (0, 17, 39):
        tide = torques.gravity_gradient(
            moments[i], run.parameters["rate"][i], normal=run.parameters["normal"][i]
        )
        # as it was drawn, to the last bit: not of unit length
        tide = tide.with_params(normal=run.parameters["normal"][i])
        alone = integrate(
            moments[i], tide, SPAN, STEP, rotation0=run.quaternions[0, i], omega0=run.omegas[0, i]
        )
        assert run.omega[i].tolist() == alone.omega[-1].tolist()
        assert run.quaternion[i].tolist() == alone.quaternion[-1].tolist()


def test_a_body_draws_the_same_whatever_the_number_of_bodies():
    few, more = satellites(10), satellites(50)
    part = satellites(10, first=20)
    assert few.omega.tolist() == more.omega[:10].tolist()
    assert part.omega.tolist() == more.omega[20:30].tolist()


def test_laws_of_several_dimensions():
    cov = np.array([[0.04, 0.03, 0.0], [0.03, 0.04, 0.0], [0.0, 0.0, 0.01]])
    options = dict(t_span=SPAN, step=STEP, n=2000, rng=1, keep=40)
    run = ensemble(
        [1.0, 2.0, 2.5],
        rotation0=stats.special_ortho_group(3),
        omega0=stats.multivariate_normal((0.0, 1.0, 0.0), cov),
        **options,
    )
    np.testing.assert_allclose(np.cov(run.omegas[0].T), cov, atol=0.005)
    assert abs(np.trace(run.matrix, axis1=1, axis2=2).mean()) < 0.1
    turned = ensemble(
        [1.0, 2.0, 2.5], rotation0=stats.uniform_direction(4), momentum0=(0.0, 0.0, 1.0), **options
    )
    np.testing.assert_allclose(np.linalg.norm(turned.quaternions[0], axis=1), 1.0, atol=1e-15)


def test_drawn_moments_can_be_read():
    law = stats.norm((2.0, 3.0, 4.0), 0.05)
    run = ensemble(law, t_span=SPAN, step=STEP, n=50, omega0=(0, 0, 1), rng=1)
    np.testing.assert_allclose(run.momentum, run.omega * run.moments, rtol=1e-15)
    assert run.moments.shape == (50, 3) and len(np.unique(run.moments[:, 0])) == 50
    same = ensemble([2.0, 3.0, 4.0], t_span=SPAN, step=STEP, omega0=np.eye(3))
    assert same.moments.tolist() == [[2.0, 3.0, 4.0]] * 3


def test_bodies_that_cannot_be_are_refused():
    with pytest.raises(
        InputError, match=r"of the bodies drawn, body .* or choose a narrower distribution"
    ):
        ensemble(
            stats.norm((1.0, 2.0, 2.9), 0.5), t_span=SPAN, step=STEP, n=50, omega0=(0, 0, 1), rng=1
        )


def test_a_scenario_spreads_attitudes_and_makes_the_tide_for_each_body(tmp_path):
    path = tmp_path / "satellites.toml"
    path.write_text(
        "[body]\ninertia = [2, 3, 4]\n[initial]\nrotation_vector = [0.3, 0, 0]\nomega = [0, 0, 0.2]\n"
        "[torque]\nname = 'gravity_gradient'\nrate = 0.2\nnormal = [0, 1, 1]\n"
        "[run]\nstep = 0.05\nt_span = [0, 2]\n"
        "[ensemble]\nn = 30\nrotation = 'same'\nrotation_spread = 0.1\ninertia_spread = 0.05\n"
    )
    job = polhode.io.load(path)
    options = arguments(job)
    run = ensemble(**options)
    turned = polhode.rotations.angle_between(options["rotation0"], job.rotation0)
    assert 0.05 < turned.mean() < 0.3 and run.bodies.count == 30
    tide = torques.gravity_gradient(run.bodies.moments[:, 5], 0.2, normal=(0, 1, 1))
    alone = integrate(
        run.bodies.moments[:, 5],
        tide,
        SPAN,
        STEP,
        rotation0=options["rotation0"][5],
        omega0=job.omega0,
    )
    assert run.omega[5].tolist() == alone.omega[-1].tolist()


# --- errors ---------------------------------------------------------------------------------------


def tops(step=0.01, **changes):
    """Tops of which one is much faster than the others."""
    omega0 = np.random.default_rng(1).normal((0.0, 0.0, 20.0), 2.0, (500, 3))
    omega0[77] *= 30.0
    options = dict(rotation0=(0.3, 0.0, 0.0), omega0=omega0) | changes
    return ensemble([5.0, 5.0, 1.0], "heavy_top", (0.0, 2.0), step, "NMB", **options)


def test_the_estimate_is_the_error():
    run = tops()
    found = run.error_estimate
    assert found.worst == 77 and found.largest > 0.5
    assert "body 77" in found.advice and "smaller step" in found.advice
    fine = tops(2e-4).quaternion[found.bodies]
    errors = polhode.rotations.angle_between(run.quaternion[found.bodies], fine)
    slow = found.bodies != 77
    np.testing.assert_allclose(found.angle[slow], errors[slow], rtol=0.05)


def test_the_estimate_changes_nothing_and_is_told():
    run, other = tops(), tops()
    before = other.omega.copy(), other.quaternion.copy()
    assert f"error about {other.error_estimate.largest:.1g}" in repr(other)
    assert other.summary()["error_estimate"] == other.error_estimate.largest
    assert np.array_equal(before[0], run.omega) and np.array_equal(other.omega, run.omega)
    assert np.array_equal(before[1], other.quaternion) and other.message == run.message
    assert other.error_estimate.angle.tolist() == run.error_estimate.angle.tolist()


@pytest.mark.parametrize(
    "changes",
    [
        dict(body=RigidBody([[2.0, 0.1, 0.2], [0.1, 3.0, 0.0], [0.2, 0.0, 4.0]])),
        dict(body=np.array([np.diag([2.0, 3.0, 4.0]) + 0.1, np.diag([2.0, 3.0, 4.5]) - 0.1])),
        dict(
            body=RigidBody([5.0, 10.0, 1.0], check_triangle=False),
            torque=torques.book_toss(0.02),
            step=0.02,
        ),
        dict(breaks=[0.55, 1.0]),
        dict(step=np.linspace(0.0, 2.0, 21) ** 2 / 2.0),
        dict(step=np.linspace(2.0, 0.0, 21), t_span=(2.0, 0.0)),
        dict(t_span=(2.0, 0.0), method="SW"),
        dict(dtype="float32"),
        dict(parameters={"moment": [10.0, 20.0]}, method="EXACT"),
    ],
)
def test_the_estimate_of_any_ensemble_is_its_error(changes):
    options = dict(
        body=[5.0, 5.0, 1.0], torque="heavy_top", t_span=(0.0, 2.0), step=0.1, method="LP2"
    )
    options |= changes
    omega0 = np.array([[0.0, 0.2, 2.0], [0.3, 0.0, 1.5]])
    start = dict(rotation0=(0.3, 0.1, 0.0), omega0=omega0)
    body, step = options.pop("body"), np.asarray(options["step"])
    run = ensemble(body, **start, **options)
    places = np.linspace(0, step.size - 1, 16 * (step.size - 1) + 1)
    options["step"] = np.interp(places, range(step.size), step) if step.ndim else step / 16
    if not isinstance(options["torque"], str):
        options["torque"] = options["torque"].for_step(step / 16)
    fine = ensemble(body, **start, **options)
    found = run.error_estimate
    assert found.bodies.tolist() == [0, 1]
    errors = polhode.rotations.angle_between(run.quaternion, fine.quaternion)
    assert errors.max() > 1e-5
    np.testing.assert_allclose(found.angle, errors, rtol=0.25, atol=1e-5)


def test_bodies_that_failed_are_left_out():
    omega0 = np.array([[0.0, 0.0, 1.0], [np.nan, 0.0, 0.0], [0.1, 0.0, 1.0]])
    run = ensemble([1.0, 2.0, 2.5], t_span=SPAN, step=STEP, omega0=omega0)
    assert run.error_estimate.bodies.tolist() == [0, 2] and run.error_estimate.largest < 1e-2


def test_the_command_warns_of_a_step_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fast.toml").write_text(
        "[body]\ninertia = [1, 2, 2.5]\n[initial]\nomega = [1, 10, 1]\n"
        "[run]\nstep = 0.2\nt_span = [0, 20]\n[ensemble]\nn = 20\nomega_spread = 1.0\n"
    )
    result = CliRunner().invoke(app, ["ensemble", "fast.toml"])
    assert "error estimate" in result.stdout and "step is too large" in result.stderr
    told = CliRunner().invoke(app, ["ensemble", "fast.toml", "--json"])
    assert json.loads(told.stdout)["error_estimate"] > 0.1


def test_three_bodies_with_drawn_moments_are_three(tmp_path):
    """Nine numbers in a square are the moments of three bodies, not a tensor."""
    drawn = ensemble(stats.uniform(2.0, 0.5), None, (0, 1), 0.1, n=3, rng=1, omega0=(0, 0, 1))
    assert drawn.moments.shape == (3, 3) and len(drawn.quaternion) == 3
    path = tmp_path / "three.toml"
    path.write_text(
        "[body]\ninertia = [2.0, 2.5, 3.0]\n[initial]\nomega = [0.0, 0.0, 1.0]\n"
        "[run]\nt_span = [0, 1]\nstep = 0.1\n[ensemble]\nn = 3\ninertia_spread = 0.05\n",
        encoding="utf-8",
    )
    done = CliRunner().invoke(app, ["ensemble", str(path), "--json"])
    assert done.exit_code == 0, done.output
