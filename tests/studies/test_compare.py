"""Work against precision: the curves are right, the answers are minimal, and every form of the
result holds the same numbers."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import polhode
from polhode import compare, problems, torques
from polhode.cli import app
from polhode.studies.compare import entries
from polhode.studies.compare.as_task import as_task
from polhode.studies.compare.truth import truth
from polhode.show.view._comparison import format_cell
from polhode.studies.compare.runner import Point, StepRunner
from polhode.studies.compare.search import Curve
from polhode.errors import InputError
from polhode.methods import get

METHODS = ["NMB", "RK4-quaternion", "DP5@rtol"]


@pytest.fixture(scope="module")
def slow_top():
    return compare("krysl/slow-top", methods=METHODS, errors=[1e-6, 1e-3])


def test_errors_are_reached_and_no_longer_step_would_do(slow_top):
    task = as_task("krysl/slow-top")
    known = truth(task)
    for curve in slow_top.curves:
        for error, point in curve.answers.items():
            assert 0.3 * error < point.error <= error
        if curve.knob == "step":
            runner = StepRunner(task, known, get(curve.name))
            assert (
                runner.run(runner.snapped(1.4 * curve.answers[1e-6].setting), timed=False).error
                > 1e-6
            )


def test_the_measured_order_is_the_declared_one(slow_top):
    newmark, runge_kutta, by_tolerance = slow_top.curves
    assert newmark.slope == pytest.approx(2.0, abs=0.05)
    assert 3.8 < runge_kutta.slope < 5.2  # superconvergent on this top until the steps are short
    assert by_tolerance.slope == pytest.approx(1.0, abs=0.25)  # the error goes with the tolerance


@dataclass
class Known:
    """A runner whose errors are known."""

    error: Callable

    def run(self, setting, timed=True):
        """A point without a run."""
        return Point(setting, round(1.0 / setting), 0, 1.0, self.error(setting))


def slope(error, *settings):
    """The order that is measured of a known law of errors."""
    curve = Curve(Known(error))
    for setting in settings:
        curve.at(setting)
    return curve.slope


def test_an_order_is_told_where_two_halvings_agree():
    halves = [2.0**-k for k in range(12)]
    assert slope(lambda h: 0.01 * h**3, *halves) == pytest.approx(3.0)
    assert slope(lambda h: 0.01 * h**3, 1.0, 0.5) is None
    # many points, one halving
    assert slope(lambda h: 0.01 * h**3, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5) is None
    assert slope(lambda h: 0.05 * h**4 + 0.05 * h**16, 1.0, 0.75, 0.5) is None  # not there yet,
    # and there
    assert slope(lambda h: 0.05 * h**4 + 0.05 * h**16, *halves) == pytest.approx(4.0, abs=1e-6)
    rough = slope(lambda h: max(1e-3 * h**5, 6e-11), *halves)  # the last halving meets round-off
    assert rough == pytest.approx(5.0)


def test_a_splitting_far_from_its_order_is_told_none(slow_top):
    """Between the long steps that do on this top the error of EXACT-RKN6 falls as fast as that of
    order 15."""
    found = compare("krysl/slow-top", methods=["EXACT-RKN6"], errors=[1e-3, 1e-6])
    first, *_, last = [point for point in found.curves[0].points if point.error < 1e-2]
    assert math.log(first.error / last.error) / math.log(first.setting / last.setting) > 10.0
    assert found.curves[0].slope is None and found.to_dict()["table"][0]["slope"] is None
    assert format_cell(found.table[0], "slope") == "–"


def test_a_tolerance_says_that_it_is_one(slow_top):
    cells = {row["method"]: format_cell(row, "setting") for row in slow_top.table}
    assert cells["DP5@rtol"].startswith("rtol ") and float(cells["NMB"]) > 0.0
    assert {row["method"]: row["knob"] for row in slow_top.to_dict()["table"]} == {
        "NMB": "step",
        "RK4-quaternion": "step",
        "DP5@rtol": "rtol",
    }


def test_the_error_is_that_of_the_trajectory(slow_top):
    """Measured again through `integrate` and the closed solution."""
    from polhode.exact import lagrange_top

    problem, point = problems.get("krysl/slow-top"), slow_top.curves[0].answers[1e-3]
    run = problem.integrate("NMB", step=point.setting)
    t = np.linspace(0.0, 10.0, math.gcd(point.steps, 120) + 1)[1:]
    at = np.searchsorted(run.t, t - 1e-9)
    top = lagrange_top(problem.body, 20.0, problem.rotation0, problem.omega0, t)
    angle = polhode.rotations.angle_between(run.quaternion[at], top.quaternion)
    velocity = (
        np.linalg.norm(run.omega[at] - top.omega, axis=1) / np.linalg.norm(top.omega, axis=1).max()
    )
    assert run.steps == point.steps and run.nfev == point.evaluations
    assert max(angle.max(), velocity.max()) == pytest.approx(point.error, rel=0.02)
    energy = np.abs(run.total_energy[at] - run.total_energy[0]).max() / run.kinetic_energy.max()
    assert energy == pytest.approx(point.energy, rel=0.35)  # another scale


def test_closed_solution_and_reference_agree():
    top = as_task("krysl/fast-top")
    hidden = as_task(
        top.body,
        torques.heavy_top(20.0) + torques.constant((0.0, 0.0, 0.0)),
        top.t_span,
        rotation0=top.motion[:4],
        omega0=top.motion[4:],
    )
    closed, reference = truth(top), truth(hidden)
    assert closed.origin != reference.origin
    assert (
        polhode.rotations.angle_between(closed.motion[:, :4], reference.motion[:, :4]).max() < 1e-11
    )


def test_every_form_holds_the_same_numbers(slow_top, tmp_path):
    data = json.loads(json.dumps(slow_top.to_dict()))
    assert [curve["method"] for curve in data["curves"]] == METHODS
    assert data["errors"] == [1e-3, 1e-6]
    rows = [row for row in slow_top.table if row["asked"] == 1e-3]
    assert [row["seconds"] for row in rows] == sorted(row["seconds"] for row in rows)
    grid = slow_top.to_xarray()
    for curve in slow_top.curves:
        assert (
            float(grid.reached_steps.sel(name=curve.name, asked=1e-6)) == curve.answers[1e-6].steps
        )
        assert int(np.isfinite(grid.setting.sel(name=curve.name)).sum()) == len(curve.points)
    page = slow_top.html(tmp_path / "page.html").read_text("utf-8")
    assert page.count("<tr>") == 1 + len(slow_top.table) and "prefers-color-scheme: dark" in page
    assert "<link" not in page and "src=" not in page  # nothing is fetched
    assert len(slow_top.figure(tmp_path / "three.png").axes) == 4
    assert len(polhode.plots.work_precision(slow_top, currency="seconds").axes) == 2
    with pytest.raises(InputError, match="did you mean 'seconds'"):
        slow_top.figure(currency="second")


@pytest.mark.slow
def test_jumps_do_not_cost_the_order():
    """A torque that stops, with the time of the jump named; and the book toss, whose jumps are
    known."""

    @polhode.torque(params={"size": 3.0})
    def push(t, R, p):
        return p.size * np.array([1.0 if t < 2.0 else 0.0, 0.2, 0.0])

    found = compare(
        [2.0, 3.0, 4.5],
        push,
        (0.0, 4.0),
        omega0=(0.1, 0.2, 1.0),
        breaks=[2.0],
        methods=["DP5"],
        errors=[1e-9],
    )
    assert 4.5 < found.curves[0].slope < 6.0
    toss = compare("krysl/book-toss", methods=["NMB"], errors=[1e-5])
    assert toss.curves[0].slope == pytest.approx(2.0, abs=0.15)
    assert math.isclose(
        0.05 / toss.curves[0].answers[1e-5].setting,
        round(0.05 / toss.curves[0].answers[1e-5].setting),
    )


def test_an_interruption_keeps_what_is_finished():
    def impatient(done, total, name):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as told:
        compare(
            "krysl/slow-top", methods=["NMB", "RK4-quaternion"], errors=[1e-2], progress=impatient
        )
    found = told.value.comparison
    assert found.interrupted and [curve.name for curve in found.curves] == ["NMB"]


def test_what_cannot_be_compared_is_told_and_the_rest_goes_on():
    found = compare("krysl/slow-top", methods=["NMB"], errors=[1e-9], until=2.0)
    assert found.t_span == (0.0, 2.0)
    row = found.table[0]
    assert row["seconds"] is not None or row["best_error"] < 1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["NBM"]}, "did you mean 'NMB'"),
        ({"methods": ["NMB@rtol"]}, "takes fixed steps"),
        ({"family": "newmarck"}, "did you mean 'newmark'"),
        ({"methods": ["NMB"], "family": "newmark"}, "not both"),
        ({"errors": [1e-16]}, "at least 1e-13"),
        ({"errors": []}, "list of numbers"),
        ({"methods": ["NMB"], "until": 20.0}, "between 0.0 and 10.0"),
        ({"method": ["NMB"]}, "did you mean 'methods'"),
        ({"torque": "heavy_top"}, "belongs to the problem"),
    ],
)
def test_bad_input_is_refused_before_any_work(options, message):
    with pytest.raises(InputError, match=message):
        compare("krysl/slow-top", **options)


def test_everything_registered_can_be_asked_for():
    everything = [entry.name for entry in entries.select("all")]
    by_tolerance = [entry.name for entry in entries.tolerance_entries()]
    assert everything == [*polhode.methods.names(), *by_tolerance]
    assert set(entries.DEFAULT) <= set(everything)
    assert len(entries.DEFAULT) <= 16


def test_the_command(tmp_path):
    from typer.testing import CliRunner

    command = CliRunner()
    done = command.invoke(
        app,
        [
            "compare",
            "slow-top",
            "--methods",
            "NMB,RK4-quaternion",
            "--errors",
            "1e-3",
            "--json",
            "-o",
            str(tmp_path / "f.svg"),
            "--html",
            str(tmp_path / "p.html"),
        ],
    )
    assert done.exit_code == 0, done.output
    assert {row["method"] for row in json.loads(done.stdout)["table"]} == {"NMB", "RK4-quaternion"}
    assert (tmp_path / "f.svg").exists() and (tmp_path / "p.html").exists()
    again = command.invoke(app, ["compare", "slow-top", "--html", str(tmp_path / "p.html")])
    assert again.exit_code == 2 and "exists" in again.output
    assert command.invoke(app, ["compare", "slow-top", "--errors", "1e-3;2"]).exit_code == 2


def test_several_processes_find_the_same():
    """Costs in seconds aside."""
    options = {"methods": ["NMB", "LP2"], "errors": [1e-3], "until": 0.2}
    calls = []
    alone = polhode.compare("krysl/slow-top", **options)
    together = polhode.compare(
        "krysl/slow-top", processes=2, progress=lambda *call: calls.append(call), **options
    )
    assert [curve.name for curve in together.curves] == ["NMB", "LP2"]
    assert sorted(calls)[-1][:2] == (2, 2)
    for one, other in zip(alone.curves, together.curves, strict=True):
        assert one.points[0].error == other.points[0].error
        assert one.points[0].steps == other.points[0].steps
