"""Scenarios in, trajectories out: `load` reads a TOML file, `save` writes netCDF, Zarr, NumPy or CSV."""

__all__ = ["Scenario", "load", "save"]


def __getattr__(name):
    """The names of the package, imported when they are asked for: those who write a file need no reader of scenarios."""
    if name in ("Scenario", "load"):
        from polhode.io import config

        return getattr(config, name)
    if name == "save":
        from polhode.io.store import save

        return save
    raise AttributeError(f"module 'polhode.io' has no attribute {name!r}")
