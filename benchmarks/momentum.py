"""Does rounding add up in |Pi|?  The free body, every method that keeps the angular momentum.

    python benchmarks/momentum.py [--steps 100000000] [--single-steps 1000000] [--methods A,B]
    [--jobs N] [--json]

I = (2, 3, 4.5), steps of 0.01.  One run in double precision by `integrate`, and sixteen bodies in
single precision by `ensemble`.  Columns: the largest relative change of |Pi| at a hundred looks on
the way, in double precision and, over bodies too, in single; that of the kinetic energy in double
precision, for methods that keep it.  A random walk of N roundings is about sqrt(N) eps.
"""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np

import polhode
from polhode import methods

INERTIA, OMEGA, STEP = np.array([2.0, 3.0, 4.5]), (0.8, -0.6, 0.5), 0.01
LOOKS, BODIES = 100, 16


def names():
    """The methods that keep the angular momentum of a free body."""
    return [one.name for one in methods.everything() if "momentum" in one.conserves]


def double(name, steps):
    """Largest relative changes of |Pi| and of the kinetic energy."""
    run = polhode.integrate(
        INERTIA,
        None,
        t_span=(0.0, STEP * steps),
        step=STEP,
        method=name,
        omega0=OMEGA,
        every=max(1, steps // LOOKS),
    )
    return strays(np.linalg.norm(run.momentum, axis=1)), strays(run.kinetic_energy)


def single(name, steps):
    """Largest relative change of |Pi| of bodies in single precision."""
    start = np.random.default_rng(3).normal(size=(BODIES, 3)).astype(np.float32)
    run = polhode.ensemble(
        INERTIA,
        None,
        t_span=(0.0, STEP * steps),
        step=STEP,
        method=name,
        omega0=start.astype(float),
        keep=max(1, steps // LOOKS),
        dtype="float32",
        threads=1,
    )
    return strays(np.linalg.norm(INERTIA * run.omegas, axis=-1))


def strays(values):
    """The largest relative distance from the first."""
    return float(np.abs(values / values[0] - 1.0).max())


def row(name, steps, single_steps):
    length, energy = double(name, steps)
    try:
        short = single(name, single_steps)
    except polhode.PolhodeError as error:
        short = str(error)
    return {
        "method": name,
        "double": length,
        "single": short,
        "energy": energy if "energy" in methods.get(name).conserves else None,
    }


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--steps", type=int, default=10**8)
    options.add_argument("--single-steps", type=int, default=10**6)
    options.add_argument("--methods", default="")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    chosen = given.methods.split(",") if given.methods else names()
    walks = (
        np.sqrt(given.steps) * np.finfo(float).eps,
        np.sqrt(given.single_steps) * np.finfo(np.float32).eps,
    )
    if not given.json:
        print(
            f"{given.steps:g} steps in double precision, sqrt(N) eps = {walks[0]:.1e}; {given.single_steps:g} in single, "
            f"{walks[1]:.1e}\n\n| method | double | single | energy, double |\n|---|---|---|---|",
            flush=True,
        )
    rows = []
    with ProcessPoolExecutor(given.jobs) as pool:
        for one in as_completed(
            [pool.submit(row, name, given.steps, given.single_steps) for name in chosen]
        ):
            rows.append(one.result())
            if given.json:
                continue
            shown = [
                f"{value:.1e}" if isinstance(value, float) else value or ""
                for value in list(rows[-1].values())[1:]
            ]
            print(f"| {rows[-1]['method']} | {' | '.join(shown)} |", flush=True)
    if given.json:
        print(
            json.dumps(
                {"steps": given.steps, "single_steps": given.single_steps, "rows": rows}, indent=2
            )
        )


if __name__ == "__main__":
    main()
