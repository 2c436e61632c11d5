"""The same work given to what users would pick instead: SciPy, numbalsoda, heyoka, diffrax, numba
by hand, MuJoCo, Warp, LAMMPS.

    python benchmarks/peers.py [--peers a,b] [--problems a,b] [--methods a,b] [--quick] [--json]
    [--venvs DIR]
    python benchmarks/peers.py --write      README's table and its source in RESULTS.md, in minutes

Time to reach an error, torque evaluations, energy after a long run, and bodies per second of an
ensemble, all in one run, so that ratios mean something on a noisy machine.  An error is the larger
of the angle in radians and the relative error of the angular velocity at the end, against the
closed solution or the reference.  Each contestant goes through its tolerances, or numbers of steps,
from coarse to fine; the coarsest from which on all finer ones meet the error is its answer.
Answers are then timed again, contestants in turn, and the quickest of all repeats counts.  One
thread, compile time left out.  What is timed are public calls, from Python: `polhode.integrate` is
the counterpart of `solve_ivp`, `polhode.Flow` that of a solver that was prepared, such as
numbalsoda's and heyoka's.  The column "loop" has the part of ours that is spent in machine code.

Peers that are not installed beside polhode run in virtual environments, which the script makes under
--venvs when they are missing; what does not install is left out with a message.
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass, field, replace

from contestants import board
from contestants.ours import DOORS, EXACT, JUDGED, METHODS, TOGETHER, Ours, Task, many_errors
from contestants.peer import NEEDS, Missing, Peer

ERRORS = (1e-3, 1e-6, 1e-9, 1e-12)
PROBLEMS = {
    "free-body": 100.0,
    "slow-top": 10.0,
    "coulomb-wall": 10.0,
    "coulomb-wall-printed": 10.0,
    "stress": 100.0,
}
OTHERS = ("long", "ensemble")
WRITTEN = {  # what --write runs
    "peers": "scipy,numba,numbalsoda,heyoka",
    "problems": "free-body,slow-top,coulomb-wall,stress",
    "methods": "EXACT-RKN4,EXACT-RKN6,DOP853,DP5@rtol,DOP853@rtol",
}
LONG_METHODS = ("EXACT", "EXACT-RKN4", "EXACT-RKN6", "EXACT-RKN6-14", "MR2-BM6", "EXACT+kahanli6")
LONG_END, LONG_STEP, LONG_SAMPLES, LONG_RTOLS, LONG_PATIENCE = (
    15000.0,
    0.25,
    1500,
    (1e-6, 1e-9, 1e-12),
    30.0,
)
MANY, FEW = 100_000, 512  # bodies: of the ensemble, and of the search for its settings
LONGEST = 0.2  # seconds: a run that takes longer is the last of its ladder
BUDGET = 0.004  # seconds for the repeats of one contestant in one round
FLAT = 6  # settings without progress after which a ladder ends


@dataclass
class Contestant:
    """A solver on a problem: `ask(setting, budget)` gives (error, seconds, evaluations)."""

    name: str
    ours: bool
    settings: list
    ask: object
    # (setting, error, seconds, evaluations), coarse first
    curve: list = field(default_factory=list)
    # error asked for: [setting, error, seconds, evaluations]
    answers: dict = field(default_factory=dict)
    method: str | None = None  # of ours
    loop: object = None  # the Contestant that is the loop inside a public call of ours

    def climb(self, targets, longest):
        """From coarse to fine until the smallest error is met, or nothing is gained any more; a
        public call takes the steps that its loop has found."""
        if self.loop:
            self.answers = {
                target: [setting, error, math.inf, evaluations]
                for target, (setting, error, _, evaluations) in self.loop.answers.items()
            }
            return
        best, flat = math.inf, 0
        for setting in self.settings:
            error, seconds, evaluations = self.ask(setting, 0.0)
            self.curve.append((setting, error, seconds, evaluations))
            flat = 0 if error < 0.8 * best or best > 1e-4 else flat + 1
            best = min(best, error)
            if error <= 0.5 * min(targets) or flat == FLAT or seconds > longest:
                break
        for target in targets:
            good = coarsest(self.curve, target)
            if good:
                self.answers[target] = list(good)

    def again(self, target, budget):
        """Time an answer once more."""
        if target in self.answers:
            seconds = self.ask(self.answers[target][0], budget)[1]
            self.answers[target][2] = min(self.answers[target][2], seconds)


def coarsest(curve, target):
    """The point from which on all finer ones meet the target, up to the best one: what comes after
    it is round-off."""
    best = min(range(len(curve)), key=lambda i: curve[i][1], default=None)
    if best is None or not curve[best][1] <= target:
        return None
    first = best
    while first and curve[first - 1][1] <= target:
        first -= 1
    return curve[first]


def tolerances(per_decade):
    return [
        10.0 ** (-k / per_decade) for k in range(per_decade, 15 * per_decade + per_decade // 2 + 1)
    ]


def counts(first, per_octave=4, octaves=18):
    return sorted({math.ceil(first * 2.0 ** (k / per_octave)) for k in range(per_octave * octaves)})


def settings(knob, per_decade, task):
    """From coarse to fine: tolerances, or numbers of steps from a few radians on."""
    return (
        tolerances(per_decade)
        if knob == "rtol"
        else counts(max(1.0, task.end * task.truth.rate / 3.0))
    )


# --- one body -------------------------------------------------------------------------------------


def of_peer(peer, name, about, task):
    told = task.told()

    def ask(setting, budget):
        reply = peer.ask(solver=name, problem=told, setting=setting, budget=budget, warm=True)
        if "failed" in reply:
            return math.inf, math.inf, None
        return task.error(reply["y"]), reply["seconds"], reply["evaluations"]

    return Contestant(name, False, settings(about["knob"], about["per_decade"], task), ask)


def of_ours(ours, name, task):
    """The loop of a method, then its public calls."""

    def ask(setting, budget):
        point = ours.run(name, setting, budget)
        return point.error, point.seconds, point.evaluations

    given = [1] if name == EXACT else settings(ours.knob(name), 3, task)
    loop = Contestant(name, True, given, ask, method=name)

    def through(door):
        def ask(setting, budget):
            return *ours.through(door, name, setting, budget), None

        label = f"{door} {name}"
        return Contestant(label, True, given, ask, method=name, loop=loop)

    if name == EXACT:
        calls = {"exact": "exact.free_body", "Flow": "Flow EXACT"}
        return [loop, *(replace(through(door), name=label) for door, label in calls.items())]
    return [loop, *map(through, DOORS)]


def work_precision(name, peers, methods, rounds, tell, errors=ERRORS):
    """Contestants on one problem, with their answers."""
    task = Task(name, PROBLEMS[name]).know()
    ours = Ours(task)
    free = not task.task.torque.acts
    # with the exact solution left aside, EXACT and what is built on it stay aside too
    chosen = [EXACT, *(m for m in methods if not m.startswith("EXACT"))] if free else methods
    contestants = [one for method in chosen for one in of_ours(ours, method, task)]
    contestants += [
        of_peer(peer, solver, about, task)
        for peer in peers.values()
        for solver, about in peer.solvers.items()
        if about["one"]
    ]
    for contestant in contestants:
        tell(f"{name}: {contestant.name}")
        contestant.climb(errors, LONGEST)
    for number in range(rounds):
        tell(f"{name}: round {number + 1} of {rounds}")
        for target in errors:
            for contestant in contestants:
                contestant.again(target, BUDGET)
    loops = {id(contestant.loop) for contestant in contestants}
    return [contestant for contestant in contestants if id(contestant) not in loops]


# --- a long run -----------------------------------------------------------------------------------


def long_run(peers, tell, quick):
    """Rows (name, setting, energy error, drift, seconds) of the stress test to T = 15000."""
    task = Task("stress", LONG_END)
    ours, rows = Ours(task), []
    for name in LONG_METHODS:
        tell(f"long run: {name}")
        largest, drift, seconds = ours.long(name, LONG_STEP, LONG_SAMPLES)
        rows.append(
            {
                "name": name,
                "ours": True,
                "setting": f"h = {LONG_STEP}",
                "largest": largest,
                "drift": drift,
                "seconds": seconds,
            }
        )
    for peer in peers.values():
        for name, about in peer.solvers.items():
            # the same steps as with the compiled slope, and a minute longer
            slow = "scipy" in name and "numba" not in name
            if about["one"] and not slow and not (quick and "scipy" in name):
                rows += long_rows(peer, name, about, task, tell)
    return rows


def long_rows(peer, name, about, task, tell):
    given = LONG_RTOLS if about["knob"] == "rtol" else (int(LONG_END / 0.1), int(LONG_END / 0.05))
    for setting in given:
        tell(f"long run: {name} {setting:g}")
        reply = peer.ask(
            solver=name,
            problem={**task.told(), "name": "long"},
            setting=setting,
            budget=0.0,
            warm=False,
        )
        if "failed" in reply:
            return
        off = task.energy_error(reply["y"])
        said = f"rtol = {setting:g}" if about["knob"] == "rtol" else f"h = {LONG_END / setting:g}"
        yield {
            "name": name,
            "ours": False,
            "setting": said,
            "largest": None,
            "drift": off,
            "seconds": reply["seconds"],
        }
        if reply["seconds"] > LONG_PATIENCE:
            return


# --- an ensemble ----------------------------------------------------------------------------------


def ensemble(peers, methods, rounds, bodies, tell):
    """Contestants on an ensemble of slow tops; seconds are those of one body."""
    task = Task("slow-top", PROBLEMS["slow-top"]).know()
    ours, median, targets = Ours(task), many_errors(task), ERRORS[:3]
    found = []

    def mine(name):
        def ask(setting, n):
            seconds, motions = ours.together(name, setting, int(n) or FEW)
            return median(motions), seconds, None

        return Contestant(name, True, counts(20.0, 3), ask)

    def theirs(peer, name, about):
        def ask(setting, n):
            reply = peer.ask(
                solver=name,
                problem=task.told(),
                setting=setting,
                many=int(n) or FEW,
                kept=JUDGED,
                warm=True,
            )
            return (
                (math.inf, math.inf, None)
                if "failed" in reply
                else (median(reply["y"]), reply["seconds"], None)
            )

        given = tolerances(about["per_decade"]) if about["knob"] == "rtol" else counts(20.0, 3)
        return Contestant(name, False, given, ask)

    found += [mine(name) for name in TOGETHER if name in methods]
    found += [
        theirs(peer, name, about)
        for peer in peers.values()
        for name, about in peer.solvers.items()
        if about["many"]
    ]
    for contestant in found:
        tell(f"ensemble: {contestant.name}")
        contestant.climb(targets, 20.0 * LONGEST / FEW)
        for answer in contestant.answers.values():
            answer[2] = math.inf  # the search went through too few bodies to tell the time
    for number in range(rounds):
        for contestant in found:
            tell(f"ensemble: {contestant.name}, round {number + 1} of {rounds}")
            for target in targets:
                contestant.again(target, bodies)
    return found


# --- the whole ------------------------------------------------------------------------------------


def begin(names, folder, tell):
    """The peers that there are, and why others are not."""
    peers, missing = {}, {}
    for name in names:
        tell(f"starting {name}")
        try:
            peers[name] = Peer(name, folder)
        except Missing as why:
            missing[name] = str(why)
    return peers, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=",".join(NEEDS), help="names with commas (default: all)")
    parser.add_argument(
        "--problems",
        default=",".join([*PROBLEMS, *OTHERS]),
        help="names with commas (default: all)",
    )
    parser.add_argument(
        "--methods", default=",".join(METHODS), help="polhode's methods, names with commas"
    )
    parser.add_argument(
        "--venvs", default="~/.cache/polhode-peers", help="where the peers' environments are"
    )
    parser.add_argument("--quick", action="store_true", help="fewer repeats and bodies")
    parser.add_argument(
        "--write",
        action="store_true",
        help="measure what README's table needs and put it there and into RESULTS.md",
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.write:
        vars(options).update(WRITTEN)
    names, problems, methods = (
        value.split(",") for value in (options.peers, options.problems, options.methods)
    )
    for given, allowed in ((names, list(NEEDS)), (problems, [*PROBLEMS, *OTHERS])):
        for name in given:
            if name not in allowed:
                parser.error(f"{name!r} is not one of {', '.join(allowed)}")

    def tell(text):
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    rounds = 3 if options.quick else 10
    errors = ERRORS[:3] if options.write else ERRORS
    peers, missing = begin(names, options.venvs, tell)
    show = (lambda text: None) if options.json else (lambda text: print(f"{text}\n", flush=True))
    result = {"missing": missing, "one": {}, "long": None, "ensemble": None}
    for why in missing.values():
        show(f"Left out: {why}")
    try:
        for name in problems:
            if name in PROBLEMS:
                result["one"][name] = work_precision(name, peers, methods, rounds, tell, errors)
                show(board.one_table(name, result["one"][name], errors))
        if "long" in problems:
            result["long"] = long_run(peers, tell, options.quick)
            show(board.long_table(result["long"]))
        if "ensemble" in problems:
            result["ensemble"] = ensemble(
                peers, methods, 2, 10_000 if options.quick else MANY, tell
            )
            show(board.many_table(result["ensemble"], ERRORS[:3]))
    finally:
        for peer in peers.values():
            peer.close()
        tell("")
    if options.write:
        board.write(result["one"], errors)
        return
    show("Goals\n\n" + "\n".join(board.goals(result, ERRORS)))
    if options.json:
        print(json.dumps(board.plain(result), indent=1))


if __name__ == "__main__":
    main()
