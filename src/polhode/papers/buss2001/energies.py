"""Figures 4 and 5 of Buss 2001, energy after many steps, and the runs of 200 million steps."""

import numpy as np

from polhode.core.vec import normalise, qexp, qmul, qrotate, qrotate_t
from polhode.exact import free_body
from polhode.papers import (
    FAILS,
    HOLDS,
    OTHER_REASON,
    Cell,
    Claim,
    Figure,
    Series,
    Table,
    item,
    judged,
)
from polhode.papers._style import look, plain_ticks
from polhode.papers.buss2001.tables import PROBLEM, fig4_fig5_energies, printed, runner
from polhode.problems import get

GROUP_1 = ("taylor2-augmented", "taylor3", "taylor4")
GROUP_2 = ("taylor2", "taylor3-false", "RK-buss", "ABAM-buss")
SYMPLECTIC = ("MR2-123", "MR2-231")


def start_energy():
    """Energy at the start."""
    problem = get(PROBLEM)
    return 0.5 * float(problem.body.moments @ problem.omega0**2)


def energy(method, h, count):
    """Energy after so many steps."""
    _, omega = runner(method)(h, count)
    return 0.5 * float(get(PROBLEM).body.moments @ omega**2)


def cell_of(row):
    """A printed energy beside ours, to the same digits."""
    return Cell(
        row.algorithm, f"N = {row.N:g}, h = {row.h:g}", row.printed, row.ours, row.agrees, row.note
    )


class Energies(dict):
    """How far the energy has gone by (method, h)."""

    def __init__(self, rows):
        super().__init__({(row.method, row.h): row.value - start_energy() for row in rows})
        self.steps = sorted({h for _, h in self})
        self.methods = list(dict.fromkeys(method for method, _ in self))

    def worst(self, methods, h):
        """The largest change among the methods there are."""
        return max(abs(self[name, h]) for name in methods if (name, h) in self)

    def best(self, methods, h):
        """The smallest."""
        return min(abs(self[name, h]) for name in methods if (name, h) in self)


def group_claim(found):
    """Group 1 against group 2, step by step."""
    pairs = [(h, found.worst(GROUP_1, h), found.best(GROUP_2, h)) for h in found.steps]
    return judged(
        "The group-1 algorithms conserve energy consistently better than the group-2 algorithms",
        all(one < two for _, one, two in pairs),
        "worst change of group 1 / best of group 2: "
        + ", ".join(f"h = {h:g} {one:.2g} / {two:.2g}" for h, one, two in pairs),
    )


def symplectic_claim(found):
    """The McLachlan-Reich methods against all others."""
    others = [name for name in found.methods if name not in SYMPLECTIC]
    beaten = {
        name: [h for h in found.steps if abs(found[name, h]) > found.best(others, h)]
        for name in SYMPLECTIC
    }
    text = "; ".join(
        f"{name} "
        + (
            f"is beaten at h = {', '.join(f'{h:g}' for h in steps)}"
            if steps
            else "is best at every step"
        )
        for name, steps in beaten.items()
    )
    return judged(
        "The McLachlan-Reich algorithms are by far the best at energy conservation",
        not any(beaten.values()),
        text,
    )


def rotation_claim(steps):
    """The mean rotations in the headings."""
    problem = get(PROBLEM)
    omega = free_body(
        problem.body, problem.rotation0, problem.omega0, np.linspace(0.0, 40.0, 20001)
    ).omega
    rate = float(np.degrees(np.linalg.norm(omega, axis=1).mean()))
    said = printed()["mean_rotation"]
    ours = {h: f"{rate * h:.{len(said[repr(h)].split('.')[1])}f}" for h in steps}
    return judged(
        "The mean rotations per step are " + ", ".join(f"{said[repr(h)]}°" for h in steps),
        all(ours[h] == said[repr(h)] for h in steps),
        "found " + ", ".join(f"{value}°" for value in ours.values()),
    )


def draw(figure, rows, found):
    """The change of energy against the step; ours as in every figure, the printed values as
    rings."""
    axes = figure.add_subplot()
    for name in found.methods:
        own = [row for row in rows if row.method == name]
        axes.loglog(
            [row.h for row in own],
            [max(abs(found[name, row.h]), 1e-7) for row in own],
            **look(name),
        )
        axes.loglog(
            [row.h for row in own],
            [max(abs(float(row.printed) - start_energy()), 1e-7) for row in own],
            "o",
            mfc="none",
            mec="#999999",
            ms=8,
            mew=0.6,
        )
    axes.loglog([], [], "o", mfc="none", mec="#999999", ms=8, mew=0.6, label="printed")
    axes.set(xlabel="step h [s]", ylabel="|E − E₀|", ylim=(1e-6, 200))
    plain_ticks(axes.xaxis, found.steps)
    axes.set_title("Change of energy at the end of the run")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def result(rows, claims):
    """The table of some cells."""
    found = Energies(rows)
    series = [
        Series(name, found.steps, [found.get((name, h), np.nan) for h in found.steps])
        for name in found.methods
    ]
    return Table(
        cells=[cell_of(row) for row in rows],
        claims=claims,
        draw=lambda figure: draw(figure, rows, found),
        series=series,
        notes=["The paper takes N − 1 steps where it says N."],
        size=(7.6, 4.4),
    )


# --- figure 4 -------------------------------------------------------------------------------------


@item("buss-2001", "fig4", title="Energy after N steps: small steps", kind="table", seconds=25)
def fig4(work):
    """Every cell of the table, or its columns of 100 000 steps."""
    names = list(
        dict.fromkeys(cell["method"] for cell in printed()["energies"] if cell["figure"] == 4)
    )
    most = 100_000 if work.quick else 800_000
    rows = [row for name in work.each(names) for row in fig4_fig5_energies([name], (4,), most)]
    found = Energies(rows)
    return result(rows, [*_claims_of_fig4(found), *_claims_on_terms(found)])


def _claims_of_fig4(found):
    others = [name for name in found.methods if name not in (*SYMPLECTIC, "taylor2-augmented")]
    gains = [found[name, h] > 0.0 for name in others for h in found.steps]
    losses = [found["taylor2-augmented", h] < 0.0 for h in found.steps]
    h, last = found.steps[0], found.steps[-1]
    false_third = [abs(found["taylor3-false", x]) / abs(found["taylor2", x]) for x in found.steps]
    wong = max(abs(found["SW-buss", x] / found["taylor1", x] - 1.0) for x in found.steps)
    right = energy("SW1", h, 99_999) - start_energy()
    fourth = energy("MR4-231", last, 99_999) - start_energy()
    climbs = np.array([energy("taylor1", 0.0005, count) for count in range(0, 2001, 100)])
    return [
        symplectic_claim(found),
        group_claim(found),
        judged(
            "The fourth-order McLachlan-Reich algorithm conserves energy even better",
            abs(fourth) < abs(found["MR2-231", last]),
            f"change at h = {last:g}: {fourth:.1e} against {found['MR2-231', last]:.1e} of the second-order one",
        ),
        judged(
            "All non-symplectic algorithms gain energy, with the sole exception of the augmented second-order one, which "
            "loses "
            "it",
            all(gains) and all(losses),
            f"{sum(gains)} of {len(gains)} cells of the others gain; {sum(losses)} of "
            f"{len(losses)} of the augmented second-order method lose",
        ),
        judged(
            "The first-order method gains energy monotonically",
            bool(np.all(np.diff(climbs) > 0.0)),
            f"h = 0.0005, every 100 of 2000 steps: from {climbs[0]:.4f} to {climbs[-1]:.4f}, never down",
        ),
        judged(
            "The false third-order method is slightly worse than the second-order method (slides)",
            all(1.0 < ratio < 1.5 for ratio in false_third if ratio != 1.0),
            "its change of energy is "
            + ", ".join(f"{ratio:.2f}" for ratio in false_third)
            + " times as large",
        ),
        Claim(
            "The Simo-Wong method is almost identical to the first-order method",
            FAILS if abs(right) < 1.0 else HOLDS,
            f"as it was run it is (to {wong:.1%}), by a factor h too many; the method as printed changes the energy by "
            f"{right:.2g} at h = {h:g}, where the first-order method changes it by {found['taylor1', h]:.3g}",
        ),
        rotation_claim(found.steps),
    ]


def _claims_on_terms(found):
    """The extra term of the third-order method."""
    counts = {
        h: cell["N"] - 1
        for cell in printed()["energies"]
        for h in found.steps
        if (cell["figure"], cell["method"], cell["h"]) == (4, "taylor3", h)
    }
    ratios = {
        h: found["taylor3", h] / (energy("taylor3-plain", h, count) - start_energy())
        for h, count in counts.items()
    }
    return [
        judged(
            "The term h³/36 ω̈ × ω of the third-order method reduces the energy drift by a factor of about one third",
            any(0.25 < ratio < 0.75 for ratio in ratios.values()),
            "drift with the term over drift without it: "
            + ", ".join(f"{ratio:.2f} at h = {h:g}" for h, ratio in ratios.items()),
        )
    ]


# --- figure 5 -------------------------------------------------------------------------------------


@item("buss-2001", "fig5", title="Energy after N steps: large steps", kind="table", seconds=5)
def fig5(work):
    """Every cell of the table."""
    names = list(
        dict.fromkeys(cell["method"] for cell in printed()["energies"] if cell["figure"] == 5)
    )
    rows = [row for name in work.each(names) for row in fig4_fig5_energies([name], (5,))]
    found = Energies(rows)
    averaged = {
        row.h: f"{quaternion_average(row.h, row.N - 1):.{len(row.printed.split('.')[1])}f}"
        for row in rows
        if row.method == "RK-buss"
    }
    misses = [row for row in rows if row.method == "RK-buss" and averaged[row.h] != row.printed]
    vectors = sum(row.agrees for row in rows if row.method == "RK-buss")
    return result(
        rows,
        [
            symplectic_claim(found),
            group_claim(found),
            rotation_claim(found.steps),
            Claim(
                "The rotations of the Runge-Kutta method were averaged as quaternions in Euclidean 4-space",
                FAILS,
                f"averages of rotation vectors reproduce {vectors} of {len(averaged)} printed energies, of quaternions "
                f"{len(averaged) - len(misses)} ({', '.join(averaged.values())})",
            ),
        ],
    )


def quaternion_average(h, count):
    """Energy of the classical Runge-Kutta stages with the four rotations averaged as
    quaternions."""
    problem = get(PROBLEM)
    J = problem.body.moments
    L = tuple((J * problem.omega0).tolist())
    q = (0.0, 0.0, 0.0, 1.0)

    def rate(q):
        return tuple(
            h * x
            for x in qrotate(
                q, tuple(m / j for m, j in zip(qrotate_t(q, L), J.tolist(), strict=True))
            )
        )

    for _ in range(count):
        k1 = rate(q)
        k2 = rate(qmul(qexp(tuple(0.5 * x for x in k1)), q))
        k3 = rate(qmul(qexp(tuple(0.5 * x for x in k2)), q))
        k4 = rate(qmul(qexp(k3), q))
        mean = np.array([1.0, 2.0, 2.0, 1.0]) @ np.array([qexp(k) for k in (k1, k2, k3, k4)])
        q = normalise(qmul(tuple((mean / np.linalg.norm(mean)).tolist()), q))
    return 0.5 * float(np.sum(np.array(qrotate_t(q, L)) ** 2 / J))


# --- 200 million steps ----------------------------------------------------------------------------


@item(
    "buss-2001",
    "long-runs",
    title="McLachlan-Reich over 200 million steps",
    kind="figure",
    seconds=60,
)
def long_runs(work):
    """Energy at the end, and the range it stays in, after 2e5 steps and after all of them."""
    runs = printed()["long_runs"]
    numbers, series, ranges = [], [], {}
    for number, run in enumerate(runs):
        count = 2_000_000 if work.quick else run["N"] - 1
        short, whole = (
            _energies(
                run,
                steps,
                every,
                lambda done, total, number=number: work.progress(
                    (number + done / total) / len(runs)
                ),
            )
            for steps, every in ((200_000, 1), (count, max(1, count // 200_000) | 1))
        )
        end = whole[1][-1]
        ranges[run["method"]] = [(low.min(), low.max()) for _, low in (short, whole)]
        inside = short[1].min() - 1e-4 <= float(run["printed"]) <= short[1].max() + 1e-4
        numbers.append(
            Cell(
                run["algorithm"],
                f"energy after {count + 1:.0e} steps",
                run["printed"],
                f"{end:.4f}",
                None if work.quick else bool(inside),
                "a phase of an oscillation between "
                f"{short[1].min():.5f} and {short[1].max():.5f}; a match is to lie in it",
            )
        )
        thin = np.linspace(0, len(whole[0]) - 1, 2000).astype(int)
        series.append(
            Series(run["method"], whole[0][thin], whole[1][thin], look=look(run["method"]))
        )
    still = max(
        abs(a - b) for (a0, a1), (b0, b1) in ranges.values() for a, b in ((a0, b0), (a1, b1))
    )
    text = "; ".join(
        f"{name} stays in [{first[0]:.5f}, {first[1]:.5f}] over the first 2e5 steps and in [{every[0]:.5f}, "
        f"{every[1]:.5f}] over all"
        for name, (first, every) in ranges.items()
    )
    claim = Claim(
        "The energy after 200 million steps represents a very modest drift",
        OTHER_REASON if still < 2e-4 else FAILS,
        f"it is no drift: {text}",
    )
    bounded = judged(
        "Symplectic algorithms have a fluctuating energy that never leaves a bounded region",
        still < 2e-4,
        f"the ends of the two ranges move by at most {still:.1e}",
    )
    return Figure(
        series=series,
        claims=[claim, bounded],
        cells=numbers,
        draw=lambda figure: _draw_long(figure, series),
        size=(7.0, 4.6),
    )


def _energies(run, count, every, progress):
    """Times and energies along a long run."""
    path = get(PROBLEM).integrate(
        run["method"], run["h"], (0.0, run["h"] * count), every=every, progress=progress
    )
    return path.t, path.kinetic_energy


def _draw_long(figure, series):
    for axes, curve in zip(figure.subplots(len(series), 1, sharex=True), series, strict=True):
        axes.plot(curve.x, curve.y, ".", ms=1.6, color=curve.look["color"])
        axes.axhline(start_energy(), color="#777777", lw=0.8)
        axes.set(ylabel="energy")
        axes.set_title(f"{curve.name}, h = 0.02: 81.4° per step")
    axes.set(xlabel="time [s]")
