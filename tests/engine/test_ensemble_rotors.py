"""Ensembles of a body with rotors: each moves as `integrate` moves it alone, to the last bit."""

import numpy as np
import pytest
from scipy import stats

import polhode
from polhode import RigidBody, Rotor, ensemble, exact, integrate

N, SPAN, STEP = 67, (0.0, 0.215), 0.01  # a whole tile and a rest; a shorter last step
TILTED = [[1.0, 0.1, 0.0], [0.1, 2.0, 0.05], [0.0, 0.05, 2.5]]


def swing(t):
    return 0.3 * np.cos(2.0 * t)


ROTORS = [
    Rotor((0, 0.6, 0.8), 0.1, momentum=3.0),
    Rotor((1, 1, 0), 0.1, speed=30.0),
    Rotor((1, 0, 1), 0.2, torque=swing, damping=0.1),
]
BODY = RigidBody(TILTED, mass=2.0, rotors=ROTORS)


def start(flying=False, n=N):
    rng = np.random.default_rng(1)
    q = rng.standard_normal((n, 4))
    found = {
        "rotation0": q / np.linalg.norm(q, axis=1, keepdims=True),
        "omega0": rng.standard_normal((n, 3)),
    }
    places = {name: rng.standard_normal((n, 3)) for name in ("position0", "velocity0")}
    return found | places if flying else found


def check(run, begin, body=lambda i: BODY, **options):
    """Some bodies against `integrate`, to the last bit."""
    for i in (0, 5, 63, 64, 66):
        rows = {name: values[i] for name, values in begin.items()}
        alone = integrate(body(i), None, SPAN, STEP, run.method, every="end", **rows, **options)
        for name in ("quaternion", "omega", "position", "velocity", "rotor_speeds"):
            ours, theirs = getattr(run, name), getattr(alone, name)
            assert (ours is None) == (theirs is None)
            assert ours is None or np.array_equal(ours[i], theirs[-1]), name
        assert np.allclose(run.momentum[i], alone.momentum[-1], rtol=1e-13, atol=1e-13)
        assert np.isclose(run.kinetic_energy[i], alone.kinetic_energy[-1], rtol=1e-13)


@pytest.mark.parametrize(
    "method", ["LP2", "DOP853", pytest.param("EXACT-RKN4", marks=pytest.mark.slow)]
)
def test_on_the_ground(method):
    begin = start()
    check(ensemble(BODY, None, SPAN, STEP, method, **begin), begin)


def test_bodies_in_parts_and_in_one_by_the_exact_motion():
    """A step is out of reach of the short formula for the faster half of the bodies."""
    body = RigidBody(TILTED, rotors=[Rotor((0, 0.6, 0.8), 0.1, torque=0.0, speed=1.0)])
    begin = start()
    begin["omega0"] *= np.where(np.arange(N) % 2, 0.1, 3.0)[:, None]
    run = ensemble(body, None, (0, 0.9), 0.3, "EXACT", **begin)
    for i in (0, 5, 63, 64, 66):
        rows = {name: values[i] for name, values in begin.items()}
        alone = integrate(body, None, (0, 0.9), 0.3, "EXACT", every="end", **rows)
        assert np.array_equal(run.quaternion[i], alone.quaternion[-1])
        assert np.array_equal(run.omega[i], alone.omega[-1])
        goal = exact.gyrostat(body, rows["rotation0"], rows["omega0"], 0.9)
        assert np.allclose(alone.matrix[-1], goal.matrix, atol=1e-14)


@pytest.mark.slow
def test_the_exact_motion_in_single_precision():
    body = RigidBody(TILTED, rotors=[Rotor((0, 0.6, 0.8), 0.1, torque=0.0, speed=1.0)])
    double, single = (
        ensemble(body, None, (0, 6), 2.0, "EXACT", dtype=dtype, **start())
        for dtype in ("float64", "float32")
    )
    assert set(single.status) == {"finished"}
    assert 0.0 < np.abs(double.omega - single.omega).max() < 1e-4


def test_in_flight():
    begin = start(flying=True)
    check(ensemble(BODY, None, SPAN, STEP, **begin), begin)


def different(i):
    """A body of its own, with rotors of its own: free, held or driven, and driven by a function."""
    rng = np.random.default_rng(i)
    A = 0.03 * rng.standard_normal((3, 3))
    own = Rotor((1, 0, 1), 0.1, torque=rng.normal(), damping=0.1)
    held = Rotor((1, 1, 0), 0.1, speed=10 * rng.normal())
    rotors = [
        Rotor(rng.standard_normal(3), 0.05 + 0.05 * rng.random(), momentum=rng.normal()),
        held if i % 2 else own,
        Rotor((1, 0, 1), 0.1, torque=swing, damping=0.1 * rng.random()),
    ]
    return RigidBody(np.diag([1.0, 2.0, 2.5]) + A + A.T, mass=1.0 + rng.random(), rotors=rotors)


DIFFERENT = [different(i) for i in range(N)]


def test_bodies_of_their_own():
    begin = start()
    run = ensemble(DIFFERENT, None, SPAN, STEP, **begin)
    check(run, begin, different)
    assert 0.0 < run.error_estimate.largest < 1e-1
    begin["momentum0"] = begin.pop("omega0")
    check(ensemble(DIFFERENT, None, SPAN, STEP, **begin), begin, different)


@pytest.mark.slow
def test_bodies_of_their_own_in_flight():
    begin = start(flying=True)
    check(ensemble(DIFFERENT, None, SPAN, STEP, **begin), begin, different)


@pytest.mark.slow
def test_axles_along_an_axis_of_symmetry_for_some_of_the_bodies():
    """EXACT-RKN4 has a step for each kind of body, a quicker one where axle and symmetry agree."""
    wheel, begin = Rotor((0, 0, 1), 0.1, speed=20.0), start()
    kinds = [[1.0, 1.0, 1.5], [1.0, 1.5, 1.5], [1.0, 1.4, 1.5], [1.0, 1.0, 1.0]]
    bodies = [RigidBody(kinds[i % 4], rotors=[wheel]) for i in range(N)]
    check(ensemble(bodies, None, SPAN, STEP, "EXACT-RKN4", **begin), begin, lambda i: bodies[i])


def test_threads_change_nothing():
    begin = start(n=4000)
    one, two = (ensemble(BODY, None, (0, 0.3), STEP, threads=k, **begin) for k in (1, 2))
    assert np.array_equal(one.rotor_speeds, two.rotor_speeds)
    assert np.array_equal(one.quaternion, two.quaternion)


def test_single_precision_is_close():
    begin = start()
    double, single = (
        ensemble(BODY, None, SPAN, STEP, dtype=dtype, **begin) for dtype in ("float64", "float32")
    )
    assert np.allclose(double.omega, single.omega, atol=1e-4)
    assert np.allclose(double.rotor_speeds, single.rotor_speeds, atol=1e-3)


def test_momentum_at_the_start():
    begin = start()
    begin["momentum0"] = begin.pop("omega0")
    check(ensemble(BODY, None, SPAN, STEP, **begin), begin)


def test_speeds_of_their_own():
    speeds = np.random.default_rng(2).uniform(-30, 30, (N, 3))
    begin = start()

    def body(i):
        free = Rotor(ROTORS[0].axis, 0.1, torque=0.0, speed=speeds[i, 0])
        held = Rotor((1, 1, 0), 0.1, speed=speeds[i, 1])
        driven = Rotor((1, 0, 1), 0.2, torque=swing, damping=0.1, speed=speeds[i, 2])
        return RigidBody(TILTED, mass=2.0, rotors=[free, held, driven])

    check(ensemble(BODY, None, SPAN, STEP, rotor_speeds0=speeds, **begin), begin, body)


def test_speeds_that_are_drawn():
    def drawn(n):
        law = (0.0, 30.0, stats.norm(5, 1))
        return ensemble(
            BODY, None, (0, 0.1), STEP, n=n, omega0=(0, 0, 1), rotor_speeds0=law, rng=1, keep=5
        )

    run = drawn(20)
    first = run.kept_rotor_speeds[0]
    assert np.array_equal(first[:, :2], np.tile([0.0, 30.0], (20, 1)))
    assert len(np.unique(first[:, 2])) == 20
    assert np.array_equal(drawn(7).rotor_speeds, run.rotor_speeds[:7])


def test_statistics_and_error_estimate():
    free = RigidBody([1.0, 2.0, 2.5], rotors=[Rotor((0, 0.6, 0.8), 0.1, torque=0.0, speed=20.0)])
    run = ensemble(free, None, (0, 1), STEP, keep="statistics", **start())
    for name in ("energy", "momentum", "momentum_x"):
        over = run.statistics[name].over_time
        assert np.all(over.max - over.min < 2e-3 * np.abs(over.mean).max()), name
    momentum = np.linalg.norm(run.momentum, axis=1)
    assert np.allclose(run.statistics["momentum"].over_time.mean, momentum, rtol=1e-13)
    assert 0.0 < run.error_estimate.largest < 1e-2


@pytest.mark.parametrize("bodies", [BODY, DIFFERENT])
@pytest.mark.parametrize("name", ["run.nc", "run.npz", "run.zarr"])
def test_files(name, bodies, tmp_path):
    flying = bodies is BODY
    run = ensemble(bodies, None, SPAN, STEP, keep=10, **start(flying))
    run.save(tmp_path / name)
    again = polhode.read(tmp_path / name)
    parts = ("omega", "rotor_speeds", "kept_rotor_speeds", "energy", "momentum", "kinetic_energy")
    for part in (*parts, *(["position"] if flying else [])):
        assert np.array_equal(getattr(run, part), getattr(again, part)), part
    assert run.to_xarray()["rotor_speed_2"].dims == ("body",)


SCENARIO = """
[run]
method = "LP2"
step = 0.01
t_span = [0.0, 0.1]
[body]
inertia = [1.0, 2.0, 2.5]
[[body.rotors]]
axis = [0.0, 0.0, 1.0]
inertia = 0.1
speed = 30.0
[initial]
omega = [0.0, 1.0, 0.0]
[ensemble]
n = 5
seed = 1
"""


def test_scenarios(tmp_path):
    from typer.testing import CliRunner

    from polhode.cli import app

    file, out = tmp_path / "wheel.toml", tmp_path / "out.nc"
    file.write_text(SCENARIO, encoding="utf-8")
    done = CliRunner().invoke(app, ["ensemble", str(file), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert np.allclose(polhode.read(out).rotor_speeds, 30.0, rtol=1e-14)
    file.write_text(SCENARIO + "inertia_spread = 0.1\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["ensemble", str(file), "-o", str(out), "--force"])
    assert done.exit_code == 0, done.output
    again = polhode.read(out)
    assert len(np.unique(again.moments[:, 0])) == 5
    # as it was at the start: momentum I omega of the body, and J (0, 0, 30) of its rotor
    inertia = again.moments[:, 1]
    wanted = np.hypot(inertia, 3.0)
    assert np.allclose(np.linalg.norm(again.momentum, axis=1), wanted, rtol=1e-13)
