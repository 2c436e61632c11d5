"""Systems of bodies: comparisons measure the error of all bodies, and advice keeps to it."""

import json
import math

import numpy as np
import polhode
import pytest

from polhode import RigidBody, System, advise, compare
from polhode.errors import InputError
from polhode.exact import reference
from polhode.show.view._comparison import describe_measurement
from polhode.studies.advise import candidates
from polhode.studies.compare import entries
from polhode.studies.compare.as_task import as_task
from polhode.studies.compare.truth import errors, truth

BODIES = [
    RigidBody([1.0, 2.0, 2.5], mass=2.0),
    RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, -0.2], [0.1, -0.2, 1.5]], mass=3.0),
]
START = {
    "position0": [[1.8, 0.0, 0.0], [-1.2, 0.0, 0.0]],
    "velocity0": [[0.0, 0.9, 0.0], [0.0, -0.6, 0.0]],
    "omega0": [[0.1, 1.0, 0.2], [0.3, 0.2, 0.9]],
}


@polhode.pair(potential=lambda r, Ri, Rj: 0.5 * (r * r).sum() - 0.3 * (Ri[:, 0] * Rj[:, 1]).sum())
def bound(r, Ri, Rj):
    T = 0.3 * np.cross(Ri[:, 0], Rj[:, 1])
    return r, T, -T


@pytest.fixture(scope="module")
def task():
    return as_task(System(BODIES, bound), None, (0.0, 4.0), **START)


@pytest.fixture(scope="module")
def compared(task):
    return compare(task, methods=["LP2", "DOP853@rtol", "LIEMID[I]"], errors=[1e-2, 1e-6])


def test_an_error_is_the_largest_of_any_body_and_part(task):
    known = truth(task)
    assert list(known.sizes) == ["omega", "position", "velocity"] and known.error < 1e-12
    for name in ("attitude", *known.sizes):
        for body in range(2):
            away = known.motion.copy()
            part = getattr(polhode.results.motion.parts(away, task.kind), name)
            if name == "attitude":
                turned = polhode.rotations.exp(np.array([1e-3, 0.0, 0.0]))
                part[:, body] = polhode.rotations.qmul(part[:, body], turned)
                expected = 1e-3
            else:
                part[:, body, 1] += 0.01
                expected = 0.01 / known.sizes[name]
            found = errors(away, known, slice(None))
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_sizes_do_not_depend_on_where_a_system_is(task):
    far = {
        **START,
        "position0": np.add(START["position0"], [50.0, 0.0, 0.0]),
        "velocity0": np.add(START["velocity0"], [0.0, 0.0, 7.0]),
    }
    sizes = [truth(one, 1e-9).sizes for one in (task, as_task(task.body, None, (0.0, 4.0), **far))]
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-6)


def test_a_comparison_of_methods_for_a_system(compared, tmp_path):
    lp2, by_tolerance, refused = compared.curves
    assert lp2.slope == pytest.approx(2.0, abs=0.1)
    assert by_tolerance.knob == "rtol" and by_tolerance.answers[1e-6].error <= 1e-6
    assert all(0.3 * goal < lp2.answers[goal].error <= goal for goal in compared.errors)
    assert lp2.answers[1e-2].evaluations == lp2.answers[1e-2].steps + 1
    assert lp2.answers[1e-2].momentum < 1e-12 < by_tolerance.answers[1e-2].momentum
    assert not refused.points and "LIEMID[I] does not run with a system" in refused.note
    words = describe_measurement(compared)
    assert words.startswith("Interaction bound") and "of all bodies" in words
    assert "LIEMID[I] does not run" in json.dumps(compared.to_dict())
    assert len(compared.figure(tmp_path / "c.png").axes) == 4
    assert "Interaction bound" in compared.html(tmp_path / "c.html").read_text("utf-8")


def test_the_error_is_that_of_the_trajectory(task, compared):
    point = compared.curves[0].answers[1e-2]
    t = np.linspace(0.0, 4.0, math.gcd(point.steps, 120) + 1)
    run = polhode.integrate(task.body, t_span=(0.0, 4.0), step=point.setting, **START)
    known = reference(task.body, t, **START)
    at = np.searchsorted(run.t, t - 1e-9)
    worst = [polhode.rotations.angle_between(run.quaternion[at], known.quaternion).max()]
    for name in ("omega", "position", "velocity"):
        away = np.linalg.norm(getattr(run, name)[at] - getattr(known, name), axis=-1).max()
        worst.append(away / truth(task).sizes[name])
    assert point.error == pytest.approx(max(worst), rel=0.02)
    energy = np.abs(run.total_energy[at] - run.total_energy[0]).max()
    size = max(abs(run.total_energy[0]), run.kinetic_energy.max())
    assert energy / size == pytest.approx(point.energy, rel=0.05)


def test_methods_that_do_not_run_with_systems_are_left_out(task):
    able = entries.select_for(task)
    assert {"LP2", "VLV", "EXACT", "EXACT-RKN4", "DOP853@rtol"} <= {entry.name for entry in able}
    assert not any(entry.obstacle(task) for entry in able)
    assert "cannot for a system" in entries.find("taylor@rtol").obstacle(task)
    for long in (False, True):
        chosen = candidates.shortlist([], None, long, task)
        assert chosen and not any(entry.obstacle(task) for entry in chosen)
        assert not long or all(entry.facts(task)["symplectic"] is True for entry in chosen)


def test_advice_for_a_system_is_accurate(task):
    found = advise(task, error=1e-5, methods=["LP2", "DOP853"])
    assert found.method == "DOP853" and found.verified and found.error <= 1e-5
    assert found.to_dict()["torque"] == "bound"
    run = found.integrate(every="end")
    known = truth(task)
    last = polhode.results.motion.parts(known.motion[-1], task.kind)
    away = np.linalg.norm(run.position[-1] - last.position, axis=1).max()
    assert run.steps == found.steps and away <= 1.02 * found.error * known.sizes["position"]


def test_what_is_known_of_the_task(task):
    assert task.conservative and task.autonomous and not task.speeds_felt and not task.is_free
    # the spring of 1 between 2 and 3 swings with sqrt(1/2 + 1/3)
    assert 0.5 < task.rate / math.sqrt(5.0 / 6.0) < 2.0

    @polhode.pair(uses_velocity=True, external=True)
    def damper(r, v, Ri, Rj, wi, wj):
        return 0.2 * v, np.zeros(3), np.zeros(3)

    damped = as_task(System(BODIES, damper), None, (0.0, 4.0), **START)
    assert not damped.conservative and "depends on velocities" in damped.speeds_felt
    assert entries.find("EXACT-RKN4").facts(damped)["order"] == 2

    def pushed(t, x, R):
        return t * x, np.zeros_like(x)

    assert not as_task(System(BODIES, pushed), None, (0.0, 4.0), **START).autonomous


def test_what_does_not_go_with_a_system_is_refused():
    system = System(BODIES, bound)
    with pytest.raises(InputError, match="torque goes with one body"):
        compare(system, "heavy_top", (0.0, 1.0), **START)
    with pytest.raises(InputError, match="leave processes out"):
        compare(system, t_span=(0.0, 1.0), processes=2, **START)
    with pytest.raises(InputError, match="loop over"):
        polhode.sweep(system)
