"""Scenarios in, trajectories out: `load` reads a TOML file, `save` writes netCDF, Zarr, NumPy or
CSV.

The names are listed in `__init__.pyi` and imported when they are first used: those who write a file
need no reader of scenarios.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
