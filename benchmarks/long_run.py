"""A thousand million steps: does the attitude stay a rotation, and what do energy and momentum do?

    python benchmarks/long_run.py [--method LP2] [--steps 1000000000] [--problem krysl/slow-top]
    [--step 0.0125] [--json]

One body, looked at a hundred times on the way to each power of ten: how far the quaternion is from
unit length, how far R^T R is from 1 (largest entry), and the relative errors of the energy and of
the vertical momentum, both of which a heavy top keeps.  A row has the largest of each between the
power of ten before and its own.
"""

import argparse
import json
import sys
import time

import numpy as np

from polhode import Stepper, problems, rotations
from polhode.loads.potential import potential_energy

LOOKS = 100


def follow(method, steps, problem="krysl/slow-top", step=0.0125, bar=lambda done: None):
    """Rows of numbers for 10, 100, ... steps, and for the end."""
    problem = problems.get(problem)
    torque = problem.torque(step)
    body = Stepper(
        problem.body,
        torque,
        step=step,
        method=method,
        rotation0=problem.rotation0,
        omega0=problem.omega0,
    )
    start, done, seconds, rows = kept(body), 0, 0.0, []
    for goal in sorted({*(10**k for k in range(1, len(str(steps)))), steps}):
        seen = []
        for look in np.unique(np.linspace(done, goal, LOOKS + 1).astype(int))[1:]:
            began = time.perf_counter()
            body.step(int(look) - done)
            seconds, done = seconds + time.perf_counter() - began, int(look)
            seen.append(strays(body, start))
            bar(done)
        rows.append(
            {
                "steps": done,
                "t": body.t,
                **{key: max(one[key] for one in seen) for key in seen[0]},
                "ns_per_step": 1e9 * seconds / done,
            }
        )
    return rows


def strays(body, start):
    """How far the attitude is from a rotation, and energy and momentum from their values at the
    start."""
    R, now, squares = body.matrix, kept(body), np.sum(body.quaternion.astype(np.longdouble) ** 2)
    return {
        "length": float(abs(np.sqrt(squares) - 1)),
        "orthogonality": float(np.abs(R.T @ R - np.eye(3)).max()),
        "energy": abs(now[0] / start[0] - 1.0),
        "momentum": abs(now[1] / start[1] - 1.0),
    }


def kept(body):
    """Energy and vertical momentum."""
    potential = potential_energy(body.torque, body.body, np.array([body.t]), body.quaternion[None])[
        0
    ]
    momentum = rotations.matrices(body.quaternion) @ body.body.momentum(body.omega)
    return float(body.body.kinetic_energy(body.omega) + potential), float(momentum[2])


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--method", default="LP2")
    options.add_argument("--steps", type=int, default=10**9)
    options.add_argument("--problem", default="krysl/slow-top")
    options.add_argument("--step", type=float, default=0.0125)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    show = sys.stderr.isatty()

    def bar(done):
        if show:
            print(f"\r{100 * done / given.steps:5.1f} %", end="", file=sys.stderr)

    rows = follow(given.method, given.steps, given.problem, given.step, bar)
    if given.json:
        print(
            json.dumps(
                {
                    "method": given.method,
                    "problem": given.problem,
                    "step": given.step,
                    "rows": rows,
                },
                indent=2,
            )
        )
        return
    print(f"\r{given.method}, {given.problem}, steps of {given.step:g}\n")
    print("| steps | length | R^T R - 1 | energy | momentum | ns |\n|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| 1e{np.log10(row['steps']):g} | {row['length']:.1e} | {row['orthogonality']:.1e} | {row['energy']:.1e} | "
            f"{row['momentum']:.1e} | {row['ns_per_step']:.0f} |"
        )


if __name__ == "__main__":
    main()
