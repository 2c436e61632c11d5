"""Figures 6 and 7 of Buss 2001: how many steps a given accuracy takes."""

import numpy as np

from polhode import methods
from polhode.exact import free_body
from polhode.papers import Cell, Series, Table, item, judged
from polhode.papers._style import BLUE, GREEN, VERMILION, plain_ticks
import polhode.papers.buss2001.verdicts as verdicts
from polhode.papers.buss2001.tables import PROBLEM, angle_error, fig6_fig7_steps, printed
from polhode.papers.buss2001.step_counts import COLUMNS, heading
from polhode.problems import get

FIG6, FIG7 = COLUMNS[:3], COLUMNS[3:]


# --- cells ----------------------------------------------------------------------------------------


def cell_of(row):
    """A printed count beside ours; a failure matches a failure."""
    preserving = methods.get(row.method).restores_energy
    name = f"{row.algorithm}, {'with' if preserving else 'without'} EP"
    said, ours = (
        f"more than {row.limit}" if count is None else count for count in (row.printed, row.ours)
    )
    note = ""
    if row.printed is None and row.ours is not None:
        error = angle_error(row.method, row.T, row.limit)
        note = f"does succeed, with an error of {error:.2g} at {row.limit} steps; why it failed there is not known"
    elif row.ours != row.printed:
        note = f"{row.deviation:+.2%}"
    return Cell(name, heading(row.T, row.eps), said, ours, row.printed == row.ours, note)


def mean_rate():
    """Mean angular velocity of the exact motion, degrees per second."""
    problem = get(PROBLEM)
    omega = free_body(
        problem.body, problem.rotation0, problem.omega0, np.linspace(0.0, 40.0, 20001)
    ).omega
    return float(np.degrees(np.linalg.norm(omega, axis=1).mean()))


def theta_claim(rows):
    """The mean rotations printed beside the counts: the whole rotation over N - 1, it seems."""
    said = {
        (cell["method"], cell["T"], cell["eps"]): cell["theta"]
        for cell in printed()["steps"]
        if "theta" in cell
    }
    rate = mean_rate()
    wrong, count = [], 0
    for row in rows:
        theta = said.get((row.method, row.T, row.eps))
        if theta is not None:
            count += 1
            ours = rate * row.T / (row.printed - 1)
            if abs(ours - theta) > 0.0051 + 0.01 * theta:
                wrong.append(
                    f"{row.method} at {heading(row.T, row.eps)}: {theta:g} printed, {ours:.2f} found"
                )
    return judged(
        "The mean rotation θ per step is as printed beside each N",
        not wrong,
        "; ".join(
            [
                f"{count - len(wrong)} of {count} agree with the whole rotation over N − 1, to 1 %",
                *wrong,
            ]
        ),
    )


def result(rows, claims):
    """The table of some cells."""
    cells = [cell_of(row) for row in rows]
    counted = [row for row in rows if row.printed is not None]
    same = sum(row.ours == row.printed for row in counted)
    failed = [row for row in rows if row.printed is None]
    largest = max((abs(row.deviation) for row in counted), default=0.0)
    lost = sum(row.ours is None for row in failed)
    notes = [
        f"{same} of {len(counted)} counts are the same, the others within {largest:.2%}; {lost} of {len(failed)} failures "
        "are failures here.",
        "N is 1 + the largest number of steps whose error is ε or more.",
    ]
    if any(row.T == 40.0 for row in rows):
        notes += [
            "If the paper's reference at T = 40 is off by a turn of 3.8e-8 rad, its four counts for ε = 1e-6 there are "
            "explained to the step."
        ]
    names = list(dict.fromkeys(row.method for row in rows))
    series = [
        Series(
            heading(*column),
            [names.index(row.method) for row in rows if (row.T, row.eps) == column],
            [row.ours or float("nan") for row in rows if (row.T, row.eps) == column],
        )
        for column in dict.fromkeys((row.T, row.eps) for row in rows)
    ]
    return Table(
        cells=cells,
        claims=claims,
        notes=notes,
        series=series,
        draw=lambda figure: draw(figure, rows, names),
        size=(7.2, 1.3 + 0.36 * len(names)),
    )


def draw(figure, rows, names):
    """Ours filled, the printed ones as outlines around them; a triangle where a method fails, a
    line where we disagree on that.

    Each column has a line of its own within the row of a method, so that no marker hides another.
    """
    axes = figure.add_subplot()
    columns = list(dict.fromkeys((row.T, row.eps) for row in rows))
    for k, (column, colour) in enumerate(zip(columns, (BLUE, VERMILION, GREEN), strict=False)):
        for row in (row for row in rows if (row.T, row.eps) == column):
            y = names.index(row.method) + 0.3 * (k - 0.5 * (len(columns) - 1))
            ours, said = row.ours or row.limit, row.printed or row.limit
            axes.plot(ours, y, "o" if row.ours else ">", color=colour, ms=3.5)
            axes.plot(said, y, "o" if row.printed else ">", mfc="none", mec=colour, ms=7.0, mew=0.8)
            if (row.ours is None) != (row.printed is None):
                axes.plot([ours, said], [y, y], color=colour, lw=0.8)
        axes.plot([], [], "o", color=colour, ms=4.5, label=heading(*column))
    axes.plot([], [], "o", mfc="none", mec="#777777", ms=7.0, mew=0.8, label="printed")
    axes.plot([], [], ">", mfc="none", mec="#777777", label="more than this")
    axes.grid(visible=False, axis="y")
    for y in range(1, len(names)):
        axes.axhline(y - 0.5, color="#dddddd", lw=0.5, zorder=0)
    axes.set_ylim(-0.5, len(names) - 0.5)
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xlabel="steps needed")
    axes.legend(
        loc="lower center",
        bbox_to_anchor=(0.4, 1.0),
        ncols=5,
        columnspacing=1.0,
        handletextpad=0.2,
        fontsize=8,
    )


# --- figure 6 -------------------------------------------------------------------------------------


@item("buss-2001", "fig6", title="Steps for a given accuracy", kind="table", seconds=90)
def fig6(work):
    """Every cell, or the first column."""
    names = list(
        dict.fromkeys(cell["method"] for cell in printed()["steps"] if cell["figure"] == 6)
    )
    columns = FIG6[:1] if work.quick else FIG6
    rows = [
        row
        for name in work.each(names)
        for row in fig6_fig7_steps([name], columns=columns, figures=(6,))
    ]
    claims = [theta_claim(rows), *verdicts.groups(columns), *verdicts.preservation(columns)]
    if not work.quick:
        claims += verdicts.orders() + verdicts.axes()
    return result(rows, claims)


# --- figure 7 -------------------------------------------------------------------------------------


@item("buss-2001", "fig7", title="Steps for high accuracy", kind="table", seconds=110)
def fig7(work):
    """Every cell, or those of the first column that are quickly found."""
    names = list(
        dict.fromkeys(cell["method"] for cell in printed()["steps"] if cell["figure"] == 7)
    )
    if work.quick:
        names = ["taylor3+ep", "taylor4", "taylor4+ep", "MR4-231", "MR4-231+ep"]
    columns = FIG7[:1] if work.quick else FIG7
    rows = [
        row
        for name in work.each(names)
        for row in fig6_fig7_steps([name], columns=columns, figures=(7,))
    ]
    return result(
        rows,
        [
            theta_claim(rows),
            *verdicts.high_accuracy((*FIG6[:1], *columns) if work.quick else COLUMNS),
            *([] if work.quick else verdicts.long_runs()),
        ],
    )
