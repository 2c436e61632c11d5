"""Exported files beside other code: each other, headers with many names, macros, flags that break them."""

import subprocess

import pytest

import polhode
from c_code import COMPILER, WARNINGS
from cpp_code import COMPILER as CPP

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
needs_cpp = pytest.mark.skipif(CPP is None, reason="needs a C++ compiler")
# what <windows.h> and others define
MACROS = """
#define FAR
#define NEAR
#define near
#define far
#define small char
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define TINY 1
#define SIN 2
"""
NAMES = ["LP2", "NMB", "EXACT", "AKW", "LIEMID[EA]"]


def trouble(folder, name, text, *command):
    """What the compiler says of a file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    flags = ["-ffp-contract=off", "-fsyntax-only", *WARNINGS[:2], "-Werror"]
    done = subprocess.run([*command, *flags, str(path)], capture_output=True, text=True)
    return done.stderr


@needs_compiler
def test_files_in_c_can_be_included_together(tmp_path):
    head = f"#include <complex.h>\n#include <sys/times.h>\n{MACROS}typedef float vec3[3];\n"
    text = head + "".join(polhode.export(name) for name in NAMES)
    assert not trouble(tmp_path, "all.c", text, COMPILER, "-std=c99", "-D_GNU_SOURCE")


@needs_cpp
def test_files_in_cpp_can_be_included_together(tmp_path):
    head = f"#include <complex.h>\n#include <cmath>\n{MACROS}typedef float vec3[3];\n"
    text = head + "".join(polhode.export(name, "cpp") for name in NAMES)
    assert not trouble(tmp_path, "all.cpp", text, CPP, "-std=c++11", "-D_GNU_SOURCE")


@pytest.mark.parametrize(
    ("language", "command"),
    [("c", (COMPILER, "-std=c99")), ("cpp", (CPP, "-std=c++11", "-x", "c++"))],
)
@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast"])
def test_flags_that_reorder_sums_are_refused(tmp_path, language, command, flag):
    if command[0] is None:
        pytest.skip("needs a compiler")
    text = polhode.export("LP2", language)
    said = trouble(tmp_path, f"lp2.{language}", text, *command, flag)
    assert "compile without -ffast-math" in said
