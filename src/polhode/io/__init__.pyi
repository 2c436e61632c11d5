from . import ensemble
from .read import read
from .scenario._load import Scenario, load
from .store import save

__all__ = ["Scenario", "ensemble", "load", "read", "save"]
