"""Where energy preservation helps: NAME+ep against NAME, over bodies, torques and methods.

    python benchmarks/energy_preservation.py [--starts 4]

Each cell is the error of the attitude at t = 5 with +ep, divided by that without: the geometric
mean over random starts.  The last three columns are the largest such ratio of all bodies and
starts, and the median error of the energy without and with +ep, relative to the largest kinetic
energy of the motion.  Small numbers are good; 1.0 means that nothing was changed.
"""

import argparse

import numpy as np

from polhode import RigidBody, integrate, torque, torques
from polhode.loads.potential import potential_energy

BODIES = {
    "ordinary": (2.0, 3.0, 4.5),
    "symmetric": (2.0, 2.0, 1.2),
    "near-sphere": (1.9998, 2.0, 2.00014),
    "flat": (1.0, 2.0, 2.99),
}
# and steps to t = 5
METHODS = {
    "taylor2": 400,
    "taylor3": 200,
    "taylor4": 100,
    "LP2": 400,
    "RK4-quaternion": 100,
    "DP5": 100,
}
END = 5.0


def _spring(t, R, p):
    return -p.k * R[2, 0] * np.cross(R[:, 0], np.array([0.0, 0.0, 1.0]))


SPRING = torque(
    _spring, params={"k": 2.0}, potential=lambda t, R, p: 0.5 * p.k * R[2, 0] ** 2, name="user's"
)
TORQUES = {
    "free": torques.free(),
    "top": torques.heavy_top(2.0),
    "wall": torques.coulomb_wall(),
    "stress": torques.stress_potential(),
    "user's": SPRING,
    "damped top": torques.heavy_top(2.0) + torques.damping(0.2),
    "tide": None,
}


def starts(count):
    """Attitudes and angular velocities."""
    rng = np.random.default_rng(1)
    return [{"rotation0": rng.normal(size=3), "omega0": rng.normal(size=3)} for _ in range(count)]


def errors(run, truth):
    """Of the attitude at the end, and of the energy."""
    wrong = (truth.rotation[-1].inv() * run.rotation[-1]).magnitude()
    if not run.torque.conservative:
        return wrong, np.nan
    ends = truth.t[-1:]
    V = [
        potential_energy(run.torque, run.body, ends, one.quaternion[-1:])[0] for one in (run, truth)
    ]
    return wrong, abs(
        run.kinetic_energy[-1] + V[0] - truth.kinetic_energy[-1] - V[1]
    ) / truth.kinetic_energy.max()


def compared(acting, moments, method, count):
    """(attitude without, with, energy without, with), a row for each start."""
    rows = []
    for start in starts(count):
        truth = integrate(moments, acting, (0.0, END), method="DOP853", rtol=1e-13, **start)
        pair = [
            errors(
                integrate(
                    moments,
                    acting,
                    (0.0, END),
                    END / METHODS[method],
                    name,
                    every="end",
                    compiled=False,
                    **start,
                ),
                truth,
            )
            for name in (method, f"{method}+ep")
        ]
        rows.append([value for column in zip(*pair, strict=True) for value in column])
    return np.array(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--starts", type=int, default=4, help="random starts for each cell")
    count = parser.parse_args().starts
    print(
        f"{'torque':<11} {'method':<15}"
        + "".join(f"{name:>12}" for name in BODIES)
        + "    worst    energy  with +ep"
    )
    for name, acting in TORQUES.items():
        for method in METHODS:
            tables = {}
            for kind, moments in BODIES.items():
                tables[kind] = compared(
                    acting or torques.gravity_gradient(RigidBody(moments), 1.0),
                    moments,
                    method,
                    count,
                )
            ratios = {kind: rows[:, 1] / rows[:, 0] for kind, rows in tables.items()}
            cells = "".join(f"{np.exp(np.log(ratio).mean()):12.2g}" for ratio in ratios.values())
            worst = max(ratio.max() for ratio in ratios.values())
            energy = np.median(np.concatenate(list(tables.values())), axis=0)
            print(
                f"{name:<11} {method:<15}{cells}{worst:9.2g}{energy[2]:10.0e}{energy[3]:10.0e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
