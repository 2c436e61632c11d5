"""MuJoCo's Runge-Kutta: the heavy top as a mass on a ball joint, the free body as it is; other
torques would be Python."""

import time

import mujoco
import numpy as np
from common import Solver, serve

MODEL = """<mujoco><option gravity="0 0 -{g!r}" integrator="RK4"><flag contact="disable" constraint="disable"/></option>
<worldbody><body>{body}</body></worldbody></mujoco>"""


def model_of(problem):
    A, B, C = problem.moments
    if problem.torque["name"] == "free":
        body = (
            f'<joint type="free"/><inertial pos="0 0 0" mass="1" diaginertia="{A!r} {B!r} {C!r}"/>'
        )
        return mujoco.MjModel.from_xml_string(MODEL.format(g=0.0, body=body))
    if problem.torque["name"] == "heavy_top":  # mass 1 at height 1
        body = f'<joint type="ball"/><inertial pos="0 0 1" mass="1" diaginertia="{A - 1.0!r} {B - 1.0!r} {C!r}"/>'
        return mujoco.MjModel.from_xml_string(MODEL.format(g=problem.torque["moment"], body=body))
    raise ValueError("only the free body and the heavy top run inside MuJoCo")


def prepare(problem):
    model = model_of(problem)
    data, y0 = mujoco.MjData(model), np.array(problem.y0)

    def run(n):
        model.opt.timestep = problem.end / n
        mujoco.mj_resetData(model, data)
        data.qpos[-4:], data.qvel[-3:] = np.roll(y0[:4], 1), y0[4:]  # the scalar comes first here
        started = time.perf_counter()
        mujoco.mj_step(model, data, nstep=n)
        seconds = time.perf_counter() - started
        return np.concatenate([np.roll(data.qpos[-4:], -1), data.qvel[-3:]]), 4 * n, seconds

    return run


serve({"MuJoCo RK4": Solver("steps", prepare)})
