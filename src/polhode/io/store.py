"""Trajectories as files: netCDF with units and provenance, NumPy archives, CSV.

A file appears whole or not at all: it is written under a temporary name beside its place and then renamed.
"""

import csv
import json
import os
from pathlib import Path

import numpy as np

from polhode.errors import InputError, unknown

_COLUMNS = {"quaternion": "q{}", "omega": "omega_{}", "omega_spatial": "omega_spatial_{}", "momentum": "momentum_{}",
            "momentum_spatial": "momentum_spatial_{}"}


def _netcdf(trajectory, path):
    data = trajectory.to_xarray()
    for key, value in data.attrs.items():   # netCDF 3 has no integers above 32 bits
        if isinstance(value, int) and abs(value) >= 2**31:
            data.attrs[key] = float(value)
    data.to_netcdf(path, engine="scipy")


def _arrays(trajectory):
    arrays = {"t": trajectory.t, **{key: getattr(trajectory, key) for key in _COLUMNS},
              "kinetic_energy": trajectory.kinetic_energy}
    if trajectory.potential_energy is not None:
        arrays |= {"potential_energy": trajectory.potential_energy, "total_energy": trajectory.total_energy}
    return arrays | {"residual": trajectory.residuals}


def _npz(trajectory, path):
    with open(path, "wb") as file:
        np.savez(file, **_arrays(trajectory), provenance=np.array(json.dumps(trajectory.provenance())))


def _csv(trajectory, path):
    """One header line, then numbers that read back bit for bit; a CSV has no place for provenance."""
    header, columns = [], []
    for name, values in _arrays(trajectory).items():
        if values.ndim == 1:
            header, columns = [*header, name], [*columns, values[:, None]]
        else:
            header += [_COLUMNS[name].format(axis) for axis in "xyzw"[:values.shape[1]]]
            columns.append(values)
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(header)
        rows.writerows(np.hstack(columns).tolist())


FORMATS = {"nc": _netcdf, "npz": _npz, "csv": _csv}


def chosen(path, format=None, formats=FORMATS):
    """Which of the formats: the one given, or by the suffix."""
    name = (format or Path(path).suffix).lstrip(".").lower()
    if name not in formats:
        raise unknown("output format" if format else f"suffix of the output file {str(path)!r}:", name, formats)
    return name


def check(path, format=None, force=False, formats=FORMATS):
    """Refuse, before any work, what would fail after it."""
    path = Path(path)
    chosen(path, format, formats)
    if path.is_dir():
        raise InputError(f"the output {str(path)!r} is a folder; give the name of a file")
    if path.exists() and not force:
        raise InputError(f"the output file {str(path)!r} exists; choose another name, or overwrite it with --force")
    folder = path.absolute().parent
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        state = "is not writable" if folder.is_dir() else "does not exist"
        raise InputError(f"cannot write {str(path)!r}: the folder {str(folder)!r} {state}; create it or choose another")


def save(trajectory, path, format=None, force=False, formats=FORMATS):
    """Write a trajectory; the suffix (.nc, .npz, .csv) says how.

    Parameters
    ----------
    trajectory : Trajectory
    path : str or Path
    format : {"nc", "npz", "csv"}, optional
        In place of the suffix.
    force : bool
        Overwrite an existing file.
    formats : dict of functions
        What writes each format: others write other things than trajectories.

    Returns
    -------
    Path
        The file.
    """
    path = Path(path)
    check(path, format, force, formats)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        formats[chosen(path, format, formats)](trajectory, partial)
        _place(partial, path, force)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    return path


def _place(partial, path, force):
    """Rename; without `force` a file that has appeared meanwhile stays, and so does the new one under its temporary name."""
    if not force:
        try:
            os.link(partial, path)   # unlike a rename, this fails when the name is taken
        except FileExistsError:
            raise InputError(f"{str(path)!r} has appeared during the run and is left alone; the result is in "
                             f"{str(partial)!r}") from None
        except OSError:   # a file system without links
            pass
        else:
            partial.unlink()
            return
    os.replace(partial, path)
