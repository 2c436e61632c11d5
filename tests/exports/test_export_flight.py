"""Exported methods for bodies in flight, compiled and run."""

import ctypes

import numpy as np
import pytest
from typer.testing import CliRunner

import polhode
from c_code import COMPILER, compiled, vector
from polhode import flight
from polhode.cli import app

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
BODY = polhode.RigidBody([1.0, 2.0, 2.5], mass=10.0)
SPRING = flight.spring(3.0, point=(0.1, 0.0, 0.2), damping=0.4)
LOADS = {
    "gravity": flight.gravity(8.0, BODY) + flight.drag(linear=0.1),
    "spring": SPRING,
    "weight": polhode.Load(polhode.torques.damping(0.2), flight.weight(BODY.mass)),
}
START = dict(
    position0=(2.0, 0.1, 0.0),
    velocity0=(0.0, 1.9, 0.3),
    rotation0=(0.3, 0.2, 0.0),
    omega0=(0.1, 2.0, 0.3),
)
METHODS = ["LP2", "EXACT-RKN4", "VLV", "DMV4", "NMB", "DP5", "DOP853", "LP2+yoshida4", "AKW"]
PAIRS = [
    (name, load) for name in METHODS for load in LOADS if name not in ("AKW",) or load == "weight"
]
STEPS, STEP = 20, 0.02
RUN = """
void {name}_run(long n, double h, const double z[16], double out[13]);
void {name}_run(long n, double h, const double z[16], double out[13]) {{
    {name}_body body = {name}_make_body(({name}_vec3){{z[0], z[1], z[2]}});
    {name}_state s;
    {name}_start(&s, h, 0.0, ({name}_vec4){{z[3], z[4], z[5], z[6]}}, ({name}_vec3){{z[7], z[8], z[9]}},
        ({name}_vec3){{z[10], z[11], z[12]}}, ({name}_vec3){{z[13], z[14], z[15]}}, &body{load});
    for (long k = 0; k < n; k++) {{ {name}_step(&s, h, 0.0 + (double)k * h, &body{load}); }}
    {name}_vec3 Om = {name}_omega(&s, &body);
    const double found[13] = {{s.q.x, s.q.y, s.q.z, s.q.w, Om.x, Om.y, Om.z, s.x.x, s.x.y, s.x.z, s.v.x, s.v.y, s.v.z}};
    for (int i = 0; i < 13; i++) {{ out[i] = found[i]; }}
}}
"""
MINE = """
static {name}_push mine(double t, {name}_mat3 R, {name}_vec3 Om, {name}_vec3 x, {name}_vec3 v, void *context) {{
    (void)t; (void)R; (void)Om; (void)x; (void)v; (void)context;
    return ({name}_push){{{{-0.2 * Om.x, -0.2 * Om.y, -0.2 * Om.z}}, {{-3.0 * x.x, -3.0 * x.y, -3.0 * x.z}}}};
}}
"""


def flown(library, name):
    """The motion in C after STEPS."""
    q = polhode.rotations.as_quaternion(START["rotation0"], False, "rotation0")
    given = [*BODY.moments, *q, *START["omega0"], *START["position0"], *START["velocity0"]]
    out = (ctypes.c_double * 13)()
    getattr(library, f"{name}_run")(
        ctypes.c_long(STEPS),
        ctypes.c_double(STEP),
        vector(ctypes.c_double, 16)(tuple(given)).v,
        out,
    )
    return np.array(out)


def own(method, load, **given):
    """The same by polhode."""
    run = polhode.integrate(
        BODY, load, (0, STEPS * STEP), STEP, method, every="end", compiled=False, **START, **given
    )
    return np.concatenate([run.quaternion, run.omega, run.position, run.velocity], axis=-1)[-1]


@pytest.fixture(scope="module")
def library():
    texts = []
    for i, (name, load) in enumerate(PAIRS):
        text = polhode.export(name, "c", torque=LOADS[load], body=BODY)
        prefix = polhode.exports.module.identifier(name)
        texts.append((text + RUN.format(name=prefix, load="")).replace(f"{prefix}_", f"pair{i}_"))
    return compiled(texts)


@pytest.mark.parametrize("i", range(len(PAIRS)), ids=lambda i: "-".join(PAIRS[i]))
def test_c_in_flight_has_the_bits_of_polhode(library, i):
    name, load = PAIRS[i]
    assert np.array_equal(flown(library, f"pair{i}"), own(name, LOADS[load]))


def test_a_load_written_in_c():
    """Torque in the body, and acceleration: a braked body on a spring."""
    names = ["LP2", "DOP853"]
    texts = [
        polhode.export(name, "c", flight=True, frame="body")
        + MINE.format(name=name)
        + RUN.format(name=name, load=f", ({name}_load){{mine, 0}}")
        for name in names
    ]
    library = compiled(texts)
    spring = polhode.Force(
        lambda t, x, v, R: (-30.0 * x[0], -30.0 * x[1], -30.0 * x[2]), form="tuple"
    )
    load = polhode.Load(polhode.torques.damping(0.2), spring)
    for name in names:
        assert np.abs(flown(library, name) - own(name, load)).max() < 1e-13


def test_a_named_load_on_the_command_line():
    line = [
        "export",
        "LP2",
        "--no-measure",
        "--torque",
        "spring",
        "--set",
        "stiffness=3",
        "--set",
        "damping=0.4",
    ]
    spring = flight.spring(3.0, damping=0.4)
    written = CliRunner().invoke(app, line)
    assert written.exit_code == 0
    own = polhode.export("LP2", torque=spring)  # whose comment has another command
    assert written.stdout.partition("#include")[1:] == own.partition("#include")[1:]
    bare = CliRunner().invoke(app, line[:5])
    assert bare.exit_code != 0 and "--set" in bare.output
