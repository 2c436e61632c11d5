"""Exported Rust, compiled and run: a program whose output is the motions, digit for digit."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from polhode.rotations import as_quaternion
from processor import X86, has_fma

COMPILER = shutil.which("rustc")
CASE = """
fn case{i}() {{
    use {module}::*;
    let (h, body) = ({h}, Body::new({moments}));
    let mut s = State::start(h, 0.0, {q}, {omega}, &body{load});
    for k in 0..{steps} {{ s.step(h, 0.0 + k as {real} * h, &body{load}); }}
    let Om = s.omega(&body);
    println!("{{:?}} {{:?}} {{:?}} {{:?}} {{:?}} {{:?}} {{:?}}", s.q.x, s.q.y, s.q.z, s.q.w, Om.x, Om.y, Om.z);
}}
"""


def vec(values):
    """A vector in Rust."""
    return f"vec{len(values)}({', '.join(repr(float(one)) for one in values)})"


def compiled(files, optimisation="1", flags=()):
    """The program that is made of these files, by name."""
    folder = Path(tempfile.mkdtemp(prefix="polhode-rust-"))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    flags = [*flags, "-C", f"opt-level={optimisation}", "-D", "warnings"]
    flags += ["-C", "target-feature=+fma"] * (X86 and has_fma())
    command = [COMPILER, "--edition", "2021", *flags, "-o", "program", "main.rs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return folder


def motions(files, optimisation="1"):
    """What the program prints, an array of seven numbers for each case."""
    lines = output(files, optimisation).splitlines()
    return np.array([[float(one) for one in line.split()] for line in lines])


def output(files, optimisation="1"):
    """What the program prints."""
    folder = compiled(files, optimisation)
    done = subprocess.run([folder / "program"], capture_output=True, text=True, check=True)
    shutil.rmtree(folder)
    return done.stdout


def program(cases, further=""):
    """A program of (text, problem, steps, the torque's expression or "", "f64" or "f32")."""
    files, calls, texts = {}, "", ""
    modules = {}
    for i, (text, problem, steps, load, real) in enumerate(cases):
        module = modules.setdefault(text, f"file{len(modules)}")
        files[f"{module}.rs"] = text
        q = as_quaternion(problem.rotation0, False, "rotation0")
        texts += CASE.format(
            i=i, module=module, h=repr(float(problem.step)), moments=vec(problem.body.moments), q=vec(q),
            omega=vec(problem.omega0), load=load and f", &{load}", steps=steps, real=real,
        )  # fmt: skip
        calls += f"    case{i}();\n"
    mods = "".join(f"mod {name};\n" for name in modules.values())
    head = "#![forbid(unsafe_code)]\n#![allow(non_snake_case)]\n"
    files["main.rs"] = f"{head}{mods}{further}{texts}\nfn main() {{\n{calls}}}\n"
    return files
