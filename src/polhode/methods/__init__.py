"""The methods: one small file per family.  Copy one, write `step`, fill in `@method`; everything
else follows."""

from polhode.core.newton import solver
from polhode.methods._method import Method, Motion
from polhode.methods._registry import everything, families, get, method, names

__all__ = ["Method", "Motion", "everything", "families", "get", "method", "names", "solver"]


def __dir__() -> list[str]:
    return __all__  # what completion offers
