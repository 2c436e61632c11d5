"""Krysl 2005, the explicit Newmark algorithm as an alternating midpoint Lie algorithm: figure 1,
the claims, the misprints."""

from math import log2

import numpy as np

from polhode.studies import facts
from polhode import exact, problems, translation
from polhode.core.vec import norm, sub
from polhode.studies.facts.trial import Map, apart
from polhode.papers import Cell, Figure, Series, enter_errata, item, judged
from polhode.papers._convergence import errors, run
from polhode.papers._lie_midpoint_as_printed import order as order_as_printed
from polhode.papers._style import look

PAPER, PROBLEM, STEP, T_END = "krysl-2005", "krysl/slow-top", 0.1, 10.0
PANELS = {
    "(a) AKW": ("AKW",),
    "(b) SW": ("SW", "SW1"),
    "(c) LIEMID[I]": ("LIEMID[I]",),
    "(d) LIEMID[EA]": ("LIEMID[EA]",),
}
METHODS = tuple(method for panel in PANELS.values() for method in panel)
GAMMA = {"SW": "γ = 1/2", "SW1": "γ = 1, blows up"}
# explicit methods of second order known in 2005
EXPLICIT = ("LIEMID[EA]", "NMB", "SW", "HSTAGM", "LP2")
RACES = {
    "krysl/free-body": 1 / 64,
    "krysl/fast-top": 0.00125,
    "krysl/slow-top": 0.0125,
    "krysl/coulomb-wall": 0.003125,
}
NOTE = (
    f"The paper does not say how long it follows the top: t = {T_END:g}, as in Krysl & Endres 2004.  Simo and Wong's "
    "algorithm is drawn with the γ = 1/2 of Krysl & Endres's appendix and with γ = 1."
)


def exact_tip(times):
    """The horizontal components of the unit vector along the top's axis."""
    top = problems.get(PROBLEM)
    return exact.lagrange_top(
        top.body, top.torque().params.moment, top.rotation0, top.omega0, times
    ).matrix[:, :2, 2]


def tip_error(method):
    """Root mean square distance of the tip from where it should be, up to t = 10 or to the
    blow-up."""
    found = run(PROBLEM, method, STEP, T_END)
    return float(
        np.sqrt(np.mean(np.sum((found.matrix[:, :2, 2] - exact_tip(found.t)) ** 2, axis=1)))
    )


@item(
    PAPER,
    "fig1",
    title="Slow Lagrangian top: path of the tip with Δt = 0.1",
    kind="figure",
    seconds=3,
)
def fig1(work):
    """The tip's path for AKW, SW, LIEMID[I] and LIEMID[EA], the exact one dotted."""
    times = np.linspace(0.0, T_END, 1001)
    dotted = {"color": "black", "linestyle": ":", "linewidth": 1.1, "label": "exact"}
    reference = Series("exact", *exact_tip(times).T, look=dotted)
    rms, curves = {}, {}
    for method in work.each(METHODS):
        found = run(PROBLEM, method, STEP, T_END)
        rms[method] = tip_error(method)
        label = f"{method} {GAMMA.get(method, '')}\nrms error {rms[method]:.3f}"
        faint = {"linestyle": "--", "alpha": 0.5} if method == "SW1" else {"linestyle": "-"}
        drawn = look(method, marker="", linewidth=1.0, label=label, **faint)
        curves[method] = Series(method, *found.matrix[:, :2, 2].T, look=drawn)
    numbers = [
        Cell(
            m,
            "rms error of the tip, t ≤ 10",
            None,
            value,
            None,
            "to its blow-up" if not run(PROBLEM, m, STEP, T_END).success else "",
        )
        for m, value in rms.items()
    ]
    numbers += [
        Cell(m, "largest energy error", None, float(np.abs(E - E[0]).max()), None)
        for m in METHODS
        for E in [run(PROBLEM, m, STEP, T_END).total_energy]
    ]

    def draw(figure):
        panels = figure.subplots(2, 2, sharex=True, sharey=True)
        for axes, (title, methods) in zip(panels.flat, PANELS.items(), strict=True):
            for method in reversed(methods):
                axes.plot(curves[method].x, curves[method].y, **curves[method].look)
            axes.plot(reference.x, reference.y, **reference.look)
            axes.set(title=title, aspect="equal", xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
            axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        figure.supxlabel("axis component 1", fontsize=9)
        figure.supylabel("axis component 2", fontsize=9)

    claims = [*_figure_claims(rms), *_algorithm_claims(), *_vector_space_claims(), _best()]
    return Figure(claims, draw, (NOTE,), [reference, *curves.values()], (8.4, 6.8), cells=numbers)


# --- what is said of the figure -------------------------------------------------------------------


def _figure_claims(rms):
    turn = np.degrees(STEP * np.linalg.norm(run(PROBLEM, "LIEMID[EA]", STEP, T_END).omega, axis=1))
    stable, unstable = run(PROBLEM, "SW", STEP, 1000.0), run(PROBLEM, "SW1", STEP, 1000.0)
    E = stable.total_energy
    drift, form = np.abs(E - E[0]).max(), facts.symplecticity("SW")
    return [
        judged(
            "Δt = 0.1 corresponds to incremental rotations of about 30° within the step.",
            25 < turn[0] < 35,
            f"{turn[0]:.1f}° at the start, {turn.min():.1f}° to {turn.max():.1f}° along the way",
        ),
        judged(
            "LIEMID[EA] captures the trajectories extremely well, much better than the implicit algorithms.",
            rms["LIEMID[EA]"] < 0.5 * min(rms["AKW"], rms["LIEMID[I]"]),
            "rms error of the tip: "
            + ", ".join(f"{m} {rms[m]:.4f}" for m in ("LIEMID[EA]", "LIEMID[I]", "AKW")),
        ),
        judged(
            "SW loses stability early on.",
            not stable.success,
            f"with the γ = 1/2 of Krysl & Endres's appendix the energy error stays below {drift:.2f} of {E[0]:.1f} up to t = "
            f"{stable.t[-1]:g}, tip "
            f"error {rms['SW']:.3f}; with γ = 1 (SW1) the run is lost at t = {unstable.t[-1]:.1f}: the sentence is true of γ = "
            "1",
        ),
        judged(
            "SW is neither energy nor symplectic form conserving.",
            drift > 1e-6 and form.value > 100 * form.noise,
            f"energy error {drift:.2f}; |JᵀΩJ − Ω| of a step of 0.5 is {form.value:.2g}, with a noise of {form.noise:.0g}",
        ),
    ]


# --- what is said of the algorithms ---------------------------------------------------------------

FIRST_ORDER, ALL = ("LIEMID[E1]", "LIEMID[E2]"), ("LIEMID[E1]", "LIEMID[E2]", "LIEMID[EA]")


def adjoint_defect(h=0.5):
    """How far E2 with h and then E1 with -h, its adjoint if the paper is right, end from the
    beginning."""
    one, two = (Map(name, facts.trial_torque()) for name in FIRST_ORDER)
    begin = two.start(h)
    there = two.step(h, 0.0, begin)
    back = one.step(-h, h, one.start(-h, h, there.q, two.velocity(there, two.body)))
    return max(norm(apart(begin.q, back.q)), norm(sub(one.momentum(back), two.momentum(begin))))


def _free_end(method, h, count=20):
    found = problems.get("krysl/free-body").integrate(
        method, step=h, t_span=(0.0, h * count), every="end"
    )
    return found.matrix[-1]


def _algorithm_claims():
    order = {m: facts.order(m).attitude for m in ALL}
    form = {m: (facts.symplecticity(m, 0.5), facts.symplecticity(m, 0.25)) for m in ALL}
    kept = {m: facts.free_drift(m, count=200).momentum for m in ALL}
    apart_by = adjoint_defect()
    free = np.abs([_free_end(m, 0.5) - _free_end("LIEMID[I]", 0.5) for m in FIRST_ORDER]).max()
    calls = {m: set(facts.torque_calls(m).steps) for m in ALL}

    def defects(names):
        return ", ".join(f"{m} {form[m][0].value:.1e} and {form[m][1].value:.1e}" for m in names)

    def symplectic(names):
        return all(form[m][0].value < 100 * form[m][0].noise for m in names)

    return [
        judged(
            "Both explicit algorithms are first order.",
            all(abs(order[m] - 1) < 0.1 for m in FIRST_ORDER),
            "measured: " + ", ".join(f"{m} {order[m]:.2f}" for m in FIRST_ORDER),
        ),
        judged(
            "Both explicit algorithms are symplectic.",
            symplectic(FIRST_ORDER),
            f"|JᵀΩJ − Ω| of a step of 0.5 and of 0.25: {defects(FIRST_ORDER)}; the noise is "
            f"{form['LIEMID[E1]'][0].noise:.0e}",
        ),
        judged(
            "Both conserve momentum in the absence of external torques.",
            max(kept[m] for m in FIRST_ORDER) < 1e-12,
            "relative change over 200 torque-free steps: "
            + ", ".join(f"{m} {kept[m]:.0e}" for m in FIRST_ORDER),
        ),
        judged(
            "Both are adjoint to each other.",
            apart_by < 1e-12,
            f"a step of one and a step back of the other miss the beginning by {apart_by:.0e}",
        ),
        judged(
            "The composition of the two, LIEMID[EA], is second order.",
            abs(order["LIEMID[EA]"] - 2) < 0.1,
            f"measured: {order['LIEMID[EA]']:.3f} (with the adjoint as printed: {order_as_printed('EA, Krysl'):.2f})",
        ),
        judged(
            "LIEMID[EA] inherits the symplecticity; it has the desired variational structure.",
            symplectic(("LIEMID[EA]",)),
            f"|JᵀΩJ − Ω| of a step of 0.5 and of 0.25: {defects(('LIEMID[EA]',))}: it vanishes with h³, but it is not zero",
        ),
        judged(
            "LIEMID[EA] inherits the momentum conservation.",
            kept["LIEMID[EA]"] < 1e-12,
            f"relative change over 200 torque-free steps: {kept['LIEMID[EA]']:.0e}",
        ),
        judged(
            "The explicit algorithms all reduce to the full midpoint Lie algorithm for torque-free motion.",
            free < 1e-12,
            f"20 steps of 0.5 of the free body: the attitudes of E1, E2 and LIEMID[I] differ by {free:.0e}",
        ),
        judged(
            "The algorithms are explicit in the torque evaluations.",
            all(c == {1} for c in calls.values()),
            "torque evaluations per step: "
            + ", ".join(f"{m} {', '.join(map(str, c))}" for m, c in calls.items()),
        ),
    ]


# --- what is said of vector spaces ----------------------------------------------------------------


def _vector_space_claims(h=0.1, steps=20):
    def force(t, u):
        return -np.sin(u)

    def end(method, step=h, count=steps):
        _, u, p = method([1.0], [0.3], force, step=step, steps=count)
        return np.array([u[-1, 0], p[-1, 0]])

    u, p = np.array([1.0]), np.array([0.3])
    v, x = p.copy(), u.copy()
    for _ in range(steps):
        _, us, ps = translation.symplectic_euler(u, p, force, step=h / 2, steps=1)
        _, us, ps = translation.adjoint(us[-1], ps[-1], force, step=h / 2, steps=1)
        u, p = us[-1], ps[-1]
        before = force(0.0, x)
        x = x + h * v + 0.5 * h * h * before  # Krysl & Endres (23), (24) with gamma = 1/2
        v = v + 0.5 * h * (before + force(0.0, x))
    apart_by = float(np.abs([u - x, p - v]).max())

    def area(method):
        """det J of one step, by central differences."""
        columns = []
        for k in range(2):
            e = np.zeros(2)
            e[k] = 1e-5
            plus, minus = (
                np.concatenate(
                    [
                        a[-1]
                        for a in method([1.0 + s * e[0]], [0.3 + s * e[1]], force, step=h, steps=1)[
                            1:
                        ]
                    ]
                )
                for s in (1, -1)
            )
            columns.append((plus - minus) / 2e-5)
        return abs(np.linalg.det(np.array(columns)) - 1.0)

    def slope(method):
        fine = end(translation.newmark, h / 512, steps * 512)
        coarse, finer = (np.abs(end(method, h / k, steps * k) - fine).max() for k in (4, 8))
        return log2(coarse / finer)

    three = {"Φ": translation.symplectic_euler, "Φ*": translation.adjoint, "Ξ": translation.newmark}
    areas, slopes = {n: area(m) for n, m in three.items()}, {n: slope(m) for n, m in three.items()}
    return [
        judged(
            "Section 2: the composition Ξ = Φ* Φ is the explicit Newmark algorithm with γ = 1/2 and β = 0.",
            apart_by < 1e-13,
            f"{steps} steps of a pendulum end {apart_by:.0e} apart",
        ),
        judged(
            "Section 2: Φ and Φ* are symplectic and of first order, Ξ is symplectic and of second order.",
            max(areas.values()) < 1e-9
            and all(abs(s - (2 if n == "Ξ" else 1)) < 0.1 for n, s in slopes.items()),
            "area of a step and measured order: "
            + ", ".join(f"{n} 1 ± {areas[n]:.0e}, {slopes[n]:.2f}" for n in three),
        ),
    ]


def _best():
    """LIEMID[EA] against the explicit methods of second order of its time, at the same step."""
    ranks = {}
    for problem, h in RACES.items():
        table = [errors(problem, m, h) for m in EXPLICIT]
        ranks[problem] = [
            (
                1 + sum(row[k] < table[0][k] for row in table),
                EXPLICIT[min(range(len(table)), key=lambda j, k=k, table=table: table[j][k])],
            )
            for k in (0, 1)
        ]
    return judged(
        "Numerical evidence suggests that it is the best explicit second-order integrator to date.",
        all(place == 1 for pair in ranks.values() for place, _ in pair),
        f"its rank among {', '.join(EXPLICIT)} in attitude and momentum (and who is best): "
        + "; ".join(
            f"{problems.get(p).title} {a} ({x}) and {b} ({y})"
            for p, ((a, x), (b, y)) in ranks.items()
        ),
    )


# --- errata ---------------------------------------------------------------------------------------


def _cost(name):
    right = name.split(",")[0]
    return lambda: (
        f"measured order {order_as_printed(name):.2f} as printed, {order_as_printed(right):.2f} as corrected"
    )


enter_errata(
    PAPER,
    ("section 3, adjoint Φ̃*", "exp(−Ψ)(Π + hT)", "exp(−Ψ) Π + hT", _cost("EA, Krysl")),
    (
        "section 3, midpoint momentum of LIEMID[I]",
        "Π + h/2 exp(Ψ/2) T",
        "exp(−Ψ/2) (Π + h/2 exp(Ψ/2) T)",
        _cost("I, Krysl"),
    ),
    (
        "introduction",
        "the rotation group SO(2)",
        "SO(3)",
        "section 3 and the title speak of rotations in space",
    ),
    (
        "section 2, impulse at the start of the step",
        "at (t + Δt)₊",
        "at t₊",
        "the formula that follows has f(u(t), t)",
    ),
)
