"""What the doors take: advice in an error that works at the door that gave it, names of methods by
their meaning."""

import re

import numpy as np
import pytest

import polhode
from polhode import Flow, InputError, RigidBody, ensemble, integrate

LONG = [1.0, 2.0, 9.0]  # no distribution of mass has these moments
START = dict(t_span=(0.0, 1.0), step=0.1, omega0=(0.0, 1.0, 0.1))


# --- moments that no body has ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda body: integrate(body, **START).omega[-1],
        lambda body: ensemble([body, body], **START).omega[1],
        lambda body: Flow(body, step=0.1)((0.0, 0.0, 0.0, 1.0), START["omega0"], 0.0, 1.0).omega,
        lambda body: (
            Flow([1.0, 2.0, 3.0], step=0.1)(
                (0.0, 0.0, 0.0, 1.0), START["omega0"], 0.0, 1.0, inertia=body
            ).omega
        ),
        lambda body: Flow([1.0, 2.0, 3.0], step=0.1)(
            (0.0, 0.0, 0.0, 1.0), np.array([START["omega0"]] * 2), 0.0, 1.0, inertia=body
        ).omega[1],
    ],
    ids=["integrate", "ensemble", "Flow", "inertia of a call", "inertia of many states"],
)
def test_what_the_triangle_error_advises_works_at_every_door(call):
    with pytest.raises(InputError, match=re.escape("RigidBody(..., check_triangle=False)")):
        call(LONG)
    body = RigidBody(LONG, check_triangle=False)
    assert call(body).tolist() == integrate(body, **START).omega[-1].tolist()


# --- names of methods -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, meant",
    [
        ("RK45", "DP5"),
        ("dopri5", "DP5"),
        ("ode45", "DP5"),
        ("ode89", "DOP853"),
        ("verlet", "VLV"),
        ("Implicit midpoint", "AKW"),
        ("munthe-kaas", "RKMK4"),
    ],
)
def test_a_method_that_others_call_otherwise_is_named(name, meant):
    with pytest.raises(InputError, match=rf"unknown method .* \(did you mean '{meant}'\?\)"):
        integrate([1.0, 2.0, 3.0], method=name, **START)


def test_a_synonym_is_no_name_of_another_method():
    entries = polhode.methods.everything()
    names = {name.lower() for entry in entries for name in (entry.name, *entry.aliases)}
    synonyms = [synonym.lower() for entry in entries for synonym in entry.synonyms]
    assert len(set(synonyms)) == len(synonyms) and not names & set(synonyms)
