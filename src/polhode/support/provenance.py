"""Provenance of results: the versions and the command that computed them, without dates and paths."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

import polhode
from polhode.support.file_names import readable

_command = "Python"  # polhode was called from a program


def note_command(text: str) -> None:
    """Set the command that is recorded in everything stored from now on."""
    global _command
    _command = readable(text)


def command() -> str:
    """The command of this process, or "Python" where polhode is called from a program."""
    return _command


@cache
def environment() -> dict[str, str]:
    """The versions that numbers may depend on."""
    return {
        "polhode_version": polhode.__version__,
        "python_version": platform.python_version(),
        "numpy_version": version("numpy"),
        "numba_version": version("numba"),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def short_list(numbers: np.ndarray) -> Any:
    """Numbers as plain data: a short list as it is, a long one by its length, its ends and a
    digest."""
    if len(numbers) <= 1000:
        return numbers.tolist()
    return {
        "count": len(numbers),
        "first": float(numbers[0]),
        "last": float(numbers[-1]),
        "digest": fingerprint(numbers),
    }


def fingerprint(*arrays: np.ndarray) -> str:
    """A digest of arrays of numbers."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(array.astype("<f8").tobytes())
    return total.hexdigest()[:16]
