"""Orders in certificates: those of small steps, of a user's own method that is not what it says."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import polhode
from polhode import facts, methods
from polhode.studies.facts import judge
from polhode.cli import app

ORDERS = {
    "order_attitude",
    "order_momentum",
    "free_order_attitude",
    "free_order_momentum",
    "omega_order_attitude",
    "omega_order_momentum",
}

BENT = """
import math
import numpy as np
import polhode
from polhode.core.vec import axpy, cross, matrix, qexp, qmul, renormalise, scale, sub, times
from polhode.methods import Motion

@polhode.method("bent", order=2, torques=2)
def step(h, t, s, body, torque, p):
    "The midpoint rule, and something that should not be there."
    T = torque.body(t, matrix(s.q), s.Om, p)
    Om = axpy(0.5 * h, times(body.Iinv, sub(T, cross(s.Om, times(body.I, s.Om)))), s.Om)
    T = torque.body(t + 0.5 * h, matrix(qmul(s.q, qexp(scale(0.5 * h, s.Om)))), {seen}, p)
    q = renormalise(qmul(s.q, qexp(scale(h, Om))))
    Om = axpy(h, times(body.Iinv, sub(T, cross(Om, times(body.I, Om)))), s.Om)
    return Motion({result})
"""
GOOD = "q, Om"
LEAK = "q, scale(1.0 - 5e-9, Om)"
TURN = "renormalise(qmul(q, qexp(scale(1e-4 * h * h, Om)))), Om"
DOUBLES = "q, tuple(np.array([np.float64(x) for x in Om]) {})"
ERRATIC = "q, scale(1.0 + 1e-9 * math.sin(1e9 * h), Om)"


@pytest.fixture
def bent(tmp_path):
    """A method in a file that ends in some way, with the velocity that its torque sees half way."""

    def write(result, seen="Om"):
        file = tmp_path / "bent.py"
        file.write_text(BENT.format(result=result, seen=seen))
        return file

    yield write
    methods._registry._methods.pop("bent", None)


@pytest.mark.parametrize("result, attitude, momentum", [(LEAK, -1, -1), (TURN, 1, 2), (GOOD, 2, 2)])
def test_the_order_is_that_of_small_steps(bent, result, attitude, momentum):
    """What double precision shows between round-off and large steps is not the order: these look like order 2 there."""
    (method,) = facts.from_file(bent(result))
    found = facts.order(method, "free")
    assert found[:2] == pytest.approx((attitude, momentum), abs=0.01) and max(found.doubts) < 0.01
    assert found.how == "small steps"


@pytest.mark.parametrize("factor, expected", [("* (1.0 - 5e-7)", -1), ("* 1.0", 2)])
def test_a_step_in_doubles_is_refined_until_it_settles(bent, factor, expected):
    """NumPy's floats cannot have forty digits."""
    (method,) = facts.from_file(bent(DOUBLES.format(factor)))
    found = facts.order(method, "free")
    assert found.how == "doubles" and found[:2] == pytest.approx((expected, expected), abs=0.1)


@pytest.mark.slow
def test_a_leaking_method_fails(bent):
    done = CliRunner().invoke(app, ["certify", str(bent(LEAK)), "--json"])
    assert done.exit_code == 1, done.stderr
    (data,) = json.loads(done.stdout)
    assert data["verdict"] == "a declared fact fails" and not data["ok"]
    assert {name for name, fact in data["facts"].items() if fact["ok"] is False} == ORDERS


def test_what_cannot_be_measured_does_not_hold(bent):
    """A defect that depends on the step in no regular way: no order settles, none is claimed, and
    the exit code is 3."""
    done = CliRunner().invoke(app, ["certify", str(bent(ERRATIC))], env={"COLUMNS": "120"})
    assert done.exit_code == 3, done.stdout
    assert "a declared fact could not be measured" in done.stdout
    assert any(
        "does not settle" in line and "not measured" in line for line in done.stdout.splitlines()
    )
    (method,) = facts.from_file(bent(ERRATIC))
    assert np.isnan(facts.order(method).attitude)


def test_a_stale_velocity_fails(bent):
    """The torque half way sees the velocity at the beginning of the step."""
    (method,) = facts.from_file(bent(GOOD, seen="s.Om"))
    found = {fact.name: fact for fact in judge._orders(method, {})}
    assert found["order_attitude"].ok and found["order_attitude"].measured == pytest.approx(
        2.0, abs=0.01
    )
    assert found["omega_order_attitude"].ok is False
    assert found["omega_order_attitude"].measured == pytest.approx(1.0, abs=0.01)


# --- a splitting with a state of its own, wrong in one place --------------------------------------

SPLIT = """
from typing import NamedTuple

import polhode
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import axpy, matrix, qconj, qexp, qmul, qrotate, renormalise, scale, times

class State(NamedTuple):
    q: Quaternion
    Pi: Vector
    T: Vector

def start(h, t, q, Om, body, torque, p):
    return State(q, times(body.I, Om), {first})

@polhode.method("bent", state=State, start=start, order=2, omega_order=1, torques=1, symmetric=True, symplectic=True,
                conserves=("momentum",))
def step(h, t, s, body, torque, p):
    "Half a kick, turns about the axes, half a kick."
    q, Pi = s.q, axpy(0.5 * h, s.T, s.Pi)
    for axis, part in ((0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)):
        angle = part * h * Pi[axis] * body.Iinv[axis]
        turn = qexp((angle if axis == 0 else 0.0, angle if axis == 1 else 0.0, angle if axis == 2 else 0.0))
        q, Pi = qmul(q, turn), qrotate(qconj(turn), Pi)
    T = torque.body({time}, matrix(q), scale({seen}, times(body.Iinv, Pi)), p)
    return State(renormalise({attitude}), axpy(0.5 * h, T, Pi), T)
"""
RIGHT = {
    "first": "torque.body(t, matrix(q), Om, p)",
    "time": "t + h",
    "seen": "1.0",
    "attitude": "q",
}


@pytest.fixture
def split(tmp_path):
    """The splitting in a file, with what is wrong in it."""

    def write(**wrong):
        file = tmp_path / "split.py"
        file.write_text(SPLIT.format(**RIGHT | wrong))
        return file

    yield write
    methods._registry._methods.pop("bent", None)


@pytest.mark.parametrize(
    "wrong, orders, symmetric",
    [
        ({}, (2, 2, 1), True),
        ({"first": "(0.0, 0.0, 0.0)"}, (1, 2, 1), True),  # the first kick is forgotten
        ({"time": "t"}, (1, 2, 1), False),  # the second comes with the time of the first
        ({"seen": "0.5"}, (2, 2, 0), True),  # the torque sees half of the velocity
        # symmetric as long as nothing acts
        ({"attitude": "qmul(q, qexp(scale(1e-3 * h * h * h, T)))"}, (2, 2, 1), False),
    ],
)
def test_what_is_wrong_with_a_splitting_is_measured(split, wrong, orders, symmetric):
    (method,) = facts.from_file(split(**wrong))
    found = [facts.order(method, kind).attitude for kind in ("torque", "free", "damped")]
    assert found == pytest.approx(orders, abs=0.01)
    assert (facts.symmetry_defect(method) < 1e-14) == symmetric


def test_a_state_of_ones_own_can_be_compiled(split, tmp_path, monkeypatch):
    """Machine code names the class of the state, and is written to the disk with it."""
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / "cache"))
    (method,) = facts.from_file(split())
    run = polhode.integrate(
        [2.0, 3.0, 4.5],
        polhode.torques.heavy_top(2.0),
        (0, 1),
        0.01,
        method,
        omega0=(0.8, -0.6, 0.5),
    )
    plain = polhode.integrate(
        [2.0, 3.0, 4.5],
        polhode.torques.heavy_top(2.0),
        (0, 1),
        0.01,
        method,
        omega0=(0.8, -0.6, 0.5),
        compiled=False,
    )
    assert run.mode == "compiled" and np.array_equal(run.omega, plain.omega)
    assert list((tmp_path / "cache").iterdir())
