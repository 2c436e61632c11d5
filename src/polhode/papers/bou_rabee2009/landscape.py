"""Figure 2: the path of Lie-Newmark in axis/angle space, among the level surfaces of the
potential."""

import numpy as np

from polhode import problems, rotations
from polhode.loads import torques
from polhode.papers import Cell, Figure, Series, item, judged
from polhode.papers._convergence import run
from polhode.papers._style import BLUE, VERMILION
from polhode.papers.bou_rabee2009.drift import PAPER, PROBLEM, long_run

STEP, DRAWN = 0.25, 400.0
# shade and opacity; darker: lower
LEVELS = {-0.1: ("0.1", 0.28), 0.05: ("0.45", 0.16), 0.4: ("0.7", 0.10)}
ATTRACTOR = np.array(torques.ATTRACTOR)


def distance(q, p=(0.0, 0.0, 0.0, 1.0)):
    """dist(Q1, Q2) of eq. (6), from quaternions."""
    return 2.0 * np.sqrt(2.0) * np.sin(0.5 * rotations.angle_between(q, np.asarray(p)))


def potential(v, alpha=None):
    """U_alpha of eq. (7) at rotation vectors v."""
    alpha = problems.get(PROBLEM).torque().params.alpha if alpha is None else alpha
    q = rotations.exp(v)
    return (distance(q) - 1.0) ** 2 - alpha / distance(q, rotations.exp(ATTRACTOR))


def directions(rows=25, columns=37):
    """Unit vectors over the sphere, (rows, columns, 3)."""
    theta, phi = np.meshgrid(
        np.linspace(0.0, np.pi, rows), np.linspace(0.0, 2 * np.pi, columns), indexing="ij"
    )
    return np.stack(
        [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1
    )


def crossings(level, centre, radii, rays):
    """Where U passes the level along rays from `centre`: first up or down, then the other way; NaN
    where it does not."""
    values = potential(centre + radii[:, None, None, None] * rays) - level
    change = values[:-1] * values[1:] < 0.0
    found = []
    for last in (False, True):
        k = len(change) - 1 - np.argmax(change[::-1], axis=0) if last else np.argmax(change, axis=0)
        low, high = (np.take_along_axis(values, index[None], 0)[0] for index in (k, k + 1))
        r = radii[k] - low * (radii[k + 1] - radii[k]) / (high - low)
        found.append(np.where(change.any(axis=0), r, np.nan)[..., None] * rays + centre)
    return found


def level_surfaces(level):
    """The inner and the outer sheet around the shell dist = 1, and the sheet around the attraction
    point."""
    rays = directions()
    shell = crossings(level, np.zeros(3), np.linspace(0.01, 1.6, 160), rays)
    return [*shell, crossings(level, ATTRACTOR, np.linspace(1e-3, 0.6, 160), rays)[0]]


def shell_of_least_potential():
    """dist(Q, 1) where U_alpha is least along each ray: the set S_alpha."""
    radii = np.linspace(0.6, 0.9, 401)
    values = potential(radii[:, None, None, None] * directions())
    return 2.0 * np.sqrt(2.0) * np.sin(0.5 * radii[np.argmin(values, axis=0)])


@item(
    PAPER,
    "fig2",
    title="Stress test: path of Lie-Newmark in axis/angle space",
    kind="figure",
    seconds=2,
)
def fig2(work):
    """The path with h = 0.25, three level surfaces, the attraction point."""
    found = run(PROBLEM, "NMB-cay", STEP, DRAWN)
    path = rotations.log(found.quaternion)
    line = {"color": BLUE, "linewidth": 0.5, "label": "Lie-Newmark, h = 0.25"}
    dot = {"color": VERMILION, "marker": "o", "linestyle": "", "label": "attraction point Qₘ"}
    curves = [
        Series("NMB-cay", *path[:, :2].T, path[:, 2], look=line),
        Series("attraction point", *ATTRACTOR[:2, None], ATTRACTOR[2:], look=dot),
    ]
    surfaces = [
        (sheet, LEVELS[level]) for level in work.each(LEVELS) for sheet in level_surfaces(level)
    ]

    def draw(figure):
        axes = figure.add_subplot(projection="3d", computed_zorder=False)
        for sheet, (shade, alpha) in surfaces:
            axes.plot_surface(
                *np.moveaxis(sheet, -1, 0),
                color=shade,
                alpha=alpha,
                linewidth=0,
                shade=True,
                rasterized=True,
                rcount=40,
                ccount=40,
                zorder=1,
            )
        for curve in curves:
            axes.plot(curve.x, curve.y, curve.z, zorder=2, **curve.look)
        axes.set(xlabel="v₁", ylabel="v₂", zlabel="v₃", aspect="equal")
        axes.view_init(elev=18, azim=-70)
        figure.legend(loc="outside lower center", ncols=2)
        axes.set_title(
            "Rotation vectors; level surfaces U = "
            + ", ".join(f"{level:g}" for level in LEVELS)
            + ", darker where lower",
            loc="left",
            fontsize=9.5,
        )

    notes = (
        f"The paper names no levels: {', '.join(f'{level:g}' for level in LEVELS)}; drawn up to t = {DRAWN:g}.",
    )
    return Figure(_claims(), draw, notes, curves, (6.8, 6.2), cells=_numbers())


def _numbers():
    start = float(distance(problems.get(PROBLEM).rotation0))
    return [
        Cell(
            "initial attitude",
            "dist(Q₀, 1)",
            1.0,
            start,
            bool(abs(start - 1.0) < 1e-3),
            "nearly one",
        ),
        Cell(
            "attraction point", "dist(Qₘ, 1)", None, float(distance(rotations.exp(ATTRACTOR))), None
        ),
    ]


def _claims():
    start = float(distance(problems.get(PROBLEM).rotation0))
    # the angle where dist is 1
    alpha, shell = problems.get(PROBLEM).torque().params.alpha, 2.0 * np.arcsin(1.0 / np.sqrt(8.0))
    least = shell_of_least_potential()
    bottom = float(np.abs(potential(shell * directions(), alpha=0.0)).max())
    away = {
        m: [
            distance(long_run(m, STEP).quaternion),
            distance(long_run(m, STEP).quaternion, rotations.exp(ATTRACTOR)),
        ]
        for m in ("NMB-cay", "VLV")
    }
    energy = float(long_run("VLV", STEP).total_energy[0])
    free = float(distance(rotations.exp(ATTRACTOR)))
    return [
        judged(
            "The initial condition is selected so that dist(Q₀, 1) is nearly one.",
            abs(start - 1.0) < 1e-3,
            f"it is {start:.5f}",
        ),
        judged(
            "For α = 0 the potential attains its minimum on S, where dist(Q, 1) = 1.",
            bottom < 1e-15,
            f"there U is {bottom:.0e} in every direction, and it is a square",
        ),
        judged(
            "For the α = 0.3 chosen S is only slightly perturbed, into S_α.",
            np.abs(least - 1.0).max() < 0.1,
            f"the potential is least at dist(Q, 1) between {least.min():.3f} and {least.max():.3f}, as the direction varies "
            f"(α = {alpha:g}, Qₘ at dist {free:.2f})",
        ),
        judged(
            "The Lie-Verlet trajectory is confined to a neighbourhood of S_α.",
            away["VLV"][0].max() < free,
            f"dist(Q, 1) stays in [{away['VLV'][0].min():.2f}, {away['VLV'][0].max():.2f}] for 15000 s, as E₀ = {energy:.3f} "
            f"demands, and dist(Q, Qₘ) above {away['VLV'][1].min():.2f}; for Lie-Newmark, whose energy falls, in "
            f"[{away['NMB-cay'][0].min():.2f}, {away['NMB-cay'][0].max():.2f}]",
        ),
    ]
