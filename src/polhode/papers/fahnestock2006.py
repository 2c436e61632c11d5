"""Fahnestock, Lee, Leok, McClamroch & Scheeres 2006: two octahedra that pass each other, scenario 2.

The table of integrators is computed anew beside what is printed, with the potential of
`polhode.interactions.polyhedra` in place of the paper's series.
"""

import numpy as np

from polhode import problems
from polhode.papers import Cell, Series, Table, item, judged
from polhode.papers._style import BLUE, GREEN, ORANGE, PINK, VERMILION, look

PAPER = "fahnestock-2006"
PRINTED = {  # evaluations, mean |dE|
    "variational, h = 0.4": (100_000, 2.234e-9),
    "variational, h = 0.04": (1_000_000, 1.928e-11),
    "RKF7(8)": (2_368_912, 3.901e-12),
}
BEST = PRINTED["RKF7(8)"]
RUNS = (("VLV", 0.4), ("LP2", 0.4), ("EXACT", 0.4), ("EXACT-RKN4", 1.3), ("EXACT-RKN6", 2.3))
COLOURS = dict(zip((m for m, _ in RUNS), (PINK, BLUE, ORANGE, VERMILION, GREEN), strict=True))
QUICK = (("VLV", 0.4), ("EXACT-RKN4", 1.3))
QUICK_SPAN = (0.0, 4000.0)  # the encounter, and as long again
LIMIT = 200_000  # evaluations


@item(
    PAPER,
    "octahedra",
    title="Energy errors and evaluations for two octahedra",
    kind="table",
    seconds=25,
)
def octahedra(work):
    """The printed integrators, and ours on the same motion."""
    problem = problems.octahedra()
    span = QUICK_SPAN if work.quick else problem.t_span
    found = {
        (method, h): problem.integrate(method, h, span, every=25)
        for method, h in work.each(QUICK if work.quick else RUNS)
    }
    errors = {key: np.abs(run.total_energy - run.total_energy[0]) for key, run in found.items()}
    cells = [
        Cell(f"printed: {name}", column, None, value, None)
        for name, (count, E) in PRINTED.items()
        for column, value in (("evaluations", count), ("mean |dE|", f"{E:.3e}"))
    ]
    for (method, h), run in found.items():
        name, E = f"{method}, h = {h:g}", float(errors[method, h].mean())
        cells += [
            Cell(name, "evaluations", None, run.nfev, None),
            Cell(name, "mean |dE|", None, f"{E:.3e}", None),
            Cell(name, "change of momentum, relative", None, f"{kept(run):.1e}", None),
        ]
    series = [
        Series(f"{method}, h = {h:g}", run.t, errors[method, h], look=look(method))
        for (method, h), run in found.items()
    ]
    return Table(
        cells=cells,
        series=series,
        claims=claims(found, errors),
        draw=lambda figure: draw(figure, found, errors),
        notes=[
            "mean |dE| is the mean of |E − E₀| over the run, in joules; E₀ is 241.4 J.",
            problem.assumptions,
        ],
        size=(6.8, 4.2),
    )


def kept(run):
    """The largest change of linear and angular momentum, relative to those of the first body."""
    P, L = run.linear_momentum, run.angular_momentum
    moving = np.abs(run.body.masses[0] * run.velocity[0, 0]).max()
    return max(np.abs(P - P[0]).max() / moving, np.abs(L - L[0]).max() / np.abs(L[0]).max())


def claims(found, errors):
    best = {key: (run.nfev, float(errors[key].mean())) for key, run in found.items()}
    beating = {k: v for k, v in best.items() if v[0] <= LIMIT and v[1] < BEST[1]}
    told = "; ".join(f"{m}, h = {h:g}: {n} evaluations, {E:.2e}" for (m, h), (n, E) in best.items())
    n, E = best["VLV", 0.4]
    return [
        judged(
            "The variational integrator gives a smaller error than explicit integrators of high order for its evaluations",
            not beating,
            f"explicit compositions of the exact free motion reach less than the 3.9e-12 of RKF7(8), which takes 2 368 912 "
            f"evaluations, with at most {LIMIT}: {told}",
        ),
        judged(
            "A Lie group variational integrator keeps the energy without drift",
            abs(trend(found["VLV", 0.4])) < 1.0,
            f"Lie-Verlet, h = 0.4: {E:.2e} with {n} evaluations, printed 2.234e-9; the means of the first and the last "
            f"quarter differ by {trend(found['VLV', 0.4]):+.2f} of the oscillation",
        ),
        judged(
            "Momenta are conserved to round-off",
            max(map(kept, found.values())) < 1e-12,
            "; ".join(f"{m} {kept(run):.1e}" for (m, _), run in found.items()),
        ),
    ]


def trend(run):
    """By how much the mean energy changes over the run, in standard deviations of the energy."""
    first, *_, last = np.array_split(run.total_energy, 4)
    return float((last.mean() - first.mean()) / np.hypot(first.std(), last.std()))


def draw(figure, found, errors):
    axes = figure.add_subplot()
    for (method, h), run in found.items():
        shown = {
            "marker": "",
            "linestyle": "--" if method == "EXACT" else "-",
            "linewidth": 0.8,
            "color": COLOURS[method],
            "label": f"{method}, h = {h:g}",
        }
        axes.semilogy(run.t, np.maximum(errors[method, h], 1e-14), **look(method, **shown))
    for name, (count, E) in PRINTED.items():
        axes.axhline(E, color="#777777", lw=0.8, ls=":")
        axes.annotate(
            f"printed: {name}\n{count} evaluations",
            (1.0, E),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
    axes.set(xlabel="time [s]", ylabel="|E − E₀| [J]")
    legend = figure.legend(loc="outside lower center", ncols=5, fontsize=7)
    for line in legend.get_lines():
        line.set_linewidth(2.0)
