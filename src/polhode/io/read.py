"""Stored runs read back: the motion, the energies and the provenance, from netCDF or a NumPy archive."""

import json
import os
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polhode import rotations
from polhode.body import RigidBody
from polhode.errors import InputError, PolhodeError

_NEEDED = ("quaternion", "omega", "kinetic_energy")


class Record(NamedTuple):
    """What a run left behind, whether it is still in memory or comes from a file; `facts` is its provenance."""

    t: np.ndarray
    quaternion: np.ndarray
    omega: np.ndarray
    kinetic_energy: np.ndarray
    total_energy: np.ndarray | None   # None: the torque has no potential
    body: RigidBody
    facts: dict

    @property
    def energy(self):
        """Total energy; the kinetic energy where the torque has no potential."""
        return self.kinetic_energy if self.total_energy is None else self.total_energy

    @property
    def matrix(self):
        """The attitudes as (n, 3, 3) matrices, body to space."""
        return rotations.matrices(self.quaternion)

    @property
    def omega_spatial(self):
        """Angular velocity in space."""
        return rotations.rotate(self.quaternion, self.omega)

    @property
    def momentum_spatial(self):
        """Angular momentum in space."""
        return rotations.rotate(self.quaternion, self.body.momentum(self.omega))

    @property
    def torque_name(self):
        """The torque's name, without its parameters."""
        return str(self.facts.get("torque", "")).removeprefix("<torque ").partition("(")[0]

    @property
    def free(self):
        """Whether nothing acts."""
        return self.torque_name == "free"


def record(run):
    """The record of a trajectory, of a stored run (its path), or a record as it is."""
    if isinstance(run, Record):
        return run
    return read(run) if isinstance(run, (str, os.PathLike)) else of(run)


def of(trajectory):
    """The record of a `Trajectory`."""
    total = None if trajectory.potential_energy is None else trajectory.total_energy
    return Record(trajectory.t, trajectory.quaternion, trajectory.omega, trajectory.kinetic_energy, total, trajectory.body,
                  trajectory.provenance())


def read(path):
    """The record in a file that `polhode run -o` or `polhode.io.store.save` wrote.

    Parameters
    ----------
    path : str or Path
        A .nc or .npz file.  A CSV holds no body, so there is none to show.

    Returns
    -------
    Record
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; write one with `polhode run SCENARIO.toml -o FILE.nc`")
    if suffix not in _READERS:
        what = "a CSV holds the motion but not the body" if suffix == ".csv" else f"{suffix!r} is not the suffix of a stored run"
        raise InputError(f"cannot read {str(path)!r}: {what}; store the run as .nc or .npz")
    try:
        arrays, facts = _READERS[suffix](path)
    except (OSError, ValueError, TypeError, KeyError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise InputError(f"{str(path)!r} is not a run that polhode stored, or it is damaged; run the scenario again with -o") \
            from error
    return _record(path, arrays, facts)


def _record(path, arrays, facts):
    missing = [name for name in ("t", *_NEEDED) if name not in arrays]
    missing += [name for name in ("method", "body") if name not in facts]
    if missing:
        raise InputError(f"{str(path)!r} lacks {', '.join(missing)}: it is not a run that polhode stored; run the scenario again "
                         "with -o")
    n = len(arrays["t"])
    for name, shape in (("quaternion", (n, 4)), ("omega", (n, 3)), ("kinetic_energy", (n,))):
        if arrays[name].shape != shape:
            raise InputError(f"{str(path)!r}: {name} has shape {arrays[name].shape}, expected {shape}; the file is damaged")
    try:
        body = RigidBody.from_dict(facts["body"])
    except (PolhodeError, TypeError) as error:
        raise InputError(f"{str(path)!r} holds a body that cannot be read: {error}") from error
    return Record(*(arrays[name] for name in ("t", *_NEEDED)), arrays.get("total_energy"), body, facts)


def _netcdf(path):
    import xarray as xr

    with xr.open_dataset(path, engine="scipy") as data:
        arrays = {name: np.asarray(data[name].values, dtype=float) for name in (*_NEEDED, "total_energy") if name in data}
        if "time" in data:
            arrays["t"] = np.asarray(data["time"].values, dtype=float)
        return arrays, {key: _plain(value) for key, value in data.attrs.items()}


def _plain(value):
    """Dicts, lists and truths are stored as JSON; text that is not JSON is itself."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, str) and value[:1] in ("{", "["):
        return json.loads(value)
    return value


def _archive(path):
    with np.load(path) as data:
        arrays = {name: np.asarray(data[name], dtype=float) for name in ("t", *_NEEDED, "total_energy") if name in data}
        return arrays, json.loads(str(data["provenance"])) if "provenance" in data else {}


_READERS = {".nc": _netcdf, ".npz": _archive}
