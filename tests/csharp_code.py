"""Exported C#, compiled by Mono and run: a program whose output is the motions, bit for bit."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from polhode.rotations import as_quaternion

COMPILER = shutil.which("mcs") and shutil.which("mono") and shutil.which("mcs")
CASE = """
static class Case{i} {{
    public static void Run() {{
        const double h = {h};
        var body = File{i}.MakeBody({moments});
        var s = File{i}.Start(h, 0.0, {q}, {omega}, body{load});
        for (int k = 0; k < {steps}; k++) {{ File{i}.Step(ref s, h, k * h, body{load}); }}
        var Om = File{i}.Omega(s, body);
        foreach (double one in new[] {{ s.q.x, s.q.y, s.q.z, s.q.w, Om.x, Om.y, Om.z }}) {{
            Console.Write(BitConverter.DoubleToInt64Bits(one) + " ");
        }}
        Console.WriteLine();
    }}
}}
"""
# Mono has no fused instruction of its own: that of the C library is the same function
FUSED = """
static class Fused {
    [System.Runtime.InteropServices.DllImport("libm.so.6")]
    public static extern double fma(double a, double b, double c);
}
"""


def case(i, text, problem, steps, load="", further=""):
    """A file, in a class of its own, with a function that prints the motion."""
    text = re.sub(r"public static class \w+", f"public static class File{i}", text)
    text = adapted(text)
    q = as_quaternion(problem.rotation0, False, "rotation0")
    moments, q, omega = (
        f"new File{i}.Vec{len(one)}({', '.join(repr(float(x)) for x in one)})"
        for one in (problem.body.moments, q, problem.omega0)
    )
    return text + further + CASE.format(
        i=i, h=repr(float(problem.step)), moments=moments, q=q, omega=omega, load=load and f", {load}", steps=steps
    )  # fmt: skip


def adapted(text):
    """A file as part of one that Mono compiles."""
    return text.replace("using System;\n", "").replace("Math.FusedMultiplyAdd(", "Fused.fma(")


def motions(cases):
    """What the program of these cases prints, an array of numbers for each."""
    folder = Path(tempfile.mkdtemp(prefix="polhode-csharp-"))
    calls = " ".join(f"Case{i}.Run();" for i in range(len(cases)))
    main = f"static class Program {{ static void Main() {{ {calls} }} }}\n"
    (folder / "all.cs").write_text("".join(["using System;\n", FUSED, *cases, main]), "utf-8")
    command = [COMPILER, "-optimize", "-out:all.exe", "all.cs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[:4000]
    done = subprocess.run(["mono", folder / "all.exe"], capture_output=True, text=True, check=True)
    shutil.rmtree(folder)
    rows = [[int(one) for one in line.split()] for line in done.stdout.splitlines()]
    return [np.array(row, np.int64).view(np.float64) for row in rows]
