"""What is measured of a method for the comment at the top of a file: what takes a second or two."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from polhode.errors import PolhodeError
from polhode.methods._method import Method
from polhode.studies.facts.conserve import free_drift
from polhode.studies.facts.orders import order
from polhode.studies.facts.structure import symmetry_defect, symplecticity

HELD = 1e-11  # a smaller defect is round-off


@lru_cache(64)
def measured(method: Method) -> tuple[str, ...]:
    """The measured facts, in lines; none that cannot be measured."""
    try:
        with np.errstate(all="ignore"):
            orders, drift = order(method), free_drift(method)
            defects = symmetry_defect(method), symplecticity(method).value
    except (PolhodeError, ArithmeticError):
        return ("Measured: not here; see `polhode certify`",)
    back, form = map(_size, defects)
    return (
        f"Measured: order {orders.attitude:.1f} of the attitude, {orders.momentum:.1f} of the momentum; "
        f"a step back misses by {back}",
        f"symplectic form kept to {form}; 1000 free steps: momentum kept to {_size(drift.momentum)}, "
        f"energy to {_size(drift.energy)}",
    )


def _size(defect: float) -> str:
    return "round-off" if defect < HELD else f"{defect:.0e}"
