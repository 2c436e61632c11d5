"""Computes with tensor bodies, meshes and attitudes and writes the bits it gets; `test_frames.py`
runs it on several kernels.

    python bits.py FOLDER [FOLDER OF ANOTHER]

writes everything into FOLDER; given the folder that another process left, it also goes on from that
one's checkpoint and state.
"""

import json
import pickle
import shutil
import sys
from pathlib import Path

import numpy as np

import polhode
from polhode import RigidBody, Stepper, exact, rotations, torques
from mesh_files import box, glb, obj

TENSORS = 200
ORIGIN = '<origin xyz="0 0 0" rpy="0.3 -0.7 1.1"/>'
URDF = (
    '<robot><link name="a"><inertial>'
    + ORIGIN
    + '<mass value="1"/><inertia ixx="2" ixy="0.1" ixz="-0.2" iyy="2.5" '
    'iyz="0.3" izz="3"/></inertial></link></robot>'
)


def tensors():
    """Symmetric, nearly symmetric and triaxial bodies in all attitudes: R diag(moments) R^T, summed
    in a fixed order."""
    rng = np.random.default_rng(4)
    for k in range(TENSORS):
        R = rotations.matrices(rotations.exp(rng.normal(size=3)))
        a, b = rng.uniform(1.0, 1.9, 2)
        moments = [(a, a, b), (a, a * (1 + 1e-13), b), (a, a, a), (1.0, a, b)][k % 4]
        tensor = sum(moments[i] * np.multiply.outer(R[:, i], R[:, i]) for i in range(3))
        yield 0.5 * (tensor + tensor.T)


def tilted():
    return RigidBody(next(tensors()))


def options():
    return {
        "body": tilted(),
        "torque": torques.heavy_top(3.0),
        "step": 0.01,
        "rotation0": rotations.matrices(rotations.exp([0.7, -0.2, 1.1])),
        "omega0": (0.4, 1.0, -0.3),
    }


def begun(folder):
    """A run that breaks off after its first checkpoint."""

    def stop(done, total):
        if done > 200:
            raise RuntimeError

    try:
        polhode.integrate(
            **options(), t_span=(0.0, 10.0), checkpoint=folder, checkpoint_every=200, progress=stop
        )
    except RuntimeError:
        return
    raise AssertionError("the run was to break off")


def found(folder):
    """Everything, by name."""
    vertices, faces = box(1, 2, 3, at=(0.1, 0.2, 0.3))
    nodes = [
        {"mesh": 0, "rotation": [0.1, 0.5, -0.3, 0.8], "scale": [1.1, 0.7, 1.3], "children": [1]},
        {"mesh": 0, "translation": [5.1, 0.3, 7.7], "rotation": [0.6, 0.2, 0.3, 0.7]},
    ]
    (folder / "a.glb").write_bytes(glb(vertices, faces, nodes, scenes=[{"nodes": [0]}]))
    (folder / "a.obj").write_bytes(obj(vertices * [1.0, 1.3, 0.7] + vertices[:, ::-1] / 3.0, faces))
    (folder / "a.urdf").write_text(URDF)
    points = np.random.default_rng(5).normal(size=(50, 3))
    bodies = [RigidBody(tensor) for tensor in tensors()]
    bodies += [RigidBody.from_mesh(folder / name, density=3.0) for name in ("a.obj", "a.glb")]
    bodies += [
        RigidBody.from_urdf(folder / "a.urdf"),
        RigidBody.point_masses(1.0 + points[:, 0] ** 2, points),
    ]
    run = polhode.integrate(**options(), t_span=(0.0, 10.0))
    many = polhode.ensemble(bodies[:40], t_span=(0.0, 1.0), step=0.01, omega0=(0.4, 1.0, -0.3))
    free = exact.free_body(
        bodies[0],
        rotations.matrices(rotations.exp([0.7, -0.2, 1.1])),
        [0.4, 1.0, -0.3],
        [1.0, 100.0],
    )
    return {
        "axes": np.array([body.axes for body in bodies]),
        "moments": np.array([body.moments for body in bodies]),
        "inertia": np.array([body.inertia for body in bodies]),
        "velocities": np.array([body.omega([1.0, 2.0, 3.0]) for body in bodies]),
        "attitudes": np.array([rotations.as_quaternion(body.axes) for body in bodies]),
        "run": run.motion,
        "energy": run.total_energy,
        "momentum": run.momentum_spatial,
        "ensemble": np.concatenate([many.quaternion, many.omega], axis=1),
        "exact": np.hstack([free.quaternion, free.omega]),
    }


def gone_on(folder, other):
    """The run of another process from its checkpoint, and its Stepper from its state."""
    shutil.copytree(other / "checkpoint", folder / "theirs")
    run = polhode.integrate(
        **options(), t_span=(0.0, 10.0), checkpoint=folder / "theirs", checkpoint_every=200
    )
    stepper = Stepper(**options())
    stepper.state = pickle.loads((other / "stepper").read_bytes())
    stepper.step(100)
    return {"resumed": run.motion, "restored": np.concatenate([stepper.quaternion, stepper.omega])}


def main(folder, *others):
    folder = Path(folder)
    arrays = found(folder)
    stepper = Stepper(**options())
    stepper.step(100)
    (folder / "stepper").write_bytes(pickle.dumps(stepper.state))
    stepper.step(100)
    arrays["stepper"] = np.concatenate([stepper.quaternion, stepper.omega])
    begun(folder / "checkpoint")
    for other in others:
        arrays |= gone_on(folder, Path(other))
    (folder / "bits.json").write_text(
        json.dumps({name: array.tobytes().hex() for name, array in arrays.items()})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
