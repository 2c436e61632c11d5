"""Certificates: they measure what is known, expose what is false, take a user's own file, and come
as table, JSON, figure."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import polhode
from polhode import certify, facts, methods
from polhode.studies.facts.drift import drift_fact
from polhode.studies.facts import conserve, judge, long_run, orders, source
from polhode.cli import app
from polhode.core.jit import jit
from polhode.core.vec import axpy, cross, matrix, qexp, qmul, renormalise, scale, sub, times
from polhode.errors import InputError
from polhode.methods import Motion, get
from polhode.methods._method import variant

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_integrator.py"

EULER = '''
import polhode
from polhode.core.vec import axpy, cross, matrix, qexp, qmul, renormalise, scale, sub, times
from polhode.methods import Motion

def plain(h, t, s, body, torque, p):
    """Explicit Euler."""
    T = torque.body(t, matrix(s.q), s.Om, p)
    A = times(body.Iinv, sub(T, cross(s.Om, times(body.I, s.Om))))
    return Motion(renormalise(qmul(s.q, qexp(scale(h, s.Om)))), axpy(h, A, s.Om))

'''

ORDERS = (
    "order_attitude",
    "order_momentum",
    "free_order_attitude",
    "free_order_momentum",
    "omega_order_attitude",
    "omega_order_momentum",
)


@cache
def certified(name):
    return certify(name)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


# --- what is known --------------------------------------------------------------------------------


# METHODS by kind: what the papers' methods are, measured
@pytest.mark.parametrize(
    "name, symmetric, symplectic, momentum, energy, torques, solves",
    [
        ("NMB", True, False, False, False, 1, 1),
        pytest.param("LIEMID[EA]", True, False, True, False, 1, 2, marks=pytest.mark.slow),
        ("VLV", True, True, True, False, 1, 1),
        ("LP2", True, True, True, False, 1, 0),
    ],
)
def test_known_methods(name, symmetric, symplectic, momentum, energy, torques, solves):
    found = certified(name)
    facts = found.facts
    assert found.ok, str(found)
    assert found.verdict == "all declared facts hold"
    measured = [
        facts[key].measured
        for key in (
            "symmetric",
            "symplectic",
            "conserves_momentum",
            "conserves_energy",
            "torques",
            "solves",
        )
    ]
    assert measured == [symmetric, symplectic, momentum, energy, torques, solves]
    assert facts["symplectic"].details["step"] == 0.1
    defect = facts["symplectic"].details["defect"]
    assert defect < 1e-11 if symplectic else defect > 1e-7
    assert 1e-15 < facts["symplectic"].details["noise"] < 1e-11
    for key in ORDERS:
        assert facts[key].measured == pytest.approx(2.0, abs=0.02) and facts[key].ok


@pytest.mark.parametrize(
    "name, coarse, fine",
    [
        ("NMB-cay", -3.876e-6, -1.037e-6),
        ("NMB", -1.425e-6, -4.647e-7),
        ("LIEMID[EA]", 5.748e-7, 1.423e-7),
    ],
)
def test_drift_slopes(name, coarse, fine):
    drifts = [facts.drift_slope(name, step) for step in (0.25, 0.125)]
    assert [drift.slope for drift in drifts] == pytest.approx([coarse, fine], rel=0.05)
    assert all(drift.resolved and not drift.chaotic and len(drift.slopes) == 12 for drift in drifts)


@pytest.mark.parametrize(
    "name", ["AKW-end", *(pytest.param(name, marks=pytest.mark.slow) for name in ("AKW", "LS"))]
)
def test_a_chaotic_run_has_no_drift(name):
    """Starts that differ in the last digits give slopes of either sign; at half the step the motion
    is regular."""
    drift = facts.drift_slope(name, 0.25)
    assert drift.chaotic and not drift.resolved
    assert min(drift.slopes) < 0.0 < max(drift.slopes) and drift.scatter > 5e-7
    fact = drift_fact("drift", 0.25, drift, steady=False)
    assert fact.measured is None and fact.text.startswith("chaotic: no drift resolved")
    assert facts.drift_slope(name, 0.125).resolved


def test_no_drift():
    for name in ("VLV", "LP2"):
        facts = certified(name).facts
        for key in ("drift", "drift_half"):
            assert abs(facts[key].measured) < 1e-9
            assert facts[key].declared == 0.0 and facts[key].ok
        assert facts["drift_ratio"].measured is None
    drifting = certified("NMB").facts
    assert drifting["drift"].ok is None
    assert drifting["drift_ratio"].measured == pytest.approx(1.425e-6 / 4.647e-7, rel=0.05)


def test_blow_up():
    drift = facts.drift_slope("HSTAGM", 0.25, t_end=300.0)
    assert drift.blow_up == pytest.approx(126.0, abs=1.0)


@pytest.mark.parametrize("name", ["DMV4", "DMV6+att"])
def test_symplectic_on_orbits_alone(name):
    facts = {fact.name: fact for fact in judge._structure(get(name))}
    assert facts["symplectic"].measured is False and facts["symplectic"].ok
    assert (
        facts["poisson"].measured is True
        and facts["poisson"].declared is True
        and facts["poisson"].ok
    )


@pytest.mark.parametrize("name", [entry.name for entry in methods.everything()])
def test_classification_at_a_tenth(name):
    """Symplectic methods leave less than 1e-11 at h = 0.1, all others more than 1e-7; those of order 8 and above at h = 0.2,
    that of order 16 at 1.2."""
    order = get(name).order
    defect = facts.symplecticity(
        name, 0.1 if order < 8 else 0.2 if order < 16 else 1.2, facts.LIVELY
    )
    if get(name).symplectic is True:
        assert defect.value < 1e-11
    else:
        assert defect.value > 1e-7
    assert defect.noise < 1e-11


# --- single measurements --------------------------------------------------------------------------


def test_stability_limit():
    """DMV has no solution beyond h |Pi|/I of about 1; explicit Euler gains energy at every step;
    VLV bears everything."""
    assert 0.5 < facts.stability_limit("DMV") < 2.0
    assert facts.stability_limit("taylor1") < 0.1
    assert facts.stability_limit("VLV") == np.inf


def test_momentum_about_axes():
    kept = facts.axis_drift("VLV")
    assert max(kept) < 1e-13
    lost = facts.axis_drift("NMB")
    assert lost.space > 1e-4 and lost.body < 1e-13
    assert facts.size_drift("NMB") > 1e-4 > 1e-13 > facts.size_drift("AKW-exp")


@pytest.mark.parametrize(
    "problem, kept",
    [
        ("krysl/free-body", {"energy", "momentum", "size"}),
        ("krysl/slow-top", {"energy", "axis_space", "axis_body"}),
        ("krysl/coulomb-wall", {"energy", "axis_space"}),
        ("krysl/book-toss", set()),
    ],
)
def test_what_problems_keep(problem, kept):
    assert set(conserve.invariants(problem)) == kept


def test_two_terms_of_the_error_are_told_apart():
    """Energy preservation leaves so little of the third-order term that double precision shows
    slopes between 3 and 5."""
    found = {fact.name: fact for fact in judge._orders(get("taylor3+ep"), {})}
    free = found["free_order_attitude"]
    assert free.ok is True and abs(free.measured - 3.0) < 0.1
    assert found["order_attitude"].ok is True


def test_cost_is_nanoseconds():
    assert 5.0 < facts.cost("LP2") < 50_000.0


# --- what is false --------------------------------------------------------------------------------


def test_a_lying_method_fails_where_it_lies():
    liar = variant(
        get("NMB"),
        name="liar",
        order=3,
        free_order=(2, 3),
        symplectic=True,
        conserves=("energy",),
        torques=2,
        solves=0,
    )
    found = certify(liar)
    failed = {name for name, fact in found.facts.items() if fact.ok is False}
    assert not found.ok and found.verdict == "a declared fact fails"
    assert failed == set(ORDERS) - {"free_order_attitude"} | {
        *(f"system_order_{part}" for part in ("attitude", "momentum", "position", "velocity")),
        "system_symplectic",
        "symplectic",
        "poisson",
        "conserves_energy",
        "drift",
        "drift_half",
        "torques",
        "solves",
    }


def test_a_timid_method_fails_too():
    timid = variant(get("VLV"), symmetric=False, symplectic=False, conserves=())
    facts = [*judge._structure(timid), *judge._conserved(timid)]
    assert {fact.name for fact in facts if fact.ok is False} == {
        "symmetric",
        "symplectic",
        "poisson",
        "conserves_momentum",
    }


# --- a user's own ---------------------------------------------------------------------------------


def euler(h, t, s, body, torque, p):
    """Explicit Euler."""
    A = times(
        body.Iinv, sub(torque.body(t, matrix(s.q), s.Om, p), cross(s.Om, times(body.I, s.Om)))
    )
    return Motion(renormalise(qmul(s.q, qexp(scale(h, s.Om)))), axpy(h, A, s.Om))


def test_a_step_function_without_facts():
    found = certify(jit(euler))
    assert found.ok and found.verdict == "nothing declared"
    assert found.name == "euler" and found.summary == "Explicit Euler."
    assert all(fact.declared is None and fact.ok is None for fact in found.facts.values())
    assert found.facts["order_attitude"].measured == pytest.approx(1.0, abs=0.05)
    assert found.facts["drift"].details["blow_up"] is not None


def test_a_step_that_cannot_be_compiled(monkeypatch):
    def numpy_euler(h, t, s, body, torque, p):
        new = euler(h, t, s, body, torque, p)
        return Motion(tuple(np.array(new.q).tolist()), new.Om)

    # in plain Python the stress test takes its time
    monkeypatch.setattr(long_run, "STRESS", "krysl/slow-top")
    found = certify(numpy_euler, "krysl/slow-top")
    assert "tolist" in found.note
    assert found.facts["cost"].measured is None and found.facts["drift"].measured is not None


def test_the_example():
    """The engine's integrator is what it says, and its long run shows."""
    done = call("certify", EXAMPLE, "--json")
    assert done.exit_code == 0, done.stderr
    (data,) = json.loads(done.stdout)
    facts = data["facts"]
    assert data["name"] == "game-engine" and data["ok"]
    assert facts["order_attitude"]["measured"] == pytest.approx(1.0, abs=0.05)
    assert facts["symplectic"]["measured"] is False and facts["symplectic"]["defect"] > 1e-3
    assert facts["drift"]["blow_up"] < 1000.0
    assert (
        facts["conserves_energy"]["measured"] is False
        and facts["stability_limit"]["measured"] < 0.1
    )


def test_example_names_one_method():
    assert [method.name for method in facts.from_file(EXAMPLE)] == ["game-engine"]
    assert source.as_method(f"{EXAMPLE}:step").name == "game-engine"
    assert source.as_method(f"{EXAMPLE}:GAME-ENGINE").name == "game-engine"


@pytest.mark.parametrize(
    "result, expected",
    [
        ("s.q, s.Om", "must return a Motion(q, Om), got ((0."),
        ("Motion(s.q, (float('nan'), 0.0, 0.0))", "returned a value that is not finite"),
        ("Motion(s.q, (1.0, 2.0))", "another shape"),
        ("Motion(s.q, ('a', 'b', 'c'))", "floats and tuples of floats"),
        ("Motion((0.0, 0.0, 0.0, 2.0), s.Om)", "unit quaternion"),
        ("1 / 0", "raised ZeroDivisionError"),
    ],
)
def test_steps_that_return_the_wrong_thing(tmp_path, result, expected):
    file = tmp_path / "mine.py"
    file.write_text(EULER + f"def step(h, t, s, body, torque, p):\n    return {result}\n")
    done = call("certify", f"{file}:step")
    assert done.exit_code == 2 and expected in done.stderr and "the step of 'step'" in done.stderr


@pytest.mark.parametrize(
    "text, target, expected",
    [
        ("import nothing_of_that_name", "", "could not be imported: ModuleNotFoundError"),
        ("def step(:", "", "could not be imported: SyntaxError"),
        ("x = 1", "", "registers no method"),
        ("x = 1", ":x", "has no function and no method 'x'"),
        (EULER + "polhode.method('NMB', order=1)(plain)", "", "is taken by"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, text, target, expected):
    file = tmp_path / "mine.py"
    file.write_text(text)
    done = call("certify", f"{file}{target}")
    assert done.exit_code == 2 and done.stdout == "" and expected in done.stderr


def test_what_is_not_there(tmp_path):
    for arguments, expected in (
        ((tmp_path / "none.py",), "there is no file"),
        (("NBM",), "did you mean 'NMB'?"),
        ((), "--all"),
        (("NMB", "--all"), "not both"),
        (("NMB", "--problem", "stres"), "unknown problem"),
        (("NMB", "VLV", "-o", "x.png"), "--figure"),
        (("NMB", "-o", "x.txt"), "png"),
        (("NMB", "--problem", "book-toss"), "does not keep its energy"),
    ):
        done = call("certify", *arguments)
        assert done.exit_code == 2 and done.stdout == "" and expected in done.stderr, (
            arguments,
            done.stderr,
        )


def test_two_methods_in_a_file(tmp_path):
    file = tmp_path / "both.py"
    file.write_text(
        EULER
        + "for name in ('one-of-two', 'two-of-two'):\n    polhode.method(name, order=1, torques=1)(plain)\n"
    )
    with pytest.raises(InputError, match="has 2 methods"):
        certify(str(file))
    found = facts.from_file(file)
    assert [method.name for method in found] == ["one-of-two", "two-of-two"]
    assert found[0].symmetric is None  # left out: measured without a verdict
    for method in found:
        for name in (method.name, *method.aliases):
            methods._registry._methods.pop(name)


# --- table, JSON, figure --------------------------------------------------------------------------

FACTS = [
    *ORDERS,
    "symmetric",
    "symplectic",
    "poisson",
    "conserves_momentum",
    "conserves_energy",
    "conserves_size",
    "conserves_axis_space",
    "conserves_axis_body",
    "drift",
    "drift_half",
    "drift_ratio",
    "stability_limit",
    "torques",
    "solves",
    "flight_order_attitude",
    "flight_order_momentum",
    "flight_order_position",
    "flight_order_velocity",
    "flight_symmetric",
    "flight_symplectic",
    "system_order_attitude",
    "system_order_momentum",
    "system_order_position",
    "system_order_velocity",
    "system_symmetric",
    "system_symplectic",
    "system_linear",
    "system_angular",
    "system_energy",
    "system_drift",
    "cost",
]


def test_schema():
    data = certified("VLV").to_dict()
    assert list(data) == ["name", "ok", "verdict", "summary", "problem", "note", "facts"]
    assert list(data["facts"]) == FACTS
    for fact in data["facts"].values():
        assert {"title", "declared", "measured", "ok", "text"} <= set(fact)
        assert fact["ok"] in (True, False, None)


def test_json_of_a_failure(tmp_path):
    file = tmp_path / "liar.py"
    file.write_text(
        EULER + "polhode.method('small-liar', order=2, torques=1, symmetric=True)(plain)\n"
    )
    done = call("certify", file, "--json")
    assert done.exit_code == 1
    (data,) = json.loads(done.stdout)
    facts = data["facts"]
    assert not data["ok"] and {name for name, fact in facts.items() if fact["ok"] is False} == {
        *ORDERS,
        "symmetric",
    }
    assert facts["symplectic"]["declared"] is None and facts["symplectic"]["measured"] is False
    methods._registry._methods.pop("small-liar")


def test_table_several_figures_and_processes(tmp_path):
    """With methods whose long run is soon over."""
    file = tmp_path / "both.py"
    file.write_text(
        EULER
        + "for name in ('first[A]', 'second'):\n    polhode.method(name, order=1, torques=1)(plain)\n"
    )
    done = call("certify", file, "--figure", tmp_path / "figures")
    assert done.exit_code == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    for part in (
        "first[A]  all declared facts hold",
        "symplectic on coadjoint orbits",
        "Side by side",
    ):
        assert part in done.stdout
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "first-A.png",
        "second.png",
    ]
    again = call("certify", f"{file}:second", "--figure", tmp_path / "figures")
    assert again.exit_code == 2 and "--force" in again.stderr


@pytest.mark.slow
def test_table_of_the_librarys_own_methods(tmp_path):
    done = call("certify", "LIEMID[EA]", "VLV")
    assert done.exit_code == 0, done.stderr
    assert "LIEMID[EA]  all declared facts hold" in done.stdout and "Side by side" in done.stdout


def test_figure():
    figure = certified("NMB").figure()
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "Error with a torque" and len(titles) == 4
    assert "NMB: all declared facts hold" in figure.get_suptitle()


def test_another_problem():
    found = certify("VLV", "slow-top")
    assert found.ok and found.problem == "krysl/slow-top"
    assert found.facts["problem_axis_space"].measured < 1e-12
    assert found.facts["problem_axis_body"].measured < 1e-12
    assert 1e-8 < found.facts["problem_energy"].measured < 1e-1
    assert found.facts["drift"].declared is None


def test_text():
    text = str(certified("VLV"))
    assert text.startswith("VLV: all declared facts hold\n") and "symmetric in time" in text


def test_measurements_are_exported():
    assert facts.order is orders.order and polhode.certify is certify
