"""The result tables of Buss's slides, their caption, and the series printed there."""

import numpy as np

from polhode import lie
from polhode.papers import FAILS, Cell, Claim, Series, Table, item, judged
from polhode.papers._style import BLUE, VERMILION, plain_ticks
from polhode.papers.buss2001.tables import printed, steps_needed
from polhode.papers.buss2001.step_counts import FOURTH, THIRD, N
from polhode.problems import get

TITLES = {1: "Results", 2: "Symplectic"}


@item(
    "buss-2001",
    "slides",
    title="The slides: two tables of steps, and their caption",
    kind="table",
    seconds=40,
)
def slides(work):
    """The tables are captioned ε = 1e-6; the numbers are those of T = 4, ε = 0.001."""
    rows = printed()["slides"]
    if work.quick:
        rows = [row for row in rows if row["printed"] and row["printed"] < 1500]
    cells = []
    for row in work.each(rows):
        ours = (
            N(row["method"], THIRD)
            if row["printed"]
            else steps_needed(row["method"], *THIRD, row["more_than"])
        )
        said, found = (
            count or f"more than {row.get('more_than')}" for count in (row["printed"], ours)
        )
        cells.append(
            Cell(
                row["algorithm"],
                f"{TITLES[row['table']]}: N",
                said,
                found,
                said == found,
                "" if said == found or ours is None else f"{ours / row['printed'] - 1.0:+.2%}",
            )
        )
    fast = [
        row
        for row in rows
        if row["method"] in ("taylor3+ep", "taylor4+ep", "taylor4", "MR4-231", "MR4-231+ep")
    ]
    series = [
        Series(
            f"ε = {column[1]:g}", list(range(len(fast))), [N(row["method"], column) for row in fast]
        )
        for column in (THIRD, FOURTH)
    ]
    claims = [
        _caption(rows, cells, fast),
        *_claims_of_comparison(work.quick),
        _torque(),
        *_series_claims(),
    ]
    return Table(
        cells=cells,
        claims=claims,
        series=series,
        size=(6.6, 3.2),
        draw=lambda figure: _draw(figure, fast, series),
        notes=[
            "The first table is on the slide of results, the second on the one of symplectic algorithms; the "
            "relative "
            "costs of a third are those of figure 3, its 1.20 for 1.30 included."
        ],
    )


def _caption(rows, cells, fast):
    counts = [(row, N(row["method"], FOURTH)) for row in fast]
    return Claim(
        "The tables give the steps for an accuracy of ε = 10⁻⁶",
        FAILS,
        f"{sum(cell.match for cell in cells)} of {len(cells)} are the counts for T = 4 and ε = 0.001 to the last "
        "digit; for "
        f"10⁻⁶ "
        + ", ".join(
            f"{row['algorithm']} needs {count}, not {row['printed']}" for row, count in counts
        ),
    )


def _claims_of_comparison(quick):
    if quick:
        return []
    rk, second = (N(name, THIRD) for name in ("RK-buss", "taylor2"))
    rk_ep, second_ep = (N(name, THIRD) for name in ("RK-buss+ep", "taylor2+ep"))
    false = N("taylor3-false", THIRD)
    best = [
        row["method"]
        for row in printed()["slides"]
        if row["printed"] and N(row["method"], THIRD) < N("taylor3+ep", THIRD)
    ]
    return [
        judged(
            "Runge-Kutta is like the second-order update, slightly better",
            0.8 * second < rk < second and rk_ep < second_ep,
            f"{rk} against {second} steps; with energy preservation it is the other way round, {rk_ep} against {second_ep}",
        ),
        judged(
            "The false third-order method turns out slightly worse than the second-order one",
            second < false < 1.2 * second,
            f"{false} against {second} steps",
        ),
        Claim(
            "Adams-Bashforth-Moulton is similar to the first-order update",
            FAILS,
            f"both fail here without energy preservation, with it they need {N('ABAM-buss+ep', THIRD)} and "
            f"{N('taylor1+ep', THIRD)} "
            f"steps; but at T = 0.4 AB-AM as run needs {steps_needed('ABAM-buss', 0.4, 1e-3, 20480)} and the first-order "
            "method more "
            f"than 20480, and AB-AM without the slip {N('ABAM', THIRD)} at T = 4",
        ),
        judged(
            "One symplectic algorithm, the fourth-order 2-3-1 with energy preservation, performs better than the third-order "
            "method with energy preservation",
            "MR4-231+ep" in best,
            f"fewer steps: {', '.join(best)}",
        ),
    ]


def _torque():
    """Order of an axis splitting with a torque."""
    top = get("krysl/slow-top")
    best = top.integrate("taylor6", 0.002, (0.0, 2.0)).matrix[-1]
    errors = [
        np.abs(top.integrate("MR2-231", h, (0.0, 2.0)).matrix[-1] - best).max()
        for h in (0.01, 0.005)
    ]
    order = float(np.log2(errors[0] / errors[1]))
    return judged(
        "Symplectic algorithms do not allow external torques",
        not abs(order - 2.0) < 0.2,
        f"with half a kick by the torque before and after each step MR2-231 is of order {order:.2f} on the slow top, "
        "and "
        "symplectic",
    )


def _series_claims():
    """The series for Z up to h⁵, with and without the term that only the slides have."""
    a, b, c = np.array([0.9, -0.4, 0.3]), np.array([-0.2, 0.8, 0.5]), np.array([0.4, 0.3, -0.7])
    steps = np.array([0.4, 0.2])

    def derivative(k, t=0.0):
        return a * np.cos(t + k * np.pi / 2) + b * np.sin(t + k * np.pi / 2) + c * np.exp(t)

    def error(h, spurious):
        W = [derivative(k) for k in range(6)]
        Y = lie.series(W, h, np.cross)
        if spurious:
            Y = Y - h**6 / 1440 * np.cross(W[0], np.cross(W[0], np.cross(W[1], W[0])))
        best = lie.solve(
            lie.so3, lambda t: derivative(0, t), np.eye(3), (0.0, h), 24, "taylor(8)"
        ).y[-1]
        return np.abs(lie.so3.exp(Y) - best).max()

    order = {
        spurious: float(np.log2(error(steps[0], spurious) / error(steps[1], spurious))) - 1.0
        for spurious in (False, True)
    }
    return [
        judged(
            "The series of the paper is for sixth-order accuracy",
            abs(order[False] - 6.0) < 0.3,
            f"its local errors show order {order[False]:.2f}",
        ),
        judged(
            "The series of the slides, with −h⁵/1440 [W₀,W₀,Ẇ₀,W₀], has an error of O(h⁶)",
            abs(order[True] - 6.0) < 0.3,
            f"this term is spurious and costs an order: local errors show order {order[True]:.2f}",
        ),
    ]


def _draw(figure, rows, series):
    axes = figure.add_subplot()
    y = np.arange(len(rows))
    for curve, offset, colour in zip(series, (-0.2, 0.2), (BLUE, VERMILION), strict=True):
        axes.barh(
            y + offset,
            curve.y,
            0.36,
            color=colour,
            alpha=0.8,
            label=f"found for T = 4, {curve.name}",
        )
    axes.plot(
        [row["printed"] for row in rows],
        y,
        "D",
        color="black",
        mfc="white",
        ms=5,
        label="printed, captioned ε = 1e-06",
    )
    axes.set_yticks(y, [row["algorithm"] for row in rows])
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set(xlabel="steps")
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
