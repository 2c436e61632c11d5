"""Runs by tolerance: errors follow the tolerance, nothing depends on chunks, and what goes wrong
says so."""

import math
import signal
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.integrate._ivp import dop853_coefficients, rk

from polhode import RigidBody, exact, integrate, problems, rotations, torque, torques
from polhode.core.loops.tolerance import rough_log
from polhode.errors import InputError, IntegrationError, TorqueError
from polhode.io import load
from polhode.methods import _tableaux

PAIRS = ("DP5", "DOP853")
BODY = RigidBody([2.0, 3.0, 4.5])
START = {"rotation0": (0.3, -0.2, 0.1), "omega0": (1.0, 0.7, -0.4)}


def forced():
    """A torque that looks at time, attitude and angular velocity."""
    return torques.gravity_gradient(BODY, 0.7) + torques.damping((0.1, 0.2, 0.3))


def apart(p, q):
    """Small angles between attitudes."""
    return 2.0 * np.minimum(np.linalg.norm(p - q, axis=-1), np.linalg.norm(p + q, axis=-1))


def problem_and_reference(name, t):
    problem = problems.get(name)
    return problem, exact.reference(problem, t)


# --- the tableaux ---------------------------------------------------------------------------------


def square(rows, size):
    out = np.zeros((len(rows), size))
    for row, numbers in zip(out, rows, strict=True):
        row[: len(numbers)] = numbers
    return out


def test_the_tableaux_are_those_of_scipy():
    mine, theirs = _tableaux.DOP853, dop853_coefficients
    assert np.array_equal(mine.c, theirs.C) and np.array_equal(square(mine.a, 16), theirs.A)
    assert np.array_equal(square(mine.errors, 13), [theirs.E5, theirs.E3])
    assert np.array_equal(square(mine.extension, 16), theirs.D)
    mine, theirs = _tableaux.DP5, rk.RK45
    assert np.array_equal(square(mine.a[:6], 5), theirs.A) and np.array_equal(mine.a[6], theirs.B)
    assert np.allclose(np.abs(mine.errors[0]), np.abs(theirs.E), rtol=0, atol=1e-17)


@cache
def trees(order):
    """The rooted trees with so many nodes, each the sorted tuple of the trees that hang on its
    root."""
    if order == 1:
        return {()}
    return {
        tuple(sorted((*tree, branch)))
        for size in range(1, order)
        for tree in trees(order - size)
        for branch in trees(size)
    }


def nodes(tree):
    return 1 + sum(map(nodes, tree))


def density(tree):
    return nodes(tree) * math.prod(map(density, tree))


def elementary(tree, a):
    """The elementary weight of a tree at each stage."""
    return np.prod([np.ones(len(a)), *(a @ elementary(branch, a) for branch in tree)], axis=0)


def miss(tableau, weights, order, s=1.0):
    """By how much weights fail the conditions for y(t + s h) to be of an order; the largest over
    all trees."""
    a, weights = square(tableau.a, len(tableau.a)), square([weights], len(tableau.a))[0]
    small = [tree for size in range(1, order + 1) for tree in trees(size)]
    return max(
        abs(weights @ elementary(tree, a) - s ** nodes(tree) / density(tree)) for tree in small
    )


@pytest.mark.parametrize(
    "name, order, embedded, between", [("DP5", 5, (4,), 4), ("DOP853", 8, (5, 3), 7)]
)
def test_the_tableaux_meet_the_conditions_of_their_orders(name, order, embedded, between):
    """Butcher's, for all trees: of the step, of what the error estimates compare it with, and of
    the continuous extension."""
    tableau = getattr(_tableaux, name)
    size = len(tableau.a)
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    assert np.allclose(square(tableau.a, size).sum(axis=1), tableau.c, rtol=0, atol=1e-13)
    b, first, last = (
        square([tableau.a[tableau.stages]], size)[0],
        *np.eye(size)[[0, tableau.stages]],
    )
    assert miss(tableau, b, order) < 1e-13 < 1e-7 < miss(tableau, b, order + 1)
    for weights, below in zip(tableau.errors, embedded, strict=True):
        other = b - square([weights], size)[0]
        assert miss(tableau, other, below) < 1e-13 < 1e-7 < miss(tableau, other, below + 1)
    terms = [b, first - b, 2.0 * b - last - first, *square(tableau.extension, size)]
    for s in (0.1, 0.5, 0.83):
        weights = sum(
            s ** (i // 2 + 1) * (1.0 - s) ** ((i + 1) // 2) * term for i, term in enumerate(terms)
        )
        assert miss(tableau, weights, between, s) < 1e-12


# --- accuracy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize(
    "name",
    [
        "slow-top",
        pytest.param("coulomb-wall", marks=pytest.mark.slow),
        pytest.param("free-body", marks=pytest.mark.slow),
    ],
)
def test_the_error_follows_the_tolerance(method, name):
    end = 20.0 if name == "free-body" else 5.0
    problem, truth = problem_and_reference(name, [0.0, end])
    tolerances = 10.0 ** -np.arange(3, 13 if method == "DOP853" else 11)
    errors = []
    for rtol in tolerances:
        run = problem.integrate(method, t_span=(0, end), rtol=rtol, every="end")
        errors.append(
            max(
                apart(run.quaternion[-1], truth.quaternion[-1]),
                np.abs(run.omega[-1] - truth.omega[-1]).max(),
            )
        )
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.85 < slope < 1.2, errors
    assert np.all(errors < 1000 * tolerances), errors


@pytest.mark.parametrize(
    "method, theirs", [pytest.param("DP5", "RK45", marks=pytest.mark.slow), ("DOP853", "DOP853")]
)
def test_solve_ivp_is_no_better_at_the_same_tolerance(method, theirs):
    """Torque of time, attitude and angular velocity; the errors of both against a reference."""
    acting, span, rtol = forced(), (0.0, 6.0), 1e-7
    truth = exact.reference(BODY, span, torque=acting, **START)

    def slope(t, y):
        q, omega = y[:4], y[4:]
        R = rotations.matrices(q / np.linalg.norm(q))
        T = R.T @ acting(t, R, omega)
        return np.concatenate(
            [
                rotations.qmul(q, np.append(omega / 2, 0.0)),
                (T - np.cross(omega, BODY.moments * omega)) / BODY.moments,
            ]
        )

    start = np.concatenate([rotations.as_quaternion(START["rotation0"]), START["omega0"]])
    other = solve_ivp(slope, span, start, method=theirs, rtol=rtol, atol=rtol).y[:4, -1]
    run = integrate(BODY, acting, span, rtol=rtol, method=method, **START)
    mine = apart(run.quaternion[-1], truth.quaternion[-1])
    assert mine < 3e-7
    assert mine < apart(other / np.linalg.norm(other), truth.quaternion[-1])


@pytest.mark.parametrize("method", PAIRS)
def test_between_the_steps_it_is_as_accurate_as_at_the_steps(method):
    times = np.linspace(0.0, 5.0, 101)
    problem, truth = problem_and_reference("slow-top", times)
    for rtol in (1e-5, 1e-8):
        run = problem.integrate(method, rtol=rtol, t_eval=times)
        steps = problem.integrate(method, t_span=(0, 5), rtol=rtol)
        at_steps = apart(steps.quaternion, exact.reference(problem, steps.t).quaternion)
        errors = apart(run.quaternion, truth.quaternion)
        assert len(steps) < 101 or method == "DP5"
        assert np.all(
            errors < 3.0 * np.maximum.accumulate(np.interp(times, steps.t, at_steps)) + 10 * rtol
        )
        assert np.abs(np.linalg.norm(run.quaternion, axis=1) - 1.0).max() < 1e-15


@given(st.floats(1e-300, 1e300))
def test_the_logarithm_of_the_step_control(x):
    assert -0.06 < rough_log(x) - math.log(x) < 1e-12
    assert rough_log(2.0 ** round(math.log2(x))) == pytest.approx(
        round(math.log2(x)) * math.log(2.0), rel=1e-15
    )


def test_a_larger_tolerance_takes_fewer_steps_and_a_ceiling_more():
    problem = problems.get("slow-top")
    coarse, fine = (problem.integrate(rtol=rtol, t_span=(0, 3)) for rtol in (1e-6, 1e-12))
    assert coarse.steps < fine.steps < 200
    held = problem.integrate(rtol=1e-6, t_span=(0, 3), max_step=0.03)
    assert np.diff(held.t).max() <= 0.03 * (1 + 1e-12) and held.steps >= 100


def test_atol_loosens_it():
    problem = problems.get("slow-top")
    assert (
        problem.integrate(rtol=1e-12, atol=1e-5).steps < 0.5 * problem.integrate(rtol=1e-12).steps
    )


def test_from_rest_under_a_torque():
    """I omega = t T: the scale of the angular velocity is not there at the start."""
    run = integrate(
        [2.0, 2.5, 3.0],
        torques.constant((0.0, 0.0, 3.0), frame="body"),
        (0, 2),
        rtol=1e-10,
        omega0=(0, 0, 0),
    )
    assert run.omega[-1] == pytest.approx((0, 0, 2.0), abs=1e-13)
    assert apart(run.quaternion[-1], rotations.as_quaternion((0, 0, 2.0))) < 1e-9
    assert run.steps < 30


def test_nothing_moves_at_rest():
    run = integrate([2.0, 2.5, 3.0], t_span=(0, 1e6), rtol=1e-9, omega0=(0, 0, 0))
    assert run.steps < 5 and np.all(run.omega == 0.0) and run.t[-1] == 1e6


# --- Taylor series --------------------------------------------------------------------------------


@torque(form="tuple", params={"a": 0.7, "b": (0.1, 0.2, 0.3)})
def curious(t, R, p):
    """Every operation that has a rule: sums, products, quotients, roots, sines and cosines, with
    constants on either side."""
    s, c = math.sin(p.a * t), math.cos(R[0][0] + 1.0)
    root = math.sqrt(2.0 + R[1][2] / (3.0 - R[2][2]))
    return (
        1.0 / root - s,
        p.b[1] * c * R[0][1] - 2.0,
        -(s / 3.0) + float(p.b[2]) / (2.0 - c) + (1.0 - R[1][1]),
    )


TRACED = [
    torques.free(),
    torques.heavy_top(3.0),
    torques.heavy_top(3.0, arm=(1, 2, 3), up=(0, 1, 1)),
    torques.coulomb_wall(),
    torques.stress_potential(),
    torques.constant((0.1, 0.2, 0.3)),
    forced(),
    curious,
]


@pytest.mark.parametrize("acting", TRACED, ids=lambda one: one.name)
def test_taylor_series_of_any_torque(acting):
    """The recursion is made from the torque's own arithmetic: the reference knows nothing of it.
    Run as Python."""
    truth = exact.reference(BODY, [0.0, 1.0], torque=acting, **START)
    for order in (6, 15):
        run = integrate(
            BODY, acting, (0, 1), rtol=1e-10, method=f"taylor({order})", compiled=False, **START
        )
        assert apart(run.quaternion[-1], truth.quaternion[-1]) < 1e-9
        assert run.omega[-1] == pytest.approx(truth.omega[-1], abs=1e-9)
        assert run.rejected == 0 and run.nfev == run.steps


def test_taylor_takes_its_order_from_the_tolerance():
    """Run as Python: high orders take long to compile."""
    times = np.linspace(0.0, 5.0, 41)
    problem, truth = problem_and_reference("slow-top", times)
    for rtol in (1e-4, 1e-8, 1e-13):
        run = problem.integrate("taylor", rtol=rtol, t_eval=times, compiled=False)
        assert apart(run.quaternion, truth.quaternion).max() < 100 * rtol
        assert 50 < run.steps < 110  # at every tolerance: the order grows


@pytest.mark.parametrize(
    "rtol",
    [1e-4, pytest.param(1e-8, marks=pytest.mark.slow), pytest.param(1e-13, marks=pytest.mark.slow)],
)
def test_taylor_by_tolerance_has_the_same_bits_compiled(rtol):
    problem = problems.get("slow-top")
    made, plain = (
        problem.integrate("taylor", rtol=rtol, t_span=(0, 2), compiled=compiled)
        for compiled in (True, False)
    )
    assert np.array_equal(made.quaternion, plain.quaternion)


@torque(form="tuple")
def kinked(t, R):
    return (1.0 if R[2][2] > 0.0 else -1.0, 0.0, 0.0)


@torque(form="tuple")
def by_numpy(t, R):
    T = np.zeros(3)
    T[0] = R[2][2]
    return T


def zeros(t, R):
    return np.zeros(3)


@pytest.mark.parametrize(
    ("acting", "why"),
    [
        (kinked, "it compares numbers to choose a branch"),
        (zeros, "'zeros' is written for NumPy arrays"),
        (by_numpy, "into a NumPy array"),
        (torques.heavy_top(1.0) + zeros, "'zeros' is written for NumPy arrays"),
        (torques.book_toss(0.1), "compares numbers"),
    ],
)
def test_taylor_series_need_arithmetic(acting, why):
    with pytest.raises(InputError, match=rf"Taylor series cannot be made .*{why}.*DOP853"):
        integrate(BODY, acting, (0, 1), rtol=1e-9, method="taylor", **START)


# --- times ----------------------------------------------------------------------------------------


def test_backwards_comes_back():
    there = integrate(BODY, forced(), (0, 5), rtol=1e-11, **START)
    back = integrate(
        BODY,
        forced(),
        (5, 0),
        rtol=1e-11,
        rotation0=there.quaternion[-1],
        omega0=there.omega[-1],
        t_eval=[5.0, 2.5, 0.0],
    )
    assert back.t.tolist() == [5.0, 2.5, 0.0]
    assert apart(back.quaternion[-1], rotations.as_quaternion(START["rotation0"])) < 1e-8
    assert back.omega[-1] == pytest.approx(START["omega0"], abs=1e-8)


def test_the_steps_do_not_depend_on_what_is_stored():
    """Steps, every third step, the ends alone, and chosen times tell of the same run."""
    run, third, ends = (
        integrate(BODY, forced(), (0, 5), rtol=1e-8, every=every, **START)
        for every in (1, 3, "end")
    )
    assert third.t.tolist() == [*run.t[:-1:3], run.t[-1]] or third.t.tolist() == run.t[::3].tolist()
    assert ends.t.tolist() == [0.0, 5.0]
    assert np.array_equal(ends.quaternion[-1], run.quaternion[-1])
    at = integrate(BODY, forced(), (0, 5), rtol=1e-8, t_eval=run.t, **START)
    assert np.abs(at.quaternion - run.quaternion).max() < 1e-14 and at.steps == run.steps
    assert at.nfev == run.nfev + 3 * run.steps  # DOP853's extension takes three evaluations


@torque(form="tuple")
def toss(t, R):
    return (20.0, 0.0, 0.0) if t < 2.0 else (0.0, 4.0, 0.0) if t < 2.05 else (0.0, 0.0, 0.0)


def test_breaks_are_where_steps_end():
    """With the times of the jumps named the momentum after them is exact, and no step is spent on
    looking for them."""
    body, options = (
        problems.get("book-toss").body,
        dict(t_span=(0, 4), rtol=1e-10, omega0=(0, 0, 0)),
    )
    run = integrate(body, toss, breaks=[2.0, 2.05], t_eval=[2.0, 2.05, 4.0], **options)
    assert run.momentum_spatial == pytest.approx(
        np.array([(40, 0, 0), (40, 0.2, 0), (40, 0.2, 0)]), abs=1e-8
    )
    assert run.rejected < 0.2 * integrate(body, toss, **options).rejected


def test_events_are_on_the_extension():
    """A body that turns evenly points along y after a quarter turn: steps are large, the event is
    not coarse."""

    def quarter(t, R, omega):
        return R[0, 0]

    quarter.terminal = 3
    run = integrate(
        [1.0, 1.0, 2.0], t_span=(0, 100), rtol=1e-11, omega0=(0, 0, 1.0), events=quarter
    )
    assert run.status == "event" and np.diff(run.t).max() > 0.3 and run.steps == len(run) - 1
    assert run.t_events[0] == pytest.approx(np.array([0.5, 1.5, 2.5]) * math.pi, abs=1e-10)
    assert run.t[-1] == run.t_events[0][-1] and abs(run.matrix[-1, 0, 0]) < 1e-10


def test_an_event_ends_chosen_times_too():
    def half(t, R, omega):
        return R[1, 0]

    half.terminal, half.direction = True, -1
    times = np.linspace(0, 10, 401)
    run = integrate(
        [1.0, 1.0, 2.0], t_span=(0, 10), rtol=1e-10, omega0=(0, 0, 1.0), events=half, t_eval=times
    )
    assert run.t.tolist() == times[times < math.pi].tolist()
    assert np.abs(run.matrix[:, 0, 0] - np.cos(run.t)).max() < 1e-9


# --- ways to run it -------------------------------------------------------------------------------


class Opaque:
    """A torque that cannot be compiled, and looks whether it is given rotations."""

    def __init__(self):
        self.inner, self.worst, self.calls = torques.heavy_top(20.0), 0.0, 0

    def __call__(self, t, R):
        self.calls += 1
        self.worst = max(self.worst, np.abs(R.T @ R - np.eye(3)).max())
        return self.inner(t, R)


def test_python_torques_give_the_same_numbers():
    problem = problems.get("slow-top")
    acting, by_matrix = Opaque(), problem.torque()
    by_matrix.quaternion = None  # as a user's own torque, which is given a matrix
    options = dict(
        t_span=(0, 2),
        rtol=1e-7,
        t_eval=[0.5, 2.0],
        rotation0=problem.rotation0,
        omega0=problem.omega0,
    )
    whole = integrate(problem.body, by_matrix, **options)
    called = integrate(problem.body, torque(acting, frame="body"), **options)
    plain = integrate(problem.body, by_matrix, compiled=False, **options)
    for run in (called, plain):
        assert np.array_equal(run.quaternion, whole.quaternion) and np.array_equal(
            run.omega, whole.omega
        )
        assert (run.steps, run.rejected, run.nfev) == (whole.steps, whole.rejected, whole.nfev)
    assert (called.mode, plain.mode, acting.calls) == ("callback", "python", whole.nfev)
    assert acting.worst < 1e-14


def test_any_body_axes():
    axes = rotations.matrices(rotations.exp((0.4, -0.9, 0.2)))
    turned = RigidBody(axes @ np.diag(BODY.moments) @ axes.T)
    rotation0 = rotations.matrices(rotations.exp(START["rotation0"]))
    one = integrate(
        BODY,
        torques.heavy_top(3.0),
        (0, 3),
        rtol=1e-11,
        rotation0=rotation0,
        omega0=START["omega0"],
    )
    arm = torques.heavy_top(3.0, arm=axes @ (0.0, 0.0, 1.0))
    two = integrate(
        turned, arm, (0, 3), rtol=1e-11, rotation0=rotation0 @ axes.T, omega0=axes @ START["omega0"]
    )
    assert two.matrix[-1] @ axes == pytest.approx(one.matrix[-1], abs=1e-9)


def test_chunks_leave_no_trace(tmp_path):
    whole = integrate(BODY, forced(), (0, 20), rtol=1e-9, **START)
    pieces = integrate(
        BODY,
        forced(),
        (0, 20),
        rtol=1e-9,
        checkpoint=tmp_path / "run.part",
        checkpoint_every=3,
        **START,
    )
    assert np.array_equal(whole.t, pieces.t) and np.array_equal(whole.quaternion, pieces.quaternion)
    assert (whole.nfev, whole.rejected) == (pieces.nfev, pieces.rejected)


def test_an_interrupted_run_keeps_what_it_has(tmp_path):
    # chunks of eight steps
    in_pieces = {"checkpoint": tmp_path / "run.part", "checkpoint_every": 8}
    whole = integrate(BODY, forced(), (0, 20), rtol=1e-9, **START)
    seen = []

    def progress(done, total):
        seen.append((done, total))
        if done >= 16:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as told:
        integrate(BODY, forced(), (0, 20), rtol=1e-9, progress=progress, **in_pieces, **START)
    run = told.value.trajectory
    assert run.status == "interrupted" and run.steps == 16 and len(run) == 17
    assert np.array_equal(run.quaternion, whole.quaternion[:17])
    assert all(done <= total for done, total in seen) and seen[-1][1] == pytest.approx(
        whole.steps, rel=0.5
    )


def test_the_summary_tells_of_the_steps():
    run = problems.get("coulomb-wall").integrate(rtol=1e-6)
    summary = run.summary()
    assert (summary["steps"], summary["rejected_steps"]) == (
        run.steps,
        run.rejected,
    ) and run.rejected > 0
    assert run.nfev == 2 + 12 * (run.steps + run.rejected) == summary["torque_evaluations"]
    assert run.provenance()["tolerance"] == (1e-6, 0.0) and run.provenance()["step"] is None
    assert run.to_xarray().attrs["tolerance"] == "[1e-06, 0.0]"


# --- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, words",
    [
        ({"rtol": 1e-9, "step": 0.1}, ["step", "rtol", "not both"]),
        (
            {"rtol": 1e-9, "method": "NMB"},
            ["NMB takes fixed steps", "give step instead of rtol", "DP5", "DOP853", "taylor"],
        ),
        ({"rtol": 1e-17}, ["rtol", "1e-14", "1e-17"]),
        ({"rtol": -1.0}, ["rtol", "-1.0"]),
        ({"rtol": 0.5}, ["rtol", "0.1", "0.5"]),
        ({"rtol": "tight"}, ["rtol", "'tight'"]),
        ({"rtol": 1e-9, "atol": -1e-3}, ["atol", "negative"]),
        ({"atol": 1e-9}, ["rtol", "missing"]),
        ({"rtol": 1e-9, "max_step": 0.0}, ["max_step", "positive"]),
        ({"rtol": 1e-9, "t_span": None}, ["t_span is missing"]),
        ({"rtol": 1e-9, "breaks": [7.0]}, ["breaks", "7.0"]),
        ({"rtol": 1e-9, "every": 0}, ["every", "0"]),
        ({"rtoll": 1e-9}, ["rtoll", "rtol"]),
        ({}, ["step is missing", "rtol"]),
    ],
)
def test_bad_input(options, words):
    with pytest.raises(InputError) as caught:
        integrate(BODY, **{"t_span": (0, 1), "omega0": (0, 0, 1), **options})
    assert all(word in str(caught.value) for word in words), caught.value


@torque(frame="body", uses_omega=True, form="tuple")
def explosive(t, R, omega):
    return (0.0, 0.0, omega[2] * omega[2])


def test_a_motion_without_end_says_where_it_stopped():
    """Om' = Om^2 from 1 is infinite at t = 1."""
    with pytest.raises(IntegrationError) as caught:
        integrate([1.0, 1.0, 1.0], explosive, (0, 2), rtol=1e-8, omega0=(0, 0, 1))
    error = caught.value
    assert error.t == pytest.approx(1.0, abs=1e-6) and "cannot continue at t = " in str(error)
    kept = error.trajectory
    assert (
        kept.status == "failed"
        and kept.t[-1] == error.t
        and len(kept) == kept.steps + 1 == error.step_index + 1
    )
    early = kept.t < 0.9
    assert kept.omega[early, 2] == pytest.approx(1.0 / (1.0 - kept.t[early]), rel=1e-6)


@torque(form="tuple")
def rooted(t, R):
    return (math.sqrt(1.0 - t), 0.0, 0.0)


class Failing:
    def __call__(self, t, R):
        if t > 0.5:
            raise LookupError("no such time")
        return np.zeros(3)


@pytest.mark.parametrize(
    "acting, kind, last", [(rooted, ValueError, 1.0), (Failing(), LookupError, 0.5)]
)
def test_a_torque_that_fails(acting, kind, last):
    with pytest.raises(TorqueError) as caught:
        integrate(BODY, acting, (0, 2), rtol=1e-6, max_step=0.1, **START)
    assert isinstance(caught.value.__cause__, kind) or "nan" in str(caught.value)
    assert 0.0 < caught.value.trajectory.t[-1] <= last


# --- scenarios ------------------------------------------------------------------------------------


def written(path, text):
    path.write_text(text)
    return path


def test_a_scenario_by_tolerance(tmp_path):
    job = load(
        written(
            tmp_path / "a.toml",
            'problem = "slow-top"\n[run]\nrtol = 1e-8\nt_span = [0, 2]\nmax_step = 0.5\n',
        )
    )
    assert (job.method.name, job.step, job.rtol, job.max_step) == ("DOP853", None, 1e-8, 0.5)
    direct = problems.get("slow-top").integrate(rtol=1e-8, t_span=(0, 2), max_step=0.5)
    assert np.array_equal(job.integrate().quaternion, direct.quaternion)


@pytest.mark.parametrize(
    "run, words",
    [
        ("rtol = 1e-8\nstep = 0.1", "not both"),
        ("rtol = 1e-20", "1e-14"),
        ("rtol = -1.0", "run.rtol: must be positive"),
        ("atol = 1e-8", "rtol"),
        ('rtol = 1e-8\nmethod = "LP2"', "LP2 takes fixed steps"),
    ],
)
def test_what_is_wrong_in_a_scenario(tmp_path, run, words):
    with pytest.raises(InputError, match=words):
        load(written(tmp_path / "a.toml", f'problem = "slow-top"\n[run]\n{run}\n'))


def test_a_torque_that_wants_a_step_must_be_told_one(tmp_path):
    text = '[body]\ninertia = [5, 10, 1]\ncheck_triangle = false\n[initial]\nomega = [0, 0, 1]\n[torque]\nname = "book_toss"\n'
    with pytest.raises(InputError, match=r"torque\.step"):
        load(written(tmp_path / "a.toml", text + "[run]\nrtol = 1e-8\nt_span = [0, 4]\n"))


# --- steps lost in rounding, and memory -----------------------------------------------------------


@pytest.mark.parametrize("method", ["DOP853", "DP5", "taylor(12)"])
@pytest.mark.parametrize("t_span", [(1e16, 1e16 + 10), (-1e16, -1e16 - 10), (3e12, 3e12 + 1e4)])
def test_steps_lost_in_the_rounding_of_time_are_refused(method, t_span):
    with pytest.raises(
        IntegrationError,
        match=r"smaller than the rounding of such times; count time from the start",
    ) as told:
        integrate(BODY, "heavy_top", t_span, rtol=1e-9, method=method, omega0=(0.0, 0.0, 300.0))
    assert told.value.trajectory.t[0] == t_span[0] and told.value.trajectory.status == "failed"


@pytest.mark.parametrize(
    "t_span, max_step", [((0, 10), 1e-299), ((0, -10), 1e-15), ((1e9, 1e9 + 10), 1e-7)]
)
def test_a_largest_step_lost_in_rounding_is_refused(t_span, max_step):
    with pytest.raises(
        InputError,
        match=r"max_step = .* is smaller than the rounding of times as large as .*; use a larger one",
    ):
        integrate(BODY, "heavy_top", t_span, rtol=1e-9, max_step=max_step, **START)
    with pytest.raises(InputError, match="max_step must be at least 1e-300"):
        integrate(BODY, "heavy_top", t_span, rtol=1e-9, max_step=1e-308, **START)


def test_short_spans_and_near_breaks_are_no_trouble():
    run = integrate(BODY, "heavy_top", (1.0, 1.0 + 1e-15), rtol=1e-9, **START)
    assert run.success and run.steps == 1
    assert integrate(
        BODY, "heavy_top", (0.0, 2.0), rtol=1e-9, breaks=[1.0, 1.0 + 1e-14], **START
    ).success


def test_more_points_than_memory_are_refused_before_the_run():
    with pytest.raises(InputError, match=r"100000000000000 stored points need .* store fewer"):
        integrate(BODY, "heavy_top", (0, 1e8), rtol=1e-9, max_step=1e-6, **START)
    with pytest.raises(InputError, match=r"10000000000000 stored points need"):
        integrate(BODY, "heavy_top", (0, 1e8), rtol=1e-9, max_step=1e-6, every=10, **START)


def test_memory_that_runs_out_on_the_way_keeps_what_there_is(monkeypatch):
    monkeypatch.setattr("polhode.support.memory.total", lambda: 9 * 8 * 1000)
    with pytest.raises(InputError, match=r"stored points need .* store fewer") as told:
        integrate(BODY, "heavy_top", (0, 1e6), rtol=1e-9, **START)
    kept = told.value.trajectory
    monkeypatch.undo()
    whole = integrate(BODY, "heavy_top", (0, 2 * kept.t[-2]), rtol=1e-9, **START)
    assert 100 < len(kept) <= 1000 and np.array_equal(
        kept.motion[:-1], whole.motion[: len(kept) - 1]
    )
