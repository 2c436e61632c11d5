"""Figures 8 and 9: the invariants of Lagrange's heavy top, section 3.3."""

import numpy as np

from polhode import Stepper, exact, problems
from polhode.core.layout import layout
from polhode.core.vec import apply, dot
from polhode.papers import REFERENCE, Cell, Figure, Series, Work, item, judged
from polhode.papers._convergence import halvings, ladder, run, slope
from polhode.papers._style import look
from polhode.papers.krysl_endres2004.free_body import PAPER
from polhode.papers.methods.newmark_matrix import MatrixState

PROBLEM, STEP = "krysl/lagrange-top", 0.05
UPDATES = ("NMB-matrix", "NMB-matrix-orth")
DATA = (
    "The paper gives neither inertia nor initial state: diag(7, 7, 2)/8, mass 1, Ω = (0, 0, 1) and a tilt of π/16 about the "
    "first axis, as in the DiffMan example it refers to."
)


def exact_top(times):
    """The exact motion."""
    top = problems.get(PROBLEM)
    return exact.lagrange_top(
        top.body, top.torque().params.moment, top.rotation0, top.omega0, times
    )


def invariants(matrix, omega, sign=1.0):
    """(H, pi.chi, pi.gamma, |R^T gamma|) with gamma up; `sign` -1 for gamma along gravity, as
    printed."""
    top = problems.get(PROBLEM)
    Pi, height = top.body.momentum(omega), matrix[..., 2, 2]
    pi = np.einsum("...ij,...j->...i", matrix, Pi)
    H = 0.5 * np.sum(omega * Pi, axis=-1) + sign * top.torque().params.moment * height
    return H, Pi[..., 2], sign * pi[..., 2], np.linalg.norm(matrix[..., 2, :], axis=-1)


def variation(values):
    """Largest change, relative to the largest size."""
    return float(np.ptp(values) / np.abs(values).max())


# --- figure 8 -------------------------------------------------------------------------------------


@item(PAPER, "fig8", title="Lagrangian top: error in the Hamiltonian", kind="figure", seconds=3)
def fig8(work):
    """H of NMB with steps of 0.05 to t = 100."""
    runs = {m: run(PROBLEM, m, STEP) for m in work.each(("NMB", "CG-RK4"))}
    error = {m: r.total_energy / r.total_energy[0] - 1.0 for m, r in runs.items()}
    nmb, half = error["NMB"], len(error["NMB"]) // 2
    rise = abs(np.polyfit(runs["NMB"].t, nmb, 1)[0]) * 100.0
    largest = np.abs(nmb).max()
    motion = exact_top(np.linspace(0.0, 100.0, 2001))
    kept = [variation(v) for v in invariants(motion.matrix, motion.omega)]
    claims = [
        judged(
            "The Lagrangian top conserves H, π·χ, π·γ and the norm of γ in the body frame.",
            max(kept) < 1e-12,
            "they vary by "
            + ", ".join(f"{k:.1g}" for k in kept)
            + " along the exact motion, H with γ pointing up",
        ),
        judged(
            "The error in the Hamiltonian does not drift.",
            rise < 0.01 * largest and np.ptp(nmb[half:]) < 1.02 * np.ptp(nmb[:half]),
            f"a line through it rises by {100 * rise / largest:.2g} % of its size in 100 s; its swing is "
            f"{np.ptp(nmb[:half]):.5f} in the first half and {np.ptp(nmb[half:]):.5f} in the second",
        ),
        judged(
            "The error in the Hamiltonian stays less than half a percent of the exact Hamiltonian.",
            largest < 0.005,
            f"{100 * largest:.2f} % with the data assumed here",
        ),
        _like_crouch_grossman(runs, error),
    ]
    percent = round(100 * float(largest), 3)
    numbers = [
        Cell(
            "NMB",
            "largest error of H [%]",
            "< 0.5",
            percent,
            percent < 0.5,
            "the text says less than half a percent",
        ),
        Cell(
            "NMB",
            "the same, computed independently",
            0.91,
            percent,
            abs(percent - 0.91) < 0.01,
            source=REFERENCE,
        ),
    ]
    curves = [
        Series(m, runs[m].t, 100 * error[m], look=look(m, marker="", linewidth=0.8)) for m in runs
    ]

    def draw(figure):
        axes = figure.subplots()
        for curve in curves:
            axes.plot(curve.x, curve.y, **curve.look)
        for y in (-0.5, 0.5):
            axes.axhline(y, color="0.5", lw=0.8, ls="--")
        axes.set(
            xlabel="time",
            ylabel="(H − H₀)/H₀ [%]",
            xlim=(0, 100),
            title="Lagrangian top, Δt = 0.05; dashed: half a percent",
        )
        figure.legend(loc="outside lower center", ncols=2)

    return Figure(claims, draw, (DATA,), curves, (6.8, 4.0), cells=numbers)


def _like_crouch_grossman(runs, error):
    """NMB against the Crouch-Grossman method with the classical tableau, at t = 10."""
    steps = halvings(STEP, 5)
    found = ladder(Work(), PROBLEM, ("NMB", "CG-RK4"), steps, 10.0)
    slopes = [slope(found.steps, found.attitude[m]) for m in ("NMB", "CG-RK4")]
    ratios = found.attitude["CG-RK4"] / found.attitude["NMB"]
    sizes = [np.abs(error[m]).max() for m in ("NMB", "CG-RK4")]
    vertical = [
        np.abs(runs[m].momentum_spatial[:, 2] - runs[m].momentum_spatial[0, 2]).max()
        for m in ("NMB", "CG-RK4")
    ]
    alike = (
        abs(slopes[0] - slopes[1]) < 0.3
        and np.all((ratios > 1 / 3) & (ratios < 3))
        and 1 / 3 < sizes[0] / sizes[1] < 3
    )
    return judged(
        "NMB is about as accurate, in the invariants and in the global error (constant as well as slope), as the "
        "Crouch-Grossman method with the RK4 tableau.",
        alike,
        f"largest error of H {100 * sizes[0]:.2f} % (NMB, no drift) and {100 * sizes[1]:.2f} % (CG-RK4, drifting), of "
        f"π·γ {vertical[0]:.2g} and {vertical[1]:.2g}; slopes of the attitude error at t = 10: {slopes[0]:.2f} and "
        f"{slopes[1]:.2f}; CG-RK4's error is {ratios[0]:.1f} times NMB's at Δt = 0.05 and {ratios[-1]:.2f} times at "
        f"{steps[-1]:g}, for four times the torques",
    )


# --- figure 9 -------------------------------------------------------------------------------------


def axis_momentum(stepper: Stepper) -> float:
    """pi.chi = (R I Om) . (R e3) of a Stepper of one of the UPDATES, with R as the method keeps it
    (principal axes)."""
    s = layout(MatrixState).unpack(stepper.state.memory.reshape(-1, 1), 0)
    Pi = tuple((stepper.body.moments * s.Om).tolist())
    return float(dot(apply(s.R, Pi), apply(s.R, (0.0, 0.0, 1.0))))


@item(
    PAPER,
    "fig9",
    title="Lagrangian top: momentum about the axis, with and without re-orthogonalisation",
    kind="figure",
    seconds=2,
)
def fig9(work):
    """pi.chi along 2000 steps of 0.05."""
    top, times = problems.get(PROBLEM), STEP * np.arange(2001)
    found, largest = {}, {}
    for method in work.each(UPDATES):
        stepper = Stepper(
            top.body,
            top.torque(),
            step=STEP,
            method=method,
            rotation0=top.rotation0,
            omega0=top.omega0,
        )
        values = [axis_momentum(stepper)]
        for _ in times[1:]:
            stepper.step()
            values.append(axis_momentum(stepper))
        found[method] = np.abs(np.array(values) - values[0])
        largest[method] = found[method].max()
    plain, orthogonal = (run(PROBLEM, m, STEP) for m in UPDATES)
    apart = np.abs(plain.matrix - orthogonal.matrix).max()
    eps = np.finfo(float).eps
    claims = [
        judged(
            "The update by matrix products alone has the larger error.",
            largest[UPDATES[0]] > 5 * largest[UPDATES[1]],
            f"largest error of π·χ: {largest[UPDATES[0]]:.2g} without and {largest[UPDATES[1]]:.2g} with "
            "re-orthogonalisation",
        ),
        judged(
            "With re-orthogonalisation the error is down to machine precision.",
            largest[UPDATES[1]] < 20 * eps,
            f"{largest[UPDATES[1]]:.2g}, with π·χ = {plain.momentum[0, 2]:g} and a machine precision of {eps:.1g}",
        ),
        judged(
            "Hardly any effect may be seen in the physical characteristics of the motion.",
            apart < 1e-10,
            f"the attitudes of the two runs differ by at most {apart:.1g} in 100 s",
        ),
    ]
    numbers = [
        Cell(m, "largest error of π·χ", None, float(value), None) for m, value in largest.items()
    ]
    looks = {
        UPDATES[0]: {"color": "#D55E00", "label": "matrix products"},
        UPDATES[1]: {"color": "#0072B2", "label": "re-orthogonalised at every step"},
    }
    curves = [
        Series(m, times, values, look={"linewidth": 0.8} | looks[m]) for m, values in found.items()
    ]

    def draw(figure):
        axes = figure.subplots()
        for curve in curves:
            axes.semilogy(curve.x[1:], np.maximum(curve.y[1:], eps / 16), **curve.look)
        axes.set(
            xlabel="time",
            ylabel="|π·χ − (π·χ)₀|",
            xlim=(0, 100),
            title="Lagrangian top, NMB, Δt = 0.05",
        )
        figure.legend(loc="outside lower center", ncols=2)

    return Figure(claims, draw, (DATA,), curves, (6.8, 4.0), cells=numbers)
