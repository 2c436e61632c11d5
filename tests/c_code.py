"""Exported C, compiled by the machine's own compiler and called from Python."""

import ctypes
import functools
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from polhode.rotations import as_quaternion
from processor import X86, has_fma

COMPILER = next(filter(None, map(shutil.which, ("gcc", "cc", "clang"))), None)
ZIG = importlib.util.find_spec("ziglang") and [sys.executable, "-m", "ziglang", "cc"]
COMPILERS = {"cc": COMPILER and [COMPILER], "zig": ZIG}  # ziglang's is clang
WARNINGS = ("-Wall", "-Wextra", "-Wmissing-prototypes", "-Werror")
MANY = """
void {name}_begin({name}_state *s, {real} h, {name}_vec4 q, {name}_vec3 Om, const {name}_body *body);
void {name}_begin({name}_state *s, {real} h, {name}_vec4 q, {name}_vec3 Om, const {name}_body *body) {{
    {name}_start(s, h, ({real})0.0, q, Om, body);
}}
void {name}_many({name}_state *s, {real} h, long n, const {name}_body *body);
void {name}_many({name}_state *s, {real} h, long n, const {name}_body *body) {{
    for (long k = 0; k < n; k++) {{ {name}_step(s, h, ({real})0.0 + ({real})k * h, body); }}
}}
"""


def compiled(texts, optimisation="-O1", further=(), compiler="cc"):
    """A shared library of several files of C, given as texts."""
    folder = Path(tempfile.mkdtemp(prefix="polhode-c-"))
    for i, text in enumerate(texts):
        (folder / f"{i}.c").write_text(text, encoding="utf-8")
    files = sorted(map(str, folder.glob("*.c")))
    flags = ["-std=c99", optimisation, "-ffp-contract=off", *WARNINGS, *further]
    flags += ["-mfma"] * (X86 and has_fma())
    library = folder / "all.so"
    command = [*COMPILERS[compiler], *flags, "-shared", "-fPIC", "-o", str(library), *files, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    found = ctypes.CDLL(str(library))
    shutil.rmtree(folder)
    return found


def output(text, optimisation="-O1"):
    """What a program prints."""
    with tempfile.TemporaryDirectory(prefix="polhode-c-") as folder:
        (Path(folder) / "main.c").write_text(text, encoding="utf-8")
        flags = ["-std=c99", optimisation, "-ffp-contract=off", *WARNINGS]
        flags += ["-mfma"] * (X86 and has_fma())
        command = [COMPILER, *flags, "-o", "program", "main.c", "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
        return subprocess.run(
            [Path(folder) / "program"], capture_output=True, text=True, check=True
        ).stdout


@functools.cache
def vector(real, count):
    """The type of a structure of so many numbers."""
    return type(f"V{count}", (ctypes.Structure,), {"_fields_": [("v", real * count)]})


class Stepper:
    """The functions of one exported file in a library."""

    def __init__(self, library, name, moments, real=ctypes.c_double):
        self.real = real
        self.function = lambda what: getattr(library, f"{name}_{what}")
        make = self.function("make_body")
        make.restype, make.argtypes = self.vector(6), [self.vector(3)]
        self.body = make(self.vector(3)(tuple(moments)))
        self.state = (real * 4096)()  # larger than any state

    def vector(self, count):
        return vector(self.real, count)

    def start(self, h, rotation, omega):
        """The state at t = 0, by a function that is compiled too."""
        q = as_quaternion(rotation, False, "rotation0")
        begin = self.function("begin")
        begin.restype = None
        begin.argtypes = [
            ctypes.c_void_p,
            self.real,
            self.vector(4),
            self.vector(3),
            ctypes.c_void_p,
        ]
        begin(
            self.state,
            h,
            self.vector(4)(tuple(q)),
            self.vector(3)(tuple(omega)),
            ctypes.byref(self.body),
        )

    def many(self, h, n):
        """Steps 0, 1, ..., n - 1, in a loop that is compiled too."""
        run = self.function("many")
        run.restype = None
        run.argtypes = [ctypes.c_void_p, self.real, ctypes.c_long, ctypes.c_void_p]
        run(self.state, h, n, ctypes.byref(self.body))

    def motion(self):
        """Attitude and body velocity."""
        omega = self.function("omega")
        omega.restype, omega.argtypes = self.vector(3), [ctypes.c_void_p, ctypes.c_void_p]
        return np.array([*self.state[:4], *omega(self.state, ctypes.byref(self.body)).v])
