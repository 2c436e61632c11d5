"""Scenarios in, trajectories out: `load` reads a TOML file, `save` writes netCDF, NumPy or CSV."""

from polhode.io.config import Scenario, load
from polhode.io.store import save

__all__ = ["Scenario", "load", "save"]
