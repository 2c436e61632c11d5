"""The tables of a run, as Markdown, and the goals with what was reached."""

import os
import platform
import re
from pathlib import Path

from contestants.ours import DOORS, EXACT
from polhode.methods import get

HERE = Path(__file__).parent.parent
RESULTS = HERE / "RESULTS.md"

FREE = "free-body"
GOALS = {  # at 1e-3, 1e-6, 1e-9, 1e-12: the time of the fastest peer over ours
    FREE: (15.0, 15.0, 15.0, 15.0),
    "slow-top": (2.0, 2.0, 1.5, 1.0),
    "coulomb-wall": (1.0, 1.5, 1.5, 1.0),
    "coulomb-wall-printed": (1.0, 1.5, 1.5, 1.0),
    "stress": (1.0, 1.5, 1.5, 1.0),
}
SCIPY_GOAL, TOGETHER_GOAL, ENERGY_GOAL = 100.0, 1.5, 1e-8


def plain(result):
    """Everything as plain data."""

    def rows(contestants):
        return [
            {"name": c.name, "ours": c.ours, "curve": c.curve, "answers": answers(c)}
            for c in contestants
        ]

    def answers(c):
        names = ("asked", "setting", "error", "seconds", "evaluations")
        return [
            dict(zip(names, (asked, *answer), strict=True)) for asked, answer in c.answers.items()
        ]

    return {
        **result,
        "one": {name: rows(found) for name, found in result["one"].items()},
        "ensemble": result["ensemble"] and rows(result["ensemble"]),
    }


def table(head, rows):
    """Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def best(contestants, error, ours, by=2):
    """(cost, name) of the cheapest, by seconds (2) or evaluations (3), or None."""
    costs = [
        (c.answers[error][by], c.name)
        for c in contestants
        if c.ours == ours and error in c.answers and c.answers[error][by] is not None
    ]
    return min(costs, default=None)


def ratio(contestants, error, by=2):
    """(the cheapest peer's cost over ours, our method, the peer), or None."""
    us, them = best(contestants, error, True, by), best(contestants, error, False, by)
    return us and them and (them[0] / us[0] if us[0] else float("inf"), us[1], them[1])


def said(found):
    return "–" if found is None else f"**{found[0]:.2g}** ({found[1]} / {found[2]})"


def one_table(name, contestants, errors):
    def cells(c, error):
        answer = c.answers.get(error)
        if answer is None:
            return "–", ""
        evaluations = "" if answer[3] is None else f" ({answer[3]})"
        loop = f"{1e6 * c.loop.answers[error][2]:.3g}" if c.loop else ""
        return f"{1e6 * answer[2]:.3g}{evaluations}", loop

    def row(c):
        return [
            f"**{c.name}**" if c.ours else c.name,
            *(cell for error in errors for cell in cells(c, error)),
        ]

    def place(c):
        return not c.ours, c.answers[errors[1]][2] if errors[1] in c.answers else 1e9

    def ratios(some):
        return [cell for error in errors for cell in (said(ratio(some, error)), "")]

    rows = [row(c) for c in sorted(contestants, key=place) if c.answers]
    rows.append(["fastest peer / ours", *ratios(contestants)])
    if name == FREE:
        rows.append(["the same without the exact solution", *ratios(aside(contestants))])
    heads = [head for error in errors for head in (f"{error:g}", "loop")]
    return (
        f"{name}: microseconds of the call (torque evaluations) to reach an error, and of the loop "
        "inside\n\n" + table(["", *heads], rows)
    )


def aside(contestants):
    """All but the exact solution."""
    return [c for c in contestants if c.method != EXACT]


# --- what is written into files -------------------------------------------------------------------

PEERS = {
    "numbalsoda": "numbalsoda",
    "heyoka": "heyoka",
    "RK4 by hand in numba": "RK4 by hand",
    "SciPy": "scipy",
}
ERROR = 1e-6


def readme_table(one):
    """README's: for each problem our fastest call by each door, the loop in it, and the peers."""

    def ours(found, kind):
        """The fastest by one door, or of all loops."""
        costs = []
        for c in found:
            loop, answer = c.loop, c.answers.get(ERROR)
            method = "EXACT" if c.method == EXACT else c.method
            if loop and answer and kind == "loop":
                costs.append((loop.answers[ERROR][2], method))
            elif loop and answer and c.name.startswith(f"{kind} "):
                costs.append((answer[2], method))
        return f"{1e6 * min(costs)[0]:.3g} ({min(costs)[1]})" if costs else "–"

    def peer(found, start):
        costs = [
            c.answers[ERROR][2]
            for c in found
            if not c.ours and c.name.startswith(start) and ERROR in c.answers
        ]
        return f"{1e6 * min(costs):.3g}" if costs else "–"

    rows = [
        [name.replace("-", " "), *(ours(found, kind) for kind in (*DOORS, "loop"))]
        + [peer(found, start) for start in PEERS.values()]
        for name, found in one.items()
    ]
    return table(["", *(f"`{door}`" for door in DOORS), "loop alone", *PEERS], rows)


def write(one, errors):
    """Put the tables between their marks in README.md and RESULTS.md."""
    tables = "\n\n".join(one_table(name, found, errors) for name, found in one.items())
    between(HERE.parent / "README.md", "public calls", readme_table(one))
    between(RESULTS, "public calls", f"{machine()}\n\n{readme_table(one)}\n\n{tables}")


def machine() -> str:
    """This machine, in a sentence."""
    info = Path("/proc/cpuinfo")
    found = info.exists() and re.search(r"model name\s*: (.*)", info.read_text(encoding="utf-8"))
    name = found[1] if found else platform.processor() or platform.machine()
    return f"Measured on {os.cpu_count()} cores of {name}, Python {platform.python_version()}."


def between(path, mark, text):
    """Replace what stands between `<!-- mark -->` and `<!-- end of mark -->` in a file."""
    first, last = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    whole = path.read_text(encoding="utf-8")
    parts = re.split(f"({re.escape(first)}|{re.escape(last)})", whole)
    if len(parts) != 5:
        raise SystemExit(f"{path} must have {first} and {last}, once each")
    parts[2] = f"\n{text}\n"
    path.write_text("".join(parts), encoding="utf-8")


def long_table(rows):
    cells = [
        [
            f"**{row['name']}**" if row["ours"] else row["name"],
            row["setting"],
            "–" if row["largest"] is None else f"{row['largest']:.1e}",
            f"{row['drift']:.1e}",
            f"{row['seconds']:.3g}",
        ]
        for row in rows
    ]
    return (
        "stress test to T = 15000: relative energy error (ours: the largest, and the mean of the last tenth less that of the "
        "first; peers: at the end)\n\n"
        + table(["", "setting", "largest", "drift", "seconds"], cells)
    )


def many_table(contestants, errors):
    def cell(answer):
        return "–" if answer is None else f"{1e-3 / answer[2]:.3g} ({answer[1]:.0e})"

    rows = [
        [f"**{c.name}**" if c.ours else c.name, *(cell(c.answers.get(error)) for error in errors)]
        for c in contestants
    ]
    rows.append(["ours / fastest peer", *(said(ratio(contestants, error)) for error in errors)])
    return (
        "ensemble of slow tops: thousands of bodies per second and thread (median error)\n\n"
        + table(["", *(f"{error:g}" for error in errors)], rows)
    )


# --- the goals ------------------------------------------------------------------------------------


def goals(result, errors):
    """A line for each goal: reached or not, and the numbers."""
    for name, found in result["one"].items():
        yield line(
            f"{name}: fastest peer / ours at least {', '.join(f'{g:g}' for g in GOALS[name])}",
            [ratio(found, error) for error in errors],
            GOALS[name],
        )
        if name == FREE:
            yield line(
                f"{name}, exact solution left aside: not slower",
                [ratio(aside(found), e) for e in errors],
                (1.0,) * 4,
            )
            continue  # there is no torque to evaluate
        if any("scipy" in c.name for c in found):
            scipy = [c for c in found if c.ours or c.name in ("scipy DOP853", "scipy LSODA")]
            yield line(
                f"{name}: scipy / ours at least {SCIPY_GOAL:g}",
                [ratio(scipy, e) for e in errors],
                (SCIPY_GOAL,) * 4,
            )
        symplectic = [c for c in found if not c.ours or is_symplectic(c.method)]
        yield line(
            f"{name}: fewest torque evaluations by a symplectic method at 1e-3 and 1e-6",
            [ratio(symplectic, error, by=3) for error in errors[:2]],
            (1.0, 1.0),
        )
    if result["ensemble"]:
        yield line(
            f"ensemble: at least {TOGETHER_GOAL:g} times the bodies of any peer",
            [ratio(result["ensemble"], error) for error in errors[:3]],
            (TOGETHER_GOAL,) * 3,
        )
    for row in result["long"] or ():
        if row["ours"] and get(row["name"]).order == 6:
            mark = "x" if row["largest"] <= ENERGY_GOAL else " "
            yield f"- [{mark}] {row['name']}, order 6, h = 0.25 to T = 15000: energy to {ENERGY_GOAL:g}: {row['largest']:.1e}"


def line(what, found, wanted):
    fine = all(one is not None and one[0] >= goal for one, goal in zip(found, wanted, strict=True))
    return f"- [{'x' if fine else ' '}] {what}: " + ", ".join(
        "–" if one is None else f"{one[0]:.2g}" for one in found
    )


def is_symplectic(name):
    return name == EXACT or ("@" not in name and get(name).symplectic is True)
