"""Figures 10 to 12: fast and slow top, sections 3.4 and 3.5, and what the discussion says of
symmetry and symplecticity."""

import numpy as np

from polhode.studies import facts
from polhode import problems
from polhode.papers import OPEN, REFERENCE, Cell, Claim, Figure, Series, item, judged, near
from polhode.papers._convergence import (
    INDEPENDENT,
    errors,
    exact_motion,
    halvings,
    ladder,
    run,
    two_panels,
)
from polhode.papers._style import look
import polhode.papers.krysl_endres2004.staggered as staggered
from polhode.papers.krysl_endres2004.free_body import PAPER

FAST, SLOW, FREE = "krysl/fast-top", "krysl/slow-top", "krysl/free-body"
LEGEND = ("AKW", "NMB", "HSTAGM", "SW")
MORE = ("LIEMID[I]", "LIEMID[EA]")
UNSAID = "The text does not give the step sizes: halvings of {:g}, {} of them."
FAST_R = np.array(
    [
        [-0.749215586933407, 0.602598914163208, -0.274864608390057],
        [-0.653039598593952, -0.741346305274037, 0.154741521010736],
        [-0.110522789343550, 0.295432233017806, 0.948949160245125],
    ]
)
FAST_PI = (-0.825255618261355, 0.772281645922445, 50.0)
FAST_ERRORS = {
    "NMB": 1.62e-3,
    "SW": 2.13e-4,
    "HSTAGM": 2.08e-4,
    "AKW": 1.62e-1,
    "LIEMID[I]": 1.04e-4,
    "LIEMID[EA]": 2.61e-5,
}
SLOW_ROW, SLOW_PI = (
    (0.04775808446281386, 0.04061263806466103, 0.9980329548656384),
    (-0.198972321437881, 0.322290429863362, 5.0),
)
SLOW_ERRORS = {
    "NMB": (2.19e-3, 4.04e-3),
    "AKW": (1.81e-2, 7.77e-3),
    "SW": (1.23e-2, 3.25e-3),
    "LIEMID[EA]": (2.55e-3, 1.02e-3),
}
# HSTAGM on the slow top: when the energy is first off by more than 1
BLOW_UPS = {0.2: 2.2, 0.1: 6.9, 0.05: 11.2}


def exact_cells(problem, t, rows, printed_R, printed_Pi, tolerance):
    """Cells for the exact attitude (some rows of it) and momentum."""
    R, Pi, _ = exact_motion(problem, t)
    cells = [
        near("exact", f"R{i + 1}{j + 1}({t:g})", p, R[i, j], tolerance / abs(p))
        for i, row in zip(rows, printed_R, strict=True)
        for j, p in enumerate(row)
    ]
    return cells + [
        near("exact", f"Pi{i + 1}({t:g})", p, Pi[i], tolerance / abs(p))
        for i, p in enumerate(printed_Pi)
    ]


def _draw(found, title):
    def draw(figure):
        two_panels(
            figure.subplots(1, 2),
            found.curves("momentum", LEGEND),
            found.curves("attitude", LEGEND),
        )
        figure.suptitle(title, x=0.012, ha="left")

    return draw


# --- figure 10 ------------------------------------------------------------------------------------


@item(PAPER, "fig10", title="Fast Lagrangian top: convergence", kind="figure", seconds=5)
def fig10(work):
    """Errors at t = 10."""
    steps = halvings(0.02, 8)
    found = ladder(work, FAST, LEGEND + MORE, steps)
    numbers = exact_cells(FAST, 10.0, range(3), FAST_R, FAST_PI, 1e-12)
    numbers += [
        near(m, "‖R − R*‖, Δt = 0.00125", printed, errors(FAST, m, 0.00125)[0], 0.02)
        for m, printed in FAST_ERRORS.items()
    ]
    numbers += found.slopes("momentum", dict.fromkeys(LEGEND, 2)) + found.slopes(
        "attitude", dict.fromkeys(LEGEND, 2)
    )
    ratios = [kind["SW"] / kind["HSTAGM"] for kind in (found.attitude, found.momentum)]
    pairs = dict(zip(found.steps, np.abs(np.array(ratios) - 1.0).max(axis=0), strict=True))
    fine = max(d for h, d in pairs.items() if h <= 0.01)
    own = errors(FAST, "NMB", 5e-6)[0]
    finest = min(found.attitude["NMB"])
    claims = [
        judged(
            "SW and HSTAGM yield essentially identical answers except for the largest time steps.",
            fine < 0.1,
            "their errors differ by "
            + ", ".join(f"{d:.1%} (Δt = {h:g})" for h, d in pairs.items()),
        ),
        judged(
            "A solution with the extremely small step 0.000005 can stand for the exact one.",
            own < 0.05 * finest,
            f"its own error is {own:.1g}, the smallest NMB error drawn {finest:.1g}",
        ),
    ]
    return Figure(
        claims,
        _draw(found, "Fast Lagrangian top, t = 10"),
        (UNSAID.format(0.02, len(steps)), INDEPENDENT),
        found.curves("momentum", LEGEND) + found.curves("attitude", LEGEND),
        (8.2, 4.4),
        cells=numbers,
    )


# --- figure 11 ------------------------------------------------------------------------------------


def first_excess(problem, method, step, t_end, size=1.0):
    """When the energy is first off by more than `size`; inf if it never is."""
    found = run(problem, method, step, t_end)
    off = np.abs(found.total_energy - found.total_energy[0]) > size
    return float(found.t[np.argmax(off)]) if off.any() else np.inf


@item(PAPER, "fig11", title="Slow Lagrangian top: convergence", kind="figure", seconds=3)
def fig11(work):
    """Errors at t = 10."""
    steps = halvings(0.2, 8)
    found = ladder(work, SLOW, (*LEGEND, "LIEMID[EA]"), steps)
    numbers = exact_cells(SLOW, 10.0, (2,), (SLOW_ROW,), SLOW_PI, 1e-10)
    for method, printed in SLOW_ERRORS.items():
        numbers += [
            near(method, f"{name}, Δt = 0.0125", p, ours, 0.02)
            for name, p, ours in zip(
                ("‖R − R*‖", "|Π − Π*|"), printed, errors(SLOW, method, 0.0125), strict=True
            )
        ]
    numbers += found.slopes("momentum", {"NMB": 2, "AKW": 2, "SW": 2}) + found.slopes(
        "attitude", dict.fromkeys(LEGEND, 2)
    )
    converged = found.steps <= 0.1
    gain_R, gain_Pi = (
        getattr(found, kind)["AKW"][converged] / getattr(found, kind)["NMB"][converged]
        for kind in ("attitude", "momentum")
    )
    blow = {h: first_excess(SLOW, "HSTAGM", h, 60.0) for h in (0.2, 0.1, 0.05, 0.025, 0.0125)}
    hstagm, nmb = errors(SLOW, "HSTAGM", 0.0125), errors(SLOW, "NMB", 0.0125)
    claims = [
        judged(
            "The Newmark algorithm's accuracy improves on that of the implicit midpoint rule.",
            min(*gain_R, *gain_Pi) > 1.0,
            f"AKW's errors are {gain_R.min():.1f} to {gain_R.max():.1f} times NMB's in attitude and {gain_Pi.min():.1f} to "
            f"{gain_Pi.max():.1f} times in momentum, for steps of 0.1 and less",
        ),
        judged(
            "HSTAGM has stability problems for the slow top.",
            all(np.isfinite(t) for t in blow.values()),
            "its energy is first off by more than 1 at "
            + ", ".join(f"t = {t:g} (Δt = {h:g})" for h, t in blow.items())
            + f"; up to t = 10 it is as accurate as NMB: {hstagm[0]:.2e} and {nmb[0]:.2e} in attitude at Δt = 0.0125",
        ),
    ]
    return Figure(
        claims,
        _draw(found, "Slow Lagrangian top, t = 10"),
        (UNSAID.format(0.2, len(steps)), INDEPENDENT),
        found.curves("momentum", LEGEND) + found.curves("attitude", LEGEND),
        (8.2, 4.4),
        cells=numbers,
    )


# --- figure 12 ------------------------------------------------------------------------------------

DRIFT_STEPS = {FREE: (2.0, 1.0, 0.5, 0.25), SLOW: (0.1, 0.05, 0.025, 0.0125)}
LONG, FIRST = {FREE: 2000.0, SLOW: 1000.0}, {FREE: 100.0, SLOW: 20.0}  # seconds


@item(
    PAPER,
    "fig12",
    title="Hamiltonians of the free body and of the slow top: SW, NMB, HSTAGM",
    kind="figure",
    seconds=5,
)
def fig12(work):
    """Free body with steps of 1, slow top with steps of 0.1."""
    methods, curves = ("SW", "NMB", "HSTAGM"), []
    for problem, h, t_end, every in ((FREE, 1.0, 100.0, 4), (SLOW, 0.1, 12.5, 4)):
        for method in work.each(methods):
            found = run(problem, method, h, t_end)
            curves.append(
                Series(
                    f"{method}, {problems.get(problem).title}",
                    found.t,
                    found.total_energy,
                    look=look(method, markevery=every, linestyle="--" if method == "SW" else "-"),
                )
            )
    numbers = [
        Cell(
            "HSTAGM, slow top",
            f"first |E − E₀| > 1, Δt = {h:g}",
            printed,
            ours,
            bool(abs(ours - printed) < 1e-9),
            source=REFERENCE,
        )
        for h, printed in BLOW_UPS.items()
        for ours in [first_excess(SLOW, "HSTAGM", h, 60.0)]
    ]

    def draw(figure):
        panels = figure.subplots(1, 2)
        for k, (axes, title) in enumerate(
            zip(panels, ("free rigid body, Δt = 1", "slow Lagrangian top, Δt = 0.1"), strict=True)
        ):
            for curve in curves[3 * k : 3 * k + 3]:
                axes.plot(curve.x, curve.y, **curve.look)
            axes.set(xlabel="time", ylabel="Hamiltonian", title=title)
        panels[1].set_ylim(20, 50)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)

    notes = (
        "The text does not give the step sizes: 1 and 0.1, where HSTAGM breaks down at the end of the figure as described.",
    )
    return Figure(
        [*_hulbert(), *_drift(), *_structure()], draw, notes, curves, (8.2, 4.2), cells=numbers
    )


def _hulbert():
    ranges = {
        m: (e.min(), e.max(), np.ptp(e[: len(e) // 2]), np.ptp(e[len(e) // 2 :]))
        for m in ("NMB", "HSTAGM")
        for e in [run(FREE, m, 1.0, LONG[FREE]).kinetic_energy]
    }
    late, early = (
        first_excess(SLOW, "HSTAGM", 0.1, 60.0),
        first_excess(SLOW, "HSTAGM", 0.1, 60.0, 0.3),
    )
    end = run(SLOW, "HSTAGM", 0.1, 60.0)
    (paper, smooth), (paper_half, smooth_half) = staggered.defects(0.2), staggered.defects(0.1)
    orders = [
        np.log2(one.value / half.value)
        for one, half in ((paper, paper_half), (smooth, smooth_half))
    ]
    return [
        judged(
            "For the free rigid body HSTAGM's Hamiltonian closely corresponds to that of the Newmark integrator.",
            all(abs(a / b - 1) < 0.05 for *_, a, b in ranges.values())
            and 1 / 3
            < (ranges["NMB"][1] - ranges["NMB"][0]) / (ranges["HSTAGM"][1] - ranges["HSTAGM"][0])
            < 3,
            "both oscillate without drift, on opposite sides of the exact value: "
            + ", ".join(f"{m} in [{low:.5f}, {high:.5f}]" for m, (low, high, *_) in ranges.items())
            + " over 2000 s at Δt = 1",
        ),
        judged(
            "For the slow top HSTAGM becomes unstable early on, which leads to a blow-up.",
            np.isfinite(late) and end.status == "blow-up",
            f"at Δt = 0.1 the energy is off by 0.3 at t = {early:g}, by 1 at t = {late:g}, and lost at t = {end.t[-1]:g}",
        ),
        judged(
            "HSTAGM is perhaps symplectic, or possibly related to a symplectic algorithm: it is symplectic.",
            smooth.value < 100 * smooth.noise,
            f"|JᵀΩJ − Ω| of a step is {paper.value:.2g} at h = 0.2 and {paper_half.value:.2g} at 0.1 from the paper's start, "
            f"{smooth.value:.2g} and {smooth_half.value:.2g} from the start that leaves no alternating part, which is the "
            f"method without its starting step: defects of order {orders[0]:.1f} and {orders[1]:.1f}, not zero (the "
            f"measurement's own noise is {smooth.noise:.0g})",
        ),
        Claim(
            "HSTAGM is perhaps symplectic, or possibly related to a symplectic algorithm: it is related to one.",
            OPEN,
            f"not decided: a defect of order {orders[1]:.1f} is also what a method shows that a change of variables makes "
            "symplectic, and in a vector space the same two copies are the leapfrog, which is symplectic on pairs of points",
        ),
    ]


def growth(problem, method, h):
    """How many times larger the swing of the energy is over a long run than over the first periods;
    inf after a blow-up."""
    found = run(problem, method, h, LONG[problem])
    E = found.total_energy
    return float(np.ptp(E) / np.ptp(E[found.t <= FIRST[problem]])) if found.success else np.inf


def _drift():
    """Of which gamma is the sentence on Simo and Wong's integrator true?"""
    cases = [(problem, h) for problem, steps in DRIFT_STEPS.items() for h in steps]
    swing = {m: [growth(problem, m, h) for problem, h in cases] for m in ("SW", "NMB", "SW1")}
    limit = (
        0.5
        * np.sum(run(FREE, "SW1", 2.0, 2000.0).momentum[0] ** 2)
        / problems.get(FREE).body.moments.min()
    )
    top = min(
        run(FREE, "SW1", h, 2000.0).total_energy.max() / limit
        for h in DRIFT_STEPS[FREE]
        if growth(FREE, "SW1", h) <= 2.0
    )
    grown, lost = sum(s > 2.0 for s in swing["SW1"]), sum(map(np.isinf, swing["SW1"]))
    return [
        judged(
            "The Simo and Wong integrator displays a drift in energy for all time steps.",
            min(swing["SW"]) > 1.2,
            f"free body to t = {LONG[FREE]:g} and slow top to {LONG[SLOW]:g}, {len(cases)} step sizes: with the printed γ "
            f"= 1/2 the energy swings at most {max(swing['SW']):.2f} times as far as in the first {FIRST[FREE]:g} and "
            f"{FIRST[SLOW]:g} s (NMB {max(swing['NMB']):.2f}); with γ = 1 (SW1) {grown} of {len(cases)} runs swing more "
            f"than twice as far, {lost} of them blow up, the others reach {top:.3f} of the largest energy that their "
            "momentum allows: the sentence is true of γ = 1",
        )
    ]


def _structure():
    symmetry = {m: facts.symmetry_defect(m) for m in ("NMB", "NMS", "SW")}
    form = {
        m: (facts.symplecticity(m, 0.5), facts.symplecticity(m, 0.25)) for m in ("NMB", "SW", "VLV")
    }

    def words(m):
        coarse, fine = form[m]
        return f"{m}: {coarse.value:.2g} at h = 0.5, {fine.value:.2g} at 0.25"

    def symplectic(m):
        return form[m][0].value < 100 * form[m][0].noise

    return [
        judged(
            "NMB, NMS and also SW are time symmetric.",
            max(symmetry.values()) < 1e-12,
            "a step and a step back miss the beginning by "
            + ", ".join(f"{d:.0e} ({m})" for m, d in symmetry.items()),
        ),
        judged(
            "The present Newmark is a symplectic integrator; the numerical evidence is very strong.",
            symplectic("NMB"),
            f"|JᵀΩJ − Ω| of one step, {words('NMB')}; of a symplectic method, {words('VLV')}",
        ),
        judged(
            "The algorithm of Simo and Wong is, crucially, not symplectic.",
            not symplectic("SW"),
            f"|JᵀΩJ − Ω| of one step, {words('SW')}",
        ),
    ]
