"""polhode's own methods, asked for runs in the way the peers are."""

import math
import time
from dataclasses import replace

import numpy as np
import polhode
from contestants.common import spins, timed
from polhode import problems
from polhode.studies.compare import entries
from polhode.studies.compare.as_task import as_task
from polhode.studies.compare.truth import constant_energy, errors, truth
from polhode.core.loops.adaptive_motion import MOTION_AT
from polhode.engine.carriers.simd_tiles import Tiles
from polhode.engine.carriers.by_tolerance import MOST, ByTolerance, Tolerance
from polhode.exact import lagrange_top
from polhode.engine.schedule import Segment, stretches
from polhode.methods import get
from polhode.engine.program import build
from polhode.rotations import angle_between, as_quaternion

EXACT = "exact solution"  # of the free body: one step of EXACT
METHODS = (
    "EXACT",
    "EXACT-RKN4",
    "EXACT-RKN6",
    "EXACT-RKN6-14",
    "EXACT+kahanli8",
    "RK4-quaternion",
    "DP5",
    "DOP853",
    "DP5@rtol",
    "DOP853@rtol",
    "taylor@rtol",
)
TOGETHER = ("EXACT", "EXACT-RKN4", "EXACT-RKN6", "DOP853")
# the public calls: `integrate` as one calls solve_ivp, `Flow` as one calls a solver that is prepared
DOORS = ("Flow", "integrate") if hasattr(polhode, "Flow") else ("integrate",)
JUDGED = 200  # bodies of an ensemble whose error is measured


class Task:
    """A problem of the papers, its truth at the end, and what a peer is told about it."""

    def __init__(self, name, end):
        self.problem = problems.get(name)
        self.task = replace(as_task(name), t_span=(0.0, end))
        self.name, self.end = name, end

    def know(self):
        """The motion at the end, in closed form or by the reference."""
        self.truth = truth(self.task, checks=1)
        return self

    def told(self):
        """The problem as a peer reads it."""
        torque = self.task.torque
        given = {} if torque.params is None else torque.params._asdict()
        if torque.name == "stress_potential":
            given["attractor"] = as_quaternion(np.array(given["attractor"])).tolist()
        return {
            "name": self.name,
            "moments": self.task.body.moments.tolist(),
            "torque": {"name": torque.name, **given},
            "y0": self.task.motion.tolist(),
            "end": self.end,
        }

    def error(self, y):
        """The larger of the angle in radians and the relative error of the angular velocity, at the
        end."""
        y = normalised(np.array([y]))
        return float(errors(y, self.truth, [-1])[0]) if np.isfinite(y).all() else math.inf

    def energy_error(self, y):
        """Relative, at the end of a motion that began as this one."""
        known = constant_energy(self.task, 1)
        y = normalised(np.array([y]))
        return float(
            (self.task.energies(np.array([self.end]), y)[0] - known.energy[0]) / known.scales[1]
        )


def normalised(y):
    return np.concatenate(
        [y[:, :4] / np.linalg.norm(y[:, :4], axis=1, keepdims=True), y[:, 4:]], axis=1
    )


class Ours:
    """The methods on one task."""

    def __init__(self, task):
        self.task, self._runners, self._tiles = task, {}, {}

    def runner(self, name, known):
        """The method, compiled."""
        if name not in self._runners:
            self._runners[name] = entries.find(name).runner(self.task.task, known).compile()
        return self._runners[name]

    def call(self, door, name, setting):
        """A public call as a function without arguments, which gives the motion at the end."""
        task, (base, _, _) = self.task.task, name.partition("@")
        q, omega, end = task.motion[:4], task.motion[4:], self.task.end
        if name == EXACT and door != "Flow":
            return lambda: exact_end(polhode.exact.free_body(task.body, q, omega, [end]))
        base = "EXACT" if name == EXACT else base
        chosen = (
            {"rtol": setting, "atol": 0.0} if self.knob(name) == "rtol" else {"step": end / setting}
        )
        if door == "Flow":
            flow = polhode.Flow(task.body, task.torque, method=base, **chosen)
            return lambda: flow(q, omega, 0.0, end)
        chosen.update(method=base, rotation0=q, omega0=omega, every="end")

        def whole():
            run = polhode.integrate(task.body, task.torque, (0.0, end), **chosen)
            return run.quaternion[-1], run.omega[-1]

        return whole

    def through(self, door, name, setting, budget):
        """(error, seconds of the quickest public call within the budget)."""
        call = self.call(door, name, setting)
        y, _, seconds = timed(lambda _: (call(), None, None), setting, budget)
        return self.task.error(np.concatenate(y)), seconds

    def run(self, name, setting, budget):
        """A Point of `compare` for the loop alone, the quickest of the runs that fit into the
        budget; steps are asked for by their number."""
        runner = self.runner("EXACT" if name == EXACT else name, self.task.truth)
        setting = setting if runner.knob == "rtol" else self.task.end / setting
        point = runner.run(setting, timed=False)
        if not (budget and math.isfinite(point.error)):
            return point
        once = (
            self._by_tolerance(runner, setting)
            if runner.knob == "rtol"
            else self._by_step(runner, setting)
        )
        best, started = point.seconds, time.perf_counter()
        while time.perf_counter() - started < budget:
            best = min(best, once())
        return replace(point, seconds=best)

    def _by_step(self, runner, step):
        """A function: the seconds of one call of the loop over all steps."""
        program, steps = runner.program, round(self.task.end / step)
        march, first = program.march(), program.begin(step, 0.0, self.task.task.motion)
        grid, numbers = np.array([0.0, step]), (program.moments, program.parameters)
        y, r = np.empty((1, 7)), np.empty(1)

        def once():
            z = first.copy()
            started = time.perf_counter()
            march(1, steps, 0, grid, z, *numbers, y, r)
            return time.perf_counter() - started

        return once

    def _by_tolerance(self, runner, rtol):
        """The same for a loop that chooses its steps."""
        march = ByTolerance(runner.program, Tolerance(rtol, 0.0), math.inf, self.task.task.motion)
        (stretch,), nothing = stretches(self.task.task.t_span, None), np.empty(0)

        def once():
            march.elapsed, march.memory[:] = 0.0, march.control.blank()
            march.memory[MOTION_AT : MOTION_AT + 7] = self.task.task.motion
            march.begin(stretch)
            while not march.take(stretch, False, nothing, MOST).through:
                pass
            return march.elapsed

        return once

    def knob(self, name):
        """What its setting is."""
        return "rtol" if name.endswith("@rtol") else "steps"

    def long(self, name, step, samples):
        """(largest relative energy error, drift, seconds) of a run to the end."""
        known = constant_energy(self.task.task, samples)
        runner = self.runner(name, known)
        times, motions = runner.motions(step)
        off = (self.task.task.energies(times, motions) - known.energy[0]) / known.scales[1]
        tenth = len(off) // 10
        return (
            float(np.abs(off).max()),
            float(off[-tenth:].mean() - off[:tenth].mean()),
            runner.run(step, timed=False).seconds,
        )

    def together(self, name, steps, n):
        """Processor seconds per body, and motions, of n bodies with the spins that the peers are
        given too."""
        if (name, n) not in self._tiles:
            program = build(get(name), self.task.task.torque, self.task.task.body)
            tiles = Tiles(program, n, program.moments, program.parameters, threads=1)
            motion = self.task.task.motion
            start = np.concatenate(
                [np.tile(motion[:4], (n, 1)), spins(n, float(np.linalg.norm(motion[4:])))], axis=1
            )
            self._tiles = {(name, n): (tiles, start)}
            # compiles; a single step might fail, and bodies that failed stay behind
            self._pass(tiles, start, steps)
        return self._pass(*self._tiles[name, n], steps)

    def _pass(self, tiles, start, steps):
        h = self.task.end / steps
        started = time.process_time()
        tiles.begin(h, 0.0, start)
        tiles.advance(Segment(0.0, h, steps, self.task.end), 0, steps)
        motions = tiles.motions()
        return (time.process_time() - started) / len(start), motions


def exact_end(motion):
    return motion.quaternion[-1], motion.omega[-1]


def many_errors(task):
    """A function: the median angle error of an ensemble of tops, from its first motions."""
    motion, moment = task.task.motion, task.task.torque.params.moment
    exact = np.array(
        [
            lagrange_top(task.task.body, moment, motion[:4], omega, [task.end]).quaternion[-1]
            for omega in spins(JUDGED, float(np.linalg.norm(motion[4:])))
        ]
    )

    def median(motions):
        y = normalised(np.array(motions)[:JUDGED])
        return float(np.median(angle_between(y[:, :4], exact[: len(y)])))

    return median
