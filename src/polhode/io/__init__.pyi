from . import ensemble
from .scenario._load import Scenario, load
from .store import save

__all__ = ["Scenario", "ensemble", "load", "save"]
