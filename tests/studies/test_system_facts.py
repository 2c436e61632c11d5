"""What methods declare holds for systems, and what they declare falsely does not."""

import pytest

from polhode import facts, methods
from polhode.methods import get
from polhode.methods._method import variant
from polhode.studies.facts.systems import system_facts

TAKING = [method.name for method in methods.everything() if method.system is not None]
FEW = ("LP2", "NMB", "SW", "taylor3")


def measured(method):
    return {fact.name: fact for fact in system_facts(method)}


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in TAKING]
)
def test_what_is_declared_holds_for_systems(name):
    found = measured(get(name))
    assert len(found) == 10
    wrong = [fact for fact in found.values() if fact.ok is False or fact.missing]
    assert not wrong, [(fact.name, fact.text) for fact in wrong]
    judged = [fact for fact in found.values() if fact.ok]
    assert len(judged) > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LP2+ep", "NMB+ep", "taylor2+ep", "LP2+yoshida4", "taylor(4)"])
def test_what_is_made_on_demand_holds_too(name):
    found = measured(get(name))
    assert not [(fact.name, fact.text) for fact in found.values() if fact.ok is False]
    assert found["system_energy"].measured is ("+ep" in name)


def test_what_is_declared_falsely_is_found_out():
    """Newmark's method is neither of third order nor symplectic, and keeps no angular momentum."""
    liar = variant(get("NMB"), order=3, symplectic=True, symmetric=False, conserves=("momentum",))
    failed = {name for name, fact in measured(liar).items() if fact.ok is False}
    assert failed >= {
        "system_order_attitude",
        "system_order_momentum",
        "system_order_position",
        "system_order_velocity",
        "system_symmetric",
        "system_symplectic",
        "system_angular",
    }


def test_symplectic_methods_have_no_trend_and_first_order_ones_do():
    assert abs(facts.system_energy_trend("LP2").shift) < 1.0
    assert abs(facts.system_energy_trend("taylor3").shift) > 3.0


def test_a_method_that_takes_no_systems_has_no_such_facts():
    assert not measured(get("RKMK4"))
