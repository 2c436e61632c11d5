"""Figure 13: attraction with a soft wall, section 3.6, and what introduction and conclusions say of
NMB's rank."""

import numpy as np

from polhode import problems
from polhode.papers import Figure, item, judged, near
from polhode.papers._convergence import (
    INDEPENDENT,
    errors,
    exact_motion,
    halvings,
    ladder,
    run,
    two_panels,
)
from polhode.papers.krysl_endres2004.free_body import PAPER
from polhode.papers.krysl_endres2004.tops import LEGEND, UNSAID

DESCRIBED, PRINTED = "krysl/coulomb-wall", "krysl/coulomb-wall-printed"
# NMB at 0.003125: attitude, momentum
VALUES = {DESCRIBED: (2.18e-4, 1.05e-4), PRINTED: (2.05e-6, 5.52e-6)}
FINE = 0.003125
EXPLICIT = ("NMB", "SW", "HSTAGM", "LP2")  # explicit methods known in 2004
RACES = {
    "krysl/free-body": 1 / 64,
    "krysl/fast-top": 0.00125,
    "krysl/slow-top": 0.0125,
    DESCRIBED: FINE,
    PRINTED: FINE,
}
SIGN = (
    "The printed torque repels where the text describes an attraction: the upper row has the sign that gives the described "
    "attraction and wall, the lower row the sign as printed."
)


@item(
    PAPER,
    "fig13",
    title="Coulombic potential with soft wall: convergence",
    kind="figure",
    seconds=5,
)
def fig13(work):
    """Errors at t = 10, with the sign of the text and with that of the formula."""
    steps = halvings(0.1, 8)
    found = {problem: ladder(work, problem, LEGEND, steps) for problem in VALUES}
    numbers = []
    for problem, printed in VALUES.items():
        name = "described" if problem == DESCRIBED else "printed sign"
        numbers += [
            near(f"NMB, {name}", f"{what}, Δt = {FINE:g}", p, ours, 0.02)
            for what, p, ours in zip(
                ("‖R − R*‖", "|Π − Π*|"), printed, errors(problem, "NMB", FINE), strict=True
            )
        ]
    R, *_ = exact_motion(DESCRIBED, 10.0)
    start = run(DESCRIBED, "NMB", 0.0125).total_energy[0]
    numbers += [
        near("exact, described", "R33(10)", 0.554210908072546, R[2, 2], 2e-11),
        near("exact, described", "E at the start", 1.634921234445, start, 1e-12),
    ]
    for kind in ("momentum", "attitude"):
        numbers += found[DESCRIBED].slopes(kind, dict.fromkeys(LEGEND, 2))

    def draw(figure):
        rows = figure.subplots(2, 2, sharex=True)
        for panels, (problem, sign) in zip(
            rows, ((DESCRIBED, "as described"), (PRINTED, "sign as printed")), strict=True
        ):
            two_panels(
                panels,
                *(found[problem].curves(kind) for kind in ("momentum", "attitude")),
                titles=(f"body-frame momentum, {sign}", f"attitude matrix, {sign}"),
            )
        figure.suptitle(
            "Body in Coulombic potential with soft wall contact, t = 10", x=0.012, ha="left"
        )

    curves = [
        curve
        for ladders in found.values()
        for kind in ("momentum", "attitude")
        for curve in ladders.curves(kind)
    ]
    claims, notes = (
        [_outperforms(), _wall(), _hulbert(), _rank()],
        (SIGN, UNSAID.format(0.1, len(steps)), INDEPENDENT),
    )
    return Figure(claims, draw, notes, curves, (8.2, 7.4), cells=numbers)


def _outperforms():
    table = {problem: {m: errors(problem, m, FINE) for m in LEGEND} for problem in VALUES}
    best = {
        problem: [min(rows, key=lambda m, k=k, rows=rows: rows[m][k]) for k in (0, 1)]
        for problem, rows in table.items()
    }
    times = [
        max(rows["NMB"][k] / rows[m][k] for m in LEGEND)
        for rows in [table[DESCRIBED]]
        for k in (0, 1)
    ]
    return judged(
        "The Newmark algorithm clearly outperforms all the others, including the implicit midpoint method.",
        best[DESCRIBED] == ["NMB", "NMB"],
        f"at Δt = {FINE:g} with the potential described the best in attitude and momentum are "
        f"{' and '.join(best[DESCRIBED])} (NMB's errors are {times[0]:.1f} and {times[1]:.1f} times theirs); with the "
        f"sign as printed, where there is no wall, {' and '.join(best[PRINTED])}",
    )


def closest_to_wall(problem):
    """(smallest z = 1.1 + R33, largest share of the wall's term in the other, how often the wall prevails) up to t = 10."""
    p = problems.get(problem).torque().params
    z = p.centre + run(problem, "NMB", 0.0015625).matrix[:, 2, 2]
    share = p.wall * z**-9.0
    return z.min(), share.max(), int(np.sum((share[1:] > 1.0) & (share[:-1] <= 1.0)))


def _wall():
    (z, push, times), (z2, push2, _) = map(closest_to_wall, VALUES)
    return judged(
        "The torque is that of an attraction with a soft wall, from which the body is repeatedly repelled.",
        push2 > 1.0,
        f"not with the sign as printed: the body stays at z = 1.1 + R33 ≥ {z2:.2f}, where the wall has at most "
        f"{push2:.1g} of the other term; with the opposite sign it comes to z = {z:.2f}, where the wall is {push:.1f} "
        f"times the attraction, {times} times in 10 s",
    )


def _hulbert():
    steps, compared = (0.05, 0.025, 0.0125), ("HSTAGM", "NMB", "SW")
    off = {
        (m, h): np.abs(E - E[0]).max()
        for m in compared
        for h in steps
        for E in [run(DESCRIBED, m, h, 100.0).total_energy]
    }
    return judged(
        "HSTAGM has stability problems in this example too.",
        all(off["HSTAGM", h] > 5 * off["NMB", h] for h in steps),
        "largest energy error to t = 100: "
        + "; ".join(
            f"Δt = {h:g}: " + ", ".join(f"{m} {off[m, h]:.2g}" for m in compared) for h in steps
        ),
    )


def _rank():
    """Of the explicit methods of 2004, over the five problems, in attitude and in momentum."""
    ranks = {}
    for problem, h in RACES.items():
        table = [errors(problem, m, h) for m in EXPLICIT]
        ranks[problem] = [1 + sum(row[k] < table[0][k] for row in table) for k in (0, 1)]
    mean = np.mean(list(ranks.values()))
    return judged(
        "NMB is one of the best-performing currently known explicit algorithms (introduction, conclusions).",
        mean < 2.0,
        f"its rank among {', '.join(EXPLICIT)} in attitude and momentum: "
        + "; ".join(f"{problems.get(p).title} {a} and {b}" for p, (a, b) in ranks.items())
        + f"; {mean:.1f} of 4 in the mean",
    )
