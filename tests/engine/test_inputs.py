"""What the doors take: advice in an error that works at the door that gave it, names of methods by
their meaning, quaternions in either order."""

import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import polhode
from polhode import Flow, InputError, RigidBody, Stepper, ensemble, integrate

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
        ("Radau", "DOP853"),
        ("LSODA", "DOP853"),
        ("BDF", "DOP853"),
        ("leapfrog", "VLV"),
    ],
)
def test_a_method_that_others_call_otherwise_is_named(name, meant):
    with pytest.raises(InputError, match=rf"unknown method .* \(did you mean '{meant}'\?\)"):
        integrate([1.0, 2.0, 3.0], method=name, **START)


@pytest.mark.parametrize("name", ["yoshida5", "yoshida4", "NMB+yoshida5"])
def test_an_unknown_ending_is_answered_with_the_endings(name):
    with pytest.raises(InputError, match=r"write NAME\+ENDING, as in LP2\+yoshida4, .* yoshida4"):
        integrate([1.0, 2.0, 3.0], method=name, **START)


def test_the_error_for_an_unknown_method_is_short():
    with pytest.raises(InputError, match=r"recommended: 'LP2', .*lists all") as error:
        integrate([1.0, 2.0, 3.0], method="xyz", **START)
    assert len(str(error.value)) < 200


def test_a_synonym_is_no_name_of_another_method():
    entries = polhode.methods.everything()
    names = {name.lower() for entry in entries for name in (entry.name, *entry.aliases)}
    synonyms = [synonym.lower() for entry in entries for synonym in entry.synonyms]
    assert len(set(synonyms)) == len(synonyms) and not names & set(synonyms)


# --- quaternions with the scalar first ------------------------------------------------------------

SPUN = dict(torque="heavy_top", omega0=(0.0, 0.0, 5.0))
FIRST = np.array([0.8, 0.0, 0.6, 0.0])  # (w, x, y, z)
LAST = (0.0, 0.6, 0.0, 0.8)


def by_integrate(q, **options):
    return integrate([5.0, 5.0, 1.0], t_span=(0, 1), step=0.1, rotation0=q, **SPUN, **options)


def by_steps(q, **options):
    stepper = Stepper([5.0, 5.0, 1.0], step=0.1, rotation0=q, **SPUN, **options)
    stepper.step(10)
    return stepper


def by_flow(q, **options):
    flow = Flow([5.0, 5.0, 1.0], "heavy_top", step=0.1, **options)
    return SimpleNamespace(quaternion=flow(q, SPUN["omega0"], 0.0, 1.0).attitude)


def by_ensemble(q, **options):
    return ensemble([5.0, 5.0, 1.0], t_span=(0, 1), step=0.1, rotation0=q, n=2, **SPUN, **options)


def by_scenario(q, **options):
    first = "".join(f"scalar_first = {str(one).lower()}\n" for one in options.values())
    Path("top.toml").write_text(
        "[body]\ninertia = [5, 5, 1]\n[torque]\nname = 'heavy_top'\n[run]\nstep = 0.1\nt_span = [0, 1]\n"
        f"[initial]\nomega = [0, 0, 5]\nquaternion = {np.array(q).tolist()}\n{first}"
    )
    return polhode.io.load("top.toml").integrate()


DOORS = [by_integrate, by_steps, by_flow, by_ensemble, by_scenario]


def end(run):
    return np.atleast_2d(run.quaternion)[-1].tolist()


@pytest.mark.parametrize("door", DOORS)
def test_a_quaternion_may_have_its_scalar_first(door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for form in (tuple, list, np.array):
        given = form(FIRST.tolist())
        assert end(door(given, scalar_first=True)) == end(door(LAST))
        assert end(door(form(LAST), scalar_first=False)) == end(door(LAST))


def test_many_quaternions_may_have_their_scalars_first():
    first, last = np.array([FIRST, FIRST]), np.array([LAST, LAST])
    a, b = by_ensemble(first, scalar_first=True), by_ensemble(last)
    assert a.quaternion.tolist() == b.quaternion.tolist()
    a, b = by_flow(first, scalar_first=True), by_flow(last)
    assert a.quaternion.tolist() == b.quaternion.tolist()


@pytest.mark.parametrize("door", DOORS)
def test_what_may_be_meant_for_the_identity_gives_one_warning(door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    identity = (1.0, 0.0, 0.0, 0.0)
    words = (
        r"half turn.*identity, write .*scalar_first=True.*scalar_first=False confirms the half turn"
    )
    with pytest.warns(UserWarning, match=words) as warned:
        taken = end(door(identity))
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert end(door(identity, scalar_first=False)) == taken
        assert end(door(identity, scalar_first=True)) == end(door((0.0, 0.0, 0.0, 1.0)))
        door((0.0, 1.0, 0.0, 0.0))


def test_the_warning_is_given_for_the_first_of_many():
    with pytest.warns(UserWarning, match="half turn"):
        by_ensemble(np.array([[1.0, 0.0, 0.0, 0.0]] * 2))


def test_comparisons_take_the_scalar_first():
    options = dict(methods=["LP2"], errors=[1e-3], omega0=(0.0, 0.0, 5.0))
    found = [
        polhode.compare(
            [5.0, 5.0, 1.0], "heavy_top", (0, 1), rotation0=q, scalar_first=first, **options
        )
        for q, first in ((FIRST, True), (LAST, None))
    ]
    a, b = ([point.error for point in one.curves[0].points] for one in found)
    assert a == b
