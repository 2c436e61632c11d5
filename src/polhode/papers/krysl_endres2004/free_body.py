"""Figures 1 to 3: the freely spinning body of section 3.1, at steps of up to five seconds."""

import numpy as np

from polhode import exact, problems
from polhode.errors import ConvergenceError
from polhode.papers import REFERENCE, Cell, Figure, Series, item, judged
from polhode.papers._convergence import INDEPENDENT, run
from polhode.papers._style import BLACK, BLUE, GREEN, VERMILION

PAPER, PROBLEM = "krysl-endres-2004", "krysl/free-body"
LONG, SHOWN = 2000.0, 200.0  # seconds: where the numbers are taken, what is drawn
# the paper's symbols
STEPS = {4.0: ("o", VERMILION), 2.0: ("x", BLUE), 1.0: ("*", GREEN), 0.5: ("s", BLACK)}
COARSE = {5.0: ("o", VERMILION), 4.0: ("x", BLUE), 2.0: ("*", GREEN), 0.125: ("s", BLACK)}
ENERGY_RANGES = {
    4.0: (0.40643, 0.47156),
    2.0: (0.45073, 0.47087),
    1.0: (0.46531, 0.47070),
    0.5: (0.46928, 0.47065),
}
SPANS = (
    "The paper does not say over what time it draws: 200 s here; the numbers are taken over 2000 s."
)


def marked(steps, h, **changes):
    """How the curve of a step size is drawn."""
    symbol, colour = steps[h]
    plain = {
        "label": f"Δt = {fraction(h)}",
        "marker": symbol,
        "color": colour,
        "markerfacecolor": "none",
        "linewidth": 0.8,
    }
    return plain | changes


def fraction(h):
    """1/8 for 0.125."""
    return f"{h:g}" if h >= 1.0 else f"1/{1 / h:g}"


def turn_per_step(trajectory, h):
    """|dPsi| = |h Om + h^2/2 A| of eq. (30), in degrees."""
    I, Om = trajectory.body.moments, trajectory.omega
    A = -np.cross(Om, I * Om) / I
    return np.degrees(np.linalg.norm(h * Om + 0.5 * h * h * A, axis=1))


# --- figure 1 -------------------------------------------------------------------------------------


@item(
    PAPER, "fig1", title="Free body: kinetic energy of NMB at large steps", kind="figure", seconds=1
)
def fig1(work):
    """The kinetic energy oscillates and does not drift."""
    curves, numbers, swings, slopes = [], [], {}, {}
    start = run(PROBLEM, "NMB", 4.0, LONG)
    for name, printed, ours in (
        ("E at the start", 0.470636810, start.kinetic_energy[0]),
        ("|Pi| at the start", 0.999907291, np.linalg.norm(start.momentum[0])),
    ):
        numbers.append(
            Cell(
                "exact",
                name,
                printed,
                float(ours),
                bool(abs(ours - printed) < 6e-10),
                source=REFERENCE,
            )
        )
    for h in work.each(STEPS):
        found = run(PROBLEM, "NMB", h, LONG)
        E, half = found.kinetic_energy, len(found) // 2
        numbers += [
            Cell(
                f"Δt = {fraction(h)}",
                f"{side} kinetic energy, T = {LONG:g}",
                printed,
                float(ours),
                bool(abs(ours - printed) < 6e-6),
                source=REFERENCE,
            )
            for side, printed, ours in zip(
                ("lowest", "highest"), ENERGY_RANGES[h], (E.min(), E.max()), strict=True
            )
        ]
        swings[h] = np.ptp(E[:half]), np.ptp(E[half:])
        slopes[h] = np.polyfit(found.t, E, 1)[0] * LONG / np.ptp(E)
        shown = found.t <= SHOWN
        curves.append(
            Series(f"Δt = {fraction(h)}", found.t[shown], E[shown], look=marked(STEPS, h))
        )
    steady = all(abs(a / b - 1) < 0.02 for a, b in swings.values())
    drift = max(abs(s) for s in slopes.values())
    claims = [
        judged(
            "The kinetic energy is not conserved, but oscillates with unchanging amplitude.",
            steady,
            "swing in the first and in the second 1000 s: "
            + ", ".join(f"Δt = {fraction(h)}: {a:.5f} and {b:.5f}" for h, (a, b) in swings.items()),
        ),
        judged(
            "The kinetic energy oscillates without drift.",
            drift < 0.02,
            f"a straight line through the energy rises by at most {100 * drift:.2g} % of the swing in {LONG:g} s",
        ),
    ]

    def draw(figure):
        axes = figure.subplots()
        for curve in curves:
            axes.plot(curve.x, curve.y, **curve.look)
        axes.axhline(start.kinetic_energy[0], color="0.5", lw=0.8, ls="--")
        axes.set(
            xlabel="time",
            ylabel="kinetic energy",
            xlim=(0, SHOWN),
            title="Freely spinning rigid body, NMB; dashed: exact",
        )
        figure.legend(loc="outside lower center", ncols=4)

    return Figure(claims, draw, (SPANS, INDEPENDENT), curves, cells=numbers)


# --- figure 2 -------------------------------------------------------------------------------------


@item(PAPER, "fig2", title="Free body: turn per step in degrees", kind="figure", seconds=1)
def fig2(work):
    """The magnitude of the incremental rotation vector."""
    curves, largest = [], {}
    for h in work.each(STEPS):
        found = run(PROBLEM, "NMB", h, LONG)
        turn, shown = turn_per_step(found, h), found.t <= SHOWN
        largest[h] = turn.max()
        curves.append(
            Series(f"Δt = {fraction(h)}", found.t[shown], turn[shown], look=marked(STEPS, h))
        )
    claims = [
        judged(
            "The time steps are quite large, which can be clearly seen in Figure 2.",
            largest[0.5] > 20.0,
            "the body turns by up to "
            + ", ".join(f"{turn:.0f}° (Δt = {fraction(h)})" for h, turn in largest.items())
            + " in a step",
        )
    ]

    def draw(figure):
        axes = figure.subplots()
        for curve in curves:
            axes.plot(curve.x, curve.y, **curve.look)
        axes.set(
            xlabel="time",
            ylabel="‖ΔΨ‖ [degrees]",
            xlim=(0, SHOWN),
            ylim=(0, None),
            title="Freely spinning rigid body, NMB: incremental rotation",
        )
        figure.legend(loc="outside lower center", ncols=4)

    numbers = [
        Cell(
            f"Δt = {fraction(h)}",
            "largest turn per step [degrees]",
            None,
            round(float(turn), 2),
            None,
        )
        for h, turn in largest.items()
    ]
    return Figure(claims, draw, (SPANS,), curves, cells=numbers)


# --- figure 3 -------------------------------------------------------------------------------------

COUNTED = 1000.0  # seconds: over these the periods at large steps are counted


def character(method, h):
    """(period, amplitudes of the three components) of the body angular velocity."""
    found = run(PROBLEM, method, h, COUNTED)
    crossing, x = found.t, found.omega[:, 1]
    k = np.flatnonzero(x[:-1] * x[1:] < 0.0)
    zeros = crossing[k] - x[k] * (crossing[k + 1] - crossing[k]) / (x[k + 1] - x[k])
    return 2.0 * np.diff(zeros).mean(), np.ptp(found.omega, axis=0)


def fails(method, h):
    """Whether the method cannot take steps of this size."""
    try:
        run(PROBLEM, method, h, COUNTED)
    except ConvergenceError:
        return True
    return False


@item(
    PAPER,
    "fig3",
    title="Free body: angular velocity of NMB at large steps",
    kind="figure",
    seconds=1,
)
def fig3(work):
    """The components of the body angular velocity, steps of 5, 4, 2 and 1/8."""
    free = problems.get(PROBLEM)
    times = np.linspace(0.0, 100.0, 801)
    truth = exact.free_body(free.body, free.rotation0, free.omega0, times).omega
    period, swing = float(exact.periods(free.body, free.omega0).polhode), np.ptp(truth, axis=0)
    curves = [
        Series(
            f"exact, component {i + 1}", times, truth[:, i], look={"color": "0.6", "label": "exact"}
        )
        for i in range(3)
    ]
    for h in COARSE:
        found = run(PROBLEM, "NMB", h, 100.0)
        spacing = max(1, round(2.0 / h))
        curves += [
            Series(
                f"Δt = {fraction(h)}, component {i + 1}",
                found.t,
                found.omega[:, i],
                look=marked(COARSE, h, linewidth=0.6, markevery=spacing),
            )
            for i in range(3)
        ]
    compared = ("NMB", "AKW", "LP2", "SW", "HSTAGM")
    marks = {
        (m, h): character(m, h)
        for m in work.each(compared)
        for h in ((5.0,) if m != "NMB" else COARSE)
    }
    off = {key: (p / period - 1.0, np.abs(a / swing - 1.0).max()) for key, (p, a) in marks.items()}
    failing = [m for m in ("DMV", "DMV4", "DMV6") if fails(m, 5.0)]

    def words(method, h):
        return f"period {100 * off[method, h][0]:+.1f} %, amplitudes within {100 * off[method, h][1]:.1f} %"

    kept = {m for m in compared if abs(off[m, 5.0][0]) < 0.25 and off[m, 5.0][1] < 0.25}
    claims = [
        judged(
            "The qualitative character is very well preserved even for large time steps.",
            all(abs(off["NMB", h][0]) < 0.15 and off["NMB", h][1] < 0.25 for h in COARSE),
            "; ".join(f"Δt = {fraction(h)}: {words('NMB', h)}" for h in COARSE)
            + f" of the exact motion (period {period:.2f})",
        ),
        judged(
            "For Δt = 5 NMB performs on par with the implicit midpoint rule (AKW).",
            {"NMB", "AKW"} <= kept,
            f"NMB: {words('NMB', 5.0)}; AKW: {words('AKW', 5.0)}",
        ),
        judged(
            "The midpoint rule alone, of the methods of McLachlan & Zanna, captures the character at Δt = 5.",
            "AKW" in kept and "LP2" not in kept and len(failing) == 3,
            f"within 25 % of period and amplitudes: {', '.join(sorted(kept))}; LP2: {words('LP2', 5.0)}; SW: "
            f"{words('SW', 5.0)}; HSTAGM: {words('HSTAGM', 5.0)}",
        ),
        judged(
            "All discrete Moser-Veselov integrators fail at Δt = 5.",
            len(failing) == 3,
            f"their equation has no solution there: {', '.join(failing)}",
        ),
    ]

    def draw(figure):
        panels = figure.subplots(3, 1, sharex=True)
        for i, axes in enumerate(panels):
            for curve in curves[i::3]:
                axes.plot(curve.x, curve.y, **curve.look)
            axes.set_ylabel(f"Ω{'₁₂₃'[i]}")
        panels[0].set_title("Freely spinning rigid body, NMB: body-frame angular velocity")
        panels[-1].set(xlabel="time", xlim=(0, 100))
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)

    numbers = [
        Cell(
            f"{m}, Δt = {fraction(h)}",
            "period of the angular velocity",
            None,
            round(float(p), 3),
            None,
            f"exact: {period:.3f}",
        )
        for (m, h), (p, _) in marks.items()
    ]
    return Figure(
        claims,
        draw,
        (f"Periods and amplitudes are taken over {COUNTED:g} s.",),
        curves,
        (6.8, 6.4),
        cells=numbers,
    )
