"""Exported methods, compiled and run: their results are polhode's, bit for bit."""

import ctypes
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import polhode
from c_code import COMPILER, MANY, Stepper, compiled
from polhode import problems
from polhode.cli import app
from polhode.exports.module import export_obstacle
from polhode.exports._export import exported

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
PROBLEMS = [problems.get(name) for name in ("slow-top", "coulomb-wall", "stress", "free-body")]
METHODS = [entry for entry in polhode.methods.everything() if not export_obstacle(entry)]
MADE = [
    "newmark(0.6)",
    "taylor(8)",
    "MR2-312-cay",
    "LP2+yoshida4",
    "NMB+suzuki4",
    "VLV+ep",
    "taylor3+ep",
]
NAMES = [entry.name for entry in METHODS] + MADE
# every method on one of the problems, those that are recommended on all
PAIRS = [(name, PROBLEMS[i % 4]) for i, name in enumerate(NAMES)] + [
    (name, problem) for name in ("LP2", "NMB", "EXACT", "AKW", "VLV+ep") for problem in PROBLEMS
]  # fmt: skip
STEPS = 20


def written(method, problem, prefix, **options):
    """The C of a method for a problem, with public names of its own and a loop."""
    printer = exported(method, "c", problem.torque(problem.step), problem.body, **options)
    printer.module.prefix = prefix
    printer = type(printer)(printer.module, printer.precision, printer.fma)
    return printer.text() + MANY.format(name=prefix, real=printer.precision)


def follow(library, prefix, problem, steps, **options):
    """The motion after so many steps of the problem."""
    one = Stepper(library, prefix, problem.body.moments, **options)
    one.start(problem.step, problem.rotation0, problem.omega0)
    one.many(problem.step, steps)
    return one.motion()


def own(method, problem, steps, **options):
    """The same by polhode; None where it does not get so far."""
    span = (0.0, steps * problem.step)
    run = problem.integrate(method, t_span=span, every="end", **options)
    if not run.success:
        return None
    return np.concatenate([run.quaternion[-1], run.omega[-1]])


def same(a, b):
    """Whether two motions have the same bits; a quaternion may have the other sign."""
    return np.array_equal(a, b) or np.array_equal(a * ([-1.0] * 4 + [1.0] * 3), b)


@pytest.fixture(scope="module")
def library():
    """All pairs in one library: starting the compiler costs more than compiling."""
    return compiled([written(*pair, f"pair{i}") for i, pair in enumerate(PAIRS)])


@needs_compiler
@pytest.mark.parametrize("i", range(len(PAIRS)), ids=lambda i: f"{PAIRS[i][0]}-{PAIRS[i][1].name}")
def test_c_has_the_bits_of_polhode(library, i):
    method, problem = PAIRS[i]
    assert same(
        follow(library, f"pair{i}", problem, STEPS), own(method, problem, STEPS, compiled=False)
    )


USERS = """
#include <stddef.h>
static {name}_vec3 weight({real} t, {name}_mat3 R, {name}_vec3 Om, void *context) {{
    const {real} moment = *(const {real} *)context;
    (void)t; (void)Om;
    return ({name}_vec3){{-moment * R.y.z, moment * R.x.z, ({real})0.0}};
}}
static {real} moment_ = ({real})20.0;
void {name}_begin({name}_state *s, {real} h, {name}_vec4 q, {name}_vec3 Om, const {name}_body *body);
void {name}_begin({name}_state *s, {real} h, {name}_vec4 q, {name}_vec3 Om, const {name}_body *body) {{
    {name}_start(s, h, ({real})0.0, q, Om, body, ({name}_load){{weight, &moment_}});
}}
void {name}_many({name}_state *s, {real} h, long n, const {name}_body *body);
void {name}_many({name}_state *s, {real} h, long n, const {name}_body *body) {{
    for (long k = 0; k < n; k++) {{
        {name}_step(s, h, ({real})0.0 + ({real})k * h, body, ({name}_load){{weight, &moment_}});
    }}
}}
"""


def weight(t, R):
    return (-20.0 * R[1][2], 20.0 * R[0][2], 0.0)


@needs_compiler
def test_a_torque_written_in_c():
    top = problems.get("slow-top")
    names = ["LP2", "NMB", "RKMK4", "AKW", "DOP853"]
    texts = [polhode.export(name, "c") + USERS.format(name=name, real="double") for name in names]
    library = compiled(texts)
    torque = polhode.torque(weight, form="tuple")
    for name in names:
        one = Stepper(library, name, top.body.moments)
        one.start(top.step, top.rotation0, top.omega0)
        one.many(top.step, STEPS)
        run = polhode.integrate(
            top.body, torque, (0.0, STEPS * top.step), top.step, name, rotation0=top.rotation0, scalar_first=False,
            omega0=top.omega0, every="end", compiled=False,
        )  # fmt: skip
        assert same(one.motion(), np.concatenate([run.quaternion[-1], run.omega[-1]]))


@needs_compiler
def test_single_precision_and_no_fma():
    top = problems.get("slow-top")
    names = ["LP2", "NMB", "EXACT", "DMV4", "CG4", "taylor3", "EXACT-RKN4", "AKW"]
    plain = [written(name, top, f"plain{i}", fma=False) for i, name in enumerate(names)]
    single = [written(name, top, f"single{i}", precision="float") for i, name in enumerate(names)]
    assert not any("fma(" in text for text in plain)
    assert not any("double" in text.partition("*/")[2] for text in single)
    library = compiled([*plain, *single], further=("-Wdouble-promotion",))
    for i, name in enumerate(names):
        right = own(name, top, STEPS, compiled=False)
        assert np.abs(follow(library, f"plain{i}", top, STEPS) - right).max() < 1e-13
        rounded = follow(library, f"single{i}", top, STEPS, real=ctypes.c_float)
        assert np.abs(rounded - right).max() < 2e-5


@needs_compiler
def test_nothing_to_warn_of():
    strict = ("-Wshadow", "-Wconversion", "-Wpedantic", "-Wstrict-prototypes", "-Wunused")
    texts = [polhode.export(name, "c") for name in ("LP2", "NMB", "AKW", "ABAM", "LIEMID[EA]")]
    compiled([*texts, polhode.export("EXACT", "c", torque="stress_potential")], "-O0", strict)


def code_of(text):
    """The code of a file, without comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", NAMES)
def test_no_library_and_no_recursion(name):
    """A function calls those before it, and what every processor has."""
    code = code_of(polhode.export(name, "c", torque="heavy_top"))
    known = {"if", "while", "for", "sqrt", "fma", "fabs"}
    for function in re.split(r"^static inline \w+ ", code, flags=re.MULTILINE)[1:]:
        head, _, body = function.partition("{")
        body = body.partition("\n\n")[0]
        assert set(re.findall(r"\b([A-Za-z_]\w*)\(", body)) <= known
        known.add(head.partition("(")[0])


@polhode.torque(uses_omega=True, params={"k": 0.3, "arm": (0.1, 0.0, 0.2)}, frame="body")
def braked(t, R, omega, p):
    """A weight on an arm, shaken, and a quadratic damping, written for arrays."""
    g = R.T @ np.array([0.0, 0.0, -9.81 + np.sin(3.0 * t)])
    return np.cross(p.arm, g) - p.k * np.sqrt(omega @ omega) * omega


@needs_compiler
def test_a_torque_written_for_arrays():
    """It becomes the operations that it does: those of NumPy but for the order of some sums."""
    text = polhode.export("NMB", "c", torque=braked) + MANY.format(name="NMB", real="double")
    one = Stepper(compiled([text]), "NMB", (1.0, 2.0, 2.5))
    one.start(0.01, (0.3, 0.0, 0.0), (0.1, 2.0, 0.1))
    one.many(0.01, 100)
    run = polhode.integrate(
        [1, 2, 2.5], braked, (0, 1), 0.01, "NMB", rotation0=(0.3, 0, 0), omega0=(0.1, 2, 0.1), compiled=False
    )  # fmt: skip
    assert np.abs(one.motion() - [*run.quaternion[-1], *run.omega[-1]]).max() < 1e-13


@needs_compiler
def test_long_steps_of_the_exact_motion():
    """Steps too long for the series are taken in parts; polhode takes elliptic functions there."""
    free = problems.get("free-body")
    text = polhode.export("EXACT", "c", torque="free", body=free.body)
    library = compiled([text + MANY.format(name="EXACT", real="double")])
    one = Stepper(library, "EXACT", free.body.moments)
    one.start(5.0, free.rotation0, free.omega0)
    one.many(5.0, 4)
    truth = polhode.exact.free_body(free.body, free.rotation0, free.omega0, t=20.0)
    assert np.abs(one.motion() - [*truth.quaternion, *truth.omega]).max() < 1e-13


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda t, R: tuple(x for x in R[0]), "has no counterpart"),
        (lambda t, R: (R[0][0] ** 0.5, 0.0, 0.0), "only + - * /"),
        (lambda t, R: (t[0], 0.0, 0.0), "out of range"),
        (lambda t, R: (round(R[0][0]), 0.0, 0.0), "it calls round"),
        (lambda t, R: (R[0][3], 0.0, 0.0), "out of range"),
        (lambda t, R: R[int(t)], "it calls int"),
    ],
)  # fmt: skip
def test_what_cannot_be_translated_is_named_with_its_line(write, words):
    with pytest.raises(polhode.InputError, match=re.escape(words)) as caught:
        polhode.export("LP2", "c", torque=polhode.torque(write, form="tuple"))
    assert f"line {write.__code__.co_firstlineno} of {__file__}" in str(caught.value)


def test_what_can_be_exported_is_told():
    result = CliRunner().invoke(app, ["methods", "--json"])
    told = {one["name"]: one["export_obstacle"] for one in json.loads(result.stdout)}
    assert {name for name, why in told.items() if why is None} == {entry.name for entry in METHODS}
    for name in {name for name, why in told.items() if why}:
        with pytest.raises(polhode.InputError, match="cannot be exported"):
            polhode.export(name)
    wheel = polhode.RigidBody([1, 2, 2.5], rotors=[polhode.Rotor((0, 0, 1), 0.1, speed=3.0)])
    kinds = {"flight": {"flight": True}, "rotors": {"body": wheel}}
    for one in json.loads(result.stdout):
        for kind, given in kinds.items():
            if one[f"export_{kind}_obstacle"] is None:
                assert polhode.export(one["name"], **given)
            else:
                with pytest.raises(polhode.InputError, match=re.escape(one["name"])):
                    polhode.export(one["name"], **given)


def test_a_short_file():
    """A method that fits on a few pages, with all its comments."""
    for torque in (None, "free", "heavy_top", "coulomb_wall", "stress_potential"):
        lines = polhode.export("LP2", "c", torque=torque, measure=True).splitlines()
        assert len(lines) < 200 and max(map(len, lines)) <= 110


def test_the_command_writes_what_the_function_returns(tmp_path):
    path = tmp_path / "nmb.c"
    line = ["export", "NMB", "--torque", "heavy_top", "--set", "moment=15", "-o", str(path)]
    assert CliRunner().invoke(app, line).exit_code == 0
    own = polhode.export("NMB", torque=polhode.torques.heavy_top(15), measure=True)
    assert path.read_text() == own
    assert "MOMENT = 15.0" in path.read_text()
    assert "Measured: order 2.0 of the attitude, 2.0 of the momentum" in path.read_text()
