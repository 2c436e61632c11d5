"""Figures 1 and 2 of Buss 2001: Poinsot's construction, and the rolling disk behind the third-order
term."""

import numpy as np

from polhode.exact import free_body
from polhode.papers import FAILS, HOLDS, Claim, Figure, Series, item, judged
from polhode.papers._style import BLACK, BLUE, GREEN, GREY, ORANGE, SKY, VERMILION
from polhode.papers.buss2001.tables import PROBLEM, printed
from polhode.show.poinsot import Poinsot
from polhode.problems import get
from polhode.rotations import matrices

ROUND_OFF = 1e-12


# --- figure 1 -------------------------------------------------------------------------------------


@item(
    "buss-2001",
    "fig1",
    title="Inertia ellipsoid, invariable plane, polhode and herpolhode",
    kind="figure",
    seconds=3,
)
def fig1(work):
    """Poinsot's construction for a body whose curves can be seen, and its equations along the exact
    motion."""
    body, omega0 = (1.0, 0.55, 0.8), (0.5, 1.0, 0.62)
    shape = Poinsot(body, omega0=omega0)
    t = np.linspace(0.0, 30.0, 4001)
    motion = free_body(body, None, omega0, t)
    polhode = motion.omega / np.sqrt(2.0 * shape.energy)
    R = matrices(motion.quaternion)
    herpolhode = np.einsum("nij,nj->ni", R, polhode)
    plane = shape.plane()
    claims = _rolling_claims(shape, motion, polhode, herpolhode, R) + _set_up_claims()
    closed = shape.polhode(721)
    return Figure(
        series=[Series("polhode", *closed.T), Series("herpolhode", *herpolhode.T)],
        claims=claims,
        draw=lambda figure: _draw_poinsot(figure, shape, R[0], closed, herpolhode, plane),
        size=(6.4, 5.6),
        notes=[
            "The paper's body is so thin that its curves would be hairlines; the body drawn has the moments "
            f"{body} and the angular velocity {omega0}.  The equations are checked on it, the set-up on the "
            "paper's."
        ],
    )


def _rolling_claims(shape, motion, polhode, herpolhode, R):
    J, L = shape.body.moments, shape.momentum_spatial
    surface = np.abs(polhode**2 @ J - 1.0).max()
    height = np.abs(herpolhode @ L - np.sqrt(2.0 * shape.energy)).max()
    normals = np.einsum("nij,nj->ni", R, polhode * J)
    tilt = np.linalg.norm(np.cross(normals, L), axis=1).max()
    second = np.abs(np.sum((J * polhode) ** 2, axis=1) - L @ L / (2.0 * shape.energy)).max()
    rates = [
        np.linalg.norm(np.diff(curve, axis=0), axis=1).sum() for curve in (polhode, herpolhode)
    ]
    return [
        judged(
            "ρ·Jρ = 1 (12) and ρ·L = √(2E) (15): ρ stays on the ellipsoid and in a plane fixed in space",
            max(surface, height) < ROUND_OFF,
            f"largest deviations along the exact motion: {surface:.0e} and {height:.0e}",
        ),
        judged(
            "The ellipsoid is tangent to the invariable plane at ρ (14)",
            tilt < ROUND_OFF,
            f"largest |normal × L| along the motion: {tilt:.0e}",
        ),
        judged(
            "The polhode rolls without slipping on the herpolhode",
            abs(rates[0] / rates[1] - 1.0) < 1e-4,
            f"lengths rolled off on the ellipsoid and on the plane: {rates[0]:.5f} and {rates[1]:.5f}",
        ),
        judged(
            "The polhode is the intersection of the ellipsoid with a second one, |Jρ|² = L²/2E (16)",
            second < ROUND_OFF,
            f"largest deviation {second:.0e}",
        ),
    ]


def _set_up_claims():
    """What section 6 says about the body, against the energies it prints."""
    problem = get(PROBLEM)
    J = problem.body.moments
    L = float(np.linalg.norm(J * problem.omega0))
    start, top = 0.5 * float(J @ problem.omega0**2), L**2 / (2.0 * J.min())
    third, first, second = 1.0, 4.0, 18.0
    prism = np.array([second**2 + third**2, first**2 + third**2, first**2 + second**2])
    ratio = {
        "1 and 2": 0.5 * (1.0 + prism[1] / prism[0]),
        "2 and 3": 0.5 * (1.0 + prism[1] / prism[2]),
    }
    said = " or ".join(f"{150.0 * value:.2f} (axes {axes})" for axes, value in ratio.items())
    order = np.argsort(J)
    return [
        judged(
            "The body has the energy 82.1053 at first, and 150.0 is the highest possible",
            f"{start:.4f}" == "82.1053" and abs(top - 150.0) < 1e-9,
            f"E₀ = {start:.6f} and L²/2J_min = {top:.6f} with J = (19/60, 3/100, 47/150), |L| = {L:.6g}",
        ),
        Claim(
            "The body is a prism of 1 : 4 : 18, the momentum at 45° to two principal axes",
            FAILS,
            f"with 150 as the highest energy such a prism would begin with {said}, not {printed_start()}; the moments that "
            "reproduce every table belong to edges as 2 : √90 : √5",
        ),
        judged(
            "These are the two principal axes of least moment",
            set(order[:2]) == {0, 1},
            f"they are axes 1 and 2, in size of moment number {1 + list(order).index(0)} and {1 + list(order).index(1)} of "
            "three",
        ),
    ]


def printed_start():
    """The energy at the start as the paper prints it, where nothing has happened yet."""
    return next(
        cell["printed"]
        for cell in printed()["energies"]
        if (cell["method"], cell["h"]) == ("taylor4", 0.0001)
    )


def _draw_poinsot(figure, shape, R, polhode, herpolhode, plane):
    """Momentum pointing down, as in the paper, so that the plane is horizontal and the ellipsoid
    rolls on it."""
    down = np.array([*plane.axes, -plane.normal])
    if np.linalg.det(down) < 0.0:
        down[[0, 1]] = down[[1, 0]]
    axes = figure.add_subplot(projection="3d")
    surface = shape.ellipsoid(30) @ R.T @ down.T
    axes.plot_surface(
        *np.moveaxis(surface, -1, 0),
        rstride=1,
        cstride=1,
        color=SKY,
        alpha=0.3,
        lw=0.15,
        edgecolor="#9CC9E6",
    )
    u, v = np.meshgrid(*2 * [np.linspace(-1.1, 1.1, 11)])
    axes.plot_surface(
        u,
        v,
        np.full_like(u, -plane.distance),
        color=GREY,
        alpha=0.13,
        edgecolor="#AAAAAA",
        linewidth=0.3,
    )
    axes.plot(*(polhode @ R.T @ down.T).T, color=VERMILION, lw=2.2, label="polhode", zorder=6)
    axes.plot(*(herpolhode @ down.T).T, color=BLUE, lw=1.0, label="herpolhode", zorder=5)
    touch = herpolhode[0] @ down.T
    axes.plot(
        *zip(-1.15 * touch, 1.25 * touch, strict=True),
        color=BLACK,
        lw=1.2,
        ls="--",
        label="rotation axis",
        zorder=7,
    )
    axes.plot(*touch[:, None], "o", color=BLACK, ms=5, zorder=8)
    axes.text(*(touch + np.array([-0.16, 0.0, -0.02])), "ρ", fontsize=12, zorder=9)
    axes.quiver(0, 0, 0, 0, 0, -1.32 * plane.distance, color=GREEN, lw=1.6, arrow_length_ratio=0.08)
    axes.text(0.05, 0.0, -1.42 * plane.distance, "L", color=GREEN, fontsize=12)
    axes.view_init(elev=22, azim=-52)
    axes.set_box_aspect((1, 1, 1), zoom=1.25)
    axes.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), zlim=(-1.45, 0.95))
    axes.set_axis_off()
    axes.legend(loc="upper right")
    axes.set_title("The ellipsoid rolls on the invariable plane", loc="left")


# --- figure 2 -------------------------------------------------------------------------------------


def height(phi):
    """Height of the centre q of the net rotation over the line, in radii, after the disk has rolled
    by the angle phi."""
    return 1.0 - 0.5 * phi / np.tan(0.5 * phi)


def order(x, y):
    """The power of x as which y goes, from the two smallest."""
    return float(np.log(y[1] / y[0]) / np.log(x[1] / x[0]))


@item(
    "buss-2001",
    "fig2",
    title="A rolling disk: the net rotation is about a point above the line",
    kind="figure",
    seconds=1,
)
def fig2(work):
    """The figure, and the heights of q against the paper's estimates."""
    phi = np.geomspace(0.05, 2.5, 120)
    exact = height(phi)
    estimates = {
        "φ²/12": phi**2 / 12.0,
        "φ²/(12 − φ²), as printed": phi**2 / (12.0 - phi**2),
        "φ²/(12 + φ²), the algebra": phi**2 / (12.0 + phi**2),
    }
    power = {name: order(phi, np.abs(value - exact)) for name, value in estimates.items()}
    angle = 2.0 * np.pi / 3.0
    a0, centre1, q = _disk(angle)
    turned = q + _turn(-angle) @ (a0 - q)
    rolled = centre1 + _turn(-angle) @ (a0 - np.array([0.0, 1.0]))
    miss = float(np.linalg.norm(turned - rolled))
    lean = float(np.arctan2(0.5 * angle, 1.0 - height(angle)))
    claims = [
        judged(
            "The rolling motion is equivalent to a rotation by φ around the point q",
            miss < ROUND_OFF,
            f"a point of the rim, rolled and turned by 120°, differs by {miss:.0e} radii",
        ),
        judged(
            "The lines from q to the two centres make the angle φ/2 with the vertical",
            abs(lean - 0.5 * angle) < ROUND_OFF,
            f"{np.degrees(lean):.10f}° for φ = 120°",
        ),
        Claim(
            "h ≈ φ²r/12 is (better than) second-order accurate",
            HOLDS if power["φ²/12"] > 3.5 else FAILS,
            f"its error goes as φ^{power['φ²/12']:.2f}",
        ),
        Claim(
            "tan(φ/2) ≈ φ/2 + φ³/24 gives h ≈ φ²r/(12 − φ²)",
            FAILS,
            f"it gives φ²r/(12 + φ²); at φ = 1 they are {1 / 11:.5f} and {1 / 13:.5f}, exact {height(1.0):.5f}; both errors go "
            f"as φ^{power['φ²/(12 − φ²), as printed']:.1f}, so that nothing later depends on it",
        ),
    ]
    return Figure(
        series=[
            Series("exact", phi, exact),
            *(Series(name, phi, value) for name, value in estimates.items()),
        ],
        claims=claims,
        draw=lambda figure: _draw_disk(figure, phi, exact, estimates),
        size=(9.0, 3.9),
    )


def _turn(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _disk(angle):
    """A point of the rim, the centre after rolling by an angle, and q; the centre begins at (0, 1),
    the line is y = 0."""
    return np.array([0.0, 2.0]), np.array([angle, 1.0]), np.array([0.5 * angle, height(angle)])


def _draw_disk(figure, phi, exact, estimates):
    picture, curves = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
    angle = 2.0 * np.pi / 3.0
    a, end, q = _disk(angle)
    b = np.array([np.sin(2.2), 1.0 + np.cos(2.2)])
    u = np.linspace(0.0, 2.0 * np.pi, 200)
    for centre, colour, names in (
        (np.array([0.0, 1.0]), BLUE, "abc"),
        (end, VERMILION, ("a′", "b′", "c′")),
    ):
        picture.plot(centre[0] + np.cos(u), centre[1] + np.sin(u), color=colour)
        picture.plot(*zip(centre, q, strict=True), color=colour, lw=0.8, ls="--")
        turn = np.eye(2) if colour == BLUE else _turn(-angle)
        for name, point in zip(names, (a, b, np.array([0.0, 1.0])), strict=True):
            x, y = centre + turn @ (point - (0.0, 1.0))
            picture.plot(x, y, "o", color=colour, ms=4)
            picture.annotate(name, (x, y), (5, 4), textcoords="offset points", color=colour)
    picture.axhline(0.0, color=BLACK, lw=1.0)
    picture.plot(*q, "o", color=BLACK, ms=5)
    picture.annotate("q", q, (5, -11), textcoords="offset points")
    picture.set(aspect="equal", xticks=[], yticks=[])
    picture.grid(False)
    for side in picture.spines.values():
        side.set_visible(False)
    picture.set_title("A disk that has rolled by φ = 120°")
    curves.plot(phi, exact, color=BLACK, lw=1.8, label="exact")
    for (name, value), colour, line in zip(
        estimates.items(), (BLUE, VERMILION, ORANGE), ("--", ":", "-."), strict=True
    ):
        curves.plot(phi, value, color=colour, ls=line, label=name)
    curves.set(xlabel="φ [rad]", ylabel="height of q [radii]")
    curves.legend()
    curves.set_title("Height of q above the line")
