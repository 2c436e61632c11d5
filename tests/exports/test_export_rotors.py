"""Exported methods for bodies with rotors, compiled and run."""

import ctypes
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import polhode
from c_code import COMPILER, compiled, vector
from polhode.cli import app
from polhode.engine.rotors import rotor_numbers
from polhode.exports.module import identifier

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")


def servo(t, R, omega, speed):
    return 0.1 * math.sin(t) + 0.2 * R[0][1] - 0.01 * speed * omega[2]


SIDE = np.array([0.6, 0.0, 0.8])
DRIVEN = polhode.Rotor(SIDE, 0.1, torque=0.3, damping=0.05)
HELD = polhode.Rotor((1, 1, 0), 0.05, speed=30.0)
FREE = polhode.Rotor((0, 1, 0), 0.07, torque=servo)
# the principal axes are those of the body without its free rotors
BODY = polhode.RigidBody(np.diag([1.0, 2.0, 2.5]) + 0.1 * np.outer(SIDE, SIDE), mass=10.0)
WHEELS = BODY.with_rotors([DRIVEN, HELD, FREE])
ALONG = polhode.RigidBody([2.0, 2.0, 2.5], mass=10.0).with_rotors(
    [polhode.Rotor((0, 0, 1), 0.1, torque=0.3)]
)
LOADS = {
    "top": polhode.torques.heavy_top(5.0),
    "weight": polhode.Load(polhode.torques.damping(0.2), polhode.flight.weight(10.0)),
}
METHODS = ["LP2", "EXACT", "EXACT-RKN4", "MR2-BM4", "DP5", "DOP853"]
CASES = [(name, WHEELS, load) for name in METHODS for load in LOADS] + [("EXACT", ALONG, "top")]
START = dict(rotation0=(0.3, 0.2, 0.0), omega0=(0.1, 2.0, 0.3))
FLIGHT = dict(position0=(2.0, 0.1, 0.0), velocity0=(0.0, 1.9, 0.3))
STEPS, STEP = 20, 0.05
RUN = """
void {name}_run(long steps, double h, const double *z, double *out);
void {name}_run(long steps, double h, const double *z, double *out) {{
    {axes} axes;
    {numbers} J, is_free, W;
    const double *r = z + 16;
    for (int i = 0; i < {n}; i++) {{
        for (int k = 0; k < 3; k++) {{ ((double *)&axes)[3 * i + k] = r[3 * i + k]; }}
        ((double *)&J)[i] = r[3 * {n} + i];
        ((double *)&is_free)[i] = r[4 * {n} + i];
        ((double *)&W)[i] = r[5 * {n} + i];
    }}
    {name}_body body = {name}_make_body(({name}_vec3){{z[0], z[1], z[2]}}, axes, J, is_free);
    {name}_state s;
    {name}_start(&s, h, 0.0, ({name}_vec4){{z[3], z[4], z[5], z[6]}}, ({name}_vec3){{z[7], z[8], z[9]}},{place} W, &body{load});
    for (long k = 0; k < steps; k++) {{ {name}_step(&s, h, 0.0 + (double)k * h, &body{load}); }}
    {name}_vec3 Om = {name}_omega(&s, &body);
    {numbers} speeds = {name}_speeds(&s, &body);
    const double found[7] = {{s.q.x, s.q.y, s.q.z, s.q.w, Om.x, Om.y, Om.z}};
    for (int i = 0; i < 7; i++) {{ out[i] = found[i]; }}
    for (int i = 0; i < {n}; i++) {{ out[7 + i] = ((double *)&speeds)[i]; }}
}}
"""
PLACE = "({name}_vec3){{z[10], z[11], z[12]}}, ({name}_vec3){{z[13], z[14], z[15]}}, "
TYPES = {1: ("vec3_1", "vec1"), 3: ("mat3", "vec3")}


def program(method, body, name, load="", flies=False, **given):
    """The C of a method with a loop, under names of its own."""
    prefix, n = identifier(method), len(body.rotors)
    axes, numbers = (f"{prefix}_{one}" for one in TYPES[n])
    place = PLACE.format(name=prefix) if flies else ""
    run = RUN.format(name=prefix, n=n, axes=axes, numbers=numbers, place=place, load=load)
    text = polhode.export(method, "c", body=body, **given)
    return text, run.replace(f"{prefix}_", f"{name}_"), prefix


def moved(library, name, body):
    """The motion in C after STEPS: attitude, body velocity, and speeds of the rotors."""
    q = polhode.rotations.as_quaternion(START["rotation0"], False, "rotation0")
    numbers = rotor_numbers(body)
    speeds = body.rotor_speeds(np.array(START["omega0"]))
    given = [
        *body.moments,
        *q,
        *START["omega0"],
        *FLIGHT["position0"],
        *FLIGHT["velocity0"],
        *numbers,
        *speeds,
    ]
    out = (ctypes.c_double * (7 + len(body.rotors)))()
    z = vector(ctypes.c_double, len(given))(tuple(given)).v
    getattr(library, f"{name}_run")(ctypes.c_long(STEPS), ctypes.c_double(STEP), z, out)
    return np.array(out)


def own(method, body, load):
    """The same by polhode."""
    more = FLIGHT if isinstance(load, polhode.Load) else {}
    run = polhode.integrate(
        body, load, (0, STEPS * STEP), STEP, method, every="end", compiled=False, **START, **more
    )
    return np.concatenate([run.quaternion, run.omega, run.rotor_speeds], axis=-1)[-1]


@pytest.fixture(scope="module")
def library():
    texts = []
    for i, (method, body, load) in enumerate(CASES):
        flies = isinstance(LOADS[load], polhode.Load)
        text, run, prefix = program(method, body, f"case{i}", flies=flies, torque=LOADS[load])
        texts.append(text.replace(f"{prefix}_", f"case{i}_") + run)
    return compiled(texts)


@needs_compiler
@pytest.mark.parametrize("i", range(len(CASES)), ids=lambda i: f"{CASES[i][0]}-{CASES[i][2]}")
def test_c_with_rotors_has_the_bits_of_polhode(library, i):
    method, body, load = CASES[i]
    assert np.array_equal(moved(library, f"case{i}", body), own(method, body, LOADS[load]))


SCENARIO = """
[body]
inertia = [1.0, 2.0, 2.5]
[[body.rotors]]
axis = [0.0, 0.0, 1.0]
inertia = 0.1
speed = 30.0
[initial]
omega = [0.1, 2.0, 0.3]
[run]
t_span = [0, 1]
step = 0.01
"""


def test_the_body_of_a_scenario_on_the_command_line(tmp_path):
    path = tmp_path / "wheel.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    wheel = polhode.RigidBody([1.0, 2.0, 2.5], rotors=[polhode.Rotor((0, 0, 1), 0.1, speed=30.0)])
    for language in ("c", "rust"):
        line = ["export", "EXACT", "--language", language, "--no-measure", "--body", str(path)]
        written = CliRunner().invoke(app, line)
        assert written.exit_code == 0
        own = polhode.export("EXACT", language, body=wheel)  # whose comment has another command
        first = {"c": "#include", "rust": "#![allow"}[language]
        assert written.stdout.partition(first)[1:] == own.partition(first)[1:]


MINE = """
static NAME_vec3 weight(double t, NAME_mat3 R, NAME_vec3 Om, void *context) {
    (void)t; (void)Om; (void)context;
    return (NAME_vec3){-5.0 * R.y.z, 5.0 * R.x.z, 0.0};
}
"""
DRIVE = """
static EXACT_vec3 drive(double t, EXACT_mat3 R, EXACT_vec3 Om, EXACT_vec3 W, void *context) {
    (void)t; (void)R; (void)Om; (void)context;
    return (EXACT_vec3){0.3 - 0.05 * W.x, 0.0, 0.2 * R.x.y};
}
"""


@needs_compiler
def test_motors_written_in_c():
    """A body whose rotors have no motors of their own: the user drives them."""
    idle = [
        polhode.Rotor(SIDE, 0.1, momentum=0.0),
        HELD,
        polhode.Rotor((0, 1, 0), 0.07, torque=0.0),
    ]
    driven = [
        DRIVEN,
        HELD,
        polhode.Rotor((0, 1, 0), 0.07, torque=lambda t, R, omega, speed: 0.2 * R[0][1]),
    ]
    load = ", (EXACT_load){weight, drive, 0}"
    text, run, _ = program("EXACT", BODY.with_rotors(idle), "EXACT", load=load)
    library = compiled([text + MINE.replace("NAME", "EXACT") + DRIVE + run])
    right = own("EXACT", BODY.with_rotors(driven), polhode.torques.heavy_top(5.0))
    assert np.abs(moved(library, "EXACT", BODY.with_rotors(driven)) - right).max() < 1e-13


@needs_compiler
def test_motors_of_the_body_beside_a_torque_written_in_c():
    text, run, _ = program("LP2", WHEELS, "LP2", load=", (LP2_load){weight, 0}")
    library = compiled([text + MINE.replace("NAME", "LP2") + run])
    right = own("LP2", WHEELS, polhode.torques.heavy_top(5.0))
    assert np.abs(moved(library, "LP2", WHEELS) - right).max() < 1e-13
