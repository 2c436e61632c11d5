"""The advice is good: the method recommended keeps to the error asked for, and hardly anything
costs less.

Twelve scenarios; those marked slow run with `pytest tests/studies/test_advise.py -m slow`.
"""

import json
import math
from functools import cache

import numpy as np
import pytest

import polhode
from polhode import advise, problems, torques
from polhode.studies.advise import candidates
from polhode.studies.advise.cost import seconds, duration_text
from polhode.studies.advise.pilot import growth
from polhode.cli import app
from polhode.cli.commands.advise import candidates_table
from polhode.studies.compare import entries
from polhode.studies.compare.as_task import as_task
from polhode.studies.compare.truth import truth as truth_of
from polhode.errors import InputError
from polhode.exact import free_body

ROUND, SATELLITE = polhode.RigidBody([2.0, 2.0, 4.0]), polhode.RigidBody([40.0, 55.0, 80.0])


def laboured(t, R):
    """A heavy top by a function that cannot be compiled."""
    moment = json.loads("20.0")
    return (-moment * R[1, 2], moment * R[0, 2], 0.0)


@polhode.torque(frame="body", params={"size": 0.6, "rate": 1.7})
def shaken(t, R, p):
    return p.size * np.sin(p.rate * t) * np.array([1.0, 0.5, -0.3]) + 0.2 * R[2]


@polhode.torque(params={"size": 3.0})
def thruster(t, R, p):
    return p.size * np.array([1.0 if t < 2.0 else 0.0, 0.2, 0.0])


def from_problem(name, until=None):
    return as_task(name).until(until)


SCENARIOS = {  # task, error, options
    "free triaxial": (lambda: from_problem("krysl/free-body"), 1e-6, {}),
    "free symmetric": (
        lambda: as_task([2.0, 2.0, 1.0], None, (0.0, 50.0), omega0=(0.3, 0.1, 2.0)),
        1e-9,
        {},
    ),
    "slow top": (lambda: from_problem("krysl/slow-top"), 1e-6, {}),
    "fast top": (lambda: from_problem("krysl/fast-top"), 1e-4, {}),
    "coulomb wall": (lambda: from_problem("krysl/coulomb-wall"), 1e-5, {}),
    "coulomb wall, printed sign": (lambda: from_problem("krysl/coulomb-wall-printed"), 1e-8, {}),
    "stress, short": (lambda: from_problem("bou-rabee/stress"), 1e-3, {}),
    "stress, long": (
        lambda: as_task(
            ROUND,
            torques.stress_potential(),
            (0.0, 15000.0),
            rotation0=(0.0, 0.7227, 0.0),
            omega0=(0.0, 0.0, 0.625),
        ),
        1e-4,
        {"long": True},
    ),
    "satellite": (
        lambda: as_task(
            SATELLITE,
            torques.gravity_gradient(SATELLITE, 0.1),
            (0.0, 200.0),
            omega0=(0.02, 0.05, 0.11),
        ),
        1e-5,
        {},
    ),
    "damped": (
        lambda: as_task(
            ROUND,
            torques.heavy_top(2.0) + torques.damping(0.2),
            (0.0, 20.0),
            omega0=(0.5, 1.0, 2.0),
            rotation0=(0.4, 0.0, 0.0),
        ),
        1e-6,
        {},
    ),
    "shaken": (lambda: as_task(ROUND, shaken, (0.0, 20.0), omega0=(0.5, 1.0, -0.4)), 1e-7, {}),
    "thruster": (
        lambda: as_task(ROUND, thruster, (0.0, 4.0), omega0=(0.1, 0.2, 1.0), breaks=[2.0]),
        1e-6,
        {},
    ),
    "expensive": (
        lambda: as_task(
            [5.0, 5.0, 1.0],
            laboured,
            (0.0, 5.0),
            rotation0=(0.3, 0.0, 0.0),
            omega0=(0.0, 0.0, 10.0),
        ),
        1e-5,
        {"torque_cost": "2ms"},
    ),
}
FAST = ("slow top",)


@cache
def advised(name):
    make, error, options = SCENARIOS[name]
    return advise(make(), error=error, **options)


@pytest.mark.parametrize(
    "name",
    [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in SCENARIOS],
)
def test_the_recommendation_is_accurate_and_nearly_the_cheapest(name):
    make, error, _ = SCENARIOS[name]
    task, advice = make(), advised(name)
    assert advice.verified and advice.error <= error
    known = energy_truth(task) if advice.long else truth_of(task)
    if advice.method == "exact.free_body":
        motion = advice.integrate(t_eval=known.t).quaternion
        assert polhode.rotations.angle_between(motion, known.motion[:, :4]).max() < 1e-12
    else:
        runner = advice.best.entry.runner(task, known)
        assert runner.run(advice.best.point.setting, timed=False).error <= 3.0 * error
    rivals = [
        trial for trial in advice.trials if trial.knob and not is_closed_solution(trial, task)
    ]
    assert advice.seconds <= 1.5 * min(
        exhaustive(task, known, trial, error, 1.5 * advice.seconds) for trial in rivals
    )


def is_closed_solution(trial, task):
    """A step of EXACT is the closed solution where nothing acts: the same thing by another name."""
    return not task.torque.acts and math.inf in trial.entry.method.free_order


def energy_truth(task):
    from polhode.studies.compare.truth import constant_energy

    return constant_energy(task, 480)


def exhaustive(task, known, trial, error, enough):
    """The least cost of a candidate over all settings a few percent apart, up to one that is more
    than enough.  A torque evaluation costs what the advice measured for it: errors and counts do
    not depend on how busy the machine is."""
    runner = trial.entry.runner(task, known)
    cheapest, setting = math.inf, runner.first()
    while setting > 1e-12 * task.length:
        point = runner.run(setting, timed=False)
        cost = trial.each * point.evaluations
        if point.error <= error:
            cheapest = min(cheapest, cost)
        if cost > min(cheapest, enough):
            break
        setting = min(runner.snapped(setting / 1.08), setting * 0.999)
    return cheapest


def test_following_the_advice_gives_the_error_it_promises():
    advice = advised("slow top")
    run = advice.integrate()
    last = truth_of(SCENARIOS["slow top"][0]()).motion[-1]
    assert (
        run.success
        and polhode.rotations.angle_between(run.quaternion[-1], last[:4]) <= 1.02 * advice.error
    )
    assert run.steps == advice.steps
    assert advice.runner_up and advice.runner_up in advice.why and len(advice.why) < 350
    data = json.loads(json.dumps(advice.to_dict()))
    assert data["candidates"][0]["method"].partition("@")[0] == data["method"]
    assert data["pilot_torque_evaluations"] > 0


def test_a_free_body_is_told_its_closed_solution():
    advice = advised("free triaxial")
    problem = problems.get("krysl/free-body")
    exact = free_body(problem.body, problem.rotation0, problem.omega0, 100.0)
    assert (
        advice.method == "exact.free_body"
        and advice.step is None
        and advice.evaluations == advice.steps == 0
    )
    closed = advice.to_dict()["candidates"][0]
    assert closed["method"] == "exact.free_body" and closed["step"] is None and closed["steps"] == 0
    assert next(candidates_table(advice).columns[1].cells) == "–"
    assert np.allclose(
        advice.integrate(t_eval=[100.0]).quaternion[-1], exact.quaternion, atol=1e-12
    )


def test_an_expensive_torque_makes_evaluations_count():
    advice = advised("expensive")
    fewest = min(
        (trial for trial in advice.trials if trial.point), key=lambda trial: trial.point.evaluations
    )
    assert advice.evaluations <= 1.05 * fewest.point.evaluations
    assert (
        advice.seconds >= 2e-3 * advice.evaluations
        and "the number of evaluations decides" in advice.why
    )
    assert advice.evaluations == 1 + advice.steps * polhode.methods.get(advice.method).torques


def test_a_small_budget_means_a_shorter_pilot_and_a_run_to_check():
    """The error at the end is extrapolated from a part of the span, and then measured by halving
    the step."""
    make, error, _ = SCENARIOS["expensive"]
    task = make()
    advice = advise(task, error=error, budget=0.05, methods=["EXACT-RKN4"])
    assert advice.pilot_span[1] < task.t_span[1]
    runner = entries.find("EXACT-RKN4").runner(task, truth_of(task))
    assert runner.run(advice.step, timed=False).error <= 3.0 * error
    assert not advice.verified or advice.error <= 3.0 * error


def test_growth_is_read_off_the_pilot():
    t = np.linspace(0.0, 10.0, 25)[1:]
    assert growth(t, 1e-8 * t, 1000.0) == pytest.approx(100.0, rel=0.01)
    assert growth(t, 1e-8 * t**2, 100.0) == pytest.approx(100.0, rel=0.01)
    assert growth(t, 1e-12 * np.exp(0.8 * t), 20.0) == pytest.approx(math.exp(8.0), rel=0.01)


def test_demands_are_met():
    top = as_task("slow-top")
    for made, fits in (
        (
            {"symplectic": True, "one_torque": True},
            lambda f: f["symplectic"] and f["torques_per_step"] == 1,
        ),
        ({"symmetric": True, "explicit": True}, lambda f: f["symmetric"] and not f["implicit"]),
        ({"order": 8}, lambda f: f["order"] >= 8),
    ):
        chosen = candidates.shortlist(candidates.demands(**made), None, False, top)
        assert chosen and all(fits(entry.facts(top)) for entry in chosen)
    assert all(
        entry.facts(top)["symplectic"] is True
        for entry in candidates.shortlist([], None, True, top)
    )
    assert entries.select((*candidates.CANDIDATES, *candidates.LONG))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error": 1e-16}, "at least 1e-13"),
        ({"error": 2.0}, "below 1"),
        ({"torque_cost": "2 parsecs"}, "'parsecs' is not known"),
        ({"torque_cost": "2"}, "no unit"),
        ({"torque_cost": "fast"}, "a number and a unit"),
        (
            {"symplectic": True, "one_torque": True, "order": 4},
            "the last requirement removes the .* that were left",
        ),
        ({"order": 40}, "no method registered is of order 40 or more"),
        ({"order": 4, "methods": ["NMB", "LP2"]}, "no method of the methods given|of order 4"),
        ({"methods": ["NBM"]}, "did you mean 'NMB'"),
        ({"errors": 1e-3}, "did you mean 'error'"),
    ],
)
def test_what_is_impossible_is_said(options, message):
    with pytest.raises(InputError, match=message):
        advise("krysl/slow-top", **options)


def test_under_damping_nothing_is_symplectic():
    make, _, _ = SCENARIOS["damped"]
    with pytest.raises(InputError, match="no method is symplectic"):
        advise(make(), symplectic=True)


def test_durations():
    assert seconds("cost", "2ms") == 2e-3 and seconds("cost", "500us") == pytest.approx(5e-4)
    assert seconds("cost", " 1.5 s ") == 1.5 and seconds("cost", 3e-6) == 3e-6
    assert [duration_text(value) for value in (2.0, 3e-3, 4.56e-6, 7e-9)] == [
        "2 s",
        "3 ms",
        "4.56 µs",
        "7 ns",
    ]


def test_the_command():
    from typer.testing import CliRunner

    command = CliRunner()
    done = command.invoke(
        app,
        ["advise", "slow-top", "--error", "1e-3", "--methods", "EXACT,RK4-quaternion", "--json"],
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["method"] in ("EXACT", "RK4-quaternion")
    assert command.invoke(app, ["advise", "slow-top", "--torque-cost", "2"]).exit_code == 2
    assert command.invoke(app, ["advise", "nowhere.toml"]).exit_code == 2
