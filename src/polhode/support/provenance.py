"""Where numbers come from: what computed them, and by which command.  Nothing here says when or
where on disk."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version

import polhode
from polhode.support.file_names import readable

_command = "Python"  # polhode was called from a program


def note_command(text):
    """Say which command this process carries out: what is stored from now on bears it."""
    global _command
    _command = readable(text)


def command():
    """The command of this process, or "Python" where polhode is called from a program."""
    return _command


@cache
def environment():
    """The versions that numbers may depend on."""
    return {
        "polhode_version": polhode.__version__,
        "python_version": platform.python_version(),
        "numpy_version": version("numpy"),
        "numba_version": version("numba"),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def short_list(numbers):
    """Numbers as plain data: a short list as it is, of a long one the ends and a name for the
    whole."""
    if len(numbers) <= 1000:
        return numbers.tolist()
    return {
        "count": len(numbers),
        "first": float(numbers[0]),
        "last": float(numbers[-1]),
        "digest": fingerprint(numbers),
    }


def fingerprint(*arrays):
    """A name for the contents of arrays of numbers."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(array.astype("<f8").tobytes())
    return total.hexdigest()[:16]
