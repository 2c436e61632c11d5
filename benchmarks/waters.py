"""216 rigid waters: the energy drift at equal step and the cost beside LAMMPS and OpenMM, and the cost of a pair of sites
beside the same loop in C.

    python benchmarks/waters.py [--ps 10] [--steps 1,2] [--peers PYTHON]

SPC/E in a periodic box of 1.862 nm; all have the same potential: Lennard-Jones and Coulomb between sites, with shifted
forces and a cut-off of 0.85 nm, nearest images.  The start is equilibrated by polhode and the same for all.  LAMMPS runs
fix rigid/nve/small, OpenMM its Verlet integrator with SETTLE; each on one thread, by processor time.  PYTHON is an
interpreter that has them, where they are not installed beside polhode.

The drift is the slope of a straight line through the total energy, per nanosecond and molecule; "rms" is the distance
from that line.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polhode
from polhode.loads.interactions.water import BOLTZMANN, COULOMB, MODELS

HERE = Path(__file__).parent
SIDE, BOX, CUTOFF, MODEL, KELVIN = 6, 1.862, 0.85, "SPC/E", 300.0
N = SIDE**3
METHODS = ("LP2", "EXACT")


def scattered(water):
    """Molecules on a lattice, with random attitudes and velocities."""
    random = np.random.default_rng(0)
    lattice = np.stack(np.meshgrid(*[np.arange(SIDE)] * 3, indexing="ij"), -1).reshape(-1, 3)
    rotation = random.normal(size=(N, 4))
    velocity = random.normal(size=(N, 3)) * np.sqrt(BOLTZMANN * KELVIN / water.body.mass)
    return {
        "position0": (lattice + 0.5) * BOX / SIDE,
        "rotation0": rotation / np.linalg.norm(rotation, axis=1, keepdims=True),
        "velocity0": velocity - velocity.mean(axis=0),
        "omega0": random.normal(size=(N, 3)) * np.sqrt(BOLTZMANN * KELVIN / water.body.moments),
    }


def last_of(run):
    names = {
        "position0": "position",
        "rotation0": "quaternion",
        "velocity0": "velocity",
        "omega0": "omega",
    }
    return {name: getattr(run, attribute)[-1] for name, attribute in names.items()}


def equilibrated(system, start):
    """Two picoseconds in which the velocities are set back to the temperature again and again."""
    for _ in range(40):
        run = polhode.integrate(
            system, t_span=(0, 0.05), step=0.0005, method="LP2", every="end", **start
        )
        start = last_of(run)
        factor = np.sqrt(3.0 * N * BOLTZMANN * KELVIN / run.kinetic_energy[-1])
        start["velocity0"] *= factor
        start["omega0"] *= factor
    start["velocity0"] -= start["velocity0"].mean(axis=0)
    return start


def drift(t, E):
    """(slope, its standard error, distance from the line) per molecule; t in ps."""
    line = np.polyfit(t, E, 1)
    rest = E - np.polyval(line, t)
    # what is next to each other is not independent: means of twenty pieces are, nearly
    pieces = np.array([one.mean() for one in np.array_split(rest, 20)])
    error = np.std(pieces) * np.sqrt(12.0 / 20.0) / (t[-1] - t[0])
    return 1e3 * line[0] / N, 1e3 * error / N, float(np.std(rest)) / N


def report(name, fs, t, E, seconds, steps):
    slope, error, rms = drift(np.asarray(t), np.asarray(E))
    print(
        f"{name:28} {fs:4g} fs  E0 {E[0] / N:10.5f}  drift {slope:9.4f} +- {error:.4f} kJ/mol/ns",
        f" rms {rms:.2e} kJ/mol  {1e3 * seconds / steps:8.3f} ms per step",
        flush=True,
    )


# --- the cost of a pair of sites ------------------------------------------------------------------


def cost_of_pairs(water, start):
    """Nanoseconds for each pair of sites, ours and in C, in turn."""
    from polhode.core.jit import bind, compile_now
    from polhode.core.loops import system as loops
    from polhode.loads.interaction_energy import numbers
    from polhode.loads.interaction_kernels import acting
    from polhode.loads.neighbours import with_room

    folder = tempfile.mkdtemp()
    library = f"{folder}/waters.so"
    compiler = ["gcc", "-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([*compiler, HERE / "waters.c", "-o", library, "-lm"], check=True)
    in_c = ctypes.CDLL(library).forces
    in_c.restype = ctypes.c_long

    one, p = water.interaction, numbers((water.interaction,), N)
    nothing = np.zeros((N, 3))
    motions = np.concatenate([start["rotation0"], nothing, start["position0"], nothing], 1).ravel()
    ours = bind(loops.forces_at, act=acting([one.act()]))
    compile_now(ours, 0.0, motions, p)
    p = with_room(p)
    ours(0.0, motions, p)
    near, x = p.terms[0].near, start["position0"]
    first, listed = [0], []  # the list of the same molecules, by their centres
    for i in range(N):
        others = near.listed[near.first[i] : near.first[i + 1]]
        r = x[others] - x[i]
        r -= BOX * np.round(r / BOX)
        listed += others[np.linalg.norm(r, axis=1) <= CUTOFF + 2.0 * one.reach].tolist()
        first.append(len(listed))
    model = MODELS[MODEL]
    arrays = [
        *(np.ascontiguousarray(p.terms[0].seen[:, :3]), water.charges),
        *(np.array([model.sigma, 0, 0]), np.array([model.epsilon, 0, 0])),
    ]
    lists, F = [np.array(first), np.array(listed, dtype=np.int32)], np.zeros((3 * N, 3))
    places = [ctypes.c_void_p(one.ctypes.data) for one in (*arrays, *lists, F)]
    numbers_of_c = [ctypes.c_double(one) for one in (COULOMB, CUTOFF, BOX)]

    def by_c():
        F[:] = 0.0
        return in_c(ctypes.c_long(N), ctypes.c_long(3), *places[:4], *numbers_of_c, *places[4:])

    pairs = by_c()
    error = abs(F.reshape(N, 3, 3).sum(axis=1) - p.places.F).max() / abs(p.places.F).max()
    best = {"ours": np.inf, "C": np.inf}
    for _ in range(300):
        for name, call in (("ours", lambda: ours(0.0, motions, p)), ("C", by_c)):
            started = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - started)
    each = {name: 1e9 * seconds / pairs for name, seconds in best.items()}
    ratio = each["ours"] / each["C"]
    print(
        f"{pairs} pairs of sites: ours {each['ours']:.2f} ns, C {each['C']:.2f} ns each, ratio {ratio:.2f};",
        end=" ",
    )
    print(f"the forces differ by {error:.1e}, relative")


# --- runs -----------------------------------------------------------------------------------------


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--ps", type=float, default=10.0)
    options.add_argument("--steps", default="1,2")
    options.add_argument("--peers", default=sys.executable)
    given = options.parse_args()

    water = polhode.interactions.water(MODEL, cutoff=CUTOFF, box=BOX)
    system = polhode.System([water.body] * N, water.interaction)
    start = equilibrated(system, scattered(water))
    cost_of_pairs(water, start)

    R = polhode.rotations.matrices(start["rotation0"])
    arms = np.einsum("nij,sj->nsi", R, water.points)
    spin = np.einsum("nij,nj->ni", R, start["omega0"])
    state = {
        "x": start["position0"][:, None] + arms,
        "v": start["velocity0"][:, None] + np.cross(spin[:, None], arms),
        "charges": water.charges,
        "model": np.array(MODELS[MODEL]),
        "box": BOX,
        "cutoff": CUTOFF,
        "points": water.points,
    }
    file = Path(tempfile.mkdtemp()) / "start.npz"
    np.savez(file, **state)
    library = Path(given.peers).parent.parent / "lib"
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(library),
        "OPENMM_CPU_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    for fs in map(float, given.steps.split(",")):
        steps = round(1e3 * given.ps / fs)
        for method in METHODS:
            started = time.process_time()
            run = polhode.integrate(
                system,
                t_span=(0, given.ps),
                step=1e-3 * fs,
                method=method,
                every=10,
                threads=1,
                **start,
            )
            spent = time.process_time() - started
            report(f"polhode {method}", fs, run.t, run.total_energy, spent, steps)
        for peer in ("lammps", "openmm-CPU"):
            command = [given.peers, HERE / "waters_peers.py", peer, file, str(fs), str(steps)]
            found = subprocess.run(
                command, capture_output=True, text=True, env=environment, check=False
            )
            if found.returncode:
                print(f"{peer}: left out: {found.stderr.strip().splitlines()[-1]}")
                continue
            told = json.loads(found.stdout.splitlines()[-1])
            report(f"{told['name']}", fs, told["t"], told["E"], told["seconds"], steps)


if __name__ == "__main__":
    main()
