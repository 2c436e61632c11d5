"""What methods declare holds in flight, where their own steps carry the translation."""

import pytest

from polhode import facts, methods
from polhode.studies.facts import judge

FLYING = [method.name for method in methods.everything() if method.flight is not None]
FEW = ("LP2", "EXACT", "VLV", "DMV", "LIEMID[EA]", "EXACT-RKN4", "EXACT-RKN6", "MR2-BM4", "DP5")


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in FLYING]
)
def test_order_symmetry_and_symplecticity_hold_in_flight(name):
    found = {fact.name: fact for fact in judge._flight(methods.get(name))}
    assert len(found) == 6
    wrong = [fact for fact in found.values() if fact.declared is not None and fact.ok is not True]
    assert not wrong, [(fact.name, fact.text) for fact in wrong]


def test_newmark_beside_the_rotation_is_of_second_order_and_symmetric():
    assert all(abs(order - 2.0) < 0.05 for order in facts.flight_order("NMB"))
    assert facts.flight_symmetry_defect("NMB") < 1e-13
    assert facts.flight_symplecticity("NMB").value > 1e-4


def test_a_method_that_cannot_fly_has_no_such_facts():
    assert not list(judge._flight(methods.get("RKMK4")))
