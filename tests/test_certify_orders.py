"""Orders in certificates: those of small steps, of a user's own method that is not what it says."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from polhode import facts, methods
from polhode.studies.facts import judge
from polhode.cli._app import app

ORDERS = {"order_attitude", "order_momentum", "free_order_attitude", "free_order_momentum", "omega_order_attitude",
          "omega_order_momentum"}

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
    """A defect that depends on the step in no regular way: no order settles, none is claimed, and the exit code is 3."""
    done = CliRunner().invoke(app, ["certify", str(bent(ERRATIC))])
    assert done.exit_code == 3, done.stdout
    assert "a declared fact could not be measured" in done.stdout
    assert any("does not settle" in line and "not measured" in line for line in done.stdout.splitlines())
    (method,) = facts.from_file(bent(ERRATIC))
    assert np.isnan(facts.order(method).attitude)


def test_a_stale_velocity_fails(bent):
    """The torque half way sees the velocity at the beginning of the step."""
    (method,) = facts.from_file(bent(GOOD, seen="s.Om"))
    found = {fact.name: fact for fact in judge._orders(method, {})}
    assert found["order_attitude"].ok and found["order_attitude"].measured == pytest.approx(2.0, abs=0.01)
    assert found["omega_order_attitude"].ok is False
    assert found["omega_order_attitude"].measured == pytest.approx(1.0, abs=0.01)
