"""Figures 6 and 7: the toss of a book about its intermediate axis, section 3.2."""

from functools import cache
from itertools import chain

import numpy as np

from polhode import exact, problems
from polhode.loads import torques
from polhode.papers import REFERENCE, Cell, Figure, Series, item, judged
from polhode.papers._convergence import INDEPENDENT, run
from polhode.papers._style import BLUE, GREEN, VERMILION
from polhode.papers.krysl_endres2004.free_body import PAPER

PROBLEM = "krysl/book-toss"
COARSE, FINE = 0.05, 0.001
METHODS = ("NMB", "SW")
COLOURS = (VERMILION, BLUE, GREEN)  # of the three components
TOSSED = np.array([40.0, 0.2, 0.0])  # spatial momentum after the toss
NOTE = (
    "The time of release is not printed: 2, as in Simo & Wong.  At the jumps of the torque, where the printed intervals "
    "overlap, the mean of both sides is taken.  The inertia breaks the triangle inequality, as printed."
)


@cache
def exact_toss(step):
    """(times, body angular velocities) after the nudge of one step, exactly: a spin-up, a nudge, a
    free flight."""
    book = problems.get(PROBLEM)
    toss = book.torque(step).params
    release, spin = toss.release, toss.toss * toss.release / book.body.moments[0]
    nudge = exact.reference(
        book.body,
        (0.0, step),
        torque=torques.constant((0.0, toss.disturbance / step, 0.0)),
        rotation0=(0.5 * spin * release, 0.0, 0.0),
        omega0=(spin, 0.0, 0.0),
    )
    times = run(PROBLEM, "NMB", step).t
    times = times[times > release + 1.5 * step]
    flight = exact.free_body(
        book.body, nudge.quaternion[-1], nudge.omega[-1], times - release - step
    )
    return times, flight.omega


def after_toss(method, step):
    """The run, and which of its points are after the nudge, whose second jump is spread over one
    step more."""
    found = run(PROBLEM, method, step)
    return found, found.t > problems.get(PROBLEM).torque(step).params.release + 1.5 * step


def velocity_error(method, step):
    """Largest error of the body angular velocity after the toss, relative to the largest
    velocity."""
    found, free = after_toss(method, step)
    _, truth = exact_toss(step)
    return float(
        np.linalg.norm(found.omega[free] - truth, axis=1).max()
        / np.linalg.norm(truth, axis=1).max()
    )


def flips(times, spin):
    """The times at which the spin about the first axis changes sign."""
    k = np.flatnonzero(spin[:-1] * spin[1:] < 0.0)
    return times[k] - spin[k] * np.diff(times)[k] / np.diff(spin)[k]


def _curves(quantity):
    """By method, for each step, the three components; circles for the coarse step, crosses for the
    fine one, as printed."""
    curves = {method: [] for method in METHODS}
    for method in METHODS:
        for step, marker, every, thin in ((COARSE, "o", 4, 1), (FINE, "x", 50, 10)):
            found = run(PROBLEM, method, step)
            curves[method] += [
                Series(
                    f"{method}, Δt = {step:g}, component {i + 1}",
                    found.t[::thin],
                    getattr(found, quantity)[::thin, i],
                    look={
                        "color": COLOURS[i],
                        "marker": marker,
                        "markevery": every,
                        "linewidth": 0.7,
                        "markersize": 4,
                        "linestyle": "--" if step == FINE else "-",
                        "markerfacecolor": "none",
                    },
                )
                for i in range(3)
            ]
    return curves


def _draw(curves, symbol, title, limits):
    def draw(figure):
        from matplotlib.lines import Line2D

        panels = figure.subplots(1, 2, sharey=True)
        for axes, method in zip(panels, METHODS, strict=True):
            for curve in curves[method]:
                axes.plot(curve.x, curve.y, **curve.look)
            axes.set(xlabel="time", xlim=(0, 12), ylim=limits, title=method)
        panels[0].set_ylabel(title)
        handles = [
            Line2D([], [], color=c, label=f"{symbol}{n}")
            for c, n in zip(COLOURS, "₁₂₃", strict=True)
        ]
        handles += [
            Line2D(
                [], [], color="0.3", marker=m, ls=ls, markerfacecolor="none", label=f"Δt = {h:g}"
            )
            for h, m, ls in ((COARSE, "o", "-"), (FINE, "x", "--"))
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=5)

    return draw


# --- figure 6 -------------------------------------------------------------------------------------


@item(
    PAPER,
    "fig6",
    title="Book toss: body-frame angular velocities of NMB and SW",
    kind="figure",
    seconds=2,
)
def fig6(work):
    """Steps of 0.05 and 0.001."""
    energy = {}
    for method in work.each(METHODS):
        found, free = after_toss(method, COARSE)
        energy[method] = found.kinetic_energy[free]
    nmb, sw = (energy[m] for m in METHODS)
    fine, _ = after_toss("SW", FINE)
    times, truth = exact_toss(COARSE)
    exact_energy = problems.get(PROBLEM).body.kinetic_energy(truth)[0]
    flights = {"exact": truth} | {m: run(PROBLEM, m, COARSE).omega[-len(times) :] for m in METHODS}
    turned = {name: flips(times, omega[:, 0]) for name, omega in flights.items()}
    pace = {name: np.diff(t).mean() for name, t in turned.items()}
    swing = np.abs(np.ptp(flights["NMB"], axis=0) / np.ptp(truth, axis=0) - 1.0).max()
    numbers = [
        Cell(
            "exact",
            "energy after the toss",
            160.02,
            float(nmb[0]),
            bool(abs(nmb[0] - 160.02) < 0.01),
            source=REFERENCE,
        ),
        Cell(
            "NMB, Δt = 0.05",
            "lowest energy to T = 12",
            148.93,
            float(nmb.min()),
            bool(abs(nmb.min() - 148.93) < 0.01),
            source=REFERENCE,
        ),
        Cell(
            "NMB, Δt = 0.05",
            "highest energy to T = 12",
            160.02,
            float(nmb.max()),
            bool(abs(nmb.max() - 160.02) < 0.01),
            source=REFERENCE,
        ),
        Cell(
            "SW, Δt = 0.05",
            "highest energy to T = 12",
            "> 200",
            float(sw.max()),
            bool(sw.max() > 200.0),
            source=REFERENCE,
        ),
    ]
    late = fine.kinetic_energy[-1]
    claims = [
        judged(
            "Rotation about the axis of the intermediate moment is unstable: the book flips in mid-flight.",
            len(turned["exact"]) > 0,
            f"the exact Ω₁ changes sign {len(turned['exact'])} times in the 10 s after a toss with a nudge of "
            f"{TOSSED[1] / TOSSED[0]:.1%}",
        ),
        judged(
            "SW tends to become unstable for larger time steps.",
            sw.max() > 1.2 * sw[0] and abs(late / sw[0] - 1) < 0.01,
            f"its energy grows from {sw[0]:.2f} to {sw.max():.1f} by t = 12 with Δt = 0.05 and stays at {late:.2f} with "
            "0.001",
        ),
        judged(
            "The Newmark algorithm has no trouble maintaining stability.",
            nmb.max() < 1.001 * nmb[0] and nmb.min() > 0.9 * nmb[0],
            f"its energy stays between {nmb.min():.2f} and {nmb.max():.2f}; exact: {exact_energy:.2f}",
        ),
        judged(
            "Even the accuracy of the angular velocities seems quite acceptable.",
            abs(pace["NMB"] / pace["exact"] - 1.0) < 0.05 and swing < 0.05,
            f"with Δt = 0.05 the book flips every {pace['NMB']:.3f} s (exact {pace['exact']:.3f}, SW {pace['SW']:.3f}) and "
            f"the amplitudes are within {swing:.1%}; the phase is lost, the last flip comes "
            f"{turned['exact'][-1] - turned['NMB'][-1]:.2f} s early",
        ),
    ]
    curves = _curves("omega")
    return Figure(
        claims,
        _draw(curves, "Ω", "body-frame angular velocity", (-20, 12)),
        (NOTE, INDEPENDENT),
        [*chain.from_iterable(curves.values())],
        (7.6, 4.6),
        cells=numbers,
    )


# --- figure 7 -------------------------------------------------------------------------------------


@item(
    PAPER,
    "fig7",
    title="Book toss: spatial angular momenta of NMB and SW",
    kind="figure",
    seconds=1,
)
def fig7(work):
    """The same runs."""
    off = {}
    for method in work.each(METHODS):
        found, free = after_toss(method, COARSE)
        off[method] = np.linalg.norm(
            found.momentum_spatial[free] - TOSSED, axis=1
        ) / np.linalg.norm(TOSSED)
    nmb, sw = (off[m] for m in METHODS)
    half = len(nmb) // 2
    sw_run, free = after_toss("SW", COARSE)
    gain = sw_run.kinetic_energy[-1] / sw_run.kinetic_energy[free][0]
    end = np.abs(sw_run.momentum_spatial[-1] - TOSSED).max()
    numbers = [
        Cell(
            "SW, Δt = 0.05",
            "largest |π − (40, 0.2, 0)| at T = 12",
            0,
            float(end),
            bool(end < 1e-11),
            "exact",
            REFERENCE,
        )
    ]
    claims = [
        judged(
            "The Newmark algorithm does not conserve momenta exactly.",
            nmb.max() > 1e-6,
            f"the spatial momentum is off by up to {nmb.max():.1%} of |π| with Δt = 0.05",
        ),
        judged(
            "The oscillations of its momenta are limited, and more or less periodic.",
            nmb[half:].max() < 1.5 * nmb[:half].max(),
            f"largest deviation {nmb[:half].max():.1%} in the first 5 s after the toss, {nmb[half:].max():.1%} in the next 5",
        ),
        judged(
            "SW conserves momenta exactly, even where it is unstable.",
            sw.max() < 1e-12 and gain > 1.2,
            f"off by at most {sw.max():.1g} of |π| while its energy grows to {gain:.2f} times what it should be",
        ),
        judged(
            "Conservation of momenta on its own does not mean that good results follow.",
            sw.max() < 1e-12 and velocity_error("SW", COARSE) > velocity_error("NMB", COARSE),
            f"largest error of Ω relative to the largest |Ω|: SW {velocity_error('SW', COARSE):.2f}, NMB "
            f"{velocity_error('NMB', COARSE):.2f}",
        ),
    ]
    curves = _curves("momentum_spatial")
    return Figure(
        claims,
        _draw(curves, "π", "spatial angular momentum", None),
        (NOTE,),
        [*chain.from_iterable(curves.values())],
        (7.6, 4.6),
        cells=numbers,
    )
