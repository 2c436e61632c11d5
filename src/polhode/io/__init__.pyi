from . import ensemble, formats
from .scenario._load import Scenario, load
from .store import save

__all__ = ["Scenario", "ensemble", "formats", "load", "save"]
