"""Exact-flow splitting, high-order splittings and compositions, and preprocessed Moser-Veselov of
high order."""

import importlib.util
import math
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from polhode import InputError, RigidBody, facts, integrate, problems, torques
from polhode.core.kicks import ON_GROUND
from polhode.core.closed import free_motion, short_motion
from polhode.core.loops.fixed import Body
from polhode.core.vec import matrix, normalise, times
from polhode.exact import free_body
from polhode.methods import get
from polhode.methods.axis_splitting import ROTATIONS, split_drift
from polhode.methods.compose import HALVES, SCHEMES, Scheme, compose
from polhode.methods.dmv import rates
from polhode.methods.dmv_high import rates7, rates9
from polhode.methods.exact_flow import SYMMETRIC, free_drift, symmetry_axis, triaxial
from polhode.methods.nystrom import COEFFICIENTS, kicks_first, rows
from polhode.methods._method import variant

HIGH = ("EXACT-RKN4", "EXACT-RKN6", "EXACT-RKN6-14", "MR2-BM4", "MR2-BM6")


def body_of(I):
    I = tuple(float(x) for x in I)
    return Body(I, tuple(1.0 / x for x in I))


def apart(motion, other, size):
    """The largest difference of two (q, Pi, ...), momenta relative to `size`."""
    q = max(abs(a - b) for a, b in zip(motion[0], other[0], strict=True))
    return max(q, *(abs(a - b) / size for a, b in zip(motion[1], other[1], strict=True)))


# --- the free motion over a short time ------------------------------------------------------------

exact, short = free_motion.flow, short_motion.short_flow


@pytest.mark.parametrize("reach", [1e-8, 1e-4, 0.05, 0.2, 0.299])
def test_short_motion_is_exact_to_round_off(reach):
    rng = np.random.default_rng(7)
    for k in range(300):
        I = np.exp(rng.uniform(-1.5, 1.5, 3))
        if k % 3 == 0:
            I[1] = I[0] * (1.0 + 10.0 ** rng.uniform(-15, -1))  # nearly symmetric
        Pi = rng.standard_normal(3) * 10.0 ** rng.uniform(-3, 0, 3)
        size = float(np.linalg.norm(Pi))
        h = reach / (size * (1.0 / I.min() - 1.0 / I.max()))
        if h * size / I.min() > 10.0:  # the angle itself is then known to fewer digits
            continue
        q, Pi = normalise(tuple(rng.standard_normal(4).tolist())), tuple(Pi.tolist())
        assert apart(short(h, q, Pi, body_of(I)), exact(h, q, Pi, body_of(I)), size) < 4e-15


def test_short_motion_of_a_sphere_and_of_a_body_at_rest():
    q, rest, Pi = normalise((0.1, -0.4, 0.3, 0.8)), (0.0, 0.0, 0.0), (1.0, -2.0, 0.5)
    for I in ((2.0, 2.0, 2.0), (2.0, 2.0, 5.0), (2.0, 3.0, 4.5)):
        assert apart(short(0.7, q, rest, body_of(I)), (q, rest), 1.0) < 3e-16
    sphere = body_of((2.0, 2.0, 2.0))
    assert apart(short(0.7, q, Pi, sphere), exact(0.7, q, Pi, sphere), 2.0) < 1e-15


@pytest.mark.parametrize("h", [0.2, 0.31, 3.0, -0.2, -3.0])
def test_any_time_is_within_reach_of_one_or_the_other(h):
    q, Pi, body = normalise((0.1, -0.4, 0.3, 0.8)), (1.0, -2.0, 0.5), body_of((2.0, 3.0, 4.5))
    assert apart(triaxial(h, q, Pi, body), free_motion.flow(h, q, Pi, body), 2.0) < 1e-14
    assert triaxial(h, q, Pi, body)[2] == 0.0
    reached = short_motion.within_reach(h, Pi, body.Iinv)
    assert reached == (abs(h) * math.sqrt(5.25) * (1 / 2 - 1 / 4.5) < short_motion.REACH)
    assert short_motion.no_further(reached, q, Pi, h, q, Pi, body)[2] == (0.0 if reached else 1.0)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("ratio", [0.3, 1.0, 1.7])
def test_motion_of_symmetric_bodies(axis, ratio):
    I = [2.0, 2.0, 2.0]
    I[axis] *= ratio
    body, q, Pi = body_of(I), normalise((0.1, -0.4, 0.3, 0.8)), (1.0, -2.0, 0.5)
    for h in (1e-9, 0.3, 7.0, -7.0):
        assert apart(SYMMETRIC[axis](h, q, Pi, body), free_motion.flow(h, q, Pi, body), 2.0) < 2e-15
    assert SYMMETRIC[axis](1.0, q, (0.0, 0.0, 0.0), body)[0] == pytest.approx(q, abs=1e-16)


# --- EXACT ----------------------------------------------------------------------------------------


def test_the_drift_is_chosen_for_the_body():
    assert [
        symmetry_axis(I) for I in ((2, 2, 3), (2, 3, 2), (3, 2, 2), (2, 2, 2), (2, 3, 4.5))
    ] == [2, 1, 0, 2, None]
    assert free_drift(RigidBody((1.0, 2.0, 2.0))) is SYMMETRIC[0]
    assert free_drift(RigidBody((2.0, 2.0 + 1e-15, 3.0))) is SYMMETRIC[2]
    assert free_drift(RigidBody((2.0, 2.0 + 1e-14, 3.0))) is triaxial
    assert free_drift(None) is triaxial


@pytest.mark.parametrize(
    "name",
    [
        "EXACT",
        pytest.param("EXACT-RKN6", marks=pytest.mark.slow),
        pytest.param("EXACT+kahanli6", marks=pytest.mark.slow),
    ],
)
def test_all_bodies_move_alike_whatever_the_drift(name):
    """A symmetric body by its own formula and by the general one, and nearly symmetric bodies."""

    def end(moments, method):
        return integrate(
            moments,
            torques.heavy_top(20.0),
            (0, 2),
            0.1,
            method,
            omega0=(0.3, 0.2, 5.0),
            rotation0=(0.05, 0.0, 0.0),
            compiled=False,
        ).matrix[-1]

    own = end((5.0, 5.0, 1.0), name)
    assert np.abs(end((5.0, 5.0, 1.0), variant(get(name), adapt=None)) - own).max() < 1e-13
    assert np.abs(end((5.0, 5.0 + 1e-12, 1.0), name) - own).max() < 1e-11


def test_exact_on_the_slow_top():
    run = problems.get("slow-top").integrate("EXACT", step=0.05)
    row = [0.04775808446281386, 0.04061263806466103, 0.9980329548656384]
    assert run.nfev == 201
    assert np.abs(run.matrix[-1][2] - row).max() < 2e-4


@pytest.mark.parametrize(
    ("problem", "step", "least"), [("slow-top", 0.0125, 10.0), ("fast-top", 0.00125, 10.0)]
)
def test_exact_is_ten_times_as_accurate_as_the_explicit_midpoint_lie_method(problem, step, least):
    from polhode.exact import reference

    end = reference(f"krysl/{problem}", [0.0, 10.0]).matrix[-1]
    error = {
        name: np.linalg.norm(problems.get(problem).integrate(name, step=step).matrix[-1] - end, 2)
        for name in ("EXACT", "LIEMID[EA]")
    }
    assert error["EXACT"] * least < error["LIEMID[EA]"]


@pytest.mark.parametrize(
    "inertia",
    [(2.0, 3.0, 4.5), (2.0, 2.0, 3.0), [[3.0, 0.2, 0.1], [0.2, 2.5, -0.3], [0.1, -0.3, 2.0]]],
)
@pytest.mark.parametrize("name", ["EXACT", pytest.param("EXACT-RKN6-14", marks=pytest.mark.slow)])
def test_free_motion_is_exact_at_any_step(inertia, name):
    body = RigidBody(inertia)
    run = integrate(body, None, (0, 20), 2.0, name, omega0=(0.8, -0.6, 0.5), compiled=False)
    exact = free_body(body, None, (0.8, -0.6, 0.5), run.t)
    assert np.abs(run.matrix - exact.matrix).max() < 5e-14


# --- coefficients ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def conditions():
    path = Path(__file__).parents[2] / "benchmarks" / "splitting_coefficients.py"
    spec = importlib.util.spec_from_file_location("splitting_coefficients", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [*COEFFICIENTS, *HALVES])
def test_order_conditions(conditions, name):
    """The decimals as stored solve the order conditions, in the free algebra, to thirty digits."""
    text = HALVES[name] if name in HALVES else " ".join(COEFFICIENTS[name].values())
    with mp.workdps(50):
        half = conditions.numbers(text)
        assert conditions.largest_defect(name, half) < 1e-29
        assert conditions.largest_defect(name, [half[0] + 1e-10, *half[1:]]) > 1e-13


def test_order_conditions_see_the_next_order(conditions):
    """RKN4's own numbers do not solve the conditions of order 6, nor Nystrom's those without [B,
    [B, [B, A]]] = 0."""
    with mp.workdps(50):
        half = conditions.numbers(" ".join(COEFFICIENTS["RKN4"].values()))
        row = conditions.SCHEMES["RKN4"][1](half)
        assert max(map(abs, conditions.nystrom(6, "B")(row))) > 1e-6
        half = conditions.numbers(" ".join(COEFFICIENTS["RKN6-11"].values()))
        row = conditions.SCHEMES["RKN6-11"][1](half)
        assert max(map(abs, conditions.alternating(6)(conditions.halves(row)))) > 1e-6


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_rows(name):
    kicks, drifts = rows(name)
    for row in (kicks, drifts):
        assert row == row[::-1]
        assert math.fsum(row) == pytest.approx(1.0, abs=1e-15)
    assert abs(len(kicks) - len(drifts)) == 1


# --- splittings and compositions ------------------------------------------------------------------


def test_a_nystrom_splitting_needs_an_exact_drift():
    """Over five rotations about the axes, which are of order 2, it is of order 2; general
    splittings keep theirs."""
    base = get("EXACT-RKN6")
    over_axes = variant(
        base, step=kicks_first(split_drift(*ROTATIONS), *rows("RKN6-11")), adapt=None
    )
    assert facts.order(over_axes).attitude == pytest.approx(2.0, abs=0.1)
    assert facts.order(base).attitude == pytest.approx(6.0, abs=0.2)
    assert facts.order("MR2-BM6").attitude == pytest.approx(6.0, abs=0.2)


def test_torque_counts():
    assert [get(name).torques for name in HIGH] == [6, 11, 14, 6, 10]
    assert [get(name).name for name in ("SRKN6b", "exact-rkn6-11", "srkn14a")] == [
        "EXACT-RKN4",
        "EXACT-RKN6",
        "EXACT-RKN6-14",
    ]
    assert get("EXACT+kahanli10").torques == 33


def test_compositions_suit_themselves_to_the_body():
    composed = compose("EXACT", Scheme(4, SCHEMES["suzuki4"].steps, "suzuki1990fractal"))
    assert composed.suited(torques.free(), RigidBody((2.0, 2.0, 3.0))).name == "EXACT+own"
    with pytest.raises(InputError, match="order 2"):
        compose("EXACT-RKN4", "kahanli6")


@pytest.mark.parametrize(
    "name", ["EXACT-RKN6", pytest.param("EXACT-RKN6-14", marks=pytest.mark.slow)]
)
def test_energy_stays_in_the_stress_test(name):
    """T = 15000 at h = 1/4: oscillation within 1e-8, and no drift."""
    run = problems.get("bou-rabee/stress").integrate(name, step=0.25, every=10)
    change = run.total_energy - run.total_energy[0]
    assert run.t[-1] == 15000.0
    assert np.abs(change).max() < 1e-8
    halves = np.array_split(change, 2)
    assert abs(halves[0].mean() - halves[1].mean()) < 1e-10


# --- preprocessed Moser-Veselov -------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_modified_energy_of_a_rotation_about_an_axis(axis):
    """There the step turns by asin(h x Pi), and a x + b is that angle over h Pi, power by power."""
    body, size = body_of((2.0, 3.0, 4.5)), 1.3
    Pi = tuple(size if i == axis else 0.0 for i in range(3))
    x = body.Iinv[axis]
    a3, b3, a5, b5 = rates(body.Iinv, Pi)
    for m, (a, b) in enumerate(
        [(a3, b3), (a5, b5), rates7(body.Iinv, Pi), rates9(body.Iinv, Pi)], 1
    ):
        series = math.comb(2 * m, m) / (4**m * (2 * m + 1)) * x ** (2 * m + 1) * size ** (2 * m)
        assert a * x + b == pytest.approx(series, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "order"), [("DMV8+att", 8), pytest.param("DMV10+att", 10, marks=pytest.mark.slow)]
)
def test_orders_on_another_body(name, order):
    """Errors at two steps, on Buss's thin body."""
    body, Pi, q = body_of((19 / 60, 3 / 100, 47 / 150)), (0.11, 0.03, -0.2), (0.0, 0.0, 0.0, 1.0)
    errors = []
    for h in (0.25, 0.125):
        state = get(name).start(h, 0.0, q, times(body.Iinv, Pi), body, Still(), ())
        for k in range(round(1.0 / h)):
            state = get(name).step(h, k * h, state, body, Still(), ())
            assert state.residual < 2e-14
        errors.append(apart((state.q, state.Pi), free_motion.flow(1.0, q, Pi, body), 0.2))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.5)


class Still:
    """No torque."""

    kicks = ON_GROUND

    @staticmethod
    def at(t, q, Om, p):
        return (0.0, 0.0, 0.0)


def test_matrix_of_the_short_motion_stays_a_rotation():
    q, Pi, body = (0.0, 0.0, 0.0, 1.0), (1.0, -2.0, 0.5), body_of((2.0, 3.0, 4.5))
    for _ in range(2000):
        q, Pi, _ = triaxial(0.1, q, Pi, body)
    R = np.array(matrix(q))
    assert np.abs(R.T @ R - np.eye(3)).max() < 4e-15
    assert np.linalg.norm(Pi) == pytest.approx(math.sqrt(5.25), rel=1e-13)
    assert np.abs(R @ Pi - (1.0, -2.0, 0.5)).max() < 1e-12
