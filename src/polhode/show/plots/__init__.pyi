from ._certificate import certificate
from .comparison_figures import convergence, work_precision
from .ellipsoid import polhode
from .globe import sphere
from .motion_figures import flip, overview
from .strays import drift, errors
from .style import PALETTE, new_figure, styled

__all__ = [
    "PALETTE",
    "certificate",
    "convergence",
    "drift",
    "errors",
    "flip",
    "new_figure",
    "overview",
    "polhode",
    "sphere",
    "styled",
    "work_precision",
]
