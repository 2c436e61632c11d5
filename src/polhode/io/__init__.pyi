from . import ensemble
from .config import Scenario, load
from .store import save

__all__ = ["Scenario", "ensemble", "load", "save"]
