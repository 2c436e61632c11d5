"""The tests on machines unlike this one: other processors, locales, users, folders, versions of
Python and of dependencies.

    python tests/project/machines.py                       the whole matrix; hours on two cores
    python tests/project/machines.py ascii blas            the cell "ascii", and those whose names begin with "blas"
    python tests/project/machines.py --quick ascii         a few tests, those that the cell is known to endanger
    python tests/project/machines.py --tests tests/cli/test_cli.py ascii
    python tests/project/machines.py --list

A cell is an environment, perhaps with an interpreter, a user and a source tree of its own, in which
the tests run.  What this machine cannot do is skipped with the reason.  The exit code is 1 where a
cell fails.  Virtual environments, machine code and the output of every cell are kept in one folder
(--place).
"""

import argparse
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv", "node_modules", "_build", "__pycache__", ".hypothesis", ".*_cache"
)
# needs a browser; is this matrix again
LEFT_OUT = ("tests/show/browser", "tests/project/test_machines.py")
EXTRAS = ".[cuda,cluster,mesh,test]"

# The tests of --quick, by what may go wrong.
ROUNDING = (
    "tests/test_lie.py::test_order",
    *(
        f"tests/project/test_reference.py::test_the_examples_of_a_module_run[polhode.{module}]"
        for module in ("lie._solve", "lie.algebras", "lie.steps", "rotations.algebra")
    ),
    "tests/project/test_docs.py::test_what_a_page_shows_is_what_happens[howto/molecule]",
)
INSTRUCTIONS = (
    "tests/core/test_lanes.py",
    "tests/engine/test_ensemble.py::test_the_inner_loop_is_made_of_packed_instructions[VLV]",
    "tests/core/test_vec.py::test_loops_over_lanes_vectorise[sincos]",
    "tests/core/test_vec.py::test_plain_python_and_compiled_code_agree_bit_for_bit",
)
FILES = (
    "tests/cli/test_encoding.py",
    "tests/cli/test_cli.py::test_methods",
    "tests/cli/test_cli.py::test_files_come_back_bit_for_bit",
    "tests/cli/test_cli.py::test_plot",
    "tests/cli/test_cli.py::test_a_real_process_gives_the_code_and_one_line",
    "tests/project/test_documents.py::test_the_links_of_a_document_lead_somewhere",
)


class Skip(Exception):
    """This machine cannot be made like that one."""


@dataclass
class Machine:
    """How the tests are run in a cell."""

    variables: dict = field(default_factory=dict)  # None takes a variable away
    python: str = sys.executable
    root: Path = ROOT
    prefix: tuple = ()
    umask: int = -1


class Cell(NamedTuple):
    """One column of the matrix: `make(place, stack)` gives the Machine; what is put on the stack is
    undone afterwards."""

    make: object
    what: str
    quick: tuple


# --- processors -----------------------------------------------------------------------------------

NEEDS = {  # what a processor must have to run the code for another
    "Prescott": (),
    "Nehalem": ("sse4.2",),
    "Haswell": ("avx2", "fma"),
    "SkylakeX": ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"),
    "generic": (),
    "haswell": ("avx2", "fma", "bmi", "bmi2", "lzcnt", "movbe"),
    "znver3": ("avx2", "fma", "bmi", "bmi2", "lzcnt", "sse4a", "vaes", "vpclmulqdq", "clzero"),
    "skylake-avx512": ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"),
}


def can_run(name):
    """Skip the code for a processor that this one cannot run."""
    import llvmlite.binding as llvm

    if platform.machine().lower() not in ("x86_64", "amd64"):
        raise Skip(f"{name} is an x86 processor, and this one is not")
    features = llvm.get_host_cpu_features()
    lacking = [feature for feature in NEEDS[name] if not features.get(feature, False)]
    if lacking:
        raise Skip(f"this processor cannot run it: it lacks {', '.join(lacking)}")


def blas(kernel, place, stack):
    import numpy

    can_run(kernel)
    library = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    if "openblas" not in library:
        raise Skip(f"numpy is built with {library}, which takes no OPENBLAS_CORETYPE")
    return Machine({"OPENBLAS_CORETYPE": kernel})


def numba(name, place, stack):
    """Code for that processor alone: numba would add what this one has, unless it is told of a
    feature that all have."""
    can_run(name)
    features = None if name == "generic" else "+sse2"
    return Machine(
        {
            "NUMBA_CPU_NAME": name,
            "NUMBA_CPU_FEATURES": features,
            "POLHODE_CACHE_DIR": str(place / f"compiled-{name}"),
        }
    )


# --- surroundings ---------------------------------------------------------------------------------


def ascii_locale(place, stack):
    return Machine({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})


def umask(place, stack):
    return Machine(umask=0o077)


def odd_path(place, stack):
    return Machine(root=copied(place / "ein Ordner, größer als µ"))


def small_disk(folder, options, stack):
    """Mount a small file system of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    done = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True
        )
        if shutil.which("mount")
        else None
    )
    if done is None or done.returncode:
        raise Skip(
            f"a small file system cannot be mounted: {done.stderr.strip() if done else 'no mount'}"
        )
    stack.callback(subprocess.run, ["umount", folder], check=True)
    return folder


def read_only_cache(place, stack):
    folder = place / "read-only"
    if os.getuid() == 0:  # whom permissions do not stop
        small_disk(folder, "ro,size=64k,mode=0700", stack)
    else:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o555)
    return Machine({"POLHODE_CACHE_DIR": str(folder)})


def full_cache(place, stack):
    folder = small_disk(place / "full", "size=64k,mode=0700", stack)
    (folder / "filler").write_bytes(bytes(60_000))
    return Machine({"POLHODE_CACHE_DIR": str(folder)})


# --- users ----------------------------------------------------------------------------------------


def another_user(place, number):
    """The tests as another user, with a source tree of that user's own, and an interpreter that the
    user may start."""
    if os.getuid():
        raise Skip("only root can become another user; every other cell runs as an ordinary one")
    if not shutil.which("setpriv"):
        raise Skip("setpriv (of util-linux) is not installed")
    # the folders above are open to everybody
    place = Path(tempfile.mkdtemp(prefix=f"polhode-user-{number}-"))
    place.chmod(0o755)
    prefix = (
        "setpriv",
        f"--reuid={number}",
        f"--regid={number}",
        "--clear-groups",
        "--inh-caps=-all",
    )

    def may_start(python):
        """Whether the user can start it, and it can start itself: setpriv still has root's rights
        when it starts a program."""
        again = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"
        return subprocess.run([*prefix, python, "-c", again], capture_output=True).returncode == 0

    python = sys.executable
    if not may_start(python):
        found = next(
            (one for names in interpreters().values() for one in names if may_start(one)), None
        )
        if found is None:
            raise Skip("there is no interpreter that an ordinary user may start")
        python = environment(place, "venv", found)
    root = copied(place / "source")
    for path in (place, root, *root.rglob("*")):
        os.chown(path, number, number)
    variables = {
        "HOME": str(place),
        "XDG_CACHE_HOME": None,
        "POLHODE_CACHE_DIR": str(place / "compiled"),
    }
    return place, Machine(variables, python, root, prefix)


def ordinary_user(place, stack):
    place, machine = another_user(place, 65534)
    stack.callback(shutil.rmtree, place)
    return machine


def no_home(place, stack):
    """HOME unset, and no entry in the list of users that could say where it is; the cache is
    wherever polhode puts it."""
    nowhere = {"HOME": None, "XDG_CACHE_HOME": None, "POLHODE_CACHE_DIR": ""}
    if os.getuid():
        return Machine(nowhere)
    place, machine = another_user(place, 54321)
    stack.callback(shutil.rmtree, place)
    machine.variables |= nowhere
    return machine


def copied(target):
    """A copy of the source tree."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT, target, ignore=NOT_SOURCE)
    return target


# --- versions -------------------------------------------------------------------------------------

NEWEST = 15  # Python 3.15: nothing newer is looked for


def interpreters():
    """The interpreters on this machine by minor version, those of the system first."""
    folders = [
        Path("/usr/bin"),
        Path("/usr/local/bin"),
        *map(Path, os.environ.get("PATH", "").split(os.pathsep)),
        *(Path.home() / ".pyenv/versions").glob("3.*/bin"),
        *(Path.home() / ".local/share/uv/python").glob("*/bin"),
        *Path("/opt").glob("*/bin"),
    ]
    found = {}
    for minor in range(11, NEWEST + 1):
        names = dict.fromkeys(str(folder / f"python3.{minor}") for folder in folders)
        found[minor] = [name for name in names if os.access(name, os.X_OK) and works(name)]
    return found


def works(python):
    """Whether it starts, and is whole; a shim may have nothing behind it."""
    return (
        subprocess.run([python, "-c", "import ctypes, ssl, venv"], capture_output=True).returncode
        == 0
    )


def uv(place):
    """The program uv; where there is none, from PyPI."""
    own = place / "uv/bin/uv"
    if not (found := shutil.which("uv")) and not own.exists():
        subprocess.run([sys.executable, "-m", "venv", place / "uv"], check=True)
        done = subprocess.run(
            [place / "uv/bin/python", "-m", "pip", "install", "--quiet", "uv"],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise Skip(f"uv cannot be installed: {last(done.stderr)}")
    return found or str(own)


def environment(place, name, interpreter, resolution="highest"):
    """The interpreter of a new virtual environment with what the tests need."""
    variables = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    python = str(place / name / "bin/python")
    tool = uv(place)
    for command in (
        ["venv", "--quiet", "--clear", "--python", interpreter, str(place / name)],
        ["pip", "install", "--quiet", "--python", python, "--resolution", resolution, EXTRAS],
    ):
        done = subprocess.run(
            [tool, *command], env=variables, cwd=ROOT, capture_output=True, text=True
        )
        if done.returncode:
            raise Skip(
                f"{interpreter} with the {resolution} versions cannot be set up: {last(done.stderr)}"
            )
    return python


def version(minor, place, stack):
    found = interpreters()[minor]
    if not found:
        raise Skip(f"there is no Python 3.{minor} on this machine")
    return installed(f"python-3.{minor}", found[0], "highest", place)


def dependencies(resolution, place, stack):
    """The lowest versions with the lowest Python, the highest with this one."""
    oldest = (
        next(found for found in interpreters().values() if found)[0]
        if resolution != "highest"
        else sys.executable
    )
    return installed(resolution, oldest, resolution, place)


def installed(name, interpreter, resolution, place):
    python = environment(place, name, interpreter, resolution)
    path = os.pathsep.join([str(Path(python).parent), os.environ["PATH"]])
    return Machine({"PATH": path, "POLHODE_CACHE_DIR": str(place / f"compiled-{name}")}, python)


# --- the matrix -----------------------------------------------------------------------------------

ANYTHING = (
    *ROUNDING,
    *INSTRUCTIONS,
    *FILES,
    "tests/bodies/test_body.py",
    "tests/bodies/test_mesh.py",
    "tests/io/test_files.py",
    "tests/project/test_documents.py::test_the_code_of_the_readme_runs",
)
CELLS = {
    **{
        f"blas-{kernel.lower()}": Cell(
            partial(blas, kernel), f"OpenBLAS rounds as on {kernel}", ROUNDING
        )
        for kernel in ("Haswell", "SkylakeX", "Nehalem", "Prescott")
    },
    **{
        f"numba-{name}": Cell(partial(numba, name), f"machine code for {name}", INSTRUCTIONS)
        for name in ("generic", "haswell", "znver3", "skylake-avx512")
    },
    "ascii": Cell(ascii_locale, "a locale without letters beyond ASCII", FILES),
    "umask": Cell(umask, "files that only their owner may read", FILES),
    "odd-path": Cell(odd_path, "a folder with spaces and letters beyond ASCII", FILES),
    "read-only-cache": Cell(read_only_cache, "machine code cannot be stored", FILES),
    "full-cache": Cell(full_cache, "machine code has no room", FILES),
    "ordinary-user": Cell(ordinary_user, "not root", FILES),
    "no-home": Cell(no_home, "a user without name and home", FILES),
    **{
        f"python-3.{minor}": Cell(
            partial(version, minor), f"Python 3.{minor}, newest dependencies", ANYTHING
        )
        for minor in range(11, NEWEST + 1)
    },
    "lowest": Cell(
        partial(dependencies, "lowest-direct"),
        "the lowest dependencies that pyproject.toml allows",
        ANYTHING,
    ),
    "newest": Cell(partial(dependencies, "highest"), "the newest dependencies", ANYTHING),
}


def run(name, place, tests, workers):
    """(verdict, what it rests on) of one cell, from the tests given."""
    cell, log = CELLS[name], place / f"{name}.log"
    with ExitStack() as stack:
        try:
            machine = cell.make(place, stack)
        except Skip as reason:
            return "skipped", str(reason)
        path = [str(machine.root / "src")]
        if machine.python == sys.executable:  # other interpreters have packages of their own
            path += os.environ.get("PYTHONPATH", "").split(os.pathsep)
        variables = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            **machine.variables,
        }
        variables = {
            key: value
            for key, value in variables.items()
            if value is not None and not key.startswith("PYTEST_")
        }
        scratch = (place if machine.root == ROOT else machine.root) / f"tmp-{name}"
        command = [
            *machine.prefix,
            machine.python,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow",
            f"-n{workers}",
            "--dist=loadfile",
            "--no-loadscope-reorder",
            f"--basetemp={scratch}",
            *tests,
        ]
        with open(log, "w", encoding="utf-8") as file:
            done = subprocess.run(
                command,
                cwd=machine.root,
                env=variables,
                umask=machine.umask,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
    said = log.read_text("utf-8", "replace")
    if done.returncode:
        print(
            "\n".join(re.findall(r"^(?:FAILED|ERROR) .*", said, re.MULTILINE)) or said[-3000:],
            flush=True,
        )
    return ("failed", f"{last(said)}; see {log}") if done.returncode else ("passed", last(said))


def last(text):
    """The last line that says something."""
    return next((line.strip("= ") for line in reversed(text.splitlines()) if line.strip()), "")


def chosen(names):
    """The cells that names, or their beginnings, select."""
    for name in names:
        if not any(cell.startswith(name) for cell in CELLS):
            sys.exit(f"there is no cell {name!r}; choose among {', '.join(CELLS)}")
    return [cell for cell in CELLS if not names or any(cell.startswith(name) for name in names)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "cells", nargs="*", help="names of cells, or what they begin with; all by default"
    )
    parser.add_argument("--quick", action="store_true", help="only the tests that a cell endangers")
    parser.add_argument(
        "--tests", action="append", metavar="TEST", help="only this test or file; may be repeated"
    )
    parser.add_argument("--list", action="store_true", help="say which cells there are")
    parser.add_argument(
        "--workers", type=int, default=2, help="processes for the tests of a cell (2)"
    )
    parser.add_argument(
        "--place",
        type=Path,
        default=Path(tempfile.gettempdir()) / f"polhode-machines-{os.getuid()}",
        help="folder for environments, machine code and output",
    )
    asked = parser.parse_args()
    names = chosen(asked.cells)
    if asked.list:
        print("\n".join(f"{name:<22}{CELLS[name].what}" for name in names))
        return 0
    if importlib.util.find_spec("xdist") is None:
        sys.exit("the tests need pytest-xdist; run this by `make test-machines`")
    asked.place.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in names:
        print(f"--- {name}: {CELLS[name].what}", flush=True)
        begun = time.monotonic()
        tests = asked.tests or (
            CELLS[name].quick if asked.quick else [f"--ignore={one}" for one in LEFT_OUT]
        )
        verdict, reason = run(name, asked.place, tests, asked.workers)
        rows.append((name, verdict, f"{time.monotonic() - begun:.0f} s", reason))
        print(f"    {verdict}: {reason}", flush=True)
    print(
        "\n"
        + "\n".join(
            f"{name:<22}{verdict:<9}{seconds:>8}  {reason}"
            for name, verdict, seconds, reason in rows
        )
    )
    return int(any(verdict == "failed" for _, verdict, *_ in rows))


if __name__ == "__main__":
    sys.exit(main())
