"""Figures 4 and 5, appendix A: the stress test of Krysl's LIEMID[EA]."""

from polhode.studies import facts
from polhode.papers import Figure, item, judged
from polhode.papers._convergence import INDEPENDENT
from polhode.papers.bou_rabee2009.convergence import UNSAID, diagram, second_order, time_precision
from polhode.papers.bou_rabee2009.drift import (
    APPENDIX_SLOPES,
    PAPER,
    STEPS,
    draw_energies,
    drift,
    drift_claims,
    energy_curves,
    long_run,
    slope_cells,
)

METHOD = "LIEMID[EA]"


@item(
    PAPER,
    "fig4",
    title="Stress test: energy of LIEMID[EA] and Lie-Verlet",
    kind="figure",
    seconds=8,
)
def fig4(work):
    """E - E0 over 15000 s at h = 0.125 and 0.25."""
    for h in work.each(STEPS):
        long_run(METHOD, h)
    curves = energy_curves(("VLV", METHOD))
    small = {h: [drift(method, h).slope for method in (METHOD, "NMB-cay", "NMB")] for h in STEPS}
    form = facts.symplecticity(METHOD, 0.5)
    solves = {m: facts.solver_calls(m)[-1] for m in (METHOD, "NMB-cay", "VLV")}
    claims = [
        *drift_claims(METHOD, METHOD),
        judged(
            "The drift of LIEMID[EA] is smaller than the drift exhibited by NMB.",
            all(abs(a) < abs(b) for a, b, _ in small.values()),
            ", ".join(
                f"{a:+.2e} against {b:+.2e} at h = {h:g} ({c:+.2e} with exp)"
                for h, (a, b, c) in small.items()
            ),
        ),
        judged(
            "LIEMID[EA] is not symplectic, as was thought in Krysl 2005.",
            form.value > 100 * form.noise,
            f"|JᵀΩJ − Ω| of a step of 0.5 is {form.value:.1e}, the noise {form.noise:.0e}",
        ),
        judged(
            "LIEMID[EA] involves two nonlinear solves per step, Lie-Newmark and Lie-Verlet one.",
            solves == {METHOD: 2, "NMB-cay": 1, "VLV": 1},
            "counted: " + ", ".join(f"{m} {n}" for m, n in solves.items()),
        ),
        judged(
            "LIEMID[EA] is symmetric, as a composition of a method and its adjoint.",
            facts.symmetry_defect(METHOD) < 1e-12,
            f"a step and a step back miss the beginning by {facts.symmetry_defect(METHOD):.0e}",
        ),
    ]
    return Figure(
        claims,
        draw_energies(curves),
        (INDEPENDENT,),
        [c for lines in curves.values() for c in lines],
        (7.2, 6.0),
        cells=slope_cells(APPENDIX_SLOPES),
    )


@item(
    PAPER,
    "fig5",
    title="Stress test: global error of LIEMID[EA], Lie-Newmark and Lie-Verlet",
    kind="figure",
    seconds=2,
)
def fig5(work):
    """Errors of configuration and angular velocity at T = 5."""
    steps, found = time_precision(work, (METHOD, "NMB-cay", "VLV"))
    curves, cells, draw = diagram(steps, found)
    claims = [second_order(cells, "All the integrators are second-order accurate.")]
    return Figure(claims, draw, (UNSAID,), curves, (8.2, 4.2), cells=cells)
