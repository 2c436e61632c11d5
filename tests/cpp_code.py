"""Exported C++, compiled and run: a program whose output is the motions, digit for digit."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from polhode.rotations import as_quaternion
from processor import X86, has_fma

COMPILER = next(filter(None, map(shutil.which, ("g++", "clang++"))), None)
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
CASE = """
static void case{i}() {{
    using namespace file{i};
    const {real} h = {h};
    const Body body = make_body({moments});
    State s = start(h, 0, {q}, {omega}, body{load});
    for (long k = 0; k < {steps}; k++) {{ step(s, h, {real}(k) * h, body{load}); }}
    const vec3 Om = omega(s, body);
    for (double one : {{s.q.x, s.q.y, s.q.z, s.q.w, Om.x, Om.y, Om.z}}) {{ std::printf("%.17g ", double(one)); }}
    std::printf("\\n");
}}
"""


def braces(values):
    """A vector in C++."""
    return f"{{{', '.join(repr(float(one)) for one in values)}}}"


def case(i, text, problem, steps, load="", real="double", further=""):
    """A file, in a namespace of its own, with a function that prints the motion."""
    text = re.sub(r"^namespace \w+", f"namespace file{i}", text, flags=re.MULTILINE)
    text = re.sub(r"POLHODE_\w+_HPP", f"FILE{i}", text)
    q = as_quaternion(problem.rotation0, False, "rotation0")
    suffix = "F" if real == "float" else ""
    given = [braces(one) for one in (problem.body.moments, q, problem.omega0)]
    if suffix:
        given = [one.replace(",", "f,").replace("}", "f}") for one in given]
    moments, q, omega = given
    return text + further + CASE.format(
        i=i, h=repr(float(problem.step)) + suffix, moments=moments, q=q, omega=omega,
        load=load and f", {load}", steps=steps, real=real,
    )  # fmt: skip


def motions(cases, optimisation="-O1"):
    """What the program of these cases prints, an array of seven numbers for each."""
    calls = " ".join(f"case{i}();" for i in range(len(cases)))
    text = "".join(
        [
            "#include <cstdio>\n#include <initializer_list>\n",
            *cases,
            f"\nint main() {{ {calls} return 0; }}\n",
        ]
    )
    lines = output(text, optimisation).splitlines()
    return np.array([[float(one) for one in line.split()] for line in lines])


def output(text, optimisation="-O1"):
    """What a program prints."""
    folder = Path(tempfile.mkdtemp(prefix="polhode-cpp-"))
    (folder / "main.cpp").write_text(text, encoding="utf-8")
    flags = ["-std=c++11", optimisation, "-ffp-contract=off", *WARNINGS]
    flags += ["-mfma"] * (X86 and has_fma())
    command = [COMPILER, *flags, "-o", "program", "main.cpp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    done = subprocess.run([folder / "program"], capture_output=True, text=True, check=True)
    shutil.rmtree(folder)
    return done.stdout
