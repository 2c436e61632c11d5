"""Stored runs read back: the motion, the energies and the provenance.

Nothing that is read is ever executed: no pickle, no code.
"""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.errors import InputError, PolhodeError, brief, as_path
from polhode.results import columns
from polhode.io.formats import format_to_read
from polhode.loads.torques import free
from polhode.support.regular import check_regular
from polhode.results._trajectory import Trajectory
from polhode.results.motion import PARTS

_LARGEST = 1e150  # of any number in a run: figures and pages take squares
_NEEDED = ("quaternion", "omega", "kinetic_energy")


class Record(NamedTuple):
    """What a run left behind, whether it is still in memory or comes from a file; `facts` is its
    provenance."""

    t: np.ndarray
    quaternion: np.ndarray
    omega: np.ndarray
    kinetic_energy: np.ndarray
    total_energy: np.ndarray | None  # None: the torque has no potential
    body: RigidBody
    facts: dict
    parts: dict  # of the motion, by name: also those that not every run has, such as position

    def __repr__(self) -> str:
        return (
            f"<Record: {self.facts['method']}, {len(self.t)} points, t = {self.t[0]:g} to {self.t[-1]:g}, "
            f"{self.facts.get('status', 'status unknown')}, {self.body!r}>"
        )

    @property
    def energy(self) -> np.ndarray:
        """Total energy; the kinetic energy where the torque has no potential."""
        return self.kinetic_energy if self.total_energy is None else self.total_energy

    @property
    def matrix(self) -> np.ndarray:
        """The attitudes as (n, 3, 3) matrices, body to space."""
        return rotations.matrices(self.quaternion)

    @property
    def omega_spatial(self) -> np.ndarray:
        """Angular velocity in space."""
        return rotations.rotate(self.quaternion, self.omega)

    @property
    def momentum_spatial(self) -> np.ndarray:
        """Angular momentum in space."""
        return rotations.rotate(self.quaternion, self.body.momentum(self.omega))

    @property
    def terms(self) -> list[dict[str, Any]]:
        """What is known of each torque, as `Torque.record` gives it; empty where a file does not
        say."""
        return self.facts.get("torque_terms") or []

    @property
    def torque_name(self) -> str:
        """The names of the torques; all that is known of them where a file has their text alone."""
        names = [term["name"] for term in self.terms]
        return " + ".join(names) if names else str(self.facts.get("torque", ""))

    @property
    def free(self) -> bool:
        """Whether nothing acts, as far as is known."""
        return bool(self.terms) and not any(term["acts"] for term in self.terms)

    @property
    def weight(self) -> dict[str, Any] | None:
        """The first torque that is a weight on an arm, if there is one."""
        return next((term for term in self.terms if term["arm"] and term["up"]), None)

    @property
    def kept_axis(self) -> list[float] | None:
        """The direction in space about which no torque acts, where all that act are known to have
        the same."""
        first, *others = [term["up"] for term in self.terms if term["acts"]] or [None]
        return first if all(other == first for other in others) else None


def record(run: Record | Trajectory | str | PathLike[str]) -> Record:
    """The record of a trajectory, of a stored run (its path), or a record as it is."""
    if isinstance(run, Record):
        return run
    if isinstance(run, (str, os.PathLike)):
        return read(run)
    if not isinstance(run, Trajectory):
        raise InputError(
            f"a run must be a Trajectory or the path of a stored one, got {brief(run)}; give one of them"
        )
    return record_of(run)


def record_of(trajectory: Trajectory) -> Record:
    """The record of a `Trajectory`."""
    total = None if trajectory.potential_energy is None else trajectory.total_energy
    return Record(
        trajectory.t,
        trajectory.quaternion,
        trajectory.omega,
        trajectory.kinetic_energy,
        total,
        trajectory.body,
        trajectory.provenance(),
        {
            part.name: getattr(trajectory, part.name)
            for part in (PARTS[field] for field in trajectory.kind.slices)
        },
    )


def read(path: str | PathLike[str]) -> Record:
    """Read a stored run: what `polhode run -o` or `polhode.io.save` wrote, bit for bit.

    Nothing in the file is executed, and no pickle is loaded.

    Parameters
    ----------
    path : str or Path
        A file in any of the formats that `polhode.io.save` writes.

    Returns
    -------
    Record
        The times `t`, `quaternion`, `omega`, `kinetic_energy`, `total_energy` (None where the
        torque has no potential), the `body`, the provenance, `facts`, and all parts of the motion
        by name, `parts`; from these `energy`,
        `matrix`, `omega_spatial` and `momentum_spatial`.

    Raises
    ------
    InputError
        When there is no such file, when it is not a run that polhode stored, or when it is damaged:
        the sums in .nc, .npz and .zarr files show that, and the message tells where.

    Examples
    --------
    >>> import polhode
    >>> run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 1), step=0.01, omega0=(0.01, 1.0, 0.0))
    >>> stored = polhode.read(polhode.io.save(run, "flip.nc"))
    >>> bool((stored.omega == run.omega).all()), stored.body == run.body, stored.facts["method"]
    (True, True, 'LP2')
    """
    path = as_path("path", path)
    return as_record(path, *contents(path))


def contents(path: str | PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, provenance) of a stored run or ensemble, whatever there is of it."""
    path = Path(path)
    if not path.exists():
        raise InputError(
            f"there is no file {str(path)!r}; write one with `polhode run SCENARIO.toml -o FILE.nc`"
        )
    check_regular(path, "a stored run")
    try:
        arrays, facts = format_to_read(path).read(path)
        columns.check_facts(facts)
    except InputError:
        raise
    except Exception as error:  # there is no end to what a broken file makes the libraries behind the readers raise
        raise InputError(
            f"{str(path)!r} is not a run that polhode stored, or it is damaged: {_reason(error)}; run the scenario "
            "again with -o"
        ) from error
    if "time" in arrays:
        arrays["t"] = arrays.pop("time")
    # nothing else is ever stored of a run; a Zarr store shows NaN for lost pieces
    for name in ("t", "quaternion", "omega"):
        if "end_time" not in arrays and name in arrays and not np.isfinite(arrays[name]).all():
            raise InputError(
                f"{str(path)!r}: {name} is not finite everywhere, so a part of it is lost; run the scenario again "
                "with -o"
            )
    return arrays, facts


def _reason(error):
    """What a library says about a file, in a line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + "..."


def as_record(
    path: str | PathLike[str], arrays: dict[str, np.ndarray], facts: dict[str, Any]
) -> Record:
    """The record in the contents of a file."""
    if "end_time" in arrays:
        raise InputError(
            f"{str(path)!r} holds an ensemble, and one run is asked for; open it with xarray, or see `polhode info "
            f"{path}`"
        )
    missing = [name for name in ("t", *_NEEDED) if name not in arrays]
    missing += [name for name in ("method", "body") if name not in facts]
    if missing:
        raise InputError(
            f"{str(path)!r} lacks {', '.join(missing)}: it is not a run that polhode stored; run the scenario again "
            "with -o"
        )
    if arrays["t"].ndim != 1:
        raise InputError(
            f"{str(path)!r}: time has shape {arrays['t'].shape}, expected one number a point; the file is damaged"
        )
    n = len(arrays["t"])
    shapes = {
        **dict.fromkeys(("t", "kinetic_energy", "total_energy"), (n,)),
        **{one.name: (n, *one.shape) for one in PARTS.values()},
    }
    for name, shape in shapes.items():
        if name in arrays and arrays[name].shape != shape:
            raise InputError(
                f"{str(path)!r}: {name} has shape {arrays[name].shape}, expected {shape}; the file is damaged"
            )
        if name in arrays and np.abs(arrays[name]).max(initial=0.0) > _LARGEST:
            raise InputError(
                f"{str(path)!r}: {name} is beyond {_LARGEST:g}, where no run goes; the file is damaged"
            )
    try:
        body = RigidBody.from_dict(facts["body"])
    except (PolhodeError, TypeError) as error:
        raise InputError(f"{str(path)!r} holds a body that cannot be read: {error}") from error
    if "torque_terms" not in facts and _was_free(arrays, facts):
        facts = {**facts, "torque_terms": free().record()}
    return Record(
        arrays["t"],
        arrays["quaternion"],
        arrays["omega"],
        arrays["kinetic_energy"],
        arrays.get("total_energy"),
        body,
        facts,
        {one.name: arrays[one.name] for one in PARTS.values() if one.name in arrays},
    )


def _was_free(arrays, facts):
    """Whether nothing acted in a run whose file knows the torque as text alone: the text, and a
    potential of zero, say so."""
    return facts.get("torque") == repr(free()) and np.array_equal(
        arrays.get("total_energy"), arrays["kinetic_energy"]
    )
