"""Whether machine code can be written here."""

import llvmlite

from polhode.exports.machine import OLDEST


def has_machine_code():
    """Whether llvmlite is new enough."""
    return tuple(map(int, llvmlite.__version__.split(".")[:2])) >= OLDEST
