"""Figure 3: global errors of Lie-Newmark and Lie-Verlet at T = 5."""

from functools import cache

import numpy as np

from polhode import exact, problems
from polhode.errors import IntegrationError
from polhode.papers import Figure, Series, item, judged
from polhode.papers._convergence import (
    errors,
    exact_motion,
    halvings,
    run,
    slope,
    slope_cell,
    two_panels,
)
from polhode.papers._style import look
from polhode.papers.bou_rabee2009.drift import PAPER, PROBLEM

T = 5.0
KINDS = ("configuration", "angular velocity")
UNSAID = "The text does not give the step sizes: halvings of 0.5.  Configuration errors are dist(Q, Q*) of eq. (6)."


@cache
def global_errors(method, h):
    """dist(Q, Q*) and |W - W*| at T = 5."""
    try:
        end = run(PROBLEM, method, h, T, "end")
    except IntegrationError:
        return np.nan, np.nan
    return np.sqrt(2.0) * errors(PROBLEM, method, h, T)[0], float(
        np.linalg.norm(end.omega[-1] - exact_motion(PROBLEM, T)[2])
    )


def time_precision(work, methods):
    """(steps, errors of both kinds for each method)."""
    steps = np.array(halvings(0.5, 10))
    return steps, {
        m: np.array([global_errors(m, float(h)) for h in steps]).T for m in work.each(methods)
    }


def diagram(steps, found):
    """Curves, slopes and the drawing of figures 3 and 5."""
    curves = {
        kind: [
            Series(
                f"{m}, {kind}",
                steps,
                found[m][k],
                look=look(m, label=f"{m} {slope(steps, found[m][k]):.2f}"),
            )
            for m in found
        ]
        for k, kind in enumerate(KINDS)
    }
    cells = [
        slope_cell(m, kind, steps, found[m][k], 2) for m in found for k, kind in enumerate(KINDS)
    ]

    def draw(figure):
        two_panels(
            figure.subplots(1, 2),
            *curves.values(),
            labels=("dist(Q, Q exact)", "|W − W exact|"),
            titles=("(a) configuration", "(b) body angular velocity"),
            xlabel="time step h",
        )
        figure.suptitle("Global error at T = 5", x=0.012, ha="left")

    return [c for lines in curves.values() for c in lines], cells, draw


def second_order(cells, sentence):
    """All fitted slopes are two."""
    return judged(
        sentence,
        all(cell.match for cell in cells),
        "fitted slopes: "
        + ", ".join(f"{c.row} {c.ours:.3f} ({c.column.split(', ')[1]})" for c in cells),
    )


@item(
    PAPER,
    "fig3",
    title="Stress test: global error of Lie-Newmark and Lie-Verlet",
    kind="figure",
    seconds=4,
)
def fig3(work):
    """Errors of configuration and angular velocity at T = 5."""
    steps, found = time_precision(work, ("NMB-cay", "VLV"))
    curves, cells, draw = diagram(steps, found)
    claims = [
        second_order(
            cells,
            "The slope of the two lines is O(h²): both integrators are second-order accurate.",
        ),
        _growth(),
    ]
    return Figure(claims, draw, (UNSAID,), curves, (8.2, 4.2), cells=cells)


def _growth(h=0.0125):
    """How the attitude error of Lie-Verlet grows with time."""
    problem = problems.get(PROBLEM)
    times = np.array([0.0, 25.0, 50.0, 100.0, 200.0, 400.0])
    reference = exact.reference(problem, times)
    found = run(PROBLEM, "VLV", h, times[-1], round(25.0 / h)).matrix[[1, 2, 4, 8, 16]]
    off = np.linalg.norm(found - reference.matrix[1:], axis=(1, 2))
    power = np.polyfit(np.log(times[1:]), np.log(off), 1)[0]
    return judged(
        "Variational integrators exhibit linear growth in global error.",
        abs(power - 1) < 0.2,
        f"the attitude error of VLV at h = {h:g} grows from {off[0]:.1e} at t = 25 to {off[-1]:.1e} at t = 400, as "
        f"time to the power {power:.2f}",
    )
