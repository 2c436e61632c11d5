"""What bodies begin with, looked at and put in place on the GPU: nothing goes through the host that
lies there already, or that has to go there anyway."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.core.loops import cuda
from polhode.rotations.convert import OFF_GROUP, ROUNDING
from polhode.support.limits import LARGEST_MOMENT, LARGEST_RATE, LEAST_MOMENT
from polhode.support.on_device import DTYPES, OnDevice, require

BOUNDS = (OFF_GROUP, ROUNDING, LEAST_MOMENT, LARGEST_MOMENT, LARGEST_RATE)


def rows_of(given: Any, width: int) -> OnDevice | None:
    """Numbers (n, width) as they are, on the GPU; None for anything else."""
    if isinstance(given, np.ndarray) and given.dtype.name in DTYPES and given.size:
        if given.ndim == 2 and given.shape[1] == width:
            return _sent(given)
    elif isinstance(given, OnDevice) and given.ndim == 2 and given.shape[1] == width:
        return given
    return None


def placed(
    n: int, dtype: str, q: Any, v: Any, moments: Any, is_momentum: bool, parameters: list[OnDevice]
) -> Any:
    """The initial motions (n, 7) in principal axes, an array of the GPU, from attitudes, angular
    velocities or momenta, and principal moments, each for one body or for n.

    None where some of these numbers, or of the parameters, is not an ordinary one: the host then
    says what is wrong.
    """
    module = require()
    given = [(one if isinstance(one, OnDevice) else _sent(one)).array for one in (q, v, moments)]
    odd = module.to_device(np.zeros(1, np.int8))
    motions = module.device_array((n, 7), dtype)
    cuda.launch_over(n, cuda.plain(cuda.place), *given, is_momentum, BOUNDS, motions, odd)
    for one in parameters:
        for column in one.columns():
            cuda.launch_over(n, cuda.plain(cuda.look), column, odd)
    return None if odd.copy_to_host()[0] else motions


def _sent(rows):
    return OnDevice(require().to_device(np.ascontiguousarray(rows)))
