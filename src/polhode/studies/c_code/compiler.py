"""A C compiler of the user's: a file becomes a library in a temporary folder.

CC and CFLAGS of the environment are used as by `make`.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from polhode.errors import InputError

NAMES = ("cc", "gcc", "clang")
# products and sums are rounded one by one, as they are written
FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-w")
LINES = 6  # of a compiler's message
SECONDS = 120


def environment() -> tuple[str, str]:
    """CC and CFLAGS."""
    return os.environ.get("CC", ""), os.environ.get("CFLAGS", "")


def compiler() -> list[str]:
    """The command of the compiler: that of CC, or the first one that is there."""
    own = shlex.split(environment()[0])
    if own:
        if shutil.which(own[0]) is None:
            raise InputError(
                f"CC names the compiler {own[0]!r}, which is not there; correct CC, or unset it for one of "
                + ", ".join(NAMES)
            )
        return own
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return [found]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise InputError(
        f"there is no C compiler ({', '.join(NAMES)}, or ziglang for Python); install one (Debian: apt install gcc; "
        "macOS: xcode-select --install; anywhere: pip install ziglang), name yours in CC, or give a shared library"
    )


@cache
def has_fma() -> bool:
    """Whether fma must be asked for, and the processor has it: without, C calls a slow function."""
    from llvmlite.binding import get_host_cpu_features, get_process_triple

    return "x86" in get_process_triple() and bool(get_host_cpu_features().get("fma"))


def build(source: Path, library: Path, where: str, first: Path | None = None) -> None:
    """Compile a file, after the one that comes `first`; `where` names the user's file in the error."""
    before = [] if first is None else ["-include", str(first)]
    flags = [*FLAGS, *["-mfma"] * has_fma(), *shlex.split(environment()[1])]
    command = [*compiler(), *flags, *before, str(source), "-o", str(library), "-lm"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"the compiler did not finish {where} in {SECONDS} seconds; compile it yourself, and give the library"
        ) from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()][:LINES]
        raise InputError(
            f"{where} does not compile with `{shlex.join(compiler())}`; correct it:\n"
            + "\n".join(said)
        )
