"""Buss 2001: the cells that agree, those that do not and why, and what the verdicts rest on."""

import pytest

from polhode.papers import FAILS, HOLDS, OTHER_REASON, Work, items
from polhode.papers._style import painted
from polhode.papers.buss2001 import steps, steps_needed
from polhode.papers.buss2001.costs import costs, multiplies
from polhode.papers.buss2001.energies import quaternion_average
from polhode.papers.buss2001.pictures import height
from polhode.papers.buss2001.simo_wong import SW_AS_PRINTED
from polhode.papers.buss2001.tables import LIMIT, Steps, angle_error, printed, reference_offset
from polhode.papers.buss2001.verdicts import COLUMNS, N


def run(name, quick=False):
    return items(f"buss-2001/{name}")[0].run(quick)


def verdict(result, words):
    """The verdict on the one claim with these words."""
    found = [claim for claim in result.claims if words in claim.claim]
    assert len(found) == 1, (words, [claim.claim for claim in result.claims])
    return found[0].verdict


def test_set_up_and_construction():
    result = run("fig1")
    assert verdict(result, "82.1053") == HOLDS
    assert verdict(result, "1 : 4 : 18") == FAILS
    assert verdict(result, "least moment") == FAILS
    assert verdict(result, "rolls without slipping") == HOLDS


def test_the_rolling_disk():
    assert height(1e-2) == pytest.approx(1e-4 / 12.0, rel=1e-4)
    result = run("fig2")
    assert verdict(result, "better than") == HOLDS
    assert verdict(result, "12 − φ²") == FAILS


def test_costs_follow_from_the_counts():
    rows = printed()["costs"]
    # 61 is printed for the third order
    assert [multiplies(row["method"]) for row in rows] == [15, 27, 36, 63, 99, 85, 221]
    agree = {
        spared: sum(
            f"{cost:.2f}" == row[key]
            for row in rows
            for cost, key in zip(costs(row, spared), ("plain", "preserving"), strict=True)
        )
        for spared in (0, 5)
    }
    assert agree == {0: 5, 5: 12}
    symplectic = next(row for row in rows if row["method"] == "MR2-231")
    assert f"{costs(symplectic, 5)[1]:.2f}" == "1.30" and symplectic["preserving"] == "1.20"


def test_figure_5():
    result = run("fig5")
    assert (result.matched, result.total) == (28, 28)
    assert verdict(result, "averaged as quaternions") == FAILS
    assert f"{quaternion_average(0.004, 999):.4f}" != "83.4575"


@pytest.mark.slow  # tests/methods/test_buss_methods.py counts some of these steps in the default run
def test_first_column_of_figure_6():
    result = run("fig6", quick=True)
    assert (result.matched, result.total) == (24, 24)
    assert verdict(result, "most efficient of the second-order") == FAILS
    assert verdict(result, "about six times") == HOLDS
    assert verdict(result, "never seen to have no solution") == HOLDS


@pytest.mark.parametrize(
    ("method", "counts"), [("RKMK4", (50, 272, 1149, 5000)), ("CF4", (58, 294, 1286, 5752))]
)
def test_step_counts_of_lie_group_methods(method, counts):
    assert tuple(N(method, column) for column in COLUMNS[:4]) == counts


def test_exact_takes_one_step():
    assert [N("EXACT", column) for column in COLUMNS] == [1] * 6


def test_simo_wong_as_printed():
    """1087 steps with the paper's first-order first step, 778 when the method starts from the
    equation of motion."""
    assert [steps_needed(method, 0.4, 1e-3, 20480) for method in (SW_AS_PRINTED, "SW1")] == [
        1087,
        778,
    ]
    assert steps_needed("SW-buss", 0.4, 1e-3, 20480) is None


def test_the_slides():
    result = run("slides", quick=True)
    assert result.matched == result.total == 7
    assert verdict(result, "accuracy of ε = 10⁻⁶") == FAILS
    assert verdict(result, "sixth-order accuracy") == HOLDS
    assert verdict(result, "−h⁵/1440") == FAILS


def test_long_runs_in_small():
    result = run("long-runs", quick=True)
    assert verdict(result, "modest drift") == OTHER_REASON
    for cell, (low, high) in zip(
        result.cells, ((75.12384, 82.10526), (82.10526, 82.12814)), strict=True
    ):
        assert low - 1e-4 < float(cell.ours) < high + 1e-4
        assert low - 1e-4 < float(cell.printed) < high + 1e-4


# --- in full --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_figures_4_and_5_in_full():
    fourth, fifth = run("fig4"), run("fig5")
    assert (fourth.matched + fifth.matched, fourth.total + fifth.total) == (81, 83)
    wrong = [(cell.row, cell.printed, cell.ours) for cell in fourth.cells if not cell.match]
    assert wrong == [("4th order", "82.1177", "82.1175"), ("AB-AM", "149.999", "149.998")]
    assert verdict(fourth, "by far the best") == FAILS
    assert verdict(fourth, "consistently better") == HOLDS
    assert verdict(fourth, "sole exception") == HOLDS


@pytest.mark.slow
def test_figures_6_and_7_in_full():
    sixth, seventh = run("fig6"), run("fig7")
    cells = [*sixth.cells, *seventh.cells]
    counted = [cell for cell in cells if isinstance(cell.printed, int)]
    failed = [cell for cell in cells if not isinstance(cell.printed, int)]
    assert (len(counted), len(failed)) == (81, 15)
    assert sum(cell.match for cell in counted) == 62
    assert all(abs(cell.ours / cell.printed - 1.0) < 0.01 for cell in counted)
    assert sum(cell.match for cell in failed) == 12
    assert verdict(seventh, "by round-off") == FAILS
    assert verdict(seventh, "two thirds of the steps") == HOLDS
    assert verdict(seventh, "better than fourth-order") == FAILS
    assert verdict(sixth, "third-order algorithm") == FAILS


@pytest.mark.slow
def test_simo_wong_as_printed_in_all_columns():
    assert [
        N(SW_AS_PRINTED, COLUMNS[0]),
        steps_needed(SW_AS_PRINTED, 0.4, 1e-6, 40960),
        N(SW_AS_PRINTED, COLUMNS[2]),
    ] == [1087, 32734, 37511]


@pytest.mark.slow
def test_two_hundred_million_steps():
    told = []
    result = items("buss-2001/long-runs")[0].function(Work(progress=told.append))
    assert (result.matched, result.total) == (2, 2)
    assert verdict(result, "bounded region") == HOLDS
    assert told == sorted(told) and told[-1] == pytest.approx(1.0)


def test_one_turn_of_the_reference_explains_the_last_column_but_not_the_failures():
    """Four counts, two numbers that they determine: less is left over than a step changes.  It is
    too little to fail by."""
    offset, left = reference_offset(40.0, 1e-6)
    assert offset == pytest.approx(3.8e-8, rel=0.02) and left < 1e-10
    for method, error in {"MR2-231": 8.4e-7, "MR2-231+ep": 5.3e-7}.items():
        assert angle_error(method, 4.0, LIMIT[4.0]) == pytest.approx(error, rel=0.02)
    # mostly round-off, 1e-9 or so
    assert angle_error("MR4-231+ep", 40.0, LIMIT[40.0]) + offset < 1e-7


def test_no_marker_hides_another_in_the_picture_of_the_counts():
    """Cells of one method and different columns with the same count, and cells on which we and the
    paper disagree."""
    rows = [
        Steps(7, "a", "MR2-231", T, eps, said, ours, 40960)
        for T, eps, said, ours in (
            (4.0, 1e-6, None, 37527),
            (40.0, 1e-3, 37533, 37533),
            (40.0, 1e-6, None, None),
        )
    ]
    axes = painted(steps.result(rows, [])).axes[0]
    dots = [
        (line.get_xdata()[0], line.get_ydata()[0], line.get_markerfacecolor())
        for line in axes.lines
        if line.get_marker() in "o>"
        and len(line.get_xdata()) == 1
        and line.get_markerfacecolor() != "none"
    ]
    assert (
        len(dots) == 3
        and len({y for _, y, _ in dots}) == 3
        and len({colour for *_, colour in dots}) == 3
    )
    joined = [
        line.get_xdata()
        for line in axes.lines
        if len(line.get_xdata()) == 2 and line.get_color() not in ("#dddddd",)
    ]
    assert [list(x) for x in joined] == [[37527, 40960]]
