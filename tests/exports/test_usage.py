"""The comment at the top of an exported file: its example runs as it stands, its command writes the file again, and
it says for which bodies the file is."""

import importlib.util
import math
import re
import shlex
import subprocess

import numpy as np
import pytest
from typer.testing import CliRunner

import c_code
import cpp_code
import csharp_code
import javascript_code
import polhode
import rust_code
from polhode.cli import app
from polhode.exports.header import theory
from polhode.methods._method import variant
from polhode.studies.facts.source import unknown_facts

WHEEL = polhode.RigidBody([1, 2, 3], rotors=[polhode.Rotor((0, 0, 1), 0.02, torque=0.0)])
WHEELS = polhode.RigidBody(
    [5, 5.1, 3],
    rotors=[polhode.Rotor(axis, 0.1, speed=2.0) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))],
)
CASES = {
    "yours": {},
    "baked": {"torque": "heavy_top"},
    "flight": {"flight": True},
    "motors": {"body": WHEEL},
    "wheels": {"body": WHEELS, "torque": "heavy_top"},
    "single": {"precision": "float"},
    "moments": {"body": [5, 5, 1]},
}


def comment(text):
    """The comment at the top, without its marks."""
    lines = []
    for line in text.splitlines():
        if not re.match(r"(/\*| \*|   |//|$)", line):
            break
        lines.append(re.sub(r"^(/\*\*?| \*/?|   |//!?)|\*/$", "", line))
    return "\n".join(lines)


def example(text):
    """The lines of the example."""
    lines = comment(text).partition("\nUse")[2] or comment(text).partition(" Use")[2]
    return [
        line
        for line in lines.splitlines()
        if re.match(r" {4,}\S", line) and "after a step" not in line
    ]


def checked(command, folder):
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[:3000]


def in_c(text, folder):
    (folder / "main.c").write_text(text + "\n".join(example(text)))
    checked(
        [
            c_code.COMPILER,
            "-std=c99",
            "-Wall",
            "-Wconversion",
            "-Wdouble-promotion",
            "-Werror",
            "-ffp-contract=off",
            "main.c",
            "-lm",
        ],
        folder,
    )
    checked([folder / "a.out"], folder)


def in_cpp(text, folder):
    (folder / "EXACT.hpp").write_text(text)
    (folder / "main.cpp").write_text("\n".join(example(text)))
    checked(
        [cpp_code.COMPILER, "-std=c++11", "-Wall", "-Werror", "-ffp-contract=off", "main.cpp"],
        folder,
    )
    checked([folder / "a.out"], folder)


def in_rust(text, folder):
    (folder / "exact.rs").write_text(text)
    (folder / "main.rs").write_text("\n".join(example(text)))
    checked([rust_code.COMPILER, "--edition", "2021", "-A", "unused", "main.rs"], folder)
    checked([folder / "main"], folder)


def in_javascript(text, folder):
    (folder / "EXACT.mjs").write_text(text)
    (folder / "main.mjs").write_text("\n".join(example(text)))
    checked([javascript_code.NODE, "main.mjs"], folder)


def in_csharp(text, folder):
    code = csharp_code.adapted(text)
    main = f"static class Program {{ static void Main() {{\n{chr(10).join(example(text))}\n}} }}\n"
    (folder / "main.cs").write_text(f"using System;\n{csharp_code.FUSED}{code}{main}")
    checked([csharp_code.COMPILER, "-out:main.exe", "main.cs"], folder)
    checked(["mono", "main.exe"], folder)


RUN = {
    "c": (c_code.COMPILER, in_c),
    "cpp": (cpp_code.COMPILER, in_cpp),
    "rust": (rust_code.COMPILER, in_rust),
    "javascript": (javascript_code.NODE, in_javascript),
    "csharp": (csharp_code.COMPILER, in_csharp),
}


@pytest.mark.parametrize("language", RUN)
@pytest.mark.parametrize("case", CASES)
def test_the_example_runs_as_it_stands(tmp_path, language, case):
    compiler, run = RUN[language]
    if not compiler:
        pytest.skip("needs a compiler")
    if (language, case) == ("csharp", "single"):
        pytest.skip("Mono has no MathF")
    run(polhode.export("EXACT", language, **CASES[case]), tmp_path)


def test_the_example_has_the_numbers_of_the_body():
    assert "EXACT_make_body((EXACT_vec3){5.0, 5.0, 1.0})" in polhode.export("EXACT", body=[5, 5, 1])
    text = polhode.export("LP2", body=WHEEL)
    assert "LP2_make_body((LP2_vec3){1.0, 2.0, 2.98}, (LP2_vec3_1){{{0.0, 0.0, 1.0}}}" in text
    assert "(LP2_vec1){{0.02}}, (LP2_vec1){{1.0}})" in text


# --- the command ------------------------------------------------------------------------------------

MINE = '''
import polhode
from polhode.core.vec import qexp, qmul, renormalise, scale
from polhode.methods import Motion


def step(h, t, s, body, torque, p):
    """It goes on as it turns."""
    return Motion(renormalise(qmul(s.q, qexp(scale(h, s.Om)))), s.Om)


@polhode.torque(form="tuple", params={"k": 1.0})
def push(t, R, p):
    return (p.k * t, 0.0, 0.0)
'''
SCENARIO = """
body = {inertia = [1, 2, 2.5], rotors = [{axis = [0, 0, 1], inertia = 0.1, speed = 30}]}
initial = {omega = [0.1, 2, 0.3]}
run = {t_span = [0, 1], step = 0.01}
"""
LINES = [
    "LP2",
    "EXACT --no-measure --moments 5,5,1 --frame body",
    "LP2 --no-measure --torque heavy_top --set moment=15 --set 'arm=[0, 1, 1]' --no-fma",
    "LP2 --no-measure --torque spring --set stiffness=3 --language rust --precision float",
    "LP2 --no-measure --body 'a wheel.toml' --language javascript",
    "LP2 --no-measure --torque 'my own.py:push' --set k=2 --flight --language csharp",
    "'my own.py:step' --no-measure --language cpp --torque 'my own.py:push'",
    "'LIEMID[EA]' --no-measure --language wgsl",
]


def written(words):
    done = CliRunner().invoke(app, ["export", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("line", LINES)
def test_the_command_in_a_file_writes_it_again(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my own.py").write_text(MINE)
    (tmp_path / "a wheel.toml").write_text(SCENARIO)
    text = written(shlex.split(line))
    found = re.search(r"^ +polhode export ((.*\\\n)*.*)", comment(text), re.MULTILINE)
    assert written(shlex.split(found[1].replace("\\\n", " "))) == text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"torque": polhode.torques.heavy_top(15)}, "--torque heavy_top --set moment=15.0"),
        ({"body": [5, 5, 1]}, "--moments 5.0,5.0,1.0"),
        ({"torque": lambda t, R: (0.0, 0.0, t)}, 'polhode.export("LP2", "c", torque='),
        ({"body": WHEEL}, 'polhode.export("LP2", "c", body=RigidBody('),
        ({"torque": polhode.torques.heavy_top(15, arm=(0, 1, 0))}, "--set 'arm=[0.0, 1.0, 0.0]'"),
    ],
)
def test_a_call_is_told_as_a_command_where_there_is_one(given, words):
    assert words in comment(polhode.export("LP2", **given))


# --- symmetric bodies -------------------------------------------------------------------------------

LINED_UP = polhode.RigidBody([2, 2, 1], rotors=[polhode.Rotor((0, 0, 1), 0.1, speed=3.0)])
BALL = polhode.RigidBody([2, 2, 2], rotors=[polhode.Rotor((1, 2, 0), 0.1, speed=3.0)])


@pytest.mark.parametrize(
    ("method", "body", "words"),
    [
        ("EXACT", [5, 5, 1], "Only for bodies with I1 = I2:"),
        ("EXACT", [5, 1, 5], "Only for bodies with I1 = I3:"),
        ("EXACT-RKN4", [1, 5, 5], "Only for bodies with I2 = I3:"),
        ("EXACT+yoshida4", [5, 5, 1], "Only for bodies with I1 = I2:"),
        ("EXACT", LINED_UP, "Only for bodies with I1 = I2 and rotors along axis 3:"),
        ("EXACT", BALL, "Only for bodies with I1 = I2 = I3:"),
        ("EXACT", [1, 2, 2.5], ""),
        ("EXACT", None, ""),
        ("LP2", [5, 5, 1], ""),
    ],
)
def test_a_file_says_for_which_bodies_it_is(method, body, words):
    text = comment(polhode.export(method, body=body, torque="heavy_top"))
    assert words in " ".join(text.split()) and ("Only for" in text) == bool(words)


PROGRAM = """
#include <stdio.h>
int main(void) {{
    const EXACT_body body = EXACT_make_body({given});
    EXACT_state s;
    EXACT_start(&s, 0.1, 0.0, (EXACT_vec4){{0.0, 0.0, 0.0, 1.0}}, (EXACT_vec3){{0.1, 3.0, 0.1}}{W}, &body);
    EXACT_step(&s, 0.1, 0.0, &body);
    printf("%g %g\\n", (double)s.q.x, (double)EXACT_omega(&s, &body).z);
    return 0;
}}
"""
ROTORS = "(EXACT_vec3_1){{{{{{{}}}}}}}, (EXACT_vec1){{{{0.1}}}}, (EXACT_vec1){{{{0.0}}}}"


@pytest.mark.skipif(c_code.COMPILER is None, reason="needs a C compiler")
@pytest.mark.parametrize(
    ("body", "moments", "axis", "fits"),
    [
        ([5, 5, 1], "5, 5, 1", "", True),
        ([5, 5, 1], "1, 2, 3", "", False),
        ([5, 1, 5], "5, 5, 1", "", False),
        (LINED_UP, "2, 2, 1", "0, 0, 1", True),
        (LINED_UP, "2, 2, 1", "0, 0.6, 0.8", False),
        (BALL, "2, 2, 2", "0, 0.6, 0.8", True),
        (BALL, "2, 2, 1", "0, 0, 1", False),
    ],
)
@pytest.mark.parametrize("precision", ["double", "float"])
def test_other_bodies_are_not_a_number(body, moments, axis, fits, precision):
    given = f"(EXACT_vec3){{{moments}}}" + (f", {ROTORS.format(axis)}" if axis else "")
    given = re.sub(r"(?<=[ {])([\d.]+)(?=[,}])", rf"({precision})\1", given)
    W = ", (EXACT_vec1){{3.0}}" if axis else ""
    text = polhode.export("EXACT", body=body, torque="free", precision=precision)
    found = c_code.output(text + PROGRAM.format(given=given, W=W)).split()
    assert np.isfinite(np.array(found, float)).all() == fits


# --- words ------------------------------------------------------------------------------------------


def test_the_place_is_told():
    assert "the attitude is s->q, the place s->x, the velocity s->v." in polhode.export(
        "LP2", flight=True
    )
    assert "the attitude is self.q, the place self.x" in polhode.export("LP2", "rust", flight=True)


def test_texts_end_with_a_sentence_or_a_formula():
    made = [polhode.methods.get(name) for name in ("MR2-231+ep", "MR4-123", "LIEMID[I]+yoshida4")]
    for entry in [*polhode.methods.everything(), *made]:
        text = theory(entry)
        assert not text.endswith((":", ",")), entry.name


@pytest.mark.parametrize("language", ["c", "rust", "wgsl"])
def test_comments_have_the_numbers_of_the_precision(language):
    single = polhode.export("NMB", language, precision="float", measure=True)
    assert "1e-5" in single and "9e-8" in single and "Measured in double precision" in single
    assert not any(one in single for one in ("2e-14", "1.2e-16", "4e8", "1e14", "2^51"))


def test_what_acts_is_told_once_with_the_mass():
    text = comment(polhode.export("LP2", torque=polhode.flight.spring(3.0)))
    assert text.count("spring(") == 1 and "on a body of mass 1.0" in " ".join(text.split())
    heavy = polhode.RigidBody([1, 2, 2.5], mass=4.0)
    text = comment(polhode.export("LP2", torque=polhode.flight.spring(3.0), body=heavy))
    assert "on a body of mass 4.0" in " ".join(text.split())


def test_a_method_of_your_own_is_yours(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    text = comment(polhode.export(f"{path}:step"))
    assert "The step is its author's." in text and "Declared: nothing" in text
    assert text.index("author's") < text.index("Copyright")


def test_a_method_whose_module_is_not_known_to_python(tmp_path):
    path = tmp_path / "loose.py"
    path.write_text(f'"""A loose file."""\n{MINE}')
    spec = importlib.util.spec_from_file_location("loose_file_of_a_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    entry = variant(unknown_facts(module.step), name="loose")
    assert "A loose file." in polhode.export(entry)


@pytest.mark.skipif(c_code.COMPILER is None, reason="needs a C compiler")
def test_a_method_of_c_is_not_exported(tmp_path):
    path = tmp_path / "lp2.c"
    path.write_text(polhode.export("LP2"))
    [method] = polhode.facts.from_file(path)
    with pytest.raises(polhode.InputError, match="made from C; use the file of C"):
        polhode.export(method)


def test_a_file_of_a_method_of_your_own_is_certified(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    (tmp_path / "mine.c").write_text(polhode.export(f"{path}:step"))
    if c_code.COMPILER:
        [method] = polhode.facts.from_file(tmp_path / "mine.c")
        assert method.order is None


GAIN, TABLE = 3.0, (1.0, 2.0)


def held_outside(t, R):
    return (GAIN * t, TABLE[0] * t, TABLE[1])


@pytest.mark.parametrize("form", ["tuple", "array"])
def test_what_a_torque_takes_from_outside_is_told(form):
    text = polhode.export("LP2", torque=polhode.torque(held_outside, form=form))
    assert "Taken from Python as it was: GAIN = 3.0, TABLE = (1.0, 2.0)." in " ".join(text.split())


def shaped(t, R):
    return np.array([math.tanh(t), 0.0, 0.0])


def test_what_cannot_be_traced_is_named_with_its_line():
    where = f"it calls math.tanh, line {shaped.__code__.co_firstlineno + 1} of {__file__}"
    with pytest.raises(polhode.InputError, match=re.escape(where)):
        polhode.export("LP2", torque=shaped)
