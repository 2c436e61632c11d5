"""Bodies in flight and with rotors: the reference is exact, errors are those of the whole motion, and
advice keeps to them."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import polhode
from polhode import advise, compare
from polhode.cli import app
from polhode.errors import InputError
from polhode.exact import reference
from polhode.show.view._comparison import describe_measurement
from polhode.studies.advise import candidates
from polhode.studies.compare import entries
from polhode.studies.compare.as_task import as_task
from polhode.studies.compare.truth import errors, truth

MU = 8.0
WHEEL = polhode.Rotor((0.0, 0.6, 0.8), 0.1, speed=20.0)
FREE = polhode.Rotor((0.0, 0.0, 1.0), 0.2, momentum=3.0)
SATELLITE = polhode.RigidBody([1.0, 2.0, 2.5], mass=3.0)
GYROSTAT = SATELLITE.with_rotors([FREE])
ORBIT = {"omega0": (0.3, 1.0, 0.2), "position0": (2.0, 0.0, 0.0), "velocity0": (0.0, 2.2, 0.3)}
SCENARIO = """
title = "an orbit"
[body]
inertia = [1.0, 2.0, 2.5]
mass = 3.0
[[body.rotors]]
axis = [0.0, 0.0, 1.0]
inertia = 0.2
momentum = 3.0
[initial]
omega = [0.3, 1.0, 0.2]
position = [2.0, 0.0, 0.0]
velocity = [0.0, 2.2, 0.3]
[load]
name = "gravity"
mu = 8.0
[run]
step = 0.05
t_span = [0.0, 2.0]
"""


def gravity(body):
    return polhode.flight.gravity(MU, body)


def on_orbit(body=SATELLITE, end=2.0):
    return as_task(body, gravity(body), (0.0, end), **ORBIT)


@pytest.fixture(scope="module")
def compared():
    return compare(on_orbit(GYROSTAT), methods=["LP2", "NMB", "DOP853@rtol"], errors=[1e-2, 1e-6])


# --- the reference --------------------------------------------------------------------------------


def kepler(t, a, e):
    """Position in the plane of an ellipse about the origin, from its pericentre on the x axis."""
    M = math.sqrt(MU / a**3) * t
    E = M
    for _ in range(60):
        E -= (E - e * math.sin(E) - M) / (1.0 - e * math.cos(E))
    return a * (math.cos(E) - e), a * math.sqrt(1.0 - e * e) * math.sin(E), 0.0


def test_the_reference_follows_an_orbit():
    """A sphere feels no gravity gradient: Kepler's ellipse, and a constant angular velocity."""
    body, a, e = polhode.RigidBody([1.0, 1.0, 1.0], mass=3.0), 2.0, 0.3
    at_pericentre = math.sqrt(MU / a * (1.0 + e) / (1.0 - e))
    t = np.linspace(0.0, 20.0, 9)
    found = reference(
        body,
        t,
        torque=gravity(body),
        omega0=(0.3, 0.2, 0.1),
        position0=(a * (1.0 - e), 0.0, 0.0),
        velocity0=(0.0, at_pericentre, 0.0),
    )
    true = [kepler(time, a, e) for time in t]
    np.testing.assert_allclose(found.position, true, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(found.omega, np.tile((0.3, 0.2, 0.1), (9, 1)), rtol=0.0, atol=1e-14)
    assert found.error.max() < 1e-12


def test_the_reference_follows_a_symmetric_gyrostat():
    """A wheel on the axis of symmetry, held or free: the transverse angular velocity turns evenly."""
    A, C, spin, t = 2.0, 3.0, 0.5, np.linspace(0.0, 10.0, 6)
    for torque in (None, 0.0):
        wheel = polhode.Rotor((0, 0, 1), 0.2, speed=10.0, torque=torque)
        body = polhode.RigidBody([A, A, C], rotors=[wheel])
        found = reference(body, t, omega0=(0.3, 0.0, spin))
        rate = ((C - A) * spin + 0.2 * 10.0) / A
        true = np.stack(
            [0.3 * np.cos(rate * t), 0.3 * np.sin(rate * t), np.full(len(t), spin)], axis=1
        )
        np.testing.assert_allclose(found.omega, true, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(found.rotor_speeds[:, 0], 10.0, rtol=1e-13)
        momentum = polhode.rotations.rotate(found.quaternion, found.momentum)
        np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(t), 1)), atol=1e-12)


def test_the_reference_follows_a_gyrostat_in_flight():
    """Wheels of every kind and a body in axes of its own: against another method, and by what is
    conserved."""
    tensor = [[1.0, 0.1, 0.0], [0.1, 2.0, -0.1], [0.0, -0.1, 2.5]]
    body = polhode.RigidBody(tensor, mass=3.0)
    wheels = [WHEEL, FREE]
    t = np.linspace(0.0, 1.0, 3)
    body = body.with_rotors(wheels)
    found = reference(body, t, torque=gravity(body), **ORBIT)
    run = polhode.integrate(
        body, gravity(body), (0.0, 1.0), rtol=1e-13, t_eval=t, compiled=False, **ORBIT
    )
    for name in ("quaternion", "omega", "position", "velocity", "rotor_speeds"):
        value = getattr(run, name)
        np.testing.assert_allclose(
            getattr(found, name), value, rtol=0.0, atol=1e-11 * np.abs(value).max()
        )
    task = as_task(body, gravity(body), (0.0, 1.0), **ORBIT)
    known = truth(task, checks=4)
    moved = np.abs(known.momentum - known.momentum[0]).max() / np.linalg.norm(known.momentum[0])
    assert moved < 1e-13
    assert known.energy[-1] == pytest.approx(run.total_energy[-1], rel=1e-11)


# --- errors ---------------------------------------------------------------------------------------


def test_errors_are_those_of_the_whole_motion():
    """Each part by itself decides, relative to its largest size."""
    task = on_orbit(GYROSTAT)
    known = truth(task)
    assert list(known.sizes) == ["omega", "position", "velocity", "rotor_1"]
    largest = np.linalg.norm(known.motion[:, task.kind.slices["position"]], axis=1).max()
    assert known.sizes["position"] == largest
    for name, place in task.kind.slices.items():
        away = known.motion.copy()
        if name == "attitude":
            turned = polhode.rotations.exp(np.array([1e-3, 0.0, 0.0]))
            away[:, place] = polhode.rotations.qmul(away[:, place], turned)
            expected = 1e-3
        else:
            column = away[:, place] if away[:, place].ndim == 1 else away[:, place][:, 0]
            column += 0.01
            expected = 0.01 / known.sizes[name]
        assert errors(away, known, slice(None)).max() == pytest.approx(expected, rel=1e-6)


def test_a_comparison_of_a_flight_with_a_wheel(compared, tmp_path):
    lp2, newmark, by_tolerance = compared.curves
    assert lp2.slope == pytest.approx(2.0, abs=0.05)
    assert by_tolerance.knob == "rtol" and by_tolerance.answers[1e-6].error <= 1e-6
    assert "NMB cannot follow a body with rotors" in newmark.note and not newmark.points
    assert all(0.3 * goal < lp2.answers[goal].error <= goal for goal in compared.errors)
    assert compared.torque == "gravity"
    words = describe_measurement(compared)
    assert "angular velocity, position, velocity and speeds of rotors" in words
    assert {row["method"] for row in json.loads(json.dumps(compared.to_dict()))["table"]} == {
        "LP2",
        "NMB",
        "DOP853@rtol",
    }
    assert len(compared.figure(tmp_path / "c.png").axes) == 4
    assert "NMB cannot follow" in json.dumps(compared.to_dict())
    assert "Load gravity" in compared.html(tmp_path / "c.html").read_text("utf-8")


def test_the_error_of_a_flight_is_that_of_its_trajectory(compared):
    point = compared.curves[0].answers[1e-2]
    t = np.linspace(0.0, 2.0, math.gcd(point.steps, 120) + 1)
    run = polhode.integrate(GYROSTAT, gravity(GYROSTAT), (0.0, 2.0), point.setting, "LP2", **ORBIT)
    known = reference(GYROSTAT, t, torque=gravity(GYROSTAT), **ORBIT)
    at = np.searchsorted(run.t, t - 1e-9)
    worst = [polhode.rotations.angle_between(run.quaternion[at], known.quaternion).max()]
    rate = np.linalg.norm(known.omega, axis=1).max()
    for name in ("omega", "position", "velocity"):
        away = np.linalg.norm(getattr(run, name)[at] - getattr(known, name), axis=1).max()
        worst.append(away / np.linalg.norm(getattr(known, name), axis=1).max())
    speeds = known.rotor_speeds
    worst.append(np.abs(run.rotor_speeds[at] - speeds).max() / max(rate, np.abs(speeds).max()))
    assert point.error == pytest.approx(max(worst), rel=0.02)
    assert run.nfev == point.evaluations
    energy = np.abs(run.total_energy[at] - run.total_energy[0]).max()
    size = max(abs(run.total_energy[0]), run.kinetic_energy.max())
    assert energy / size == pytest.approx(point.energy, rel=0.05)


def test_methods_that_cannot_follow_are_left_out():
    wheels, rotation = on_orbit(GYROSTAT), as_task("slow-top")
    for given in (None, "all"):
        able = entries.select_for(wheels, given)
        assert able and all(entry.method.rotors for entry in able)
    assert len(entries.select_for(rotation)) == len(entries.DEFAULT)
    named = entries.select_for(wheels, ["NMB", "LP2"])
    assert [bool(entry.obstacle(wheels)) for entry in named] == [True, False]
    with pytest.raises(InputError, match="NMB cannot follow a body with rotors"):
        entries.select_for(wheels, family="newmark")
    # its torque looks at the position: the translation beside a method gives that at ends of steps
    flying = {entry.name for entry in entries.select_for(on_orbit())}
    assert "NMB" in flying and "RK4-quaternion" not in flying
    beside = entries.find("NMB").facts(on_orbit())
    assert beside["order"] == 2 and beside["symmetric"] is None


# --- advice ---------------------------------------------------------------------------------------


def test_advice_for_a_flight_with_a_wheel_is_accurate():
    task = on_orbit(GYROSTAT)
    found = advise(task, error=1e-5, methods=["LP2", "DOP853", "NMB"])
    assert found.method == "DOP853" and found.verified and found.error <= 1e-5
    assert "NMB cannot follow a body with rotors" in str(found.to_dict()["candidates"])
    run = found.integrate(every="end")
    last = np.concatenate([run.omega[-1], run.position[-1], run.velocity[-1], run.rotor_speeds[-1]])
    sizes = truth(task).sizes
    away = np.abs(last - truth(task).motion[-1][4:])
    assert run.steps == found.steps
    assert away.max() <= 1.02 * found.error * max(sizes.values())


def test_candidates_can_follow_the_motion():
    for task in (on_orbit(), on_orbit(GYROSTAT)):
        for long in (False, True):
            chosen = candidates.shortlist([], None, long, task)
            assert chosen and not any(entry.obstacle(task) for entry in chosen)
            assert not long or all(entry.facts(task)["symplectic"] is True for entry in chosen)


def test_the_path_has_a_rate_of_its_own():
    """A body that hardly turns still goes round its orbit."""
    body = SATELLITE
    slow = as_task(body, gravity(body), (0.0, 100.0), **{**ORBIT, "omega0": (0.0, 0.0, 1e-6)})
    assert 0.5 < slow.rate / math.sqrt(MU / 8.0) < 2.0
    assert on_orbit().conservative and on_orbit().autonomous
    braked = gravity(body) + polhode.flight.drag(linear=0.1)
    assert not as_task(body, braked, (0.0, 1.0), **ORBIT).conservative
    held = body.with_rotors([WHEEL])
    assert not as_task(held, None, (0.0, 1.0), omega0=(0.0, 0.0, 1.0)).conservative


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "orbit.toml"
    path.write_text(SCENARIO)
    return str(path)


def test_the_command_compare(scenario):
    """Measured in other processes."""
    line = ["compare", scenario, "--methods", "LP2,NMB", "--errors", "1e-2", "--json"]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.output
    rows = {row["method"]: row for row in json.loads(done.stdout)["table"]}
    assert rows["LP2"]["error"] <= 1e-2 and "cannot follow" in rows["NMB"]["note"]


@pytest.mark.slow
def test_the_command_advise(scenario):
    line = ["advise", scenario, "--methods", "LP2,NMB", "--error", "1e-2"]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0 and "LP2" in done.stdout and "NMB" in done.stdout
