"""Taylor methods, axis splittings and Buss's comparisons: formulas against the paper's own, orders,
printed tables."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from polhode import InputError, RigidBody, facts, integrate, torques
from polhode.studies.facts.precise_trial import precise_errors
from polhode.core import scalars, vec
from polhode.core.rebind import Rebinder
from polhode.core.loops.fixed import Body
from polhode.core.vec import add, apply, apply_t, cross, scale
from polhode.exact import lagrange_top
from polhode.methods import _taylor_code, get
from polhode.methods._spatial import SpatialState
from polhode.papers import buss2001

LISTED = {
    "taylor1": 1,
    "taylor2": 2,
    "taylor3-false": 2,
    "taylor2-augmented": 2,
    "taylor3": 3,
    "taylor3-plain": 3,
    "taylor4": 4,
    "taylor5": 5,
    "taylor6": 6,
}
PRISM = [19 / 60, 3 / 100, 47 / 150]


def body_of(moments):
    return Body(tuple(moments), tuple(1.0 / x for x in moments))


# --- the spatial formulas of the paper, as an oracle ----------------------------------------------


def spatial_average(name, I, L, h):
    """The paper's average velocity; L holds the momentum and its first three derivatives, I is the
    spatial inertia."""
    x, inv = np.cross, np.linalg.inv(I)
    w = inv @ L[0]
    w1 = inv @ (L[1] - x(w, L[0]))  # (5)
    w2 = x(w, w1) + inv @ (L[2] - x(w1, L[0]) - 2 * x(w, L[1]) + x(w, x(w, L[0])))  # (8)
    # (9)
    w3 = (
        2 * x(w, w2)
        - x(w, x(w, w1))
        + inv
        @ (
            L[3]
            - 3 * x(w, L[2])
            - 3 * x(w1, L[1])
            - x(w2, L[0])
            + x(w1, x(w, L[0]))
            + 2 * x(w, x(w1, L[0]))
            + 3 * x(w, x(w, L[1]))
            - x(w, x(w, x(w, L[0])))
        )
    )
    return {
        "taylor1": lambda: w,
        "taylor2": lambda: w + h / 2 * w1,
        "taylor3-false": lambda: w + h / 2 * w1 + h**2 / 6 * w2,
        "taylor2-augmented": lambda: w + h / 2 * w1 + h**2 / 12 * x(w1, w),
        "taylor3": lambda: w + h / 2 * w1 + h**2 / 6 * w2 + h**2 / 12 * x(w1 + h / 3 * w2, w),
        "taylor3-plain": lambda: w + h / 2 * w1 + h**2 / 6 * w2 + h**2 / 12 * x(w1, w),
        "taylor4": lambda: (
            w
            + h / 2 * w1
            + h**2 / 6 * w2
            + h**2 / 12 * x(w1, w)
            + h**3 / 24 * w3
            + h**3 / 24 * x(w2, w)
        ),
    }[name]()


def pushed(t, R, p):
    return add(p.a, add(scale(t, p.b), add(scale(t * t, p.c), scale(t * t * t, p.d))))


def pushed1(t, R, w, p):
    return add(p.b, add(scale(2.0 * t, p.c), scale(3.0 * t * t, p.d)))


def pushed2(t, R, w, p):
    return add(scale(2.0, p.c), scale(6.0 * t, p.d))


def pushed3(t, R, w, p):
    return scale(6.0, p.d)


@pytest.mark.parametrize("acting", [False, True], ids=["free", "torque"])
@pytest.mark.parametrize("name", [name for name, order in LISTED.items() if order < 5])
def test_body_frame_formulas_are_the_papers_spatial_ones(name, acting):
    rng = np.random.default_rng(3)
    for _ in range(20):
        moments, h, omega, turn = (
            rng.uniform(1.0, 3.0, 3),
            rng.uniform(0.05, 0.5),
            rng.normal(size=3),
            rng.normal(size=3),
        )
        a, b, c, d = rng.normal(size=(4, 3)) if acting else np.zeros((4, 3))
        torque = (
            torques.Torque(
                pushed,
                form="tuple",
                params={"a": a, "b": b, "c": c, "d": d},
                derivatives=(pushed1, pushed2, pushed3),
            )
            if acting
            else None
        )
        run = integrate(
            RigidBody(moments, check_triangle=False),
            torque,
            (0.0, h),
            h,
            name,
            rotation0=turn,
            omega0=omega,
            compiled=False,
        )
        R = run.matrix[0]
        L0 = R @ (moments * omega)
        Z = spatial_average(name, R @ np.diag(moments) @ R.T, [L0, a, b, 2 * c], h)
        R1 = np.array(vec.exp(tuple((h * Z).tolist()))) @ R
        assert np.abs(run.matrix[-1] - R1).max() < 2e-14
        terms = max(LISTED[name], 3 if name == "taylor3-false" else 1)
        L1 = L0 + sum(
            h**k / math.factorial(k) * x for k, x in enumerate([a, b, 2 * c, 6 * d][:terms], 1)
        )
        assert np.abs(run.momentum_spatial[-1] - L1).max() < 1e-13


# --- orders and torque ----------------------------------------------------------------------------


def slopes(method, torque, counts, body=facts.BODY, **options):
    """Observed orders of attitude and velocity, with taylor(10) as the reference."""
    settings = {
        "rotation0": np.array(facts.ATTITUDE),
        "omega0": facts.VELOCITY,
        "every": "end",
        "compiled": False,
        **options,
    }
    best = integrate(body, torque, (0.0, 2.0), 2.0 / 80, "taylor(8)", **settings)
    errors = []
    for count in counts:
        run = integrate(body, torque, (0.0, 2.0), 2.0 / count, method, **settings)
        errors.append(
            [
                np.abs(run.matrix[-1] - best.matrix[-1]).max(),
                np.abs(run.omega[-1] - best.omega[-1]).max(),
            ]
        )
    return np.diff(np.log(errors), axis=0) / np.diff(np.log(counts))[
        :, None
    ] * -1.0, run.nfev / count


def swinging(t, R):
    return np.array([np.sin(1.3 * t), 0.2, 0.0]) + np.cross(
        R @ np.array([0.3, -0.2, 0.7]), np.array([0.1, -0.4, 0.8])
    )


@pytest.mark.parametrize("name", ["taylor1", "taylor2", "taylor3", "taylor4", "taylor5", "taylor6"])
@pytest.mark.parametrize("damped", [False, True], ids=["attitude", "velocity"])
def test_order_with_a_torque_that_offers_nothing_but_itself(name, damped):
    torque = (
        torques.Torque(swinging) + torques.damping((0.3, 0.2, 0.4))
        if damped
        else torques.Torque(swinging)
    )
    order, calls = slopes(name, torque, (12, 24))
    assert np.all(np.abs(order[-1] - LISTED[name]) < 0.35), order
    nodes = {1: (0, 0), 2: (1, 1), 3: (1, 2), 4: (4, 6), 5: (4, 8), 6: (9, 15)}[LISTED[name]]
    assert calls == 1 + nodes[damped]


ARM, UP = (0.5, -0.3, 0.9), (0.2, -0.4, 0.8)


def weight(t, R):
    return cross(UP, apply(R, ARM))


def arm2(w):
    return add(cross(w[1], ARM), cross(w[0], cross(w[0], ARM)))


def weight1(t, R, w):
    return cross(UP, apply(R, cross(w[0], ARM)))


def weight2(t, R, w):
    return cross(UP, apply(R, arm2(w)))


def weight3(t, R, w):
    third = add(
        add(cross(w[2], ARM), cross(w[1], cross(w[0], ARM))),
        scale(2.0, cross(w[0], cross(w[1], ARM))),
    )
    return cross(UP, apply(R, add(third, cross(w[0], cross(w[0], cross(w[0], ARM))))))


def body_weight(t, R):
    return cross(apply_t(R, UP), ARM)


def body_weight1(t, R, w):
    return cross(cross(apply_t(R, UP), w[0]), ARM)


def body_weight2(t, R, w):
    u = apply_t(R, UP)
    return cross(add(cross(cross(u, w[0]), w[0]), cross(u, w[1])), ARM)


SPATIAL = torques.Torque(weight, form="tuple", derivatives=(weight1, weight2, weight3))
IN_BODY = torques.Torque(
    body_weight, form="tuple", frame="body", derivatives=(body_weight1, body_weight2)
)
ARRAYS = torques.Torque(
    lambda t, R: np.cross(UP, R @ np.array(ARM)),
    derivatives=(lambda t, R, w: np.cross(UP, R @ np.cross(w[0], ARM)),),
)
SKEWED = RigidBody([[2.5, 0.3, -0.2], [0.3, 3.0, 0.4], [-0.2, 0.4, 4.0]])


@pytest.mark.parametrize(
    ("torque", "name"),
    [
        (SPATIAL, "taylor2"),
        (SPATIAL, "taylor3"),
        (SPATIAL, "taylor4"),
        (IN_BODY, "taylor2"),
        (IN_BODY, "taylor3"),
        (ARRAYS, "taylor2"),
    ],
)
@pytest.mark.parametrize("body", [facts.BODY, SKEWED], ids=["principal", "skewed"])
def test_derivatives_offered_by_the_torque_are_used(torque, name, body):
    order, calls = slopes(name, torque, (24, 48), body)
    assert np.all(np.abs(order[-1] - LISTED[name]) < 0.3), order
    assert calls == 1


def test_too_few_derivatives_are_not_used():
    settings = {"rotation0": np.array(facts.ATTITUDE), "omega0": facts.VELOCITY}
    for torque, name, calls in (
        (IN_BODY, "taylor4", 50),
        (IN_BODY.without_derivatives(), "taylor3", 20),
        (None, "taylor4", 0),
    ):
        assert (
            integrate(facts.BODY, torque, (0, 1), 0.1, name, compiled=False, **settings).nfev
            == calls
        )


def test_derivatives_give_the_same_bits_compiled():
    settings = {"rotation0": np.array(facts.ATTITUDE), "omega0": facts.VELOCITY}
    runs = [
        integrate(facts.BODY, SPATIAL, (0, 2), 0.1, "taylor4", compiled=compiled, **settings)
        for compiled in (True, False)
    ]
    assert runs[0].mode == "compiled"
    assert np.array_equal(runs[0].quaternion, runs[1].quaternion)


def test_derivatives_must_be_functions():
    with pytest.raises(InputError, match="derivatives must be functions"):
        torques.Torque(weight, form="tuple", derivatives=(1.0,))


class Nothing:
    """A torque of zero, as kernels see it."""

    @staticmethod
    def body(t, R, Om, p):
        return (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", LISTED)
def test_spatial_momentum_does_not_change_by_a_bit(name):
    body = body_of(PRISM)
    for method in (get(name), get(name).suited(torques.free())):
        s = method.start(0.01, 0.0, (0.1, 0.5, 0.5, 0.7), (3.0, 1.0, -2.0), body, Nothing, ())
        pi = s.pi
        for k in range(50):
            s = method.step(0.01, 0.01 * k, s, body, Nothing, ())
        assert s.pi == pi


# --- any order ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["taylor1", "taylor2", "taylor3-plain", "taylor4", "taylor5", "taylor6"]
)
@pytest.mark.parametrize("torque", [None, swinging], ids=["free", "torque"])
def test_the_recursion_agrees_with_the_listed_formulas(name, torque):
    settings = {"rotation0": np.array(facts.ATTITUDE), "omega0": facts.VELOCITY, "compiled": False}
    for h in (0.1, 0.8):
        listed, recursion = (
            integrate(facts.BODY, torque, (0, 4 * h), h, method, **settings)
            for method in (name, f"taylor({LISTED[name]})")
        )
        assert np.abs(listed.quaternion - recursion.quaternion).max() < 1e-14
        assert np.abs(listed.omega - recursion.omega).max() < 2e-14


def extended_precision(name):
    """`run(count) -> quaternion and momentum` of the free trial body in 60 digits, by the very step
    of the method."""

    def half_angle(th2):
        th = mpmath.sqrt(th2)
        return th, mpmath.sin(th / 2), mpmath.cos(th / 2)

    def sinc_cos(z):
        return mpmath.sinc(mpmath.sqrt(z)), mpmath.cos(mpmath.sqrt(z))

    exact = {
        scalars.half_angle: half_angle,
        scalars.sinc_cos: sinc_cos,
        _taylor_code.ratio: lambda a, b: mpmath.mpf(a) / mpmath.mpf(b),
    }
    step = Rebinder(lambda copy: copy, exact)(get(name).suited(torques.free()).step)
    I = tuple(map(mpmath.mpf, (2.0, 3.0, 4.5)))
    body = Body(I, tuple(1 / x for x in I))

    def run(count):
        s = SpatialState(
            tuple(map(mpmath.mpf, (0, 0, 0, 1))), tuple(map(mpmath.mpf, (1.6, -1.8, 2.25)))
        )
        for _ in range(count):
            s = step(mpmath.mpf(1) / count, 0, s, body, None, None)
        return s.q

    return run


@pytest.mark.parametrize("order", range(1, 13))
def test_orders_to_twelve_in_extended_precision(order):
    with mpmath.workdps(60):
        best = extended_precision("taylor(20)")(24)
        run = extended_precision(f"taylor({order})")
        errors = [
            max(abs(a - b) for a, b in zip(run(count), best, strict=True)) for count in (8, 16)
        ]
        assert abs(float(mpmath.log(errors[0] / errors[1], 2)) - order) < 0.3


@pytest.mark.parametrize("order", [14, 16, 18])
def test_high_orders_hold_under_a_torque(order):
    """The torque's derivatives come from its values in the step, with as little loss as divided
    differences allow."""
    errors = [precise_errors(f"taylor({order})", count)[0] for count in (6, 9)]
    assert math.log(errors[0] / errors[1]) / math.log(9 / 6) > order - 0.5
    assert errors[1] < 1e-12


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_high_orders_compile_and_reach_round_off(compiled):
    run = integrate(
        PRISM,
        t_span=(0, 0.4),
        step=0.4 / 40,
        method="taylor(16)",
        compiled=compiled,
        momentum0=(3 / math.sqrt(2), 3 / math.sqrt(2), 0),
    )
    assert np.abs(run.kinetic_energy / run.kinetic_energy[0] - 1).max() < 1e-13
    exact = np.array(buss2001.printed()["exact"]["0.4"], dtype=float)
    assert (
        min(np.abs(run.quaternion[-1] - exact).max(), np.abs(run.quaternion[-1] + exact).max())
        < 1e-13
    )


def test_an_order_too_high_for_differences_of_the_torque_says_so():
    """Rounding in them is magnified with every node; free bodies and known derivatives have no
    differences."""
    start = dict(rotation0=(0.3, 0, 0), omega0=(0, 0, 5), every="end", compiled=False)
    end = lagrange_top([5, 5, 1], 20.0, (0.3, 0, 0), (0, 0, 5), [10.0]).rotation[0]
    weight = torques.heavy_top(20.0)
    runs = {
        n: integrate([5, 5, 1], weight, (0, 10), 0.05, f"taylor({n})", **start) for n in (16, 24)
    }
    error = {n: (end.inv() * run.rotation[-1]).magnitude() for n, run in runs.items()}
    assert 10.0 * error[16] < error[24]
    assert (
        "above order 18 rounding" in runs[24].message
        and runs[16].message == "the run reached its end"
    )
    assert (
        integrate([5, 5, 1], None, (0, 1), 0.1, "taylor(24)", **start).message
        == "the run reached its end"
    )


@pytest.mark.parametrize("wrong", ["taylor(0)", "taylor(2.5)", "taylor(40)"])
def test_orders_that_make_no_sense(wrong):
    with pytest.raises(InputError, match="whole number n from 1"):
        get(wrong)


# --- axis splittings ------------------------------------------------------------------------------


def test_lp2_is_mr2_123():
    runs = [certify_run(name) for name in ("LP2", "MR2-123")]
    assert np.array_equal(runs[0].quaternion, runs[1].quaternion)


def certify_run(name):
    return integrate(
        facts.BODY,
        swinging,
        (0, 2),
        0.1,
        name,
        rotation0=np.array(facts.ATTITUDE),
        omega0=facts.VELOCITY,
    )


@pytest.mark.parametrize(
    "axes", ["".join(map(str, axes)) for axes in itertools.permutations((1, 2, 3))]
)
def test_all_axis_orders(axes):
    for name, order, stages in (
        (f"MR2-{axes}", 2, 1),
        (f"MR4-{axes}", 4, 3),
        (f"MR2-{axes}-cay", 2, 1),
        (f"MR4-{axes}-cay", 4, 3),
    ):
        method = get(name)
        assert (method.order, method.torques, method.symplectic, method.symmetric) == (
            order,
            stages,
            True,
            True,
        )
        found, _ = slopes(name, swinging, (24, 48))
        assert np.all(np.abs(found[-1] - order) < 0.25), (name, found)


# --- the printed tables ---------------------------------------------------------------------------


def test_figure_5_energies_to_every_digit():
    rows = buss2001.fig4_fig5_energies(figures=(5,))
    assert len(rows) == 28
    assert all(row.agrees for row in rows)


@pytest.mark.slow
def test_81_of_83_energies_agree_and_the_others_are_misprints():
    rows = buss2001.fig4_fig5_energies()
    assert len(rows) == 83
    wrong = [row for row in rows if not row.agrees]
    assert [(row.method, row.h, row.printed, row.ours) for row in wrong] == [
        ("taylor4", 0.002, "82.1177", "82.1175"),
        ("ABAM-buss", 0.004, "149.999", "149.998"),
    ]
    assert all(row.note.startswith("misprint") for row in wrong)


def test_step_counts_of_the_first_column():
    rows = [
        row
        for row in buss2001.fig6_fig7_steps(
            {
                "taylor2",
                "taylor3",
                "taylor3+ep",
                "taylor4",
                "taylor4+ep",
                "MR2-231",
                "MR4-231+ep",
                "RK-buss",
            },
            0.4,
        )
        if row.eps == 1e-3
    ]
    assert len(rows) == 8
    assert all(row.ours == row.printed for row in rows), rows


@pytest.mark.slow
def test_step_counts_of_figures_6_and_7():
    rows = buss2001.fig6_fig7_steps()
    counted = [row for row in rows if row.printed is not None]
    assert len(counted) == 81
    assert sum(row.ours == row.printed for row in counted) >= 62
    assert all(abs(row.deviation) < 0.01 for row in counted)
    succeeds = {
        (row.method, row.T, row.eps): row.ours
        for row in rows
        if row.printed is None and row.ours is not None
    }
    assert succeeds == {
        ("MR2-231", 4.0, 1e-6): 37527,
        ("MR2-231+ep", 4.0, 1e-6): 29851,
        ("MR4-231+ep", 40.0, 1e-6): 18113,
    }


@pytest.mark.parametrize(("name", "counts"), [("taylor5+ep", (15, 50, 222, 730))])
def test_step_counts_of_the_fifth_order(name, counts):
    columns = ((0.4, 1e-3), (0.4, 1e-6), (4.0, 1e-3), (4.0, 1e-6))
    assert tuple(buss2001.steps_needed(name, T, eps, 20480) for T, eps in columns) == counts


@pytest.mark.slow
def test_fifth_order_is_the_fastest_way_to_a_millionth():
    assert buss2001.steps_needed("taylor5+ep", 40.0, 1e-6, 40960) <= 10700


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "low", "high"), [("MR2-123", 75.12384, 82.10526), ("MR2-231", 82.10526, 82.12814)]
)
def test_two_hundred_million_steps_stay_in_range(name, low, high):
    """Bounded oscillation: the same range after 2e5 and 2e8 steps.  Every thousandth step is looked
    at."""
    for count, every in ((200_000, 1), (200_000_000, 1009)):
        run = integrate(
            PRISM,
            t_span=(0, 0.02 * count),
            step=0.02,
            method=name,
            every=every,
            momentum0=(3 / math.sqrt(2), 3 / math.sqrt(2), 0),
        )
        energy = run.kinetic_energy
        assert energy.min() == pytest.approx(low, abs=2e-5)
        assert energy.max() == pytest.approx(high, abs=2e-5)
