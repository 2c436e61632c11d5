"""Exported WGSL, run in a compute shader: on a GPU, or by a processor that plays one."""

import re
from functools import cache

import numpy as np

from polhode.rotations import as_quaternion

CASE = """
@group(0) @binding(0) var<storage, read_write> found: array<f32>;
@group(0) @binding(1) var<storage, read> steps: i32;
@compute @workgroup_size(1)
fn main() {{
    let h = {h};
    let body = {name}_make_body({moments});
    var s = {name}_start(h, 0.0, {q}, {omega}, body);
    for (var k = 0; k < steps; k++) {{ s = {name}_step(s, h, f32(k) * h, body); }}
    let Om = {name}_omega(s, body);
    found[0] = s.q.x; found[1] = s.q.y; found[2] = s.q.z; found[3] = s.q.w;
    found[4] = Om.x; found[5] = Om.y; found[6] = Om.z;
}}
"""


@cache
def device():
    """What runs shaders; None where there is nothing."""
    try:
        import wgpu

        return wgpu.gpu.request_adapter_sync().request_device_sync()
    except (ImportError, RuntimeError):
        return None


def vec(values):
    """A vector in WGSL."""
    return f"vec{len(values)}f({', '.join(repr(float(one)) for one in values)})"


def motion(text, problem, steps):
    """The motion in a shader after so many steps of the problem, seven numbers."""
    name = re.search(r"^fn (\w+)_make_body\(", text, flags=re.MULTILINE)[1]
    q = as_quaternion(problem.rotation0, False, "rotation0")
    shader = text + CASE.format(
        name=name, h=repr(float(problem.step)), moments=vec(problem.body.moments), q=vec(q), omega=vec(problem.omega0)
    )  # fmt: skip
    return computed(shader, steps, 7)


def computed(shader, steps, count):
    """So many numbers that a shader computes."""
    from wgpu.utils.compute import compute_with_buffers

    assert device() is not None
    given = {1: np.array([steps], np.int32)}
    out = compute_with_buffers(given, {0: (count, "f")}, shader, n=1)
    return np.array(out[0], np.float64)
