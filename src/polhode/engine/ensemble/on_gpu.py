"""Initial motions, checked and placed on the GPU: what lies there already is not copied to the
host."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.core.loops import cuda
from polhode.rotations.convert import OFF_GROUP, ROUNDING
from polhode.support.limits import LARGEST_MOMENT, LARGEST_RATE, LEAST_MOMENT
from polhode.support.on_device import DTYPES, OnDevice, require

BOUNDS = (OFF_GROUP, ROUNDING, LEAST_MOMENT, LARGEST_MOMENT, LARGEST_RATE)


def is_plain(given: Any, width: int) -> bool:
    """Whether these are numbers (n, width) that the GPU can check as they are."""
    plain = isinstance(given, OnDevice) or (
        isinstance(given, np.ndarray) and given.dtype.name in DTYPES and given.size > 0
    )
    return plain and given.ndim == 2 and given.shape[1] == width


def place_on_gpu(
    n: int, dtype: str, q: Any, v: Any, moments: Any, is_momentum: bool, parameters: list[OnDevice]
) -> Any:
    """The initial motions (n, 7) in principal axes, an array of the GPU, from attitudes, angular
    velocities or momenta, and principal moments, each for one body or for n.

    None if one of these numbers, or of the parameters, is out of bounds, or if they do not fit into
    the memory of the GPU: the host then finds out what is wrong.
    """
    module = require()
    size = sum(one.nbytes for one in (q, v, moments) if isinstance(one, np.ndarray))
    if size + 7 * np.dtype(dtype).itemsize * n > module.current_context().get_memory_info()[0]:
        return None
    given = [
        one.array if isinstance(one, OnDevice) else module.to_device(np.ascontiguousarray(one))
        for one in (q, v, moments)
    ]
    odd = module.to_device(np.zeros(1, np.int8))
    motions = module.device_array((n, 7), dtype)
    cuda.launch_over(n, cuda.plain(cuda.place), *given, is_momentum, BOUNDS, motions, odd)
    for one in parameters:
        for column in one.columns():
            cuda.launch_over(n, cuda.plain(cuda.look), column, odd)
    return None if odd.copy_to_host()[0] else motions
