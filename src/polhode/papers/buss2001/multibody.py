"""The question on the last slide: "Do our algorithms work well for rigid multibody systems?"

His methods, with and without energy preservation, beside others at the same number of evaluations of the
interaction: on two ellipsoids bound by gravity, and on a chain of ten boxes held together by elastic
bushings.
"""

from functools import cache

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.engine._integrate import integrate
from polhode.engine.systems.program import suited_to
from polhode.loads._system import System
from polhode.loads.interactions.bushing import bushings
from polhode.loads.interactions.multipole import gravity
from polhode.methods import get
from polhode.papers import FAILS, HOLDS, Cell, Claim, Series, Table, item, judged
from polhode.papers._style import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, look

BUSS = ("taylor1", "taylor2", "taylor2-augmented", "taylor3", "taylor4")
OTHERS = ("NMB", "SW", "VLV", "LP2", "EXACT", "EXACT-RKN4")
PRESERVING = tuple(f"{name}+ep" for name in (*BUSS, "LP2"))
QUICK = ("taylor3", "taylor3+ep", "NMB", "LP2", "LP2+ep", "EXACT-RKN4")
# the time between evaluations, the end of long runs, and that of the runs whose error is measured
SETTINGS = {"pair": (0.05, 2000.0, 50.0), "chain": (0.005, 200.0, 5.0)}
TITLES = {"pair": "two ellipsoids", "chain": "a chain of ten boxes"}
SHOWN = {  # in the figure: the colour
    "taylor2": SKY,
    "taylor3": GREEN,
    "taylor4": BLUE,
    "NMB": ORANGE,
    "VLV": PINK,
    "LP2": BLACK,
    "EXACT-RKN4": VERMILION,
}
WINDOWS = 100  # of a run, in each of which the figure shows the largest error
COLUMNS = ("drift", "energy", "momentum", "error")


@cache
def problem(name):
    """A system, and its motion at the start."""
    return pair() if name == "pair" else chain()


def pair():
    """Two ellipsoids bound by gravity, on an orbit that is nearly a circle."""
    bodies = [
        RigidBody.ellipsoid(1.0, 0.8, 0.6, mass=2.0),
        RigidBody.ellipsoid(0.8, 0.5, 0.4, mass=1.0),
    ]
    d = 4.0
    v = 0.9 * np.sqrt(3.0 / d)
    return System(bodies, gravity(bodies, G=1.0, degree=2)), {
        "position0": [[-d / 3, 0, 0], [2 * d / 3, 0, 0]],
        "velocity0": [[0, -v / 3, 0], [0, 2 * v / 3, 0]],
        "rotation0": rotations.exp([[0.3, -0.2, 0.5], [0.1, 0.6, -0.4]]),
        "omega0": [[0.2, 0.5, 0.3], [-0.3, 0.4, 0.6]],
    }


def chain(n=10):
    """Boxes end to end, held together by bushings and set in motion."""
    i = np.arange(n)
    held = bushings(
        np.stack([i[:-1], i[1:]], axis=1), (60, 60, 60, 2, 2, 2), points=((0.5, 0, 0), (-0.5, 0, 0))
    )
    return System([RigidBody.box(1.0, 0.3, 0.2, mass=1.0)] * n, held), {
        "position0": np.outer(i - (n - 1) / 2, (1.0, 0.0, 0.0)),
        "velocity0": np.stack([0.0 * i, 0.3 * np.cos(i), 0.2 * np.sin(2 * i)], axis=1),
        "omega0": np.stack([0.5 * np.sin(i), 0.2 * np.cos(3 * i), 0.3 * np.cos(i)], axis=1),
    }


def evaluations(method, name):
    """Evaluations of the interaction in a step."""
    return suited_to(get(method), problem(name)[0]).torques


@cache
def run(name, method, t1):
    """A run in which the interaction is evaluated as often as in that of every other method."""
    system, start = problem(name)
    each = evaluations(method, name)
    step = SETTINGS[name][0] * each
    every = max(1, round(t1 / step / 4000))
    return integrate(system, t_span=(0.0, t1), step=step, method=method, every=every, **start)


@cache
def exact(name, t1):
    """The motion at the end, a millionth of the error of EXACT-RKN4 from the true one."""
    system, start = problem(name)
    h = 0.2 * SETTINGS[name][0]
    return integrate(system, t_span=(0.0, t1), step=h, method="EXACT-RKN4", every="end", **start)


class Found:
    """What is measured of a method on a problem."""

    def __init__(self, name, method):
        _, long, short = SETTINGS[name]
        self.run = path = run(name, method, long)
        E, L, T = path.total_energy, path.angular_momentum, float(path.kinetic_energy[0])
        first, *_, last = np.array_split(E, 8)
        # relative to the kinetic energy, or to the angular momentum, at the start
        self.drift = float(last.mean() - first.mean()) / T
        self.energy = float(np.abs(E - E[0]).max()) / T
        self.momentum = float(np.abs(L - L[0]).max() / np.linalg.norm(L[0]))
        end, known = run(name, method, short).position[-1], exact(name, short).position[-1]
        self.error = float(np.abs(end - known).max())
        self.nanoseconds = 1e9 * path.elapsed / path.nfev


@item(
    "buss-2001-slides",
    "multibody",
    title="Do our algorithms work well for rigid multibody systems?",
    kind="table",
    seconds=150,
)
def multibody(work):
    """Drift, momentum and error of each method on both systems, at equal cost in evaluations."""
    methods, names = QUICK if work.quick else (*BUSS, *PRESERVING, *OTHERS), tuple(SETTINGS)
    found = {(name, method): Found(name, method) for method in work.each(methods) for name in names}
    cells = [
        Cell(method, f"{name}: {column}", None, f"{getattr(one, column):.1e}", None)
        for (name, method), one in found.items()
        for column in COLUMNS
    ]
    series = [
        Series(f"{method}, {name}", one.run.t, change(one), look=look(method))
        for (name, method), one in found.items()
    ]
    steps = ", ".join(f"{TITLES[name]} {SETTINGS[name][0]:g}" for name in names)
    return Table(
        cells=cells,
        series=series,
        claims=claims(found),
        draw=lambda figure: draw(figure, found, names),
        notes=[
            "A step of each method is as long as its evaluations take, so that all evaluate the interaction equally often.  "
            f"Time between evaluations: {steps}.",
            "drift: the difference of the mean energies of the last and the first eighth of the run.  energy: the largest error "
            "of the energy; both are relative to the kinetic energy at the start.  momentum: the largest relative change of the "
            "angular momentum.  error: the error of positions at "
            + ", ".join(f"t = {SETTINGS[name][2]:g} ({name})" for name in names)
            + ".",
            "The slides give no method for torques whose derivatives are not known: they are found by differences, along "
            "the motion of all bodies, of the forces and torques at Radau's points; energy preservation scales what the "
            "bodies move beside their common rigid motion, which keeps both momenta.",
            f"{cost(found, names)} (it varies from run to run).",
        ],
        size=(7.4, 6.0),
    )


def change(one):
    E = one.run.total_energy
    return np.abs(E - E[0]) / one.run.kinetic_energy[0]


def his(found, preserving=False):
    """Buss's methods among those measured: all, or those that were run with energy preservation too."""
    return [m for m in BUSS if ("pair", f"{m}+ep" if preserving else m) in found]


def listed(found, column, methods, name):
    return ", ".join(f"{m} {getattr(found[name, m], column):.1e}" for m in methods)


def claims(found):
    return [
        question(found),
        works(found),
        preservation(found),
        momenta(found),
        symplectic_preserved(found),
    ]


def question(found):
    """The last line of the slides."""
    well, own = {}, his(found)
    for name in SETTINGS:
        rival = found[name, "LP2"]
        well[name] = [
            m
            for m in own
            if abs(found[name, m].drift) < 3.0 * rival.energy and found[name, m].error < rival.error
        ]
    both = [m for m in own if all(m in names for names in well.values())]
    verdict = HOLDS if len(both) == len(own) else FAILS
    return Claim(
        "Do our algorithms work well for rigid multibody systems?",
        verdict,
        f"{'Yes' if verdict == HOLDS else 'No'}.  {'  '.join(answer(found, own, both))}",
    )


def answer(found, own, both):
    """Why, and then the numbers, in sentences."""
    ours = (*own, "LP2", "EXACT-RKN4")
    short, kept = (
        [m for m in some if all(found[n, m].error < found[n, "LP2"].error for n in SETTINGS)]
        for some in (own, [f"{m}+ep" for m in his(found, preserving=True)])
    )
    grown = {n: max(abs(found[n, m].drift) for m in own if m != "taylor1") for n in SETTINGS}
    ahead = min(
        found[n, m].error / found[n, "EXACT-RKN4"].error
        for n in SETTINGS
        for _, m in found
        if m.startswith("taylor")
    )
    return [
        f"Less error than LP2 and no more drift, at equal cost on both systems: {', '.join(both) or 'none'} of {', '.join(own)}.",
        f"In short runs less error than LP2: {', '.join(short) or 'none'}; with preservation: {', '.join(kept) or 'none'}.",
        f"In long runs the energy drifts, by up to {grown['pair']:.1g} of the kinetic energy of the pair and "
        f"{grown['chain']:.2g} times that of the chain; LP2 is off by at most {found['chain', 'LP2'].energy:.1g}.",
        "Energy preservation stops this drift, but not that of the angular momentum.",
        f"EXACT-RKN4 does not drift, and its error is at most 1/{ahead:.2g} of theirs.",
        *(
            f"{what}, {TITLES[name]}: {listed(found, column, ours, name)}."
            for what, column in (("Drift of energy", "drift"), ("Error of positions", "error"))
            for name in SETTINGS
        ),
    ]


def works(found):
    """Whether the steps converge with their orders."""
    orders = {}
    system, start = problem("pair")
    for method in his(found):
        ends = [
            integrate(system, t_span=(0, 4), step=h, method=method, every="end", **start)
            for h in (0.1, 0.05)
        ]
        known = exact("pair", 4.0)
        coarse, fine = (np.abs(one.quaternion[-1] - known.quaternion[-1]).max() for one in ends)
        orders[method] = float(np.log2(coarse / fine))
    return judged(
        "The methods keep their orders for systems",
        all(abs(p - get(m).order) < 0.4 for m, p in orders.items()),
        "attitudes of the pair: " + ", ".join(f"{m} {p:.2f}" for m, p in orders.items()),
    )


def preservation(found):
    """Energy preservation: does it make the motion more accurate?"""
    own = his(found, preserving=True)
    gains = {
        (name, m): found[name, m].error / found[name, f"{m}+ep"].error
        for name in SETTINGS
        for m in own
    }
    better = [key for key, gain in gains.items() if gain > 1.0]
    return judged(
        "Energy preservation improves the accuracy",
        len(better) == len(gains),
        f"error of positions without it over that with it, in {len(better)} of {len(gains)} cases more than 1: "
        + "; ".join(
            f"{TITLES[name]} " + ", ".join(f"{m} {gains[name, m]:.2g}" for m in own)
            for name in SETTINGS
        ),
    )


def momenta(found):
    """Angular momentum: kept by kicks, not by series."""
    own = [one.momentum for (_, m), one in found.items() if m.startswith("taylor")]
    kicks = [one.momentum for (_, m), one in found.items() if m in ("SW", "VLV", "LP2", "EXACT")]
    newmark = [found[n, "NMB"].momentum for n in SETTINGS]
    return judged(
        "Angular momentum is preserved, as it is for a single body",
        max(own) < 1e-11,
        f"the total angular momentum changes by {min(own):.1e} to {max(own):.1e} of itself with the Taylor methods and by "
        f"{min(newmark):.1e} to {max(newmark):.1e} with NMB; with methods of kicks and with SW by at most {max(kicks):.1e}",
    )


def symplectic_preserved(found):
    """The other question of the last slide."""
    ratio = {n: found[n, "LP2"].error / found[n, "LP2+ep"].error for n in SETTINGS}
    return judged(
        "Energy preservation helps symplectic algorithms' long-term accuracy",
        all(one > 1.0 for one in ratio.values()),
        "error of positions of LP2 over that of LP2+ep: "
        + ", ".join(f"{TITLES[n]} {one:.2g}" for n, one in ratio.items()),
    )


def cost(found, names):
    """The time that each evaluation takes with the work of the method around it, in words."""
    methods = [m for n, m in found if n == names[0] and m not in ("taylor1", "LP2")]
    ratios = {
        m: max(found[n, m].nanoseconds / found[n, "LP2"].nanoseconds for n in names)
        for m in methods
        if "+ep" not in m
    }
    return "Time for each evaluation over that of LP2, with the work around it: " + ", ".join(
        f"{m} {one:.1f}" for m, one in ratios.items()
    )


def draw(figure, found, names):
    """The error of the energy against time."""
    panels = np.ravel(figure.subplots(len(names), 1))
    for axes, name in zip(panels, names, strict=True):
        for method in SHOWN:
            if (name, method) in found:
                one = found[name, method]
                t, errors = largest(one)
                shown = look(method, marker="", linestyle="-", color=SHOWN[method])
                axes.semilogy(t, errors, **shown)
        axes.set(ylabel="largest |E − E₀| / T₀", title=TITLES[name], ylim=(1e-10, 20.0))
    panels[-1].set_xlabel("time")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4)


def largest(one):
    """The largest error of the energy in windows of a run."""
    t, errors = (np.array_split(x, WINDOWS) for x in (one.run.t[1:], change(one)[1:]))
    return [float(x.mean()) for x in t], [float(x.max()) for x in errors]
