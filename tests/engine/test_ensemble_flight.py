"""Ensembles of bodies that fly: each moves as `integrate` moves it alone, to the last bit."""

import numpy as np
import pytest
from scipy import stats

import polhode
from polhode import PolhodeError, RigidBody, ensemble, integrate
from polhode.engine.ensemble.keep import Statistics
from polhode.loads.force import Force, weight

N, SPAN, STEP = 67, (0.0, 0.215), 0.01  # a whole tile and a rest; a shorter last step
PARTS = ("quaternion", "omega", "position", "velocity")


@polhode.torque(uses_position=True, form="tuple", params={"k": 0.3})
def twist(t, R, x, v, p):
    return (p.k * x[1] * R[2][0], -p.k * x[0], 0.1 * v[2])


def pull(t, x, v, R, p):
    return (-p.c * x[0] - 0.1 * v[0], -p.c * x[1] + 0.2 * R[0][0], -p.c * x[2] - 1.0)


SPRING = Force(pull, form="tuple", params={"c": 3.0}, name="spring")


def pulled(t, x, v, R):
    """The same in array form."""
    return -3.0 * x - np.array([0.1 * v[0], -0.2 * R[0, 0], 1.0])


def many(n=N, seed=0):
    """Moments, masses, initial motions and parameters of n bodies."""
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((n, 4))
    start = {
        "rotation0": q / np.linalg.norm(q, axis=1, keepdims=True),
        "omega0": rng.standard_normal((n, 3)),
        "position0": rng.standard_normal((n, 3)),
        "velocity0": rng.standard_normal((n, 3)),
    }
    parameters = {"c": rng.uniform(2.0, 4.0, n), "k": rng.uniform(0.1, 0.5, n)}
    return rng.uniform(1.0, 1.9, (n, 3)), rng.uniform(1.0, 3.0, n), start, parameters


def alone(i, moments, masses, start, parameters, method, **changes):
    """Body i by itself."""
    return integrate(
        RigidBody(moments[i], mass=masses[i]),
        twist.with_params(k=parameters["k"][i]),
        SPAN,
        STEP,
        method,
        **{name: rows[i] for name, rows in start.items()},
        **{"force": SPRING.with_params(c=parameters["c"][i]), "every": "end", **changes},
    )


def same(run, one, i):
    return all(np.array_equal(getattr(run, part)[i], getattr(one, part)[-1]) for part in PARTS)


@pytest.mark.parametrize(
    "method",
    [
        *("LP2", "NMB", "DOP853"),
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("EXACT", "VLV", "EXACT-RKN4")),
    ],
)
def test_bodies_of_their_own_move_as_integrate_moves_them(method):
    moments, masses, start, parameters = many()
    run = ensemble(
        moments,
        twist,
        SPAN,
        STEP,
        method,
        force=SPRING,
        mass=masses,
        parameters=parameters,
        **start,
    )
    assert run.success and run.t == SPAN[1]
    for i in (0, 40, 63, 64, N - 1):
        assert same(run, alone(i, moments, masses, start, parameters, method), i), i
    if polhode.core.jit.compiling():
        assert run.vectorised


def test_one_thread_or_two_and_bodies_from_a_list_make_no_difference():
    moments, masses, start, parameters = many()
    bodies = [RigidBody(*pair) for pair in zip(moments, masses, strict=True)]
    runs = [
        ensemble(bodies, twist, SPAN, STEP, force=SPRING, parameters=parameters, threads=k, **start)
        for k in (1, 2)
    ]
    assert all(np.array_equal(*(getattr(run, part) for run in runs)) for part in PARTS)
    assert same(runs[0], alone(3, moments, masses, start, parameters, "LP2"), 3)


def test_axes_of_the_user_and_one_for_all():
    turn = polhode.rotations.matrices(polhode.rotations.exp([0.3, -0.4, 0.2]))
    body = RigidBody(turn @ np.diag([2.0, 3.0, 4.5]) @ turn.T, mass=2.0)
    start = {"omega0": (0.1, 0.2, 3.0), "position0": (1.0, 0.0, 2.0)}
    run = ensemble(body, twist, SPAN, STEP, force=SPRING, n=3, keep=10, **start)
    one = integrate(body, twist, SPAN, STEP, force=SPRING, **start)
    assert same(run, one, 2)
    assert run.positions.shape == (4, 3, 3) and run.velocities.shape == (4, 3, 3)
    assert np.array_equal(run.positions[:3, 1], one.position[[0, 10, 20]])
    assert np.array_equal(run.quaternions[:3, 1], one.quaternion[[0, 10, 20]])


def test_a_force_in_python_and_one_in_array_form():
    seen = []

    def watched(t, x, v, R):
        seen.append(t)
        return pulled(t, x, v, R)

    start = {"omega0": (0.1, 0.2, 3.0), "position0": np.arange(6.0).reshape(2, 3)}
    for force in (pulled, watched):
        run = ensemble([1.0, 2.0, 2.5], None, SPAN, STEP, force=force, **start)
        for i in range(2):
            first = {**start, "position0": start["position0"][i]}
            one = integrate([1.0, 2.0, 2.5], None, SPAN, STEP, force=force, **first)
            assert same(run, one, i)
    assert seen


def test_single_precision():
    moments, masses, start, parameters = many()
    runs = [
        ensemble(
            moments, twist, SPAN, STEP, force=SPRING, mass=masses, parameters=parameters,
            dtype=dtype, **start,
        )
        for dtype in ("float64", "float32")
    ]  # fmt: skip
    for part in PARTS:
        double, single = (getattr(run, part) for run in runs)
        assert 0.0 < np.abs(single - double).max() < 1e-5


def test_draws_repeat_and_thrown_bodies_fall_as_they_must():
    law = stats.norm((1.0, 0.0, 2.0), 0.1)
    given = {
        "bodies": [1.0, 2.0, 2.5],
        "t_span": (0, 1),
        "step": 0.05,
        "omega0": (0.0, 0.1, 2.0),
        "position0": law,
        "velocity0": (0.0, stats.norm(3.0, 1.0), 5.0),
        "mass": stats.uniform(1.0, 2.0),
        "force": weight(1.0),
        "parameters": {"mass": 2.0, "g": stats.uniform(9.0, 1.0)},
        "rng": 4,
    }
    run, more = ensemble(**given, n=5), ensemble(**given, n=7)
    for part in PARTS:
        assert np.array_equal(getattr(run, part), getattr(more, part)[:5])
    masses, g = run.bodies.masses, run.parameters["g"]
    assert len(set(masses)) == len(set(g)) == 5 and masses.min() >= 1.0
    assert np.allclose(run.velocity[:, 2], 5.0 - 2.0 * g / masses, atol=1e-12)
    assert len(set(run.velocity[:, 1])) == 5 and np.all(run.velocity[:, 0] == 0.0)
    part = ensemble(**given, n=2, first=3)
    assert np.array_equal(part.position, run.position[3:])


def test_loads_made_for_a_mass_are_made_for_that_of_each_body():
    masses, moments = np.array([1.0, 2.0, 5.0]), np.array([1.0, 2.0, 2.5])
    start = {"omega0": (0.1, 0.2, 3.0), "position0": (3.0, 0.0, 4.0)}
    bodies = [RigidBody(moments, mass=mass) for mass in masses]
    for given, mass in ((moments, masses), (bodies, None)):
        load = polhode.flight.gravity(8.0, moments)
        run = ensemble(given, load, SPAN, STEP, force=weight(1.0), mass=mass, **start)
        for i, body in enumerate(bodies):
            own = polhode.flight.gravity(8.0, body)
            one = integrate(body, own, SPAN, STEP, force=weight(body.mass), **start)
            assert same(run, one, i)
    fixed = ensemble(
        moments, None, SPAN, STEP, force=weight(1.0), mass=masses, parameters={"mass": 1.0}, **start
    )
    assert np.allclose(fixed.velocity[:, 2], -9.81 * SPAN[1] / masses)


@pytest.mark.parametrize("turned", [False, True])
def test_each_body_under_one_gravity_uses_its_own_inertia(turned):
    """Moments, or tensors in other axes."""
    tensors = [np.diag([1.0, 2.0, 2.5]), np.diag([2.0, 2.5, 1.5])]
    if turned:
        turn = polhode.rotations.matrices(polhode.rotations.exp([0.3, -0.2, 0.9]))
        tensors = [turn @ one @ turn.T for one in tensors]
    start = {"omega0": (0.1, 0.2, 3.0), "position0": (3.0, 0.0, 4.0)}
    bodies = [RigidBody(one, mass=2.0) for one in tensors]
    load = polhode.flight.gravity(8.0, bodies[0])
    run = ensemble(bodies, load, SPAN, STEP, **start)
    for i, body in enumerate(bodies):
        one = integrate(body, polhode.flight.gravity(8.0, body), SPAN, STEP, **start)
        assert same(run, one, i)


def test_bodies_without_a_mass_have_that_of_their_loads():
    """Moments say nothing of a mass, which is then 1, for the body and for the loads that act on it;
    a mass given as a parameter is that of the load alone."""
    moments = [[1.0, 2.0, 2.5], [1.0, 2.0, 2.0]]
    load = polhode.flight.gravity(8.0, RigidBody([1.0, 2.0, 2.5], mass=250.0))
    start = {"omega0": (0.1, 0.2, 3.0), "position0": (3.0, 0.0, 4.0)}
    run = ensemble(moments, load + weight(1.0), SPAN, STEP, **start)
    for i, I in enumerate(moments):
        own = polhode.flight.gravity(8.0, RigidBody(I)) + weight(1.0)
        assert same(run, integrate(RigidBody(I), own, SPAN, STEP, **start), i)
    heavy = ensemble(moments, load, SPAN, STEP, parameters={"mass": [250.0, 1.0]}, **start)
    light = ensemble(moments, load, SPAN, STEP, **start)
    assert np.array_equal(heavy.velocity[1], light.velocity[1])
    assert np.linalg.norm(heavy.velocity[0]) > 100.0 * np.linalg.norm(light.velocity[0])
    assert np.isfinite(heavy.error_estimate.angle).all()


def test_a_body_that_begins_nowhere_leaves_the_others_alone():
    moments, masses, start, parameters = many()
    start["position0"][2, 1] = np.nan
    run = ensemble(
        moments, twist, SPAN, STEP, force=SPRING, mass=masses, parameters=parameters, **start
    )
    assert [failure.body for failure in run.failures] == [2]
    assert same(run, alone(1, moments, masses, start, parameters, "LP2"), 1)


def test_statistics_of_positions():
    def height(x, v):
        return x[2] + 0.0 * v[0]

    start = {"omega0": (0.1, 0.2, 3.0), "position0": np.arange(9.0).reshape(3, 3)}
    keep = Statistics(every=5, of=["position_z", "velocity_x", "energy"], functions={"z": height})
    given = ([1.0, 2.0, 2.5], None, SPAN, STEP)
    run = ensemble(*given, force=SPRING, keep=keep, **start)
    kept = ensemble(*given, force=SPRING, keep=5, **start)
    over_time, over_bodies = run.statistics["position_z"]
    assert np.allclose(over_time.mean, kept.positions[..., 2].mean(axis=0))
    assert np.array_equal(over_bodies.max, kept.positions[..., 2].max(axis=1))
    assert np.array_equal(run.statistics["z"].over_time.min, over_time.min)
    every = ensemble(*given, force=SPRING, keep="statistics", **start)
    assert {"momentum", "position_x", "velocity_z"} <= set(every.statistics)


def test_loads_and_their_energies():
    n, turn = 4, polhode.rotations.matrices(polhode.rotations.exp([0.3, -0.4, 0.2]))
    body = RigidBody(turn @ np.diag([2.0, 3.0, 4.5]) @ turn.T, mass=2.0)
    pull = polhode.flight.spring(3.0, point=(0.1, 0.2, 0.3), length=0.5)
    start = {"omega0": (0.1, 0.2, 3.0), "position0": np.arange(12.0).reshape(n, 3)}
    stiffness = np.array([2.0, 3.0, 4.0, 5.0])
    run = ensemble(
        body, pull, SPAN, STEP, force=weight(2.0), parameters={"stiffness": stiffness}, **start
    )
    for i in range(n):
        own = polhode.flight.spring(stiffness[i], point=(0.1, 0.2, 0.3), length=0.5)
        first = {**start, "position0": start["position0"][i]}
        one = integrate(body, own, SPAN, STEP, force=weight(2.0), **first)
        assert same(run, one, i)
        for mine, its in (("energy", "total_energy"), ("kinetic_energy", "kinetic_energy")):
            assert np.isclose(getattr(run, mine)[i], getattr(one, its)[-1], rtol=1e-13)
        for name in ("linear_momentum", "angular_momentum"):
            assert np.allclose(getattr(run, name)[i], getattr(one, name)[-1], rtol=1e-13)


def test_the_error_estimate_looks_at_the_translation():
    moments, masses, start, parameters = many()
    given = {"force": SPRING, "mass": masses, "parameters": parameters, **start}
    coarse, fine = (ensemble(moments, twist, (0, 2), h, **given) for h in (0.1, 0.001))
    estimate = coarse.error_estimate
    apart = np.linalg.norm(coarse.position - fine.position, axis=1)[estimate.bodies]
    ways = np.linalg.norm(coarse.position - start["position0"], axis=1)[estimate.bodies]
    assert np.allclose(estimate.position, apart / ways.max(), rtol=0.1, atol=1e-5)
    assert estimate.velocity.shape == estimate.angle.shape
    assert estimate.largest >= estimate.position.max()
    wild = ensemble(moments, None, (0, 6), 0.6, force=SPRING, **start)
    assert "the largest values" in wild.error_estimate.advice


@pytest.mark.parametrize("suffix", [".nc", ".zarr", ".npz"])
def test_files_hold_positions_velocities_and_masses(tmp_path, suffix):
    moments, masses, start, parameters = many(5)
    run = ensemble(
        moments,
        twist,
        SPAN,
        STEP,
        force=SPRING,
        mass=masses,
        parameters=parameters,
        keep=10,
        **start,
    )
    found = polhode.read(polhode.io.save(run, tmp_path / f"run{suffix}"))
    for name in (*PARTS, "positions", "velocities", "quaternions", "energy", "momentum_spatial"):
        assert np.array_equal(getattr(found, name), getattr(run, name)), name
    assert np.array_equal(found.bodies.masses, masses)
    assert found.provenance()["force_terms"][0]["name"] == "spring"
    assert np.array_equal(found.error_estimate.position, run.error_estimate.position)
    assert run.to_xarray()["position"].dims == ("body", "axis")


def test_files_hold_the_mass_that_all_bodies_have(tmp_path):
    given = ([1.0, 2.0, 2.5], None, SPAN, STEP)
    run = ensemble(*given, n=3, mass=2.0, omega0=(0, 0.1, 1), velocity0=(0, 0, 1))
    found = polhode.read(polhode.io.save(run, tmp_path / "run.nc"))
    assert np.array_equal(found.linear_momentum, run.linear_momentum)
    assert np.array_equal(found.kinetic_energy, run.kinetic_energy)


def test_without_flight_there_is_no_position():
    run = ensemble([1.0, 2.0, 2.5], None, SPAN, STEP, n=2, omega0=(0, 0.1, 1), keep=5)
    assert run.position is run.velocity is run.positions is run.velocities is None
    assert "position" not in run.to_xarray()


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"position0": np.zeros((3, 3)), "velocity0": np.zeros((2, 3))}, ["position0", "3", "2"]),
        ({"position0": np.zeros((3, 2))}, ["position0", "(n, 3)", "(3, 2)"]),
        ({"mass": [1.0, 0.0]}, ["mass", "positive", "body 1"]),
        ({"mass": stats.norm(0.0, 1.0), "n": 9}, ["mass", "positive", "law"]),
        ({"mass": np.ones((2, 2))}, ["mass", "(2, 2)"]),
        ({"force": None, "mass": 2.0}, ["mass=2.0", "fly", "position0"]),
        ({"force": lambda t, x, v, R: x[:2]}, ["three numbers"]),
        ({"force": lambda t, R: R[0]}, ["f(t, x, v, R)"]),
        ({"torque": twist, "force": None}, ["position", "twist"]),
        ({"torque": twist, "method": "CF4"}, ["CF4", "position"]),
        ({"parameters": {"d": 1.0}}, ["force 'spring'", "'c'"]),
        ({"torque": twist, "force": Force(pull, params={"k": 1.0, "c": 1.0}, form="tuple"),
          "parameters": {"k": 1.0}}, ["'k'", "twist.k", "pull.k"]),
        ({"force": None, "keep": Statistics(of="position_x")}, ["position_x", "fly"]),
        ({"force": None, "keep": {"functions": {"f": lambda x: x[0]}}}, ["'f'", "fly"]),
        ({"position0": np.full((2, 3), np.nan)}, ["position0", "finite"]),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_reason(changes, words):
    given = {"bodies": [1.0, 2.0, 2.5], "t_span": (0, 1), "step": 0.1, "omega0": (0, 0, 1)}
    with pytest.raises(PolhodeError) as error:
        ensemble(**{**given, "force": SPRING, **changes})
    for word in words:
        assert word in str(error.value)
