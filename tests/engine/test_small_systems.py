"""Systems of a few bodies: in registers, many at once, and prepared once for many calls."""

import math
import pickle

import numpy as np
import polhode
import pytest
from polhode import InputError, RigidBody, System
from scipy import stats

BODIES = [RigidBody.box(1, 2, 3, mass=3.0), RigidBody.box(1, 1.5, 2.2, mass=2.0)]
TILTED = RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, -0.2], [0.1, -0.2, 1.5]], mass=1.5)
PARTS = ("quaternion", "omega", "position", "velocity")
START = {
    "position0": np.array([[-2.0, 0.0, 0.1], [3.0, 0.1, 0.0]]),
    "velocity0": np.array([[0.0, -0.3, 0.0], [0.0, 0.4, 0.1]]),
}
SPINS = np.random.default_rng(3).normal(size=(70, 2, 3))
ATTITUDES = np.array([[0.0, 0.0, 0.0, 1.0], [0.6, 0.0, 0.0, 0.8]])


def axis(R, a, p):
    """The magnetic moment of a body, along its third axis."""
    return a.m * R[0][2], a.m * R[1][2], a.m * R[2][2]


def magnets(r, A, B, p):
    """Attraction of the centres, and of the axes to each other."""
    k = p.G / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    T = (
        p.c * (A[1] * B[2] - A[2] * B[1]),
        p.c * (A[2] * B[0] - A[0] * B[2]),
        p.c * (A[0] * B[1] - A[1] * B[0]),
    )
    return (k * r[0], k * r[1], k * r[2]), T, (-T[0], -T[1], -T[2])


def energy(r, A, B, p):
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    return 0.5 * p.G * math.log(square) - p.c * (A[0] * B[0] + A[1] * B[1] + A[2] * B[2])


def pair_of_magnets(n=2, **options):
    given = {"params": {"G": 1.5, "c": 0.4}, "each": {"m": np.linspace(1.0, 1.5, n)}}
    return polhode.Pair(
        magnets, **{**given, "potential": energy, "aspect": axis, "form": "tuple", **options}
    )


def nothing(r, A, B, c, p):
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


@polhode.pair(uses_velocity=True, external=True)
def damper(r, v, Ri, Rj, wi, wj):
    T = 0.1 * (wj - wi)
    return 0.2 * v, T, -T


def spring(t, x, R):
    pull = 0.3 * (x[1] - x[0])
    turn = 0.2 * np.cross(R[0, :, 0], R[1, :, 0])
    return np.stack((pull, -pull)), np.stack((turn, -turn))


@pytest.fixture(scope="module")
def pair():
    return System(BODIES, pair_of_magnets())


def run(system, method="LP2", omega0=SPINS[0], **options):
    given = {"t_span": (0, 1), "step": 0.05, "rotation0": ATTITUDES, **START, **options}
    return polhode.integrate(system, method=method, omega0=omega0, **given)


def many(system, method="LP2", omega0=SPINS, **options):
    given = {"t_span": (0, 1), "step": 0.05, "rotation0": ATTITUDES, **START, **options}
    return polhode.ensemble(system, method=method, omega0=omega0, **given)


# --- single runs ----------------------------------------------------------------------------------

INTERACTIONS = {
    "pairs": pair_of_magnets(),
    "near": pair_of_magnets(cutoff=5.01),
    "in a box": pair_of_magnets(cutoff=3.0, box=6.5),
    "velocities": pair_of_magnets() + damper,
    "all bodies": polhode.Interaction(spring) + pair_of_magnets(),
}


@pytest.mark.parametrize(
    "name",
    [
        name if name == "pairs" else pytest.param(name, marks=pytest.mark.slow)
        for name in INTERACTIONS
    ],
)
def test_registers_and_arrays_give_the_same_bits(name):
    # so many links, which do nothing, are more than are written out
    idle = polhode.Pair(nothing, links=[(0, 1)] * 65, form="tuple", aspect=axis, each={"m": [1, 1]})
    bodies = [BODIES[0], TILTED] if name in ("velocities", "all bodies") else BODIES
    few = run(System(bodies, INTERACTIONS[name]))
    arrays = run(System(bodies, INTERACTIONS[name] + idle))
    for part in PARTS:
        assert np.array_equal(getattr(few, part), getattr(arrays, part)), part
    assert np.ptp(few.velocity, axis=0).max() > 0.01
    assert few.mode == arrays.mode == "compiled"


def test_links_have_numbers_of_their_own():
    def pull(r, A, B, c, p):
        return (c.k * r[0], c.k * r[1], c.k * r[2]), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)

    def chain(count):
        k = [2.0, 3.0] + [0.0] * (count - 2)
        links = [(0, 1), (1, 2)] + [(0, 2)] * (count - 2)
        own = {"k": k}
        return polhode.Pair(
            pull, links=links, own=own, form="tuple", aspect=axis, each={"m": [1, 1, 1]}
        )

    start = {"omega0": None, "rotation0": None, "velocity0": None}
    start["position0"] = [[0, 0, 0], [1, 0, 0], [2, 1, 0]]
    few, arrays = (run(System([TILTED] * 3, chain(count)), **start) for count in (2, 66))
    for part in PARTS:
        assert np.array_equal(getattr(few, part), getattr(arrays, part)), part


def test_python_and_machine_code_are_the_same(pair):
    compiled, python = run(pair), run(pair, compiled=False)
    assert (compiled.mode, python.mode) == ("compiled", "python")
    for part in PARTS:
        assert abs(getattr(python, part) - getattr(compiled, part)).max() < 1e-14, part


def test_a_change_of_what_the_interaction_reads_is_noticed():
    strength = 0.3

    def pull(t, x, R):
        F = strength * (x[1] - x[0])
        return np.stack((F, -F)), np.zeros((2, 3))

    system = System(BODIES, pull)
    weak = run(system).velocity[-1]
    strength = 3.0
    strong = run(system).velocity[-1]
    assert abs(strong - weak).max() > 0.1
    strength = 0.3
    assert np.array_equal(run(system).velocity[-1], weak)


# --- many systems ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", ["LP2", "EXACT", pytest.param("EXACT-RKN4", marks=pytest.mark.slow)]
)
def test_each_system_moves_as_it_does_alone(pair, method):
    together = many(pair, method)
    assert together.success and len(together) == len(SPINS)
    for i in (0, 1, 69):
        alone = run(pair, method, SPINS[i], every="end")
        for part in PARTS:
            assert np.array_equal(getattr(together, part)[i], getattr(alone, part)[-1]), (i, part)
        assert together.energy[i] == pytest.approx(alone.total_energy[-1], rel=1e-14)
        assert np.allclose(together.angular_momentum[i], alone.angular_momentum[-1], rtol=1e-14)
    again = many(pair, method, threads=1)
    assert np.array_equal(again.position, together.position)


@pytest.mark.compiled
def test_lanes_are_packed(pair):
    assert many(pair).vectorised
    assert many(pair, dtype="float32").vectorised


def test_single_precision(pair):
    double, single = many(pair), many(pair, dtype="float32")
    assert 0.0 < abs(double.quaternion - single.quaternion).max() < 1e-5
    assert abs(double.position - single.position).max() < 1e-5


def test_what_all_systems_keep(pair):
    result = many(pair, "EXACT", t_span=(0, 5), step=0.02, keep="statistics")
    energies = result.statistics["energy"].over_time
    assert (energies.max - energies.min < 1e-3 * abs(energies.mean)).all()
    momenta = result.statistics["momentum_x"].over_time
    assert (momenta.max - momenta.min).max() < 1e-12
    start = (np.array([one.mass for one in BODIES])[:, None] * START["velocity0"]).sum(axis=0)
    assert abs(result.linear_momentum - start).max() < 1e-13
    assert result.error_estimate.largest < 1e-2


def test_motions_on_the_way_as_named_arrays(pair):
    result = many(pair, keep=10)
    assert result.positions.shape == (3, 70, 2, 3)
    assert np.array_equal(result.quaternions[-1], result.quaternion)
    data = result.to_xarray()
    assert data.quaternion.dims == ("system", "body", "quaternion_component")
    assert data.positions.dims == ("time", "system", "body", "axis")
    assert data.energy.dims == ("system",)
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(again.energy, result.energy)


def test_parameters_of_each_system(pair):
    strengths = np.linspace(0.5, 2.0, 70)
    result = many(pair, parameters={"G": strengths}, omega0=SPINS[0])
    for i in (0, 40):
        other = System(BODIES, pair_of_magnets(params={"G": strengths[i], "c": 0.4}))
        alone = run(other)
        assert np.array_equal(result.position[i], alone.position[-1])
        assert result.energy[i] == pytest.approx(alone.total_energy[-1], rel=1e-14)
    drawn = many(pair, parameters={"c": stats.uniform(0, 1)}, omega0=SPINS[0], n=5, rng=1)
    assert drawn.parameters["c"].shape == (5,) and np.ptp(drawn.omega, axis=0).max() > 1e-3


def test_drawn_at_random(pair):
    given = {"omega0": stats.norm(0, 1), "rotation0": "random", "rng": 4}
    some, more = many(pair, n=3, **given), many(pair, n=9, **given)
    assert np.array_equal(some.omega, more.omega[:3])
    assert np.ptp(more.quaternion, axis=0).max() > 0.5


def test_a_system_that_fails_leaves_the_others_alone(pair):
    spins, places = SPINS.copy(), np.tile(START["position0"], (70, 1, 1))
    spins[3, 1, 0] = np.nan
    places[7, 1] = places[7, 0]  # in one place
    result = many(pair, omega0=spins, position0=places)
    assert [failure.body for failure in result.failures] == [3, 7]
    assert result.status[7] == "failed" and "2 of 70 systems failed" in result.message
    well = [i for i in range(70) if i not in (3, 7)]
    assert np.array_equal(result.position[well], many(pair).position[well])


def test_attitudes_and_axes_of_bodies():
    system = System([TILTED, BODIES[0]], pair_of_magnets())
    turns = np.random.default_rng(5).normal(size=(4, 2, 3))
    result = many(system, rotation0=turns, omega0=SPINS[:4])
    alone = run(system, rotation0=turns[2], omega0=SPINS[2])
    assert np.array_equal(result.quaternion[2], alone.quaternion[-1])
    assert np.array_equal(result.omega[2], alone.omega[-1])
    momenta = many(system, momentum0=system.momentum(SPINS[:4]), omega0=None, rotation0=turns)
    assert abs(momenta.omega - result.omega).max() < 1e-13


def test_what_a_function_of_your_own_measures(pair):
    def distance(x):
        return float(np.linalg.norm(x[1] - x[0]))

    keep = polhode.Statistics(every=20, of=["kinetic_energy"], functions={"distance": distance})
    result = many(pair, omega0=SPINS[:3], keep=keep)
    apart = np.linalg.norm(np.diff(result.position, axis=1), axis=2)[:, 0]
    found = result.statistics["distance"].over_time
    assert np.allclose(np.maximum(found.max, found.min), found.max)
    assert ((found.min <= apart) & (apart <= found.max)).all()


REFUSED = [
    ({"method": "DOP853"}, "is not made of kicks and drifts"),
    ({"torque": "heavy_top"}, "torque goes with one body"),
    ({"mass": 1.0}, "mass goes with one body"),
    ({"position0": None}, "position0 is missing"),
    ({"position0": np.zeros((4, 3, 3))}, "three numbers for each of the 2 bodies"),
    ({"rotation0": np.zeros((3, 4)) + 0.5}, "one for each of the 2"),
    ({"omega0": np.zeros((4, 2, 3)), "velocity0": np.zeros((5, 2, 3))}, "omega0 is for 4 bodies"),
    ({"omega0": stats.norm(0, 1)}, "n is missing"),
    ({"omega0": np.full((2, 2, 3), np.nan)}, "must be finite"),
    ({"rotation0": "randm"}, "random"),
    ({"parameters": {"g": 1.0}}, "parameter of the interaction"),
    ({"parameters": {"G": np.ones((2, 2))}}, "one for each system"),
    ({"parameters": 3}, "must be a dict"),
    ({"keep": polhode.Statistics(of=["position_x"])}, "one of a body alone"),
    ({"units": "SI"}, "give units to them"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_bad_input_is_refused(pair, given, message):
    with pytest.raises(InputError, match=message):
        many(pair, **given)


def test_what_does_not_fit_into_registers_is_refused():
    crowd = System([BODIES[0]] * 9, pair_of_magnets(9))
    with pytest.raises(InputError, match="9 bodies, and registers hold 8"):
        polhode.ensemble(crowd, t_span=(0, 1), step=0.1, position0=np.zeros((9, 3)), n=2)

    def unknown_to_numba(t, x, R):
        return spring(t, x, R) if [*{}.items()] == [] and {}.get("k") is None else None

    with pytest.raises(InputError, match="runs as Python"):
        many(System(BODIES, unknown_to_numba))


# --- flows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["LP2", "EXACT"])
def test_a_flow_ends_where_integrate_does(pair, method):
    for system in (pair, System([TILTED, BODIES[0]], pair_of_magnets())):
        flow = polhode.Flow(system, None, method, step=0.06)
        end = flow(ATTITUDES, SPINS[0], 0.0, 1.0, **START)
        alone = run(system, method, step=0.06)
        for part, name in zip(end, PARTS, strict=True):
            assert np.array_equal(part, getattr(alone, name)[-1]), name
    end = flow(ATTITUDES, SPINS[0], 0.0, 1.2, **START)
    back = flow(end.attitude, end.omega, 1.2, 0.0, position0=end.position, velocity0=end.velocity)
    assert abs(back.position - START["position0"]).max() < 1e-13


@pytest.mark.slow
def test_a_flow_by_tolerance_in_python_and_with_times(pair):
    exact = polhode.Flow(pair, rtol=1e-10)(ATTITUDES, SPINS[0], 0.0, 1.0, **START)
    alone = run(pair, "DOP853", step=None, rtol=1e-10)
    assert np.array_equal(exact.position, alone.position[-1])
    flow = polhode.Flow(pair, None, "EXACT-RKN6", step=0.05)
    some = flow(ATTITUDES, SPINS[0].tolist(), 0.0, 1.0, t_eval=[0.5, 1.0], **START)
    assert some.attitude.shape == (2, 2, 4)
    assert abs(some.position[1] - exact.position).max() < 1e-8

    calls = []

    def in_python(t, x, R):
        calls.append(t)
        return spring(t, x, R)

    slow = polhode.Flow(System(BODIES, in_python), step=0.05)
    end = slow(ATTITUDES, SPINS[0], 0.0, 1.0, **START)
    fast = polhode.Flow(System(BODIES, spring), step=0.05)(ATTITUDES, SPINS[0], 0.0, 1.0, **START)
    assert calls and abs(end.position - fast.position).max() < 1e-13


@pytest.mark.compiled
def test_a_flow_in_machine_code(pair):
    import numba

    flow = polhode.Flow(pair, step=0.05)
    advance = flow.compiled

    @numba.njit
    def shoot(q, Om, x, v):
        return advance(q, Om, x, v, 0.0, 1.0)

    rows = ATTITUDES.copy(), SPINS[0].copy(), START["position0"].copy(), START["velocity0"].copy()
    assert shoot(*rows) == 0
    end = flow(ATTITUDES, SPINS[0], 0.0, 1.0, **START)
    assert all(map(np.array_equal, rows, end))
    rows[1][0, 0] = np.nan
    before = rows[2].copy()
    assert shoot(*rows) == 5 and np.array_equal(rows[2], before)
    with pytest.raises(InputError, match="up to eight bodies"):
        _ = polhode.Flow(pair, rtol=1e-9).compiled


def test_a_flow_notices_changes_and_is_prepared_anew_elsewhere():
    stiffness = 0.3

    def pull(t, x, R):
        F = stiffness * (x[1] - x[0])
        return np.stack((F, -F)), np.zeros((2, 3))

    flow = polhode.Flow(System(BODIES, pull), step=0.05)
    weak = flow(ATTITUDES, SPINS[0], 0.0, 1.0, **START)
    stiffness = 3.0
    strong = flow(ATTITUDES, SPINS[0], 0.0, 1.0, **START)
    assert np.array_equal(strong.velocity, run(System(BODIES, pull)).velocity[-1])
    assert abs(strong.velocity - weak.velocity).max() > 0.1
    still = polhode.Flow(System(BODIES), step=0.05)
    copy = pickle.loads(pickle.dumps(still))
    assert "SystemFlow: LP2, step = 0.05" in repr(copy)
    assert np.array_equal(
        copy(ATTITUDES, SPINS[0], 0.0, 1.0, **START).position,
        still(ATTITUDES, SPINS[0], 0.0, 1.0, **START).position,
    )


def test_a_flow_of_many_bodies_and_trouble():
    system = System([BODIES[0]] * 9, pair_of_magnets(9))
    places = 4.0 * np.arange(27.0).reshape(9, 3) % 13.0
    flow = polhode.Flow(system, step=0.05)
    for _ in range(2):
        end = flow(None, None, 0.0, 0.5, position0=places)
    alone = polhode.integrate(system, t_span=(0, 0.5), step=0.05, position0=places)
    assert np.array_equal(end.velocity, alone.velocity[-1])
    flow = polhode.Flow(System(BODIES, pair_of_magnets()), step=0.05)
    with pytest.raises(polhode.TorqueError, match="in the same place"):
        flow(ATTITUDES, SPINS[0], 0.0, 1.0, position0=np.zeros((2, 3)))
    with pytest.raises(InputError, match="must differ"):
        flow(ATTITUDES, SPINS[0], 1.0, 1.0, **START)
    with pytest.raises(InputError, match="step is missing"):
        polhode.Flow(System(BODIES))
    with pytest.raises(InputError, match="position0 is missing"):
        flow(ATTITUDES, SPINS[0], 0.0, 1.0)
