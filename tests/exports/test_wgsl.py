"""Exported WGSL, run in a compute shader: single precision, to a few units of round-off."""

import numpy as np
import pytest

import polhode
from polhode import problems
from test_export import PAIRS, PROBLEMS, STEPS, own, weight
from wgsl_code import device, motion

needs_device = pytest.mark.skipif(device() is None, reason="needs the package wgpu and an adapter")
TOP = problems.get("slow-top")
SOME = [("LP2", PROBLEMS[0]), ("EXACT", PROBLEMS[1]), ("NMB", PROBLEMS[2]), ("VLV+ep", PROBLEMS[3])]
BOUND = 1e-5


def defect(method, problem):
    """The largest difference from polhode in double precision, of attitude and relative velocity."""
    torque = problem.torque(problem.step)
    text = polhode.export(method, "wgsl", torque=torque, body=problem.body)
    right = own(method, problem, STEPS, compiled=False)
    if right is None:
        return 0.0
    size = np.array([1.0] * 4 + [max(1.0, np.abs(right[4:]).max())] * 3)
    found = motion(text, problem, STEPS)
    turned = found * ([-1.0] * 4 + [1.0] * 3)
    return min(np.abs((one - right) / size).max() for one in (found, turned))


@needs_device
@pytest.mark.parametrize(("method", "problem"), SOME, ids=lambda one: getattr(one, "name", one))
def test_wgsl_is_polhode_to_single_precision(method, problem):
    assert defect(method, problem) < BOUND


WEIGHT = """
fn torque(t: f32, R: mat3, Om: vec3f) -> vec3f { return vec3f(-20.0 * R.y.z, 20.0 * R.x.z, 0.0); }
"""


@needs_device
def test_your_torque():
    """A function beside the file is called."""
    found = motion(polhode.export("LP2", "wgsl") + WEIGHT, TOP, STEPS)
    torque = polhode.torque(weight, form="tuple")
    run = polhode.integrate(
        TOP.body, torque, (0.0, STEPS * TOP.step), TOP.step, "LP2", rotation0=TOP.rotation0, scalar_first=False,
        omega0=TOP.omega0, every="end", compiled=False,
    )  # fmt: skip
    right = np.concatenate([run.quaternion[-1], run.omega[-1]])
    assert np.abs(found - right).max() < BOUND * np.abs(right).max()


def test_only_single_precision():
    assert "f64" not in polhode.export("NMB", "wgsl")
    with pytest.raises(polhode.InputError, match="'float'"):
        polhode.export("LP2", "wgsl", precision="double")


@needs_device
@pytest.mark.slow
def test_all_methods():
    found = {f"{method} {problem.name}": defect(method, problem) for method, problem in PAIRS}
    assert {name: one for name, one in found.items() if not one < BOUND} == {}
