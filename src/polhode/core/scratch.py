"""Memory for a step whose values do not fit in tuples: an array that lives as long as the step."""

from functools import cache
from typing import Any

from polhode.core.jit import machine


@cache
def array() -> Any:
    """numpy's empty, in machine code."""
    import numba
    import numpy as np

    @numba.njit(forceinline=True)
    def scratch(size):
        return np.empty(size)

    return scratch


@machine(array)
def scratch(size):
    """So many numbers; of any kind in Python."""
    return [0.0] * size
