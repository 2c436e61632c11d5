"""A reaction wheel that spins up, beside Basilisk's balanced wheel: do the two agree, and what does
an evaluation of the equations cost?

    python benchmarks/gyrostat.py [--basilisk PYTHON]

PYTHON is an interpreter that has Basilisk (`pip install bsk`), by default this one.  Both follow a
body with one wheel on a tilted axle, driven by a constant torque, over SPAN seconds: Basilisk by
RKF78 with tolerances of 1e-13 (agreement) and by its RK4 with a step of STEP (time), polhode by
DOP853 with rtol 1e-13 and by DP5, LP2 and EXACT with the same step.  Times are for the steps alone, the
least of five runs, over the number of evaluations: 4 for a step of RK4, 6 for DP5, 1 for LP2 and EXACT.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np

INERTIA, OMEGA = (1.0, 2.0, 2.5), (0.1, 0.5, 1.0)
AXIS, WHEEL, SPEED, TORQUE = (0.3, 0.4, 0.75**0.5), 0.05, 50.0, 0.02
SPAN, STEP, REPEATS = 10.0, 0.01, 5


def theirs(step, adaptive):
    """(angular velocity, speed of the wheel, seconds) by Basilisk."""
    from Basilisk.architecture import messaging
    from Basilisk.simulation import reactionWheelStateEffector, spacecraft, svIntegrators
    from Basilisk.utilities import SimulationBaseClass, macros, simIncludeRW

    simulation = SimulationBaseClass.SimBaseClass()
    task = simulation.CreateNewTask("task", macros.sec2nano(step))
    simulation.CreateNewProcess("process").addTask(task)
    craft = spacecraft.Spacecraft()
    craft.hub.mHub = 10.0
    craft.hub.r_BcB_B = [[0.0], [0.0], [0.0]]
    craft.hub.IHubPntBc_B = np.diag(INERTIA).tolist()  # with the balanced wheel
    craft.hub.omega_BN_BInit = [[rate] for rate in OMEGA]
    if adaptive:
        integrator = svIntegrators.svIntegratorRKF78(craft)
        integrator.relTol = integrator.absTol = 1e-13
        craft.setIntegrator(integrator)
    factory = simIncludeRW.rwFactory()
    factory.create("custom", list(AXIS), Omega=SPEED / macros.RPM, Js=WHEEL, useMaxTorque=False)
    wheel = reactionWheelStateEffector.ReactionWheelStateEffector()
    factory.addToSpacecraft("wheel", wheel, craft)
    command = messaging.ArrayMotorTorqueMsgPayload()
    command.motorTorque = [TORQUE]
    message = messaging.ArrayMotorTorqueMsg().write(command)
    wheel.rwMotorCmdInMsg.subscribeTo(message)
    simulation.AddModelToTask("task", craft)
    simulation.AddModelToTask("task", wheel)
    simulation.InitializeSimulation()
    simulation.ConfigureStopTime(macros.sec2nano(SPAN))
    started = time.perf_counter()
    simulation.ExecuteSimulation()
    taken = time.perf_counter() - started
    state = craft.scStateOutMsg.read()
    return list(state.omega_BN_B), wheel.rwOutMsgs[0].read().Omega, taken


def ours(**options):
    """The same by polhode."""
    import polhode

    wheel = polhode.Rotor(AXIS, WHEEL, speed=SPEED, torque=TORQUE)
    body = polhode.RigidBody(INERTIA, rotors=[wheel])
    run = polhode.integrate(body, t_span=(0, SPAN), omega0=OMEGA, every="end", **options)
    return run.omega[-1].tolist(), float(run.rotor_speeds[-1, 0]), run.elapsed


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--basilisk", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.theirs:
        best = min(theirs(STEP, False)[2] for _ in range(REPEATS))
        omega, speed, _ = theirs(STEP, True)
        print(json.dumps({"omega": omega, "speed": speed, "seconds": best}))
        return
    omega, speed, _ = ours(rtol=1e-13)
    print(f"polhode, DOP853 with rtol 1e-13: omega {omega}, wheel {speed!r}")
    for method, evaluations in (("DP5", 6), ("LP2", 1), ("EXACT", 1)):
        best = min(ours(step=STEP, method=method)[2] for _ in range(REPEATS))
        each = 1e9 * best / (evaluations * SPAN / STEP)
        print(f"polhode, {method}: {each:.1f} ns for an evaluation")
    command = [given.basilisk, __file__, "--theirs"]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode:
        print(f"Basilisk did not run in {given.basilisk}: {answer.stderr.strip().splitlines()[-1]}")
        return
    found = json.loads(answer.stdout.splitlines()[-1])
    off = max(abs(np.subtract(found["omega"], omega)).max(), abs(found["speed"] / speed - 1.0))
    each = 1e9 * found["seconds"] / (4 * SPAN / STEP)
    print(f"Basilisk, RKF78: differs by {off:.1e};  RK4: {each:.1f} ns for an evaluation")


if __name__ == "__main__":
    main()
