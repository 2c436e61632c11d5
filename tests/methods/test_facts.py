"""Every fact a method declares is measured, and every fact it does not declare must fail: the table
is neither bold nor timid.

What holds is for `certify` to say: there is no threshold here.  A method is tested by being
registered; of those made on demand, by a parameter or a suffix, one of each kind is (EXAMPLES).
The controls at the end show that the measurements see what they should.
"""

import re

import numpy as np
import pytest

from polhode import (
    Force,
    Stepper,
    advise,
    compare,
    ensemble,
    facts,
    flight,
    integrate,
    load,
    torque,
    torques,
)
from polhode.studies.facts import ATTITUDE, BODY, VELOCITY, judge, rulings
from polhode.core.vec import cross, matrix, normalise, qexp, qmul, scale, sub, times
from polhode.errors import InputError
from polhode.methods import Method, Motion, everything, families, get
from polhode.methods._method import start_motion, variant
from polhode.methods._registry import _suffixes

EXAMPLES = (
    "newmark(0.6)",
    "taylor(7)",
    "MR2-312-cay",
    "MR4-312",
    "taylor2+ep",
    "LP2+yoshida4",
    "LP2+suzuki4",
    "LP2+yoshida6",
    "LP2+yoshida8",
    "LP2+kahanli6",
    "LP2+kahanli8",
    "LP2+kahanli10",
)

LONG = ("LP2+yoshida6", "LP2+yoshida8", "LP2+kahanli6", "LP2+kahanli8", "LP2+kahanli10")
METHODS = [*everything(), *map(get, EXAMPLES)]
KINDS = (
    "AKW",
    "LIEMID[EA]",
    "LP2",
    "MR4-231",
    "EXACT-RKN4",
    "SW-buss",
    "DMV6+att",
    "VLV",
    "DOP853",
    "RKMK4",
    "HSTAGM",
    "NMB",
    "NMB-matrix",
    "ABAM",
    "taylor4",
    "newmark(0.6)",
    "taylor2+ep",
    "LP2+suzuki4",
)


def parameters(is_long):
    return [
        pytest.param(one, id=one.name, marks=[pytest.mark.slow] * is_long(one.name))
        for one in METHODS
    ]


@pytest.fixture(params=parameters(lambda name: name in LONG))
def method(request):
    return request.param


@pytest.fixture(params=parameters(lambda name: name not in KINDS))
def kind(request):
    """A method of each kind; the others in the long run."""
    return request.param


def test_every_kind_made_on_demand_has_an_example():
    for one in families():
        assert any(re.fullmatch(one.pattern, name.lower()) for name in EXAMPLES)
    assert set(_suffixes) <= {name.rpartition("+")[2] for name in EXAMPLES}


# --- the declared facts ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", parameters(lambda name: name in (*LONG, "GAUSS16", "taylor(7)")))
def test_what_is_declared_holds_and_what_is_not_declared_fails(method):
    """As `polhode certify` judges it."""
    found = judge.declared_facts(method).values()
    wrong = [f"{one.title}: declared {one.declared}, {one.text}" for one in found if not one.ok]
    assert not wrong, "; ".join(wrong)
    assert {one.name for one in found} >= {"order_momentum", "symmetric", "symplectic", "poisson"}


def test_what_is_declared_can_be_understood(method):
    assert method.symplectic in (True, False, "orbits")
    assert set(method.conserves) <= set(facts.FreeDrift._fields)


def test_the_length_of_the_momentum_does_not_drift(method):
    """A method that keeps the momentum leaves |Pi| of a free body where it is: rounding may walk,
    but not march."""
    if "momentum" in method.conserves:
        assert facts.size_drift(method, 0.25, 1000) < np.sqrt(1000) * np.finfo(float).eps


def test_torques_are_counted(method):
    calls = facts.torque_calls(method)
    assert calls.start <= 1 or method.multistep
    assert method.torques is not None or calls.reported == calls.steps, "its state must count them"


# --- the ways to run it ---------------------------------------------------------------------------

STEP, COUNT = 0.125, 24  # binary, so that times are exact however they are added up
MOTION = {"rotation0": np.array(ATTITUDE), "omega0": VELOCITY}


class Opaque:
    """A torque that cannot be compiled."""

    def __init__(self, torque):
        self.torque = torque

    def __call__(self, t, R, p):
        return self.torque.function(t, R, p)


def run(method, acting=None, **options):
    return integrate(
        BODY, acting or facts.trial_torque(), (0.0, STEP * COUNT), STEP, method, **MOTION, **options
    )


def same(a, b):
    return (
        np.array_equal(a.quaternion, b.quaternion)
        and np.array_equal(a.omega, b.omega)
        and a.nfev == b.nfev
    )


def test_same_bits_compiled_callback_python(kind):
    trial = facts.trial_torque()
    compiled, python = run(kind), run(kind, compiled=False)
    called = run(kind, torques.Torque(Opaque(trial), form=trial.form, params=trial.params))
    assert (compiled.mode, called.mode, python.mode) == ("compiled", "callback", "python"), (
        compiled.note,
        python.note,
    )
    assert same(compiled, called)
    assert same(compiled, python)


def test_restart_is_exact(kind):
    def fresh():
        return Stepper(BODY, facts.trial_torque(), step=STEP, method=kind, **MOTION)

    first, second = fresh(), fresh()
    first.step(COUNT // 2)
    second.state = first.state
    for stepper in (first, second):
        stepper.step(COUNT // 2)
    whole = run(kind)
    for stepper in (first, second):
        assert stepper.t == whole.t[-1]
        assert np.array_equal(stepper.quaternion, whole.quaternion[-1])
        assert np.array_equal(stepper.omega, whole.omega[-1])


def test_backward_time(method):
    """Back from the end of a run: to the beginning if the method is symmetric and starts itself,
    else within its error."""
    ahead = run(method, compiled=False)
    back = integrate(
        BODY,
        facts.trial_torque(),
        (STEP * COUNT, 0.0),
        STEP,
        method,
        rotation0=ahead.quaternion[-1],
        omega0=ahead.omega[-1],
        compiled=False,
    )
    assert back.t[-1] == 0.0
    miss = max(
        np.abs(back.matrix[-1] - ahead.matrix[0]).max(), np.abs(back.omega[-1] - VELOCITY).max()
    )
    exact = method.symmetric and not method.multistep
    assert miss < (1e-10 if exact else 1e-10 + 10.0 * max(facts.errors(method, COUNT)))


DAMPED = torques.damping((0.3, 0.2, 0.4))
LOWER = "MR4-123 is of order 2, not 4, under a torque that depends on the angular velocity"


def test_a_run_says_where_its_order_is_lower():
    damped = facts.trial_torque() + DAMPED
    assert run("MR4-123", damped, compiled=False).message == f"the run reached its end; {LOWER}"
    for other in (
        run("MR4-123", compiled=False),
        run("LP2", damped, compiled=False),
        run("RKMK4", damped, compiled=False),
    ):
        assert other.message == "the run reached its end"


class Drag:
    """A force of the velocity, as an object."""

    def __call__(self, t, x, v, R):
        return -0.1 * v


def starred(t, x, *others):
    return -0.1 * others[0]


FLYING = {"position0": (0.1, 0.2, 0.3), "velocity0": (1.0, 0.0, 0.0)}
PULL = Force(lambda t, x, v, R: -x)
SPEED, TURNING = (
    "a force that depends on the velocity",
    "a force that depends on the angular velocity",
)


@pytest.mark.parametrize(
    "acting, felt",
    [
        (flight.drag(linear=0.1), SPEED),
        (PULL + flight.drag(linear=0.1), SPEED),
        (Force(Drag()), SPEED),
        (Force(Drag().__call__), SPEED),
        (Force(starred), SPEED),
        (load(lambda t, x, v, R: (-v, x)), SPEED),
        (Force(lambda t, x, v, R, omega: -omega, uses_omega=True), TURNING),
        (torque(lambda t, R, x, v: v, uses_position=True), SPEED.replace("force", "torque")),
        (PULL, ""),
        (load(lambda t, x, v, R: (-x, x)), ""),
        (flight.spring(2.0), ""),
        (flight.gravity(1.0, BODY), ""),
    ],
)
def test_in_flight_the_velocity_lowers_the_order_too(acting, felt):
    found = run(
        "EXACT-RKN4", flight.thrust((0.0, 0.0, 0.1)) + acting, compiled=False, **FLYING
    ).message
    lower = f"; EXACT-RKN4 is of order 2, not 4, under {felt}" if felt else ""
    assert found == f"the run reached its end{lower}"


def test_order_four_becomes_two_under_drag():
    """As the message says."""
    given = {"omega0": VELOCITY, "compiled": False, "every": "end", **FLYING}
    acting = flight.spring(4.0, point=(0.1, 0.2, 0.3)) + flight.drag(linear=0.5)
    ends = [
        integrate(BODY, acting, (0.0, 1.0), h, "EXACT-RKN4", **given).position[-1]
        for h in (0.1, 0.05, 0.025)
    ]
    coarse, fine = np.linalg.norm(np.diff(ends, axis=0), axis=1)
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)


def test_demands_on_the_order_are_those_under_the_torque():
    with pytest.raises(InputError, match="no method of the methods given is of order 4"):
        advise(BODY, DAMPED, (0.0, 2.0), omega0=VELOCITY, methods=["MR4-123"], order=4)


@pytest.mark.slow
def test_comparisons_advice_and_ensembles_know_the_lower_order():
    found = compare(
        BODY, DAMPED, (0.0, 2.0), omega0=VELOCITY, methods=["MR4-123", "RKMK4"], errors=[1e-2]
    )
    assert [
        (row["method"], row["order"], row["note"])
        for row in sorted(found.table, key=lambda row: row["method"])
    ] == [("MR4-123", 2, LOWER), ("RKMK4", 4, "")]
    advice = advise(
        BODY, DAMPED, (0.0, 2.0), omega0=VELOCITY, methods=["MR4-123", "RKMK4"], error=1e-2
    )
    assert "MR4-123 has a lower order with it." in advice.notes
    several = ensemble(
        BODY, DAMPED, (0.0, 1.0), STEP, "MR4-123", omega0=np.array([VELOCITY, VELOCITY])
    )
    assert several.message == f"the run reached its end; {LOWER}"


# --- controls: methods whose facts are known, or made wrong ---------------------------------------


def runge_kutta(substeps):
    """The classical Runge-Kutta method on (q, Om), with so many steps in one."""

    def rate(t, q, Om, body, torque, p):
        T = torque.body(t, matrix(normalise(q)), Om, p)
        return scaled(0.5, qmul(q, (*Om, 0.0))), times(
            body.Iinv, sub(T, cross(Om, times(body.I, Om)))
        )

    def scaled(c, a):
        return tuple(c * x for x in a)

    def ahead(c, k, y):
        return tuple(
            tuple(c * a + b for a, b in zip(da, b0, strict=True))
            for da, b0 in zip(k, y, strict=True)
        )

    def step(h, t, s, body, torque, p):
        h, y = h / substeps, (s.q, s.Om)
        for i in range(substeps):
            at = t + i * h
            k1 = rate(at, *y, body, torque, p)
            k2 = rate(at + h / 2, *ahead(h / 2, k1, y), body, torque, p)
            k3 = rate(at + h / 2, *ahead(h / 2, k2, y), body, torque, p)
            k4 = rate(at + h, *ahead(h, k3, y), body, torque, p)
            y = ahead(h / 6, k1, ahead(h / 3, k2, ahead(h / 3, k3, ahead(h / 6, k4, y))))
        return Motion(normalise(y[0]), y[1])

    return Method(
        "control",
        step,
        start_motion,
        Motion,
        order=4,
        torques=4 * substeps,
        symmetric=False,
        symplectic=False,
    )


def test_runge_kutta_has_order_4_and_nothing_else():
    found = judge.declared_facts(runge_kutta(1))
    assert all(one.ok for one in found.values())
    assert not any(one.measured is True for one in found.values())
    assert {one.text for name, one in found.items() if "order" in name} == {"4.00"}
    assert facts.torque_calls(runge_kutta(1)) == (0, (4,) * 8, None)


def test_the_flow_itself_has_every_fact():
    """A step so finely divided that it is the flow: the forms measured are those that the motion
    keeps."""
    control = runge_kutta(200)
    assert facts.symmetry_defect(control) < rulings.HELD
    assert facts.symplecticity(control).value < rulings.HELD
    assert facts.poisson(control).value < rulings.HELD
    assert max(facts.free_drift(control, count=20)) < rulings.HELD


def test_a_torque_at_the_wrong_time_costs_the_order():
    nmb = get("NMB")
    late = variant(
        nmb, step=lambda h, t, s, body, torque, p: nmb.step(h, t - h, s, body, torque, p)
    )
    found = judge.declared_facts(late)
    assert found["order_momentum"].ok is False and found["order_momentum"].text[:2] in ("0.", "1.")
    assert found["free_order_momentum"].ok


def test_nmb_and_nms_are_one_method():
    body, space = run("NMB"), run("NMS")
    assert np.abs(body.matrix - space.matrix).max() < 1e-13
    assert np.abs(body.omega - space.omega).max() < 1e-13


def test_trial_torque_is_minus_the_gradient_of_its_potential():
    trial, e = facts.trial_torque(), 1e-5
    for t in (0.0, 0.6):
        for i in range(3):
            x = tuple(e if j == i else 0.0 for j in range(3))
            V = [
                trial.potential(t, matrix(qmul(qexp(scale(s, x)), ATTITUDE)), trial.params)
                for s in (1.0, -1.0)
            ]
            assert trial(t, matrix(ATTITUDE))[i] == pytest.approx(
                -(V[0] - V[1]) / (2 * e), abs=1e-9
            )


def test_drift_slope_of_the_stress_test():
    """Bou-Rabee, Ortolan & Saccon 2009: NMB drifts, the symplectic VLV does not, HSTAGM blows
    up."""
    assert facts.drift_slope("NMB", 0.25).slope == pytest.approx(-1.425e-6, rel=0.05)
    steady = facts.drift_slope("VLV", 0.25)
    assert abs(steady.slope) < 1e-9
    assert steady.blow_up == np.inf
    assert facts.drift_slope("HSTAGM", 0.25, t_end=200.0).blow_up == pytest.approx(126.0, abs=1.0)
