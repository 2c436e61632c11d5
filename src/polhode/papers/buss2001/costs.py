"""Figure 3 of Buss 2001: what a step costs, by the paper's way of counting and by the clock."""

import time

import numpy as np

from polhode.papers import FAILS, OPEN, Cell, Claim, Table, item, judged
from polhode.papers._style import BLUE, GREEN, ORANGE
from polhode.papers.buss2001.tables import printed, runner, steps_needed

UNIT = "taylor3"  # with energy preservation: the unit of the table
AXIS_ROTATION = 12 + 4 + 1  # a 3x2 by 2x2 product, 2x2 times the momentum, the angle
AXIS_ROTATIONS = {"MR2-231": 5, "MR4-231": 13}  # in a step
ORDERS = {"taylor1": 1, "taylor2": 2, "taylor2-augmented": 2.5, "taylor3": 3, "taylor4": 4}
STEP = 0.001  # of the timed runs


# --- counting -------------------------------------------------------------------------------------


class Counted:
    """A number that counts multiplications by other numbers; constants are no numbers."""

    made = 0

    def __mul__(self, other):
        Counted.made += 1
        return Counted()

    __rmul__ = __mul__

    def __add__(self, other):
        return Counted()

    __radd__ = __sub__ = __rsub__ = __add__


def cross(a, b):
    return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]


def scaled(c, a):
    return [c * x for x in a]


def plus(*vectors):
    return [sum(parts[1:], parts[0]) for parts in zip(*vectors, strict=True)]


def rotation_vector(order):
    """h times the average velocity of section 3 in body axes, for constant momentum; `order` 2.5 is
    the augmented second.

    Constants such as h/2 and h²/12 are there beforehand, and products that were formed once are
    used again.
    """
    L, inverse, h = [Counted() for _ in range(3)], [Counted() for _ in range(3)], Counted()
    matrix = [[Counted() for _ in range(3)] for _ in range(3)]
    L = [row[0] * L[0] + row[1] * L[1] + row[2] * L[2] for row in matrix]  # into body axes

    def turned(a):
        return [x * y for x, y in zip(inverse, a, strict=True)]

    w = turned(L)
    total = w
    if order >= 2:
        wL = cross(w, L)
        w1 = turned(wL)
        total = plus(total, scaled(h, w1))
    if order >= 2.5:
        w1w = cross(w1, w)
    if order >= 3:
        w1L, wwL = cross(w1, L), cross(w, wL)
        w2 = plus(w1w, turned(plus(w1L, wwL)))
        total = plus(total, scaled(h, w2))
    if order == 3:
        total = plus(total, scaled(h, cross(plus(w1, scaled(h, w2)), w)))
    elif order >= 2.5:
        total = plus(total, scaled(h, w1w))
    if order >= 4:
        w2w = cross(w2, w)
        w3 = plus(
            w2w,
            cross(w, w1w),
            turned(plus(cross(w2, L), cross(w1, wL), cross(w, plus(w1L, w1L)), cross(w, wwL))),
        )
        total = plus(total, scaled(h, w3), scaled(h, w2w))
    return scaled(h, total)


def multiplies(method):
    """Multiplications of a step beside its rotation, or, where it turns about axes, in all."""
    if method in AXIS_ROTATIONS:
        return AXIS_ROTATION * AXIS_ROTATIONS[method]
    Counted.made = 0
    rotation_vector(ORDERS[method])
    return Counted.made


def weight(counts):
    """Operations in multiplications, as on the paper's Pentium II."""
    each = printed()["operations"]
    return counts["multiplies"] + sum(
        counts.get(kind, 0) * each[kind] for kind in ("trigonometric", "root", "divide")
    )


def costs(row, spared=0):
    """A step without and with energy preservation, relative to the unit, from the paper's counts.

    `spared` multiplications are taken off energy preservation.
    """
    operations = printed()["operations"]
    rotation = weight(operations["rotation"])
    preservation = weight(operations["preservation"]) + rotation - spared

    def plain(one):
        return weight(one) + (0 if one["trigonometric"] else rotation)

    unit = plain(next(one for one in printed()["costs"] if one["method"] == UNIT)) + preservation
    return plain(row) / unit, (plain(row) + preservation) / unit


# --- the clock ------------------------------------------------------------------------------------


def nanoseconds(methods, count, rounds=7):
    """Times of a step by method, the best of some rounds; every round runs all methods, so that
    they share what disturbs them."""
    best = dict.fromkeys(methods, np.inf)
    for method in methods:
        runner(method)(STEP, 10)  # compiled
    for _ in range(rounds):
        for method in methods:
            start = time.perf_counter()
            runner(method)(STEP, count)
            best[method] = min(best[method], 1e9 * (time.perf_counter() - start) / count)
    return best


# --- the table ------------------------------------------------------------------------------------


@item("buss-2001", "fig3", title="Relative costs of a step", kind="table", seconds=25)
def fig3(work):
    """The printed costs, recomputed from the counts, the counts from the formulas, and the clock of
    this machine."""
    count = 20_000 if work.quick else 200_000
    rows = printed()["costs"]
    spared = printed()["operations"]["root"]
    others = ["MR2-231-cay", "MR4-231-cay", "RK-buss", "RKMK4"]
    names = [name for row in rows for name in (row["method"], row["method"] + "+ep")] + others
    clock = nanoseconds(names, count)
    unit = clock[f"{UNIT}+ep"]
    cells, exact = [], 0
    for row in rows:
        literal, fitted = costs(row), costs(row, spared)
        for key, column, stated, ours in zip(
            ("plain", "preserving"), ("cost", "cost with EP"), literal, fitted, strict=True
        ):
            exact += f"{stated:.2f}" == row[key]
            note = row.get("note", "") if key == "preserving" else ""
            cells.append(
                Cell(
                    row["algorithm"],
                    column,
                    row[key],
                    f"{ours:.2f}",
                    f"{ours:.2f}" == row[key],
                    "; ".join(filter(None, [note, f"{stated:.2f} by the counts of the text"])),
                )
            )
        found = multiplies(row["method"])
        cells.append(
            Cell(
                row["algorithm"],
                "multiplies",
                row["multiplies"],
                found,
                found == row["multiplies"],
                "" if found == row["multiplies"] else "products formed once are used again",
            )
        )
        for ending, column in (("", "time here"), ("+ep", "time here with EP")):
            name = row["method"] + ending
            cells.append(
                Cell(
                    row["algorithm"],
                    column,
                    None,
                    f"{clock[name] / unit:.2f}",
                    None,
                    f"{clock[name]:.0f} ns",
                )
            )
    return Table(
        cells=cells,
        claims=_claims(rows, clock, exact, spared),
        draw=lambda figure: _draw(figure, rows, clock),
        size=(7.4, 4.4),
        notes=[
            "Ours are the costs that follow from the text's counts of operations, with energy preservation "
            "at 90 multiplications in place of the 95 of the text: one square root less.  That is how the "
            "printed table must have been made; the note of each cell has the value without this change.",
            "Times are of this machine, compiled, with quaternions, in units of the third-order method with energy preservation.",
        ],
    )


def by_count(claim, low, high, counted, clock):
    """A claim about time, judged by counting operations as the paper does; the clock stands beside
    it, a ratio by name."""
    timed = ", ".join(f"{name} {ratio:.2f}".strip() for name, ratio in clock.items())
    apart = (low < counted < high) and not all(low < ratio < high for ratio in clock.values())
    return judged(
        claim,
        low < counted < high,
        f"judged by count, as the paper counts: {counted:.2f}; by the clock here: {timed}"
        + (", so that the clock alone would not bear it out" if apart else ""),
    )


def _claims(rows, clock, exact, spared):
    by = {row["method"]: row for row in rows}
    unit = clock[f"{UNIT}+ep"]
    fits = sum(
        f"{cost:.2f}" == row[key]
        for row in rows
        for cost, key in zip(costs(row, spared), ("plain", "preserving"), strict=True)
    )
    cayley = {name: clock[f"{name}-cay"] / clock[name] for name in ("MR2-231", "MR4-231")}
    N = {name: steps_needed(name, 0.4, 1e-3, 20480) for name in ("MR2-231", "MR2-231-cay")}
    pairs = by["MR2-231"]["trigonometric"] // 2
    divided = {"multiplies": by["MR2-231"]["multiplies"] + 2 * pairs, "divide": pairs}
    # a divide and two multiplications for each sine and cosine
    counted = weight(divided) / weight(by["MR2-231"])
    difference = by["taylor3"]["multiplies"] - by["taylor2-augmented"]["multiplies"]
    rk = 4.0 * costs(by["taylor1"], spared)[0]  # four rotations with their velocities
    longer = rk / costs(by["taylor2-augmented"], spared)[0]
    symplectic = 1.0 / float(by["MR2-231"]["plain"])
    group = ("taylor2-augmented", "taylor3", "taylor4")
    x = np.array([1e-2, 2e-2])
    errors = np.abs(x / (1.0 + x**2 / 4.0) - np.sin(x))
    slope = float(np.log2(errors[1] / errors[0]))
    return [
        Claim(
            "Energy preservation takes 32 multiplications, one divide, three square roots and one rotation",
            FAILS,
            f"with these counts {exact} of the {2 * len(rows)} printed costs follow, with one square root less {fits}",
        ),
        Claim(
            "The symplectic second-order method with energy preservation costs 1.20",
            FAILS,
            f"{costs(by['MR2-231'], spared)[1]:.2f} by the paper's own counts; the slides repeat the slip",
        ),
        judged(
            "The augmented second-order method needs one cross product more than the second-order method",
            multiplies("taylor2-augmented") - multiplies("taylor2") == 9,
            f"{multiplies('taylor2-augmented') - multiplies('taylor2')} multiplications more: six for the product, three for "
            "h²/12",
        ),
        Claim(
            "The third-order method needs one matrix times vector and one cross product more than the augmented second-order "
            "one",
            FAILS,
            f"by the paper's own counts it needs {difference} multiplications more; a diagonal matrix and a "
            "cross "
            "product take 9, a full one 15",
        ),
        by_count(
            "A Runge-Kutta step costs about 1.20, four rotations",
            1.15,
            1.25,
            rk,
            {"": clock["RK-buss"] / unit},
        ),
        by_count(
            "A Runge-Kutta step takes about three times as long as one of the augmented second-order method",
            2.5,
            3.5,
            longer,
            {"": clock["RK-buss"] / clock["taylor2-augmented"]},
        ),
        by_count(
            "With Cayley transforms the symplectic methods take about two thirds of the time",
            0.6,
            0.75,
            counted,
            cayley,
        ),
        judged(
            "Cayley transforms give third-order accurate sines",
            abs(slope - 3.0) < 0.05,
            f"the error of t/(1 + t²/4) goes as t^{slope:.2f}, which the paper calls third order",
        ),
        Claim(
            "With Cayley transforms the symplectic second-order method costs 0.53 and 0.98 with and without energy "
            "preservation",
            FAILS,
            "the two are exchanged: the larger is the one with energy preservation",
        ),
        judged(
            "Cayley transforms make sense especially for the second-order method",
            N["MR2-231-cay"] < 2 * N["MR2-231"],
            f"T = 0.4, ε = 0.001: {N['MR2-231-cay']} steps in place of {N['MR2-231']}, {N['MR2-231-cay'] / N['MR2-231']:.0f} "
            "times as many, on this thin body",
        ),
        by_count(
            "The third-order method with energy preservation costs only slightly more than the symplectic second-order "
            "method",
            1.0,
            1.3,
            symplectic,
            {"": unit / clock["MR2-231"]},
        ),
        judged(
            "Group 1 (augmented second, third, fourth order) is computationally much faster than group 2 (second, false third "
            "order, Runge-Kutta, AB-AM)",
            all(float(by[name]["plain"]) < float(by["taylor2"]["plain"]) for name in group),
            f"the second-order method of group 2 costs {by['taylor2']['plain']} by the paper's table, all of group 1 more",
        ),
        judged(
            "The fourth-order Lie-group Runge-Kutta methods cost somewhat more than the fourth-order Taylor method",
            clock["RKMK4"] > clock["taylor4"],
            f"RKMK4 takes {clock['RKMK4'] / clock['taylor4']:.2f} times as long as taylor4 here",
        ),
        Claim(
            "A sine costs as much as eight multiplications, a square root as five, a divide as three",
            OPEN,
            "this was measured on a Pentium II",
        ),
    ]


def _draw(figure, rows, clock):
    axes = figure.add_subplot()
    y = np.arange(len(rows))
    unit = clock[f"{UNIT}+ep"]
    for offset, ending, key, colour in (
        (-0.2, "", "plain", BLUE),
        (0.2, "+ep", "preserving", ORANGE),
    ):
        shown = [clock[row["method"] + ending] / unit for row in rows]
        label = "with energy preservation" if ending else "without"
        axes.barh(y + offset, shown, 0.36, color=colour, alpha=0.75, label=f"time here, {label}")
        axes.plot(
            [float(row[key]) for row in rows],
            y + offset,
            "D",
            color="black",
            ms=4.5,
            mfc="white",
            label="printed" if not ending else None,
        )
    axes.set_yticks(y, [row["algorithm"] for row in rows])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.axvline(1.0, color=GREEN, lw=0.8)
    axes.set(xlabel="cost of a step, third order with energy preservation = 1")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=3, columnspacing=1.2)
